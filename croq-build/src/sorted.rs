//! Maps and sets whose keys are in ascending order, as vectors that are searched by halving.
//!
//! They have the order of `BTreeMap` and `BTreeSet`, and less code for each pair of types, of which there are
//! over a hundred: croq-build compiles in less time (docs/measurements.md, "Building the crates"). An insertion
//! moves all entries after it; keys in ascending order are appended. Lists of many thousands of entries in
//! another order are better kept in a tree.

mod map;
mod set;
#[cfg(test)]
mod tests;

pub use map::SortedMap;
pub use set::SortedSet;
