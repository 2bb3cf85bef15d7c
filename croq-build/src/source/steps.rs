//! The work of the front end, counted in unit tests as bytes, tokens and grammar rules. A time
//! would depend on the load of the machine.

/// Counts one byte, token or rule.
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

    /// The steps of this thread while `work` runs.
    pub fn during(work: impl FnOnce()) -> u64 {
        let before = STEPS.get();
        work();
        STEPS.get() - before
    }
}
