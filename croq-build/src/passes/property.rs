//! Properties of kernels that passes ensure for later ones. Once ensured, a property holds until
//! the end; tests compare that with the IR after each pass.

use crate::ir::{
    Access, BarrierScope, BufferId, Engine, Function, Kernel, MmaOp, Phase, Sharing, Stmt,
    StmtKind, Storage, TmaOp, View, Visit, any_stmt, walk_block,
};
use crate::sorted::SortedSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    PoolsWhole,
    EventCopiesBound,
    WaitsCounted,
    FragmentsOwned,
    GridCopiesDistributed,
    ThreadsDecided,
    EventsCounted,
    LoadsHaveMbarriers,
    AccessesOrdered,
    SharedPlaced,
    BarriersNumbered,
    MmasLowered,
    SwizzlesApplied,
    EventsLowered,
    TmaLowered,
    CopiesLowered,
    ThreadsNamed,
    IntegersExact,
    OfThreads,
}

impl Property {
    /// The text in the page of passes.
    pub fn phrase(self) -> &'static str {
        match self {
            Property::PoolsWhole => "no view is of a part of a pool",
            Property::EventCopiesBound => "no copy that completes an event has a future",
            Property::WaitsCounted => "each wait has its number of groups",
            Property::FragmentsOwned => {
                "fragments are loaded, stored, multiplied and filled, no more"
            }
            Property::GridCopiesDistributed => "no kernel is a single copy or fill",
            Property::ThreadsDecided => "the threads of a block are decided",
            Property::EventsCounted => "events have arrival counts and phase bits",
            Property::LoadsHaveMbarriers => "each TMA load and each wait for one has an mbarrier",
            Property::AccessesOrdered => "conflicting accesses are ordered",
            Property::SharedPlaced => "each shared buffer in use has an address",
            Property::BarriersNumbered => "each barrier has its hardware form",
            Property::MmasLowered => "fragments occur in instructions only",
            Property::SwizzlesApplied => "elements are addressed with their swizzles",
            Property::EventsLowered => "no statement of an event is left",
            Property::TmaLowered => "no TMA copy and no wait for one is left",
            Property::CopiesLowered => "no copy, fill or wait for copies is left",
            Property::ThreadsNamed => "the thread that acts for a unit is an expression",
            Property::IntegersExact => "integers fit 64 bits, or are checked",
            Property::OfThreads => "only statements of single threads exist",
        }
    }

    /// Whether the IR contradicts the property. Some properties cannot be checked on the IR alone.
    pub fn is_broken<P: Phase>(self, function: &Function<P>, kernel: &Kernel<P>) -> bool {
        let any = |is: fn(&StmtKind<P>) -> bool| any_stmt(&kernel.body, |stmt| is(&stmt.kind));
        match self {
            Property::PoolsWhole => buffers_of(kernel)
                .iter()
                .any(|id| function.facts.pools.0.contains_key(id)),
            Property::EventCopiesBound => any_stmt(&kernel.body, |stmt| match &stmt.kind {
                StmtKind::Copy(copy) => {
                    let future = P::only(copy).future;
                    future.is_some_and(|id| function.facts.bound.contains_key(&id))
                }
                _ => false,
            }),
            Property::WaitsCounted => any(|kind| {
                matches!(
                    kind,
                    StmtKind::Rotate { .. }
                        | StmtKind::UseFuture(_)
                        | StmtKind::Wait { pending: None, .. }
                )
            }),
            Property::FragmentsOwned => any_op(kernel, |op| {
                matches!(
                    op,
                    MmaOp::Apply { .. }
                        | MmaOp::Reduce { .. }
                        | MmaOp::AllReduce { .. }
                        | MmaOp::Convert { .. }
                )
            }),
            Property::GridCopiesDistributed => is_grid_copy(function, kernel),
            Property::LoadsHaveMbarriers => lacks_mbarrier(function, &kernel.body),
            Property::SharedPlaced => buffers_of(kernel).iter().any(|id| {
                let storage = function.buffers.get(id.index()).map(|b| b.storage);
                let shared = matches!(storage, Some(Storage::Shared | Storage::Mbarriers));
                shared && kernel.shared.iter().all(|placed| placed.buffer != *id)
            }),
            Property::BarriersNumbered => has_unnumbered(&kernel.body, false),
            Property::MmasLowered => any_op(kernel, |op| {
                !matches!(
                    op,
                    MmaOp::Instruction { .. } | MmaOp::Matrices { .. } | MmaOp::Step(_)
                )
            }),
            Property::EventsLowered => {
                any(|kind| matches!(kind, StmtKind::WaitEvent(_) | StmtKind::Trigger(_)))
            }
            Property::TmaLowered => any(|kind| match kind {
                StmtKind::Copy(copy) => !P::only(copy).engine.is_threads(),
                kind => matches!(kind, StmtKind::WaitTma { .. }),
            }),
            Property::CopiesLowered => any(|kind| {
                matches!(
                    kind,
                    StmtKind::Copy(_) | StmtKind::Fill { .. } | StmtKind::Wait { .. }
                )
            }),
            Property::ThreadsNamed => any(|kind| {
                matches!(
                    kind,
                    StmtKind::SingleThread { cond: None, .. }
                        | StmtKind::Barrier {
                            scope: BarrierScope::WarpgroupFrom(_),
                            ..
                        }
                        | StmtKind::Tma(TmaOp::Arrive {
                            sharing: Sharing {
                                unit: Some((_, None)),
                                ..
                            },
                            ..
                        })
                )
            }),
            Property::ThreadsDecided
            | Property::EventsCounted
            | Property::AccessesOrdered
            | Property::SwizzlesApplied
            | Property::IntegersExact
            | Property::OfThreads => false,
        }
    }
}

fn any_op<P: Phase>(kernel: &Kernel<P>, is: fn(&MmaOp<P>) -> bool) -> bool {
    any_stmt(&kernel.body, |stmt| match &stmt.kind {
        StmtKind::Mma(op) => is(op),
        _ => false,
    })
}

fn is_grid_copy<P: Phase>(function: &Function<P>, kernel: &Kernel<P>) -> bool {
    let [stmt] = kernel.body.as_slice() else {
        return false;
    };
    let dest = match &stmt.kind {
        StmtKind::Copy(copy) => P::only(copy).dest.buffer,
        StmtKind::Fill { view, .. } => P::only(view).buffer,
        _ => return false,
    };
    kernel.attrs.cooperative.is_none() && function.buffer_is_global(dest)
}

fn lacks_mbarrier<P: Phase>(function: &Function<P>, stmts: &[Stmt<P>]) -> bool {
    any_stmt(stmts, |stmt| match &stmt.kind {
        StmtKind::Copy(copy) => {
            let copy = P::only(copy);
            match &copy.engine {
                Engine::Tma(tma) => {
                    let load = !function.buffer_is_global(copy.dest.buffer);
                    load && tma.arrival.is_none() && tma.event.is_none()
                }
                Engine::Threads => false,
            }
        }
        StmtKind::WaitTma { futures } => P::only(futures)
            .iter()
            .any(|waited| waited.arrival.is_none()),
        _ => false,
    })
}

/// `inside`: in a region, where "the block" is some of its threads.
fn has_unnumbered<P: Phase>(stmts: &[Stmt<P>], inside: bool) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Barrier { scope, .. } => {
            *scope == BarrierScope::Warpgroup || inside && *scope == BarrierScope::Block
        }
        StmtKind::Region { body, .. } => has_unnumbered(body, true),
        kind => kind.blocks().any(|block| has_unnumbered(block, inside)),
    })
}

/// The buffers of all views and accesses.
fn buffers_of<P: Phase>(kernel: &Kernel<P>) -> SortedSet<BufferId> {
    struct Find(SortedSet<BufferId>);
    impl<P: Phase> Visit<P> for Find {
        fn view(&mut self, view: &View) {
            self.0.insert(view.buffer);
        }
        fn access(&mut self, access: &Access, _written: bool) {
            self.0.insert(access.view.buffer);
        }
    }
    let mut find = Find(SortedSet::new());
    walk_block(&kernel.body, &mut find);
    find.0
}
