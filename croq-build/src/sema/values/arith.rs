//! Conversions between run-time expressions and symbolic integers.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{
    self, BinOp, CheckCode, Expr, ExprKind, Level, Role, Scalar, StmtKind, as_sym, path_facts,
};
use crate::sema::build;
use crate::sema::checks::run_time;
use crate::sema::levels::uniformity;
use crate::sema::memory::origins;
use crate::sema::state::elab::Elab;
use crate::sema::state::value::{IntValue, Value};
use crate::sema::values::convert::integer_range;
use crate::source::Span;
use crate::symbolic::Sym;

/// Makes any integer value symbolic, binding it to a local when it isn't already.
pub(crate) fn to_sym(el: &mut Elab<'_>, value: Value, span: Span) -> Option<Sym> {
    match value {
        Value::Int(i) => Some(i.value),
        Value::Tuple(t) if t.len() == 1 => t.into_iter().next().map(|i| i.value),
        Value::Scalar(e) if e.ty.is_integer() => Some(bind_sym(el, e, span)),
        Value::Error => None,
        other => {
            let kind = other.kind();
            el.cx.report(
                Diagnostic::new(
                    codes::E0439,
                    span,
                    format!("expected an integer, found {kind}"),
                )
                .label("not an integer"),
            );
            None
        }
    }
}

/// Binds an integer expression to an immutable local that has a symbolic variable.
fn bind_sym(el: &mut Elab<'_>, e: Expr, span: Span) -> Sym {
    if let Some(s) = as_sym(&el.f, &e) {
        return s;
    }
    let ty = e.ty;
    let name = match &*e.kind {
        ExprKind::Local(id) => format!("{}_now", el.f.local(*id).name),
        ExprKind::Load(access) => format!("{}_at", el.f.buffer(access.view.buffer).name),
        _ => "value".to_owned(),
    };
    let local = build::new_local(&mut el.f, &name, Scalar::Index, false, Role::Value, span);
    let (lo, hi) = value_range(&mut el.f, &e);
    let var = build::local_var(&mut el.f, local, lo, hi);
    if let ExprKind::Local(id) = &*e.kind {
        // Reports show the program's own name.
        let name = el.f.local(*id).name.clone();
        el.f.cx.rename(var, &name);
    }
    origins::note_data(el, var, &e);
    let value = if ty == Scalar::Index {
        e
    } else {
        Expr::new(ExprKind::Cast(e), Scalar::Index, span)
    };
    if let Some(level) = el.level().filter(|l| *l > Level::Block) {
        let before = el.build.reads.len();
        let read = uniformity::note_reads(el, &value).min(level);
        let reads = el.build.reads.len() > before;
        el.build.integer_reads |= reads;
        // Where threads leave loops apart, each may have a value of its own.
        let known = if reads && el.earlier.cautious {
            level
        } else {
            read
        };
        if known > Level::Block {
            el.build.vary(local, known);
        }
    }
    build::emit(
        el,
        StmtKind::Let {
            local,
            value: Some(value),
        },
        span,
    );
    if ty == Scalar::U64 {
        let message = "a `u64` of 2^63 or more is no size and no index".to_owned();
        let (zero, value) = (Sym::zero(), Sym::var(var));
        let check = run_time::Check::new(CheckCode::R19, message, span);
        run_time::emit_compare(el, check, BinOp::Le, &zero, &value);
    }
    Sym::var(var)
}

/// The range of a value: that of its type, or a narrower one for operations whose results are bounded.
pub(crate) fn value_range(func: &mut ir::Function, e: &Expr) -> (Option<Sym>, Option<Sym>) {
    if let Some(s) = as_sym(func, e) {
        let (lo, hi) = func.cx.range(&s);
        return (lo.map(Sym::int), hi.map(Sym::int));
    }
    match &*e.kind {
        ExprKind::Binary(op, a, b) => {
            // A literal beyond the type wraps, as in `x & 200` of an `s8`.
            let fits = |n: &i64| {
                let limits = e.ty.limits();
                limits.is_none_or(|(lo, hi)| (lo..=hi).contains(&i128::from(*n)))
            };
            let constant = |e: &Expr| as_sym(func, e).and_then(|s| s.as_int()).filter(fits);
            match (op, constant(a), constant(b)) {
                (BinOp::And, _, Some(n)) | (BinOp::And, Some(n), _) if n >= 0 => {
                    return (Some(Sym::zero()), Some(Sym::int(n)));
                }
                (BinOp::Rem, _, Some(n)) if n > 0 => {
                    let lo = if e.ty.is_signed() { 1 - n } else { 0 };
                    return (Some(Sym::int(lo)), Some(Sym::int(n - 1)));
                }
                _ => {}
            }
        }
        // Each branch has its value under the condition.
        ExprKind::Select(cond, x, y) => {
            let (cond, sides) = (cond.clone(), [(x.clone(), true), (y.clone(), false)]);
            let [x, y] = sides.map(|(side, holds)| {
                func.cx.push_scope();
                path_facts::assume(func, &cond, holds);
                let range = value_range(func, &side);
                func.cx.pop_scope();
                range
            });
            let lo = x.0.zip(y.0).map(|(x, y)| func.cx.min(&x, &y));
            let hi = x.1.zip(y.1).map(|(x, y)| func.cx.max(&x, &y));
            let (least, most) = integer_range(e.ty);
            return (lo.or(least), hi.or(most));
        }
        _ => {}
    }
    integer_range(e.ty)
}

/// The integer value of an operand, if it is already symbolic.
pub(crate) fn int_of(value: &Value) -> Option<IntValue> {
    match value {
        Value::Int(i) => Some(i.clone()),
        Value::Tuple(t) => match t.as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        },
        _ => None,
    }
}
