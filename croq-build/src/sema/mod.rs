//! Names, types, shapes, storage and levels: converts the syntax tree of each `__co__` function to
//! the kernel IR, and reports all errors in it.
//!
//! One walk does both, because most checks need the symbolic facts (loop bounds, path conditions)
//! that hold at the statement. Later stages may rely on this: every expression is typed, every
//! conversion is explicit, every index is either proved to be inside its extent or preceded by a
//! [`StmtKind::Check`](crate::ir::StmtKind::Check), and the shapes of every copy agree. A function
//! with an error yields no IR.
//!
//! `state` has the data of that walk and depends on no rule. The other folders have functions on
//! that data, by topic; `lower` produces the IR of a construct, `check_…` reports its errors,
//! `lint_…` warns, `report_…` reports, `emit_…` emits statements. `late` has what runs after the IR
//! is complete.
//!
//! An entity that is in error is *poisoned*: errors that depend on it are not reported.

use std::collections::BTreeMap;

use crate::diagnostics::{Diagnostic, Diagnostics, Severity, codes};
use crate::ir;
use crate::sema::state::cx;
use crate::source::{SourceFile, Span};
use crate::syntax::ast;
use asynchronous::{flags, futures};
use checks::lints;
use copies::tma_legality;
use late::{bound_copies, pool_views, races, swizzle_uses, tma_boxes, wait_counts};
use memory::{swizzles, tiles};
use names::{hiding, params, returns, scope};
use state::cx::Cx;
use state::elab::{Elab, Rules};
use state::facts::Facts;
use statements::stmt;
use tensor_cores::{layouts, warpgroup};
use values::expr;

mod asynchronous;
mod build;
mod checks;
mod copies;
mod late;
mod levels;
mod memory;
mod names;
mod state;
mod statements;
mod tensor_cores;
#[cfg(test)]
pub mod testing;
mod values;

/// The tensor core instructions that kernels use.
pub mod instructions {
    pub use super::tensor_cores::{Typed, of_warpgroups, of_warps};
}

pub use state::cx::{Options, Target};

const RULES: Rules = Rules {
    expression: expr::lower,
    block: stmt::lower_block,
};

/// Checks every function of a file. Only functions without an error are returned.
pub fn check(
    file: &SourceFile,
    functions: &[ast::Function],
    options: &Options,
    diags: &mut Diagnostics,
) -> Vec<ir::Function> {
    let mut done = Vec::new();
    let siblings: Vec<String> = functions.iter().map(|f| f.name.text.clone()).collect();
    let mut names: BTreeMap<&str, Span> = BTreeMap::new();
    for function in functions {
        if let Some(first) = names.get(function.name.text.as_str()) {
            diags.push(
                Diagnostic::new(
                    codes::E0213,
                    function.name.span,
                    format!(
                        "the function `{}` is defined twice in this file",
                        function.name.text
                    ),
                )
                .label("second definition")
                .also(*first, "first definition")
                .help("Rust has no overloads: give one of them another name"),
            );
            continue;
        }
        names.insert(&function.name.text, function.name.span);
        let faults: Vec<Span> = diags
            .iter()
            .filter(|d| d.severity() == Severity::Error)
            .map(|d| d.primary.span)
            .filter(|at| cx::spans_meet(*at, function.span))
            .collect();
        let mut own = Diagnostics::new();
        let result = {
            let cx = Cx::new(file, options, &siblings, &faults, &mut own);
            elaborate(Elab::new(cx, RULES, function), function)
        };
        let failed = own.has_errors();
        let broken = failed || !faults.is_empty();
        for d in own.into_sorted() {
            // A syntax error was already reported, and errors that follow from a missing part are
            // not.
            let reported = faults.iter().any(|at| cx::spans_meet(*at, d.primary.span));
            let follows = broken && d.of_the_whole;
            if !reported && !follows {
                diags.push(d);
            }
        }
        if !failed {
            done.push(result);
        }
    }
    done
}

/// Elaborates a function to IR, and reports all findings about it.
fn elaborate(mut el: Elab<'_>, function: &ast::Function) -> ir::Function {
    params::lower_all(&mut el, function);
    stmt::lower_all(&mut el, &function.body);
    returns::settle(&mut el, function);
    lints::lint_never_written(&mut el);
    returns::lint_lost_writes(&mut el);
    futures::report_unbound(&mut el);
    flags::report_one_sided(&mut el);
    warpgroup::report_not_waited_for(&mut el);
    hiding::report_hidings(&mut el);
    let unused = el.names.pop();
    scope::report_unused(&mut el, unused);
    layouts::propagate_layouts(&mut el);
    swizzles::decide_all(&mut el);
    let mut body = el.build.sinks.pop().unwrap_or_default();
    tiles::settle(&mut el, &mut body);
    el.f.body = std::mem::take(&mut el.build.entry);
    el.f.body.extend(body);
    tma_legality::check_rings(&mut el);
    let facts = Facts::take(&mut el);
    let (mut func, diags) = (el.f, el.cx.diags);
    pool_views::rewrite_views(&mut func, &facts);
    bound_copies::bind_copies(&mut func, &facts, diags);
    swizzle_uses::check_uses(&func, &facts, diags);
    tma_boxes::check_swizzled_boxes(&func, diags);
    if !diags.has_errors() {
        wait_counts::count_waits(&mut func, &facts, diags);
        races::find_races(&func, diags);
    }
    func
}
