//! Operators on scalars of one element type.

use super::value::Value;
use crate::diagnostics::Diagnostic;
use crate::ir::{BinOp, Expr, ExprKind, Scalar};
use crate::sema::Checker;
use crate::sema::checks::run_time::compare;
use crate::source::Span;
use crate::symbolic::Sym;

impl Checker<'_> {
    /// The type a symbolic integer is computed in beside a scalar of type `ty`.
    pub(crate) fn with_int(&self, ty: Scalar, int: &Value) -> Scalar {
        if ty.is_float() || ty == Scalar::Bool || ty == Scalar::Index {
            return ty;
        }
        let Some(i) = self.int_of(int) else { return ty };
        let (lo, hi) = self.f.cx.range(&i.value);
        let (tlo, thi) = super::convert::int_limits(ty);
        let fits =
            lo.is_some_and(|l| i128::from(l) >= tlo) && hi.is_some_and(|h| i128::from(h) <= thi);
        if i.literal && fits || ty.bytes() >= 4 {
            return ty;
        }
        Scalar::S32
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn scalar_op(
        &mut self,
        op: BinOp,
        at: Span,
        a: Value,
        at_a: Span,
        b: Value,
        at_b: Span,
        span: Span,
    ) -> Value {
        let mut told = false;
        if matches!(op, BinOp::Shl | BinOp::Shr) {
            return self.scalar_shift(op, at, a, at_a, b, span);
        }
        // Comparisons of integers the prover knows stay in its terms.
        if op.is_comparison()
            && let (Some(x), Some(y)) = (self.sym_operand(&a), self.sym_operand(&b))
        {
            return Value::Scalar(compare(op, &x, &y, span));
        }
        let ty = match (&a, &b) {
            (Value::Scalar(x), Value::Int(_)) => Some(self.with_int(x.ty, &b)),
            (Value::Int(_), Value::Scalar(y)) => Some(self.with_int(y.ty, &a)),
            (Value::Scalar(x), Value::Scalar(y)) => {
                let (tx, ty) = (x.ty, y.ty);
                if tx == Scalar::Bool && ty == Scalar::Bool {
                    matches!(op, BinOp::Eq | BinOp::Ne).then_some(Scalar::Bool)
                } else if tx == Scalar::Index && ty.is_integer() {
                    Some(self.with_int(ty, &a))
                } else if ty == Scalar::Index && tx.is_integer() {
                    Some(self.with_int(tx, &b))
                } else {
                    let common = self.common_type(tx, ty, at);
                    told = common.is_none() && tx != Scalar::Bool && ty != Scalar::Bool;
                    common
                }
            }
            _ => None,
        };
        let bad_bits = matches!(op, BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Rem)
            && ty.is_some_and(|t| t.is_float());
        let bad_bool = ty == Some(Scalar::Bool) && !matches!(op, BinOp::Eq | BinOp::Ne);
        let Some(ty) = ty.filter(|_| !bad_bits && !bad_bool) else {
            if !told {
                self.no_operator(op, at, &a, &b);
            }
            return Value::Error;
        };
        let (Some(x), Some(y)) = (self.convert(a, ty, at_a), self.convert(b, ty, at_b)) else {
            return Value::Error;
        };
        if matches!(op, BinOp::Div | BinOp::Rem)
            && ty.is_integer()
            && let ExprKind::Int(0) = &*y.kind
        {
            self.report(
                Diagnostic::new("E0346", at, "division by zero").label("the right side is 0"),
            );
            return Value::Error;
        }
        let result = if op.is_comparison() { Scalar::Bool } else { ty };
        Value::Scalar(Expr::new(ExprKind::Binary(op, x, y), result, span))
    }

    fn sym_operand(&self, v: &Value) -> Option<Sym> {
        match v {
            Value::Int(i) => Some(i.value.clone()),
            Value::Scalar(e) if e.ty.is_integer() && e.ty != Scalar::U64 => self.as_sym(e),
            _ => None,
        }
    }

    fn scalar_shift(
        &mut self,
        op: BinOp,
        at: Span,
        a: Value,
        at_a: Span,
        b: Value,
        span: Span,
    ) -> Value {
        let amount = self.int_of(&b).and_then(|i| i.value.as_int());
        let Some(e) = self.to_expr(a, at_a) else {
            return Value::Error;
        };
        if !e.ty.is_integer() {
            let ty = e.ty;
            self.report(
                Diagnostic::new("E0343", at, format!("`{ty}` can't be shifted"))
                    .label("needs an integer"),
            );
            return Value::Error;
        }
        let bits = i64::try_from(e.ty.bytes() * 8).unwrap_or(64);
        match amount {
            Some(n) if (0..bits).contains(&n) => {
                let ty = e.ty;
                let amount = Expr::new(ExprKind::Int(i128::from(n)), Scalar::S32, span);
                Value::Scalar(Expr::new(ExprKind::Binary(op, e, amount), ty, span))
            }
            Some(n) => {
                let ty = e.ty;
                self.report(
                    Diagnostic::new(
                        "E0345",
                        at,
                        format!("a shift by {n} is outside the {bits} bits of `{ty}`"),
                    )
                    .label(format!("shifts are 0 to {}", bits - 1)),
                );
                Value::Error
            }
            None => {
                self.report(
                    Diagnostic::new("E0345", at, "a shift amount must be an integer literal")
                        .label("known only at run time"),
                );
                Value::Error
            }
        }
    }
}
