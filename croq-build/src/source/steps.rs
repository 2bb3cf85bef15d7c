//! How much the front end looks at, counted in unit tests: bytes, tokens, and rules of the grammar.
//! Time would depend on what else the machine does.

/// One byte, token or rule is looked at.
#[inline]
pub fn step() {
    #[cfg(test)]
    counted::step();
}

#[cfg(test)]
pub use counted::during;

#[cfg(test)]
mod counted {
    use std::cell::Cell;

    thread_local! {
        static STEPS: Cell<u64> = const { Cell::new(0) };
    }

    pub fn step() {
        STEPS.set(STEPS.get() + 1);
    }

    /// Steps of this thread while `work` runs.
    pub fn during(work: impl FnOnce()) -> u64 {
        let before = STEPS.get();
        work();
        STEPS.get() - before
    }
}
