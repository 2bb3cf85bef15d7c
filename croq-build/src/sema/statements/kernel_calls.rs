//! Calls of one `__co__` function by another, on the host.
//!
//! The body of the called function is lowered at the place of the call, with its parameters bound
//! to the arguments: the launches are the same, in the same order, buffers stay on the device, and
//! extents that the caller knows are constants in the kernels.

use crate::diagnostics::{Diagnostic, Diagnostics, Severity, codes};
use crate::ir::{self, BinOp, BufferId, CheckCode, ReturnValue, Role, StmtKind};
use crate::sema::build;
use crate::sema::checks::{run_time, unsupported};
use crate::sema::memory::{host_elements, tiles, whole};
use crate::sema::names::scope;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::sema::state::siblings::Summary;
use crate::sema::state::value::{Data, Value};
use crate::sema::statements::inlined_bodies::{Argument, inline};
use crate::sema::values::{constants, convert, shape};
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast::{self, Name};

/// Whether the name is that of a `__co__` function, and of nothing else here.
pub(crate) fn is_kernel(el: &Elab<'_>, name: &str) -> bool {
    el.cx.siblings.named(name).is_some() && el.names.find(name).is_none()
}

/// The arguments of an expression that calls a `__co__` function.
pub(crate) fn called<'e>(el: &Elab<'_>, e: &'e ast::Expr) -> Option<(Name, &'e [ast::Expr])> {
    let (name, args) = match &*e.kind {
        ast::ExprKind::Call(call) if call.kind == ast::CallKind::Plain => {
            (call.callee.clone(), call.args.as_slice())
        }
        ast::ExprKind::Element(base, arg) => {
            let ast::ExprKind::Name(text) = &*base.kind else {
                return None;
            };
            let text = text.clone();
            let span = base.span;
            (Name { text, span }, std::slice::from_ref(arg))
        }
        _ => return None,
    };
    is_kernel(el, &name.text).then_some((name, args))
}

/// The most calls within each other, and the most calls in a function with those in called functions.
const MOST_WITHIN: usize = 32;
const MOST_CALLS: usize = 1000;

/// `f(x, n)`: the value of the result, `None` if there is none.
pub(crate) fn lower(
    el: &mut Elab<'_>,
    name: &Name,
    args: &[ast::Expr],
    span: Span,
) -> Option<Value> {
    let Some(function) = el.cx.siblings.named(&name.text) else {
        return Some(Value::Error);
    };
    let evaluated = match check_place(el, name, span) && count_call(el, span) {
        false => None,
        true => evaluate(el, function, args, span),
    };
    let Some(evaluated) = evaluated else {
        el.results.poisoned = true;
        return Some(Value::Error);
    };
    let summary = el.summary_of(function);
    let failed = evaluated.iter().any(|arg| matches!(arg, Argument::Error));
    if summary.failed {
        el.cx.diags.note_error_elsewhere();
    }
    if summary.failed || failed {
        el.results.poisoned = true;
        return Some(Value::Error);
    }
    if !check_apart(el, function, &summary, &evaluated, args) {
        return Some(Value::Error);
    }
    let first = BufferId(u32::try_from(el.f.buffers.len()).unwrap_or(u32::MAX));
    let evaluated = private(el, function, &summary, evaluated, args);
    let reported = std::mem::take(el.cx.diags);
    if reported.has_errors() {
        // Its statements may depend on what is in error.
        el.cx.diags.note_error_elsewhere();
    }
    let values = inline(el, function, evaluated, args, span);
    let found = std::mem::replace(el.cx.diags, reported);
    report_found(el, found, name, span);
    el.names.opened += 1;
    value_of(el, values, first, &function.name.text, span)
}

/// Reports a call in a kernel, and one that leads back to itself.
fn check_place(el: &mut Elab<'_>, name: &Name, span: Span) -> bool {
    let text = &name.text;
    let shown = el.cx.file.name_of(text);
    if let Some(k) = &el.kernel {
        let header = k.header;
        let d = Diagnostic::new(
            codes::E0788,
            span,
            format!("`{shown}` is a `__co__` function, which launches kernels"),
        )
        .label("called inside `parallel`")
        .also(header, "this is a kernel")
        .help("call it before or after this `parallel`, or share code through a `__device__` function");
        el.cx.report(d);
        return false;
    }
    let own = el.f.name.clone();
    let mut around = el.calls.open.iter().chain([&own]);
    let siblings = el.cx.siblings;
    let returns = |to: &str| to == text || siblings.reaches(text, to);
    if around.any(|to| returns(to)) || siblings.reaches(text, text) {
        let d = Diagnostic::new(
            codes::E0798,
            span,
            format!("`{shown}` leads back to itself"),
        )
        .label("a call without an end")
        .help("a call is a part of its caller: use a loop of the host");
        el.cx.report(d);
        return false;
    }
    true
}

/// Reports a call beyond the limits.
fn count_call(el: &mut Elab<'_>, span: Span) -> bool {
    el.calls.count += 1;
    let (within, count) = (el.calls.open.len(), el.calls.count);
    if within >= MOST_WITHIN || count > MOST_CALLS {
        let what = match within >= MOST_WITHIN {
            true => format!("a call within {MOST_WITHIN} others"),
            false => format!("a function of more than {MOST_CALLS} calls"),
        };
        let remedy =
            "each call is replaced by the body of the called function: use loops of the host";
        unsupported::report_with_remedy(&mut el.cx, span, &what, Some(remedy));
        return false;
    }
    true
}

fn report_found(el: &mut Elab<'_>, found: Diagnostics, name: &Name, span: Span) {
    if found.has_error_elsewhere() {
        el.cx.diags.note_error_elsewhere();
    }
    let called = el.cx.file.name_of(&name.text).to_owned();
    // What the function itself has to say is said there.
    for d in found.into_sorted() {
        if d.severity() == Severity::Error {
            el.cx
                .report(d.also(span, format!("in this call of `{called}`")));
        }
    }
}

fn evaluate(
    el: &mut Elab<'_>,
    function: &ast::Function,
    args: &[ast::Expr],
    span: Span,
) -> Option<Vec<Argument>> {
    let (given, wanted) = (args.len(), function.params.len());
    if given != wanted {
        let name = el.cx.file.name_of(&function.name.text);
        let s = if wanted == 1 { "" } else { "s" };
        let text = format!("`{name}` takes {wanted} argument{s}, {given} given");
        let d = Diagnostic::new(codes::E0796, span, text)
            .label("another number")
            .also(function.name.span, "declared here");
        el.cx.report(d);
        return None;
    }
    let pairs = function.params.iter().zip(args);
    Some(
        pairs
            .map(|(param, arg)| evaluate_one(el, param, arg))
            .collect(),
    )
}

fn evaluate_one(el: &mut Elab<'_>, param: &ast::Param, arg: &ast::Expr) -> Argument {
    if matches!(param.ty.kind, ast::ParamTypeKind::Stream) {
        return match &*arg.kind {
            ast::ExprKind::Name(name) => match scope::lookup(el, name, arg.span) {
                Some(Entity::Stream(id)) => Argument::Stream(id),
                Some(other) => {
                    let kind = other.kind().to_owned();
                    unfit(el, param, arg, &kind)
                }
                None => Argument::Error,
            },
            _ => unfit(el, param, arg, "an expression"),
        };
    }
    let value = el.expression(arg);
    match (&param.ty.kind, value) {
        (_, Value::Error) => Argument::Error,
        (ast::ParamTypeKind::Unsupported(..), _) => {
            // Reported in the signature.
            el.cx.diags.note_error_elsewhere();
            Argument::Error
        }
        (ast::ParamTypeKind::Scalar(elem), value @ (Value::Int(_) | Value::Scalar(_))) => {
            match convert::scalar_type(&mut el.cx, *elem, param.ty.span) {
                Some(ty) => Argument::Scalar(value, ty),
                None => Argument::Error,
            }
        }
        (
            ast::ParamTypeKind::Spanned { elem, .. } | ast::ParamTypeKind::SpannedRank { elem, .. },
            Value::Data(data),
        ) if data.future.is_none() => {
            let Some(mut data) = whole::expect_whole(el, data, arg.span) else {
                return Argument::Error;
            };
            tiles::emit_exists(el, &mut data);
            let own = el.f.buffer(data.view.buffer).elem;
            let rank = rank_of(&param.ty.kind);
            let wanted = convert::element_type(&mut el.cx, *elem, param.ty.span);
            if wanted != Some(own) || rank != data.view.rank() {
                let shown = shape::show(&el.f, &data.view.shape);
                return unfit(el, param, arg, &format!("`{own} {shown}`"));
            }
            Argument::Tensor(data)
        }
        (_, other) => {
            let kind = other.kind();
            unfit(el, param, arg, &kind)
        }
    }
}

fn rank_of(ty: &ast::ParamTypeKind) -> usize {
    match ty {
        ast::ParamTypeKind::Spanned { dims, .. } => dims.len(),
        ast::ParamTypeKind::SpannedRank { rank, .. } => {
            usize::try_from(constants::constant(rank).unwrap_or(0)).unwrap_or(0)
        }
        _ => 0,
    }
}

fn unfit(el: &mut Elab<'_>, param: &ast::Param, arg: &ast::Expr, found: &str) -> Argument {
    let wanted = el.cx.file.snippet(param.span).to_owned();
    let text = format!("the parameter is `{wanted}`, this is {found}");
    let d = Diagnostic::new(codes::E0796, arg.span, text)
        .label("does not fit")
        .also(param.span, "the parameter");
    el.cx.report(d);
    Argument::Error
}

fn passes_by_value(param: &ast::Param) -> bool {
    param.by_ref.is_none() && !matches!(param.storage, Some((ast::Storage::Global, _)))
}

/// Memory that the function writes is no other argument's.
fn check_apart(
    el: &mut Elab<'_>,
    function: &ast::Function,
    summary: &Summary,
    evaluated: &[Argument],
    args: &[ast::Expr],
) -> bool {
    for (at, (param, arg)) in function.params.iter().zip(evaluated).enumerate() {
        let Argument::Tensor(data) = arg else {
            continue;
        };
        let written = summary.writes.get(at).copied().unwrap_or(true) || param.by_ref.is_some();
        if passes_by_value(param) || !written {
            continue;
        }
        let mut same = None;
        for (other, (arg, e)) in evaluated.iter().zip(args).enumerate() {
            let Argument::Tensor(tensor) = arg else {
                continue;
            };
            match distance(el, data, tensor) {
                _ if other == at => {}
                Distance::Disjoint => {}
                Distance::Unknown(a, b) => check_distance(el, &function.name, (&a, &b), e.span),
                Distance::Same => same = same.or(Some(e)),
            }
        }
        let Some((this, other)) = args.get(at).zip(same) else {
            continue;
        };
        let name = param.name.as_ref().map_or("it", |name| name.text.as_str());
        let text = format!(
            "`{}` writes `{name}`, and another argument is the same memory",
            el.cx.file.name_of(&function.name.text)
        );
        let d = Diagnostic::new(codes::E0797, this.span, text)
            .label("written by the call")
            .also(other.span, "the same buffer")
            .help("copy one of them to another buffer first");
        el.cx.report(d);
        return false;
    }
    true
}

/// Whether two arguments are one memory.
enum Distance {
    Disjoint,
    /// Where they begin, in the allocation.
    Unknown(Sym, Sym),
    Same,
}

/// Several buffers among which a `select` chooses are one allocation: whole ones of one size are the
/// same one, or disjoint.
fn distance(el: &Elab<'_>, a: &Data, b: &Data) -> Distance {
    let (of_a, of_b) = (
        el.storage.pools.find(a.view.buffer),
        el.storage.pools.find(b.view.buffer),
    );
    if of_a.0 != of_b.0 {
        return Distance::Disjoint;
    }
    let parts = &el.storage.pools.parts.0;
    let pooled = [a, b].iter().any(|d| parts.contains_key(&d.view.buffer));
    let begin = |d: &Data, place: &Sym| {
        let buffer = el.f.buffer(d.view.buffer);
        let size = d.view.shape.iter().product::<Sym>();
        let begin = place + &d.view.offset;
        let whole = d.view.shape == buffer.shape
            && d.view.strides == whole::dense_strides(&buffer.shape)
            && el.f.cx.divides(&size, &begin).is_yes();
        whole.then_some(begin)
    };
    let (Some(begin_a), Some(begin_b)) = (begin(a, &of_a.1), begin(b, &of_b.1)) else {
        return Distance::Same;
    };
    if !pooled || a.view.shape != b.view.shape {
        return Distance::Same;
    }
    match el.f.cx.eq(&begin_a, &begin_b) {
        Truth::No => Distance::Disjoint,
        Truth::Yes => Distance::Same,
        Truth::Unknown => Distance::Unknown(begin_a, begin_b),
    }
}

/// Checks at run time that a `select` among the arguments has not chosen the memory that the
/// function writes.
fn check_distance(el: &mut Elab<'_>, called: &Name, begin: (&Sym, &Sym), span: Span) {
    let name = el.cx.file.name_of(&called.text);
    let message = format!("`{name}` writes one of its arguments, and this one is the same memory");
    let check = run_time::Check::new(CheckCode::R23, message, span);
    run_time::emit_compare(el, check, BinOp::Ne, begin.0, begin.1);
}

/// Parameters that are passed by value are private copies, where that makes a difference.
fn private(
    el: &mut Elab<'_>,
    function: &ast::Function,
    summary: &Summary,
    evaluated: Vec<Argument>,
    args: &[ast::Expr],
) -> Vec<Argument> {
    let at = |of: &[bool], at: usize| of.get(at).copied().unwrap_or(true);
    let params = function.params.iter().zip(args).enumerate();
    let all = evaluated.into_iter().zip(params);
    let copied = all.map(|(arg, (index, (param, e)))| {
        let changes = at(&summary.writes, index) || at(&summary.keeps, index);
        match arg {
            Argument::Tensor(data) if passes_by_value(param) && changes => {
                let name = param.name.as_ref().map_or("argument", |n| n.text.as_str());
                let id = host_elements::copy_of(el, data.view, name, e.span);
                let view = whole::whole_view(&el.f, id, e.span);
                Argument::Copy(whole::data_of(view, name, e.span))
            }
            arg => arg,
        }
    });
    copied.collect()
}

/// What the caller sees of the result.
fn value_of(
    el: &mut Elab<'_>,
    values: Option<Vec<ReturnValue>>,
    first: BufferId,
    name: &str,
    span: Span,
) -> Option<Value> {
    let Some(mut values) = values else {
        return Some(Value::Error);
    };
    let value = values.pop()?;
    if !values.is_empty() {
        let what = "the value of a call with several results";
        let remedy = "let the function write to `global` or `&` parameters";
        unsupported::report_with_remedy(&mut el.cx, span, what, Some(remedy));
        return Some(Value::Error);
    }
    Some(match value {
        ReturnValue::Scalar(e) => {
            // Later statements may change what it reads.
            let ty = e.ty;
            let local = build::new_local(&mut el.f, name, ty, false, Role::Value, span);
            let value = Some(e);
            build::emit(el, StmtKind::Let { local, value }, span);
            Value::Scalar(ir::Expr::local(local, ty, span))
        }
        ReturnValue::Buffer(id) => {
            let id = match id < first {
                false => id,
                // A parameter is returned as a copy.
                true => {
                    let view = whole::whole_view(&el.f, id, span);
                    host_elements::copy_of(el, view, name, span)
                }
            };
            let view = whole::whole_view(&el.f, id, span);
            Value::Data(whole::data_of(view, name, span))
        }
    })
}
