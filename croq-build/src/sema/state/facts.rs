//! Facts that the walk recorded and that the finished IR does not contain.

use std::collections::BTreeMap;

use crate::ir::{BufferId, EventAt, FutureId, LocalId};
use crate::sema::state::asynchronous::Future;
use crate::sema::state::elab::Elab;
use crate::sema::state::storage::Pools;
use crate::source::Span;
use crate::symbolic::Sym;

#[derive(Default)]
pub(crate) struct Facts {
    pub pools: Pools,
    /// The statement that decided the swizzle of a buffer.
    pub swizzle_at: BTreeMap<BufferId, Span>,
    /// By `ir::FutureId`.
    pub futures: Vec<Future>,
    /// The initial value of a placeholder's handle.
    pub first_tiles: BTreeMap<LocalId, Sym>,
    /// Named copies that a `trigger … after` has bound to an event.
    pub bound: BTreeMap<FutureId, (EventAt, Span)>,
}

impl Facts {
    pub fn take(el: &mut Elab<'_>) -> Self {
        Self {
            pools: std::mem::take(&mut el.storage.pools),
            swizzle_at: std::mem::take(&mut el.storage.swizzle_at),
            futures: std::mem::take(&mut el.asynchronous.futures),
            first_tiles: std::mem::take(&mut el.asynchronous.first_tiles),
            bound: std::mem::take(&mut el.asynchronous.events.bound),
        }
    }

    pub fn future(&self, id: FutureId) -> Option<&Future> {
        self.futures.get(id.index())
    }
}
