//! New variables for what passes write.

use crate::ir::{Expr, ExprKind, Function, Local, LocalId, Role, Scalar, Stmt, StmtKind, VarHome};
use crate::source::Span;
use crate::symbolic::Sym;

/// A new index with values `0 <= v < count`, or without bounds.
pub fn index(
    function: &mut Function,
    name: &str,
    role: Role,
    count: Option<&Sym>,
    span: Span,
) -> (LocalId, Sym) {
    let bounds = count.map(|n| (Sym::zero(), n - 1));
    let (lo, hi) = bounds.unzip();
    let var = function.cx.new_var(name, lo, hi);
    let id = LocalId(u32::try_from(function.locals.len()).unwrap_or(u32::MAX));
    function.var_home.insert(var, VarHome::Local(id));
    function.locals.push(Local {
        name: name.to_owned(),
        ty: Scalar::Index,
        mutable: false,
        var: Some(var),
        role,
        span,
    });
    (id, Sym::var(var))
}

/// A constant of any type, bound once: `const ty name = value;`.
pub fn value(function: &mut Function, name: &str, value: Expr) -> (Stmt, Expr) {
    let (ty, span) = (value.ty, value.span);
    let local = LocalId(u32::try_from(function.locals.len()).unwrap_or(u32::MAX));
    function.locals.push(Local {
        name: name.to_owned(),
        ty,
        mutable: false,
        var: None,
        role: Role::Value,
        span,
    });
    let stmt = Stmt::new(
        StmtKind::Let {
            local,
            value: Some(value),
        },
        span,
    );
    (stmt, Expr::new(ExprKind::Local(local), ty, span))
}
