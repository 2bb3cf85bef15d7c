//! `x++`, `x--`, `++x` and `--x`.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{BinOp, Expr, ExprKind, LocalId, Role, Scalar, StmtKind};
use crate::sema::build;
use crate::sema::names::{hiding, scope};
use crate::sema::state::cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::sema::state::value::Value;
use crate::source::Span;
use crate::syntax::ast;

/// The mutable scalar that `++` and `--` modify.
pub(crate) fn increment_target(el: &mut Elab<'_>, target: &ast::Expr) -> Option<(LocalId, Scalar)> {
    if let ast::ExprKind::Name(text) = &*target.kind {
        return match scope::lookup(el, text, target.span)? {
            Entity::Scalar {
                local,
                mutable: true,
            } => Some((local, el.f.local(local).ty)),
            Entity::Poison => None,
            other if hiding::makes_mutable(el, text, &other) => None,
            other => {
                let kind = other.kind();
                el.cx.report(
                    Diagnostic::new(
                        codes::E0324,
                        target.span,
                        format!("`++` and `--` need a mutable scalar, `{text}` is {kind}"),
                    )
                    .label("never changes")
                    .help(format!("declare it with `mutable {text} = …`")),
                );
                None
            }
        };
    }
    el.cx.report(
        Diagnostic::new(
            codes::E0324,
            target.span,
            "`++` and `--` need a mutable scalar",
        )
        .label("not a scalar's name")
        .help(format!(
            "write `{} += 1`",
            cx::source_text(&el.cx, target.span, "x.at(i)")
        )),
    );
    None
}

/// An increment or decrement as a value.
pub(crate) fn lower_increment(
    el: &mut Elab<'_>,
    prefix: bool,
    by: i8,
    target: &ast::Expr,
    span: Span,
) -> Value {
    let Some((local, ty)) = increment_target(el, target) else {
        return Value::Error;
    };
    let current = Expr::new(ExprKind::Local(local), ty, span);
    if prefix {
        emit_increment(el, local, ty, by, span);
        return Value::Scalar(current);
    }
    let old = build::new_local(&mut el.f, "before", ty, false, Role::Value, span);
    build::emit(
        el,
        StmtKind::Let {
            local: old,
            value: Some(current),
        },
        span,
    );
    emit_increment(el, local, ty, by, span);
    Value::Scalar(Expr::new(ExprKind::Local(old), ty, span))
}

pub(crate) fn emit_increment(
    el: &mut Elab<'_>,
    local: crate::ir::LocalId,
    ty: Scalar,
    by: i8,
    span: Span,
) {
    let mut current = Expr::new(ExprKind::Local(local), ty, span);
    let computed = match ty {
        Scalar::Tf32 => Scalar::F32,
        ty => ty,
    };
    if computed != ty {
        current = Expr::new(ExprKind::Cast(current), computed, span);
    }
    let one = if ty.is_float() {
        ExprKind::Float(1.0)
    } else {
        ExprKind::Int(1)
    };
    let op = if by < 0 { BinOp::Sub } else { BinOp::Add };
    let one = Expr::new(one, computed, span);
    let mut value = Expr::new(ExprKind::Binary(op, current, one), computed, span);
    if computed != ty {
        value = Expr::new(ExprKind::Cast(value), ty, span);
    }
    build::emit(el, StmtKind::Assign { local, value }, span);
}
