//! Names, types, shapes, storage and levels: converts the syntax tree of each `__co__` function to
//! the kernel IR, and reports all errors in it.
//!
//! One walk does both, because most checks need the symbolic facts (loop bounds, path conditions)
//! that hold at the statement. Later stages may rely on this: every expression is typed, every
//! conversion is explicit, every index is either proved to be inside its extent or preceded by a
//! [`StmtKind::Check`](crate::ir::StmtKind::Check), and the shapes of every copy agree. A function
//! with an error yields no IR.
//!
//! `state` is the data of that walk and depends on no rule. The folders of topics hold functions
//! over it; `lower` makes IR of a construct, `check_…` reports what is wrong with one, `lint_…`
//! warns, `report_…` reports, `emit_…` makes statements. What needs the complete IR is in the first
//! rows of the table of passes, with [`Facts`](crate::ir::Facts) that the walk recorded.
//!
//! An entity that is in error is *poisoned*: errors that depend on it are not reported.

use crate::diagnostics::{Diagnostic, Diagnostics, Severity, codes};
use crate::ir;
use crate::parallel;
use crate::sema::state::cx;
use crate::sorted::{SortedMap, SortedSet};
use crate::source::{SourceFile, Span};
use crate::syntax::ast;
use asynchronous::{flags, futures};
use checks::lints;
use copies::tma_legality;
use levels::uniformity;
use memory::{swizzles, tiles};
use names::{hiding, params, returns, scope};
use state::cx::Cx;
use state::earlier::{Earlier, MOST_WALKS};
use state::elab::{Elab, Rules};
use state::settled_locals;
use state::siblings::{Siblings, Summary};
use statements::stmt;
use tensor_cores::{layouts, warpgroup};
use values::expr;

mod asynchronous;
mod build;
mod checks;
mod copies;
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
    pub use super::tensor_cores::{
        Typed, of_sparse_warpgroups, of_sparse_warps, of_warpgroups, of_warps,
    };
}

pub use state::cx::{Options, Target};

const RULES: Rules = Rules {
    expression: expr::lower,
    block: stmt::lower_block,
    summary,
};

/// A function of the source, and what was found in it.
pub struct Checked {
    /// Of a function with an error parts are missing.
    pub function: ir::Function,
    pub findings: Findings,
}

/// Reports on one function, which are held back until all that can be checked of it is checked: what some rest on
/// is in doubt after an error.
pub struct Findings {
    pub diags: Diagnostics,
    /// Where parts of the function did not parse.
    faults: Vec<Span>,
}

impl Findings {
    /// Reports them, but for what follows from errors that are reported already. Whether the function is without
    /// an error.
    pub fn publish(self, diags: &mut Diagnostics) -> bool {
        let failed = self.diags.has_errors();
        let broken = failed || !self.faults.is_empty();
        for d in self.diags.into_sorted() {
            let is_fault = |at: &Span| cx::spans_meet(*at, d.primary.span);
            let reported = self.faults.iter().any(is_fault);
            let follows = broken && d.of_the_whole;
            if !reported && !follows {
                diags.push(d);
            }
        }
        !failed
    }
}

/// Checks every function of a file, as far as that is possible before the first passes, with at most
/// so many threads.
pub fn check(
    file: &SourceFile,
    functions: &[ast::Function],
    options: &Options,
    threads: usize,
    diags: &mut Diagnostics,
) -> Vec<Checked> {
    let mut items = Vec::new();
    let faults = functions.iter().map(|f| faults_of(f, diags)).collect();
    let siblings = Siblings::new(functions, faults);
    let mut names: SortedMap<&str, Span> = SortedMap::new();
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
        items.push((function, siblings.faults_of(function).to_vec()));
    }
    parallel::map(threads, items, |(function, faults)| {
        let mut own = Diagnostics::new();
        let untaken = &function.untaken;
        let cx = Cx::new(file, options, &siblings, &faults, untaken, &mut own);
        let function = walked(cx, function);
        let findings = Findings { diags: own, faults };
        Checked { function, findings }
    })
}

/// Where a function did not parse.
fn faults_of(function: &ast::Function, diags: &Diagnostics) -> Vec<Span> {
    let errors = diags.iter().filter(|d| d.severity() == Severity::Error);
    let spans = errors.map(|d| d.primary.span);
    let mut faults: Vec<Span> = spans
        .filter(|at| cx::spans_meet(*at, function.span))
        .collect();
    if !function.complete {
        // Where its statements belong is not known.
        faults.push(function.span);
    }
    faults
}

/// Walks over a function until nothing that a walk needs is missing.
fn walked(cx: Cx<'_>, function: &ast::Function) -> ir::Function {
    let Cx {
        file,
        options,
        siblings,
        faults,
        untaken,
        diags,
        ..
    } = cx;
    let mut earlier = Earlier::default();
    let mut walk = 1;
    loop {
        let mut own = Diagnostics::new();
        let cx = Cx::new(file, options, siblings, faults, untaken, &mut own);
        let mut el = Elab::new(cx, RULES, function);
        el.earlier.clone_from(&earlier);
        el.earlier.incomplete = false;
        let (lowered, found) = elaborate(el, function);
        if !found.incomplete || found == earlier || walk == MOST_WALKS {
            *diags = own;
            return lowered;
        }
        walk += 1;
        earlier = found;
        earlier.last = walk == MOST_WALKS;
        earlier.cautious |= earlier.last;
    }
}

/// What a call has to know of a function.
fn summary(cx: &Cx<'_>, function: &ast::Function) -> Summary {
    let mut own = Diagnostics::new();
    let faults = cx.siblings.faults_of(function);
    let cx = Cx::new(
        cx.file,
        cx.options,
        cx.siblings,
        faults,
        &function.untaken,
        &mut own,
    );
    let lowered = walked(cx, function);
    let of = |f: &dyn Fn(ir::BufferId) -> bool| -> Vec<bool> {
        let params = lowered.params.iter();
        let tensors = params.map(|param| match &param.kind {
            ir::ParamKind::Tensor(tensor) => f(tensor.buffer),
            _ => false,
        });
        tensors.collect()
    };
    let kept = |id: ir::BufferId| {
        ir::any_stmt(&lowered.body, |stmt| match &stmt.kind {
            ir::StmtKind::Exchange(ids) => ids.contains(&id),
            ir::StmtKind::Return(values) => {
                let is = |value: &ir::ReturnValue| matches!(value, ir::ReturnValue::Buffer(of) if *of == id);
                values.iter().any(is)
            }
            _ => false,
        })
    };
    Summary {
        writes: of(&|id| lowered.buffer(id).written),
        keeps: of(&kept),
        failed: own.has_errors() || !faults.is_empty(),
    }
}

/// The IR of a function; what is found on the way, and facts for another walk.
fn elaborate(mut el: Elab<'_>, function: &ast::Function) -> (ir::Function, Earlier) {
    params::lower_all(&mut el, function);
    stmt::lower_all(&mut el, &function.body);
    returns::settle(&mut el, function);
    unite_exchanged(&mut el);
    unite_pools(&mut el);
    lints::lint_never_written(&mut el);
    returns::lint_lost_writes(&mut el);
    futures::report_unbound(&mut el);
    flags::report_one_sided(&mut el);
    warpgroup::report_not_waited_for(&mut el);
    hiding::report_hidings(&mut el);
    let unused = el.names.pop();
    scope::report_unused(&mut el, unused);
    let found = found(&el);
    layouts::propagate_layouts(&mut el);
    swizzles::decide_all(&mut el);
    let mut body = el.build.sinks.pop().unwrap_or_default();
    tiles::settle(&mut el, &mut body);
    el.f.body = std::mem::take(&mut el.build.entry);
    el.f.body.extend(body);
    drop_unlaunched(&mut el.f);
    tma_legality::check_rings(&mut el);
    el.f.facts = ir::Facts {
        pools: el.storage.pools.parts,
        swizzled_at: el.storage.swizzled_at,
        first_tiles: el.asynchronous.first_tiles,
        bound: el.asynchronous.events.bound,
        completing: el.asynchronous.events.completing,
        elsewhere: el.asynchronous.events.elsewhere,
    };
    (el.f, found)
}

/// Removes kernels of branches that are never taken.
fn drop_unlaunched(f: &mut ir::Function) {
    let mut launched = SortedSet::new();
    ir::any_stmt(&f.body, |stmt| {
        if let ir::StmtKind::Launch(id) = stmt.kind {
            launched.insert(id);
        }
        false
    });
    if launched.len() == f.kernels.len() {
        return;
    }
    let numbers: SortedMap<ir::KernelId, u32> = launched.into_iter().zip(0..).collect();
    let all = std::mem::take(&mut f.kernels).into_iter().zip(0..);
    let kept = all.filter(|(_, id)| numbers.contains_key(&ir::KernelId(*id)));
    f.kernels = kept.map(|(kernel, _)| kernel).collect();
    renumber(&mut f.body, &numbers);
    for event in &mut f.events {
        let id = u32::try_from(event.kernel).unwrap_or(u32::MAX);
        let number = numbers.get(&ir::KernelId(id));
        event.kernel = number.map_or(ir::Event::NO_KERNEL, |n| *n as usize);
    }
}

fn renumber(stmts: &mut [ir::Stmt], numbers: &SortedMap<ir::KernelId, u32>) {
    for stmt in stmts {
        if let ir::StmtKind::Launch(id) = &mut stmt.kind
            && let Some(number) = numbers.get(id)
        {
            *id = ir::KernelId(*number);
        }
        stmt.kind
            .blocks_mut()
            .for_each(|block| renumber(block, numbers));
    }
}

/// What is read or written by one of the names of exchanged buffers may be the memory of all.
fn unite_exchanged(el: &mut Elab<'_>) {
    for group in &el.storage.exchanged {
        let of = |id: &ir::BufferId| (el.f.buffer(*id).read, el.f.buffer(*id).written);
        let flags = group.iter().map(of);
        let (read, written) = flags.fold((false, false), |a, b| (a.0 | b.0, a.1 | b.1));
        // Buffers of the call are cleared.
        let host = |id: &ir::BufferId| el.f.buffer(*id).storage == ir::Storage::Host;
        let written = written || group.iter().any(host);
        for id in group {
            if let Some(buffer) = el.f.buffers.get_mut(id.index()) {
                (buffer.read, buffer.written) = (read, written);
            }
        }
        let stored = group.iter().find_map(|id| el.storage.stored.get(id));
        if let Some(at) = stored.copied() {
            for id in group {
                el.storage.stored.entry(*id).or_insert(at);
            }
        }
    }
}

/// What is read or written by the name of one buffer of a pool may be the memory of another.
fn unite_pools(el: &mut Elab<'_>) {
    let pools = &el.storage.pools;
    // Tiles of futures have no names of their own.
    let rings: SortedSet<ir::BufferId> = pools.of_futures.values().copied().collect();
    let parts = pools.parts.0.keys().copied();
    let parts: Vec<ir::BufferId> = parts
        .filter(|part| !rings.contains(&pools.find(*part).0))
        .collect();
    let mut of_roots: SortedMap<ir::BufferId, (bool, bool)> = SortedMap::new();
    for part in &parts {
        let root = el.storage.pools.find(*part).0;
        for id in [*part, root] {
            let buffer = el.f.buffer(id);
            let all = of_roots.entry(root).or_default();
            *all = (all.0 | buffer.read, all.1 | buffer.written);
        }
    }
    for part in parts {
        let root = el.storage.pools.find(part).0;
        let flags = of_roots.get(&root).copied().unwrap_or_default();
        for id in [part, root] {
            if let Some(buffer) = el.f.buffers.get_mut(id.index()) {
                (buffer.read, buffer.written) = flags;
            }
        }
    }
}

/// What a walk has found, for another one.
fn found(el: &Elab<'_>) -> Earlier {
    let mut found = Earlier {
        incomplete: el.earlier.incomplete,
        cautious: el.earlier.cautious,
        varying: el.earlier.varying.clone(),
        choices: el.earlier.choices.clone(),
        asserted: el.earlier.asserted.clone(),
        reassigned: el.earlier.reassigned.clone(),
        last: el.earlier.last,
        ..Earlier::default()
    };
    for (id, declared) in &el.fragments.declared {
        if let Some(fragment) = el.f.fragments.get(id) {
            found.note_fragment(declared, fragment, el.f.buffer(*id).elem);
        }
    }
    for (at, threads) in &el.build.kernel_threads {
        found.note_threads(*at, *threads);
    }
    note_mutables(el, &mut found);
    settled_locals::note(el, &mut found);
    found
}

/// Records the mutable locals that differ between units after reads that took them for uniform.
fn note_mutables(el: &Elab<'_>, found: &mut Earlier) {
    if !el.build.integer_reads {
        return;
    }
    if el.build.uneven_exit && !found.cautious {
        (found.cautious, found.incomplete) = (true, true);
    }
    for (id, assumed) in &el.build.reads {
        let level = uniformity::of_scalar(el, *id);
        if level > *assumed {
            found.incomplete = true;
            let local = el.f.local(*id);
            let key = (local.span, local.name.clone());
            let known = found.varying.entry(key).or_insert(level);
            *known = level.max(*known);
        }
    }
}
