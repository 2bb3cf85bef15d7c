//! Copies that complete events.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{BufferId, EventAt, EventId, FutureId, Slot, Storage};
use crate::sema::asynchronous::{events, futures, signals, slots};
use crate::sema::names::scope;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::source::Span;
use crate::syntax::ast::{self, Name};

/// A copy that a `trigger … after` names.
pub(crate) enum Named {
    /// By TMA: its bytes complete the event.
    Completes,
    /// By threads, which wait for it before they trigger the event.
    Awaited(FutureId),
}

/// Binds the event `at` to the copy with this name, if it will complete it.
pub(crate) fn bind_copy(el: &mut Elab<'_>, name: &Name, at: &EventAt, span: Span) -> Option<Named> {
    let id = match scope::lookup(el, &name.text, name.span)? {
        Entity::Poison => return None,
        Entity::Future(id) => id,
        Entity::Operation(_) => {
            let text = format!(
                "`{}` is an asynchronous MMA, only its warpgroup can wait for it",
                name.text
            );
            el.cx.report(
                Diagnostic::new(codes::E1033, name.span, text)
                    .label("completes no event")
                    .help(format!(
                        "write `wait {};`, and then a plain `trigger`",
                        name.text
                    )),
            );
            return None;
        }
        other => {
            let text = format!(
                "`{}` is {}, not an asynchronous copy",
                name.text,
                other.kind()
            );
            el.cx
                .report(Diagnostic::new(codes::E1037, name.span, text).label("completes nothing"));
            return None;
        }
    };
    let future = futures::get(el, id)?;
    let (is_async, by_tma, any) = (future.is_async, future.by_tma, future.any);
    let dest = future.data.as_ref().map(|d| d.view.buffer);
    let dest = dest.and_then(|id| el.f.buffers.get(id.index()));
    let stores = by_tma && dest.is_some_and(|b| b.storage.is_global());
    let problem = match (is_async, by_tma) {
        _ if stores => Some((
            codes::E1032,
            "is a store: it completes no event",
            "it is over here; a plain `trigger` is enough",
        )),
        (false, _) => Some((
            codes::E1037,
            "is synchronous: it has arrived already",
            "a plain `trigger` is enough",
        )),
        (true, _) if any => Some((
            codes::E1037,
            "is a placeholder: which of its copies is meant changes",
            "name the event at the copy: `tma.copy.async<e> …`",
        )),
        _ => None,
    };
    if let Some((code, what, help)) = problem {
        el.cx.report(
            Diagnostic::new(code, name.span, format!("`{}` {what}", name.text))
                .label("completes no event")
                .help(help),
        );
        return None;
    }
    if let Some(before) = el.asynchronous.events.waited.get(&id).copied() {
        el.cx.report(
            Diagnostic::new(
                codes::E1034,
                name.span,
                format!("`{}` was waited for already", name.text),
            )
            .label("has arrived")
            .also(before, "waited for here")
            .help("remove the `wait`, or write a plain `trigger`"),
        );
        return None;
    }
    if let Some((_, before)) = el.asynchronous.events.bound.get(&id).cloned() {
        el.cx.report(
            Diagnostic::new(
                codes::E1035,
                name.span,
                format!("`{}` completes another event already", name.text),
            )
            .label("a copy arrives once")
            .also(before, "taken here"),
        );
        return None;
    }
    if !by_tma {
        return Some(Named::Awaited(id));
    }
    el.asynchronous.events.bound.insert(id, (at.clone(), span));
    Some(Named::Completes)
}

/// A name for a copy by threads into `dest`, after which they trigger the event. A store has none: it
/// is complete at once.
pub(crate) fn future_of_event(
    el: &mut Elab<'_>,
    event: Option<EventId>,
    dest: BufferId,
    span: Span,
) -> Option<FutureId> {
    let event = event?;
    let dest = el.f.buffer(dest);
    if dest.storage != Storage::Shared {
        return None;
    }
    // With a space, it is no name of the program.
    let text = format!("into {}", dest.name);
    let id = futures::new(el, &Name { text, span }, false, None);
    el.asynchronous.events.completing.insert(id, event);
    Some(id)
}

/// Whether a named copy completes an event, so that it needs no `wait`.
pub(crate) fn completed_event(el: &Elab<'_>, id: FutureId) -> Option<Span> {
    el.asynchronous.events.bound.get(&id).map(|(_, at)| *at)
}

/// The event in the header of a copy: `tma.copy.async<e[s]>`.
pub(crate) fn event_of_copy(el: &mut Elab<'_>, e: &ast::Expr) -> Option<EventAt> {
    if signals::report_not_of_a_block(el, e) {
        return None;
    }
    if slots::event_named(el, e).is_none() {
        let v = el.cx.file.snippet(e.span).to_owned();
        el.cx.report(
            Diagnostic::new(
                codes::E1014,
                e.span,
                format!("a copy completes an event, `{v}` is none"),
            )
            .label("not an event")
            .help("declare it: `shared event e;`"),
        );
        return None;
    }
    let at = events::lower_operand(el, e, true)?;
    if at.slot == Slot::All {
        let name = el.f.event(at.event).name.clone();
        el.cx.report(
            Diagnostic::new(
                codes::E1030,
                e.span,
                format!("`{name}` is an array of events: a copy completes one slot"),
            )
            .label("which one?")
            .help(format!("name it: `{name}[s]`")),
        );
        return None;
    }
    Some(at)
}
