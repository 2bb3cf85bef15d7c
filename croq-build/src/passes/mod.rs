//! Checks, analyses, transformations and lowerings of the kernel IR between `sema` and `emit`.
//!
//! [`table`] lists them in the order in which they run, each with what it does and why it stands where it does;
//! [`property`] has what they require and ensure, [`driver`] runs them, and `docs/passes.md` is written from the table. The last of them, [`lower::seal`], makes
//! the only form that `emit` prints; nothing is left to decide there.
//!
//! * [`check`]: passes that report and change nothing;
//! * [`analysis`]: what is found out about a kernel, by passes and for passes and `emit`;
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

/// All passes but `exact-integers`, whose checks would stand in the way of tests that look at text.
#[cfg(test)]
pub fn run(
    function: Function,
    limits: Limits,
    reorder: bool,
    diags: &mut Diagnostics,
) -> Option<Function<Threads>> {
    let checks = crate::settings::Checks::All;
    let mut state = pass::State::new(limits, reorder, checks, true, diags);
    let passes = table::LOWERING.passes.iter();
    let passes: Vec<_> = passes.filter(|p| p.name != "exact-integers").collect();
    driver::lower_by(&passes, function, &mut state, &mut ())
}
