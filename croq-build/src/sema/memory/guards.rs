//! With `Checks::Report` a failed check in a kernel is recorded and the thread continues, so the
//! checked access must not be executed: a load gives zero, and a store or an atomic operation has
//! no effect.
//!
//! The check itself remains in front of the statement. Each access also gets the conditions of its
//! own checks as a guard around it: both targets then behave alike, and an access that was proved
//! needs no guard. Checks on the host end the call before any launch and need no guard.
//!
//! A subscript of an array that failed its check is replaced by 0, because what it selects may be
//! used elsewhere: it may get a name, be copied, or be an event or a fragment.

use crate::ir::{Access, Expr, ExprKind, Level, LocalId, Role, Scalar, Stmt, StmtKind};
use crate::sema::build;
use crate::sema::checks::run_time::both;
use crate::sema::levels::uniformity;
use crate::sema::memory::origins;
use crate::sema::state::elab::Elab;
use crate::source::Span;
use crate::symbolic::Sym;

/// The condition under which the access that was checked last may be executed.
pub(crate) fn take(el: &mut Elab<'_>) -> Option<Expr> {
    std::mem::take(&mut el.build.guards)
        .into_iter()
        .reduce(both)
}

/// The element, or zero if the guard is false.
pub(crate) fn guard_load(el: &mut Elab<'_>, access: Access, elem: Scalar, span: Span) -> Expr {
    let guard = take(el);
    load_under(access, guard, elem, span)
}

/// The element, or zero if this guard is false.
pub(crate) fn load_under(access: Access, guard: Option<Expr>, elem: Scalar, span: Span) -> Expr {
    let load = Expr::new(ExprKind::Load(access), elem, span);
    match guard {
        None => load,
        Some(guard) => Expr::new(ExprKind::Select(guard, load, zero(elem, span)), elem, span),
    }
}

/// The index `place` if `guard` holds, else the first element of the buffer.
pub(crate) fn guard_place(el: &mut Elab<'_>, guard: Option<Expr>, place: Sym, span: Span) -> Sym {
    let Some(guard) = guard else {
        return place;
    };
    let either = ExprKind::Select(
        guard,
        Expr::index(place, span),
        Expr::index(Sym::zero(), span),
    );
    let local = build::new_local(&mut el.f, "place", Scalar::Index, false, Role::Value, span);
    let var = build::local_var(&mut el.f, local, None, None);
    let value = Some(Expr::new(either, Scalar::Index, span));
    build::emit(el, StmtKind::Let { local, value }, span);
    Sym::var(var)
}

/// `index`, or 0 if a check of it that was made since there were `before` guards failed and was only
/// recorded. `most` is the largest index for which the check holds.
pub(crate) fn checked_or_first(
    el: &mut Elab<'_>,
    before: usize,
    index: Sym,
    most: Option<Sym>,
    span: Span,
) -> Sym {
    let since = el.build.guards.iter().skip(before).cloned();
    let Some(guard) = since.reduce(both) else {
        return index;
    };
    let level = uniformity::of_sym(el, &index);
    let local = build::new_local(
        &mut el.f,
        "checked",
        Scalar::Index,
        false,
        Role::Value,
        span,
    );
    if level > Level::Block {
        el.build.vary(local, level);
    }
    let var = build::local_var(&mut el.f, local, Some(Sym::zero()), most);
    let first = Expr::index(Sym::zero(), span);
    let either = ExprKind::Select(guard, Expr::index(index, span), first);
    let value = Expr::new(either, Scalar::Index, span);
    origins::note_data(el, var, &value);
    let value = Some(value);
    build::emit(el, StmtKind::Let { local, value }, span);
    Sym::var(var)
}

/// `statement`, if `guard` holds.
pub(crate) fn guarded(guard: Option<Expr>, statement: StmtKind, span: Span) -> StmtKind {
    match guard {
        None => statement,
        Some(cond) => StmtKind::If {
            cond,
            then: vec![Stmt::new(statement, span)],
            otherwise: Vec::new(),
        },
    }
}

/// An atomic operation under a guard, whose result is zero if it does not happen: `inner` is what
/// the operation itself sets.
pub(crate) fn guarded_result(
    guard: Expr,
    operation: StmtKind,
    inner: LocalId,
    result: LocalId,
    elem: Scalar,
    span: Span,
) -> [StmtKind; 2] {
    let before = Expr::new(ExprKind::Local(inner), elem, span);
    [
        StmtKind::Let {
            local: result,
            value: Some(zero(elem, span)),
        },
        StmtKind::If {
            cond: guard,
            then: vec![
                Stmt::new(operation, span),
                Stmt::new(
                    StmtKind::Assign {
                        local: result,
                        value: before,
                    },
                    span,
                ),
            ],
            otherwise: Vec::new(),
        },
    ]
}

pub(crate) fn zero(ty: Scalar, span: Span) -> Expr {
    let kind = match ty {
        Scalar::Bool => ExprKind::Bool(false),
        Scalar::Index => ExprKind::Index(Sym::zero()),
        ty if ty.is_float() => ExprKind::Float(0.0),
        _ => ExprKind::Int(0),
    };
    Expr::new(kind, ty, span)
}
