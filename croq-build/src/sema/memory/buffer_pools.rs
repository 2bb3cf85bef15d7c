//! Buffers that are placed in one larger buffer, so that a number known only at run time can select
//! one of them.
//!
//! `swap` and `select` choose among buffers. This is expressed without pointers, as an address in
//! one buffer with a variable offset, so the buffers become parts of one: a *pool*. While a
//! function is elaborated only places in the pool are assigned; at its end every view of a part is
//! rewritten to a view of its pool.

use crate::ir::{BOX_ALIGNMENT, BufferId, Storage, View};
use crate::sema::build;
use crate::sema::memory::swizzles;
use crate::sema::memory::whole::dense_strides;
use crate::sema::state::elab::Elab;
use crate::symbolic::{Sym, Truth};

/// The pool of a group of futures with tiles of this kind, with `buffer` added to it.
fn pool_for(el: &mut Elab<'_>, group: usize, buffer: BufferId, tile: &Sym) -> BufferId {
    let (elem, storage, span) = {
        let b = el.f.buffer(buffer);
        (b.elem, b.storage, b.span)
    };
    let key = (group, el.f.kernels.len(), elem, tile.clone());
    let pool = match el.storage.pools.of_futures.get(&key) {
        Some(pool) => *pool,
        None => {
            let exchanged = el.asynchronous.exchanged.iter();
            let names = exchanged.filter(|(_, g)| *g == group);
            // For example the shortest of `a`, `last_a` and `next_a`.
            let shortest = names.map(|(name, _)| name).min_by_key(|name| name.len());
            let name = format!("{}_ring", shortest.map_or("tile", String::as_str));
            let pool = build::new_buffer(
                &mut el.f,
                build::NewBuffer {
                    name: &name,
                    elem,
                    storage,
                    shape: Vec::new(),
                    copies: Sym::zero(),
                    span,
                },
            );
            el.storage.pools.of_futures.insert(key, pool);
            pool
        }
    };
    join_pool(el, buffer, pool, tile);
    pool
}

/// Whether a tile can be one of those that exchanged futures have, in slots of `slot` elements.
pub(crate) fn is_exchangeable(el: &Elab<'_>, own: &View, slot: &Sym) -> bool {
    let buffer = el.f.buffer(own.buffer);
    let fixed = buffer.storage == Storage::Shared
        || (slot.as_int().is_some() && buffer.count.as_int().is_some());
    fixed
        && !buffer.storage.is_global()
        && own.strides == dense_strides(&own.shape)
        && el.f.cx.divides(slot, &own.offset) == Truth::Yes
}

/// The distance of exchanged tiles, in elements: that of the tile, but TMA addresses shared memory at
/// multiples of 128 bytes, and where the pattern of a swizzle begins.
pub(crate) fn slot_of(el: &Elab<'_>, own: &View, by_tma: bool) -> Sym {
    let tile = own.shape.iter().product::<Sym>();
    if !by_tma {
        return tile;
    }
    let slot = match swizzles::rows_of_box(el, own.buffer) {
        Some(rows) => el.f.cx.align_up(&tile, &rows),
        None => slot_of_tile(el, own.buffer, &tile),
    };
    match el.f.cx.divides(&slot, &own.offset) {
        Truth::Yes => slot,
        // A tile of a larger buffer, whose tiles are adjacent.
        _ => tile,
    }
}

/// The distance of tiles of that many elements, where TMA may move them: rounded up in shared memory.
pub(crate) fn slot_of_tile(el: &Elab<'_>, buffer: BufferId, tile: &Sym) -> Sym {
    let buffer = el.f.buffer(buffer);
    if buffer.storage != Storage::Shared || buffer.elem.is_packed() {
        return tile.clone();
    }
    let bytes = i64::try_from(buffer.elem.bytes()).unwrap_or(1);
    el.f.cx.align_up(tile, &Sym::int(BOX_ALIGNMENT / bytes))
}

/// Adds the buffer of a tile to the pool of a group of futures; returns the pool and the tile's number
/// there, unless the tile is not a whole number of tiles from its beginning.
pub(crate) fn number_in_pool(
    el: &mut Elab<'_>,
    group: usize,
    own: &View,
    tile: &Sym,
) -> Option<(BufferId, Sym)> {
    let pool = pool_for(el, group, own.buffer, tile);
    let place = &place_of(el, own.buffer, pool) + &own.offset;
    let whole = el.f.cx.divides(tile, &place).is_yes();
    whole.then(|| (pool, el.f.cx.div(&place, tile)))
}

/// Adds `buffer` to the pool that contains `pool`, at a multiple of `unit` elements.
pub(crate) fn join_pool(el: &mut Elab<'_>, buffer: BufferId, pool: BufferId, unit: &Sym) {
    let (part, _) = el.storage.pools.find(buffer);
    let (root, _) = el.storage.pools.find(pool);
    if part == root {
        return;
    }
    let filled = el.f.buffer(root).count.clone();
    let base = if el.f.cx.divides(unit, &filled).is_yes() {
        filled
    } else {
        el.f.cx.align_up(&filled, unit)
    };
    let end = &base + &el.f.buffer(part).count;
    let (read, written) = (el.f.buffer(part).read, el.f.buffer(part).written);
    if let Some(pool) = el.f.buffers.get_mut(root.index()) {
        pool.count = end.clone();
        let declared = std::mem::replace(&mut pool.shape, vec![end]);
        el.storage.pools.declared.entry(root).or_insert(declared);
        pool.read |= read;
        pool.written |= written;
    }
    el.storage.pools.parts.0.insert(part, (root, base));
}

/// The offset of `buffer` relative to `pool`; both are in one pool.
pub(crate) fn place_of(el: &Elab<'_>, buffer: BufferId, pool: BufferId) -> Sym {
    &el.storage.pools.find(buffer).1 - &el.storage.pools.find(pool).1
}
