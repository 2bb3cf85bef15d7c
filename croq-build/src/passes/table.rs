//! The table of passes, in the order in which they run. [`super::driver`] runs it; `croq emit --ir=after:PASS`,
//! `CROQ_DUMP_IR` and `docs/passes.md` have their names from it.

use crate::passes::check::{bank_conflicts, grid_barriers, signals};
use crate::passes::lower::{
    barrier_ids, copies, events, grid_copies, mma, swizzled_addressing, tma,
};
use crate::passes::pass::{Kind, Pass, Run, kernel_id};
use crate::passes::transform::{
    barriers, dead_code, exact, fewer_checks, registers, row_padding, scalar_replacement,
    single_thread_levels, thread_order, warp_uniform,
};

use crate::passes::analysis::{kernel_facts, shared_memory, unwritten};
use crate::settings::Checks;

use Kind::{Analysis, Check, Lowering, Transformation};

/// All of them, in order. Neighbouring passes over kernels run one kernel after the other.
pub const PASSES: &[Pass] = &[
    Pass {
        name: "fewer-checks",
        kind: Transformation,
        does: "drops the run-time checks that the build does not ask for",
        because: "before everything that would keep a check's operands alive",
        run: Run::Function(|function, state| match state.checks {
            Checks::Entry => fewer_checks::lower(function, true),
            Checks::None => fewer_checks::lower(function, false),
            Checks::All | Checks::Report => {}
        }),
    },
    Pass {
        name: "signals",
        kind: Check,
        does: "the host does not wait for launches that wait for the host",
        because: "",
        run: Run::Function(|function, state| signals::check(function, state.diags)),
    },
    Pass {
        name: "unwritten",
        kind: Analysis,
        does: "shared memory, local arrays and fragments that may be read before they are written",
        because: "while copies and fragments are still whole",
        run: Run::Function(|function, _| {
            for at in 0..function.kernels.len() {
                unwritten::find(function, kernel_id(at));
            }
        }),
    },
    Pass {
        name: "mma-layouts",
        kind: Lowering,
        does: "fragments become what each thread holds of them; products get a layout and an instruction",
        because: "all other passes see fragments as per-thread arrays",
        run: Run::Function(|function, _| mma::prepare(function)),
    },
    Pass {
        name: "grid-copies",
        kind: Lowering,
        does: "a copy or fill between kernels is spread over a grid",
        because: "such a kernel has no tiles, and passes over tiles leave it out",
        run: Run::Kernel(|function, id, state| {
            state.beginning = events::Beginning::default();
            state.spread = grid_copies::spread(function, id);
        }),
    },
    Pass {
        name: "shared-by-instances",
        kind: Analysis,
        does: "device memory of which two instances may touch one element",
        because: "while indices are those of the program",
        run: Run::Tiles(|function, id, state| kernel_facts::note_shared(function, id, state.diags)),
    },
    Pass {
        name: "single-thread-levels",
        kind: Transformation,
        does: "a block for which the program asks no threads gets more than one",
        because: "before anything depends on the number of threads",
        run: Run::Tiles(|function, id, state| {
            if let Some(note) = single_thread_levels::add(function, id) {
                state.diags.push(note);
            }
        }),
    },
    Pass {
        name: "thread-order",
        kind: Transformation,
        does: "chooses the index that is the fastest among a level's threads, where nothing can tell",
        because: "before indices are spelled by thread numbers",
        run: Run::Tiles(|function, id, state| {
            if state.reorder {
                thread_order::choose(function, id);
            }
        }),
    },
    Pass {
        name: "multicast",
        kind: Check,
        does: "loads for several blocks of a cluster are the same in all of them",
        because: "while copies are whole",
        run: Run::Tiles(|function, id, state| tma::check_multicast(function, id, state.diags)),
    },
    Pass {
        name: "grid-barriers",
        kind: Check,
        does: "all threads of a grid come to its barriers",
        because: "while conditions are those of the program",
        run: Run::Tiles(|function, id, state| grid_barriers::check(function, id, state.diags)),
    },
    Pass {
        name: "event-order",
        kind: Check,
        does: "each wait for an event has a trigger that can come before it",
        because: "while events are whole",
        run: Run::Tiles(|function, id, state| events::check_order(function, id, state.diags)),
    },
    Pass {
        name: "registers",
        kind: Transformation,
        does: "`setreg` asks for no more registers than a block has, and gets a barrier between two changes",
        because: "before `barrier-ids`, which numbers its barriers",
        run: Run::Tiles(|function, id, state| registers::settle(function, id, state.diags)),
    },
    Pass {
        name: "events",
        kind: Lowering,
        does: "events become mbarriers with arrival counts and phase bits",
        because: "before barriers are inserted, which mbarriers make superfluous",
        run: Run::Tiles(|function, id, state| {
            state.beginning = events::prepare(function, id, state.diags);
        }),
    },
    Pass {
        name: "tma-regions",
        kind: Check,
        does: "loads for several blocks stand where all of a region come",
        because: "once events say who waits",
        run: Run::Tiles(|function, id, state| tma::check_regions(function, id, state.diags)),
    },
    Pass {
        name: "tma-arrivals",
        kind: Lowering,
        does: "each TMA load gets an mbarrier slot, and the kernel its prologue",
        because: "after `events`, whose mbarriers the prologue initialises, too",
        run: Run::Tiles(|function, id, state| {
            tma::prepare(function, id, std::mem::take(&mut state.beginning));
        }),
    },
    Pass {
        name: "barriers",
        kind: Transformation,
        does: "inserts barriers and fences where one thread's access must follow another's",
        because: "copies must be whole, and asynchronous ones must have their waits",
        run: Run::Tiles(|function, id, _| barriers::insert_barriers(function, id)),
    },
    Pass {
        name: "scalar-replacement",
        kind: Transformation,
        does: "elements that a loop updates are kept in registers",
        because: "after `barriers`: a barrier in the loop forbids it",
        run: Run::Tiles(|function, id, _| scalar_replacement::promote(function, id)),
    },
    Pass {
        name: "row-padding",
        kind: Transformation,
        does: "rows of transposed tiles get padding that avoids bank conflicts",
        because: "before buffers get addresses",
        run: Run::Tiles(|function, id, _| row_padding::pad(function, id)),
    },
    Pass {
        name: "bank-conflicts",
        kind: Check,
        does: "accesses of shared memory that the banks serve slowly",
        because: "after `row-padding`, which removes some",
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
        run: Run::Tiles(|function, id, state| shared_memory::plan(function, id, state.limits)),
    },
    Pass {
        name: "barrier-ids",
        kind: Lowering,
        does: "each barrier gets one of the hardware's sixteen",
        because: "after `barriers` and `shared-memory`, which both insert them",
        run: Run::Tiles(|function, id, state| barrier_ids::assign(function, id, state.diags)),
    },
    Pass {
        name: "mma",
        kind: Lowering,
        does: "products, loads and stores of fragments become instructions",
        because: "before swizzles are resolved, which operands' addresses need",
        run: Run::Tiles(|function, id, _| mma::expand(function, id)),
    },
    Pass {
        name: "swizzles",
        kind: Lowering,
        does: "elements of swizzled buffers are addressed by groups of columns",
        because: "after `mma`, whose descriptors count row by row",
        run: Run::Tiles(|function, id, _| swizzled_addressing::apply(function, id)),
    },
    Pass {
        name: "tma",
        kind: Lowering,
        does: "TMA copies become instructions with coordinates",
        because: "after `swizzles`: a box is addressed by its first element",
        run: Run::Tiles(|function, id, _| tma::expand(function, id)),
    },
    Pass {
        name: "copies",
        kind: Lowering,
        does: "copies and fills become the moves of single threads",
        because: "after `tma`, which takes its own copies away",
        run: Run::Tiles(|function, id, state| {
            copies::expand(function, id)
                .into_iter()
                .for_each(|slow| state.diags.push(slow));
        }),
    },
    Pass {
        name: "asynchronous",
        kind: Analysis,
        does: "whether bytes may land after the statement that moves them, and whether warpgroups multiply",
        because: "once copies and products are instructions",
        run: Run::Kernel(|function, id, _| kernel_facts::note_asynchronous(function, id)),
    },
    Pass {
        name: "block-order",
        kind: Analysis,
        does: "whether what a kernel leaves depends on the order of its blocks",
        because: "",
        run: Run::Kernel(|function, id, _| kernel_facts::note_order(function, id)),
    },
    Pass {
        name: "scalar-replacement-around-copies",
        kind: Transformation,
        does: "`scalar-replacement` again, for elements that copies touch",
        because: "once copies are moves of single threads",
        run: Run::Kernel(|function, id, _| scalar_replacement::promote_around_copies(function, id)),
    },
    Pass {
        name: "warp-uniform",
        kind: Transformation,
        does: "makes visible to ptxas what is the same for all threads of a warp",
        because: "once every thread number is spelled out",
        run: Run::Kernel(|function, id, _| warp_uniform::expose(function, id)),
    },
    Pass {
        name: "dead-code",
        kind: Transformation,
        does: "drops names that nothing reads",
        because: "after all passes that add names",
        run: Run::Kernel(|function, id, _| dead_code::eliminate(function, id)),
    },
    Pass {
        name: "register-regions",
        kind: Transformation,
        does: "a region and the change of registers it begins with become one branch",
        because: "after `events` split them, and all passes that look for the thread of a region",
        run: Run::Kernel(|function, id, _| registers::merge_regions(function, id)),
    },
    Pass {
        name: "shared-memory-limits",
        kind: Check,
        does: "the shared memory of a block is what a GPU has",
        because: "after `shared-memory`",
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
        run: Run::Function(|function, state| exact::check(function, state.checks, state.diags)),
    },
    Pass {
        name: "seal",
        kind: Lowering,
        does: "what is left are statements of single threads, in a type that has no others; \
               anything else is an internal error",
        because: "last: `emit` takes nothing but its result",
        run: Run::Seal,
    },
];

#[cfg(test)]
mod tests;
