//! What is known about the way to the statement at hand.

use crate::sema::values::value::Derive;

#[derive(Default)]
pub(crate) struct Path {
    pub loops: u32,
    /// Loops around the `parallel` or `inthreads` that this is in.
    pub loops_apart: u32,
    /// Conditions that restrict which instances come here (`if`, `while`, a split's guard).
    pub conditional: u32,
    /// What may keep a call from coming here at all: conditions, loops of perhaps no iterations, and
    /// what leaves early. Host code and kernels alike.
    pub uncertain: u32,
    /// Inside a branch that is never taken: a proven violation there is none.
    pub dead: u32,
    /// Inside a condition that may well be true always: an `assert`'s, an `inthreads`'.
    pub asserting: bool,
    /// In an extent, a bound or another number of things.
    pub counting: bool,
    /// In the value of a `return`.
    pub returning: bool,
    /// Inside the outer of two merged thread levels.
    pub merging: bool,
    /// The shape that a bare `(i)` is an element of, inside a derivation.
    pub derive: Option<Derive>,
}
