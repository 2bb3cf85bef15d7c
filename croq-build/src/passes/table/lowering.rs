//! The stage that lowers a complete function. Consecutive passes over kernels run on one kernel
//! after the other.

use crate::passes::check::{
    bank_conflicts, divergence, early_reads, grid_barriers, lost_reductions, restarted_orders,
    signals,
};
use crate::passes::lower::{
    barrier_ids, copies, events, grid_copies, mma, swizzled_addressing, thread_conditions, tma,
};
use crate::passes::pass::{Kind, Pass, Run};
use crate::passes::property::Property;
use crate::passes::transform::{
    agreement, barriers, copy_propagation, dead_code, exact, fewer_arrivals, fewer_checks,
    registers, row_padding, scalar_replacement, single_thread_levels, skipped_masks, thread_order,
    warp_uniform, wide_accesses,
};

use crate::passes::analysis::{kernel_facts, shared_memory, unwritten, written_whole};
use crate::settings::Checks;

use Kind::{Analysis, Check, Lowering, Transformation};
use Property::{
    AccessesOrdered, BarriersNumbered, CopiesLowered, EventCopiesBound, EventsCounted,
    EventsLowered, FragmentsOwned, GridCopiesDistributed, IntegersExact, LoadsHaveMbarriers,
    MmasLowered, PoolsWhole, SharedPlaced, SwizzlesApplied, ThreadsDecided, ThreadsNamed,
    TmaLowered, WaitsCounted,
};

pub(super) const PASSES: &[Pass] = &[
    Pass {
        name: "fewer-checks",
        kind: Transformation,
        does: "drops the run-time checks that the build does not ask for",
        because: "before everything that would keep a check's operands alive",
        requires: &[],
        ensures: &[],
        run: Run::Function(|function, state| match state.checks {
            Checks::Entry => fewer_checks::lower(function, true),
            Checks::None => fewer_checks::lower(function, false),
            Checks::All | Checks::Report => {}
        }),
    },
    Pass {
        name: "written-whole",
        kind: Analysis,
        does: "results that need not be cleared, because the launch that uses them first writes all of them",
        because: "after `fewer-checks`, and while copies and fragments are still whole",
        requires: &[PoolsWhole, WaitsCounted],
        ensures: &[],
        run: Run::Function(|function, state| {
            if state.checks == Checks::All && state.improve {
                written_whole::find(function);
            }
        }),
    },
    Pass {
        name: "signals",
        kind: Check,
        does: "the host does not wait for launches that wait for the host",
        because: "",
        requires: &[],
        ensures: &[],
        run: Run::Function(|function, state| signals::check(function, state.diags)),
    },
    Pass {
        name: "restarted-orders",
        kind: Check,
        does: "no order of an event takes the same values in each iteration of an outer loop",
        because: "while waits and triggers are statements of whole units",
        requires: &[],
        ensures: &[],
        run: Run::Kernel(|function, id, state| restarted_orders::check(function, id, state.diags)),
    },
    Pass {
        name: "early-reads",
        kind: Check,
        does: "no element of shared memory or of a local array is read before it can have been written",
        because: "before `unwritten`, which removes declarations",
        requires: &[PoolsWhole, WaitsCounted],
        ensures: &[],
        run: Run::Kernel(|function, id, state| early_reads::check(function, id, state.diags)),
    },
    Pass {
        name: "lost-reductions",
        kind: Check,
        does: "no reduction of a fragment overwrites a value that nothing has read",
        because: "while fragments are still whole",
        requires: &[],
        ensures: &[],
        run: Run::Kernel(|function, id, state| lost_reductions::check(function, id, state.diags)),
    },
    Pass {
        name: "unwritten",
        kind: Analysis,
        does: "shared memory, local arrays and fragments that may be read before they are written",
        because: "while copies and fragments are still whole",
        requires: &[PoolsWhole, WaitsCounted],
        ensures: &[],
        run: Run::Kernel(|function, id, _| unwritten::find(function, id)),
    },
    Pass {
        name: "mma-layouts",
        kind: Lowering,
        does: "fragments become per-thread arrays; each MMA gets a layout and an instruction",
        because: "all other passes see fragments as per-thread arrays",
        requires: &[],
        ensures: &[FragmentsOwned],
        run: Run::Function(|function, _| mma::prepare(function)),
    },
    Pass {
        name: "shared-bytes",
        kind: Analysis,
        does: "finds packed buffers of which two threads may store to one byte",
        because: "while copies and fills are still whole",
        requires: &[PoolsWhole],
        ensures: &[],
        run: Run::Kernel(|function, id, state| {
            let reports = barriers::shared_bytes(function, id);
            reports
                .into_iter()
                .for_each(|report| state.diags.push(report));
        }),
    },
    Pass {
        name: "grid-copies",
        kind: Lowering,
        does: "distributes a copy or fill outside of kernels over a grid",
        because: "such a kernel has no tiles, and passes over tiles leave it out",
        requires: &[],
        ensures: &[GridCopiesDistributed],
        run: Run::Kernel(|function, id, state| {
            state.beginning = events::Beginning::default();
            state.is_grid_copy = grid_copies::distribute(function, id);
        }),
    },
    Pass {
        name: "shared-by-instances",
        kind: Analysis,
        does: "finds device memory of which two instances may access one element",
        because: "before indices are rewritten",
        requires: &[GridCopiesDistributed],
        ensures: &[],
        run: Run::Tiles(|function, id, state| {
            kernel_facts::note_shared(function, id, state.improve, state.diags)
        }),
    },
    Pass {
        name: "single-thread-levels",
        kind: Transformation,
        does: "parallelises blocks for which the program declares no threads",
        because: "before anything depends on the number of threads",
        requires: &[PoolsWhole],
        ensures: &[ThreadsDecided],
        run: Run::Tiles(|function, id, state| {
            if let Some(note) = single_thread_levels::add(function, id) {
                state.diags.push(note);
            }
        }),
    },
    Pass {
        name: "thread-order",
        kind: Transformation,
        does: "chooses the index that varies fastest among a level's threads, where it is not observable",
        because: "before indices are expressed by thread numbers",
        requires: &[ThreadsDecided],
        ensures: &[],
        run: Run::Tiles(|function, id, state| {
            if state.reorder {
                thread_order::choose(function, id);
            }
        }),
    },
    Pass {
        name: "multicast",
        kind: Check,
        does: "multicast loads are the same in all blocks of a cluster",
        because: "before copies are lowered",
        requires: &[],
        ensures: &[],
        run: Run::Tiles(|function, id, state| tma::check_multicast(function, id, state.diags)),
    },
    Pass {
        name: "grid-barriers",
        kind: Check,
        does: "all threads of a grid reach its barriers",
        because: "before conditions are rewritten",
        requires: &[ThreadsDecided],
        ensures: &[],
        run: Run::Tiles(|function, id, state| grid_barriers::check(function, id, state.diags)),
    },
    Pass {
        name: "event-order",
        kind: Check,
        does: "each wait for an event has a trigger that can precede it",
        because: "before events are lowered",
        requires: &[],
        ensures: &[],
        run: Run::Tiles(|function, id, state| events::check_order(function, id, state.diags)),
    },
    Pass {
        name: "registers",
        kind: Transformation,
        does: "limits the registers of `setreg` to those of a block, and inserts a barrier between two changes",
        because: "before `barrier-ids`, which numbers its barriers",
        requires: &[ThreadsDecided],
        ensures: &[],
        run: Run::Tiles(|function, id, state| registers::check(function, id, state.diags)),
    },
    Pass {
        name: "events",
        kind: Lowering,
        does: "events become mbarriers with arrival counts and phase bits",
        because: "before `barriers`, which inserts none where mbarriers order accesses",
        requires: &[EventCopiesBound, ThreadsDecided],
        ensures: &[EventsCounted],
        run: Run::Tiles(|function, id, state| {
            state.beginning = events::prepare(function, id, state.diags);
        }),
    },
    Pass {
        name: "tma-regions",
        kind: Check,
        does: "multicast loads are reached by all threads of their region",
        because: "after `events`, which determines the waiting threads",
        requires: &[EventsCounted],
        ensures: &[],
        run: Run::Tiles(|function, id, state| tma::check_regions(function, id, state.diags)),
    },
    Pass {
        name: "tma-arrivals",
        kind: Lowering,
        does: "each TMA load gets an mbarrier slot, and the kernel its prologue",
        because: "after `events`: the prologue also initialises its mbarriers",
        requires: &[EventsCounted],
        ensures: &[LoadsHaveMbarriers],
        run: Run::Tiles(|function, id, state| {
            tma::prepare(function, id, std::mem::take(&mut state.beginning));
        }),
    },
    Pass {
        name: "barriers",
        kind: Transformation,
        does: "inserts barriers and fences between conflicting accesses of different threads",
        because: "before copies are lowered, after asynchronous ones have waits",
        requires: &[WaitsCounted, ThreadsDecided, LoadsHaveMbarriers],
        ensures: &[AccessesOrdered],
        run: Run::Tiles(|function, id, _| barriers::insert_barriers(function, id)),
    },
    Pass {
        name: "scalar-replacement",
        kind: Transformation,
        does: "promotes elements that a loop updates to registers",
        because: "after `barriers`: a barrier in the loop forbids it",
        requires: &[AccessesOrdered],
        ensures: &[],
        run: Run::Tiles(|function, id, _| scalar_replacement::promote(function, id)),
    },
    Pass {
        name: "row-padding",
        kind: Transformation,
        does: "pads rows of transposed tiles to avoid bank conflicts",
        because: "before buffers get addresses",
        requires: &[],
        ensures: &[],
        run: Run::Tiles(|function, id, _| row_padding::pad(function, id)),
    },
    Pass {
        name: "bank-conflicts",
        kind: Check,
        does: "reports accesses of shared memory with bank conflicts",
        because: "after `row-padding`, which removes some",
        requires: &[ThreadsDecided],
        ensures: &[],
        run: Run::Tiles(|function, id, state| {
            bank_conflicts::check(function, id)
                .into_iter()
                .for_each(|found| state.diags.push(found));
        }),
    },
    Pass {
        name: "shared-memory",
        kind: Analysis,
        does: "shared buffers get addresses; buffers with disjoint live ranges share storage",
        because: "after all passes that add or widen shared buffers",
        requires: &[AccessesOrdered],
        ensures: &[SharedPlaced],
        run: Run::Tiles(|function, id, state| shared_memory::plan(function, id, state.limits)),
    },
    Pass {
        name: "divergence",
        kind: Transformation,
        does: "all threads of a unit reach each collective statement, or none; inserts a check at run time where that is unknown",
        because: "after `barriers`, and before copies are lowered",
        requires: &[AccessesOrdered],
        ensures: &[],
        run: Run::Tiles(|function, id, state| {
            let unknown = divergence::check(function, id, state.diags);
            if matches!(state.checks, Checks::All | Checks::Report) {
                agreement::insert(function, id, &unknown);
            }
        }),
    },
    Pass {
        name: "arrivals-together",
        kind: Analysis,
        does: "the triggers that all threads of a warp or warpgroup execute together",
        because: "where `divergence` computes the same, and before `mma`, which delays some of them",
        requires: &[EventsCounted],
        ensures: &[],
        run: Run::Tiles(|function, id, state| {
            if state.improve {
                fewer_arrivals::find(function, id);
            }
        }),
    },
    Pass {
        name: "barrier-ids",
        kind: Lowering,
        does: "assigns one of the sixteen hardware barriers to each barrier",
        because: "after `barriers` and `shared-memory`, which both insert them",
        requires: &[AccessesOrdered, SharedPlaced],
        ensures: &[BarriersNumbered],
        run: Run::Tiles(|function, id, state| barrier_ids::assign(function, id, state.diags)),
    },
    Pass {
        name: "mma",
        kind: Lowering,
        does: "lowers MMAs, loads and stores of fragments to instructions",
        because: "before `swizzles`, which rewrites the addresses of operands",
        requires: &[FragmentsOwned, AccessesOrdered],
        ensures: &[MmasLowered],
        run: Run::Tiles(|function, id, _| mma::expand(function, id)),
    },
    Pass {
        name: "skipped-masks",
        kind: Transformation,
        does: "a loop over registers runs without what it does under a condition, where that holds for none of them",
        because: "after `mma`, whose waits are in front of the loop, and before `exact-integers`, which checks the conditions",
        requires: &[MmasLowered],
        ensures: &[],
        run: Run::Tiles(|function, id, state| {
            if state.improve {
                skipped_masks::skip(function, id);
            }
        }),
    },
    Pass {
        name: "swizzles",
        kind: Lowering,
        does: "elements of swizzled buffers are addressed by groups of columns",
        because: "after `mma`: descriptors use unswizzled offsets",
        requires: &[MmasLowered],
        ensures: &[SwizzlesApplied],
        run: Run::Tiles(|function, id, _| swizzled_addressing::apply(function, id)),
    },
    Pass {
        name: "tma",
        kind: Lowering,
        does: "TMA copies become instructions with coordinates",
        because: "after `swizzles`: a TMA box is addressed by its first element",
        requires: &[EventsCounted, LoadsHaveMbarriers, SwizzlesApplied],
        ensures: &[EventsLowered, TmaLowered],
        run: Run::Tiles(|function, id, _| tma::expand(function, id)),
    },
    Pass {
        name: "copies",
        kind: Lowering,
        does: "lowers copies and fills to moves of single threads",
        because: "after `tma`, which removes TMA copies",
        requires: &[WaitsCounted, TmaLowered],
        ensures: &[CopiesLowered],
        run: Run::Tiles(|function, id, state| {
            copies::expand(function, id)
                .into_iter()
                .for_each(|slow| state.diags.push(slow));
        }),
    },
    Pass {
        name: "asynchronous",
        kind: Analysis,
        does: "whether the kernel has asynchronous copies or warpgroup MMAs",
        because: "after copies and MMAs are lowered",
        requires: &[MmasLowered, CopiesLowered],
        ensures: &[],
        run: Run::Kernel(|function, id, _| kernel_facts::note_asynchronous(function, id)),
    },
    Pass {
        name: "block-order",
        kind: Analysis,
        does: "whether the result of a kernel depends on the order of its blocks",
        because: "",
        requires: &[],
        ensures: &[],
        run: Run::Kernel(|function, id, _| kernel_facts::note_order(function, id)),
    },
    Pass {
        name: "scalar-replacement-around-copies",
        kind: Transformation,
        does: "`scalar-replacement` again, for elements that copies access",
        because: "after copies are lowered to moves of single threads",
        requires: &[AccessesOrdered, CopiesLowered],
        ensures: &[],
        run: Run::Kernel(|function, id, _| scalar_replacement::promote_around_copies(function, id)),
    },
    Pass {
        name: "wide-accesses",
        kind: Transformation,
        does: "threads of element-wise kernels take several neighbouring instances, by accesses of 16 bytes",
        because: "after `shared-by-instances`, which proves that they are independent, and `thread-order`",
        requires: &[AccessesOrdered, CopiesLowered],
        ensures: &[],
        run: Run::Tiles(|function, id, state| {
            if state.reorder && state.improve {
                wide_accesses::widen(function, id);
            }
        }),
    },
    Pass {
        name: "wide-sums",
        kind: Transformation,
        does: "neighbouring elements that a thread adds atomically to device memory are added by 16 bytes at a time, on GPUs from sm_90 on",
        because: "before `vector-loops`, which sees loops that remain, and after the last pass that adds accesses",
        requires: &[AccessesOrdered, CopiesLowered, SwizzlesApplied],
        ensures: &[],
        run: Run::Kernel(|function, id, state| {
            if state.improve {
                wide_accesses::add_together(function, id);
            }
        }),
    },
    Pass {
        name: "vector-loops",
        kind: Transformation,
        does: "loops of a thread over neighbouring elements access 16 bytes at a time, where these are aligned and no check fails",
        because: "after `wide-accesses`, which sees the loops of an element-wise kernel, and after the last pass that adds accesses",
        requires: &[AccessesOrdered, CopiesLowered, SwizzlesApplied],
        ensures: &[],
        run: Run::Kernel(|function, id, state| {
            if state.improve {
                wide_accesses::widen_loops(function, id);
            }
        }),
    },
    Pass {
        name: "fewer-arrivals",
        kind: Transformation,
        does: "one thread of a warp or warpgroup arrives at an mbarrier for all of them, on GPUs from sm_90 on",
        because: "after all passes that move accesses, barriers and waits, and before `thread-conditions`, which selects the thread",
        requires: &[EventsLowered, TmaLowered, CopiesLowered, BarriersNumbered],
        ensures: &[],
        run: Run::Tiles(|function, id, state| {
            if state.improve {
                fewer_arrivals::choose(function, id);
            }
        }),
    },
    Pass {
        name: "thread-conditions",
        kind: Lowering,
        does: "writes which thread acts for a unit, and which warpgroup meets at a barrier, as expressions",
        because: "after all passes that add such statements, and before thread numbers are shared",
        requires: &[
            BarriersNumbered,
            MmasLowered,
            EventsLowered,
            TmaLowered,
            CopiesLowered,
        ],
        ensures: &[ThreadsNamed],
        run: Run::Kernel(|function, id, _| thread_conditions::write(function, id)),
    },
    Pass {
        name: "warp-uniform",
        kind: Transformation,
        does: "makes warp-uniform values visible to ptxas",
        because: "after all thread numbers are explicit",
        requires: &[ThreadsNamed],
        ensures: &[],
        run: Run::Kernel(|function, id, _| warp_uniform::expose(function, id)),
    },
    Pass {
        name: "copy-propagation",
        kind: Transformation,
        does: "variables that are copies of others go; thread numbers are declared once",
        because: "after all passes that add variables",
        requires: &[],
        ensures: &[],
        run: Run::Kernel(|function, id, _| copy_propagation::propagate(function, id)),
    },
    Pass {
        name: "dead-code",
        kind: Transformation,
        does: "removes variables that are never read",
        because: "after `copy-propagation`, which leaves some without readers",
        requires: &[],
        ensures: &[],
        run: Run::Kernel(|function, id, _| dead_code::eliminate(function, id)),
    },
    Pass {
        name: "register-regions",
        kind: Transformation,
        does: "merges a region and its initial `setmaxnreg` into one branch",
        because: "after `events`, which splits them, and all passes that need the threads of a region",
        requires: &[EventsLowered],
        ensures: &[],
        run: Run::Kernel(|function, id, _| registers::merge_regions(function, id)),
    },
    Pass {
        name: "shared-memory-limits",
        kind: Check,
        does: "the shared memory of a block does not exceed that of the GPU",
        because: "after `shared-memory`",
        requires: &[SharedPlaced],
        ensures: &[],
        run: Run::Kernel(|function, id, state| {
            let kernel = function.kernels.get(id.index());
            let excess =
                kernel.and_then(|kernel| shared_memory::excess(function, kernel, state.limits));
            if let Some(excess) = excess {
                state.diags.push(excess);
            }
        }),
    },
    Pass {
        name: "exact-integers",
        kind: Transformation,
        does: "checks integers that could overflow where they are computed",
        because: "after all passes that write expressions",
        requires: &[],
        ensures: &[IntegersExact],
        run: Run::Function(|function, state| match state.improve {
            true => exact::check(function, state.checks, state.diags),
            false => exact::report(function, state.diags),
        }),
    },
];
