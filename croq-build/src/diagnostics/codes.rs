//! All codes, as constants. Each is declared beside its explanation, in the file of its topic.

pub use super::explain::{
    atomics::*, declarations::*, events::*, files::*, loops::*, mma::*, movement::*, names::*,
    numbers::*, parallel::*, run_time::*, shapes::*, storage::*, syntax::*, templates::*, tools::*,
};
