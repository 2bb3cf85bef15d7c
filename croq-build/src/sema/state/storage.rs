//! Facts about buffers that are collected until the function's end.

use crate::ir::{self, BufferId, Scalar};
use crate::sorted::{SortedMap, SortedSet};
use crate::source::Span;
use crate::symbolic::Sym;

#[derive(Default)]
pub(crate) struct Pools {
    pub parts: ir::PoolParts,
    /// One pool for each group of exchanged futures, kernel and type.
    pub of_futures: SortedMap<(usize, usize, Scalar, Sym), BufferId>,
    /// The shapes of buffers before they became pools.
    pub declared: SortedMap<BufferId, Vec<Sym>>,
}

impl Pools {
    /// The pool that finally contains a buffer, and the offset in it.
    pub(crate) fn find(&self, buffer: BufferId) -> (BufferId, Sym) {
        self.parts.find(buffer)
    }

    /// Whether no program declares the buffer: it has the tiles of futures that exchange them.
    fn is_made_up(&self, id: BufferId) -> bool {
        self.of_futures.values().any(|pool| *pool == id)
    }

    /// The distance of the tiles in a pool of futures.
    pub(crate) fn slot_of_futures(&self, root: BufferId) -> Option<&Sym> {
        let mut pools = self.of_futures.iter();
        pools
            .find(|(_, pool)| *pool == root)
            .map(|((_, _, _, slot), _)| slot)
    }

    /// All declared buffers in the pool `root`; it may be the only one.
    pub(crate) fn parts(&self, root: BufferId) -> Vec<BufferId> {
        let others = self.parts.0.keys().copied();
        std::iter::once(root)
            .chain(others.filter(|part| self.find(*part).0 == root))
            .filter(|id| !self.is_made_up(*id))
            .collect()
    }

    /// The buffer itself, or one of those whose tiles are in it.
    pub(crate) fn shaped(&self, id: BufferId) -> BufferId {
        if !self.is_made_up(id) {
            return id;
        }
        let parts = self.parts(self.find(id).0);
        parts.first().copied().unwrap_or(id)
    }

    /// The declared shape of a buffer, even if it is in a pool.
    pub(crate) fn declared_shape(&self, id: BufferId) -> Option<&[Sym]> {
        self.declared.get(&id).map(Vec::as_slice)
    }
}

#[derive(Default)]
pub(crate) struct Swizzles {
    /// Each `.swiz` of a function, in order: the buffer, the width, and the span.
    pub said: Vec<(BufferId, u32, Span)>,
    /// Tiles that warpgroups multiply, with spans: they are swizzled even without a `.swiz`.
    pub wanted: Vec<(BufferId, Span)>,
    /// Tiles to which warpgroups store accumulators, with spans: lanes store to adjacent rows,
    /// which the swizzle places in different banks.
    pub liked: Vec<(BufferId, Span)>,
}

impl Swizzles {
    pub(crate) fn want(&mut self, id: BufferId, at: Span) {
        self.wanted.push((id, at));
    }

    pub(crate) fn like(&mut self, id: BufferId, at: Span) {
        self.liked.push((id, at));
    }
}

/// Facts about buffers that are collected until the function's end.
#[derive(Default)]
pub(crate) struct BufferFacts {
    /// Buffers that element stores and copies write, with the first such statement.
    pub stored: SortedMap<ir::BufferId, Span>,
    pub pools: Pools,
    pub swizzles: Swizzles,
    /// Where the swizzle of a buffer was decided.
    pub swizzled_at: SortedMap<ir::BufferId, Span>,
    /// Buffers that the host exchanges, in groups.
    pub exchanged: Vec<SortedSet<BufferId>>,
    /// Buffers that every call allocates, once.
    pub of_the_call: SortedSet<BufferId>,
}

impl BufferFacts {
    /// Records that the host exchanges these buffers.
    pub(crate) fn exchange(&mut self, mut ids: SortedSet<BufferId>) {
        self.exchanged.retain(|group| {
            let apart = group.is_disjoint(&ids);
            if !apart {
                ids.extend(group);
            }
            apart
        });
        self.exchanged.push(ids);
    }

    pub(crate) fn is_exchanged(&self, id: BufferId) -> bool {
        self.exchanged.iter().any(|group| group.contains(&id))
    }
}
