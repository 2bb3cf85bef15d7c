//! What is said about a deadlock.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::barriers::WARP;
use super::worker::{Job, Residents};
use crate::abi::{CROQ_DEADLOCK, croq_failure};

/// What a thread of a stuck block does.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Plight {
    /// The barrier, as the text names it; `None` for a thread that has left.
    barrier: Option<String>,
    line: u32,
}

/// The record of a deadlock: the first thread that waits, and where.
pub(super) fn deadlock_failure(residents: &Residents, block: [u32; 3]) -> Box<croq_failure> {
    let plights = plights(residents);
    let first = plights.iter().enumerate().find_map(|(thread, plight)| {
        plight
            .barrier
            .as_ref()
            .map(|barrier| (thread as u32, barrier, plight.line))
    });
    let mut failure = croq_failure::new(CROQ_DEADLOCK);
    if let Some((thread, barrier, line)) = first {
        failure = failure.with_what(barrier);
        failure.thread = thread;
        failure.line = line;
    }
    failure.block = block;
    Box::new(failure)
}

/// Who waits where, one line for each place:
///
/// ```text
/// deadlock in scale_0, block 3: no thread can go on
///   threads 0..31 wait at the block barrier, kernels/scale.co:12
///   threads 32..63 have left the kernel
/// ```
pub(super) fn deadlock_text(residents: &Residents, job: &Job, block: [u32; 3]) -> String {
    let mut groups: BTreeMap<usize, (Plight, Vec<u32>)> = BTreeMap::new();
    let plights = plights(residents);
    for (thread, plight) in plights.iter().enumerate() {
        // Groups stand in the order of their first threads.
        let first = plights
            .iter()
            .position(|other| other == plight)
            .unwrap_or(thread);
        groups
            .entry(first)
            .or_insert_with(|| (plight.clone(), Vec::new()))
            .1
            .push(thread as u32);
    }

    let mut text = format!("deadlock in {}: no thread can go on", place(job, block));
    for (plight, threads) in groups.values() {
        let many = threads.len() > 1;
        let _ = write!(
            text,
            "\n  thread{} {} ",
            if many { "s" } else { "" },
            ranges(threads)
        );
        let _ = match &plight.barrier {
            Some(barrier) => {
                let verb = if many { "wait" } else { "waits" };
                write!(text, "{verb} at {barrier}, {}:{}", job.file, plight.line)
            }
            None => write!(
                text,
                "{} left the kernel",
                if many { "have" } else { "has" }
            ),
        };
    }
    text
}

/// `scale_0, block 3`; a grid of one block needs no number.
pub(super) fn place(job: &Job, block: [u32; 3]) -> String {
    match (block, job.launch.grid) {
        (_, [1, 1, 1]) => job.kernel.to_owned(),
        ([x, _, _], [_, 1, 1]) => format!("{}, block {x}", job.kernel),
        ([x, y, z], _) => format!("{}, block ({x}, {y}, {z})", job.kernel),
    }
}

/// What each thread does, by its id.
fn plights(residents: &Residents) -> Vec<Plight> {
    let barriers = &residents.barriers;
    let mut waits_at: Vec<Option<String>> = vec![None; barriers.threads as usize];
    let mut note = |thread: u32, barrier: &str| {
        if let Some(place) = waits_at.get_mut(thread as usize) {
            *place = Some(barrier.to_owned());
        }
    };
    for &thread in &barriers.block {
        note(thread, "the block barrier");
    }
    for (id, named) in barriers.named.iter().enumerate() {
        let (arrived, expected) = (named.waiting.len(), named.expected);
        let barrier = format!("named barrier {id} ({arrived} of {expected} have arrived)");
        for &thread in &named.waiting {
            note(thread, &barrier);
        }
    }
    for warp in &barriers.warps {
        let barrier = if warp.mask == u32::MAX {
            format!("the barrier of warp {}", warp.warp)
        } else {
            format!(
                "the barrier of warp {}, lanes {:#010x}",
                warp.warp, warp.mask
            )
        };
        for lane in (0..WARP).filter(|lane| warp.arrived & (1 << lane) != 0) {
            note(warp.warp * WARP + lane, &barrier);
        }
    }
    for (thread, mbarrier) in residents.asynchronous.mbarriers.plights() {
        note(thread, &mbarrier);
    }
    waits_at
        .into_iter()
        .zip(&barriers.lines)
        .enumerate()
        .map(|(thread, (barrier, &line))| {
            let left = barriers.has_left(thread as u32);
            Plight {
                barrier,
                line: if left { 0 } else { line },
            }
        })
        .collect()
}

/// Sorted thread ids as inclusive ranges: `0..31, 40, 64..95`.
fn ranges(threads: &[u32]) -> String {
    let mut text = String::new();
    let mut rest = threads;
    while let Some((&first, tail)) = rest.split_first() {
        let run = tail
            .iter()
            .zip(first + 1..)
            .take_while(|(thread, next)| *thread == next)
            .count();
        if !text.is_empty() {
            text.push_str(", ");
        }
        let _ = match run {
            0 => write!(text, "{first}"),
            _ => write!(text, "{first}..{}", first + run as u32),
        };
        rest = &tail[run..];
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_inclusive_and_joined() {
        assert_eq!(ranges(&[0, 1, 2, 3]), "0..3");
        assert_eq!(ranges(&[5]), "5");
        assert_eq!(ranges(&[0, 1, 7, 9, 10, 11]), "0..1, 7, 9..11");
    }
}
