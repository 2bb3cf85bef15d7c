//! Warnings about expressions that have another meaning in other languages.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{BinOp, ParamKind, Scalar, VarHome};
use crate::sema::state::cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::value::Value;
use crate::sema::values::operator_names::{plain, sign};
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind, UnaryOp};

/// `x + 6 & 3`: the bitwise operators bind tighter than arithmetic, and have one precedence among
/// themselves.
pub(crate) fn lint_mixed_operators(
    el: &mut Elab<'_>,
    op: ast::BinOp,
    a: &ast::Expr,
    b: &ast::Expr,
    span: Span,
) {
    let Some(outer) = plain(op) else { return };
    for operand in [a, b] {
        let ExprKind::Binary(inner, at, ..) = &*operand.kind else {
            continue;
        };
        let Some(inner) = plain(*inner).filter(|inner| is_bitwise(*inner)) else {
            continue;
        };
        if is_arithmetic(outer) || is_bitwise(outer) && inner != outer {
            let why = match is_bitwise(outer) {
                true => "operators of one level, from left to right".to_owned(),
                false => format!("binds tighter than `{}` here", sign(outer)),
            };
            report_mixed(el, (sign(inner), sign(outer)), *at, operand.span, span, why);
        }
    }
}

/// `-x & 3`.
pub(crate) fn lint_mixed_prefix(el: &mut Elab<'_>, op: UnaryOp, operand: &ast::Expr, span: Span) {
    let prefix = match op {
        UnaryOp::Neg => "-",
        UnaryOp::Not => "!",
        _ => return,
    };
    if let ExprKind::Binary(inner, at, ..) = &*operand.kind
        && let Some(inner) = plain(*inner).filter(|inner| is_bitwise(*inner))
    {
        let why = format!("binds tighter than `{prefix}` here");
        report_mixed(el, (sign(inner), prefix), *at, operand.span, span, why);
    }
}

fn report_mixed(
    el: &mut Elab<'_>,
    (inner, outer): (&str, &str),
    at: Span,
    operand: Span,
    whole: Span,
    why: String,
) {
    let mut report = Diagnostic::new(
        codes::W0359,
        at,
        format!("`{inner}` and `{outer}` are mixed without parentheses"),
    )
    .label(why);
    let text = cx::source_text(&el.cx, whole, "");
    let (start, end) = (
        operand.start.saturating_sub(whole.start) as usize,
        operand.end.saturating_sub(whole.start) as usize,
    );
    let parts = (text.get(..start), text.get(start..end), text.get(end..));
    let inside = el.cx.file.snippet(operand);
    if !inside.is_empty() {
        report = report.suggest(operand, format!("({inside})"));
    }
    if let (Some(before), Some(inside), Some(after)) = parts {
        report = report.help(format!(
            "this means `{before}({inside}){after}`: write the parentheses"
        ));
    }
    el.cx.report(report);
}

fn is_bitwise(op: BinOp) -> bool {
    matches!(op, BinOp::And | BinOp::Or | BinOp::Xor)
}

fn is_arithmetic(op: BinOp) -> bool {
    matches!(
        op,
        BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Rem | BinOp::Shl | BinOp::Shr
    )
}

/// `0 - n < a` with an unsigned `n`: the left side is never negative if it wraps, and always if it
/// is exact.
pub(crate) fn lint_negated_unsigned(
    el: &mut Elab<'_>,
    op: ast::BinOp,
    operands: [(&ast::Expr, &Value); 2],
) {
    use ast::BinOp as B;
    if !matches!(op, B::Lt | B::Le | B::Gt | B::Ge) {
        return;
    }
    for (expr, value) in operands {
        let mut inner = expr;
        while let ExprKind::Paren(e) = &*inner.kind {
            inner = e;
        }
        let negates = match &*inner.kind {
            ExprKind::Unary(UnaryOp::Neg, _) => true,
            ExprKind::Binary(B::Sub, _, zero, _) => {
                matches!(*zero.kind, ExprKind::Int { value: 0, .. })
            }
            _ => false,
        };
        if !negates {
            continue;
        }
        let Some((ty, exact)) = unsigned(el, value) else {
            continue;
        };
        let text = cx::source_text(&el.cx, inner.span, "0 - x");
        let label = if exact {
            "an exact integer, which is never positive: nothing wraps".to_owned()
        } else {
            format!("a `{ty}` that wraps: it is never negative")
        };
        let report = Diagnostic::new(
            codes::W0360,
            inner.span,
            format!("`{text}` is compared, and has an operand of the unsigned type `{ty}`"),
        )
        .label(label)
        .help("convert the operand to a signed type first, or add it on the other side");
        el.cx.report(report);
    }
}

/// The unsigned type that a value is computed from, and whether the computation is exact, without
/// wrapping.
fn unsigned(el: &Elab<'_>, value: &Value) -> Option<(Scalar, bool)> {
    let is_unsigned = |ty: &Scalar| ty.is_integer() && !ty.is_signed();
    match value {
        Value::Scalar(e) => Some((e.ty, false)).filter(|(ty, _)| is_unsigned(ty)),
        Value::Int(int) => int.value.sorted_vars().iter().find_map(|var| {
            let ty = match el.f.var_home.get(var)? {
                VarHome::Param(id) => match el.f.params.get(id.index())?.kind {
                    ParamKind::Scalar { ty, .. } => ty,
                    _ => return None,
                },
                VarHome::Local(id) => el.f.local(*id).ty,
                VarHome::Dim(_) => return None,
            };
            Some((ty, true)).filter(|(ty, _)| is_unsigned(ty))
        }),
        _ => None,
    }
}
