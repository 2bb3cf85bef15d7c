//! The two phases of the IR.
//!
//! `sema` and the passes work on [`Tiles`]: copies, fills, fragments, events and waits for them are
//! statements of a whole unit. `emit` prints [`Threads`]: a statement is executed by a single
//! thread. Each kind of statement that lowering passes must remove contains a [`Phase::Only`],
//! which has no value in the phase [`Threads`], so that one that was not lowered cannot reach
//! `emit`. [`super::seal`] is the only conversion from [`Tiles`] to [`Threads`].

use std::fmt::Debug;

/// A phase of the IR.
pub trait Phase: Copy + Debug + 'static {
    /// The type of a part of a tile statement. In the phase `Threads` it has no values, and so the
    /// statement has none either.
    type Only<T: Clone + Debug>: Clone + Debug;

    fn only<T: Clone + Debug>(part: &Self::Only<T>) -> &T;
    fn only_mut<T: Clone + Debug>(part: &mut Self::Only<T>) -> &mut T;
}

/// Statements are executed by units of threads.
#[derive(Clone, Copy, Debug)]
pub enum Tiles {}

/// Statements are executed by a single thread.
#[derive(Clone, Copy, Debug)]
pub enum Threads {}

/// A type without values.
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
