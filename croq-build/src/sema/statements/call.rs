//! Calls: math builtins, `assert`, `print`, `call` of device functions.

use crate::diagnostics::Diagnostic;
use crate::ir::{self, BinOp, Expr, ExprKind, MathFn, PrintPart, Scalar, StmtKind};
use crate::sema::build;
use crate::sema::checks::run_time;
use crate::sema::levels::{barriers, registers};
use crate::sema::memory::atomics;
use crate::sema::names::builtins;
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::path::Frame;
use crate::sema::state::value::Value;
use crate::sema::statements::device_calls;
use crate::sema::values::{arith, conditionals, convert, integers, scalars, shape};
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, CallExpr, CallKind};

/// A call in a place where a value is wanted.
pub(crate) fn lower_value(el: &mut Elab<'_>, call: &CallExpr, span: Span) -> Value {
    match call.kind {
        _ if device_calls::is_device_call(&el.cx, call) => {
            el.cx.report(
                Diagnostic::new(
                    "E0307",
                    span,
                    format!("the type of `{}` is not known here", call.callee.text),
                )
                .label("returns whatever the C++ function does")
                .help(format!(
                    "assign it to an annotated variable first: `f32 x = {};`",
                    convert::source_text(&el.cx, span, "call …")
                )),
            );
            Value::Error
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
    match (call.kind, name) {
        _ if device_calls::is_device_call(&el.cx, call) => {
            if let Some(expr) = device_calls::lower_expr(el, call, Scalar::S32, span) {
                build::emit(el, StmtKind::Eval(expr), span);
            }
        }
        _ if crate::sema::memory::atomics::is_atomic(call) => {
            atomics::lower_statement(el, call, span)
        }
        (_, "assert") => lower_assert(el, call, span),
        (CallKind::CompileTime, _) => emit_print(el, call),
        (_, "print" | "println") => lower_print(el, call, name == "println", span),
        _ => {
            lower_builtin(el, call, span);
        }
    }
}

fn lower_builtin(el: &mut Elab<'_>, call: &CallExpr, span: Span) -> Value {
    let name = call.callee.text.as_str();
    if matches!(name, "__min" | "__max") {
        return lower_min_max(el, call, name == "__min", span);
    }
    if let Some((function, arity)) = builtins::math(name) {
        return lower_math(el, function, arity, call, span);
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
    if matches!(name, "__bar_sync" | "__bar_arrive") {
        barriers::lower_named_barrier(el, call, name == "__bar_sync", span);
        return Value::Error;
    }
    if matches!(name, "assert" | "print" | "println") {
        el.cx.report(
            Diagnostic::new("E0313", span, format!("`{name}` has no value"))
                .label("a statement of its own"),
        );
        return Value::Error;
    }
    report_not_a_builtin(&mut el.cx, name, call.callee.span);
    for a in &call.args {
        el.expression(a);
    }
    Value::Error
}

pub(crate) fn report_not_a_builtin(cx: &mut Cx<'_>, name: &str, at: Span) {
    let mut d = Diagnostic::new("E0208", at, format!("`{name}` is not a builtin")).label("unknown");
    if let Some(meant) = builtins::meant(name) {
        return cx.report(d.help(format!("here that is `{meant}`")));
    }
    let near = crate::diagnostics::nearest(
        name,
        builtins::MATH
            .iter()
            .map(|(n, ..)| *n)
            .chain(builtins::OTHERS.iter().copied()),
    );
    d = match near {
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
                "E0775",
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
                "E0774",
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
    if let (Value::Int(x), Value::Int(y)) = (&a, &b) {
        let op = if is_min { BinOp::Min } else { BinOp::Max };
        return integers::apply(el, op, span, x, y, span);
    }
    let ty = match (&a, &b) {
        (Value::Scalar(x), Value::Int(_)) => Some(scalars::with_int(&el.f, x.ty, &b)),
        (Value::Int(_), Value::Scalar(y)) => Some(scalars::with_int(&el.f, y.ty, &a)),
        (Value::Scalar(x), Value::Scalar(y)) => {
            let ty = convert::common_type(&mut el.cx, x.ty, y.ty, span);
            if ty.is_none() && x.ty != Scalar::Bool && y.ty != Scalar::Bool {
                return Value::Error;
            }
            ty
        }
        _ => None,
    };
    let Some(ty) = ty.filter(|t| *t != Scalar::Bool) else {
        let (ka, kb) = (a.kind(), b.kind());
        el.cx.report(
            Diagnostic::new(
                "E0770",
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
        let v = el.expression(a);
        let this = match &v {
            Value::Error => return Value::Error,
            Value::Int(_) => None,
            Value::Scalar(e) if e.ty.is_float() => Some(e.ty),
            Value::Scalar(e) if e.ty.is_integer() => None,
            other => {
                let kind = other.kind();
                el.cx.report(
                    Diagnostic::new(
                        "E0770",
                        a.span,
                        format!("`{}` works on floats, this is {kind}", call.callee.text),
                    )
                    .label("not a number"),
                );
                return Value::Error;
            }
        };
        ty = match (ty, this) {
            (Some(x), Some(y)) => match convert::common_type(&mut el.cx, x, y, a.span) {
                Some(t) => Some(t),
                None => return Value::Error,
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

fn lower_assert(el: &mut Elab<'_>, call: &CallExpr, span: Span) {
    let parts = match call.args.as_slice() {
        [cond, message] => match &*message.kind {
            ast::ExprKind::Str(text) => Some((cond, text.clone())),
            _ => None,
        },
        _ => None,
    };
    let Some((cond, text)) = parts else {
        el.cx.report(
            Diagnostic::new("E0761", span, "`assert` takes a condition and a string")
                .label("wrong arguments")
                .help("write `assert(n > 0, \"n must be positive\");`"),
        );
        return;
    };
    let c = el.within(Frame::Predicate, |el| {
        conditionals::lower_condition(el, cond)
    });
    let Some(c) = c else {
        return;
    };
    match arith::decided(&el.f, &c) {
        Some(true) => return,
        Some(false) if !el.path.is_dead() && !el.path.is_conditional() => {
            el.cx.report(
                Diagnostic::new("E0760", cond.span, format!("assertion failed: {text}"))
                    .label("never holds"),
            );
            return;
        }
        _ => {}
    }
    let mut inputs = Inputs {
        syms: Vec::new(),
        runtime: false,
    };
    ir::walk_exprs(&c, &mut inputs);
    let refs: Vec<&Sym> = inputs.syms.iter().collect();
    let unknown = Sym::var(crate::symbolic::Var(u32::MAX));
    let refs = if inputs.runtime { vec![&unknown] } else { refs };
    run_time::emit_check(
        el,
        run_time::Check::new("R14", format!("assertion failed: {text}"), span),
        c.clone(),
        &[],
        &refs,
    );
    if !run_time::is_reporting(el) {
        arith::assume(&mut el.f, &c, true);
    }
}

fn lower_print(el: &mut Elab<'_>, call: &CallExpr, newline: bool, span: Span) {
    let mut parts = Vec::new();
    for a in &call.args {
        let v = el.expression(a);
        if !lower_print_operand(&mut el.cx, v, a.span, &mut parts) {
            return;
        }
    }
    let statement = StmtKind::Print { newline, parts };
    match el.level() {
        Some(level) if level != ir::Level::Thread => {
            build::emit(
                el,
                StmtKind::Once {
                    level,
                    body: vec![ir::Stmt::new(statement, span)],
                },
                span,
            );
        }
        _ => build::emit(el, statement, span),
    }
}

fn lower_print_operand(cx: &mut Cx<'_>, v: Value, at: Span, parts: &mut Vec<PrintPart>) -> bool {
    let list = |open: &str, items: Vec<Sym>, close: &str, parts: &mut Vec<PrintPart>| {
        parts.push(PrintPart::Text(open.into()));
        for (i, s) in items.into_iter().enumerate() {
            if i > 0 {
                parts.push(PrintPart::Text(", ".into()));
            }
            parts.push(PrintPart::Value(Expr::index(s, at)));
        }
        parts.push(PrintPart::Text(close.into()));
    };
    match v {
        Value::Str(s) => parts.push(PrintPart::Text(s)),
        Value::Int(i) => parts.push(PrintPart::Value(Expr::index(i.value, at))),
        Value::Scalar(e) => parts.push(PrintPart::Value(e)),
        Value::Tuple(t) => list("{", t.into_iter().map(|i| i.value).collect(), "}", parts),
        Value::Shape(s) => list("[", s, "]", parts),
        Value::Error => return false,
        other => {
            let kind = other.kind();
            cx.report(
                Diagnostic::new("E0772", at, format!("{kind} has no printed form"))
                    .label("can't be printed")
                    .help("print its elements, or its `.span`"),
            );
            return false;
        }
    }
    true
}

/// `print!`: the compiler prints, as a note.
fn emit_print(el: &mut Elab<'_>, call: &CallExpr) {
    let mut text = String::new();
    for a in &call.args {
        match el.expression(a) {
            Value::Str(s) => text.push_str(&s),
            Value::Int(i) => text.push_str(&el.f.cx.show(&i.value)),
            Value::Shape(s) => text.push_str(&shape::show(&el.f, &s)),
            Value::Tuple(t) => {
                let parts: Vec<String> = t.iter().map(|i| el.f.cx.show(&i.value)).collect();
                text.push_str(&format!("{{{}}}", parts.join(", ")));
            }
            Value::Error => return,
            _ => {
                el.cx.report(
                    Diagnostic::new("W0773", a.span, "this value is known only at run time")
                        .label("not printable now"),
                );
                return;
            }
        }
    }
    el.cx
        .report(Diagnostic::new("N0773", call.callee.span, text).label("printed at compile time"));
}

struct Inputs {
    syms: Vec<Sym>,
    runtime: bool,
}

impl ir::Visit for Inputs {
    fn expr(&mut self, e: &Expr) {
        self.runtime |= matches!(
            &*e.kind,
            ExprKind::Local(_) | ExprKind::Load(_) | ExprKind::Hardware(_) | ExprKind::Call(_)
        );
    }
    fn sym(&mut self, s: &Sym) {
        self.syms.push(s.clone());
    }
}
