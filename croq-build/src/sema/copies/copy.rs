//! Copies: which storages, which shapes, whose threads (language 04).

use crate::diagnostics::Diagnostic;
use crate::ir::{self, FutureId, Level, StmtKind, Storage, Transform, Valid, View};
use crate::sema::asynchronous::futures::{self, Bound};
use crate::sema::asynchronous::{copy_events, wait};
use crate::sema::build;
use crate::sema::checks::run_time;
use crate::sema::copies::{shapes, sparse, tma};
use crate::sema::levels::{cluster_legality, host_kernels, instances, uniformity};
use crate::sema::memory::whole::{self, dense_strides};
use crate::sema::memory::{buffers, data, swizzles, tiles};
use crate::sema::names::scope;
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::sema::state::value::Data;
use crate::sema::values::shape;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, CopyDest, CopyModifier, CopyStmt};

pub(crate) fn lower(el: &mut Elab<'_>, c: &CopyStmt, span: Span) {
    let bound = futures::name_of_copy(el, c.name.as_ref());
    let done = lower_parts(el, c, &bound, span);
    let (Some(name), Bound::New) = (&c.name, bound) else {
        return;
    };
    let entity = done.flatten().map_or(Entity::Poison, Entity::Future);
    scope::declare(el, name, entity);
}

/// The future that a named copy makes.
fn lower_parts(
    el: &mut Elab<'_>,
    c: &CopyStmt,
    bound: &Bound,
    span: Span,
) -> Option<Option<FutureId>> {
    if !check_supported(el, c) {
        return None;
    }
    let source = data::lower(el, &c.source);
    let explicit = match &c.dest {
        CopyDest::View(e) => Some(data::lower(el, e)),
        CopyDest::Storage(storage, at) => {
            check_storage(el, *storage, *at)?;
            None
        }
    };
    let mut source = source?;
    tiles::emit_exists(el, &mut source);
    futures::emit_use(el, &source, c.source.span);
    let mut modifiers = c.modifiers.iter();
    let zfill_at = modifiers.find_map(|(m, at)| matches!(m, CopyModifier::Zfill).then_some(*at));
    let zfill = zfill_at.is_some() || source.zfill;
    let transform = shapes::lower_transform(el, c, &source)?;
    let shape = shapes::moved_shape(&source.view.shape, &transform, c);
    let (mut dest, zero_fill) = match explicit {
        Some(dest) => {
            let mut dest = dest?;
            tiles::emit_exists(el, &mut dest);
            check_pair(el, &source, &dest.view, c)?;
            let zero_fill = shapes::check_agree(el, &shape, &dest, c, zfill, &transform)?;
            (dest, zero_fill)
        }
        None => (lower_destination(el, c, bound, &source, shape)?, zfill),
    };
    if zfill
        && !zero_fill_useful(&source.view, zero_fill, &dest.view)
        && matches!(transform, Transform::None)
    {
        report_redundant_zfill(&mut el.cx, zfill_at.unwrap_or(c.source.span));
    }
    swizzles::ask(el, c, &dest.view)?;
    let cut = |v: &crate::ir::Valid| v.lo.is_some() || v.hi.is_some();
    let partial = source.view.valid.iter().any(cut);
    // A tile whose number has failed its check is read all the same, as zeros.
    let zero_fill = zero_fill || (partial && run_time::is_reporting(el));
    if partial && !zero_fill && c.engine == ast::Engine::Dma {
        el.storage.cut_off.entry(dest.view.buffer).or_insert(c.head);
    }
    let level = instances::copy_level(
        el,
        &source.view,
        &dest.view,
        c,
        matches!(c.dest, CopyDest::View(_)),
    )?;
    let mut engine = tma::choose_engine(el, c, &source.view, &dest.view, zero_fill, level)?;
    let event = c.is_async.as_ref().and_then(|a| a.1.as_ref());
    if let (Some(event), ir::Engine::Tma(tma)) = (event, &mut engine) {
        tma.event = Some(copy_events::event_of_copy(el, event)?);
    }
    whole::mark_accessed(&mut el.f, &source.view, true, false);
    whole::mark_accessed(&mut el.f, &dest.view, false, true);
    el.storage.stored.entry(dest.view.buffer).or_insert(span);
    // What an event is completed by needs no wait.
    let is_async = c.is_async.is_some() && event.is_none();
    let fresh = matches!(c.dest, CopyDest::Storage(..));
    let future = future_of(el, c, bound);
    if let Some(id) = future {
        let known = futures::get(el, id).is_some_and(|f| f.data.is_some());
        let manner = futures::Manner {
            level,
            is_async,
            by_tma: !engine.is_threads(),
            fresh,
        };
        futures::bind(el, id, dest.clone(), manner, c.head)?;
        // A placeholder may have been exchanged before its first copy, in the turn before.
        if fresh && !known && matches!(bound, Bound::Again(_)) {
            dest = futures::data_of(el, id, c.head)?;
        }
    }
    let copy = ir::Copy {
        source: source.view,
        dest: dest.view,
        transform,
        zero_fill,
        level,
        future: future.filter(|_| is_async),
        engine,
    };
    if el.kernel.is_some() {
        build::emit(el, StmtKind::Copy(copy), span);
    } else {
        host_kernels::emit_host_kernel(el, StmtKind::Copy(copy), span);
    }
    Some(future)
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

fn report_redundant_zfill(cx: &mut Cx<'_>, at: Span) {
    cx.report(
        Diagnostic::new("W0850", at, "`.zfill` is redundant here")
            .label("the tile never crosses the edge, and both shapes are equal")
            .help("remove it"),
    );
}

/// The destination that only the future names: the tile that it has, or a new buffer.
fn lower_destination(
    el: &mut Elab<'_>,
    c: &CopyStmt,
    bound: &Bound,
    source: &Data,
    shape: Vec<Sym>,
) -> Option<Data> {
    let CopyDest::Storage(storage, at) = c.dest else {
        return None;
    };
    let again = match bound {
        Bound::Again(id) => {
            let elem = el.f.buffer(source.view.buffer).elem;
            let storage = ir_storage(storage);
            futures::destination_of_rebound(el, *id, elem, &shape, storage, at)?
        }
        _ => None,
    };
    let name = match &c.name {
        Some(name) => name.text.clone(),
        None => "copied".to_owned(),
    };
    let view = match again {
        Some(view) => view,
        None => {
            check_shape(el, storage, &shape, at)?;
            new_destination(el, (bound, &name), ir_storage(storage), at, source, shape)?
        }
    };
    check_pair(el, source, &view, c)?;
    Some(whole::data_of(view, &name, c.head))
}

/// The extents of a new destination are known where it is allocated.
fn check_shape(el: &mut Elab<'_>, storage: ast::Storage, shape: &[Sym], at: Span) -> Option<()> {
    let shown = shape::show(&el.f, shape);
    for extent in shape {
        let host = extent.vars().iter().all(|v| uniformity::host_known(el, *v));
        let fixed = extent.as_int().is_some();
        if storage == ast::Storage::Local && !fixed {
            el.cx.report(
                Diagnostic::new(
                    "E0614",
                    at,
                    format!("`local` memory needs static extents, the tile is {shown}"),
                )
                .label("sizes known only at run time")
                .help("copy into `shared`, or tile by a constant"),
            );
            return None;
        }
        if !host {
            el.cx.report(
                Diagnostic::new(
                    "E0829",
                    at,
                    format!("the tile's shape {shown} is known only inside the kernel"),
                )
                .label("can't size a buffer by it")
                .help("declare a buffer of the largest size, and copy into it with `.zfill`"),
            );
            return None;
        }
    }
    Some(())
}

fn check_supported(el: &mut Elab<'_>, c: &CopyStmt) -> bool {
    let mut ok = true;
    let tma = c.engine == ast::Engine::Tma;
    if tma && el.kernel.is_none() {
        el.cx.report(
            Diagnostic::new("E0832", c.head, "`tma` moves tiles inside a kernel")
                .label("not on the host")
                .help("use `dma`, or put the copy into a `parallel`"),
        );
        return false;
    }
    if tma {
        ok &= tma::check_available(&mut el.cx, c) && tma::lower_modifiers(el, c).is_some();
    }
    if let Some((at, event)) = &c.is_async {
        ok &= check_async_supported(el, c, *at, event.as_ref());
    }
    if let Some(after) = &c.after {
        wait::lower_after(el, after);
    }
    for (modifier, at) in &c.modifiers {
        match modifier {
            CopyModifier::Zfill => continue,
            CopyModifier::Swizzle(width) => {
                ok &= swizzles::width_of(&mut el.cx, width.as_ref(), *at).is_some();
                continue;
            }
            CopyModifier::Sparse(pattern) => {
                sparse::check(el, c, pattern.as_ref(), *at);
                ok = false;
                continue;
            }
            CopyModifier::Promote(_) | CopyModifier::EvictFirst | CopyModifier::EvictLast
                if tma =>
            {
                continue;
            }
            CopyModifier::Promote(_) => {
                el.cx.report(
                    Diagnostic::new("E0858", *at, "an L2 promotion is only for `tma`")
                        .label("not on `dma`")
                        .help("remove it"),
                );
                ok = false;
                continue;
            }
            CopyModifier::EvictFirst | CopyModifier::EvictLast => {
                tma::report_hint_refused(&mut el.cx, *at, false);
                ok = false;
                continue;
            }
            CopyModifier::Multicast => ok &= cluster_legality::check_multicast(el, tma, *at),
        }
    }
    ok
}

fn check_async_supported(
    el: &mut Elab<'_>,
    c: &CopyStmt,
    at: Span,
    event: Option<&ast::Expr>,
) -> bool {
    if let (Some(event), ast::Engine::Dma) = (event, c.engine) {
        el.cx.report(
            Diagnostic::new("E1031", event.span, "a `dma` copy can't complete an event")
                .label("its threads carry it out, nobody arrives for it")
                .help("name the copy, `wait` for it, then `trigger` the event; or use `tma`"),
        );
        return false;
    }
    if el.kernel.is_none() {
        el.cx.report(
            Diagnostic::new("E0831", at, "copies between kernels are never asynchronous")
                .label("not on the host")
                .help("remove `.async`"),
        );
        return false;
    }
    if event.is_none() && c.name.is_none() {
        el.cx.report(
            Diagnostic::new("E0840", c.head, "an asynchronous copy without a name")
                .label("nothing could wait for it")
                .help(format!(
                    "name it: `f = {}.copy.async …;`, later `wait f;`",
                    engine_word(c)
                )),
        );
        return false;
    }
    true
}

fn check_storage(el: &mut Elab<'_>, storage: ast::Storage, at: Span) -> Option<()> {
    let in_kernel = el.kernel.is_some();
    let (bad, text, help) = match (storage, in_kernel) {
        (ast::Storage::Global, true) => (
            true,
            "`=> global` makes device memory, which a kernel can't",
            "copy into `shared` or `local`, or into a named buffer",
        ),
        (ast::Storage::Shared | ast::Storage::Local, false) => (
            true,
            "`shared` and `local` memory exist only inside `parallel`",
            "move the copy into a `parallel`",
        ),
        _ => (false, "", ""),
    };
    if bad {
        el.cx.report(
            Diagnostic::new("E0803", at, text)
                .label("not here")
                .help(help),
        );
        return None;
    }
    Some(())
}

fn check_pair(el: &mut Elab<'_>, source: &Data, dest: &View, c: &CopyStmt) -> Option<()> {
    let (from, to) = (el.f.buffer(source.view.buffer), el.f.buffer(dest.buffer));
    let (from_elem, to_elem) = (from.elem, to.elem);
    let global_to_global = from.storage.is_global() && to.storage.is_global();
    if from_elem != to_elem {
        el.cx.report(
                Diagnostic::new("E0801", c.head.to(c.source.span), format!("a copy never converts: the source is `{from_elem}`, the destination `{to_elem}`"))
                    .label(format!("`{from_elem}` => `{to_elem}`"))
                    .help("copy into a buffer of the same element type, and convert element by element"),
            );
        return None;
    }
    if c.engine == ast::Engine::Tma {
        tma::check_storages(&mut el.cx, from.storage, to.storage, c)?;
    } else if let Some((at, _)) = &c.is_async
        && el.kernel.is_some()
        && !(from.storage.is_global() && to.storage == Storage::Shared)
    {
        let place = |s: Storage| match s {
            Storage::Shared => "shared",
            Storage::Local => "local",
            _ => "global",
        };
        let text = format!(
            "no asynchronous copy goes from {} to {} memory",
            place(from.storage),
            place(to.storage)
        );
        el.cx.report(
            Diagnostic::new("E0831", *at, text)
                .label("only global to shared")
                .help("remove `.async`, and the `wait` for it"),
        );
        return None;
    }
    if global_to_global && el.kernel.is_some() {
        el.cx.report(
            Diagnostic::new(
                "E0830",
                c.head.to(c.source.span),
                "a kernel can't copy from global to global memory",
            )
            .label("both ends are in device memory")
            .help("go through `shared` or `local`, or copy outside `parallel`"),
        );
        return None;
    }
    Some(())
}

/// A buffer that only the future names.
fn new_destination(
    el: &mut Elab<'_>,
    (bound, name): (&Bound, &str),
    storage: Storage,
    at: Span,
    source: &Data,
    shape: Vec<Sym>,
) -> Option<View> {
    let elem = el.f.buffer(source.view.buffer).elem;
    let per_instance =
        storage == Storage::Shared && uniformity::differs_between_units(el, &source.view);
    let level = el.level().unwrap_or(Level::Block);
    let slices = if per_instance {
        instances::count_of(el, level, at)?
    } else {
        Sym::one()
    };
    let id = build::new_buffer(
        &mut el.f,
        build::NewBuffer {
            name,
            elem,
            storage,
            shape: shape.clone(),
            copies: slices,
            span: at,
        },
    );
    buffers::check_affordable(el, id, at)?;
    // What a placeholder of an outer block has, the next turn of a loop may still read.
    let outer = match bound {
        Bound::Again(id) => futures::get(el, *id).map(|f| f.depth) != Some(el.names.depth()),
        _ => false,
    };
    if matches!(storage, Storage::Host | Storage::Shared) && !outer {
        build::emit(el, StmtKind::Alloc(id), at);
    }
    buffers::warn_of_spills(el, id, at);
    let size = shape.iter().fold(Sym::one(), |p, e| &p * e);
    let offset = if per_instance {
        &instances::number_of(el, level) * &size
    } else {
        Sym::zero()
    };
    let strides = dense_strides(&shape);
    let valid = vec![Valid::default(); shape.len()];
    let frame = Some(ir::Frame::whole(&shape, &strides));
    Some(View {
        buffer: id,
        offset,
        frame,
        shape,
        strides,
        valid,
        span: at,
    })
}

fn ir_storage(storage: ast::Storage) -> Storage {
    match storage {
        ast::Storage::Global => Storage::Host,
        ast::Storage::Shared => Storage::Shared,
        ast::Storage::Local => Storage::Local,
    }
}

/// Whether zero-filling can make a difference.
fn zero_fill_useful(source: &View, zero_fill: bool, dest: &View) -> bool {
    zero_fill && (source.may_cross() || source.shape != dest.shape)
}

fn engine_word(c: &CopyStmt) -> &'static str {
    match c.engine {
        ast::Engine::Dma => "dma",
        ast::Engine::Tma => "tma",
    }
}
