//! `trigger e;` and `trigger e after f;`.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::Slot;
use crate::sema::asynchronous::copy_events::Named;
use crate::sema::asynchronous::{copy_events, events, signals, wait};
use crate::sema::levels::cluster_legality;
use crate::sema::state::elab::Elab;
use crate::source::Span;
use crate::syntax::ast::{self, Name};

pub(crate) fn trigger(
    el: &mut Elab<'_>,
    cluster: bool,
    events: &[ast::Expr],
    after: &[Name],
    span: Span,
) {
    let cluster =
        cluster && el.kernel.is_some() && cluster_legality::check_trigger(el, after, span);
    if !after.is_empty() {
        if events.iter().any(|e| signals::report_not_of_a_block(el, e)) {
            return;
        }
        trigger_after(el, events, after, span);
        return;
    }
    for e in events {
        if signals::trigger(el, e, cluster, span) {
            continue;
        }
        if let Some(mut at) = events::lower_trigger_operand(el, e, false) {
            at.cluster = cluster;
            if let (true, Some(event)) = (cluster, el.f.events.get_mut(at.event.index())) {
                event.clustered = true;
            }
            events::arrive(el, at, span);
        }
    }
}

/// `trigger e after f, g;`
fn trigger_after(el: &mut Elab<'_>, events: &[ast::Expr], after: &[Name], span: Span) {
    let [event] = events else {
        el.cx.report(
            Diagnostic::new(codes::E1030, span, "copies complete one event")
                .label(format!("{} events", events.len()))
                .help("write `trigger e after f;`, and trigger the others on their own"),
        );
        return;
    };
    let Some(at) = events::lower_trigger_operand(el, event, after.len() > 1) else {
        return;
    };
    if at.slot == Slot::All {
        let name = el.f.event(at.event).name.clone();
        el.cx.report(
            Diagnostic::new(
                codes::E1030,
                event.span,
                format!("`{name}` is an array of events: copies complete one slot"),
            )
            .label("which one?")
            .help(format!("name it: `{name}[s]`")),
        );
        return;
    }
    let (mut ok, mut awaited) = (true, Vec::new());
    for name in after {
        match copy_events::bind_copy(el, name, &at, span) {
            Some(Named::Completes) => {}
            Some(Named::Awaited(id)) => awaited.push((id, name.span)),
            None => ok = false,
        }
    }
    if ok {
        wait::emit_waits(el, &awaited, span);
        events::arrive(el, at, span);
    }
}
