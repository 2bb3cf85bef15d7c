//! `return`.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, ReturnValue, Scalar, StmtKind};
use crate::sema::build;
use crate::sema::memory::whole;
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::path::Frame;
use crate::sema::state::results::ReturnShape;
use crate::sema::state::value::Value;
use crate::sema::values::{convert, shape, widths};
use crate::source::Span;
use crate::syntax::ast;

pub(crate) fn lower_return(el: &mut Elab<'_>, value: Option<&ast::Expr>, span: Span) {
    if let Some(k) = &el.kernel {
        let header = k.header;
        el.cx.report(
            Diagnostic::new(codes::E0355, span, "`return` inside `parallel`")
                .label("a kernel returns nothing")
                .also(header, "the kernel starts here")
                .help("`yield;` leaves a kernel early; return results through a buffer"),
        );
        el.results.poisoned = true;
        return;
    }
    let is_void = matches!(el.results.declared, ast::RetType::Void(_));
    let Some(value) = value else {
        if let ast::RetType::Typed(ty) = &el.results.declared {
            let promised = ty.span;
            el.cx.report(
                Diagnostic::new(codes::E0350, span, "this `return` has no value")
                    .label("a value is promised")
                    .also(promised, "promised here")
                    .help("write `return value;`"),
            );
            el.results.poisoned = true;
            return;
        }
        el.results.returned.push((span, ReturnShape::Nothing));
        build::emit(el, StmtKind::Return(ReturnValue::Nothing), span);
        return;
    };
    let v = el.within(Frame::Returned, |el| el.expression(value));
    if v.is_error() {
        el.results.poisoned = true;
        return;
    }
    if is_void {
        let ast::RetType::Void(at) = el.results.declared else {
            return;
        };
        el.cx.report(
            Diagnostic::new(
                codes::E0351,
                value.span,
                "a `void` function returns a value",
            )
            .label("no caller receives this value")
            .also(at, "declared `void` here")
            .help("declare the function `auto`"),
        );
        el.results.poisoned = true;
        return;
    }
    let Some((shape, result)) = result_of(el, v, value.span) else {
        el.results.poisoned = true;
        return;
    };
    if let Some((first, expected)) = el.results.returned.first().cloned()
        && expected != shape
    {
        let (this, other) = (
            describe_result(&el.f, &shape),
            describe_result(&el.f, &expected),
        );
        el.cx.report(
            Diagnostic::new(
                codes::E0353,
                span,
                format!("this returns {this}, an earlier `return` {other}"),
            )
            .label(this)
            .also(first, other)
            .help("make both the same type and shape"),
        );
        el.results.poisoned = true;
        return;
    }
    el.results.returned.push((span, shape));
    build::emit(el, StmtKind::Return(result), span);
}

pub(crate) fn describe_result(func: &ir::Function, shape: &ReturnShape) -> String {
    match shape {
        ReturnShape::Nothing => "nothing".to_owned(),
        ReturnShape::Scalar(s) => format!("a scalar `{s}`"),
        ReturnShape::Tensor(e, s) => format!("`{e} {}`", shape::show(func, s)),
    }
}

fn result_of(el: &mut Elab<'_>, v: Value, at: Span) -> Option<(ReturnShape, ReturnValue)> {
    match v {
        Value::Scalar(e) => {
            let ty = if e.ty == Scalar::Index {
                widths::type_of_index(&el.f, &e)
            } else {
                e.ty
            };
            let e = convert::convert_expr(&mut el.cx, e, ty, at)?;
            Some((ReturnShape::Scalar(ty), ReturnValue::Scalar(e)))
        }
        Value::Int(i) => {
            let ty = widths::type_of_sym(&el.f, &i.value);
            let e = convert::convert(el, Value::Int(i), ty, at)?;
            Some((ReturnShape::Scalar(ty), ReturnValue::Scalar(e)))
        }
        Value::Data(d) if d.future.is_none() => {
            let d = whole::expect_whole(el, d, at)?;
            let b = el.f.buffer(d.view.buffer);
            let whole = b.storage.is_global()
                && !d.tiled
                && d.view.offset.is_zero()
                && d.view.shape == b.shape;
            if !whole {
                report_not_returnable(&mut el.cx, at, "a view of a buffer");
                return None;
            }
            let shape = ReturnShape::Tensor(b.elem, b.shape.clone());
            let id = d.view.buffer;
            el.results.buffers.insert(id);
            Some((shape, ReturnValue::Buffer(id)))
        }
        Value::Data(_) => {
            report_not_returnable(&mut el.cx, at, "a future");
            None
        }
        other => {
            let kind = other.kind();
            report_not_returnable(&mut el.cx, at, &kind);
            None
        }
    }
}

fn report_not_returnable(cx: &mut Cx<'_>, at: Span, what: &str) {
    cx.report(
        Diagnostic::new(codes::E0352, at, format!("{what} can't be returned"))
            .label("not a value the host can own")
            .help("return a scalar, a buffer declared outside `parallel`, or a parameter"),
    );
}
