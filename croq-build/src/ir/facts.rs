//! Facts that `sema` knows only after the whole function, and that its statements do not contain.
//! The first passes add them to the statements, and use them for reports.

use super::{BufferId, EventAt, EventId, FutureId, LocalId};
use crate::sorted::{SortedMap, SortedSet};
use crate::source::Span;
use crate::symbolic::Sym;

#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub pools: PoolParts,
    /// The location at which the swizzle of a buffer was decided.
    pub swizzled_at: SortedMap<BufferId, Span>,
    /// The initial tile of a placeholder's handle.
    pub first_tiles: SortedMap<LocalId, Sym>,
    /// Named copies that a `trigger … after` has bound to an event, with its location.
    pub bound: SortedMap<FutureId, (EventAt, Span)>,
    /// Copies by threads that name an event, each by a future of its own: threads wait for them before
    /// they trigger the event.
    pub completing: SortedMap<FutureId, EventId>,
    /// Loads by TMA for which threads outside of the region wait that issues them.
    pub elsewhere: SortedSet<FutureId>,
}

/// Buffers that were made parts of a pool, so that an integer can select one of them: for each, the
/// pool and the offset in it.
#[derive(Clone, Debug, Default)]
pub struct PoolParts(pub SortedMap<BufferId, (BufferId, Sym)>);

impl PoolParts {
    /// The outermost buffer that contains this one, and the offset of this one in it.
    pub fn find(&self, buffer: BufferId) -> (BufferId, Sym) {
        let (mut at, mut place) = (buffer, Sym::zero());
        while let Some((outer, base)) = self.0.get(&at) {
            place = &place + base;
            at = *outer;
        }
        (at, place)
    }
}
