//! Shapes, element counts, and the integer functions that may be used in them.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, BinOp, CheckCode, Scalar};
use crate::sema::checks::run_time;
use crate::sema::memory::arrays;
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::path::Frame;
use crate::sema::state::value::{Derive, IntValue, Value};
use crate::sema::values::{arith, integers, shifts};
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast;

/// The extents of a bracket list; shapes and ituples are spliced.
pub(crate) fn lower_items(el: &mut Elab<'_>, items: &[ast::Expr]) -> Option<Vec<Sym>> {
    let mut out = Vec::new();
    let mut ok = true;
    for item in items {
        match lower_counted(el, item) {
            Value::Int(i) => out.push(i.value),
            Value::Tuple(t) => out.extend(t.into_iter().map(|i| i.value)),
            Value::Shape(s) => out.extend(s),
            Value::Error => ok = false,
            Value::Scalar(e) if e.ty.is_integer() => {
                el.cx.report(
                        Diagnostic::new(codes::E0330, item.span, "a shape can't hold a mutable or run-time value")
                            .label("known only while the program runs")
                            .help("use a constant, a dimension, an integer parameter or an immutable made of those"),
                    );
                ok = false;
            }
            other => {
                let kind = other.kind();
                el.cx.report(
                    Diagnostic::new(
                        codes::E0338,
                        item.span,
                        format!("an extent must be an integer, this is {kind}"),
                    )
                    .label("not an integer"),
                );
                ok = false;
            }
        }
    }
    (ok && check_few_parts(&mut el.cx, items, out.len())).then_some(out)
}

/// Limits the number of parts of a shape or an ituple, which no use needs more of: lists that are
/// built from lists could double in size with each line.
pub(crate) fn check_few_parts(cx: &mut Cx<'_>, items: &[ast::Expr], count: usize) -> bool {
    const MOST: usize = 64;
    if count <= MOST {
        return true;
    }
    let at = items.iter().map(|item| item.span).reduce(Span::to);
    cx.report(
        Diagnostic::new(
            codes::E0429,
            at.unwrap_or_default(),
            format!("a list of {count} integers, the most is {MOST}"),
        )
        .label("too many")
        .help("elements are accessed by at most 8 indices, and copies have at most 5"),
    );
    false
}

/// The value of an expression that is a count.
pub(crate) fn lower_counted(el: &mut Elab<'_>, e: &ast::Expr) -> Value {
    el.within(Frame::Count, |el| el.expression(e))
}

/// The extents of an allocation: positive, and not the current value of a loop variable.
pub(crate) fn lower_storage_shape(el: &mut Elab<'_>, items: &[ast::Expr]) -> Option<Vec<Sym>> {
    let mut out = Vec::new();
    let mut ok = true;
    for item in items {
        if report_unknown_extent(el, item) {
            ok = false;
            continue;
        }
        let value = lower_counted(el, item);
        let parts: Vec<IntValue> = match value {
            Value::Int(i) => vec![i],
            Value::Tuple(t) => t,
            Value::Shape(s) => s.into_iter().map(IntValue::plain).collect(),
            Value::Error => {
                ok = false;
                continue;
            }
            Value::Scalar(e) if e.ty.is_integer() => {
                report_run_time_extent(el, item);
                ok = false;
                continue;
            }
            other => {
                let kind = other.kind();
                let is_float = matches!(&other, Value::Scalar(e) if e.ty.is_float());
                let help = help_for_extent(el, is_float);
                el.cx.report(
                    Diagnostic::new(
                        codes::E0336,
                        item.span,
                        format!("a buffer's extent must be an integer, this is {kind}"),
                    )
                    .label("not an integer")
                    .help(help),
                );
                ok = false;
                continue;
            }
        };
        for part in parts {
            if part.bound.is_some() {
                let text = el.cx.file.snippet(item.span).to_owned();
                el.cx.report(
                    Diagnostic::new(
                        codes::E0334,
                        item.span,
                        format!("`{text}` is a bounded variable's current value, not a size"),
                    )
                    .label("changes from instance to instance")
                    .help(format!("write `#{text}` for its bound")),
                );
                ok = false;
                continue;
            }
            ok &= check_positive(el, &part.value, item.span);
            out.push(part.value);
        }
    }
    ok.then_some(out)
}

/// Reports a name in a buffer's shape that is not declared: it may be intended as a symbolic
/// dimension.
fn report_unknown_extent(el: &mut Elab<'_>, item: &ast::Expr) -> bool {
    let ast::ExprKind::Name(name) = &*item.kind else {
        return false;
    };
    let known = el.names.find(name).is_some()
        || el.names.ended.contains_key(name)
        || el.names.upcoming.iter().any(|s| s.contains_key(name));
    if known {
        return false;
    }
    let mut d = Diagnostic::new(
        codes::E0403,
        item.span,
        format!("`{name}` is not the name of an extent"),
    )
    .label("nothing of this name is visible here");
    d = match el.names.nearest(name) {
        Some(near) => d.help(format!("did you mean `{near}`?")),
        None => d.help("symbolic dimensions come from the parameters' shapes"),
    };
    el.cx.report(d);
    true
}

pub(crate) fn check_positive(el: &mut Elab<'_>, extent: &Sym, span: Span) -> bool {
    match el.f.cx.le(&Sym::one(), extent) {
        Truth::Yes => true,
        Truth::No => {
            let shown = el.f.cx.show(extent);
            el.cx.report(
                Diagnostic::new(
                    codes::E0423,
                    span,
                    format!("an extent must be positive, this is {shown}"),
                )
                .label("must be at least 1"),
            );
            false
        }
        Truth::Unknown => {
            let shown = el.f.cx.show(extent);
            run_time::emit_compare(
                el,
                run_time::Check::new(
                    CheckCode::R06,
                    format!("the extent `{shown}` must be at least {{0}}, it is {{1}}"),
                    span,
                ),
                BinOp::Le,
                &Sym::one(),
                extent,
            );
            true
        }
    }
}

/// `|x|`
pub(crate) fn lower_count(el: &mut Elab<'_>, a: &ast::Expr, span: Span) -> Value {
    let shape = match el.expression(a) {
        Value::Shape(s) => s,
        Value::Data(d) => d.view.shape,
        Value::Error => return Value::Error,
        other => {
            let kind = other.kind();
            el.cx.report(
                Diagnostic::new(
                    codes::E0426,
                    span,
                    format!("`|…|` counts elements, but {kind} has no shape"),
                )
                .label("has no shape"),
            );
            return Value::Error;
        }
    };
    let product = shape.iter().product::<Sym>();
    if product.is_poison() {
        integers::report_too_large(&mut el.cx, span);
        return Value::Error;
    }
    Value::Int(IntValue::plain(product))
}

/// `cdiv`, `__alignup`, `__aligndown`.
pub(crate) fn lower_builtin(
    el: &mut Elab<'_>,
    name: &ast::Name,
    args: &[ast::Expr],
    span: Span,
) -> Value {
    let values: Vec<Value> = args.iter().map(|a| el.expression(a)).collect();
    if values.iter().any(Value::is_error) {
        return Value::Error;
    }
    let Ok([a, b]) = <[Value; 2]>::try_from(values) else {
        el.cx.report(
            Diagnostic::new(
                codes::E0425,
                span,
                format!("`{}` takes two arguments, {} given", name.text, args.len()),
            )
            .label("expected 2"),
        );
        return Value::Error;
    };
    let (at_a, at_b) = match args {
        [a, b] => (a.span, b.span),
        _ => (span, span),
    };
    let whole = match (&a, &b) {
        (Value::Shape(x), Value::Shape(y)) => Some((x, y.clone(), true)),
        (Value::Shape(x), Value::Tuple(y)) => {
            Some((x, y.iter().map(|i| i.value.clone()).collect(), false))
        }
        (Value::Shape(x), Value::Int(n)) => Some((x, vec![n.value.clone(); x.len()], false)),
        _ => None,
    };
    if let Some((x, y, to_tuple)) = whole {
        let Some(parts) = elementwise(el, name, (x, &y), at_b, span) else {
            return Value::Error;
        };
        return match to_tuple {
            true => Value::Tuple(parts.into_iter().map(IntValue::plain).collect()),
            false => Value::Shape(parts),
        };
    }
    for (v, at) in [(&a, at_a), (&b, at_b)] {
        if !check_integer(&mut el.cx, name, v, at) {
            return Value::Error;
        }
    }
    let runtime = matches!(a, Value::Scalar(_)) || matches!(b, Value::Scalar(_));
    let (Some(x), Some(y)) = (arith::to_sym(el, a, at_a), arith::to_sym(el, b, at_b)) else {
        return Value::Error;
    };
    let Some(result) = divided(el, name, (&x, &y), at_b, span) else {
        return Value::Error;
    };
    if runtime {
        // Computed from a mutable value: an ordinary integer, not a size.
        return Value::Scalar(crate::ir::Expr::new(
            crate::ir::ExprKind::Index(result),
            Scalar::Index,
            span,
        ));
    }
    Value::Int(IntValue::plain(result))
}

/// A builtin of two integers, applied to each extent of a shape.
fn elementwise(
    el: &mut Elab<'_>,
    name: &ast::Name,
    (x, y): (&[Sym], &[Sym]),
    at_y: Span,
    span: Span,
) -> Option<Vec<Sym>> {
    if x.len() != y.len() {
        el.cx.report(
            Diagnostic::new(
                codes::E0421,
                span,
                format!("ranks differ: {} and {}", x.len(), y.len()),
            )
            .label("element by element needs equal ranks"),
        );
        return None;
    }
    let pairs = x.iter().zip(y);
    pairs
        .map(|pair| divided(el, name, pair, at_y, span))
        .collect()
}

/// `cdiv(x, y)`, `__alignup(x, y)`, `__aligndown(x, y)` of integers.
fn divided(
    el: &mut Elab<'_>,
    name: &ast::Name,
    (x, y): (&Sym, &Sym),
    at_y: Span,
    span: Span,
) -> Option<Sym> {
    if el.f.cx.eq(y, &Sym::zero()) == Truth::Yes {
        el.cx.report(
            Diagnostic::new(
                codes::E0425,
                at_y,
                format!("the divisor of `{}` is 0", name.text),
            )
            .label("must be positive"),
        );
        return None;
    }
    if !integers::check_divisor(el, y, at_y, span) {
        return None;
    }
    let cx = &el.f.cx;
    let result = match name.text.as_str() {
        "__alignup" => cx.align_up(x, y),
        "__aligndown" => cx.align_down(x, y),
        _ => cx.cdiv(x, y),
    };
    if result.is_poison() {
        integers::report_too_large(&mut el.cx, span);
        return None;
    }
    Some(result)
}

fn check_integer(cx: &mut Cx<'_>, name: &ast::Name, v: &Value, at: Span) -> bool {
    let integer = matches!(v, Value::Int(_)) || matches!(v, Value::Scalar(e) if e.ty.is_integer());
    if !integer && arith::int_of(v).is_none() {
        let kind = v.kind();
        cx.report(
            Diagnostic::new(
                codes::E0425,
                at,
                format!("`{}` works on integers, this is {kind}", name.text),
            )
            .label("not an integer"),
        );
        return false;
    }
    true
}

/// `a[i]`: an array's element; `s [(0), 4]`: a shape derived from another.
pub(crate) fn lower_subscript(
    el: &mut Elab<'_>,
    base: &ast::Expr,
    items: &[ast::Expr],
    span: Span,
) -> Value {
    let b = el.expression(base);
    match b {
        Value::Error => Value::Error,
        Value::Shape(s) => {
            let derivation = Frame::Derivation(Some(Derive::Shape(s)));
            let shape = el.within(derivation, |el| lower_items(el, items));
            shape.map_or(Value::Error, Value::Shape)
        }
        Value::Data(d) if d.array.is_empty() && items.iter().any(is_parenthesised) => {
            let derivation = Frame::Derivation(Some(Derive::Shape(d.view.shape)));
            let shape = el.within(derivation, |el| lower_items(el, items));
            shape.map_or(Value::Error, Value::Shape)
        }
        Value::Data(d) => {
            let [index] = items else {
                let text = el.cx.file.snippet(base.span).to_owned();
                let form: String = items
                    .iter()
                    .map(|i| format!("[{}]", el.cx.file.snippet(i.span)))
                    .collect();
                el.cx.report(
                        Diagnostic::new(codes::E0105, span, "one subscript per pair of brackets")
                            .label("several subscripts")
                            .help(format!("write `{text}{form}` for an array of buffers, `{text}.at(…)` for an element")),
                    );
                return Value::Error;
            };
            arrays::element_of_array(el, d, index, span)
        }
        Value::Tuple(_) => {
            el.cx.report(
                Diagnostic::new(
                    codes::E0107,
                    span,
                    "elements of an ituple are picked with parentheses",
                )
                .label("not a subscript")
                .help("write `t(0)` for an element, `t {(0), 4}` to derive an ituple"),
            );
            Value::Error
        }
        other => {
            let kind = other.kind();
            el.cx.report(
                Diagnostic::new(codes::E0438, span, format!("{kind} can't be subscripted"))
                    .label("not an array"),
            );
            Value::Error
        }
    }
}

fn is_parenthesised(item: &ast::Expr) -> bool {
    matches!(&*item.kind, ast::ExprKind::Paren(_))
}

pub(crate) fn show(func: &ir::Function, shape: &[Sym]) -> String {
    let parts: Vec<String> = shape.iter().map(|s| func.cx.show(s)).collect();
    format!("[{}]", parts.join(", "))
}

fn report_run_time_extent(el: &mut Elab<'_>, item: &ast::Expr) {
    let text = "a buffer's extent can't be a mutable or run-time value";
    let (label, help) = match shifts::is_shift(item) {
        true => (
            "a shift by an amount that is no constant",
            "extents are made by `+`, `-`, `*`, `/` and `%`: pass the number itself as an integer parameter",
        ),
        false => (
            "known only while the program runs",
            "use a constant, a dimension, an integer parameter or an immutable made of those",
        ),
    };
    let report = Diagnostic::new(codes::E0331, item.span, text);
    el.cx.report(report.label(label).help(help));
}

/// How an extent is computed, with a dimension of this function.
pub(crate) fn help_for_extent(el: &Elab<'_>, is_float: bool) -> String {
    let mut dims = el.f.dims.iter().filter(|dim| !dim.anonymous);
    let name = dims.next().map_or("N", |dim| dim.name.as_str());
    match is_float {
        true => format!("an extent is computed in integers, and `/` rounds down: `{name} / 64`"),
        false => {
            format!("compute it from dimensions and integer parameters, such as `{name} / 64`")
        }
    }
}
