//! The level of a copy, and the number and index of the instances of a level.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{Level, Role, Scalar, Storage, View, WARP_THREADS};
use crate::sema::build;
use crate::sema::checks::unsupported;
use crate::sema::levels::uniformity;
use crate::sema::state::elab::Elab;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, CopyStmt};

/// The number of units of `level` in the block.
pub(crate) fn count_of(el: &mut Elab<'_>, level: Level, at: Span) -> Option<Sym> {
    if level == Level::Block {
        return Some(Sym::one());
    }
    let threads = el.kernel.as_ref().and_then(|k| k.threads.count.clone());
    let Some(threads) = threads else {
        el.cx.report(
            Diagnostic::new(codes::E0509, at, "the number of threads is not known here")
                .label("how many instances need a tile?"),
        );
        return None;
    };
    let cx = &el.f.cx;
    Some(match level.threads() {
        None => Sym::one(),
        Some(unit) => cx.cdiv(&threads, &Sym::int(i64::from(unit))),
    })
}

/// The index of this unit in the block.
pub(crate) fn number_of(el: &mut Elab<'_>, level: Level) -> Sym {
    let tid = thread_id(el);
    let cx = &el.f.cx;
    match level.threads() {
        None => Sym::zero(),
        Some(unit) => cx.div(&tid, &Sym::int(i64::from(unit))),
    }
}

/// The linear thread id as a symbolic integer.
fn thread_id(el: &mut Elab<'_>) -> Sym {
    if let Some(v) = el.kernel.as_ref().and_then(|k| k.threads.id) {
        return Sym::var(v);
    }
    let span = el.kernel.as_ref().map_or_else(Span::default, |k| k.header);
    let threads = el.kernel.as_ref().and_then(|k| k.threads.count.clone());
    let local = build::new_local(
        &mut el.f,
        "tid",
        Scalar::Index,
        false,
        Role::Parallel(Level::Thread),
        span,
    );
    let hi = threads.map(|t| &t - 1);
    let var = build::local_var(&mut el.f, local, Some(Sym::zero()), hi);
    if let Some(k) = el.kernel.as_mut() {
        k.threads.id = Some(var);
        k.threads.id_local = Some(local);
    }
    Sym::var(var)
}

/// The level of the unit whose threads share a copy.
pub(crate) fn copy_level(
    el: &mut Elab<'_>,
    source: &View,
    dest: &View,
    c: &CopyStmt,
    explicit: bool,
) -> Option<Level> {
    if el.kernel.is_none() {
        return Some(Level::Block);
    }
    let (from, to) = (
        el.f.buffer(source.buffer).storage,
        el.f.buffer(dest.buffer).storage,
    );
    if from == Storage::Local || to == Storage::Local {
        return Some(Level::Thread);
    }
    let [of_source, of_dest] = [source, dest].map(|view| uniformity::of_view(el, view));
    // What one thread alone issues has one tile.
    let alone =
        c.engine == ast::Engine::Tma && el.path.region_threads().is_some_and(|set| set.len() == 1);
    let level = match alone {
        true => Level::Block,
        false => of_source.max(of_dest),
    };
    let (by_source, by_dest) = (of_source > Level::Block, of_dest > Level::Block);
    let several = level != Level::Block && !is_region_in_one_unit(el, level);
    if explicit && to == Storage::Shared && by_source && !by_dest && several {
        el.cx.report(
            Diagnostic::new(
                codes::W0841,
                c.head,
                "instances of an inner level copy different tiles into one shared buffer",
            )
            .label("each overwrites the others' tile")
            .help("use `=> shared` to give each instance its own, or tile the destination too"),
        );
    }
    if level != Level::Thread {
        warn_if_some_have_left(el, c.head, "a cooperative copy");
        if el.path.in_region() {
            return level_in_region(el, level, c);
        }
    }
    Some(level)
}

/// The level of a copy inside `inthreads`: the threads of the unit that execute it share it; for a
/// block, the threads of the region.
fn level_in_region(el: &mut Elab<'_>, level: Level, c: &CopyStmt) -> Option<Level> {
    let Some(set) = el.path.region_threads().cloned() else {
        let what = "a cooperative copy by threads that are known only at run time";
        unsupported::report(&mut el.cx, c.head, what);
        return None;
    };
    if c.engine == ast::Engine::Dma && !set.is_whole(WARP_THREADS) {
        let count = set.len();
        let threads = if count == 1 { "thread" } else { "threads" };
        el.cx.report(
            Diagnostic::new(
                codes::W0565,
                c.head,
                format!("{count} {threads} of the block share this copy: no whole warps"),
            )
            .label("the other lanes of their warps idle meanwhile")
            .help("let whole warps (multiples of 32 threads) execute this, or use `tma`"),
        );
    }
    match level.threads_together() {
        None => return Some(level),
        Some(unit) if set.is_whole(unit) => return Some(level),
        Some(unit) if set.is_in_one(unit) => return Some(Level::Block),
        Some(_) => {}
    }
    unsupported::report(
        &mut el.cx,
        c.head,
        "a copy by parts of several warps or warpgroups",
    );
    None
}

/// Warns if threads that a collective operation needs may have left the kernel.
/// `passes::check::divergence` checks conditions that differ between them, in the whole kernel.
pub(crate) fn warn_if_some_have_left(el: &mut Elab<'_>, at: Span, what: &str) {
    if let Some(first) = el.kernel.as_ref().and_then(|k| k.yielded) {
        el.cx.report(
            Diagnostic::new(
                codes::W0553,
                first,
                "threads that `yield` here never reach a later barrier",
            )
            .label("leaves the kernel")
            .also(at, format!("{what} waits for every thread")),
        );
    }
}

/// Whether the enclosing region has threads of at most one unit of `level`.
fn is_region_in_one_unit(el: &Elab<'_>, level: Level) -> bool {
    let set = el.path.region_threads();
    level
        .threads()
        .is_none_or(|unit| set.is_some_and(|set| set.is_in_one(unit)))
}
