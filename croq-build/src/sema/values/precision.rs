//! Conversions that lose information.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{BinOp, Expr, ExprKind, Scalar};
use crate::sema::state::cx::{self, Cx};
use crate::source::Span;

pub(crate) fn lint_lossy(cx: &mut Cx<'_>, from: Scalar, target: Scalar, span: Span) {
    cx.report(
        Diagnostic::new(
            codes::W0703,
            span,
            format!("implicit conversion from `{from}` to `{target}` may lose precision"),
        )
        .label(format!("`{from}` here"))
        .help(format!(
            "write `__to<{target}>({})` if that is meant",
            cx::source_text(cx, span, "…")
        )),
    );
}

/// Whether a value of a computed type loses precision in another numeric type, for no other reason
/// than its type.
pub(crate) fn loses(cx: &Cx<'_>, e: &Expr, target: Scalar) -> bool {
    let numbers = |ty: Scalar| ty != Scalar::Bool && ty != Scalar::Index;
    let mixed = matches!(
        (e.ty, target),
        (Scalar::F16, Scalar::Bf16) | (Scalar::Bf16, Scalar::F16)
    );
    numbers(e.ty)
        && numbers(target)
        && !mixed
        && relation(type_of_operands(e), target) == Relation::Lossy
        && !matches!(*e.kind, ExprKind::Float(_))
        && !(target.is_float() && literal_without_f(cx, e).is_some())
}

/// Reports `name op= …`, whose result is converted to the type of the variable; `span` is the right
/// side.
pub(crate) fn lint_lossy_update(
    cx: &mut Cx<'_>,
    from: Scalar,
    target: Scalar,
    span: Span,
    (name, sign): (&str, &str),
) {
    let mut operand = cx::source_text(cx, span, "…");
    if operand.contains(' ') {
        operand = format!("({operand})");
    }
    cx.report(
        Diagnostic::new(
            codes::W0703,
            span,
            format!("implicit conversion from `{from}` to `{target}` may lose precision"),
        )
        .label(format!("the result is `{from}`, `{name}` is `{target}`"))
        .help(match from.is_float() && target.is_integer() {
            true => format!(
                "declare `{name}` as `{from}`, or write `{name} = __to<{target}>({name} {sign} {operand});`"
            ),
            false => format!(
                "write `{name} = __to<{target}>({name} {sign} {operand});` if that is meant"
            ),
        }),
    );
}

/// The type of a value as far as conversions are concerned. Integers of less than a byte are computed
/// in `s32`, and their sum is as precise as they are: like that of other integers it wraps where it is
/// stored as one of them.
pub(crate) fn type_of_operands(e: &Expr) -> Scalar {
    match small_operands(e) {
        Some(Small::Of(ty)) => ty,
        _ => e.ty,
    }
}

/// What a computation in `s32` consists of.
enum Small {
    /// Operands of less than a byte, all of which this type represents.
    Of(Scalar),
    Literal(i128),
}

/// `None` if there are other operands.
fn small_operands(e: &Expr) -> Option<Small> {
    if e.ty != Scalar::S32 {
        return None;
    }
    match &*e.kind {
        // A conversion in the text is longer than its operand.
        ExprKind::Cast(a) if a.ty.is_small_integer() && a.span == e.span => Some(Small::Of(a.ty)),
        ExprKind::Int(value) => Some(Small::Literal(*value)),
        ExprKind::Unary(_, a) | ExprKind::Binary(BinOp::Shl | BinOp::Shr, a, _) => {
            small_operands(a)
        }
        ExprKind::Binary(_, a, b) | ExprKind::Select(_, a, b) => {
            let within = |value, ty: &Scalar| {
                let limits = ty.limits();
                limits.is_some_and(|(lo, hi)| lo <= value && value <= hi)
            };
            match (small_operands(a)?, small_operands(b)?) {
                (Small::Literal(v), Small::Of(ty)) | (Small::Of(ty), Small::Literal(v)) => {
                    Some(ty).filter(|ty| within(v, ty))
                }
                (Small::Of(a), Small::Of(b)) if relation(a, b) == Relation::Preserving => Some(b),
                (Small::Of(a), Small::Of(b)) if relation(b, a) == Relation::Preserving => Some(a),
                _ => None,
            }
            .map(Small::Of)
        }
        _ => None,
    }
}

/// Reports the most common mistake with floats: one literal without its `f`.
pub(crate) fn lint_computed_in_double(cx: &mut Cx<'_>, target: Scalar, span: Span, literal: Span) {
    let help = match cx.file.macro_at(literal) {
        Some(name) => format!("write the literal in the macro `{name}` with the suffix `f`"),
        None => format!("write `{}f`", cx.file.snippet(literal)),
    };
    let report = Diagnostic::new(
        codes::W0703,
        span,
        format!("implicit conversion from `f64` to `{target}` may lose precision"),
    )
    .label("computed in `f64`")
    .also(literal, "because a literal without `f` is an `f64`")
    .help(help);
    let written = cx.file.snippet(literal);
    cx.report(match written.ends_with(|c: char| c.is_ascii_digit()) {
        true => report.suggest(literal, format!("{written}f")),
        false => report,
    });
}

/// The first literal that makes an expression an `f64`, if only literals do. A whole number takes
/// the type of the other operands, so it is not the cause.
pub(crate) fn literal_without_f(cx: &Cx<'_>, e: &Expr) -> Option<Span> {
    let mut literals = Vec::new();
    if !double_literals(e, &mut literals) {
        return None;
    }
    literals.into_iter().find(|literal| {
        cx.file.macro_at(*literal).is_some() || cx.file.snippet(*literal).contains(['.', 'e', 'E'])
    })
}

pub(crate) fn report_mixed_halves(cx: &mut Cx<'_>, span: Span) {
    cx.report(
        Diagnostic::new(
            codes::E0704,
            span,
            "`f16` and `bf16` don't mix: neither contains the other",
        )
        .label("both in one expression")
        .help("convert one of them, for instance `__to<f32>(…)`"),
    );
}

/// Adds the literals that make `e` an `f64`. False if something else does so too.
fn double_literals(e: &Expr, found: &mut Vec<Span>) -> bool {
    if e.ty != Scalar::F64 {
        return true;
    }
    match &*e.kind {
        ExprKind::Float(_) => {
            found.push(e.span);
            true
        }
        ExprKind::Load(_) | ExprKind::Local(_) | ExprKind::Param(_) | ExprKind::Call(_) => false,
        ExprKind::Unary(_, a) | ExprKind::Cast(a) => double_literals(a, found),
        // Literals in the condition do not affect the type.
        ExprKind::Binary(_, a, b) | ExprKind::Select(_, a, b) => {
            double_literals(a, found) && double_literals(b, found)
        }
        ExprKind::Math(_, args) => args.iter().all(|a| double_literals(a, found)),
        _ => true,
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Relation {
    Preserving,
    Sign,
    Lossy,
}

/// The effect of a conversion on values.
pub(crate) fn relation(from: Scalar, to: Scalar) -> Relation {
    use Scalar::*;
    if from == to {
        return Relation::Preserving;
    }
    match (from.format(), to.format()) {
        (Some(from), Some(to)) if to.contains(from) => return Relation::Preserving,
        (Some(_), _) => return Relation::Lossy,
        (None, Some(format)) => {
            let bits = if from == Index { 32 } else { from.bits() };
            let bits = if from.is_signed() { bits - 1 } else { bits };
            return if bits <= u64::from(format.digits) {
                Relation::Preserving
            } else {
                Relation::Lossy
            };
        }
        (None, None) => {}
    }
    match (from.is_signed(), to.is_signed()) {
        (true, true) | (false, false) if to.bits() >= from.bits() => Relation::Preserving,
        // Symbolic integers are small in practice, and are checked where they become shapes.
        _ if from == Index && to.bytes() >= 4 => Relation::Preserving,
        (false, true) if to.bits() > from.bits() => Relation::Preserving,
        (true, false) if to.bits() >= from.bits() => Relation::Sign,
        (false, true) if to.bits() == from.bits() => Relation::Sign,
        _ => Relation::Lossy,
    }
}

/// The narrowest float type that represents all values of two types of which neither contains the
/// other.
pub(crate) fn narrowest_of_both(a: Scalar, b: Scalar) -> Scalar {
    let preserves = |to: &Scalar| {
        [a, b]
            .iter()
            .all(|from| relation(*from, *to) == Relation::Preserving)
    };
    let all = Scalar::ALL.iter().copied().filter(|ty| ty.is_float());
    all.filter(preserves)
        .min_by_key(|ty| ty.bits())
        .unwrap_or(Scalar::F64)
}
