//! Checks, analyses, transformations and lowerings of the kernel IR between `sema` and `emit`.
//!
//! [`table`] lists them in execution order, each with its purpose and the reason for its position;
//! [`property`] defines the properties that they require and ensure, [`driver`] runs them, and
//! `docs/passes.md` is generated from the table. The last of them, [`lower::seal`], produces the
//! only form that `emit` prints; no decisions remain there.
//!
//! * [`check`]: passes that only report;
//! * [`analysis`]: facts about a kernel, computed by passes and on demand for passes and `emit`;
//! * [`transform`]: passes that change statements without replacing their kind;
//! * [`lower`]: passes that replace statements by simpler ones.

pub mod analysis;
mod check;
pub mod driver;
mod lower;
#[cfg(test)]
mod model;
pub mod pass;
pub mod property;
pub mod table;
mod transform;

pub use analysis::shared_memory::Limits;
pub use check::signals::awaited;

#[cfg(test)]
use crate::diagnostics::Diagnostics;
#[cfg(test)]
use crate::ir::{Function, Threads};

/// Runs all lowering passes except `exact-integers`, whose checks would clutter the texts in tests.
#[cfg(test)]
pub fn run(
    function: Function,
    limits: Limits,
    reorder: bool,
    diags: &mut Diagnostics,
) -> Option<Function<Threads>> {
    let checks = crate::settings::Checks::All;
    let mut state = pass::State::new(limits, reorder, checks, true, diags);
    let passes = table::of_lowering(true);
    let passes: Vec<_> = passes.filter(|p| p.name != "exact-integers").collect();
    driver::lower_by(&passes, function, &mut state, &mut ())
}
