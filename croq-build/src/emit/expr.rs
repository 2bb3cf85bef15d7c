//! Typed expressions as C++.
//!
//! Croqtile's integers wrap; C++'s signed ones must not overflow. So a tree of `+ - *` on a signed
//! type is computed in the unsigned type of the same width, and the result is cast back. The same
//! applies to types narrower than `int`, which C++ would promote.

use super::place;
use super::scalar;
use super::scope::Names;
use super::sym;
use super::text::{Binding, Text};
use crate::ir::{Arg, BinOp, Call, Expr, ExprKind, Intrinsic, MathFn, Scalar, UnOp, View};
use crate::symbolic::Sym;

pub fn expr(names: &Names<'_>, e: &Expr) -> Text {
    match &*e.kind {
        ExprKind::Index(sym) => names.as_value(|| sym::sym(names, sym)),
        ExprKind::Int(value) if e.ty.is_float() => {
            // Exact: integer literals of a floating type come from integer text.
            #[allow(clippy::cast_precision_loss)]
            let value = *value as f64;
            literal(scalar::float(value, e.ty))
        }
        ExprKind::Int(value) => literal(scalar::integer(*value, e.ty)),
        ExprKind::Float(value) => literal(scalar::float(*value, e.ty)),
        ExprKind::Bool(value) => Text::primary(value.to_string()),
        ExprKind::Local(id) => Text::primary(names.local_value(*id)),
        ExprKind::Param(id) => Text::primary(names.param(*id)),
        ExprKind::Unary(op, a) => unary(names, e, *op, a),
        ExprKind::Binary(op, a, b) => binary(names, e, *op, a, b),
        ExprKind::Select(c, a, b) => Text::new(
            format!(
                "{} ? {} : {}",
                expr(names, c).at_least(Binding::LogicOr),
                typed(names, a).at_least(Binding::LogicOr),
                typed(names, b).at_least(Binding::LogicOr)
            ),
            Binding::Select,
        ),
        ExprKind::Cast(a) => conversion(names, a, e.ty),
        ExprKind::Math(function, args) => {
            let args: Vec<Text> = args.iter().map(|a| typed(names, a)).collect();
            match function {
                MathFn::Bits => {
                    let name = format!("{}<{}>", function.cpp(), scalar::cpp(e.ty));
                    Text::call(&name, &args)
                }
                _ => Text::call(function.cpp(), &args),
            }
        }
        ExprKind::Load(access) => Text::primary(format!(
            "{}.{}({})",
            names.accessed(access.view.buffer),
            if names.is_swapped(access.view.buffer) {
                "peek"
            } else {
                "load"
            },
            place::place(names, access).text
        )),
        ExprKind::Intrinsic(of, operands) => intrinsic(names, *of, operands),
        ExprKind::Call(of) => call(names, of),
        ExprKind::Fits(fits) => sym::fits(names, fits),
    }
}

/// An expression as an argument from which C++ deduces a type: constants are cast to theirs.
fn typed(names: &Names<'_>, e: &Expr) -> Text {
    match &*e.kind {
        ExprKind::Index(sym) => names.as_value(|| sym::wide(names, sym)),
        ExprKind::Int(value) if e.ty == Scalar::Index => {
            Text::primary(format!("croq::idx({value})"))
        }
        _ => expr(names, e),
    }
}

fn conversion(names: &Names<'_>, from: &Expr, to: Scalar) -> Text {
    if from.ty == to {
        return expr(names, from);
    }
    if to == Scalar::Tf32 {
        return Text::call("croq::to_tf32", &[typed(names, from)]);
    }
    if from.ty == Scalar::Tf32 {
        let value = Text::call("croq::of_tf32", &[expr(names, from)]);
        return match to {
            Scalar::F32 => value,
            _ => Text::call(&format!("croq::to<{}>", scalar::cpp(to)), &[value]),
        };
    }
    // An index has 64 bits already.
    if let ExprKind::Cast(index) = &*from.kind
        && from.ty == Scalar::S64
        && index.ty == Scalar::Index
    {
        return conversion(names, index, to);
    }
    // A variable with a user's type is printed directly, not converted to an index.
    if let ExprKind::Index(sym) = &*from.kind
        && let Some((name, ty)) =
            (sym.as_var()).and_then(|v| names.as_value(|| names.typed_variable(v)))
    {
        let name = Text::primary(name);
        if ty == to {
            return name;
        }
        return Text::call(&format!("croq::to<{}>", scalar::cpp(to)), &[name]);
    }
    Text::call(
        &format!("croq::to<{}>", scalar::cpp(to)),
        &[typed(names, from)],
    )
}

fn unary(names: &Names<'_>, e: &Expr, op: UnOp, a: &Expr) -> Text {
    let prefix = |sign: &str, of: Text| {
        // `--x` would be a decrement.
        let of = if of.text.starts_with(sign) {
            format!("({})", of.text)
        } else {
            of.at_least(Binding::Unary)
        };
        Text::new(format!("{sign}{of}"), Binding::Unary)
    };
    match op {
        UnOp::Neg if scalar::wrapping_domain(e.ty).is_some() => wrapping(names, e),
        UnOp::Neg => prefix("-", expr(names, a)),
        UnOp::Not => prefix("!", expr(names, a)),
        UnOp::BitNot => narrowed(e.ty, prefix("~", expr(names, a))),
    }
}

fn binary(names: &Names<'_>, e: &Expr, op: BinOp, a: &Expr, b: &Expr) -> Text {
    // C++ compilers warn of a comparison of an expression with itself.
    if let (ExprKind::Index(left), ExprKind::Index(right)) = (&*a.kind, &*b.kind)
        && left == right
        && !left.is_poison()
    {
        match op {
            BinOp::Eq | BinOp::Le | BinOp::Ge => return Text::primary("true".to_owned()),
            BinOp::Ne | BinOp::Lt | BinOp::Gt => return Text::primary("false".to_owned()),
            _ => {}
        }
    }
    let infix = |op, binding| Text::infix(expr(names, a), op, expr(names, b), binding);
    match op {
        BinOp::Add | BinOp::Sub | BinOp::Mul if scalar::wrapping_domain(e.ty).is_some() => {
            wrapping(names, e)
        }
        BinOp::Add => infix("+", Binding::Sum),
        BinOp::Sub => infix("-", Binding::Sum),
        BinOp::Mul => infix("*", Binding::Product),
        BinOp::Div if e.ty.is_float() || safe_divisor(names, b) => {
            narrowed(e.ty, infix("/", Binding::Product))
        }
        BinOp::Rem if safe_divisor(names, b) => narrowed(e.ty, infix("%", Binding::Product)),
        BinOp::Div | BinOp::Rem => {
            let name = if op == BinOp::Div { "div" } else { "rem" };
            Text::call(
                &format!("croq::{name}<{}>", scalar::cpp(e.ty)),
                &[expr(names, a), expr(names, b)],
            )
        }
        BinOp::Shl => shift_left(names, e, a, b),
        BinOp::Shr => narrowed(e.ty, infix(">>", Binding::Shift)),
        BinOp::And => narrowed(e.ty, infix("&", Binding::And)),
        BinOp::Or => narrowed(e.ty, infix("|", Binding::Or)),
        BinOp::Xor => narrowed(e.ty, infix("^", Binding::Xor)),
        BinOp::LogicAnd => infix("&&", Binding::LogicAnd),
        BinOp::LogicOr => infix("||", Binding::LogicOr),
        BinOp::Lt => infix("<", Binding::Relation),
        BinOp::Le => infix("<=", Binding::Relation),
        BinOp::Gt => infix(">", Binding::Relation),
        BinOp::Ge => infix(">=", Binding::Relation),
        BinOp::Eq => infix("==", Binding::Equality),
        BinOp::Ne => infix("!=", Binding::Equality),
        BinOp::Min => Text::call("croq::min", &[typed(names, a), typed(names, b)]),
        BinOp::Max => Text::call("croq::max", &[typed(names, a), typed(names, b)]),
    }
}

/// A tree of `+ - *` of one integer type, computed unsigned and cast back.
fn wrapping(names: &Names<'_>, e: &Expr) -> Text {
    let text = unsigned(names, e, e.ty);
    cast(&scalar::cast(e.ty), &text)
}

fn unsigned(names: &Names<'_>, e: &Expr, ty: Scalar) -> Text {
    let Some(domain) = scalar::wrapping_domain(ty) else {
        return expr(names, e);
    };
    match &*e.kind {
        ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul), a, b) if e.ty == ty => {
            let (op, binding) = match op {
                BinOp::Add => ("+", Binding::Sum),
                BinOp::Sub => ("-", Binding::Sum),
                _ => ("*", Binding::Product),
            };
            Text::infix(unsigned(names, a, ty), op, unsigned(names, b, ty), binding)
        }
        ExprKind::Unary(UnOp::Neg, a) if e.ty == ty => Text::infix(
            Text::primary("0u"),
            "-",
            unsigned(names, a, ty),
            Binding::Sum,
        ),
        ExprKind::Int(value) => {
            let (mask, suffix) = if ty == Scalar::S64 {
                (u64::MAX, "ull")
            } else {
                (u64::from(u32::MAX), "u")
            };
            // Modulo 2^width, as the type wraps.
            Text::primary(format!("{}{suffix}", *value & i128::from(mask)))
        }
        _ => {
            let domain = if domain.contains(' ') {
                format!("({domain})")
            } else {
                domain.to_owned()
            };
            cast(&domain, &expr(names, e))
        }
    }
}

/// A shift of a negative number is computed unsigned.
fn shift_left(names: &Names<'_>, e: &Expr, a: &Expr, b: &Expr) -> Text {
    let left = unsigned(names, a, e.ty);
    let shifted = Text::infix(left, "<<", expr(names, b), Binding::Shift);
    if scalar::wrapping_domain(e.ty).is_some() {
        cast(&scalar::cast(e.ty), &shifted)
    } else {
        shifted
    }
}

/// A cast back to the type after an operation that C++ does in `int`.
fn narrowed(ty: Scalar, text: Text) -> Text {
    if !ty.is_float() && ty.bytes() < 4 {
        cast(&scalar::cast(ty), &text)
    } else {
        text
    }
}

/// The same for an expression that is all that a statement evaluates: no other unwritten value has
/// been read.
pub fn whole(names: &Names<'_>, e: &Expr) -> Text {
    match &*e.kind {
        ExprKind::Call(call) => call_with(call, |a| match a {
            Arg::Value(e) if names.unproven.expr(names.function, e) => used(names, e, "call"),
            _ => arg(names, a),
        }),
        _ => expr(names, e),
    }
}

fn intrinsic(names: &Names<'_>, of: Intrinsic, operands: &[Expr]) -> Text {
    if of == Intrinsic::LaneAcross
        && let [first, rest @ ..] = operands
        && names.unproven.expr(names.function, first)
    {
        let rest = rest.iter().map(|e| expr(names, e));
        let args: Vec<Text> = std::iter::once(typed(names, first)).chain(rest).collect();
        return Text::call("croq::tracked_of_lane_across", &args);
    }
    let args: Vec<Text> = operands.iter().map(|e| expr(names, e)).collect();
    Text::call(of.info().cpp, &args)
}

fn call(names: &Names<'_>, of: &Call) -> Text {
    call_with(of, |a| arg(names, a))
}

fn call_with(call: &Call, print: impl Fn(&Arg) -> Text) -> Text {
    let args: Vec<Text> = call.args.iter().map(print).collect();
    let targs: Vec<&str> = call.targs.iter().map(|t| template_argument(t)).collect();
    let targs = if targs.is_empty() {
        String::new()
    } else {
        format!("<{}>", targs.join(", "))
    };
    Text::call(&format!("{}{targs}", call.callee), &args)
}

/// The value of an expression that must have been written; `how` is its use.
pub fn used(names: &Names<'_>, e: &Expr, how: &str) -> Text {
    match names.unproven.expr(names.function, e) {
        true => {
            let how = Text::primary(format!("croq::in_{how}"));
            Text::call("croq::written", &[typed(names, e), how])
        }
        false => expr(names, e),
    }
}

fn arg(names: &Names<'_>, of: &Arg) -> Text {
    match of {
        Arg::Value(e) if names.unproven.expr(names.function, e) => {
            let e = typed(names, e).text;
            let lambda = format!("[&] {{ return {e}; }}");
            Text::call("croq::written_argument", &[Text::primary(lambda)])
        }
        Arg::Value(e) => typed(names, e),
        Arg::Pointer(view) => pointer(names, view),
        Arg::Cast(ty, inner) => Text::new(
            format!("({ty}){}", arg(names, inner).at_least(Binding::Unary)),
            Binding::Unary,
        ),
        Arg::Null => Text::primary("nullptr"),
    }
}

/// Whether division by it can neither trap nor overflow.
fn safe_divisor(names: &Names<'_>, e: &Expr) -> bool {
    match &*e.kind {
        ExprKind::Int(value) => !matches!(value, 0 | -1),
        ExprKind::Index(sym) => names.function.cx.lt(&Sym::zero(), sym).is_yes(),
        _ => false,
    }
}

fn pointer(names: &Names<'_>, view: &View) -> Text {
    Text::primary(format!(
        "{}.pointer({})",
        names.buffer(view.buffer),
        place::place_of_first(names, view).text
    ))
}

/// `(unsigned char)(a)` or `int(a)`.
fn cast(spelling: &str, of: &Text) -> Text {
    let binding = if spelling.starts_with('(') {
        Binding::Unary
    } else {
        Binding::Primary
    };
    Text::new(format!("{spelling}({})", of.text), binding)
}

fn literal(text: String) -> Text {
    if text.starts_with('(') {
        Text::new(text, Binding::Unary)
    } else {
        Text::literal(text)
    }
}

/// Template arguments that are element types begin with an at sign.
fn template_argument(text: &str) -> &str {
    match text.strip_prefix('@').and_then(Scalar::named) {
        Some(ty) => scalar::cpp(ty),
        None => text,
    }
}
