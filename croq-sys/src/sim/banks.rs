//! Bank conflicts: the banks of shared memory that a kernel accesses, and the wavefronts that the
//! accesses of a warp take.
//!
//! Shared memory has 32 banks of words of 4 bytes. A request of a warp takes as many wavefronts as
//! there are different words in one bank; vectors of 8 bytes are served for half a warp at a time,
//! and of 16 bytes for a quarter.
//!
//! Only kernels compiled with `trace_shared_memory` record their accesses:
//!
//! ```ignore
//! // build.rs
//! croq_build::Config::new().trace_shared_memory(true).compile("kernels/");
//! ```
//!
//! [`requests`] then returns the requests of the calls in it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::abi::{croq_sim_access, croq_sim_thread};

const BANKS: u64 = 32;
const WORD: u64 = 4;
const WARP: u32 = 32;

/// The access of one thread.
#[derive(Clone, Debug)]
struct Access {
    line: u32,
    name: String,
    block: [u32; 3],
    thread: u32,
    /// The offset in bytes from the start of the block's shared memory.
    place: u64,
    bytes: u32,
}

/// A request of a warp to shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The line of the `.co` file.
    pub line: u32,
    /// The name of the buffer.
    pub name: String,
    /// The most bytes that one thread accesses.
    pub bytes: u32,
    /// The number of wavefronts.
    pub wavefronts: u32,
    /// The number of wavefronts if the words were distributed evenly over the banks.
    pub least: u32,
}

impl Request {
    pub fn has_conflicts(&self) -> bool {
        self.wavefronts > self.least
    }
}

static ACCESSES: Mutex<Option<Vec<Access>>> = Mutex::new(None);
/// One at a time: the accesses of a kernel's threads cannot be assigned to a caller.
static CALLS: Mutex<()> = Mutex::new(());

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn note(thread: &croq_sim_thread, access: &croq_sim_access, name: &CStr) {
    let start = thread.shared as u64;
    let place = (access.at as u64).wrapping_sub(start);
    // Device memory and a thread's own memory have no banks.
    if place >= thread.shared_bytes {
        return;
    }
    if let Some(accesses) = locked(&ACCESSES).as_mut() {
        accesses.push(Access {
            line: access.line,
            name: name.to_string_lossy().into_owned(),
            block: thread.block,
            thread: thread.tid,
            place,
            bytes: access.bytes,
        });
    }
}

/// Runs `calls`, and returns its result with the requests to shared memory of all kernels in it.
///
/// One request consists of the same access by the threads of a warp: the n-th access of each at a
/// line to a buffer. If threads skip some of them, as at a ragged edge, the counts differ, and
/// accesses of different iterations are combined.
pub fn requests<R>(calls: impl FnOnce() -> R) -> (R, Vec<Request>) {
    let _alone = locked(&CALLS);
    *locked(&ACCESSES) = Some(Vec::new());
    let result = calls();
    let accesses = locked(&ACCESSES).take().unwrap_or_default();
    (result, by_warp(&accesses))
}

fn by_warp(accesses: &[Access]) -> Vec<Request> {
    let mut times: BTreeMap<_, u32> = BTreeMap::new();
    let mut together: BTreeMap<_, Vec<&Access>> = BTreeMap::new();
    for access in accesses {
        let place = (access.line, &access.name, access.block);
        let time = times.entry((place, access.thread)).or_default();
        let warp = access.thread / WARP;
        together
            .entry((place, *time, warp))
            .or_default()
            .push(access);
        *time += 1;
    }
    let requests = together.into_iter().map(|(((line, name, _), ..), all)| {
        let bytes = all.iter().map(|a| a.bytes).max().unwrap_or_default();
        let (mut wavefronts, mut least) = (0, 0);
        for served in served_together(&all, bytes) {
            wavefronts += in_one_bank(&served);
            least += u32::try_from((served.len() as u64).div_ceil(BANKS)).unwrap_or(u32::MAX);
        }
        Request {
            line,
            name: name.clone(),
            bytes,
            wavefronts,
            least,
        }
    });
    requests.collect()
}

/// The words that are served in one pass.
fn served_together(all: &[&Access], bytes: u32) -> Vec<BTreeSet<u64>> {
    let threads = match bytes {
        0..=4 => WARP,
        5..=8 => WARP / 2,
        _ => WARP / 4,
    };
    let mut parts: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
    for access in all {
        let last = access.place + u64::from(access.bytes.max(1)) - 1;
        let part = parts.entry(access.thread % WARP / threads).or_default();
        part.extend(access.place / WORD..=last / WORD);
    }
    parts.into_values().collect()
}

/// The largest number of words in one bank.
fn in_one_bank(words: &BTreeSet<u64>) -> u32 {
    let mut banks: BTreeMap<u64, u32> = BTreeMap::new();
    for word in words {
        *banks.entry(word % BANKS).or_default() += 1;
    }
    banks.into_values().max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(bytes: u32, place: impl Fn(u64) -> u64) -> (u32, u32) {
        let accesses: Vec<Access> = (0..32)
            .map(|thread| Access {
                line: 1,
                name: "s".to_owned(),
                block: [0; 3],
                thread,
                place: place(u64::from(thread)),
                bytes,
            })
            .collect();
        let [request] = by_warp(&accesses)
            .try_into()
            .unwrap_or_else(|all| panic!("one request, not {all:?}"));
        (request.wavefronts, request.least)
    }

    #[test]
    fn words() {
        assert_eq!(request(4, |t| t * 4), (1, 1));
        assert_eq!(request(4, |t| t * 8), (2, 1));
        assert_eq!(request(4, |t| t * 128), (32, 1));
        assert_eq!(request(4, |t| t * 132), (1, 1));
        assert_eq!(request(4, |_| 64), (1, 1), "all of one word");
        assert_eq!(request(2, |t| t * 2), (1, 1));
        assert_eq!(request(2, |t| t * 128), (32, 1));
        assert_eq!(request(1, |t| t * 4 + 1), (1, 1));
    }

    #[test]
    fn vectors() {
        assert_eq!(request(8, |t| t * 8), (2, 2));
        assert_eq!(request(8, |t| t * 128), (32, 2));
        assert_eq!(request(16, |t| t * 16), (4, 4));
        assert_eq!(request(16, |t| t * 128), (32, 4));
        // Eight rows of 128 bytes, with units of 16 bytes permuted per row.
        assert_eq!(request(16, |t| t * 128 + (t % 8) * 16), (4, 4));
        assert_eq!(
            request(16, |t| t / 8 * 16),
            (4, 4),
            "one unit for each quarter"
        );
    }

    #[test]
    fn warps_and_times_apart() {
        let at = |thread: u32, place| Access {
            line: 3,
            name: "s".to_owned(),
            block: [0; 3],
            thread,
            place,
            bytes: 4,
        };
        let all = [at(0, 0), at(0, 128), at(33, 0), at(1, 128), at(1, 4)];
        let found: Vec<u32> = by_warp(&all).iter().map(|r| r.wavefronts).collect();
        // The first accesses of the first warp, then of the second, then the second ones of the
        // first.
        assert_eq!(found, [2, 1, 1]);
    }
}
