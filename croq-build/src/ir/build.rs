//! What passes build: new variables, expressions and statements.

use super::{
    BinOp, Expr, ExprKind, Function, KernelId, Local, LocalId, Role, Scalar, Stmt, StmtKind,
    VarHome,
};
use crate::source::Span;
use crate::symbolic::Sym;

impl Function {
    /// Takes a kernel's body out of the function while `edit` works on both, and puts it back. `None` if there is
    /// no such kernel.
    pub fn with_kernel_body<R>(
        &mut self,
        id: KernelId,
        edit: impl FnOnce(&mut Function, &mut Vec<Stmt>) -> R,
    ) -> Option<R> {
        let kernel = self.kernels.get_mut(id.index())?;
        let mut body = std::mem::take(&mut kernel.body);
        let result = edit(self, &mut body);
        if let Some(kernel) = self.kernels.get_mut(id.index()) {
            kernel.body = body;
        }
        Some(result)
    }

    /// A new local, which the prover does not know.
    pub fn new_local(&mut self, name: &str, ty: Scalar, mutable: bool, span: Span) -> LocalId {
        let id = LocalId(u32::try_from(self.locals.len()).unwrap_or(u32::MAX));
        self.locals.push(Local {
            name: name.to_owned(),
            ty,
            mutable,
            var: None,
            role: Role::Value,
            span,
        });
        id
    }
}

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
    let id = function.new_local(name, Scalar::Index, false, span);
    function.var_home.insert(var, VarHome::Local(id));
    if let Some(local) = function.locals.get_mut(id.index()) {
        local.var = Some(var);
        local.role = role;
    }
    (id, Sym::var(var))
}

/// A constant of any type, bound once: `const ty name = value;`.
pub fn value(function: &mut Function, name: &str, value: Expr) -> (Stmt, Expr) {
    let (ty, span) = (value.ty, value.span);
    let local = function.new_local(name, ty, false, span);
    (declare(local, value), Expr::local(local, ty, span))
}

/// Declares a local with its first value.
pub fn declare(local: LocalId, value: Expr) -> Stmt {
    let span = value.span;
    let value = Some(value);
    Stmt::new(StmtKind::Let { local, value }, span)
}

/// `if (cond) { then }`
pub fn only_if(cond: Expr, then: Vec<Stmt>) -> StmtKind {
    StmtKind::If {
        cond,
        then,
        otherwise: Vec::new(),
    }
}

impl Expr {
    pub fn local(id: LocalId, ty: Scalar, span: Span) -> Self {
        Self::new(ExprKind::Local(id), ty, span)
    }

    pub fn int(value: i128, ty: Scalar, span: Span) -> Self {
        Self::new(ExprKind::Int(value), ty, span)
    }

    /// The type is that of the operands; `bool` for comparisons.
    pub fn binary(op: BinOp, a: Expr, b: Expr, span: Span) -> Self {
        let ty = match op.is_comparison() {
            true => Scalar::Bool,
            false => a.ty,
        };
        Self::new(ExprKind::Binary(op, a, b), ty, span)
    }
}
