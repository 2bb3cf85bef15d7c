//! Binary operators, and those of tuples and shapes; `integers` and `scalars` have the others.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{BinOp, CheckCode, Expr, ExprKind, Role, Scalar, StmtKind, VarHome, path_facts};
use crate::sema::build;
use crate::sema::checks::{lints, operator_lints, run_time};
use crate::sema::state::elab::Elab;
use crate::sema::state::value::{IntValue, Operand, Value};
use crate::sema::values::{arith, conditionals, integers, operator_names, scalars, shifts};
use crate::sorted::SortedSet;
use crate::source::Span;
use crate::symbolic::{Sym, Truth, Var};
use crate::syntax::ast;

pub(crate) fn lower(
    el: &mut Elab<'_>,
    op: ast::BinOp,
    at: Span,
    a: &ast::Expr,
    b: &ast::Expr,
    span: Span,
) -> Value {
    use ast::BinOp as B;
    match op {
        B::LogicAnd | B::LogicOr => return lower_logical(el, op, a, b, span),
        B::BoundMul | B::BoundDiv | B::BoundRem => {
            el.cx.report(
                Diagnostic::new(codes::E0572, at, "`#*`, `#/` and `#%` are reserved")
                    .label("not an operator yet")
                    .help("use `#+` or `#-`, or compute the bound first"),
            );
            return Value::Error;
        }
        _ => {}
    }
    let va = el.expression(a);
    let vb = el.expression(b);
    if va.is_error() || vb.is_error() {
        return Value::Error;
    }
    operator_lints::lint_mixed_operators(el, op, a, b, span);
    operator_lints::lint_negated_unsigned(el, op, [(a, &va), (b, &vb)]);
    match op {
        B::Compose => lower_compose(el, va, a.span, vb, b.span),
        B::BoundAdd | B::BoundSub => lower_rebound(el, op, va, a.span, vb, b.span),
        _ => {
            let va = match op {
                B::Shl | B::Shr => match shifts::left(el, Operand::new(va, a.span), &vb, at) {
                    Some(va) => va,
                    None => return Value::Error,
                },
                _ => va,
            };
            let Some(op) = operator_names::plain(op) else {
                return Value::Error;
            };
            {
                let (a, b) = (Operand::new(va, a.span), Operand::new(vb, b.span));
                apply(el, op, at, a, b, span)
            }
        }
    }
}

fn lower_logical(
    el: &mut Elab<'_>,
    op: ast::BinOp,
    a: &ast::Expr,
    b: &ast::Expr,
    span: Span,
) -> Value {
    let left = conditionals::lower_condition(el, a);
    let is_and = op == ast::BinOp::LogicAnd;
    let Some(left) = left else {
        conditionals::lower_condition(el, b);
        return Value::Error;
    };
    let decided = path_facts::decided(&el.f, &left);
    let never = decided == Some(!is_and);
    let (right, stmts) = conditionals::assuming(el, &left, is_and, never, |el| {
        conditionals::lower_condition(el, b)
    });
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
    // The statements of the right side may only run if the left side does not decide.
    let local = build::new_local(&mut el.f, "holds", Scalar::Bool, true, Role::Value, span);
    build::emit(
        el,
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
    build::emit(
        el,
        StmtKind::If {
            cond: current.clone(),
            then,
            otherwise,
        },
        span,
    );
    Value::Scalar(current)
}

fn lower_compose(el: &mut Elab<'_>, a: Value, at_a: Span, b: Value, at_b: Span) -> Value {
    let mut parts = Vec::new();
    for (v, at) in [(a, at_a), (b, at_b)] {
        let bounded = arith::int_of(&v).and_then(|int| {
            let known = || proven_bound(el, &int.value).filter(|_| !int.literal);
            let bound = int.bound.clone().or_else(known)?;
            Some((int.value, bound))
        });
        match bounded {
            Some(part) => parts.push(part),
            None => {
                let (code, what) = match &v {
                    Value::Tuple(t) if t.len() > 1 => (codes::E0576, "a bounded ituple".to_owned()),
                    _ => (codes::E0571, v.kind()),
                };
                // The range of a type says nothing about the value.
                let narrow = |end: &i64| i32::try_from(*end).is_ok_and(|n| n != i32::MAX);
                let range = arith::int_of(&v).map(|int| el.f.cx.range(&int.value));
                let label = match range {
                    Some((Some(least), Some(most))) if least < 0 && narrow(&most) => {
                        format!("may be negative, down to {least}")
                    }
                    _ => "has no single bound".to_owned(),
                };
                el.cx.report(
                        Diagnostic::new(code, at, format!("`#` composes two bounded integers, this is {what}"))
                            .label(label)
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

/// The least `n` for which `value` is proved to be in `[0, n)`; its variables of the kernel and of
/// loops take all their values.
fn proven_bound(el: &Elab<'_>, value: &Sym) -> Option<Sym> {
    let cx = &el.f.cx;
    if cx.le(&Sym::zero(), value) != Truth::Yes {
        return None;
    }
    if let (_, Some(last)) = cx.range(value) {
        return Some(&Sym::int(last) + 1);
    }
    let is_local = |v: &Var| matches!(el.f.var_home.get(v), Some(VarHome::Local(_)));
    let inner: SortedSet<Var> = value.vars().into_iter().filter(is_local).collect();
    Some(&cx.sup(value, &inner)? + 1)
}

fn lower_rebound(
    el: &mut Elab<'_>,
    op: ast::BinOp,
    a: Value,
    at_a: Span,
    b: Value,
    at_b: Span,
) -> Value {
    let Some(IntValue {
        value,
        bound: Some(bound),
        ..
    }) = arith::int_of(&a)
    else {
        let kind = a.kind();
        el.cx.report(
            Diagnostic::new(
                codes::E0570,
                at_a,
                format!("`#+` and `#-` change a bound, but this is {kind}"),
            )
            .label("has no bound"),
        );
        return Value::Error;
    };
    let Some(n) = arith::int_of(&b) else {
        let kind = b.kind();
        el.cx.report(
            Diagnostic::new(
                codes::E0574,
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
    match el.f.cx.le(&Sym::one(), &bound) {
        Truth::No => {
            let shown = el.f.cx.show(&bound);
            el.cx.report(
                Diagnostic::new(
                    codes::E0575,
                    at_a.to(at_b),
                    format!("the new bound is {shown}, it must be positive"),
                )
                .label("no value is left"),
            );
            return Value::Error;
        }
        Truth::Unknown => {
            let span = at_a.to(at_b);
            run_time::emit_compare(
                el,
                run_time::Check::new(
                    CheckCode::R06,
                    "a bound must be positive: {1} is not".into(),
                    span,
                ),
                BinOp::Le,
                &Sym::one(),
                &bound,
            );
        }
        Truth::Yes => {}
    }
    Value::Int(IntValue::bounded(value, bound))
}

pub(crate) fn apply(
    el: &mut Elab<'_>,
    op: BinOp,
    at: Span,
    a: Operand,
    b: Operand,
    span: Span,
) -> Value {
    let (at_a, at_b) = (a.span, b.span);
    match (a.value, b.value) {
        (Value::Int(a), Value::Int(b)) => {
            let result = integers::apply(el, op, at, &a, &b, span);
            if op.is_comparison() {
                lints::lint_decided_comparison(el, &result, (&a, at_a), (&b, at_b), span);
            }
            result
        }
        (a @ (Value::Int(_) | Value::Scalar(_)), b @ (Value::Int(_) | Value::Scalar(_))) => {
            let (a, b) = (Operand::new(a, at_a), Operand::new(b, at_b));
            scalars::apply(el, op, at, a, b, span)
        }
        (Value::Shape(a), Value::Shape(b)) => {
            if !matches!(op, BinOp::Div | BinOp::Rem) {
                el.cx.report(
                    Diagnostic::new(
                        codes::E0422,
                        at,
                        "two shapes can only be divided (`/`, `%`, `cdiv`)",
                    )
                    .label("not defined between shapes")
                    .help("add or multiply by an ituple: `s + {1, 2}`"),
                );
                return Value::Error;
            }
            match apply_elementwise(el, op, at, ints(a), ints(b), span) {
                Some(t) => Value::Tuple(t),
                None => Value::Error,
            }
        }
        (Value::Shape(a), Value::Tuple(b)) | (Value::Tuple(b), Value::Shape(a))
            if matches!(op, BinOp::Add | BinOp::Mul) =>
        {
            apply_elementwise(el, op, at, ints(a), b, span).map_or(Value::Error, shape_of)
        }
        (Value::Shape(a), Value::Tuple(b)) => {
            apply_elementwise(el, op, at, ints(a), b, span).map_or(Value::Error, shape_of)
        }
        (Value::Tuple(a), Value::Shape(b)) => {
            apply_elementwise(el, op, at, a, ints(b), span).map_or(Value::Error, shape_of)
        }
        (Value::Tuple(a), Value::Tuple(b)) => {
            apply_elementwise(el, op, at, a, b, span).map_or(Value::Error, Value::Tuple)
        }
        (Value::Shape(a), Value::Int(b)) => {
            let b = vec![b; a.len()];
            apply_elementwise(el, op, at, ints(a), b, span).map_or(Value::Error, shape_of)
        }
        (Value::Int(a), Value::Shape(b)) => {
            let a = vec![a; b.len()];
            apply_elementwise(el, op, at, a, ints(b), span).map_or(Value::Error, shape_of)
        }
        (Value::Tuple(a), Value::Int(b)) => {
            let b = vec![b; a.len()];
            apply_elementwise(el, op, at, a, b, span).map_or(Value::Error, Value::Tuple)
        }
        (Value::Int(a), Value::Tuple(b)) => {
            let a = vec![a; b.len()];
            apply_elementwise(el, op, at, a, b, span).map_or(Value::Error, Value::Tuple)
        }
        (a, b) => {
            if matches!((&a, &b), (Value::Data(_), _) | (_, Value::Data(_))) {
                let (ka, kb) = (a.kind(), b.kind());
                el.cx.report(
                    Diagnostic::new(
                        codes::E0433,
                        at,
                        format!(
                            "`{}` doesn't work on whole buffers",
                            operator_names::sign(op)
                        ),
                    )
                    .label(format!("{ka} on the left, {kb} on the right"))
                    .help("work on elements: `x.at(i, j)`"),
                );
            } else {
                operator_names::report_no_operator(&mut el.cx, op, at, &a, &b);
            }
            Value::Error
        }
    }
}

fn apply_elementwise(
    el: &mut Elab<'_>,
    op: BinOp,
    at: Span,
    a: Vec<IntValue>,
    b: Vec<IntValue>,
    span: Span,
) -> Option<Vec<IntValue>> {
    if a.len() != b.len() {
        el.cx.report(
            Diagnostic::new(
                codes::E0421,
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
        el.cx.report(
            Diagnostic::new(codes::E0343, at, "shapes and ituples only have `+ - * / %`")
                .label("not defined element by element"),
        );
        return None;
    }
    let mut out = Vec::new();
    for (x, y) in a.iter().zip(&b) {
        match integers::apply(el, op, at, x, y, span) {
            Value::Int(i) => out.push(i),
            _ => return None,
        }
    }
    Some(out)
}

fn ints(shape: Vec<Sym>) -> Vec<IntValue> {
    shape.into_iter().map(IntValue::plain).collect()
}

fn shape_of(t: Vec<IntValue>) -> Value {
    Value::Shape(t.into_iter().map(|i| i.value).collect())
}
