//! The part of a deadlock report about events: the missing arrivals of the generations that are
//! waited for, and the threads that would have arrived.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::events::Triggers;
use super::mbarriers::Arrived;
use super::report::{Stuck, ThreadState, ranges};

/// A generation that a thread waits for.
pub(super) struct MissingArrivals {
    /// `` generation 2 of `full`[1] ``
    pub(super) what: String,
    pub(super) missing: u32,
    pub(super) expected: u32,
    pub(super) bytes: i64,
    pub(super) triggers: Vec<Triggers>,
    pub(super) arrived: Vec<Arrived>,
}

impl MissingArrivals {
    /// `128 of 128 arrivals`
    fn amount(&self) -> String {
        let (missing, bytes) = (self.missing, self.bytes);
        let plural = if self.expected == 1 { "" } else { "s" };
        let arrivals = format!("{missing} of {} arrival{plural}", self.expected);
        match (missing, bytes) {
            (0, _) => format!("{bytes} bytes"),
            (_, 1..) => format!("{arrivals} and {bytes} bytes"),
            _ => arrivals,
        }
    }
}

/// A thread: the rank of its block in the cluster, and its number in the block.
type Member = (usize, u32);

/// ```text
///   generation 4 of `empty`[1] lacks 128 of 128 arrivals:
///     threads 128..255 would trigger it at kernels/ring.co:72, but have left the kernel
/// ```
///
/// `states` has the state of each thread of each block.
pub(super) fn describe(
    stuck: &Stuck<'_>,
    rank: usize,
    states: &[Vec<ThreadState>],
    text: &mut String,
) {
    let Some(blocks_state) = stuck.blocks_state.get(rank) else {
        return;
    };
    let threads = blocks_state.barriers.threads;
    for missing_arrivals in blocks_state
        .asynchronous
        .mbarriers
        .missing_arrivals(threads)
    {
        let (block, amount) = (stuck.block_name(rank), missing_arrivals.amount());
        let _ = write!(text, "\n  {block}{} lacks {amount}", missing_arrivals.what);
        if missing_arrivals.missing > 0 {
            text.push(':');
            who_would_come(stuck, rank, &missing_arrivals, states, text);
        }
    }
}

fn who_would_come(
    stuck: &Stuck<'_>,
    own: usize,
    missing_arrivals: &MissingArrivals,
    states: &[Vec<ThreadState>],
    text: &mut String,
) {
    let file = stuck.job.file;
    let (missing_triggers, all) = missing_triggers(stuck, own, missing_arrivals);
    // Groups of threads that would execute the same triggers and are at the same location, in the
    // order of their first threads.
    let mut groups: Vec<(usize, &BTreeSet<u32>, &ThreadState, Vec<u32>)> = Vec::new();
    for ((rank, thread), lines) in &missing_triggers {
        let state = states.get(*rank).and_then(|all| all.get(*thread as usize));
        let Some(state) = state else { continue };
        let same = |(r, l, p, _): &&mut (usize, &BTreeSet<u32>, &ThreadState, Vec<u32>)| {
            (*r, *l, *p) == (*rank, lines, state)
        };
        match groups.iter_mut().find(same) {
            Some((.., threads)) => threads.push(*thread),
            None => groups.push((*rank, lines, state, vec![*thread])),
        }
    }
    let places = |lines: &BTreeSet<u32>| {
        let places: Vec<String> = lines.iter().map(|line| format!("{file}:{line}")).collect();
        places.join(" or ")
    };
    for (rank, lines, state, threads) in &groups {
        let many = threads.len() > 1;
        let _ = write!(
            text,
            "\n    {}thread{} {} would trigger it at {}, but ",
            stuck.block_name(*rank),
            if many { "s" } else { "" },
            ranges(threads),
            places(lines),
        );
        text.push_str(&state.short(many, file));
    }
    let sites = |known: bool| -> BTreeSet<u32> {
        let of_kind = missing_arrivals
            .triggers
            .iter()
            .filter(|t| t.threads.is_some() == known);
        of_kind.map(|triggers| triggers.line).collect()
    };
    let (known, anybody) = (sites(true), sites(false));
    if !anybody.is_empty() {
        let _ = write!(
            text,
            "\n    any thread that reaches {} triggers it",
            places(&anybody)
        );
    } else if missing_triggers.is_empty() {
        let each = match all {
            1 => "the one thread that triggers it".to_owned(),
            _ => format!("each of the {all} threads that trigger it"),
        };
        let _ = write!(text, "\n    {each}, at {}, has arrived", places(&known));
    }
}

/// The threads that would trigger it and have not, with the lines, and the number of all its
/// triggering threads.
fn missing_triggers(
    stuck: &Stuck<'_>,
    own: usize,
    missing_arrivals: &MissingArrivals,
) -> (BTreeMap<Member, BTreeSet<u32>>, usize) {
    let here = |arrived: &Arrived| (arrived.rank.unwrap_or(own), arrived.thread);
    let arrived: BTreeSet<Member> = missing_arrivals.arrived.iter().map(here).collect();
    let mut missing_triggers: BTreeMap<Member, BTreeSet<u32>> = BTreeMap::new();
    let mut all = BTreeSet::new();
    for site in &missing_arrivals.triggers {
        let blocks = match site.everywhere {
            true => 0..stuck.blocks_state.len(),
            false => own..own + 1,
        };
        for rank in blocks {
            for &thread in site.threads.iter().flatten() {
                all.insert((rank, thread));
                if !arrived.contains(&(rank, thread)) {
                    let lines = missing_triggers.entry((rank, thread)).or_default();
                    lines.insert(site.line);
                }
            }
        }
    }
    (missing_triggers, all.len())
}
