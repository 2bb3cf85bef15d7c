//! The table of passes, in the order in which they run, in three stages. [`super::driver`] runs it;
//! `croq emit --ir=after:PASS`, `CROQ_DUMP_IR` and `docs/passes.md` have their names from it.

use crate::passes::pass::Pass;

mod completion;
mod lowering;

/// A part of the table. An error in a function ends its way through the passes where a stage begins.
pub struct Stage {
    pub name: &'static str,
    /// On what its passes run.
    pub about: &'static str,
    /// It is for functions with errors, too, so that one run reports what can be.
    pub after_errors: bool,
    pub passes: &'static [Pass],
}

/// All of them, in order.
pub const STAGES: [Stage; 3] = [RESOLUTION, COMPLETION, LOWERING];

pub const RESOLUTION: Stage = Stage {
    name: "resolution",
    about: "every function, even one with errors, so that one run reports as much as possible",
    after_errors: true,
    passes: completion::RESOLUTION,
};

pub const COMPLETION: Stage = Stage {
    name: "completion",
    about: "functions without an error so far",
    after_errors: false,
    passes: completion::COMPLETION,
};

/// Its own errors end it only before `seal`: checks that follow have more to report.
pub const LOWERING: Stage = Stage {
    name: "lowering",
    about: "functions without an error so far, after the stages before it have seen all functions of the file",
    after_errors: false,
    passes: lowering::PASSES,
};

/// The passes of all stages, in order.
pub fn all() -> impl Iterator<Item = &'static Pass> {
    STAGES.into_iter().flat_map(|stage| stage.passes)
}

#[cfg(test)]
mod tests;
