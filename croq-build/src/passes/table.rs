//! The table of passes, in execution order, in stages. [`super::driver`] runs it; `croq emit
//! --ir=after:PASS`, `CROQ_DUMP_IR` and `docs/passes.md` use its names.

use crate::passes::pass::Pass;

mod completion;
mod improvement;
mod lowering;

/// A part of the table. After an error, a function does not reach the next stage.
pub struct Stage {
    pub name: &'static str,
    /// The functions on which its passes run.
    pub about: &'static str,
    /// Whether it also runs on functions with errors, so that one run reports as much as possible.
    pub after_errors: bool,
    pub passes: &'static [Pass],
}

/// All stages, in order.
pub const STAGES: [Stage; 5] = [RESOLUTION, COMPLETION, LOWERING, IMPROVEMENT, SEALING];

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

/// Its own errors only prevent `seal`: the checks after an error may report more.
pub const LOWERING: Stage = Stage {
    name: "lowering",
    about: "functions without an error so far",
    after_errors: false,
    passes: lowering::PASSES,
};

/// Left out where no text is generated. Its passes have no diagnostics: what `croq check` accepts, a
/// build accepts.
pub const IMPROVEMENT: Stage = Stage {
    name: "improvement",
    about: "functions of which text is generated; `croq check` leaves it out, for these passes report nothing",
    after_errors: false,
    passes: improvement::IMPROVEMENT,
};

pub const SEALING: Stage = Stage {
    name: "sealing",
    about: "functions without an error",
    after_errors: false,
    passes: improvement::SEALING,
};

/// The passes that lower a complete function, in order.
pub fn of_lowering(improve: bool) -> impl Iterator<Item = &'static Pass> {
    let improvement: &[Pass] = match improve {
        true => IMPROVEMENT.passes,
        false => &[],
    };
    LOWERING
        .passes
        .iter()
        .chain(improvement)
        .chain(SEALING.passes)
}

/// The passes of all stages, in order.
pub fn all() -> impl Iterator<Item = &'static Pass> {
    STAGES.into_iter().flat_map(|stage| stage.passes)
}

#[cfg(test)]
mod tests;
