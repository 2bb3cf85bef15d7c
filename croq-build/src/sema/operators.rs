//! Binary operators on integers, tuples, shapes and scalars.

use super::Checker;
use super::checks::compare;
use super::value::{IntValue, Value};
use crate::diagnostics::Diagnostic;
use crate::ir::{BinOp, Expr, ExprKind, Role, Scalar, StmtKind};
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast;

impl Checker<'_> {
    pub(super) fn binary(
        &mut self,
        op: ast::BinOp,
        at: Span,
        a: &ast::Expr,
        b: &ast::Expr,
        span: Span,
    ) -> Value {
        use ast::BinOp as B;
        match op {
            B::LogicAnd | B::LogicOr => return self.logical(op, a, b, span),
            B::BoundMul | B::BoundDiv | B::BoundRem => {
                self.report(
                    Diagnostic::new("E0572", at, "`#*`, `#/` and `#%` are reserved")
                        .label("not an operator yet")
                        .help("use `#+` or `#-`, or compute the bound first"),
                );
                return Value::Error;
            }
            _ => {}
        }
        let va = self.expr(a);
        let vb = self.expr(b);
        if va.is_error() || vb.is_error() {
            return Value::Error;
        }
        match op {
            B::Compose => self.compose(va, a.span, vb, b.span),
            B::BoundAdd | B::BoundSub => self.rebound(op, va, a.span, vb, b.span),
            _ => {
                let Some(op) = plain(op) else {
                    return Value::Error;
                };
                self.arithmetic(op, at, va, a.span, vb, b.span, span)
            }
        }
    }

    fn logical(&mut self, op: ast::BinOp, a: &ast::Expr, b: &ast::Expr, span: Span) -> Value {
        let left = self.condition(a);
        let is_and = op == ast::BinOp::LogicAnd;
        let Some(left) = left else {
            self.condition(b);
            return Value::Error;
        };
        let decided = self.decided(&left);
        let never = decided == Some(!is_and);
        let (right, stmts) = self.assuming(&left, is_and, never, |s| s.condition(b));
        let Some(right) = right else {
            return Value::Error;
        };
        let op = if is_and {
            BinOp::LogicAnd
        } else {
            BinOp::LogicOr
        };
        if stmts.is_empty() {
            return Value::Scalar(Expr::new(
                ExprKind::Binary(op, left, right),
                Scalar::Bool,
                span,
            ));
        }
        // What the right side needs may run only when the left side doesn't decide.
        let local = self.new_local("holds", Scalar::Bool, true, Role::Value, span);
        self.emit(
            StmtKind::Let {
                local,
                value: Some(left),
            },
            span,
        );
        let current = Expr::new(ExprKind::Local(local), Scalar::Bool, span);
        let mut branch = stmts;
        branch.push(crate::ir::Stmt::new(
            StmtKind::Assign {
                local,
                value: right,
            },
            b.span,
        ));
        let (then, otherwise) = if is_and {
            (branch, Vec::new())
        } else {
            (Vec::new(), branch)
        };
        self.emit(
            StmtKind::If {
                cond: current.clone(),
                then,
                otherwise,
            },
            span,
        );
        Value::Scalar(current)
    }

    fn compose(&mut self, a: Value, at_a: Span, b: Value, at_b: Span) -> Value {
        let mut parts = Vec::new();
        for (v, at) in [(a, at_a), (b, at_b)] {
            match self.int_of(&v) {
                Some(IntValue {
                    value,
                    bound: Some(bound),
                    ..
                }) => parts.push((value, bound)),
                _ => {
                    let (code, what) = match &v {
                        Value::Tuple(t) if t.len() > 1 => ("E0576", "a bounded ituple".to_owned()),
                        _ => ("E0571", v.kind()),
                    };
                    self.report(
                        Diagnostic::new(code, at, format!("`#` composes two bounded integers, this is {what}"))
                            .label("has no single bound")
                            .help("compose variables of `parallel`, `with` or `foreach`; pick a component of an ituple with `t(0)`"),
                    );
                    return Value::Error;
                }
            }
        }
        match <[(Sym, Sym); 2]>::try_from(parts) {
            Ok([(a, na), (b, nb)]) => Value::Int(IntValue::bounded(&(&a * &nb) + &b, &na * &nb)),
            Err(_) => Value::Error,
        }
    }

    fn rebound(&mut self, op: ast::BinOp, a: Value, at_a: Span, b: Value, at_b: Span) -> Value {
        let Some(IntValue {
            value,
            bound: Some(bound),
            ..
        }) = self.int_of(&a)
        else {
            let kind = a.kind();
            self.report(
                Diagnostic::new(
                    "E0570",
                    at_a,
                    format!("`#+` and `#-` change a bound, but this is {kind}"),
                )
                .label("has no bound"),
            );
            return Value::Error;
        };
        let Some(n) = self.int_of(&b) else {
            let kind = b.kind();
            self.report(
                Diagnostic::new(
                    "E0574",
                    at_b,
                    format!("a bound changes by an integer, this is {kind}"),
                )
                .label("not an integer"),
            );
            return Value::Error;
        };
        let bound = if op == ast::BinOp::BoundAdd {
            &bound + &n.value
        } else {
            &bound - &n.value
        };
        match self.f.cx.le(&Sym::one(), &bound) {
            Truth::No => {
                let shown = self.show(&bound);
                self.report(
                    Diagnostic::new(
                        "E0575",
                        at_a.to(at_b),
                        format!("the new bound is {shown}, it must be positive"),
                    )
                    .label("no value is left"),
                );
                return Value::Error;
            }
            Truth::Unknown => {
                let span = at_a.to(at_b);
                self.check_compare(
                    "R06",
                    "a bound must be positive: {1} is not".into(),
                    BinOp::Le,
                    &Sym::one(),
                    &bound,
                    span,
                );
            }
            Truth::Yes => {}
        }
        Value::Int(IntValue::bounded(value, bound))
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn arithmetic(
        &mut self,
        op: BinOp,
        at: Span,
        a: Value,
        at_a: Span,
        b: Value,
        at_b: Span,
        span: Span,
    ) -> Value {
        match (a, b) {
            (Value::Int(a), Value::Int(b)) => {
                let result = self.int_op(op, at, &a, &b, span);
                if op.is_comparison() {
                    self.always_decided(&result, (&a, at_a), (&b, at_b), span);
                }
                result
            }
            (a @ (Value::Int(_) | Value::Scalar(_)), b @ (Value::Int(_) | Value::Scalar(_))) => {
                self.scalar_op(op, at, a, at_a, b, at_b, span)
            }
            (Value::Shape(a), Value::Shape(b)) => {
                if !matches!(op, BinOp::Div | BinOp::Rem) {
                    self.report(
                        Diagnostic::new(
                            "E0422",
                            at,
                            "two shapes can only be divided (`/`, `%`, `cdiv`)",
                        )
                        .label("not defined between shapes")
                        .help("add or multiply by an ituple: `s + {1, 2}`"),
                    );
                    return Value::Error;
                }
                match self.zip(op, at, ints(a), ints(b), span) {
                    Some(t) => Value::Tuple(t),
                    None => Value::Error,
                }
            }
            (Value::Shape(a), Value::Tuple(b)) | (Value::Tuple(b), Value::Shape(a))
                if matches!(op, BinOp::Add | BinOp::Mul) =>
            {
                self.zip(op, at, ints(a), b, span)
                    .map_or(Value::Error, shape_of)
            }
            (Value::Shape(a), Value::Tuple(b)) => self
                .zip(op, at, ints(a), b, span)
                .map_or(Value::Error, shape_of),
            (Value::Tuple(a), Value::Shape(b)) => self
                .zip(op, at, a, ints(b), span)
                .map_or(Value::Error, shape_of),
            (Value::Tuple(a), Value::Tuple(b)) => self
                .zip(op, at, a, b, span)
                .map_or(Value::Error, Value::Tuple),
            (Value::Shape(a), Value::Int(b)) => {
                let b = vec![b; a.len()];
                self.zip(op, at, ints(a), b, span)
                    .map_or(Value::Error, shape_of)
            }
            (Value::Int(a), Value::Shape(b)) => {
                let a = vec![a; b.len()];
                self.zip(op, at, a, ints(b), span)
                    .map_or(Value::Error, shape_of)
            }
            (Value::Tuple(a), Value::Int(b)) => {
                let b = vec![b; a.len()];
                self.zip(op, at, a, b, span)
                    .map_or(Value::Error, Value::Tuple)
            }
            (Value::Int(a), Value::Tuple(b)) => {
                let a = vec![a; b.len()];
                self.zip(op, at, a, b, span)
                    .map_or(Value::Error, Value::Tuple)
            }
            (a, b) => {
                if matches!((&a, &b), (Value::Data(_), _) | (_, Value::Data(_))) {
                    let (ka, kb) = (a.kind(), b.kind());
                    self.report(
                        Diagnostic::new(
                            "E0433",
                            at,
                            format!("`{}` doesn't work on whole buffers", sign(op)),
                        )
                        .label(format!("{ka} on the left, {kb} on the right"))
                        .help("work on elements: `x.at(i, j)`"),
                    );
                } else {
                    self.no_operator(op, at, &a, &b);
                }
                Value::Error
            }
        }
    }

    fn no_operator(&mut self, op: BinOp, at: Span, a: &Value, b: &Value) {
        let wildcard = matches!(a, Value::Wildcard) || matches!(b, Value::Wildcard);
        if wildcard && !self.faults.is_empty() {
            return;
        }
        let sign = sign(op);
        let (ka, kb) = (a.operand(), b.operand());
        let mut d = Diagnostic::new("E0343", at, format!("`{sign}` can't combine {ka} and {kb}"));
        let is = |v: &Value, test: fn(Scalar) -> bool| matches!(v, Value::Scalar(e) if test(e.ty));
        let bits = matches!(op, BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Rem);
        d = if bits && (is(a, Scalar::is_float) || is(b, Scalar::is_float)) {
            d.label("needs integers")
        } else if is(a, |t| t == Scalar::Bool) || is(b, |t| t == Scalar::Bool) {
            d.label("a `bool` is no number")
                .help("`&&`, `||`, `!`, `==` and `!=` work on `bool`; `cond ? 1 : 0` is a number")
        } else {
            d.label(format!("{ka} on the left, {kb} on the right"))
        };
        self.report(d);
    }

    fn zip(
        &mut self,
        op: BinOp,
        at: Span,
        a: Vec<IntValue>,
        b: Vec<IntValue>,
        span: Span,
    ) -> Option<Vec<IntValue>> {
        if a.len() != b.len() {
            self.report(
                Diagnostic::new(
                    "E0421",
                    at,
                    format!(
                        "ranks differ: {} on the left, {} on the right",
                        a.len(),
                        b.len()
                    ),
                )
                .label("element by element needs equal ranks"),
            );
            return None;
        }
        if !matches!(
            op,
            BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Rem
        ) {
            self.report(
                Diagnostic::new("E0343", at, "shapes and ituples only have `+ - * / %`")
                    .label("not defined element by element"),
            );
            return None;
        }
        let mut out = Vec::new();
        for (x, y) in a.iter().zip(&b) {
            match self.int_op(op, at, x, y, span) {
                Value::Int(i) => out.push(i),
                _ => return None,
            }
        }
        Some(out)
    }

    pub(super) fn int_op(
        &mut self,
        op: BinOp,
        at: Span,
        a: &IntValue,
        b: &IntValue,
        span: Span,
    ) -> Value {
        if (a.get_ith || b.get_ith) && !op.is_comparison() {
            self.report(
                Diagnostic::new("E0573", at, "arithmetic directly on `x(k)`")
                    .label("one operand is a picked value")
                    .help("name it first: `first = x(0);`"),
            );
            return Value::Error;
        }
        let bound = match (&a.bound, &b.bound) {
            (Some(n), None) | (None, Some(n)) => Some(n.clone()),
            _ => None,
        };
        let literal = a.literal && b.literal;
        let done = |value: Sym| {
            Value::Int(IntValue {
                value,
                bound,
                literal,
                get_ith: false,
            })
        };
        let (x, y) = (&a.value, &b.value);
        let exact = match op {
            BinOp::Add => x + y,
            BinOp::Sub => x - y,
            BinOp::Mul => x * y,
            _ => Sym::zero(),
        };
        if exact.is_poison() {
            return self.overflow(op, at, x, y);
        }
        let cx = &self.f.cx;
        match op {
            BinOp::Add => done(x + y),
            BinOp::Sub => done(x - y),
            BinOp::Mul => done(x * y),
            BinOp::Min => done(cx.min(x, y)),
            BinOp::Max => done(cx.max(x, y)),
            BinOp::Div | BinOp::Rem => {
                if !self.divisor_ok(y, at, span) {
                    return Value::Error;
                }
                let cx = &self.f.cx;
                done(if op == BinOp::Div {
                    cx.div(x, y)
                } else {
                    cx.rem(x, y)
                })
            }
            BinOp::Shl | BinOp::Shr => self.int_shift(op, at, a, b, span),
            BinOp::And | BinOp::Or | BinOp::Xor => {
                if let (Some(x), Some(y)) = (x.as_int(), y.as_int()) {
                    let n = match op {
                        BinOp::And => x & y,
                        BinOp::Or => x | y,
                        _ => x ^ y,
                    };
                    return Value::Int(IntValue::plain(Sym::int(n)));
                }
                let (l, r) = (Expr::index(x.clone(), span), Expr::index(y.clone(), span));
                Value::Scalar(Expr::new(ExprKind::Binary(op, l, r), Scalar::Index, span))
            }
            op if op.is_comparison() => {
                let e = compare(op, x, y, span);
                match (
                    x.as_int().is_some() && y.as_int().is_some(),
                    self.decided(&e),
                ) {
                    (true, Some(b)) => Value::Scalar(Expr::bool(b, span)),
                    _ => Value::Scalar(e),
                }
            }
            _ => Value::Error,
        }
    }

    pub(super) fn too_large(&mut self, at: Span) {
        self.report(
            Diagnostic::new(
                "E0429",
                at,
                "this integer expression grows too large to be kept exactly",
            )
            .label("too many terms, or beyond 64 bits")
            .help("in a kernel, compute a part of it into an `s64` variable first"),
        );
    }

    /// `x op y` has no value among the 64-bit integers.
    fn overflow(&mut self, op: BinOp, at: Span, x: &Sym, y: &Sym) -> Value {
        let (Some(a), Some(b)) = (x.as_int(), y.as_int()) else {
            self.too_large(at);
            return Value::Error;
        };
        let wrapped = match op {
            BinOp::Add => a.wrapping_add(b),
            BinOp::Sub => a.wrapping_sub(b),
            _ => a.wrapping_mul(b),
        };
        self.report(
            Diagnostic::new(
                "W0349",
                at,
                format!("{a} {} {b} does not fit in 64 bits", sign(op)),
            )
            .label(format!("wraps to {wrapped}")),
        );
        Value::Int(IntValue::plain(Sym::int(wrapped)))
    }

    /// A divisor must not be zero: an error when it is, a run-time check when it may be.
    pub(super) fn divisor_ok(&mut self, y: &Sym, at: Span, span: Span) -> bool {
        match self.f.cx.ne(y, &Sym::zero()) {
            Truth::Yes => true,
            Truth::No => {
                self.report(
                    Diagnostic::new("E0346", at, "division by zero").label("the right side is 0"),
                );
                false
            }
            Truth::Unknown => {
                let cond = compare(BinOp::Ne, y, &Sym::zero(), span);
                let shown = self.show(y);
                self.place_check(
                    self.uncertain == 0,
                    "R06",
                    format!("division by zero: `{shown}` is 0"),
                    cond,
                    &[],
                    &[y],
                    span,
                );
                true
            }
        }
    }

    fn int_shift(&mut self, op: BinOp, at: Span, a: &IntValue, b: &IntValue, span: Span) -> Value {
        let Some(n) = b.value.as_int().filter(|n| (0..63).contains(n)) else {
            self.report(
                Diagnostic::new(
                    "E0345",
                    at,
                    "a shift amount must be an integer literal from 0 to 62",
                )
                .label("not a usable shift"),
            );
            return Value::Error;
        };
        let factor = Sym::int(1i64 << n);
        let non_negative = self.f.cx.le(&Sym::zero(), &a.value) == Truth::Yes;
        let literal = a.literal && b.literal;
        if op == BinOp::Shl {
            return Value::Int(IntValue {
                literal,
                ..IntValue::plain(&a.value * &factor)
            });
        }
        if non_negative {
            let q = self.f.cx.div(&a.value, &factor);
            return Value::Int(IntValue {
                literal,
                ..IntValue::plain(q)
            });
        }
        let (l, r) = (
            Expr::index(a.value.clone(), span),
            Expr::index(Sym::int(n), span),
        );
        Value::Scalar(Expr::new(ExprKind::Binary(op, l, r), Scalar::Index, span))
    }

    /// The type a symbolic integer is computed in beside a scalar of type `ty`.
    pub(super) fn with_int(&self, ty: Scalar, int: &Value) -> Scalar {
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
    fn scalar_op(
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

fn ints(shape: Vec<Sym>) -> Vec<IntValue> {
    shape.into_iter().map(IntValue::plain).collect()
}

fn shape_of(t: Vec<IntValue>) -> Value {
    Value::Shape(t.into_iter().map(|i| i.value).collect())
}

/// How an operator is written.
fn sign(op: BinOp) -> &'static str {
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

pub(super) fn plain(op: ast::BinOp) -> Option<BinOp> {
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
