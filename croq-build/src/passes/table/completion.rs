//! The first two stages: rewrites and checks that need the whole function.

use crate::passes::check::{instance_races, swizzle_uses, tma_boxes, unreached_elements};
use crate::passes::pass::{Kind, Pass, Run};
use crate::passes::property::Property;
use crate::passes::transform::{
    bound_copies, copies_for_others, operand_tiles, pool_views, wait_counts,
};

use Kind::{Check, Transformation};
use Property::{EventCopiesBound, PoolsWhole, WaitsCounted};

pub(super) const RESOLUTION: &[Pass] = &[
    Pass {
        name: "pool-views",
        kind: Transformation,
        does: "views of buffers that are parts of a pool become views of the pool",
        because: "first: everything after it looks at the buffers of views",
        requires: &[],
        ensures: &[PoolsWhole],
        run: Run::Function(|function, _| pool_views::rewrite(function)),
    },
    Pass {
        name: "bound-copies",
        kind: Transformation,
        does: "copies that a `trigger … after` names complete its event; threads wait for their own copies before they trigger the event that these name",
        because: "before `wait-counts`, which counts the copies that no event completes",
        requires: &[],
        ensures: &[EventCopiesBound],
        run: Run::Function(|function, state| bound_copies::bind(function, state.diags)),
    },
    Pass {
        name: "copies-for-others",
        kind: Transformation,
        does: "a TMA load that threads of other regions wait for completes an event of its own",
        because: "before `wait-counts`, for which these copies are not in flight",
        requires: &[],
        ensures: &[],
        run: Run::Kernel(|function, id, state| {
            copies_for_others::make_events(function, id, state.diags);
        }),
    },
    Pass {
        name: "swizzle-uses",
        kind: Check,
        does: "tiles, operands and C++ that use a swizzled buffer fit its layout",
        because: "after `pool-views`: a pool has one swizzle",
        requires: &[PoolsWhole],
        ensures: &[],
        run: Run::Kernel(|function, id, state| swizzle_uses::check(function, id, state.diags)),
    },
    Pass {
        name: "tma-boxes",
        kind: Check,
        does: "tiles that TMA moves can be divided into boxes; swizzled ones are whole groups and begin where the pattern does",
        because: "after `pool-views`, which moves the first elements of tiles",
        requires: &[PoolsWhole],
        ensures: &[],
        run: Run::Kernel(|function, id, state| tma_boxes::check(function, id, state.diags)),
    },
];

pub(super) const COMPLETION: &[Pass] = &[
    Pass {
        name: "wait-counts",
        kind: Transformation,
        does: "each wait for copies says how many younger groups stay in flight; no data is used before it has arrived",
        because: "after `bound-copies`",
        requires: &[PoolsWhole, EventCopiesBound],
        ensures: &[WaitsCounted],
        run: Run::Kernel(|function, id, state| wait_counts::count(function, id, state.diags)),
    },
    Pass {
        name: "operand-tiles",
        kind: Transformation,
        does: "copies of tiles that MMAs read write zeros beyond the edge of the data",
        because: "before `unwritten`, for which such a tile is written whole",
        requires: &[PoolsWhole],
        ensures: &[],
        run: Run::Kernel(|function, id, _| operand_tiles::fill(function, id)),
    },
    Pass {
        name: "instance-races",
        kind: Check,
        does: "instances of a level do not race for an element of shared memory",
        because: "after `wait-counts`, which removes statements that only it needs",
        requires: &[PoolsWhole, WaitsCounted],
        ensures: &[],
        run: Run::Function(|function, state| instance_races::check(function, state.diags)),
    },
    Pass {
        name: "unreached-elements",
        kind: Check,
        does: "the statements that write a result reach the end of each axis",
        because: "before copies are expanded: it looks at the frames of views",
        requires: &[],
        ensures: &[],
        run: Run::Function(|function, state| unreached_elements::check(function, state.diags)),
    },
];
