//! The definition of a pass, and the state that passes share.

use crate::diagnostics::Diagnostics;
use crate::ir::{Function, KernelId};
use crate::passes::analysis::shared_memory;
use crate::passes::lower::events;
use crate::passes::property::Property;
use crate::settings::Checks;

/// The effect of a pass on the IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Reports; changes nothing.
    Check,
    /// Records facts in the function, for later passes.
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
    /// For kernels that have tiles.
    Tiles(fn(&mut Function, KernelId, &mut State)),
    /// [`crate::passes::lower::seal`], whose result is a function of the other phase.
    Seal,
}

pub struct Pass {
    pub name: &'static str,
    pub kind: Kind,
    /// Its purpose.
    pub does: &'static str,
    /// The reason for its position; empty if the order does not matter.
    pub because: &'static str,
    /// Properties that earlier passes must have ensured.
    pub requires: &'static [Property],
    /// Properties of each kernel from here on.
    pub ensures: &'static [Property],
    pub(super) run: Run,
}

impl Pass {
    /// Whether it runs once for each kernel.
    pub fn is_of_kernels(&self) -> bool {
        matches!(self.run, Run::Kernel(_) | Run::Tiles(_))
    }
}

/// The inputs of passes besides the function, and values that one pass leaves for another.
pub struct State<'a> {
    pub limits: shared_memory::Limits,
    /// Whether the order of threads may be changed.
    pub reorder: bool,
    pub checks: Checks,
    /// Whether the verifier runs after each pass.
    pub verify: bool,
    /// Whether text is generated. Otherwise the passes that only improve it do not run, and facts that
    /// only it needs are not found.
    pub improve: bool,
    pub diags: &'a mut Diagnostics,
    /// Whether the kernel is a single copy or fill that was distributed over a grid: it has no
    /// tiles, and passes over tiles skip it.
    pub(super) is_grid_copy: bool,
    /// Passes that have run on the function, in the order in which they ran.
    pub(super) ran: Vec<&'static str>,
    /// Result of `events` for `tma-arrivals`: the statements at the kernel's beginning.
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
            improve: true,
            diags,
            is_grid_copy: false,
            ran: Vec::new(),
            beginning: events::Beginning::default(),
        }
    }
}

pub(super) fn kernel_id(at: usize) -> KernelId {
    KernelId(u32::try_from(at).unwrap_or(u32::MAX))
}
