//! What a kernel's beginning prepares for its events.

use crate::ir::{BufferId, EventId, Expr, Function, Scalar};
use crate::source::Span;
use crate::symbolic::Sym;

/// An event's mbarriers, for the kernel's beginning.
pub struct Slots {
    pub barriers: BufferId,
    pub slots: Sym,
    pub count: Sym,
}

/// The statements at the kernel's beginning.
#[derive(Default)]
pub struct Beginning {
    pub slots: Vec<Slots>,
    /// Other blocks of the cluster arrive at the mbarriers.
    pub clustered: bool,
}

/// The phase bits of an event that is new.
pub fn first_phases(function: &Function, event: EventId, ty: Scalar, span: Span) -> Expr {
    let info = function.event(event);
    // The phase of parity 1 of a new mbarrier counts as complete.
    let bits = match info.ready {
        true => (1_i128 << info.phase_bits()) - 1,
        false => 0,
    };
    Expr::int(bits, ty, span)
}
