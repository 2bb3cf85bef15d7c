//! Host events: one per call, triggered by the host, waited for by launches (language 06 section
//! 1).
//!
//! The triggers of an event are counted, and so are the waits of launches in the order of the
//! launches, so that each `wait` is matched with one `trigger`. For the host to count the waits, a
//! launch must execute each of its waits exactly once.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, BarrierReason, BarrierScope, Level, Signal, SignalId, Stmt, StmtKind};
use crate::sema::asynchronous::flags;
use crate::sema::build;
use crate::sema::checks::unsupported;
use crate::sema::names::scope;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::source::Span;
use crate::syntax::ast::{self, EventItem};

pub(crate) fn declare_all(
    el: &mut Elab<'_>,
    count: Option<&ast::Expr>,
    items: &[EventItem],
    span: Span,
) {
    if let Some(count) = count {
        el.cx.report(
            Diagnostic::new(
                codes::W1003,
                count.span,
                "the host triggers an event of its own, and no threads arrive there",
            )
            .label("counts nothing")
            .help("remove the number"),
        );
    }
    // Whether this list of statements is nested in another one.
    let inside = el.build.sinks.len() > 1;
    if inside {
        unsupported::report(
            &mut el.cx,
            span,
            "an event of the host inside a loop or a condition",
        );
    }
    for item in items {
        let entity = match item.array.is_empty() {
            _ if inside => Entity::Poison,
            true => Entity::Signal(declare_one(&mut el.f, item)),
            false => {
                unsupported::report(&mut el.cx, item.name.span, "an array of events of the host");
                Entity::Poison
            }
        };
        scope::declare(el, &item.name, entity);
    }
}

fn declare_one(func: &mut ir::Function, item: &EventItem) -> SignalId {
    let id = SignalId(u32::try_from(func.signals.len()).unwrap_or(u32::MAX));
    func.signals.push(Signal {
        name: item.name.text.clone(),
        span: item.name.span,
        ready: item.ready.is_some(),
    });
    id
}

/// Lowers a `wait` for an event that threads of a block do not share; false if the operand is
/// another kind of event.
pub(crate) fn wait(el: &mut Elab<'_>, e: &ast::Expr, span: Span) -> bool {
    match lower_operand(el, e) {
        Some(Entity::Signal(id)) => emit_wait(el, id, e.span, span),
        Some(Entity::Flag(at)) => flags::wait(el, at, e, span),
        Some(_) => {}
        None => return false,
    }
    true
}

/// The same for a `trigger`.
pub(crate) fn trigger(el: &mut Elab<'_>, e: &ast::Expr, cluster: bool, span: Span) -> bool {
    match lower_operand(el, e) {
        Some(Entity::Signal(_)) if el.kernel.is_some() => {
            unsupported::report(
                &mut el.cx,
                e.span,
                "a `trigger` of an event of the host by a kernel",
            );
        }
        Some(Entity::Signal(id)) => build::emit(el, StmtKind::TriggerSignal(id), span),
        Some(Entity::Flag(at)) => flags::trigger(el, at, e, cluster, span),
        Some(_) => {}
        None => return false,
    }
    true
}

/// Reports an event that no copy can complete; true if it is one.
pub(crate) fn report_not_of_a_block(el: &mut Elab<'_>, e: &ast::Expr) -> bool {
    let owner = match lower_operand(el, e) {
        Some(Entity::Signal(_)) => "the host",
        Some(Entity::Flag(_)) => "one thread",
        found => return found.is_some(),
    };
    let name = el.cx.file.snippet(e.span).to_owned();
    let text = format!("copies complete an event of a block, `{name}` is one of {owner}");
    el.cx.report(
        Diagnostic::new(codes::E1030, e.span, text)
            .label("no bytes arrive there")
            .help("declare it in the `parallel`: `shared event e;`"),
    );
    true
}

/// The entity of an operand that names such an event or some of its slots, or that is poisoned.
fn lower_operand(el: &mut Elab<'_>, e: &ast::Expr) -> Option<Entity> {
    let mut root = e;
    while let ast::ExprKind::Subscript(inner, _)
    | ast::ExprKind::At(inner, _)
    | ast::ExprKind::Paren(inner) = &*root.kind
    {
        root = inner;
    }
    let ast::ExprKind::Name(name) = &*root.kind else {
        return None;
    };
    let entity = el.names.find(name).map(|b| b.entity.clone())?;
    if !matches!(entity, Entity::Signal(_) | Entity::Flag(_) | Entity::Poison) {
        return None;
    }
    scope::lookup(el, name, root.span);
    if let (Entity::Signal(_), false) = (&entity, std::ptr::eq(root, e)) {
        el.cx.report(
            Diagnostic::new(
                codes::E0438,
                e.span,
                format!("`{name}` is one event, not an array"),
            )
            .label("can't be subscripted")
            .help(format!("write `{name}`")),
        );
        return Some(Entity::Poison);
    }
    Some(entity)
}

fn emit_wait(el: &mut Elab<'_>, signal: SignalId, at: Span, span: Span) {
    let name = el.f.signal(signal).name.clone();
    let Some(k) = el.kernel.as_ref() else {
        el.cx.report(
            Diagnostic::new(
                codes::E1007,
                at,
                format!("the host waits for `{name}`, which only it triggers"),
            )
            .label("waits for itself")
            .help("`sync.global;` waits for launches"),
        );
        return;
    };
    let path = &el.path;
    let once =
        !path.is_divergent() && !path.in_region() && !path.in_loop() && path.is_certain_in_kernel();
    if !once {
        el.cx.report(
            Diagnostic::new(
                codes::E1046,
                at,
                format!(
                    "a launch may execute this `wait` for `{name}` more than once, or not at all"
                ),
            )
            .label("in a loop, under a condition, or for some of the threads")
            .also(
                k.header,
                "each launch waits for one `trigger` of the host here",
            )
            .help("move it out, so that all threads execute it once"),
        );
        return;
    }
    let Some(k) = el.kernel.as_mut() else {
        return;
    };
    let count = k.awaited.entry(signal).or_default();
    let ordinal = *count;
    *count += 1;
    let level = Level::Block;
    let body = vec![Stmt::new(StmtKind::AwaitSignal { signal, ordinal }, span)];
    build::emit(el, ir::build::once(level, body), span);
    let (scope, why) = (BarrierScope::Block, BarrierReason::Written);
    build::emit(el, StmtKind::Barrier { scope, why }, span);
}
