//! Conditions, and `?:`.

use super::value::Value;
use crate::diagnostics::Diagnostic;
use crate::ir::{Expr, ExprKind, Role, Scalar, StmtKind};
use crate::sema::Checker;
use crate::source::Span;
use crate::syntax::ast;

impl Checker<'_> {
    pub(crate) fn ternary(
        &mut self,
        c: &ast::Expr,
        a: &ast::Expr,
        b: &ast::Expr,
        span: Span,
    ) -> Value {
        let Some(cond) = self.condition(c) else {
            self.expr(a);
            self.expr(b);
            return Value::Error;
        };
        let decided = self.decided(&cond);
        let (va, sa) = self.assuming(&cond, true, decided == Some(false), |s| s.expr(a));
        let (vb, sb) = self.assuming(&cond, false, decided == Some(true), |s| s.expr(b));
        if va.is_error() || vb.is_error() {
            return Value::Error;
        }
        if let Some(first) = decided {
            let (value, stmts) = if first { (va, sa) } else { (vb, sb) };
            if let Some(sink) = self.sinks.last_mut() {
                sink.extend(stmts);
            }
            return value;
        }
        let ty = match (&va, &vb) {
            (Value::Int(_), Value::Int(_)) => Scalar::Index,
            (Value::Scalar(x), Value::Int(_)) => self.with_int(x.ty, &vb),
            (Value::Int(_), Value::Scalar(y)) => self.with_int(y.ty, &va),
            (Value::Scalar(x), Value::Scalar(y)) => match self.common_type(x.ty, y.ty, span) {
                Some(t) => t,
                None => {
                    if x.ty == Scalar::Bool || y.ty == Scalar::Bool {
                        self.ternary_mismatch(&va, &vb, span);
                    }
                    return Value::Error;
                }
            },
            (Value::Data(_), _) | (_, Value::Data(_)) => {
                self.report(
                    Diagnostic::new(
                        "E0342",
                        span,
                        "`?:` can't choose between buffers or futures",
                    )
                    .label("spanned data")
                    .help("use `select(i, a, b)`"),
                );
                return Value::Error;
            }
            _ => {
                self.ternary_mismatch(&va, &vb, span);
                return Value::Error;
            }
        };
        if sa.is_empty() && sb.is_empty() {
            let (Some(x), Some(y)) = (self.convert(va, ty, a.span), self.convert(vb, ty, b.span))
            else {
                return Value::Error;
            };
            return Value::Scalar(Expr::new(ExprKind::Select(cond, x, y), ty, span));
        }
        // A branch needs statements of its own: they must run only when it is chosen.
        let local = self.new_local("chosen", ty, true, Role::Value, span);
        self.emit(StmtKind::Let { local, value: None }, span);
        let then = self.branch_value(va, sa, local, ty, a.span);
        let otherwise = self.branch_value(vb, sb, local, ty, b.span);
        self.emit(
            StmtKind::If {
                cond,
                then,
                otherwise,
            },
            span,
        );
        Value::Scalar(Expr::new(ExprKind::Local(local), ty, span))
    }

    fn branch_value(
        &mut self,
        value: Value,
        mut stmts: Vec<crate::ir::Stmt>,
        local: crate::ir::LocalId,
        ty: Scalar,
        span: Span,
    ) -> Vec<crate::ir::Stmt> {
        let (value, more) = self.collect(|s| s.convert(value, ty, span));
        stmts.extend(more);
        if let Some(value) = value {
            stmts.push(crate::ir::Stmt::new(
                StmtKind::Assign { local, value },
                span,
            ));
        }
        stmts
    }

    fn ternary_mismatch(&mut self, a: &Value, b: &Value, span: Span) {
        let (a, b) = (a.kind(), b.kind());
        self.report(
            Diagnostic::new(
                "E0341",
                span,
                format!("the branches of `?:` don't agree: {a} and {b}"),
            )
            .label("two kinds of value"),
        );
    }

    /// Runs `body` under the assumption that `cond` holds (or doesn't), collecting its statements.
    pub(crate) fn assuming<R>(
        &mut self,
        cond: &Expr,
        holds: bool,
        never: bool,
        body: impl FnOnce(&mut Self) -> R,
    ) -> (R, Vec<crate::ir::Stmt>) {
        self.f.cx.push_scope();
        self.assume(cond, holds);
        self.conditional += 1;
        self.uncertain += 1;
        self.dead += u32::from(never);
        let result = self.collect(body);
        self.dead -= u32::from(never);
        self.uncertain -= 1;
        self.conditional -= 1;
        self.f.cx.pop_scope();
        result
    }

    /// A condition: must be `bool`.
    pub(crate) fn condition(&mut self, e: &ast::Expr) -> Option<Expr> {
        let value = match &*e.kind {
            ast::ExprKind::Call(call) if self.is_device_call(call) => {
                self.device_call(call, Scalar::Bool, e.span)
            }
            _ => self.expr(e),
        };
        match value {
            Value::Scalar(c) if c.ty == Scalar::Bool => Some(c),
            Value::Error => None,
            other => {
                let kind = other.kind();
                self.not_bool(e.span, &kind);
                None
            }
        }
    }
}
