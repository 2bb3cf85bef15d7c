//! `wait f, e;` and `… after f`.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{FutureId, Level, StmtKind, Storage, Waited};
use crate::sema::asynchronous::{copy_events, early, events, futures, rebound, signals, slots};
use crate::sema::build;
use crate::sema::levels::instances;
use crate::sema::names::scope;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::sema::state::value::Value;
use crate::sema::tensor_cores::warpgroup;
use crate::source::Span;
use crate::syntax::ast::{self, Name};

/// `wait f, g;`
pub(crate) fn lower_wait(el: &mut Elab<'_>, operands: &[ast::Expr], span: Span) {
    let mut ids = Vec::new();
    for operand in operands {
        if signals::wait(el, operand, span) {
            continue;
        }
        if slots::event_named(el, operand).is_some() {
            emit_waits(el, &std::mem::take(&mut ids), span);
            events::wait(el, operand, span);
            continue;
        }
        let ast::ExprKind::Name(name) = &*operand.kind else {
            let text = el.cx.file.snippet(operand.span).to_owned();
            el.cx.report(
                Diagnostic::new(
                    codes::E1014,
                    operand.span,
                    format!("`wait` takes futures and events, `{text}` is neither"),
                )
                .label("nothing to wait for"),
            );
            continue;
        };
        match scope::lookup(el, name, operand.span) {
            Some(Entity::Future(id)) => ids.push((id, operand.span)),
            Some(Entity::Operation(id)) => {
                emit_waits(el, &std::mem::take(&mut ids), span);
                warpgroup::wait_for_product(el, id, operand.span);
            }
            Some(Entity::Poison) | None => {}
            Some(Entity::Chosen(_)) => el.cx.report(
                Diagnostic::new(
                    codes::E1014,
                    operand.span,
                    format!("`{name}` is the data of one of several copies, chosen by `select`"),
                )
                .label("not a copy")
                .help("wait for the copies that it may select"),
            ),
            Some(other) => {
                let kind = other.kind();
                let mut d = Diagnostic::new(
                    codes::E1014,
                    operand.span,
                    format!("`wait` takes futures and events, `{name}` is {kind}"),
                )
                .label("nothing to wait for");
                if matches!(other, Entity::Buffer { .. } | Entity::View(_)) {
                    d = d.help(format!(
                        "wait for a copy by its own name: `f = dma.copy.async … => {name};`, then `wait f;`"
                    ));
                }
                el.cx.report(d);
            }
        }
    }
    emit_waits(el, &ids, span);
}

/// The `inthreads` around a copy, if it is not around this statement.
fn region_of_copy(el: &Elab<'_>, id: FutureId) -> Option<Span> {
    let here = futures::regions_around(el);
    let copied = &futures::get(el, id)?.regions;
    let apart = copied.iter().find(|region| !here.contains(region))?;
    Some(apart.span)
}

/// Whether the copy is a load by TMA, for whose bytes any thread may wait. Those of exchanged futures
/// have an mbarrier that is exchanged with the tile.
fn has_mbarrier(el: &Elab<'_>, id: FutureId) -> bool {
    let Some(future) = futures::get(el, id) else {
        return false;
    };
    let dest = future.data.as_ref().map(|data| data.view.buffer);
    let dest = dest.and_then(|id| el.f.buffers.get(id.index()));
    let shared = dest.is_some_and(|buffer| buffer.storage == Storage::Shared);
    future.by_tma && future.is_async && future.handle.is_none() && shared
}

pub(crate) fn report_bound(el: &mut Elab<'_>, id: FutureId, at: Span, bound: Span) {
    let name = futures::get(el, id).map_or("", |f| &f.name);
    el.cx.report(
        Diagnostic::new(
            codes::E1035,
            at,
            format!("the copy `{name}` completes an event: it can't be waited for as well"),
        )
        .label("arrives at the event")
        .also(bound, "bound here")
        .help("wait for the event"),
    );
}

pub(crate) fn report_apart(el: &mut Elab<'_>, id: FutureId, at: Span, apart: Span) {
    let name = futures::get(el, id).map_or("", |f| &f.name);
    el.cx.report(
        Diagnostic::new(
            codes::E0842,
            at,
            format!("threads wait for `{name}` here that have no part in the copy"),
        )
        .label("other threads than copied")
        .also(apart, "only these copy")
        .help("wait inside this `inthreads`, and signal the other threads with an event"),
    );
}

pub(crate) fn report_synchronous(el: &mut Elab<'_>, id: FutureId, at: Span) {
    let Some(future) = futures::get(el, id) else {
        return;
    };
    let (name, declared, by_tma) = (&future.name, future.span, future.by_tma);
    el.cx.report(
        Diagnostic::new(
            codes::E0843,
            at,
            format!("the copy `{name}` is synchronous"),
        )
        .label("has arrived already")
        .also(declared, "copied here, without `.async`")
        .help(format!(
            "remove the `wait`, or write `{}.copy.async`",
            if by_tma { "tma" } else { "dma" }
        )),
    );
}

pub(crate) fn emit_waits(el: &mut Elab<'_>, ids: &[(FutureId, Span)], span: Span) {
    let (mut futures, mut boxes) = (Vec::new(), Vec::new());
    for (id, at) in ids.iter().copied() {
        let Some(future) = futures::get(el, id) else {
            continue;
        };
        let (level, at_once) = (future.level, future.at_once);
        let empty = el.kernel.is_some() && future.data.is_none() && !future.failed;
        let (by_tma, sync) = (future.by_tma, future.data.is_some() && !future.is_async);
        let list = if by_tma { &mut boxes } else { &mut futures };
        if let Some(bound) = copy_events::completed_event(el, id) {
            report_bound(el, id, at, bound);
            continue;
        }
        if let Some(apart) = region_of_copy(el, id) {
            if !has_mbarrier(el, id) {
                report_apart(el, id, at, apart);
                continue;
            }
            el.asynchronous.events.elsewhere.insert(id);
        }
        el.asynchronous.events.waited.entry(id).or_insert(at);
        if empty {
            early::wait(el, id, at, span);
            continue;
        }
        if sync {
            report_synchronous(el, id, at);
            continue;
        }
        if at_once {
            el.asynchronous.waits_for_nothing += 1;
            continue;
        }
        let views = match rebound::waited_views(el, id, at) {
            Some(views) => views,
            None => match futures::value_of(el, id, at) {
                Value::Data(data) => vec![data.view],
                _ => continue,
            },
        };
        list.extend(views.into_iter().map(|view| Waited {
            future: id,
            view,
            level,
            arrival: None,
        }));
        if level != Level::Thread {
            instances::warn_if_some_have_left(el, span, "a `wait`");
        }
    }
    if !futures.is_empty() {
        let pending = None;
        build::emit(el, StmtKind::Wait { futures, pending }, span);
    }
    if !boxes.is_empty() {
        build::emit(el, StmtKind::WaitTma { futures: boxes }, span);
    }
}

/// `… after g`
pub(crate) fn lower_after(el: &mut Elab<'_>, name: &Name) {
    let entity = scope::lookup(el, &name.text, name.span);
    if let Some(Entity::Future(id)) = entity
        && futures::get(el, id).is_some_and(|f| f.is_async)
    {
        return emit_waits(el, &[(id, name.span)], name.span);
    }
    let kind = match entity {
        Some(Entity::Poison) | None => return,
        Some(Entity::Future(_)) => "a synchronous copy",
        Some(ref other) => other.kind(),
    };
    el.cx.report(
        Diagnostic::new(
            codes::E0876,
            name.span,
            format!(
                "`after` names an asynchronous copy, `{}` is {kind}",
                name.text
            ),
        )
        .label("no copy is listed"),
    );
}
