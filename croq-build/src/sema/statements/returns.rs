//! `return`.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, ReturnValue, Scalar, StmtKind};
use crate::sema::build;
use crate::sema::memory::{guards, host_elements, whole};
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::results::{self, ReturnShape};
use crate::sema::state::value::Value;
use crate::sema::values::{convert, shape, widths};
use crate::source::Span;
use crate::symbolic::Sym;
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
        if agrees_with_first(el, &[], span) {
            el.results.returned.push((span, Vec::new()));
            give_back(el, Vec::new(), span);
        }
        return;
    };
    let listed = results::listed(value);
    let (mut shapes, mut values) = (Vec::new(), Vec::new());
    for (at, e) in listed.iter().enumerate() {
        if let Some((shape, value)) = lower_result(el, at, e, is_void) {
            shapes.push(shape);
            values.push(value);
        }
    }
    if shapes.len() != listed.len() {
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
    if !agrees_with_first(el, &shapes, span) {
        return;
    }
    if !check_distinct(&mut el.cx, &values, listed) {
        el.results.poisoned = true;
        return;
    }
    el.results.returned.push((span, shapes));
    give_back(el, values, span);
}

/// Reports a `return` whose values have other types or shapes than those of the first one.
fn agrees_with_first(el: &mut Elab<'_>, shapes: &[ReturnShape], span: Span) -> bool {
    let Some((first, expected)) = el.results.returned.first() else {
        return true;
    };
    if expected == shapes {
        return true;
    }
    let (this, other) = (
        describe_results(&el.f, shapes),
        describe_results(&el.f, expected),
    );
    el.cx.report(
        Diagnostic::new(
            codes::E0353,
            span,
            format!("this returns {this}, an earlier `return` {other}"),
        )
        .label(this)
        .also(*first, other)
        .help("make both the same type and shape"),
    );
    el.results.poisoned = true;
    false
}

fn give_back(el: &mut Elab<'_>, values: Vec<ReturnValue>, span: Span) {
    if !el.results.is_inlined {
        return build::emit(el, StmtKind::Return(values), span);
    }
    let Some(mut leaves) = el.results.leaves.take() else {
        el.results.values = values;
        return;
    };
    for (at, value) in values.into_iter().enumerate() {
        if leaves.slots.len() <= at {
            let (slot, declared) = new_slot(el, &value, span);
            leaves.slots.push(slot);
            leaves.declared.push(declared);
        }
        match (leaves.slots.get(at), value) {
            (Some(ReturnValue::Scalar(slot)), ReturnValue::Scalar(value)) => {
                if let ir::ExprKind::Local(local) = *slot.kind {
                    build::emit(el, StmtKind::Assign { local, value }, span);
                }
            }
            (Some(ReturnValue::Buffer(slot)), ReturnValue::Buffer(id)) => {
                let (slot, mut id) = (*slot, id);
                if id < leaves.first {
                    let view = whole::whole_view(&el.f, id, span);
                    id = host_elements::copy_of(el, view, "returned", span);
                }
                el.storage.exchange([slot, id].into());
                build::emit(el, StmtKind::Exchange(vec![slot, id]), span);
            }
            _ => {}
        }
    }
    if let Some(local) = leaves.left {
        let value = ir::Expr::bool(true, span);
        build::emit(el, StmtKind::Assign { local, value }, span);
    }
    el.results.leaves = Some(leaves);
    build::emit(el, StmtKind::Break, span);
}

/// What each `return` of a function that is called gives a value, and its declaration.
fn new_slot(el: &mut Elab<'_>, value: &ReturnValue, span: Span) -> (ReturnValue, ir::Stmt) {
    let (slot, declared) = match value {
        ReturnValue::Scalar(e) => {
            let role = ir::Role::Value;
            let local = build::new_local(&mut el.f, "returned", e.ty, true, role, span);
            let slot = ReturnValue::Scalar(ir::Expr::local(local, e.ty, span));
            let value = Some(guards::zero(e.ty, span));
            (slot, StmtKind::Let { local, value })
        }
        ReturnValue::Buffer(id) => {
            let of = el.f.buffer(*id);
            let new = build::NewBuffer {
                name: "returned",
                elem: of.elem,
                storage: ir::Storage::Host,
                shape: of.shape.clone(),
                copies: Sym::one(),
                span,
            };
            let id = build::new_buffer(&mut el.f, new);
            (ReturnValue::Buffer(id), StmtKind::Alloc(id))
        }
    };
    (slot, ir::Stmt::new(declared, span))
}

/// Each tensor that a call returns is memory of its own.
fn check_distinct(cx: &mut Cx<'_>, values: &[ReturnValue], listed: &[ast::Expr]) -> bool {
    let mut seen: Vec<(ir::BufferId, Span)> = Vec::new();
    for (value, e) in values.iter().zip(listed) {
        let ReturnValue::Buffer(id) = value else {
            continue;
        };
        if let Some((_, first)) = seen.iter().find(|(other, _)| other == id) {
            let d = Diagnostic::new(codes::E0352, e.span, "one tensor is returned twice")
                .label("a second time")
                .also(*first, "returned here, too");
            cx.report(d.help("return it once, or copy it to another buffer"));
            return false;
        }
        seen.push((*id, e.span));
    }
    true
}

fn lower_result(
    el: &mut Elab<'_>,
    at: usize,
    e: &ast::Expr,
    is_void: bool,
) -> Option<(ReturnShape, ReturnValue)> {
    let element = el.results.elements.get(at).copied().unwrap_or(false);
    if let (ast::ExprKind::At(base, indices), true, false) = (&*e.kind, element, is_void) {
        return host_elements::lower_result(el, base, indices, e.span);
    }
    let v = el.expression(e);
    match v.is_error() || is_void {
        // A report is made of all values.
        true if is_void && !v.is_error() => Some((
            ReturnShape::Scalar(Scalar::S32),
            ReturnValue::Scalar(ir::Expr::int(0, Scalar::S32, e.span)),
        )),
        true => None,
        false => result_of(el, v, e.span),
    }
}

/// The type of integer that the function promises: an exact integer has no other.
fn promised_integer(el: &Elab<'_>) -> Option<Scalar> {
    match &el.results.declared {
        ast::RetType::Typed(ast::ParamType {
            kind: ast::ParamTypeKind::Scalar(elem),
            ..
        }) => convert::named_scalar(*elem).filter(|ty| ty.is_integer()),
        _ => None,
    }
}

pub(crate) fn describe_results(func: &ir::Function, shapes: &[ReturnShape]) -> String {
    match shapes {
        [] => "nothing".to_owned(),
        [one] => describe_result(func, one),
        several => {
            let all: Vec<String> = several.iter().map(|s| describe_result(func, s)).collect();
            all.join(" and ")
        }
    }
}

fn describe_result(func: &ir::Function, shape: &ReturnShape) -> String {
    match shape {
        ReturnShape::Scalar(s) | ReturnShape::Element(s) => format!("a scalar `{s}`"),
        ReturnShape::Tensor(e, s) => format!("`{e} {}`", shape::show(func, s)),
    }
}

fn result_of(el: &mut Elab<'_>, v: Value, at: Span) -> Option<(ReturnShape, ReturnValue)> {
    match v {
        Value::Scalar(e) => {
            let ty = match e.ty {
                Scalar::Index => {
                    promised_integer(el).unwrap_or_else(|| widths::type_of_index(&el.f, &e))
                }
                ty => ty,
            };
            let e = convert::convert_expr(&mut el.cx, e, ty, at)?;
            Some((ReturnShape::Scalar(ty), ReturnValue::Scalar(e)))
        }
        Value::Int(i) => {
            let ty = promised_integer(el).unwrap_or_else(|| widths::type_of_int(&el.f, &i));
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
            // A part of a larger allocation, or a parameter that is a tile of the caller's.
            let pooled = el.storage.pools.parts.0.contains_key(&d.view.buffer);
            let part = el.results.is_inlined && !whole;
            if (pooled || part) && !d.tiled {
                return Some(host_elements::returned_copy(el, d.view, at));
            }
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
