//! Copies: their storages, their shapes, and the level whose threads share them (language 04).

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, FutureId, StmtKind, Transform, View};
use crate::sema::asynchronous::futures::{self, Bound};
use crate::sema::asynchronous::{copy_events, settled};
use crate::sema::build;
use crate::sema::checks::run_time;
use crate::sema::copies::{destination, legality, overlap, shapes, tma};
use crate::sema::levels::{host_kernels, instances};
use crate::sema::memory::{data, swizzles, tiles, whole};
use crate::sema::names::{hiding, scope};
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::sema::state::value::Data;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, CopyDest, CopyModifier, CopyStmt};

pub(crate) fn lower(el: &mut Elab<'_>, c: &CopyStmt, span: Span) {
    let began = el.names.walk.tick();
    let bound = futures::name_of_copy(el, c.name.as_ref());
    let done = lower_parts(el, c, &bound, span);
    if let (None, Bound::Again(id)) = (&done, &bound) {
        futures::fail(el, *id);
    }
    let (Some(name), Bound::New) = (&c.name, bound) else {
        return;
    };
    hiding::record_copy(el, name, began);
    let entity = done.flatten().map_or(Entity::Poison, Entity::Future);
    scope::declare(el, name, entity);
}

/// Lowers a copy; the result is the future that it binds, if it has a name.
fn lower_parts(
    el: &mut Elab<'_>,
    c: &CopyStmt,
    bound: &Bound,
    span: Span,
) -> Option<Option<FutureId>> {
    if !legality::check_supported(el, c) {
        return None;
    }
    let source = data::lower(el, &c.source);
    let explicit = match &c.dest {
        CopyDest::View(e) if destination::is_misspelled_storage(el, e) => return None,
        CopyDest::View(e) => Some(data::lower(el, e)),
        CopyDest::Storage(storage, at) => {
            legality::check_storage(el, *storage, *at)?;
            None
        }
    };
    let mut source = source?;
    tiles::emit_exists(el, &mut source);
    futures::emit_use(el, &source, c.source.span);
    let mut modifiers = c.modifiers.iter();
    let zfill_at = modifiers.find_map(|(m, at)| matches!(m, CopyModifier::Zfill).then_some(*at));
    let zfill = zfill_at.is_some() || source.zfill;
    let (transform, shape) = shapes::lower_transform(el, c, &source)?;
    let mut checked = Vec::new();
    let (mut dest, zero_fill) = match explicit {
        Some(dest) => {
            let mut dest = dest?;
            checked = tiles::emit_exists(el, &mut dest);
            legality::check_pair(el, &source, &dest.view, c)?;
            let sides = shapes::Sides::new(&source, &shape, &dest);
            let zero_fill = shapes::check_agree(el, &sides, c, zfill, &transform)?;
            (dest, zero_fill)
        }
        None => (
            destination::lower_destination(el, c, bound, &source, shape)?,
            zfill,
        ),
    };
    if zfill
        && !zero_fill_useful(&source.view, zero_fill, &dest.view)
        && matches!(transform, Transform::None)
    {
        let report = redundant_zfill(zfill_at.unwrap_or(c.source.span));
        el.cx.report(match zfill_at {
            Some(at) => report.suggest(at, ""),
            None => report,
        });
    }
    swizzles::ask(el, c, &dest.view)?;
    overlap::check_apart(el, &source.view, &dest.view, &transform, c.head)?;
    let cut = |v: &crate::ir::Valid| v.lo.is_some() || v.hi.is_some();
    let partial = source.view.valid.iter().any(cut);
    // A tile whose number failed its check is still read, as zeros.
    let zero_fill = zero_fill || (partial && run_time::is_reporting(el));
    let level = instances::copy_level(
        el,
        &source.view,
        &dest.view,
        c,
        matches!(c.dest, CopyDest::View(_)),
    )?;
    let views = (&mut source.view, &dest.view);
    let engine = with_facts(el, &checked, |el| {
        tma::choose_engine(el, c, views, zero_fill, level)
    })?;
    let event = c.is_async.as_ref().and_then(|a| a.1.as_ref());
    let (engine, completes) = completing(el, engine, event)?;
    // TMA fills what is beyond the data with zeros, and so do threads that copy in its place.
    let in_place_of_tma = c.engine == ast::Engine::Tma && engine.is_threads();
    let zero_fill = zero_fill || (in_place_of_tma && source.view.valid.iter().any(cut));
    whole::mark_accessed(&mut el.f, &source.view, true, false);
    whole::mark_accessed(&mut el.f, &dest.view, false, true);
    el.storage.stored.entry(dest.view.buffer).or_insert(span);
    // A copy that completes an event needs no `wait` of its own.
    let is_async = c.is_async.is_some() && event.is_none();
    let [from, to] = [&source.view, &dest.view].map(|v| el.f.buffer(v.buffer).storage);
    let at_once = legality::is_done_at_once(from, to);
    let manner = futures::Manner {
        level,
        is_async,
        at_once,
        by_tma: !engine.is_threads(),
        fresh: matches!(c.dest, CopyDest::Storage(..)),
    };
    let future = bind(el, c, bound, &mut dest, manner)?;
    let of_event = copy_events::future_of_event(el, completes, dest.view.buffer, span);
    let copy = ir::Copy {
        source: source.view,
        dest: dest.view,
        transform,
        zero_fill,
        level,
        future: of_event.or(future.filter(|_| is_async && !at_once)),
        engine,
    };
    emit(el, copy, span);
    Some(future)
}

/// Binds the name of a copy; the destination may change.
fn bind(
    el: &mut Elab<'_>,
    c: &CopyStmt,
    bound: &Bound,
    dest: &mut Data,
    manner: futures::Manner,
) -> Option<Option<FutureId>> {
    let Some(id) = future_of(el, c, bound) else {
        return Some(None);
    };
    let known = futures::get(el, id).is_some_and(|f| f.data.is_some());
    let fresh = manner.fresh;
    futures::bind(el, id, dest.clone(), manner, c.head)?;
    settled::bind_exchanged(el);
    // A placeholder may have been exchanged before its first copy, in the previous iteration.
    if fresh && !known && matches!(bound, Bound::Again(_)) {
        *dest = futures::data_of(el, id, c.head)?;
    }
    Some(Some(id))
}

/// Does something where the numbers of tiles have been checked, each with its lower bound.
fn with_facts<R>(
    el: &mut Elab<'_>,
    checked: &[(Sym, Sym)],
    f: impl FnOnce(&mut Elab<'_>) -> R,
) -> R {
    if checked.is_empty() {
        return f(el);
    }
    el.f.cx.push_scope();
    for (lo, number) in checked {
        el.f.cx.assume_le(lo, number);
    }
    let result = f(el);
    el.f.cx.pop_scope();
    result
}

/// Emits a copy; one of the host is a kernel of its own.
fn emit(el: &mut Elab<'_>, copy: ir::Copy, span: Span) {
    match el.kernel.is_some() {
        true => build::emit(el, StmtKind::Copy(copy), span),
        false => host_kernels::emit_host_kernel(el, StmtKind::Copy(copy), span),
    }
}

/// The engine, with the event that the copy completes; and the event that threads trigger after the
/// copy, which they execute.
fn completing(
    el: &mut Elab<'_>,
    mut engine: ir::Engine,
    event: Option<&ast::Expr>,
) -> Option<(ir::Engine, Option<ir::EventId>)> {
    let Some(event) = event else {
        return Some((engine, None));
    };
    let at = copy_events::event_of_copy(el, event)?;
    let mut by_threads = None;
    match &mut engine {
        ir::Engine::Tma(tma) => tma.event = Some(at),
        ir::Engine::Threads => by_threads = Some(at.event),
    }
    Some((engine, by_threads))
}

fn future_of(el: &mut Elab<'_>, c: &CopyStmt, bound: &Bound) -> Option<FutureId> {
    match (bound, &c.name) {
        (Bound::New, Some(name)) => {
            let handle = futures::handle_for(el, name);
            Some(futures::new(el, name, false, handle))
        }
        (Bound::Again(id), _) => Some(*id),
        _ => None,
    }
}

fn redundant_zfill(at: Span) -> Diagnostic {
    Diagnostic::new(codes::W0850, at, "`.zfill` is redundant here")
        .label("the tile never crosses the edge, and both shapes are equal")
        .help("remove it")
}

/// Whether zero-filling can have an effect.
fn zero_fill_useful(source: &View, zero_fill: bool, dest: &View) -> bool {
    zero_fill && (source.may_cross() || source.shape != dest.shape)
}
