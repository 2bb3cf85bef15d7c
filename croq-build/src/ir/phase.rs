//! The two phases of the IR.
//!
//! `sema` and the passes work on [`Tiles`]: copies, fills, fragments, events and waits for them are statements of
//! a whole unit. `emit` prints [`Threads`]: a statement is what a single thread does. The statements that
//! lowering passes must remove hold a [`Phase::Only`], which has no value among threads, so that one which was
//! forgotten can't reach `emit`. [`super::seal`] is the only way from the one phase to the other.

use std::fmt::Debug;

/// A phase of the IR.
pub trait Phase: Copy + Debug + 'static {
    /// A part of a statement of tiles. Among threads it has no values, and so neither has the statement.
    type Only<T: Clone + Debug>: Clone + Debug;

    fn only<T: Clone + Debug>(part: &Self::Only<T>) -> &T;
    fn only_mut<T: Clone + Debug>(part: &mut Self::Only<T>) -> &mut T;
}

/// Statements belong to units of threads.
#[derive(Clone, Copy, Debug)]
pub enum Tiles {}

/// Statements are what a single thread does.
#[derive(Clone, Copy, Debug)]
pub enum Threads {}

/// Has no values.
#[derive(Clone, Copy, Debug)]
pub enum Never {}

impl Phase for Tiles {
    type Only<T: Clone + Debug> = T;

    fn only<T: Clone + Debug>(part: &T) -> &T {
        part
    }

    fn only_mut<T: Clone + Debug>(part: &mut T) -> &mut T {
        part
    }
}

impl Phase for Threads {
    type Only<T: Clone + Debug> = Never;

    fn only<T: Clone + Debug>(part: &Never) -> &T {
        match *part {}
    }

    fn only_mut<T: Clone + Debug>(part: &mut Never) -> &mut T {
        match *part {}
    }
}
