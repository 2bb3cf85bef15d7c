//! Typed expressions as C++.
//!
//! Croqtile's integers wrap; C++'s signed ones must not overflow. So `+ - *` on signed types are
//! done in the unsigned type of the same width, over a whole tree of them at once, and the result is
//! cast back. Types narrower than `int`, which C++ would promote, go the same way.

use super::scalar;
use super::scope::Names;
use super::text::{Binding, Text};
use crate::ir::{Arg, BinOp, Call, Expr, ExprKind, Intrinsic, Scalar, UnOp, View};
use crate::symbolic::Sym;

impl Names<'_> {
    pub fn expr(&self, e: &Expr) -> Text {
        match &*e.kind {
            ExprKind::Index(sym) => self.as_value(|| self.sym(sym)),
            ExprKind::Int(value) if e.ty.is_float() => {
                // Exact: integer literals of a floating type come from integer text.
                #[allow(clippy::cast_precision_loss)]
                let value = *value as f64;
                literal(scalar::float(value, e.ty))
            }
            ExprKind::Int(value) => literal(scalar::integer(*value, e.ty)),
            ExprKind::Float(value) => literal(scalar::float(*value, e.ty)),
            ExprKind::Bool(value) => Text::primary(value.to_string()),
            ExprKind::Local(id) => Text::primary(self.local_value(*id)),
            ExprKind::Param(id) => Text::primary(self.param(*id)),
            ExprKind::Unary(op, a) => self.unary(e, *op, a),
            ExprKind::Binary(op, a, b) => self.binary(e, *op, a, b),
            ExprKind::Select(c, a, b) => Text::new(
                format!(
                    "{} ? {} : {}",
                    self.expr(c).at_least(Binding::LogicOr),
                    self.typed(a).at_least(Binding::LogicOr),
                    self.typed(b).at_least(Binding::LogicOr)
                ),
                Binding::Select,
            ),
            ExprKind::Cast(a) => self.conversion(a, e.ty),
            ExprKind::Math(function, args) => {
                let args: Vec<Text> = args.iter().map(|a| self.typed(a)).collect();
                Text::call(function.cpp(), &args)
            }
            ExprKind::Load(access) => Text::primary(format!(
                "{}.load({})",
                self.buffer(access.view.buffer),
                self.place(access).text
            )),
            ExprKind::Intrinsic(of, operands) => self.intrinsic(*of, operands),
            ExprKind::Call(call) => self.call(call),
            ExprKind::Fits(fits) => self.fits(fits),
        }
    }

    /// Where C++ deduces a type from the argument: constants get theirs.
    fn typed(&self, e: &Expr) -> Text {
        match &*e.kind {
            ExprKind::Index(sym) => self.as_value(|| self.wide(sym)),
            ExprKind::Int(value) if e.ty == Scalar::Index => {
                Text::primary(format!("croq::idx({value})"))
            }
            _ => self.expr(e),
        }
    }

    fn conversion(&self, from: &Expr, to: Scalar) -> Text {
        if from.ty == to {
            return self.expr(from);
        }
        // An index has 64 bits already.
        if let ExprKind::Cast(index) = &*from.kind
            && from.ty == Scalar::S64
            && index.ty == Scalar::Index
        {
            return self.conversion(index, to);
        }
        // A variable of a user's type needs no detour over indices.
        if let ExprKind::Index(sym) = &*from.kind
            && let Some((name, ty)) =
                (sym.as_var()).and_then(|v| self.as_value(|| self.typed_variable(v)))
        {
            let name = Text::primary(name);
            if ty == to {
                return name;
            }
            return Text::call(&format!("croq::to<{}>", scalar::cpp(to)), &[name]);
        }
        Text::call(
            &format!("croq::to<{}>", scalar::cpp(to)),
            &[self.typed(from)],
        )
    }

    fn unary(&self, e: &Expr, op: UnOp, a: &Expr) -> Text {
        let prefix = |sign: &str, of: Text| {
            // `--x` would be something else.
            let of = if of.text.starts_with(sign) {
                format!("({})", of.text)
            } else {
                of.at_least(Binding::Unary)
            };
            Text::new(format!("{sign}{of}"), Binding::Unary)
        };
        match op {
            UnOp::Neg if scalar::wrapping_domain(e.ty).is_some() => self.wrapping(e),
            UnOp::Neg => prefix("-", self.expr(a)),
            UnOp::Not => prefix("!", self.expr(a)),
            UnOp::BitNot => self.narrowed(e.ty, prefix("~", self.expr(a))),
        }
    }

    fn binary(&self, e: &Expr, op: BinOp, a: &Expr, b: &Expr) -> Text {
        let infix = |op, binding| Text::infix(self.expr(a), op, self.expr(b), binding);
        match op {
            BinOp::Add | BinOp::Sub | BinOp::Mul if scalar::wrapping_domain(e.ty).is_some() => {
                self.wrapping(e)
            }
            BinOp::Add => infix("+", Binding::Sum),
            BinOp::Sub => infix("-", Binding::Sum),
            BinOp::Mul => infix("*", Binding::Product),
            BinOp::Div if e.ty.is_float() || self.safe_divisor(b) => {
                self.narrowed(e.ty, infix("/", Binding::Product))
            }
            BinOp::Rem if self.safe_divisor(b) => self.narrowed(e.ty, infix("%", Binding::Product)),
            BinOp::Div | BinOp::Rem => {
                let name = if op == BinOp::Div { "div" } else { "rem" };
                Text::call(
                    &format!("croq::{name}<{}>", scalar::cpp(e.ty)),
                    &[self.expr(a), self.expr(b)],
                )
            }
            BinOp::Shl => self.shift_left(e, a, b),
            BinOp::Shr => self.narrowed(e.ty, infix(">>", Binding::Shift)),
            BinOp::And => self.narrowed(e.ty, infix("&", Binding::And)),
            BinOp::Or => self.narrowed(e.ty, infix("|", Binding::Or)),
            BinOp::Xor => self.narrowed(e.ty, infix("^", Binding::Xor)),
            BinOp::LogicAnd => infix("&&", Binding::LogicAnd),
            BinOp::LogicOr => infix("||", Binding::LogicOr),
            BinOp::Lt => infix("<", Binding::Relation),
            BinOp::Le => infix("<=", Binding::Relation),
            BinOp::Gt => infix(">", Binding::Relation),
            BinOp::Ge => infix(">=", Binding::Relation),
            BinOp::Eq => infix("==", Binding::Equality),
            BinOp::Ne => infix("!=", Binding::Equality),
            BinOp::Min => Text::call("croq::min", &[self.typed(a), self.typed(b)]),
            BinOp::Max => Text::call("croq::max", &[self.typed(a), self.typed(b)]),
        }
    }

    /// A tree of `+ - *` of one integer type, computed unsigned and cast back.
    fn wrapping(&self, e: &Expr) -> Text {
        let text = self.unsigned(e, e.ty);
        cast(&scalar::cast(e.ty), &text)
    }

    fn unsigned(&self, e: &Expr, ty: Scalar) -> Text {
        let Some(domain) = scalar::wrapping_domain(ty) else {
            return self.expr(e);
        };
        match &*e.kind {
            ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul), a, b) if e.ty == ty => {
                let (op, binding) = match op {
                    BinOp::Add => ("+", Binding::Sum),
                    BinOp::Sub => ("-", Binding::Sum),
                    _ => ("*", Binding::Product),
                };
                Text::infix(self.unsigned(a, ty), op, self.unsigned(b, ty), binding)
            }
            ExprKind::Unary(UnOp::Neg, a) if e.ty == ty => {
                Text::infix(Text::primary("0u"), "-", self.unsigned(a, ty), Binding::Sum)
            }
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
                cast(&domain, &self.expr(e))
            }
        }
    }

    /// A shift of a negative number is done unsigned.
    fn shift_left(&self, e: &Expr, a: &Expr, b: &Expr) -> Text {
        let left = self.unsigned(a, e.ty);
        let shifted = Text::infix(left, "<<", self.expr(b), Binding::Shift);
        if scalar::wrapping_domain(e.ty).is_some() {
            cast(&scalar::cast(e.ty), &shifted)
        } else {
            shifted
        }
    }

    /// Back to the type after an operation that C++ did in `int`.
    fn narrowed(&self, ty: Scalar, text: Text) -> Text {
        if !ty.is_float() && ty.bytes() < 4 {
            cast(&scalar::cast(ty), &text)
        } else {
            text
        }
    }

    /// The same where it is all that a statement evaluates: nothing else has been read meanwhile.
    pub fn whole(&self, e: &Expr) -> Text {
        match &*e.kind {
            ExprKind::Call(call) => self.call_with(call, |arg| match arg {
                Arg::Value(e) if self.unproven.expr(self.function, e) => self.used(e, "call"),
                _ => self.arg(arg),
            }),
            _ => self.expr(e),
        }
    }

    fn intrinsic(&self, of: Intrinsic, operands: &[Expr]) -> Text {
        if of == Intrinsic::LaneAcross
            && let [first, rest @ ..] = operands
            && self.unproven.expr(self.function, first)
        {
            let rest = rest.iter().map(|e| self.expr(e));
            let args: Vec<Text> = std::iter::once(self.typed(first)).chain(rest).collect();
            return Text::call("croq::tracked_of_lane_across", &args);
        }
        let args: Vec<Text> = operands.iter().map(|e| self.expr(e)).collect();
        Text::call(of.info().cpp, &args)
    }

    fn call(&self, call: &Call) -> Text {
        self.call_with(call, |arg| self.arg(arg))
    }

    fn call_with(&self, call: &Call, print: impl Fn(&Arg) -> Text) -> Text {
        let args: Vec<Text> = call.args.iter().map(print).collect();
        let targs: Vec<&str> = call.targs.iter().map(|t| template_argument(t)).collect();
        let targs = if targs.is_empty() {
            String::new()
        } else {
            format!("<{}>", targs.join(", "))
        };
        Text::call(&format!("{}{targs}", call.callee), &args)
    }

    /// The value of an expression where it has to be one that was written.
    pub fn used(&self, e: &Expr, how: &str) -> Text {
        match self.unproven.expr(self.function, e) {
            true => {
                let how = Text::primary(format!("croq::in_{how}"));
                Text::call("croq::written", &[self.typed(e), how])
            }
            false => self.expr(e),
        }
    }

    fn arg(&self, arg: &Arg) -> Text {
        match arg {
            Arg::Value(e) if self.unproven.expr(self.function, e) => {
                let e = self.typed(e).text;
                let lambda = format!("[&] {{ return {e}; }}");
                Text::call("croq::written_argument", &[Text::primary(lambda)])
            }
            Arg::Value(e) => self.typed(e),
            Arg::Pointer(view) => self.pointer(view),
            Arg::Cast(ty, inner) => Text::new(
                format!("({ty}){}", self.arg(inner).at_least(Binding::Unary)),
                Binding::Unary,
            ),
            Arg::Null => Text::primary("nullptr"),
        }
    }

    /// Division by it can neither trap nor overflow.
    fn safe_divisor(&self, e: &Expr) -> bool {
        match &*e.kind {
            ExprKind::Int(value) => !matches!(value, 0 | -1),
            ExprKind::Index(sym) => self.function.cx.lt(&Sym::zero(), sym).is_yes(),
            _ => false,
        }
    }

    fn pointer(&self, view: &View) -> Text {
        Text::primary(format!(
            "{}.pointer({})",
            self.buffer(view.buffer),
            self.place_of_first(view).text
        ))
    }
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

/// Element types come with an at sign in front.
fn template_argument(text: &str) -> &str {
    match text.strip_prefix('@').and_then(Scalar::named) {
        Some(ty) => scalar::cpp(ty),
        None => text,
    }
}
