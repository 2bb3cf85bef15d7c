//! The settings of the simulated GPU in environment variables.
//!
//! Each is read once and kept in an atomic number. A `OnceLock` that another thread was
//! initialising at a `fork` would remain locked in the child; it does no harm if two threads read
//! the same variable.

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

/// `CROQ_SIM_SEED`, a number; 0 if it is not one.
pub(super) fn seed() -> u64 {
    static SEED: Setting = Setting::new(|| {
        let value = variable("CROQ_SIM_SEED").and_then(|value| value.parse().ok());
        value.unwrap_or(0)
    });
    SEED.get()
}

/// `CROQ_SIM_STEPS`, a number: the steps that the loops of a block may take.
pub(super) fn steps() -> u64 {
    static STEPS: Setting = Setting::new(|| {
        let value = variable("CROQ_SIM_STEPS").and_then(|value| value.parse().ok());
        value.unwrap_or(super::steps::DEFAULT)
    });
    STEPS.get()
}

/// The size of a page in bytes.
pub(super) fn page() -> usize {
    /// The smallest page size.
    const LEAST: u64 = 4096;
    static PAGE: Setting = Setting::new(|| {
        // SAFETY: asks for a number.
        let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        u64::try_from(bytes).unwrap_or(LEAST).max(LEAST)
    });
    PAGE.get() as usize
}

/// `CROQ_SIM_MEMORY`: the memory for the stacks and arenas of a launch, in bytes.
pub(super) fn memory() -> u64 {
    static MEMORY: Setting = Setting::new(|| {
        let Some(value) = variable("CROQ_SIM_MEMORY").filter(|value| !value.is_empty()) else {
            return half_of_memory();
        };
        bytes(&value).unwrap_or_else(|| {
            let half = half_of_memory();
            eprintln!(
                "croq: `CROQ_SIM_MEMORY={value}` is no number of bytes, such as 4G; taken is {half}"
            );
            half
        })
    });
    MEMORY.get()
}

/// `512M`, `4G`, `4GiB`, `1000000`.
fn bytes(value: &str) -> Option<u64> {
    let end = value.find(|c: char| !c.is_ascii_digit());
    let (number, unit) = value.split_at(end.unwrap_or(value.len()));
    let unit = unit.trim().to_ascii_uppercase();
    let shift = match unit.trim_end_matches("IB").trim_end_matches('B') {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Half of the machine's memory; if its size is unknown, a size that most machines have.
fn half_of_memory() -> u64 {
    // SAFETY: asks for a number.
    let pages = unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) };
    match u64::try_from(pages) {
        Ok(pages) if pages > 0 => pages.saturating_mul(page() as u64) / 2,
        _ => 4 << 30,
    }
}

/// `CROQ_SIM_RACES`: 0 for `off`, 1 for `shared`, else 2.
static RACES: Setting = Setting::new(|| match variable("CROQ_SIM_RACES").as_deref() {
    Some("off") => 0,
    Some("shared") => 1,
    _ => 2,
});

/// Whether races in shared memory are detected: unless `CROQ_SIM_RACES` is `off`.
pub(super) fn detects_races() -> bool {
    RACES.get() != 0
}

/// Whether races in device memory are detected: unless it is `off` or `shared`.
pub(super) fn detects_device_races() -> bool {
    RACES.get() > 1
}

/// The bytes of cells for detecting races in device memory: half of the memory for stacks and
/// arenas.
pub(super) fn memory_for_cells() -> u64 {
    memory() / 2
}

/// Unless `CROQ_SIM_UNWRITTEN` is `off`.
pub(super) fn detects_unwritten() -> bool {
    static DETECTS: Setting =
        Setting::new(|| u64::from(variable("CROQ_SIM_UNWRITTEN").as_deref() != Some("off")));
    DETECTS.get() != 0
}

/// `CROQ_SIM_THREADS`, or as many as there are processors.
static THREADS: Setting = Setting::new(|| {
    let wanted = variable("CROQ_SIM_THREADS").and_then(|value| value.parse().ok());
    wanted.filter(|&threads| threads > 0).unwrap_or_else(|| {
        let found = std::thread::available_parallelism();
        found.map_or(1, |threads| threads.get() as u64)
    })
});

/// The most OS threads that take part in a launch, the calling one included.
pub(super) fn threads() -> usize {
    usize::try_from(THREADS.get()).unwrap_or(usize::MAX)
}

pub(super) fn limit_threads(most: usize) {
    THREADS
        .value
        .store((most.max(1) as u64).min(UNREAD - 1), Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        let read = [
            ("0", 0),
            ("7", 7),
            ("2K", 2048),
            ("3m", 3 << 20),
            ("4GiB", 4 << 30),
        ];
        for (text, size) in read {
            assert_eq!(bytes(text), Some(size), "{text}");
        }
        for text in [
            "",
            "G",
            "-1",
            "1.5G",
            "4X",
            "99999999999999999999",
            "18446744073709551615K",
        ] {
            assert_eq!(bytes(text), None, "{text}");
        }
    }
}
