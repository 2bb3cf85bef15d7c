//! Conditions, and `?:`.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{Expr, ExprKind, Role, Scalar, StmtKind, any_expr, path_facts};
use crate::sema::build;
use crate::sema::levels::uniformity;
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::path::Frame;
use crate::sema::state::value::{IntValue, Value};
use crate::sema::statements::device_calls;
use crate::sema::values::{convert, predicates, scalars, widths};
use crate::source::Span;
use crate::syntax::ast;

pub(crate) fn lower_ternary(
    el: &mut Elab<'_>,
    c: &ast::Expr,
    a: &ast::Expr,
    b: &ast::Expr,
    span: Span,
) -> Value {
    let Some(cond) = lower_condition(el, c) else {
        el.expression(a);
        el.expression(b);
        return Value::Error;
    };
    let decided = path_facts::decided(&el.f, &cond);
    let (va, sa) = assuming(el, &cond, true, decided == Some(false), |el| {
        el.expression(a)
    });
    let (vb, sb) = assuming(el, &cond, false, decided == Some(true), |el| {
        el.expression(b)
    });
    if va.is_error() || vb.is_error() {
        return Value::Error;
    }
    if let Some(first) = decided {
        let (value, stmts, other, at) = match first {
            true => (va, sa, vb, a.span),
            false => (vb, sb, va, b.span),
        };
        if let Some(sink) = el.build.sinks.last_mut() {
            sink.extend(stmts);
        }
        return in_common_type(el, value, &other, at);
    }
    let ty = match (&va, &vb) {
        (Value::Int(a), Value::Int(b)) => {
            let ty = convert::joined_type(a, b);
            let ty = ty.filter(|ty| [a, b].iter().all(|int| widths::is_of(&el.f, int, *ty)));
            Some(ty.unwrap_or(Scalar::Index))
        }
        _ => scalars::type_of_both(&el.f, &va, &vb),
    };
    let Some(ty) = ty else {
        report_mismatch(&mut el.cx, &va, &vb, span);
        return Value::Error;
    };
    if sa.is_empty() && sb.is_empty() {
        let (Some(x), Some(y)) = (
            convert::convert(el, va, ty, a.span),
            convert::convert(el, vb, ty, b.span),
        ) else {
            return Value::Error;
        };
        // Checks of exact integers repeat the condition, so a call in it is evaluated once.
        let cond = match ty == Scalar::Index && any_expr(&cond, is_call) {
            true => bind_condition(el, cond, c.span),
            false => cond,
        };
        return Value::Scalar(Expr::new(ExprKind::Select(cond, x, y), ty, span));
    }
    // The statements that a branch needs must run only when it is chosen.
    let local = build::new_local(&mut el.f, "chosen", ty, true, Role::Value, span);
    build::emit(el, StmtKind::Let { local, value: None }, span);
    let then = assign_branch(el, va, sa, local, ty, a.span);
    let otherwise = assign_branch(el, vb, sb, local, ty, b.span);
    build::emit(
        el,
        StmtKind::If {
            cond,
            then,
            otherwise,
        },
        span,
    );
    Value::Scalar(Expr::new(ExprKind::Local(local), ty, span))
}

/// The branch that a decided condition chooses. Its type does not depend on the condition.
fn in_common_type(el: &mut Elab<'_>, value: Value, other: &Value, span: Span) -> Value {
    let value = match (value, other) {
        // A literal takes the type of the other operand; `c ? 5 : n` is none.
        (Value::Int(int), Value::Int(other)) => Value::Int(IntValue {
            literal: int.literal && other.literal,
            ty: convert::joined_type(&int, other),
            ..int
        }),
        (value, _) => value,
    };
    let is_of = |ty| matches!(&value, Value::Scalar(e) if e.ty == ty);
    match scalars::type_of_both(&el.f, &value, other) {
        Some(ty) if ty != Scalar::Index && !is_of(ty) => {
            convert::convert(el, value, ty, span).map_or(Value::Error, Value::Scalar)
        }
        _ => value,
    }
}

fn is_call(e: &Expr) -> bool {
    matches!(&*e.kind, ExprKind::Call(_))
}

fn bind_condition(el: &mut Elab<'_>, cond: Expr, span: Span) -> Expr {
    let local = build::new_local(&mut el.f, "holds", Scalar::Bool, false, Role::Value, span);
    let value = Some(cond);
    build::emit(el, StmtKind::Let { local, value }, span);
    Expr::new(ExprKind::Local(local), Scalar::Bool, span)
}

fn assign_branch(
    el: &mut Elab<'_>,
    value: Value,
    mut stmts: Vec<crate::ir::Stmt>,
    local: crate::ir::LocalId,
    ty: Scalar,
    span: Span,
) -> Vec<crate::ir::Stmt> {
    let (value, more) = build::collect(el, |el| convert::convert(el, value, ty, span));
    stmts.extend(more);
    if let Some(value) = value {
        stmts.push(crate::ir::Stmt::new(
            StmtKind::Assign { local, value },
            span,
        ));
    }
    stmts
}

fn report_mismatch(cx: &mut Cx<'_>, a: &Value, b: &Value, span: Span) {
    if scalars::reports_halves(cx, a, b, span) {
        return;
    }
    if matches!(a, Value::Data(_)) || matches!(b, Value::Data(_)) {
        let message = "`?:` can't choose between buffers or futures";
        cx.report(
            Diagnostic::new(codes::E0342, span, message)
                .label("spanned data")
                .help("use `select(i, a, b)`"),
        );
        return;
    }
    let (a, b) = (a.kind(), b.kind());
    cx.report(
        Diagnostic::new(
            codes::E0341,
            span,
            format!("the branches of `?:` don't agree: {a} and {b}"),
        )
        .label("two kinds of value"),
    );
}

/// Runs `body` under the assumption that `cond` holds (or does not hold), collecting its
/// statements.
pub(crate) fn assuming<R>(
    el: &mut Elab<'_>,
    cond: &Expr,
    holds: bool,
    never: bool,
    body: impl FnOnce(&mut Elab<'_>) -> R,
) -> (R, Vec<crate::ir::Stmt>) {
    let frame = Frame::Condition {
        restricts: true,
        several: holds && uniformity::holds_for_several(&el.f, cond),
        never,
    };
    assuming_with(el, cond, holds, frame, body)
}

/// The same with a `Frame` for the effect of the condition on instances.
pub(crate) fn assuming_with<R>(
    el: &mut Elab<'_>,
    cond: &Expr,
    holds: bool,
    frame: Frame,
    body: impl FnOnce(&mut Elab<'_>) -> R,
) -> (R, Vec<crate::ir::Stmt>) {
    el.f.cx.push_scope();
    path_facts::assume(&mut el.f, cond, holds);
    let result = el.within(frame, |el| build::collect(el, body));
    el.f.cx.pop_scope();
    result
}

/// Lowers a condition, which must be `bool`.
pub(crate) fn lower_condition(el: &mut Elab<'_>, e: &ast::Expr) -> Option<Expr> {
    let value = match &*e.kind {
        ast::ExprKind::Call(call) if device_calls::is_device_call(&el.cx, call) => {
            device_calls::lower(el, call, Scalar::Bool, e.span)
        }
        _ => el.expression(e),
    };
    match value {
        Value::Scalar(c) if c.ty == Scalar::Bool => Some(predicates::resolve(el, c)),
        Value::Error => None,
        other => {
            let kind = other.kind();
            convert::report_not_bool(&mut el.cx, e.span, &kind);
            None
        }
    }
}
