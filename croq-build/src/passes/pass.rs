//! What a pass is, and what passes share.

use std::collections::BTreeSet;

use crate::diagnostics::Diagnostics;
use crate::ir::{Function, KernelId};
use crate::passes::analysis::shared_memory;
use crate::passes::lower::events;
use crate::passes::property::Property;
use crate::settings::Checks;

/// What a pass does to the IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Reports; changes nothing.
    Check,
    /// Leaves what it found in the function, for passes after it.
    Analysis,
    /// Changes statements without replacing their kind by a simpler one.
    Transformation,
    /// Replaces statements by simpler ones.
    Lowering,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Check => "check",
            Kind::Analysis => "analysis",
            Kind::Transformation => "transformation",
            Kind::Lowering => "lowering",
        }
    }
}

pub(super) enum Run {
    Function(fn(&mut Function, &mut State)),
    Kernel(fn(&mut Function, KernelId, &mut State)),
    /// Of kernels that have tiles.
    Tiles(fn(&mut Function, KernelId, &mut State)),
    /// [`crate::passes::lower::seal`], which makes a function of the other phase.
    Seal,
}

pub struct Pass {
    pub name: &'static str,
    pub kind: Kind,
    /// What it does.
    pub does: &'static str,
    /// Why it stands where it does; empty where the order does not matter.
    pub because: &'static str,
    /// What passes before it must have ensured.
    pub requires: &'static [Property],
    /// What holds of each kernel from here on.
    pub ensures: &'static [Property],
    pub(super) run: Run,
}

impl Pass {
    /// Whether it runs once for each kernel.
    pub fn is_of_kernels(&self) -> bool {
        matches!(self.run, Run::Kernel(_) | Run::Tiles(_))
    }
}

/// What passes read besides the function, and what they hand on to each other.
pub struct State<'a> {
    pub limits: shared_memory::Limits,
    /// Threads may get their indices in another order than the program's.
    pub reorder: bool,
    pub checks: Checks,
    /// The verifier runs after each pass.
    pub verify: bool,
    pub diags: &'a mut Diagnostics,
    /// The kernel is one copy or fill that was spread over a grid: it has no tiles, and passes over tiles
    /// leave it out.
    pub(super) is_grid_copy: bool,
    /// Passes that have run on the function.
    pub(super) ran: BTreeSet<&'static str>,
    /// From `events` for `tma-arrivals`: what the kernel begins with.
    pub(super) beginning: events::Beginning,
}

impl<'a> State<'a> {
    pub fn new(
        limits: shared_memory::Limits,
        reorder: bool,
        checks: Checks,
        verify: bool,
        diags: &'a mut Diagnostics,
    ) -> Self {
        Self {
            limits,
            reorder,
            checks,
            verify,
            diags,
            is_grid_copy: false,
            ran: BTreeSet::new(),
            beginning: events::Beginning::default(),
        }
    }
}

pub(super) fn kernel_id(at: usize) -> KernelId {
    KernelId(u32::try_from(at).unwrap_or(u32::MAX))
}
