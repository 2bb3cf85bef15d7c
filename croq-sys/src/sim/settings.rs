//! What environment variables say of the simulated GPU.
//!
//! Each is read once and kept in an atomic number. A `OnceLock` that another thread was filling at a `fork` would stay so
//! for ever in the child; that two threads read the same variable does no harm.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number from the environment.
struct Setting {
    value: AtomicU64,
    read: fn() -> u64,
}

/// Not read yet. No setting has this value.
const UNREAD: u64 = u64::MAX;

impl Setting {
    const fn new(read: fn() -> u64) -> Self {
        Self {
            value: AtomicU64::new(UNREAD),
            read,
        }
    }

    fn get(&self) -> u64 {
        match self.value.load(Ordering::Relaxed) {
            UNREAD => {
                let value = (self.read)().min(UNREAD - 1);
                self.value.store(value, Ordering::Relaxed);
                value
            }
            value => value,
        }
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name)
        .ok()
        .map(|value| value.trim().to_owned())
}

/// `CROQ_SIM_SEED`, a number; 0 when it is none.
pub(super) fn seed() -> u64 {
    static SEED: Setting = Setting::new(|| {
        let value = variable("CROQ_SIM_SEED").and_then(|value| value.parse().ok());
        value.unwrap_or(0)
    });
    SEED.get()
}

/// `CROQ_SIM_STEPS`, a number: how many steps the loops of a block may take.
pub(super) fn steps() -> u64 {
    static STEPS: Setting = Setting::new(|| {
        let value = variable("CROQ_SIM_STEPS").and_then(|value| value.parse().ok());
        value.unwrap_or(super::steps::DEFAULT)
    });
    STEPS.get()
}

/// Unless `CROQ_SIM_RACES` is `off`.
pub(super) fn looks_for_races() -> bool {
    static LOOKS: Setting =
        Setting::new(|| u64::from(variable("CROQ_SIM_RACES").as_deref() != Some("off")));
    LOOKS.get() != 0
}

/// `CROQ_SIM_THREADS`, or as many as there are processors.
static THREADS: Setting = Setting::new(|| {
    let wanted = variable("CROQ_SIM_THREADS").and_then(|value| value.parse().ok());
    wanted.filter(|&threads| threads > 0).unwrap_or_else(|| {
        let found = std::thread::available_parallelism();
        found.map_or(1, |threads| threads.get() as u64)
    })
});

/// How many OS threads take part in a launch at most, the calling one among them.
pub(super) fn threads() -> usize {
    usize::try_from(THREADS.get()).unwrap_or(usize::MAX)
}

pub(super) fn limit_threads(most: usize) {
    THREADS
        .value
        .store((most.max(1) as u64).min(UNREAD - 1), Ordering::Relaxed);
}
