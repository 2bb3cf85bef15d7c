//! The settings of the simulated GPU in environment variables.
//!
//! A value that a setting does not have is reported on stderr, and the default is taken.
//!
//! Each is read once and kept in an atomic number. A `OnceLock` that another thread was
//! initialising at a `fork` would remain locked in the child; it does no harm if two threads read
//! the same variable.

use std::sync::atomic::{AtomicU64, Ordering};

use super::pages;

/// A number from the environment.
pub(super) struct Setting {
    value: AtomicU64,
    read: fn() -> u64,
}

/// Not read yet. No setting has this value.
const UNREAD: u64 = u64::MAX;

impl Setting {
    pub(super) const fn new(read: fn() -> u64) -> Self {
        Self {
            value: AtomicU64::new(UNREAD),
            read,
        }
    }

    pub(super) fn get(&self) -> u64 {
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

/// The value of a variable, `default` if it is not set or empty. A value that `read` does not take
/// is reported.
fn setting(
    name: &str,
    expected: &str,
    read: impl Fn(&str) -> Option<u64>,
    default: impl Fn() -> u64,
) -> u64 {
    let value = std::env::var_os(name).unwrap_or_default();
    let value = value.to_string_lossy();
    taken(name, value.trim(), expected, read, &default).unwrap_or_else(|message| {
        eprintln!("{message}");
        default()
    })
}

/// The same for this value; the error is the report.
fn taken(
    name: &str,
    value: &str,
    expected: &str,
    read: impl Fn(&str) -> Option<u64>,
    default: &impl Fn() -> u64,
) -> Result<u64, String> {
    if value.is_empty() {
        return Ok(default());
    }
    read(value)
        .ok_or_else(|| format!("croq: `{name}={value}` is ignored: the value must be {expected}"))
}

fn number(value: &str) -> Option<u64> {
    value.parse().ok()
}

fn switch(value: &str) -> Option<u64> {
    match value {
        "off" => Some(0),
        "on" => Some(1),
        _ => None,
    }
}

/// `CROQ_SIM_SEED`, a number.
pub(super) fn seed() -> u64 {
    static SEED: Setting = Setting::new(|| setting("CROQ_SIM_SEED", "a number", number, || 0));
    SEED.get()
}

/// `CROQ_SIM_STEPS`, a number: the steps that the loops of a block may take.
pub(super) fn steps() -> u64 {
    static STEPS: Setting = Setting::new(|| {
        setting("CROQ_SIM_STEPS", "a number", number, || {
            super::steps::DEFAULT
        })
    });
    STEPS.get()
}

/// `CROQ_SIM_MEMORY`: the memory for the stacks and arenas of a launch, in bytes.
pub(super) fn memory() -> u64 {
    static MEMORY: Setting = Setting::new(|| {
        setting(
            "CROQ_SIM_MEMORY",
            "a number of bytes, such as 4G",
            bytes,
            half_of_memory,
        )
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
    pages::memory_of_machine().map_or(4 << 30, |bytes| bytes / 2)
}

/// `CROQ_SIM_RACES`: 0 for `off`, 1 for `shared`, 2 for both memories.
static RACES: Setting =
    Setting::new(|| setting("CROQ_SIM_RACES", "`off`, `shared` or `on`", races, || 2));

fn races(value: &str) -> Option<u64> {
    match value {
        "off" => Some(0),
        "shared" => Some(1),
        "on" => Some(2),
        _ => None,
    }
}

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
        Setting::new(|| setting("CROQ_SIM_UNWRITTEN", "`off` or `on`", switch, || 1));
    DETECTS.get() != 0
}

/// `CROQ_SIM_THREADS`, or as many as there are processors.
static THREADS: Setting = Setting::new(|| {
    let threads = |value: &str| number(value).filter(|&threads| threads > 0);
    setting("CROQ_SIM_THREADS", "a number, at least 1", threads, || {
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
    fn values_that_a_setting_does_not_have_are_reported() {
        let read = |value| {
            taken(
                "CROQ_SIM_RACES",
                value,
                "`off`, `shared` or `on`",
                races,
                &|| 2,
            )
        };
        for (value, expected) in [("", 2), ("off", 0), ("shared", 1), ("on", 2)] {
            assert_eq!(read(value), Ok(expected), "{value}");
        }
        assert_eq!(
            read("of").expect_err("no value of it"),
            "croq: `CROQ_SIM_RACES=of` is ignored: the value must be `off`, `shared` or `on`"
        );
        let seed = |value| taken("CROQ_SIM_SEED", value, "a number", number, &|| 0);
        assert_eq!(seed("7"), Ok(7));
        for value in ["-1", "x", "99999999999999999999"] {
            assert!(seed(value).is_err(), "{value}");
        }
        let unwritten = |value| taken("CROQ_SIM_UNWRITTEN", value, "", switch, &|| 1);
        assert_eq!((unwritten("off"), unwritten("")), (Ok(0), Ok(1)));
        assert!(unwritten("no").is_err());
    }

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
