//! Buffers laid side by side in one, so that a number known only at run time can choose between
//! them.
//!
//! `swap` and `select` choose among buffers. An address in one buffer with an offset that varies
//! says this without pointers, so buffers that are chosen among become parts of one: a *pool*.
//! While a function is checked only the places in the pool are handed out; at its end every view of
//! a part is rewritten to a view of its pool.

use crate::ir::BufferId;
use crate::sema::build;
use crate::sema::state::elab::Elab;
use crate::symbolic::Sym;

/// The pool of a group of futures with tiles of this kind; `buffer` is in it from now on.
pub(crate) fn pool_for(el: &mut Elab<'_>, group: usize, buffer: BufferId, tile: &Sym) -> BufferId {
    let (elem, storage, span) = {
        let b = el.f.buffer(buffer);
        (b.elem, b.storage, b.span)
    };
    let key = (group, el.f.kernels.len(), elem, tile.clone());
    let pool = match el.storage.pools.of_futures.get(&key) {
        Some(pool) => *pool,
        None => {
            let exchanged = el.asynchronous.exchanged.iter();
            let names = exchanged.filter(|(_, g)| **g == group);
            // Of `a`, `last_a` and `next_a`.
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

/// Makes `buffer` a part of the pool that `pool` is in, at a multiple of `unit` elements.
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

/// Where the first element of `buffer` is, counted from that of `pool`, which both are in one.
pub(crate) fn place_of(el: &Elab<'_>, buffer: BufferId, pool: BufferId) -> Sym {
    &el.storage.pools.find(buffer).1 - &el.storage.pools.find(pool).1
}
