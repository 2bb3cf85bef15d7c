//! The work of the front end, counted in unit tests as bytes, tokens and grammar rules. A time
//! would depend on the load of the machine.

/// Counts one byte, token or rule.
#[inline]
pub fn step() {
    #[cfg(test)]
    counted::step();
}

/// Does `work` on a thread of its own; its steps count in this one.
pub fn on_thread<R: Send>(stack: usize, work: impl FnOnce() -> R + Send) -> std::io::Result<R> {
    let counted = move || {
        let out = work();
        #[cfg(test)]
        let out = (out, counted::so_far());
        out
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(stack);
        let out = thread.spawn_scoped(scope, counted)?.join();
        // A panic goes on in this thread.
        let out = out.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        #[cfg(test)]
        let out = {
            counted::add(out.1);
            out.0
        };
        Ok(out)
    })
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

    pub fn so_far() -> u64 {
        STEPS.get()
    }

    pub fn add(steps: u64) {
        STEPS.set(STEPS.get() + steps);
    }

    /// The steps of this thread while `work` runs.
    pub fn during(work: impl FnOnce()) -> u64 {
        let before = STEPS.get();
        work();
        STEPS.get() - before
    }
}
