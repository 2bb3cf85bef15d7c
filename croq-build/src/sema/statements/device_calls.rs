//! `call f(…)`: C++ device functions, checked as far as the file shows their signatures.

use crate::diagnostics::{Diagnostic, Severity, codes};
use crate::ir::{self, Arg, Call, Expr, ExprKind, Scalar};
use crate::sema::memory::{packed, tiles, whole};
use crate::sema::state::cx::{Cx, source_text};
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::sema::state::value::Value;
use crate::sema::statements::cuda_functions;
use crate::sema::tensor_cores::layouts;
use crate::sema::values::{arith, convert, cpp_types, predicates, widths};
use crate::source::{DeviceText, DeviceTextKind, Signature, Span, TemplateParam};
use crate::symbolic::Sym;
use crate::syntax::ast::{self, CallExpr, CallKind, TemplateArg};

/// The type of a call's result, if the file declares the function once, and not as a template.
pub(crate) fn result_type(cx: &Cx<'_>, call: &CallExpr) -> Option<Scalar> {
    let mut types = signatures(cx, &call.callee.text).map(|signature| {
        let plain = signature.filter(|s| s.template.is_none())?;
        cpp_types::scalar(plain.result.as_deref()?)
    });
    // A declaration may come before the function itself.
    let first = types.next()??;
    types.all(|other| other == Some(first)).then_some(first)
}

/// Whether every declaration of the file says `void`.
fn returns_nothing(cx: &Cx<'_>, callee: &str) -> bool {
    let is_void = |signature: Option<Signature>| {
        signature.is_some_and(|s| s.result.as_deref() == Some("void"))
    };
    let mut all = signatures(cx, callee);
    all.next().is_some_and(is_void) && all.all(is_void)
}

/// The signature of each text of the file that declares this name; `None` for one that is no device
/// function, or cannot be read.
fn signatures<'a>(cx: &'a Cx<'_>, callee: &'a str) -> impl Iterator<Item = Option<Signature>> + 'a {
    let texts = cx.file.device.iter();
    let declare = texts.filter(move |d| d.names.iter().any(|name| name == callee));
    declare.map(|text: &DeviceText| match text.kind {
        DeviceTextKind::Device => Signature::read(text.text.split('{').next().unwrap_or("")),
        _ => None,
    })
}

/// `call f(…)` where nothing else says of what type the result is.
pub(crate) fn lower_value(el: &mut Elab<'_>, call: &CallExpr, span: Span) -> Value {
    if let Some(ty) = result_type(&el.cx, call) {
        return lower(el, call, ty, span);
    }
    if returns_nothing(&el.cx, &call.callee.text) {
        let name = &call.callee.text;
        let statement = source_text(&el.cx, span, &format!("call {name}(…)"));
        let report = Diagnostic::new(
            codes::E0783,
            span,
            format!("`{name}` returns nothing, so this call has no value"),
        )
        .label("it returns `void`")
        .help(format!(
            "write it as a statement of its own: `{statement};`"
        ));
        el.cx.report(report);
        return Value::Error;
    }
    let help = match misspelled(&el.cx, &call.callee.text) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!(
            "assign it to an annotated variable: `f32 x = {};`",
            source_text(&el.cx, span, "call …")
        ),
    };
    el.cx.report(
        Diagnostic::new(
            codes::E0783,
            span,
            format!("the type of `{}` is not known here", call.callee.text),
        )
        .label("no declaration of this file says what it returns")
        .help(help),
    );
    Value::Error
}

/// `call f(…)` whose result is converted to `ty`.
pub(crate) fn lower(el: &mut Elab<'_>, call: &CallExpr, ty: Scalar, span: Span) -> Value {
    if returns_nothing(&el.cx, &call.callee.text) {
        let text = format!("`{}` has no value", call.callee.text);
        el.cx
            .report(Diagnostic::new(codes::E0779, span, text).label("it returns `void`"));
        return Value::Error;
    }
    match lower_expr(el, call, ty, span) {
        Some(e) => Value::Scalar(e),
        None => Value::Error,
    }
}

pub(crate) fn lower_expr(
    el: &mut Elab<'_>,
    call: &CallExpr,
    ty: Scalar,
    span: Span,
) -> Option<Expr> {
    if el.kernel.is_none() {
        el.cx.report(
            Diagnostic::new(codes::E0780, span, "`call` outside `parallel`")
                .label("device functions run on the device")
                .help("move it into a `parallel`"),
        );
        return None;
    }
    let callee = call.callee.text.clone();
    if crate::sema::levels::registers::direction(&callee).is_some() {
        el.cx.report(
            Diagnostic::new(codes::E0779, span, format!("`{callee}` has no value"))
                .label("a statement of its own"),
        );
        return None;
    }
    let mut targs = Vec::new();
    let mut ok = true;
    for t in &call.targs {
        match t {
            TemplateArg::Type(elem, at) => match convert::scalar_type(&mut el.cx, *elem, *at) {
                Some(s) => targs.push(format!("@{}", s.name())),
                None => ok = false,
            },
            TemplateArg::Name(n) => ok &= named_targ(el, n, &mut targs),
            TemplateArg::Expr(e) => {
                let v = el.expression(e);
                let decided = match &v {
                    Value::Scalar(value) => predicates::decided(el, value.clone()),
                    _ => None,
                };
                match (&v, arith::int_of(&v), decided) {
                    (_, Some(i), _) => ok &= const_targ(&mut el.cx, &i.value, e.span, &mut targs),
                    (Value::Error, ..) => ok = false,
                    (_, None, Some(value)) => targs.push(value.to_string()),
                    _ => {
                        no_targ(&mut el.cx, v.kind(), e.span);
                        ok = false;
                    }
                }
            }
        }
    }
    let mut args = Vec::new();
    for a in &call.args {
        match lower_argument(el, a) {
            Some(arg) => args.push(arg),
            None => ok = false,
        }
    }
    if visible_device_function(&mut el.cx, &callee, call.callee.span) {
        ok &= takes(&mut el.cx, call);
    }
    ok.then(|| {
        Expr::new(
            ExprKind::Call(Call {
                callee,
                targs,
                args,
            }),
            ty,
            span,
        )
    })
}

fn named_targ(el: &mut Elab<'_>, name: &ast::Name, targs: &mut Vec<String>) -> bool {
    let Some(binding) = el.names.read(&name.text, name.span) else {
        // The name is one of C++.
        targs.push(name.text.clone());
        return true;
    };
    match binding.entity.clone() {
        Entity::Int { value, .. } => const_targ(&mut el.cx, &value.value, name.span, targs),
        Entity::Scalar { local, .. } => {
            let value = Expr::local(local, Scalar::Bool, name.span);
            match predicates::decided(el, value) {
                Some(value) => {
                    targs.push(value.to_string());
                    true
                }
                None => run_time_targ(&mut el.cx, name.span),
            }
        }
        Entity::ScalarParam { .. } | Entity::Word(_) => run_time_targ(&mut el.cx, name.span),
        Entity::Poison => false,
        other => {
            let kind = other.kind();
            no_targ(&mut el.cx, kind, name.span);
            false
        }
    }
}

fn no_targ(cx: &mut Cx<'_>, kind: impl std::fmt::Display, at: Span) {
    let text = format!("{kind} is no template argument");
    cx.report(
        Diagnostic::new(codes::E0785, at, text)
            .label("neither a type nor an integer")
            .help("pass it as an argument of the function"),
    );
}

fn const_targ(cx: &mut Cx<'_>, value: &Sym, at: Span, out: &mut Vec<String>) -> bool {
    match value.as_int() {
        Some(n) => {
            out.push(n.to_string());
            true
        }
        None => run_time_targ(cx, at),
    }
}

fn run_time_targ(cx: &mut Cx<'_>, at: Span) -> bool {
    cx.report(
        Diagnostic::new(
            codes::E0782,
            at,
            "a template argument must be known at compile time",
        )
        .label("known only at run time")
        .help("pass it as an argument of the function"),
    );
    false
}

pub(crate) fn lower_argument(el: &mut Elab<'_>, a: &ast::Expr) -> Option<Arg> {
    if let ast::ExprKind::CppCast(ty, inner) = &*a.kind {
        let mut inner = lower_argument(el, inner)?;
        // An explicit conversion may truncate, as in C++.
        if let Arg::Value(e) = &mut inner
            && let ExprKind::Cast(index) = &*e.kind
            && let ExprKind::Index(sym) = &*index.kind
            && !ir::is_within(&el.f, sym, e.ty)
        {
            e.ty = widths::whole_type(&el.f, sym);
        }
        return Some(Arg::Cast(ty.clone(), Box::new(inner)));
    }
    match el.expression(a) {
        Value::Data(mut d) => {
            tiles::emit_exists(el, &mut d);
            let d = match whole::is_fragment(el, &d) {
                // A thread's elements of it, in the order of the instructions.
                true => {
                    layouts::note_use(el, d.view.buffer, a.span);
                    d
                }
                false => whole::expect_whole(el, d, a.span)?,
            };
            refuse_packed(el, d.view.buffer, a.span)?;
            whole::mark_accessed(&mut el.f, &d.view, true, true);
            Some(Arg::Pointer(d.view))
        }
        Value::Address(view) => {
            refuse_packed(el, view.buffer, a.span)?;
            whole::mark_accessed(&mut el.f, &view, true, true);
            Some(Arg::Pointer(view))
        }
        Value::Null => Some(Arg::Null),
        Value::Int(i) => {
            let ty = widths::type_of_int(&el.f, &i);
            let index = ExprKind::Cast(Expr::index(i.value, a.span));
            Some(Arg::Value(Expr::new(index, ty, a.span)))
        }
        Value::Scalar(e) if e.ty == Scalar::Index => {
            let ty = widths::type_of_index(&el.f, &e);
            Some(Arg::Value(Expr::new(ExprKind::Cast(e), ty, a.span)))
        }
        Value::Scalar(e) => match convert::promoted(Value::Scalar(e)) {
            Value::Scalar(e) => Some(Arg::Value(e)),
            _ => None,
        },
        Value::Error => None,
        other => {
            let kind = other.kind();
            el.cx.report(
                Diagnostic::new(
                    codes::E0784,
                    a.span,
                    format!("{kind} can't be passed to a C++ function"),
                )
                .label("not an argument"),
            );
            None
        }
    }
}

/// Whether the file declares a device function of that name. Reports a call of another kind of
/// function, and a name that no included file could declare.
fn visible_device_function(cx: &mut Cx<'_>, callee: &str, at: Span) -> bool {
    if let Some(name) = callee.strip_prefix("croq::cuda::") {
        let text = format!("`croq::cuda` has no function `{name}`");
        cx.report(
            Diagnostic::new(codes::E0201, at, text)
                .label("not known")
                .help("it has `setreg_inc`, `setreg_dec`, `evict_first` and `evict_last`"),
        );
        return false;
    }
    if callee.contains("::") {
        return false;
    }
    if cx.file.device_names().contains_key(callee) {
        return true;
    }
    let is_template = cx.file.templates.iter().any(|t| *t.name == *callee);
    if cx.siblings.named(callee).is_some() || is_template {
        cx.report(
            Diagnostic::new(
                codes::E0788,
                at,
                format!("`{}` is a `__co__` function", cx.file.name_of(callee)),
            )
            .label("launches kernels, which this one can't")
            .help("share code through a `__device__` function"),
        );
        return false;
    }
    let registered = |f: &crate::source::FunctionText| f.is_intrinsic(callee, at);
    let known = cuda_functions::is_known(callee) || includes(cx);
    if known || cx.file.function_at(at).is_some_and(registered) {
        return false;
    }
    let host = cx.file.host_functions.iter();
    let host = host.filter(|(name, _)| name == callee).map(|(_, at)| *at);
    let d = match host.into_iter().next() {
        Some(declared) => {
            let text = format!("`{callee}` is a function of the host");
            Diagnostic::new(codes::E0789, at, text)
                .label("called on the device")
                .also(declared, "not marked `__device__`")
                .help("write `__device__` before it")
        }
        None => {
            let text = format!("no device function `{callee}` is visible in this file");
            Diagnostic::new(codes::W0781, at, text)
                .label("declared nowhere here")
                .help(match misspelled(cx, callee) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("declare it at file scope: `__device__ … {callee}(…)`"),
                })
        }
    };
    cx.report(d);
    false
}

/// The device function of the file that a name which none has is probably meant to be.
fn misspelled(cx: &Cx<'_>, callee: &str) -> Option<String> {
    let mut known: Vec<&str> = cx.file.device_names().into_keys().collect();
    known.sort_unstable();
    let meant = crate::diagnostics::nearest(callee, known.iter().copied());
    meant
        .filter(|_| !known.contains(&callee))
        .map(str::to_owned)
}

/// Whether the file includes others, or names a namespace, which may declare functions.
fn includes(cx: &Cx<'_>) -> bool {
    let included = cx.file.device.iter().any(|d| d.text.contains("#include"));
    included || cx.file.device_namespace.is_some()
}

/// Whether the call may be left to the C++ compiler; reports it if no function of that name in the
/// file accepts its arguments.
fn takes(cx: &mut Cx<'_>, call: &CallExpr) -> bool {
    let callee = &call.callee.text;
    let mut candidates = Vec::new();
    for text in cx.file.device.iter().filter(|d| d.names.contains(callee)) {
        let header = text.text.split('{').next().unwrap_or("");
        match Signature::read(header) {
            Some(signature) if text.kind == DeviceTextKind::Device => {
                let length = u32::try_from(header.trim_end().len()).unwrap_or(0);
                let at = Span::new(text.span.start, text.span.start + length);
                candidates.push((signature, at));
            }
            // The parameters are unknown, so any argument is accepted.
            _ => return true,
        }
    }
    let misfits: Vec<Misfit> = candidates
        .iter()
        .map_while(|(signature, _)| Misfit::of(signature, call))
        .collect();
    if includes(cx) || misfits.len() < candidates.len() {
        return true;
    }
    let d = match (misfits.as_slice(), candidates.as_slice()) {
        ([misfit], [(_, declared)]) => misfit.report(callee, call).also(*declared, "declared here"),
        _ => {
            let text = format!("no device function `{callee}` of this file takes these arguments");
            let mut d =
                Diagnostic::new(codes::W0781, call.callee.span, text).label("fits none of them");
            for (misfit, (_, declared)) in misfits.iter().zip(&candidates) {
                d = d.also(*declared, misfit.short());
            }
            d
        }
    };
    let refused = d.severity() == Severity::Error;
    cx.report(d);
    !refused
}

/// The reason why a function does not accept a call's arguments.
enum Misfit {
    TooFew {
        least: usize,
        most: usize,
    },
    TooMany {
        most: usize,
    },
    TemplateArguments {
        most: usize,
    },
    /// Template argument `at` has the wrong kind; the function expects a type, or else a value.
    Kind {
        at: usize,
        wants_type: bool,
    },
}

impl Misfit {
    /// The mismatch between a signature and a call; `None` if the call fits.
    fn of(signature: &Signature, call: &CallExpr) -> Option<Self> {
        let template = signature.template.as_deref().unwrap_or_default();
        if call.targs.len() > template.len() {
            let most = template.len();
            return Some(Misfit::TemplateArguments { most });
        }
        for (at, (given, wanted)) in call.targs.iter().zip(template).enumerate() {
            let wants_type = *wanted == TemplateParam::Type;
            // In C++ a name may be either.
            let fits = match given {
                TemplateArg::Type(..) => wants_type,
                TemplateArg::Name(_) => true,
                TemplateArg::Expr(_) => !wants_type,
            };
            if !fits {
                return Some(Misfit::Kind { at, wants_type });
            }
        }
        let (least, most) = (signature.least, signature.most);
        match call.args.len() {
            n if n < least => Some(Misfit::TooFew { least, most }),
            n if n > most => Some(Misfit::TooMany { most }),
            _ => None,
        }
    }

    fn report(&self, callee: &str, call: &CallExpr) -> Diagnostic {
        let (at, given) = (call.callee.span, call.args.len());
        match self {
            Misfit::TooFew { least, most } => {
                let at_least = if least == most { "" } else { "at least " };
                let text = format!(
                    "`{callee}` takes {at_least}{}, {given} given",
                    arguments(*least)
                );
                Diagnostic::new(codes::E0786, at, text).label(match least - given {
                    1 => "one is missing, and has no default".to_owned(),
                    n => format!("{n} are missing, and have no default"),
                })
            }
            Misfit::TooMany { most } => {
                let text = format!("`{callee}` takes {}, {given} given", arguments(*most));
                Diagnostic::new(codes::W0781, at, text)
                    .label("no function of this file takes so many")
            }
            Misfit::TemplateArguments { most } => {
                let text = format!(
                    "`{callee}` takes {} of its template, {} given",
                    arguments(*most),
                    call.targs.len()
                );
                Diagnostic::new(codes::W0781, at, text)
                    .label("no function of this file takes so many")
            }
            Misfit::Kind {
                at: number,
                wants_type,
            } => {
                let (wants, is) = match wants_type {
                    true => ("a type", "a value"),
                    false => ("a value", "a type"),
                };
                let span = match call.targs.get(*number) {
                    Some(TemplateArg::Type(_, at)) => *at,
                    Some(TemplateArg::Expr(e)) => e.span,
                    _ => at,
                };
                let text = format!("the template of `{callee}` wants {wants} here, this is {is}");
                Diagnostic::new(codes::E0785, span, text).label(format!("not {wants}"))
            }
        }
    }

    /// A short form for the label at the function's header.
    fn short(&self) -> String {
        match self {
            Misfit::TooFew { least, .. } => format!("takes at least {}", arguments(*least)),
            Misfit::TooMany { most } => format!("takes {}", arguments(*most)),
            Misfit::TemplateArguments { most } => {
                format!("takes {} of its template", arguments(*most))
            }
            Misfit::Kind {
                wants_type: true, ..
            } => "wants a type as template argument".to_owned(),
            Misfit::Kind { .. } => "wants a value as template argument".to_owned(),
        }
    }
}

fn arguments(n: usize) -> String {
    match n {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        _ => format!("{n} arguments"),
    }
}

/// `call f(…)`, or `f(…)` where a pragma registered `f`.
pub(crate) fn is_device_call(cx: &Cx<'_>, call: &CallExpr) -> bool {
    let at = call.callee.span;
    call.kind == CallKind::Device
        || cx
            .file
            .function_at(at)
            .is_some_and(|f| f.is_intrinsic(&call.callee.text, at))
}

/// C++ has no pointer to an element that is a part of a byte.
fn refuse_packed(el: &mut Elab<'_>, id: ir::BufferId, at: Span) -> Option<()> {
    packed::refuse(
        el,
        id,
        at,
        "a call can't take the address of",
        "pass the element's value, or declare the buffer with elements of `u8`",
    )
}
