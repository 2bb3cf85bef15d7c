//! The ranges of `with`s and loops, by number.

use crate::sema::state::value::IntValue;

/// The ranges of `with`s and loops, by number.
#[derive(Default)]
pub(crate) struct Ranges {
    /// Current value and bound.
    pub values: Vec<IntValue>,
    pub names: Vec<String>,
}
