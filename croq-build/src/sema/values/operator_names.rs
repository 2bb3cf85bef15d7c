//! The spelling of operators, and reports of operators that do not exist.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{BinOp, Scalar};
use crate::sema::state::cx::Cx;
use crate::sema::state::value::Value;
use crate::source::Span;
use crate::syntax::ast;

pub(crate) fn report_no_operator(cx: &mut Cx<'_>, op: BinOp, at: Span, a: &Value, b: &Value) {
    let wildcard = matches!(a, Value::Wildcard) || matches!(b, Value::Wildcard);
    if wildcard && !cx.faults.is_empty() {
        return;
    }
    let sign = sign(op);
    let (ka, kb) = (a.operand(), b.operand());
    let mut d = Diagnostic::new(
        codes::E0343,
        at,
        format!("`{sign}` can't combine {ka} and {kb}"),
    );
    let is = |v: &Value, test: fn(Scalar) -> bool| matches!(v, Value::Scalar(e) if test(e.ty));
    let bits = matches!(op, BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Rem);
    d = if bits && (is(a, Scalar::is_float) || is(b, Scalar::is_float)) {
        d.label("needs integers")
    } else if op.is_comparison() && is(a, |t| t == Scalar::Bool) {
        d.label("a `bool` is no number")
            .help("two comparisons are joined by `&&`: `a < b && b < c`")
    } else if is(a, |t| t == Scalar::Bool) || is(b, |t| t == Scalar::Bool) {
        d.label("a `bool` is no number")
            .help("`&&`, `||`, `!`, `==` and `!=` work on `bool`; `cond ? 1 : 0` is a number")
    } else {
        d.label(format!("{ka} on the left, {kb} on the right"))
    };
    cx.report(d);
}

/// The spelling of an operator.
pub(crate) fn sign(op: BinOp) -> &'static str {
    match op {
        BinOp::Add => "+",
        BinOp::Sub => "-",
        BinOp::Mul => "*",
        BinOp::Div => "/",
        BinOp::Rem => "%",
        BinOp::Shl => "<<",
        BinOp::Shr => ">>",
        BinOp::And => "&",
        BinOp::Or => "|",
        BinOp::Xor => "^",
        BinOp::LogicAnd => "&&",
        BinOp::LogicOr => "||",
        BinOp::Lt => "<",
        BinOp::Le => "<=",
        BinOp::Gt => ">",
        BinOp::Ge => ">=",
        BinOp::Eq => "==",
        BinOp::Ne => "!=",
        BinOp::Min => "__min",
        BinOp::Max => "__max",
    }
}

pub(crate) fn plain(op: ast::BinOp) -> Option<BinOp> {
    use ast::BinOp as B;
    Some(match op {
        B::Add => BinOp::Add,
        B::Sub => BinOp::Sub,
        B::Mul => BinOp::Mul,
        B::Div => BinOp::Div,
        B::Rem => BinOp::Rem,
        B::Shl => BinOp::Shl,
        B::Shr => BinOp::Shr,
        B::And => BinOp::And,
        B::Or => BinOp::Or,
        B::Xor => BinOp::Xor,
        B::LogicAnd => BinOp::LogicAnd,
        B::LogicOr => BinOp::LogicOr,
        B::Lt => BinOp::Lt,
        B::Gt => BinOp::Gt,
        B::Le => BinOp::Le,
        B::Ge => BinOp::Ge,
        B::Eq => BinOp::Eq,
        B::Ne => BinOp::Ne,
        B::Compose | B::BoundAdd | B::BoundSub | B::BoundMul | B::BoundDiv | B::BoundRem => {
            return None;
        }
    })
}
