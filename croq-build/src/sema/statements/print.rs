//! `assert` and `print`.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, CheckCode, Expr, ExprKind, PrintPart, StmtKind, path_facts};
use crate::sema::build;
use crate::sema::checks::run_time;
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::path::Frame;
use crate::sema::state::settled_locals;
use crate::sema::state::value::Value;
use crate::sema::values::{conditionals, convert, predicates, shape};
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, CallExpr};

pub(crate) fn lower_assert(el: &mut Elab<'_>, call: &CallExpr, span: Span) {
    let parts = match call.args.as_slice() {
        [cond, message] => match &*message.kind {
            ast::ExprKind::Str(text) => Some((cond, text.clone())),
            _ => None,
        },
        _ => None,
    };
    let Some((cond, text)) = parts else {
        el.cx.report(
            Diagnostic::new(
                codes::E0761,
                span,
                "`assert` takes a condition and a string",
            )
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
    settled_locals::note_asserted(el, &c);
    match path_facts::decided(&el.f, &c) {
        Some(true) => return,
        Some(false) if !el.path.is_dead() && !el.path.is_conditional() => {
            el.cx.report(
                Diagnostic::new(codes::E0760, cond.span, format!("assertion failed: {text}"))
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
        run_time::Check::new(CheckCode::R14, format!("assertion failed: {text}"), span),
        c.clone(),
        &[],
        &refs,
    );
    if !run_time::is_reporting(el) {
        path_facts::assume(&mut el.f, &c, true);
    }
}

pub(crate) fn lower_print(el: &mut Elab<'_>, call: &CallExpr, newline: bool, span: Span) {
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
                ir::build::once(level, vec![ir::Stmt::new(statement, span)]),
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
    match convert::promoted(v) {
        Value::Str(s) => parts.push(PrintPart::Text(s)),
        Value::Int(i) => parts.push(PrintPart::Value(Expr::index(i.value, at))),
        Value::Scalar(e) => parts.push(PrintPart::Value(e)),
        Value::Tuple(t) => list("{", t.into_iter().map(|i| i.value).collect(), "}", parts),
        Value::Shape(s) => list("[", s, "]", parts),
        Value::Error => return false,
        other => {
            let kind = other.kind();
            cx.report(
                Diagnostic::new(codes::E0772, at, format!("{kind} has no printed form"))
                    .label("can't be printed")
                    .help("print its elements, or its `.span`"),
            );
            return false;
        }
    }
    true
}

/// `print!`: the compiler prints the text as a note.
pub(crate) fn emit_print(el: &mut Elab<'_>, call: &CallExpr) {
    let mut text = String::new();
    let mut unknown = Vec::new();
    for a in &call.args {
        let value = el.expression(a);
        let constant = match &value {
            Value::Scalar(e) => constant(el, e),
            _ => None,
        };
        match value {
            Value::Str(s) => text.push_str(&s),
            Value::Int(i) => text.push_str(&el.f.cx.show(&i.value)),
            Value::Shape(s) => text.push_str(&shape::show(&el.f, &s)),
            Value::Tuple(t) => {
                let parts: Vec<String> = t.iter().map(|i| el.f.cx.show(&i.value)).collect();
                text.push_str(&format!("{{{}}}", parts.join(", ")));
            }
            Value::Error => return,
            _ => match constant {
                Some(value) => text.push_str(&value),
                None => {
                    unknown.push(a.span);
                    text.push_str(el.cx.file.snippet(a.span));
                }
            },
        }
    }
    el.cx.report(match unknown.split_first() {
        None => {
            Diagnostic::new(codes::N0773, call.callee.span, text).label("printed at compile time")
        }
        Some((first, others)) => {
            let text = format!("printed: {text}");
            let report =
                Diagnostic::new(codes::W0773, *first, "this value is known only at run time")
                    .label("printed as it is written")
                    .note(text);
            let others = others.iter();
            others.fold(report, |report, span| report.also(*span, "and this"))
        }
    });
}

/// A value of type `bool` or a float that the compiler knows.
fn constant(el: &Elab<'_>, value: &Expr) -> Option<String> {
    match &*value.kind {
        ExprKind::Float(value) => Some(value.to_string()),
        _ => predicates::decided(el, value.clone()).map(|value| value.to_string()),
    }
}

struct Inputs {
    syms: Vec<Sym>,
    runtime: bool,
}

impl ir::Visit for Inputs {
    fn expr(&mut self, e: &Expr) {
        self.runtime |= matches!(
            &*e.kind,
            ExprKind::Local(_) | ExprKind::Load(_) | ExprKind::Intrinsic(..) | ExprKind::Call(_)
        );
    }
    fn sym(&mut self, s: &Sym) {
        self.syms.push(s.clone());
    }
}
