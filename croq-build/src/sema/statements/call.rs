//! Calls: math builtins, `assert`, `print`, `call` of device functions.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, BinOp, Expr, ExprKind, MathFn, Scalar, StmtKind};
use crate::sema::build;
use crate::sema::copies::cache_hints;
use crate::sema::levels::{barriers, launch_attributes, registers};
use crate::sema::memory::atomics;
use crate::sema::names::builtins;
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::value::Value;
use crate::sema::statements::{cuda_functions, device_calls, kernel_calls, print};
use crate::sema::values::{convert, integers, precision, scalars, widths};
use crate::source::Span;
use crate::syntax::ast::{self, CallExpr, CallKind};

/// Lowers a call whose value is used.
pub(crate) fn lower_value(el: &mut Elab<'_>, call: &CallExpr, span: Span) -> Value {
    match call.kind {
        CallKind::Plain if kernel_calls::is_kernel(el, &call.callee.text) => {
            let callee = &call.callee;
            lower_kernel(el, &callee.text, callee.span, &call.args, span)
        }
        _ if device_calls::is_device_call(&el.cx, call) => {
            device_calls::lower_value(el, call, span)
        }
        _ => lower_builtin(el, call, span),
    }
}

pub(crate) fn lower_statement(el: &mut Elab<'_>, e: &ast::Expr, span: Span) {
    let ast::ExprKind::Call(call) = &*e.kind else {
        el.expression(e);
        return;
    };
    let name = call.callee.text.as_str();
    if let Some(more) = crate::sema::levels::registers::direction(name)
        && call.kind == CallKind::Device
    {
        return registers::set_registers(el, call, more, span);
    }
    if let Some(hint) = cache_hints::of_call(name) {
        return cache_hints::lower(el, call, hint, span);
    }
    match (call.kind, name) {
        (CallKind::Plain, name) if kernel_calls::is_kernel(el, name) => {
            kernel_calls::lower(el, &call.callee, &call.args, span);
        }
        _ if device_calls::is_device_call(&el.cx, call) => {
            if let Some(expr) = device_calls::lower_expr(el, call, Scalar::S32, span) {
                build::emit(el, StmtKind::Eval(expr), span);
            }
        }
        _ if crate::sema::memory::atomics::is_atomic(call) => {
            atomics::lower_statement(el, call, span)
        }
        (_, "assert") => print::lower_assert(el, call, span),
        (CallKind::CompileTime, _) => print::emit_print(el, call),
        (_, "__bar_sync" | "__bar_arrive") => {
            barriers::lower_named_barrier(el, call, name == "__bar_sync", span);
        }
        (_, "print" | "println") => print::lower_print(el, call, name == "println", span),
        (CallKind::Plain, "launch_bounds") if el.names.find(name).is_none() => {
            launch_attributes::report_misplaced(el, call, span);
        }
        _ => {
            if !matches!(lower_builtin(el, call, span), Value::Error) {
                el.cx.report(
                    Diagnostic::new(
                        codes::W0776,
                        span,
                        format!("nothing uses the value of `{name}`"),
                    )
                    .label("a statement without effect")
                    .help("assign it, or remove the call"),
                );
            }
        }
    }
}

/// `f(x)`, where `f` is a `__co__` function.
pub(crate) fn lower_kernel(
    el: &mut Elab<'_>,
    name: &str,
    at: Span,
    args: &[ast::Expr],
    span: Span,
) -> Value {
    let callee = ast::Name {
        text: name.to_owned(),
        span: at,
    };
    let value = kernel_calls::lower(el, &callee, args, span);
    value.unwrap_or_else(|| report_without_value(el, name, span))
}

fn report_without_value(el: &mut Elab<'_>, name: &str, span: Span) -> Value {
    el.cx.report(
        Diagnostic::new(codes::E0313, span, format!("`{name}` has no value"))
            .label("a statement of its own"),
    );
    Value::Error
}

fn expr(kind: ast::ExprKind, span: Span) -> ast::Expr {
    ast::Expr {
        kind: Box::new(kind),
        span,
    }
}

fn lower_builtin(el: &mut Elab<'_>, call: &CallExpr, span: Span) -> Value {
    let name = call.callee.text.as_str();
    if matches!(name, "__min" | "__max") {
        return lower_min_max(el, call, name == "__min", span);
    }
    if name == "__bitcast" {
        return lower_bits(el, call, span);
    }
    if let Some(function) = MathFn::named(name) {
        return lower_math(el, function, function.arguments(), call, span);
    }
    if crate::sema::memory::atomics::is_atomic(call) {
        return atomics::report_misplaced(el, call, span);
    }
    if name.starts_with("__atomic_") {
        atomics::report_unknown(&mut el.cx, name, call.callee.span);
        for a in &call.args {
            el.expression(a);
        }
        return Value::Error;
    }
    if matches!(
        name,
        "__bar_sync" | "__bar_arrive" | "assert" | "print" | "println"
    ) {
        return report_without_value(el, name, span);
    }
    if let [index] = call.args.as_slice()
        && el.names.visible().any(|binding| binding.name == name)
    {
        // A name of the user's with two underscores in front: `__x(0)` picks an element.
        let base = expr(ast::ExprKind::Name(name.to_owned()), call.callee.span);
        let element = ast::ExprKind::Element(base, index.clone());
        return el.expression(&expr(element, span));
    }
    if el.names.visible().any(|binding| binding.name == name) {
        let d = Diagnostic::new(
            codes::E0420,
            span,
            format!("`{name}` is no function: elements and tiles are selected with `.at`"),
        )
        .label("not a call")
        .help(format!("write `{name}.at(…)`"));
        el.cx.report(d);
    } else {
        report_not_a_builtin(&mut el.cx, name, call.callee.span);
    }
    for a in &call.args {
        el.expression(a);
    }
    Value::Error
}

pub(crate) fn report_not_a_builtin(cx: &mut Cx<'_>, name: &str, at: Span) {
    if cx.is_of_broken_header(name) {
        return;
    }
    if cx.file.hidden_functions {
        return cx.diags.note_error_elsewhere();
    }
    let mut d =
        Diagnostic::new(codes::E0208, at, format!("`{name}` is not a builtin")).label("unknown");
    if let Some(help) = builtins::other_form(name) {
        return cx.report(d.help(help));
    }
    if let Some(meant) = builtins::intended_function(name) {
        return cx.report(d.help(format!("here that is `{meant}`")));
    }
    let plain = name.trim_start_matches('_');
    if let Some(op) = ast::FragOp::ALL.into_iter().find(|op| op.text() == plain) {
        let statement = match op {
            ast::FragOp::ReduceMax | ast::FragOp::ReduceSum => format!("{plain}(row, matrix, 1);"),
            ast::FragOp::AllReduceSum => format!("{plain}(row);"),
            ast::FragOp::Copy => format!("{plain}(to, from);"),
        };
        return cx.report(d.help(format!(
            "`{statement}` is a statement for whole fragments: write it before or behind the `apply`"
        )));
    }
    let near = crate::diagnostics::nearest(
        name,
        MathFn::ALL
            .iter()
            .map(|(n, _)| *n)
            .chain(builtins::OTHERS.iter().copied()),
    );
    d = match near {
        Some(near) if cuda_functions::is_known(name) => d.help(format!(
            "CUDA's function is `call {name}(…)`, the builtin `{near}`"
        )),
        Some(near) if !cx.file.device_names().contains_key(name) => {
            d.help(format!("did you mean `{near}`?"))
        }
        _ => d.help(format!("call a C++ device function with `call {name}(…)`")),
    };
    cx.report(d);
}

fn check_arity(cx: &mut Cx<'_>, call: &CallExpr, want: usize, span: Span) -> Option<()> {
    if !call.targs.is_empty() {
        cx.report(
            Diagnostic::new(
                codes::E0775,
                span,
                format!("`{}` takes no template arguments", call.callee.text),
            )
            .label("a builtin"),
        );
        return None;
    }
    if call.args.len() != want {
        cx.report(
            Diagnostic::new(
                codes::E0774,
                span,
                format!(
                    "`{}` takes {want} argument{}, {} given",
                    call.callee.text,
                    if want == 1 { "" } else { "s" },
                    call.args.len()
                ),
            )
            .label(format!("expected {want}")),
        );
        return None;
    }
    Some(())
}

fn lower_min_max(el: &mut Elab<'_>, call: &CallExpr, is_min: bool, span: Span) -> Value {
    if check_arity(&mut el.cx, call, 2, span).is_none() {
        return Value::Error;
    }
    let values: Vec<Value> = call.args.iter().map(|a| el.expression(a)).collect();
    let at: Vec<Span> = call.args.iter().map(|a| a.span).collect();
    let (Ok([a, b]), Ok([sa, sb])) = (<[Value; 2]>::try_from(values), <[Span; 2]>::try_from(at))
    else {
        return Value::Error;
    };
    if a.is_error() || b.is_error() {
        return Value::Error;
    }
    let (a, b) = (convert::promoted(a), convert::promoted(b));
    if let (Value::Int(x), Value::Int(y)) = (&a, &b) {
        let op = if is_min { BinOp::Min } else { BinOp::Max };
        return integers::apply(el, op, span, x, y, span);
    }
    let ty = scalars::type_of_both(&el.f, &a, &b);
    let Some(ty) = ty.filter(|t| *t != Scalar::Bool) else {
        if scalars::reports_halves(&mut el.cx, &a, &b, span) {
            return Value::Error;
        }
        let (ka, kb) = (a.kind(), b.kind());
        el.cx.report(
            Diagnostic::new(
                codes::E0770,
                span,
                format!(
                    "`{}` compares numbers, given {ka} and {kb}",
                    call.callee.text
                ),
            )
            .label("not two numbers"),
        );
        return Value::Error;
    };
    let (Some(x), Some(y)) = (
        convert::convert(el, a, ty, sa),
        convert::convert(el, b, ty, sb),
    ) else {
        return Value::Error;
    };
    if ty.is_float() {
        let f = if is_min { MathFn::Min } else { MathFn::Max };
        return Value::Scalar(Expr::new(ExprKind::Math(f, vec![x, y]), ty, span));
    }
    let op = if is_min { BinOp::Min } else { BinOp::Max };
    Value::Scalar(Expr::new(ExprKind::Binary(op, x, y), ty, span))
}

/// `__bitcast<T>(x)`
fn lower_bits(el: &mut Elab<'_>, call: &CallExpr, span: Span) -> Value {
    let values: Vec<Value> = call.args.iter().map(|a| el.expression(a)).collect();
    let ty = match call.targs.as_slice() {
        [ast::TemplateArg::Type(elem, at)] => match convert::element_type(&mut el.cx, *elem, *at) {
            Some(Scalar::Bool) => {
                let text = "`__bitcast` makes no `bool`: not every byte is one";
                el.cx.report(
                    Diagnostic::new(codes::E0774, *at, text)
                        .label("not a type of bits")
                        .help("compare instead: `x != 0`"),
                );
                return Value::Error;
            }
            Some(ty) => Some(ty),
            None => return Value::Error,
        },
        _ => None,
    };
    let (Some(ty), Ok([value]), [arg]) = (ty, <[Value; 1]>::try_from(values), &call.args[..])
    else {
        el.cx.report(
            Diagnostic::new(
                codes::E0774,
                span,
                "`__bitcast` takes a type and one argument",
            )
            .label("not in this form")
            .help("write `__bitcast<u32>(x)`"),
        );
        return Value::Error;
    };
    let own = match &value {
        Value::Error => return Value::Error,
        // A literal has the size of the result, as far as it fits.
        Value::Int(i) => match ty.bytes() {
            8 => Scalar::S64,
            4 if !ir::is_within(&el.f, &i.value, Scalar::S32) => Scalar::U32,
            2 if i.literal => Scalar::U16,
            1 if i.literal => Scalar::U8,
            _ => widths::type_of_int(&el.f, i),
        },
        Value::Scalar(e) if e.ty == Scalar::Index => widths::type_of_index(&el.f, e),
        Value::Scalar(e) => e.ty,
        _ => Scalar::Bool,
    };
    if own == Scalar::Bool || own.bytes() != ty.bytes() {
        let kind = match own {
            Scalar::Bool => value.kind(),
            own => format!("`{own}`, with {}", bytes(own)),
        };
        let text = format!("`__bitcast<{ty}>` is of {}, this is {kind}", bytes(ty));
        el.cx.report(
            Diagnostic::new(codes::E0705, arg.span, text)
                .label("not of the same size")
                .help(format!("`__to<{ty}>(…)` converts the value")),
        );
        return Value::Error;
    }
    match convert::convert(el, value, own, arg.span) {
        Some(e) if own == ty => Value::Scalar(e),
        Some(e) => Value::Scalar(Expr::new(ExprKind::Math(MathFn::Bits, vec![e]), ty, span)),
        None => Value::Error,
    }
}

fn bytes(ty: Scalar) -> String {
    match ty.bytes() {
        1 => "1 byte".to_owned(),
        n => format!("{n} bytes"),
    }
}

fn lower_math(
    el: &mut Elab<'_>,
    function: MathFn,
    arity: usize,
    call: &CallExpr,
    span: Span,
) -> Value {
    if check_arity(&mut el.cx, call, arity, span).is_none() {
        return Value::Error;
    }
    let mut values = Vec::new();
    let mut ty: Option<Scalar> = None;
    for a in &call.args {
        let v = match el.expression(a) {
            Value::Scalar(e) if e.ty.is_float() => convert::promoted(Value::Scalar(e)),
            v => v,
        };
        let this = match &v {
            Value::Error => return Value::Error,
            Value::Int(_) => None,
            Value::Scalar(e) if e.ty.is_float() => Some(e.ty),
            Value::Scalar(e) if e.ty.is_integer() => None,
            other => {
                let kind = other.kind();
                el.cx.report(
                    Diagnostic::new(
                        codes::E0770,
                        a.span,
                        format!("`{}` works on floats, this is {kind}", call.callee.text),
                    )
                    .label("not a number"),
                );
                return Value::Error;
            }
        };
        ty = match (ty, this) {
            (Some(x), Some(y)) => match convert::common_type(x, y) {
                Some(t) => Some(t),
                None => {
                    precision::report_mixed_halves(&mut el.cx, a.span);
                    return Value::Error;
                }
            },
            (x, y) => x.or(y),
        };
        values.push((v, a.span));
    }
    let ty = ty.unwrap_or(Scalar::F32);
    let mut args = Vec::new();
    for (v, at) in values {
        match convert::convert(el, v, ty, at) {
            Some(e) => args.push(e),
            None => return Value::Error,
        }
    }
    let result = if function == MathFn::IsFinite {
        Scalar::Bool
    } else {
        ty
    };
    Value::Scalar(Expr::new(ExprKind::Math(function, args), result, span))
}
