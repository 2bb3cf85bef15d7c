//! `__atomic_add(x.at(i), v)` and the others: operations on one element that no access of another
//! thread can interrupt.
//!
//! Outside of any inner level one thread executes them, as it does updates. All threads of its unit
//! get the result through a word of shared memory; the pass that places barriers inserts the
//! barriers that this needs.

use crate::diagnostics::{Diagnostic, codes, nearest};
use crate::ir::{
    Access, Atomic, AtomicOp, Expr, ExprKind, Level, Role, Scalar, Stmt, StmtKind, Storage,
};
use crate::sema::build;
use crate::sema::checks::unsupported;
use crate::sema::levels::instances;
use crate::sema::memory::guards::{self, guarded, guarded_result};
use crate::sema::memory::{access, whole};
use crate::sema::names::scope;
use crate::sema::state::cx::{self, Cx};
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::sema::state::value::Value;
use crate::sema::statements::device_calls;
use crate::sema::values::convert;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, CallExpr};

const PREFIX: &str = "__atomic_";

/// The names of all operations in Croqtile.
pub(crate) const NAMES: [&str; 9] = [
    "__atomic_add",
    "__atomic_sub",
    "__atomic_exch",
    "__atomic_min",
    "__atomic_max",
    "__atomic_and",
    "__atomic_or",
    "__atomic_xor",
    "__atomic_cas",
];

fn operation(name: &str) -> Option<AtomicOp> {
    let rest = name.strip_prefix(PREFIX)?;
    AtomicOp::ALL.into_iter().find(|op| op.name() == rest)
}

pub(crate) fn is_atomic(call: &CallExpr) -> bool {
    operation(&call.callee.text).is_some()
}

/// Lowers an operation that is a statement, for its effect.
pub(crate) fn lower_statement(el: &mut Elab<'_>, call: &CallExpr, span: Span) {
    let Some((atomic, guard)) = lower(el, call, span) else {
        return;
    };
    let statement = guarded(guard, StmtKind::Atomic(atomic), span);
    match el.level() {
        Some(level) if level != Level::Thread => {
            let body = vec![Stmt::new(statement, span)];
            build::emit(el, crate::ir::build::once(level, body), span);
        }
        _ => build::emit(el, statement, span),
    }
}

/// Lowers an operation on the right side of an assignment: the value is the element's previous one.
pub(crate) fn lower_value(el: &mut Elab<'_>, call: &CallExpr, span: Span) -> Value {
    let Some((mut atomic, guard)) = lower(el, call, span) else {
        return Value::Error;
    };
    let ty = el.f.buffer(atomic.access.view.buffer).elem;
    let result = build::new_local(&mut el.f, "before", ty, guard.is_some(), Role::Value, span);
    let statements = match guard {
        None => {
            atomic.result = Some(result);
            vec![StmtKind::Atomic(atomic)]
        }
        Some(guard) => {
            let inner = build::new_local(&mut el.f, "old", ty, false, Role::Value, span);
            atomic.result = Some(inner);
            let operation = StmtKind::Atomic(atomic);
            guarded_result(guard, operation, inner, result, ty, span).into()
        }
    };
    let value = Expr::new(ExprKind::Local(result), ty, span);
    let level = el.level().unwrap_or(Level::Block);
    if level == Level::Thread {
        el.build.vary(result, Level::Thread);
        for statement in statements {
            build::emit(el, statement, span);
        }
        return Value::Scalar(value);
    }
    if level == Level::Cluster {
        unsupported::report(
            &mut el.cx,
            span,
            "using the result of an atomic operation at cluster level",
        );
        return Value::Error;
    }
    instances::warn_if_some_have_left(
        el,
        span,
        "an atomic operation that broadcasts its result to all threads",
    );
    if el.path.in_region() && !by_whole_units(el, level) {
        let what = match el.path.region_threads() {
            Some(_) => "the result of an atomic operation by parts of a warp or warpgroup",
            None => "the result of an atomic operation by threads that are known only at run time",
        };
        let remedy = "let one thread execute it (`inthreads (t == 0)`), and store the result to `shared` memory";
        unsupported::report_with_remedy(&mut el.cx, span, what, Some(remedy));
        return Value::Error;
    }
    match broadcast(el, level, statements, value, span) {
        Some(value) => Value::Scalar(value),
        None => Value::Error,
    }
}

/// Whether a region of threads consists of whole warps or warpgroups, for code at their level.
fn by_whole_units(el: &Elab<'_>, level: Level) -> bool {
    let threads = el.path.region_threads();
    let unit = level.threads_together();
    threads
        .zip(unit)
        .is_some_and(|(set, unit)| set.is_whole(unit))
}

/// One thread of each unit executes the operation; the others read the result from a word of shared
/// memory.
fn broadcast(
    el: &mut Elab<'_>,
    level: Level,
    atomic: Vec<StmtKind>,
    value: Expr,
    span: Span,
) -> Option<Expr> {
    let units = instances::count_of(el, level, span)?;
    let (ty, storage) = (value.ty, Storage::Shared);
    let id = build::new_buffer(
        &mut el.f,
        build::NewBuffer {
            name: "before",
            elem: ty,
            storage,
            shape: vec![Sym::one()],
            copies: units,
            span,
        },
    );
    build::emit(el, StmtKind::Alloc(id), span);
    let mut word = access::access_word(el, id, span);
    word.view.offset = instances::number_of(el, level);
    whole::mark_accessed(&mut el.f, &word.view, true, true);
    let store = StmtKind::Store {
        access: word.clone(),
        op: None,
        value,
    };
    let body = atomic.into_iter().chain([store]);
    let body = body.map(|kind| Stmt::new(kind, span)).collect();
    build::emit(el, crate::ir::build::once(level, body), span);
    Some(Expr::new(ExprKind::Load(word), ty, span))
}

/// Reports an atomic operation in a place where its value cannot be used.
pub(crate) fn report_misplaced(el: &mut Elab<'_>, call: &CallExpr, span: Span) -> Value {
    if lower(el, call, span).is_some() {
        let name = &call.callee.text;
        el.cx.report(
            Diagnostic::new(
                codes::E0313,
                span,
                format!("what `{name}` gives can only be assigned to a mutable"),
            )
            .label("not the right side of such an assignment")
            .help(format!(
                "write `mutable before = {};` first",
                cx::source_text(&el.cx, span, "__atomic_add(…)")
            )),
        );
    }
    Value::Error
}

pub(crate) fn report_unknown(cx: &mut Cx<'_>, name: &str, at: Span) {
    let mut d = Diagnostic::new(codes::E0208, at, format!("`{name}` is not a builtin"))
        .label("no atomic operation");
    if let Some(near) = nearest(name, NAMES) {
        d = d.help(format!("did you mean `{near}`?"));
    }
    cx.report(d);
}

/// The operation, and the condition under which it is executed.
fn lower(el: &mut Elab<'_>, call: &CallExpr, span: Span) -> Option<(Atomic, Option<Expr>)> {
    let name = call.callee.text.as_str();
    let op = operation(name)?;
    let wanted = if op == AtomicOp::Cas { 3 } else { 2 };
    if !call.targs.is_empty() {
        el.cx.report(
            Diagnostic::new(
                codes::E0775,
                span,
                format!("`{name}` takes no template arguments"),
            )
            .label("a builtin"),
        );
        return None;
    }
    if call.args.len() != wanted {
        let shape = match op {
            AtomicOp::Cas => "(x.at(i), compare, value)",
            _ => "(x.at(i), value)",
        };
        el.cx.report(
            Diagnostic::new(
                codes::E1043,
                span,
                format!(
                    "`{name}` takes {wanted} arguments, {} given",
                    call.args.len()
                ),
            )
            .label(format!("expected {wanted}"))
            .help(format!("write `{name}{shape}`")),
        );
        return None;
    }
    let (first, rest) = call.args.split_first()?;
    let access = lower_element(el, name, first);
    let guard = guards::take(el);
    let operands: Vec<(Value, Span)> = rest.iter().map(|e| (el.expression(e), e.span)).collect();
    let access = access?;
    let buffer = el.f.buffer(access.view.buffer);
    let (elem, declared) = (buffer.elem, buffer.span);
    let shown = buffer.name.clone();
    if buffer.storage.is_private() {
        el.cx.report(
            Diagnostic::new(
                codes::E1041,
                first.span,
                format!("`{shown}` is private to each thread: no other thread accesses it"),
            )
            .label("`local` memory")
            .also(declared, "declared here")
            .help("update it as usual, or put it into `shared` memory"),
        );
        return None;
    }
    if !op.types().contains(&elem) {
        let all: Vec<&str> = op.types().iter().map(|t| t.name()).collect();
        el.cx.report(
            Diagnostic::new(
                codes::E1043,
                span,
                format!("`{name}` is not for elements of type {}", elem.name()),
            )
            .label(format!("`{shown}` has {}", elem.name()))
            .also(declared, "declared here")
            .help(format!("it is for {}", all.join(", "))),
        );
        return None;
    }
    let mut operands = operands.into_iter();
    let compare = match op {
        AtomicOp::Cas => Some(lower_operand(el, operands.next()?, elem, &shown)?),
        _ => None,
    };
    let value = lower_operand(el, operands.next()?, elem, &shown)?;
    whole::mark_accessed(&mut el.f, &access.view, true, true);
    el.storage.stored.entry(access.view.buffer).or_insert(span);
    let atomic = Atomic {
        op,
        access,
        compare,
        value,
        result: None,
    };
    Some((atomic, guard))
}

fn lower_element(el: &mut Elab<'_>, name: &str, e: &ast::Expr) -> Option<Access> {
    let what = match &*e.kind {
        ast::ExprKind::At(base, indices) => {
            return access::lower_in_kernel(el, base, indices, e.span);
        }
        ast::ExprKind::Name(text) => match scope::lookup(el, text, e.span)? {
            Entity::Word(id) => return Some(access::access_word(el, id, e.span)),
            Entity::Poison => return None,
            other => format!("`{text}` is {}", other.kind()),
        },
        _ => match el.expression(e) {
            Value::Error => return None,
            other => format!("this is {}", other.kind()),
        },
    };
    el.cx.report(
        Diagnostic::new(
            codes::E1040,
            e.span,
            format!("`{name}` works on an element of a buffer, {what}"),
        )
        .label("not in memory that threads share")
        .help("name an element, such as `total.at(0)`"),
    );
    None
}

/// The operand has exactly the element's type; a number without a type of its own gets it.
fn lower_operand(
    el: &mut Elab<'_>,
    (value, at): (Value, Span),
    elem: Scalar,
    buffer: &str,
) -> Option<Expr> {
    let (given, number) = match &value {
        Value::Error => return None,
        Value::Int(_) if elem.is_integer() => return convert::convert(el, value, elem, at),
        Value::Scalar(e) if e.ty == elem => return convert::convert(el, value, elem, at),
        Value::Scalar(e) => (e.ty.name().to_owned(), true),
        Value::Int(_) => (value.kind(), true),
        other => (other.kind(), false),
    };
    let own = elem.name();
    let d = Diagnostic::new(
        codes::E1042,
        at,
        format!("`{buffer}` has elements of type {own}, this is {given}"),
    );
    let text = cx::source_text(&el.cx, at, "…");
    el.cx.report(if number {
        d.label("an atomic operation converts nothing")
            .help(format!("write `__to<{own}>({text})`"))
    } else {
        d.label("not a number")
    });
    None
}

/// The call, if an expression is an atomic operation and nothing else.
pub(crate) fn as_update<'e>(cx: &Cx<'_>, e: &'e ast::Expr) -> Option<&'e CallExpr> {
    match &*e.kind {
        ast::ExprKind::Call(call) if is_atomic(call) && !device_calls::is_device_call(cx, call) => {
            Some(call)
        }
        _ => None,
    }
}
