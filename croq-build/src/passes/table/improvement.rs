//! The last stages: better code for a lowered function, and its conversion for `emit`.

use crate::passes::pass::{Kind, Pass, Run};
use crate::passes::property::Property;
use crate::passes::transform::{
    launch_values, named_divisions, narrow_counters, narrow_divisions, narrow_indices,
    pair_conversions, ring_slots,
};
use crate::settings::Checks;

use Kind::{Lowering, Transformation};
use Property::{
    BarriersNumbered, CopiesLowered, EventsLowered, FragmentsOwned, IntegersExact, MmasLowered,
    OfThreads, ThreadsNamed, TmaLowered,
};

pub(super) const IMPROVEMENT: &[Pass] = &[
    Pass {
        name: "narrow-counters",
        kind: Transformation,
        does: "gives loop variables 32 bits where the extents of tensor maps bound them",
        because: "after `tma`, which makes the maps, and `exact-integers`",
        requires: &[TmaLowered, IntegersExact],
        ensures: &[],
        run: Run::Kernel(|function, id, _| narrow_counters::narrow(function, id)),
    },
    Pass {
        name: "ring-slots",
        kind: Transformation,
        does: "counts the remainder of a loop variable, the slot of a ring, from iteration to iteration",
        because: "after `exact-integers`: the counters don't overflow, and all analyses see the remainder",
        requires: &[IntegersExact],
        ensures: &[],
        run: Run::Kernel(|function, id, _| ring_slots::count(function, id)),
    },
    Pass {
        name: "named-divisions",
        kind: Transformation,
        does: "gives quotients and remainders a variable, in front of the loops that do not change them",
        because: "after `exact-integers`, which checks the operands, and `ring-slots`, which removes divisions",
        requires: &[IntegersExact],
        ensures: &[],
        run: Run::Kernel(|function, id, _| named_divisions::name(function, id)),
    },
    Pass {
        name: "narrow-divisions",
        kind: Transformation,
        does: "divides integers by 32-bit instructions where both are proved to be smaller",
        because: "after `named-divisions`, which moves divisions out of loops",
        requires: &[IntegersExact],
        ensures: &[],
        run: Run::Kernel(|function, id, state| {
            narrow_divisions::narrow(function, id, state.checks != Checks::Report);
        }),
    },
    Pass {
        name: "launch-values",
        kind: Transformation,
        does: "computes quotients of extents on the host, in kernels that copy by TMA",
        because: "after all passes that prove something about these quotients",
        requires: &[IntegersExact, TmaLowered],
        ensures: &[],
        run: Run::Function(|function, _| launch_values::name(function)),
    },
    Pass {
        name: "pair-conversions",
        kind: Transformation,
        does: "converts two numbers of 32 bits to consecutive smaller elements by one instruction",
        because: "after all passes that prove something about these elements",
        requires: &[],
        ensures: &[],
        run: Run::Kernel(|function, id, _| pair_conversions::pair(function, id)),
    },
    Pass {
        name: "narrow-indices",
        kind: Transformation,
        does: "computes addresses in global memory with 32 bits, in loops of kernels that copy by TMA, and in front of loops of MMAs what they do not change",
        because: "after all passes that prove something about addresses",
        requires: &[IntegersExact, TmaLowered],
        ensures: &[],
        run: Run::Kernel(|function, id, state| {
            if state.checks != Checks::Report {
                narrow_indices::narrow(function, id);
            }
        }),
    },
];

pub(super) const SEALING: &[Pass] = &[Pass {
    name: "seal",
    kind: Lowering,
    does: "converts the IR to `Threads`, where only statements of single threads exist; \
               a remaining statement of a unit is an internal error",
    because: "last: `emit` accepts only its result",
    requires: &[
        FragmentsOwned,
        BarriersNumbered,
        MmasLowered,
        EventsLowered,
        TmaLowered,
        CopiesLowered,
        ThreadsNamed,
    ],
    ensures: &[OfThreads],
    run: Run::Seal,
}];
