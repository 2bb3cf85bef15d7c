//! What `sema` knows only when it has seen the whole function, and what its statements do not say. The first passes
//! write it into the statements, and use it for reports.

use std::collections::BTreeMap;

use super::{BufferId, EventAt, FutureId, LocalId};
use crate::source::Span;
use crate::symbolic::Sym;

#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub pools: PoolParts,
    /// Where the swizzle of a buffer was decided.
    pub swizzled_at: BTreeMap<BufferId, Span>,
    /// The tile that a placeholder's handle starts with.
    pub first_tiles: BTreeMap<LocalId, Sym>,
    /// Named copies that a `trigger … after` has bound to an event, and where that is.
    pub bound: BTreeMap<FutureId, (EventAt, Span)>,
}

/// Buffers that became parts of others, so that a number can choose among them: of which, and where in it.
#[derive(Clone, Debug, Default)]
pub struct PoolParts(pub BTreeMap<BufferId, (BufferId, Sym)>);

impl PoolParts {
    /// The outermost buffer that contains this one, and where in it this one begins.
    pub fn find(&self, buffer: BufferId) -> (BufferId, Sym) {
        let (mut at, mut place) = (buffer, Sym::zero());
        while let Some((outer, base)) = self.0.get(&at) {
            place = &place + base;
            at = *outer;
        }
        (at, place)
    }
}
