//! Host events: one per call, triggered by the host, waited for by launches (language 06 section
//! 1).
//!
//! The triggers of an event are counted, and so are the waits of launches in the order of the
//! launches, so that each `wait` is matched with one `trigger`. For the host to count the waits, a
//! launch must execute each of its waits exactly once.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{
    self, BarrierReason, BarrierScope, Level, Signal, SignalAt, SignalId, Stmt, StmtKind,
};
use crate::sema::asynchronous::{flags, slots};
use crate::sema::build;
use crate::sema::checks::unsupported;
use crate::sema::levels::uniformity;
use crate::sema::memory::arrays;
use crate::sema::names::scope;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, EventItem};

/// The most events of an array: each is an object of the host.
const MOST_EVENTS: u64 = 64;

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
        let what = "an event of the host inside a loop or a condition";
        let remedy = "declare it at the beginning of the function: its triggers and waits are counted, \
                      also those of a loop";
        unsupported::report_with_remedy(&mut el.cx, span, what, Some(remedy));
    }
    for item in items {
        let entity = match inside {
            true => None,
            false => declare_one(el, item),
        };
        scope::declare(
            el,
            &item.name,
            entity.map_or(Entity::Poison, Entity::Signal),
        );
    }
}

fn declare_one(el: &mut Elab<'_>, item: &EventItem) -> Option<SignalId> {
    let mut array = Vec::new();
    for extent in &item.array {
        array.push(arrays::array_extent(el, extent, "event")?);
    }
    let count = arrays::elements_of(&array);
    if count > MOST_EVENTS {
        let what = format!("an array of more than {MOST_EVENTS} events of the host");
        unsupported::report(&mut el.cx, item.name.span, &what);
        return None;
    }
    let id = SignalId(u32::try_from(el.f.signals.len()).unwrap_or(u32::MAX));
    let count = u32::try_from(count).unwrap_or(1);
    el.f.signals.push(Signal {
        name: item.name.text.clone(),
        span: item.name.span,
        slots: (!array.is_empty()).then_some(count),
        ready: item.ready.is_some(),
    });
    el.asynchronous.events.arrays_of_the_host.insert(id, array);
    Some(id)
}

/// Lowers a `wait` for an event that threads of a block do not share; false if the operand is
/// another kind of event.
pub(crate) fn wait(el: &mut Elab<'_>, e: &ast::Expr, span: Span) -> bool {
    match lower_operand(el, e) {
        Some(Entity::Signal(id)) => {
            for at in events_of(el, id, e).unwrap_or_default() {
                emit_wait(el, at, e.span, span);
            }
        }
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
            let what = "a `trigger` of an event of the host by a kernel";
            let remedy = "launches run in their order: trigger it on the host, behind the launch";
            unsupported::report_with_remedy(&mut el.cx, e.span, what, Some(remedy));
        }
        Some(Entity::Signal(id)) => {
            for at in events_of(el, id, e).unwrap_or_default() {
                build::emit(el, StmtKind::TriggerSignal(at), span);
            }
        }
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
    Some(entity)
}

/// The events that an operand names: one, one of an array, or all of an array.
fn events_of(el: &mut Elab<'_>, id: SignalId, e: &ast::Expr) -> Option<Vec<SignalAt>> {
    let signal = el.f.signal(id).clone();
    let known = &el.asynchronous.events.arrays_of_the_host;
    let array = known.get(&id).cloned().unwrap_or_default();
    let (mut e, span) = (e, e.span);
    while let ast::ExprKind::Paren(inner) = &*e.kind {
        e = inner;
    }
    let slot = match &*e.kind {
        ast::ExprKind::Name(_) => {
            let count = i64::from(signal.slots.unwrap_or(1));
            let at = |slot| SignalAt {
                signal: id,
                slot: Sym::int(slot),
            };
            return Some((0..count).map(at).collect());
        }
        ast::ExprKind::At(_, args) => {
            let order = slots::lower_order(el, &signal.name, &array, (args, span), false)?;
            let count = Sym::int(i64::from(signal.slots.unwrap_or(1)));
            el.f.cx.rem(&order, &count)
        }
        _ => {
            let mut subscripts = Vec::new();
            while let ast::ExprKind::Subscript(inner, list) = &*e.kind {
                subscripts.splice(0..0, list.iter());
                e = inner;
            }
            slots::slot_at(el, &signal.name, &array, &subscripts, span)?
        }
    };
    let at = SignalAt { signal: id, slot };
    Some(vec![chosen_by_the_host(el, at, span)?])
}

/// The host counts the waits of a launch before it starts.
fn chosen_by_the_host(el: &mut Elab<'_>, at: SignalAt, span: Span) -> Option<SignalAt> {
    let vars = at.slot.vars();
    let known = vars.iter().all(|v| uniformity::is_host_known(el, *v));
    let count = Sym::int(i64::from(el.f.signal(at.signal).slots.unwrap_or(1)));
    let inside =
        el.f.cx.le(&Sym::zero(), &at.slot).is_yes() && el.f.cx.lt(&at.slot, &count).is_yes();
    // On the host a check comes first.
    if el.kernel.is_none() || (known && inside) {
        return Some(at);
    }
    let what = "a `wait` of a kernel for an event of the host that is not chosen before the launch";
    let remedy = "subscript it by a constant, or by a variable of a loop of the host";
    unsupported::report_with_remedy(&mut el.cx, span, what, Some(remedy));
    None
}

fn emit_wait(el: &mut Elab<'_>, signal: SignalAt, at: Span, span: Span) {
    let name = el.f.signal(signal.signal).name.clone();
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
    let count = k.awaited.entry(signal.clone()).or_default();
    let ordinal = *count;
    *count += 1;
    let level = Level::Block;
    let body = vec![Stmt::new(StmtKind::AwaitSignal { signal, ordinal }, span)];
    build::emit(el, ir::build::once(level, body), span);
    let (scope, why) = (BarrierScope::Block, BarrierReason::Written);
    build::emit(el, StmtKind::Barrier { scope, why }, span);
}
