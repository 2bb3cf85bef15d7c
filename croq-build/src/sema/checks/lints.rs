//! Warnings about legal programs that are probably mistakes, based on the facts of the prover.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{
    self, Access, BinOp, Expr, ExprKind, Level, Role, Stmt, StmtKind, Storage, ThreadSet, VarHome,
    Visit, path_facts, walk_exprs,
};
use crate::sema::levels::{cluster_legality, uniformity};
use crate::sema::memory::bounds;
use crate::sema::state::cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::{Entity, IntKind};
use crate::sema::state::value::{IntValue, Value};
use crate::source::Span;
use crate::symbolic::{Sym, Truth};

/// Warns of a comparison that is always true or always false, like `i < 8` where `i` is provably
/// below 8. Exactly one side must be a bounded integer: comparisons of constants select a variant
/// of the program. Comparisons with parts from a macro are not reported.
pub(crate) fn lint_decided_comparison(
    el: &mut Elab<'_>,
    result: &Value,
    (a, at_a): (&IntValue, Span),
    (b, at_b): (&IntValue, Span),
    span: Span,
) {
    let Value::Scalar(cond) = result else { return };
    let one_bounded = a.bound.is_some() != b.bound.is_some();
    let from_macro = [at_a, at_b, span]
        .iter()
        .any(|at| el.cx.file.macro_at(*at).is_some());
    if !one_bounded || from_macro || el.path.in_predicate() || el.path.is_dead() {
        return;
    }
    let Some(holds) = path_facts::decided(&el.f, cond) else {
        return;
    };
    let (value, other, at) = if a.bound.is_some() {
        (&a.value, &b.value, at_a)
    } else {
        (&b.value, &a.value, at_b)
    };
    let text = el.cx.file.snippet(at).to_owned();
    let ends = bounds::extreme(el, value, false).zip(bounds::extreme(el, value, true));
    let why = match (el.f.cx.range(value), ends) {
        (_, Some((lo, hi))) if other.as_int().is_none() && lo != hi => {
            let (lo, hi) = (el.f.cx.show(&lo), el.f.cx.show(&hi));
            format!("`{text}` runs from {lo} to {hi}")
        }
        ((Some(lo), Some(hi)), _) if lo < hi => format!("`{text}` runs from {lo} to {hi}"),
        _ => format!("known from what `{text}` is"),
    };
    el.cx.report(
        Diagnostic::new(
            codes::W0348,
            span,
            format!(
                "`{}` is always {holds}",
                cx::source_text(&el.cx, span, "this comparison")
            ),
        )
        .label(why),
    );
}

/// Warns of a `while` whose condition has nothing that changes.
pub(crate) fn lint_endless_loop(
    el: &mut Elab<'_>,
    cond: &Expr,
    prelude: &[Stmt],
    body: &[Stmt],
    at: Span,
) {
    let mut changes = Changes {
        el,
        found: !prelude.is_empty(),
    };
    walk_exprs(cond, &mut changes);
    if changes.found || exits(body, true) {
        return;
    }
    let text = if path_facts::decided(&el.f, cond) == Some(false) {
        "this loop never runs"
    } else {
        "this loop never ends once it runs"
    };
    el.cx.report(
        Diagnostic::new(codes::W0558, at, text)
            .label("nothing in this condition changes")
            .help("compare a `mutable` scalar, or leave the loop with `break`")
            .of_the_whole(),
    );
}

/// Warns of an `inthreads` whose predicate no thread or every thread satisfies.
pub(crate) fn lint_pointless_region(el: &mut Elab<'_>, set: Option<&ThreadSet>, at: Span) {
    let threads = el
        .kernel
        .as_ref()
        .and_then(|k| k.threads.count.as_ref())
        .and_then(Sym::as_int)
        .and_then(|n| u32::try_from(n).ok());
    let (Some(set), Some(threads)) = (set, threads) else {
        return;
    };
    let (text, label) = match set.ranges.as_slice() {
        [] => ("no thread satisfies this predicate", "never holds"),
        [(0, end)] if *end == threads => ("every thread satisfies this predicate", "always holds"),
        _ => return,
    };
    el.cx.report(
        Diagnostic::new(codes::W0567, at, text)
            .label(label)
            .note(format!("the block has {threads} threads")),
    );
}

/// Warns of shared and local memory that is never written: its initial contents are undefined.
pub(crate) fn lint_never_written(el: &mut Elab<'_>) {
    let unwritten: Vec<(String, Span, bool)> =
        el.f.buffers
            .iter()
            .filter(|b| matches!(b.storage, Storage::Shared | Storage::Local))
            .filter(|b| b.read && !b.written)
            .map(|b| (b.name.clone(), b.span, b.may_be_scalar()))
            .collect();
    for (name, at, may_be_scalar) in unwritten {
        el.cx.report(
            Diagnostic::new(
                codes::W0621,
                at,
                format!("`{name}` is read, but nothing is ever written to it"),
            )
            .label("holds whatever was there before")
            .help(match may_be_scalar {
                true => "assign it; a buffer, but no `shared` scalar, may also have an initial value: `{0}`",
                false => "copy into it, assign its elements, or give it an initial value: `{0}`",
            })
            .of_the_whole(),
        );
    }
}

/// Warns of a store to shared or device memory with the same address in several instances, unless
/// all store one value.
pub(crate) fn lint_racing_store(
    el: &mut Elab<'_>,
    access: &Access,
    op: Option<BinOp>,
    stored: &Expr,
    at: Span,
) {
    let Some(k) = &el.kernel else { return };
    // An update under a condition is reported where the condition hardly selects one instance.
    let selected = match op {
        Some(_) => el.path.may_select_one(),
        None => el.path.is_conditional(),
    };
    let guarded = selected || el.path.is_dead() || el.path.in_region() || k.yielded.is_some();
    let storage = el.f.buffer(access.view.buffer).storage;
    if guarded || !(storage.is_global() || storage == Storage::Shared) {
        return;
    }
    let mut vars = Vec::new();
    for s in access.indices.iter().chain([&access.view.offset]) {
        for v in s.vars() {
            match el.f.var_home.get(&v) {
                // The dependences of a value that the kernel computes are not known.
                Some(VarHome::Local(id)) if el.f.local(*id).role == Role::Value => return,
                None => return,
                // The unit's own slice of a buffer: the thread's id contains every index below the
                // block.
                _ if k.threads.id == Some(v) => return,
                _ => vars.push(v),
            }
        }
    }
    let mut depends = Mentioned(Vec::new());
    walk_exprs(stored, &mut depends);
    let own_value = uniformity::varies_in_block(el, stored);
    let mut everywhere = Vec::new();
    for binding in el.names.visible() {
        let Entity::Int {
            value,
            kind: IntKind::Parallel,
        } = &binding.entity
        else {
            continue;
        };
        let Some(bound) = &value.bound else { continue };
        // Also where the number of instances depends on the caller, because it is hardly ever one.
        let several = el.f.cx.le(bound, &Sym::one()) != Truth::Yes;
        let own = value.value.vars();
        // An index in the cluster does not separate blocks: each block has one position in its
        // cluster.
        if own
            .iter()
            .any(|v| cluster_legality::is_of_cluster(&el.f, *v))
        {
            continue;
        }
        let matters = op.is_some() || own_value || own.iter().any(|v| depends.0.contains(v));
        // Each block has its own shared memory, so block indices do not matter there.
        let common = storage != Storage::Shared || !own.iter().any(|v| is_block_index(&el.f, *v));
        if several && matters && common && !own.iter().any(|v| vars.contains(v)) {
            everywhere.push((binding.name.clone(), binding.span));
        }
    }
    let Some((name, declared)) = everywhere.first().cloned() else {
        return;
    };
    let buffer = el.f.buffer(access.view.buffer).name.clone();
    let (text, help) = if op.is_some() {
        (
            match el.path.is_conditional() {
                false => {
                    format!("every instance of `{name}` updates the same element of `{buffer}`")
                }
                true => {
                    format!("several instances of `{name}` update the same element of `{buffer}`")
                }
            },
            "updates are not atomic: use `__atomic_add` or the like, or give each its own element",
        )
    } else {
        (
            format!("every instance of `{name}` writes the same element of `{buffer}`"),
            "only the last write stays: write from one instance, or index by the variable",
        )
    };
    el.cx.report(
        Diagnostic::new(codes::W0626, at, text)
            .label("not one place per instance")
            .also(declared, "its instances run at once")
            .help(help),
    );
}

fn is_block_index(func: &ir::Function, var: crate::symbolic::Var) -> bool {
    let Some(VarHome::Local(id)) = func.var_home.get(&var) else {
        return false;
    };
    func.local(*id).role == Role::Parallel(Level::Block)
}

/// Whether a value may change from one evaluation to the next.
struct Changes<'c, 'a> {
    el: &'c Elab<'a>,
    found: bool,
}

impl Visit for Changes<'_, '_> {
    fn expr(&mut self, e: &Expr) {
        self.found |= match &*e.kind {
            ExprKind::Load(_) | ExprKind::Call(_) => true,
            ExprKind::Local(id) => self.el.f.local(*id).mutable,
            _ => false,
        };
    }
}

/// The variables of an expression.
struct Mentioned(Vec<crate::symbolic::Var>);

impl Visit for Mentioned {
    fn sym(&mut self, s: &Sym) {
        self.0.extend(s.vars());
    }
}

/// Whether a list of statements can leave the loop whose body it is, or the kernel.
fn exits(stmts: &[Stmt], own: bool) -> bool {
    stmts.iter().any(|s| match &s.kind {
        StmtKind::Break => own,
        StmtKind::Yield | StmtKind::Return(_) | StmtKind::Cpp { .. } => true,
        StmtKind::If {
            then, otherwise, ..
        } => exits(then, own) || exits(otherwise, own),
        StmtKind::Parallel { body, .. }
        | StmtKind::SingleThread { body, .. }
        | StmtKind::Region { body, .. } => exits(body, own),
        StmtKind::For { body, .. } | StmtKind::While { body, .. } => exits(body, false),
        _ => false,
    })
}
