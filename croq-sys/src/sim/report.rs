//! Reports of deadlocks and of launches whose steps are exhausted.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::barriers::{Place, WARP};
use super::cluster::ClusterBarrier;
use super::worker::{BlockState, Job};
use crate::abi::{CROQ_DEADLOCK, CROQ_LANES_MATRIX, CROQ_LANES_VOTE, croq_failure};
use crate::sim::missing_arrivals;

/// The most blocks of a grid of several dimensions that are named.
const SHOWN: usize = 4;

/// The state of a thread of a stuck block.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Doing {
    /// It waits `at` a barrier or `for` a condition, as in the text.
    Waits(String),
    /// It is inside a loop.
    Loops,
    /// It could continue; the line is that of the last barrier that it passed, or 0.
    Runs,
    Left,
}

/// The state with its line.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ThreadState {
    pub(super) doing: Doing,
    pub(super) line: u32,
}

impl ThreadState {
    /// The text after `thread 3` or, for several, `threads 0..31`.
    fn long(&self, many: bool, file: &str) -> String {
        let line = self.line;
        match &self.doing {
            Doing::Waits(barrier) => {
                let verb = if many { "wait" } else { "waits" };
                format!("{verb} {barrier}, {file}:{line}")
            }
            _ => self.short(many, file),
        }
    }

    /// The text without the condition.
    pub(super) fn short(&self, many: bool, file: &str) -> String {
        let (line, are) = (self.line, if many { "are" } else { "is" });
        match &self.doing {
            Doing::Waits(_) if many => format!("wait at {file}:{line}"),
            Doing::Waits(_) => format!("waits at {file}:{line}"),
            Doing::Loops => format!("{are} in a loop, {file}:{line}"),
            Doing::Runs if line == 0 => format!("{are} still running"),
            Doing::Runs => format!("{are} still running, behind {file}:{line}"),
            Doing::Left if many => "have left the kernel".to_owned(),
            Doing::Left => "has left the kernel".to_owned(),
        }
    }
}

/// A cluster in which no thread can continue, or whose steps are exhausted.
pub(super) struct Stuck<'a> {
    pub(super) blocks_state: &'a [BlockState],
    pub(super) cluster_barrier: &'a ClusterBarrier,
    pub(super) job: &'a Job<'a>,
    pub(super) cluster: u64,
}

impl Stuck<'_> {
    /// Whether some thread has not left.
    pub(super) fn some_live(&self) -> bool {
        self.blocks_state
            .iter()
            .any(|block| block.barriers.live > 0)
    }

    /// The record: the first thread that waits or is in a loop, with its line.
    pub(super) fn failure(&self) -> Box<croq_failure> {
        let mut failure = croq_failure::new(CROQ_DEADLOCK);
        for rank in 0..self.blocks_state.len() {
            failure.block = self.job.block(self.cluster, rank);
            let states = self.thread_states(rank);
            let first = states.iter().zip(0..).find_map(|(state, thread)| {
                let what = match &state.doing {
                    Doing::Waits(barrier) => barrier.trim_start_matches("at "),
                    Doing::Loops => "a loop",
                    Doing::Runs | Doing::Left => return None,
                };
                Some((what, thread, state.line))
            });
            if let Some((what, thread, line)) = first {
                failure = failure.with_what(what);
                (failure.thread, failure.line) = (thread, line);
                break;
            }
        }
        Box::new(failure)
    }

    /// The positions of the waiting threads, one line for each position:
    ///
    /// ```text
    /// deadlock in scale_0, block 3: no thread can go on
    ///   threads 0..31 wait at the block barrier, kernels/scale.co:12
    ///   threads 32..63 have left the kernel
    /// ```
    ///
    /// In a cluster, or a grid whose blocks wait for each other, each line begins with its blocks.
    /// The missing arrivals of the events come last.
    pub(super) fn text(&self) -> String {
        self.text_of("deadlock", "no thread can go on")
    }

    /// The same for threads whose steps are exhausted.
    ///
    /// ```text
    /// no end in scale_0, block 3: its 17179869184 steps are spent
    ///   thread 0 is in a loop, kernels/scale.co:12
    ///   threads 1..31 wait at the block barrier, kernels/scale.co:20
    /// help: loops of a block may take so many steps on the simulated GPU; CROQ_SIM_STEPS sets another number
    /// ```
    pub(super) fn endless(&self, steps: u64) -> String {
        let mut text = self.text_of("no end", &spent(steps));
        text.push_str(ENDLESS_HELP);
        text
    }

    fn text_of(&self, kind: &str, why: &str) -> String {
        let Self { job, cluster, .. } = self;
        let many = self.blocks_state.len() > 1;
        let first = place(job, job.block(*cluster, 0));
        let place = match (many, job.is_together()) {
            (false, _) => first,
            (true, false) => format!("{first}, and the rest of its cluster"),
            (true, true) => format!("{}, whose blocks wait for each other", job.kernel),
        };
        let mut text = format!("{kind} in {place}: {why}");
        let states: Vec<Vec<ThreadState>> = (0..self.blocks_state.len())
            .map(|rank| self.thread_states(rank))
            .collect();
        let all: Vec<Vec<String>> = states.iter().map(|states| self.lines(states)).collect();
        let mut groups: BTreeMap<usize, (Vec<String>, Vec<usize>)> = BTreeMap::new();
        for (rank, lines) in all.iter().enumerate() {
            // Groups are in the order of their first blocks.
            let first = all.iter().position(|other| other == lines).unwrap_or(rank);
            let group = groups.entry(first);
            group
                .or_insert_with(|| (lines.clone(), Vec::new()))
                .1
                .push(rank);
        }
        for (lines, ranks) in groups.values() {
            let subject = if many {
                self.blocks(ranks)
            } else {
                String::new()
            };
            for line in lines {
                let _ = write!(text, "\n  {subject}{line}");
            }
        }
        for rank in 0..self.blocks_state.len() {
            missing_arrivals::describe(self, rank, &states, &mut text);
        }
        text
    }

    /// `block 3, ` if there are several.
    pub(super) fn block_name(&self, rank: usize) -> String {
        match self.blocks_state.len() {
            1 => String::new(),
            _ => format!(
                "block {}, ",
                number(self.job, self.job.block(self.cluster, rank))
            ),
        }
    }

    /// `block 3, `, `blocks 0..2, 5, `
    fn blocks(&self, ranks: &[usize]) -> String {
        let Self { job, cluster, .. } = self;
        let blocks = ranks.iter().map(|rank| job.block(*cluster, *rank));
        let names = if let [_, 1, 1] = job.launch.grid {
            ranges(&blocks.map(|[x, ..]| x).collect::<Vec<_>>())
        } else {
            let shown: Vec<String> = blocks.take(SHOWN).map(|b| number(job, b)).collect();
            match ranks.len().saturating_sub(SHOWN) {
                0 => shown.join(", "),
                more => format!("{} and {more} more", shown.join(", ")),
            }
        };
        let plural = if ranks.len() > 1 { "s" } else { "" };
        format!("block{plural} {names}, ")
    }

    /// The positions of the waiting threads in one block.
    fn lines(&self, states: &[ThreadState]) -> Vec<String> {
        let mut groups: BTreeMap<usize, (ThreadState, Vec<u32>)> = BTreeMap::new();
        for (thread, state) in states.iter().enumerate() {
            // Groups are in the order of their first threads.
            let first = states
                .iter()
                .position(|other| other == state)
                .unwrap_or(thread);
            groups
                .entry(first)
                .or_insert_with(|| (state.clone(), Vec::new()))
                .1
                .push(thread as u32);
        }
        let line = |(state, threads): &(ThreadState, Vec<u32>)| {
            let many = threads.len() > 1;
            let plural = if many { "s" } else { "" };
            let does = state.long(many, self.job.file);
            format!("thread{plural} {} {does}", ranges(threads))
        };
        groups.values().map(line).collect()
    }

    /// The state of each thread of a block, by its id.
    fn thread_states(&self, rank: usize) -> Vec<ThreadState> {
        let Some(blocks_state) = self.blocks_state.get(rank) else {
            return Vec::new();
        };
        let barriers = &blocks_state.barriers;
        let mut waits_at: Vec<Option<String>> = vec![None; barriers.threads as usize];
        let mut note = |thread: u32, barrier: &str| {
            if let Some(place) = waits_at.get_mut(thread as usize) {
                *place = Some(barrier.to_owned());
            }
        };
        for &thread in &barriers.block {
            note(thread, "at the block barrier");
        }
        for (id, named) in barriers.named.iter().enumerate() {
            let (arrived, expected) = (named.arrived(), named.expected);
            let barrier = format!("at named barrier {id} ({arrived} of {expected} have arrived)");
            for &thread in &named.waiting {
                note(thread, &barrier);
            }
        }
        for warp in &barriers.warps {
            let what = match warp.kind {
                0 => "the barrier",
                CROQ_LANES_VOTE => "a vote",
                CROQ_LANES_MATRIX => "a matrix operation",
                _ => "a shuffle",
            };
            let mut barrier = format!("at {what} of warp {}", warp.warp);
            if warp.mask != u32::MAX {
                let _ = write!(barrier, ", lanes {:#010x}", warp.mask);
            }
            for lane in (0..WARP).filter(|lane| warp.arrived & (1 << lane) != 0) {
                note(warp.warp * WARP + lane, &barrier);
            }
        }
        for (thread, mbarrier) in blocks_state
            .asynchronous
            .mbarriers
            .thread_states(self.job.file)
        {
            note(thread, &mbarrier);
        }
        for (thread, wgmma) in blocks_state.asynchronous.wgmmas.thread_states() {
            note(thread, &format!("at {wgmma}"));
        }
        let (cluster_barrier, members) = self.cluster_barrier.describe_wait();
        let cluster_barrier = format!("at {cluster_barrier}");
        for &(_, thread) in members.iter().filter(|(of, _)| *of == rank) {
            note(thread, &cluster_barrier);
        }
        waits_at
            .into_iter()
            .zip(&barriers.places)
            .enumerate()
            .map(|(thread, (barrier, &Place { line, in_loop }))| {
                let (doing, line) = match barrier {
                    Some(barrier) => (Doing::Waits(barrier), line),
                    None if barriers.has_left(thread as u32) => (Doing::Left, 0),
                    None if in_loop != 0 => (Doing::Loops, in_loop),
                    None => (Doing::Runs, line),
                };
                ThreadState { doing, line }
            })
            .collect()
    }
}

/// The same for a block whose threads do not wait.
pub(super) fn endless_thread(job: &Job, failure: &croq_failure) -> String {
    let state = ThreadState {
        doing: Doing::Loops,
        line: failure.line,
    };
    format!(
        "no end in {}: {}\n  thread {} {}{ENDLESS_HELP}",
        place(job, failure.block),
        spent(job.steps()),
        failure.thread,
        state.short(false, job.file)
    )
}

/// Adds the positions of the threads in `others` resident blocks besides those in the text.
pub(super) fn add_others<'a>(
    text: &mut String,
    others: usize,
    all: impl Iterator<Item = Stuck<'a>>,
) {
    for stuck in all.take(SHOWN) {
        for rank in 0..stuck.blocks_state.len() {
            let block = number(stuck.job, stuck.job.block(stuck.cluster, rank));
            for line in stuck.lines(&stuck.thread_states(rank)) {
                let _ = write!(text, "\n  block {block}, {line}");
            }
        }
    }
    if others > SHOWN {
        let _ = write!(text, "\n  and so do {} blocks more", others - SHOWN);
    }
}

/// The text for a launch whose steps are exhausted.
fn spent(steps: u64) -> String {
    format!("its {steps} steps are spent")
}

const ENDLESS_HELP: &str = "\nhelp: the loops of a block may take so many steps on the simulated GPU; \
     CROQ_SIM_STEPS sets another number";

/// `scale_0, block 3`; for a grid of one block without the number.
pub(super) fn place(job: &Job, block: [u32; 3]) -> String {
    match job.launch.grid {
        [1, 1, 1] => job.kernel.to_owned(),
        _ => format!("{}, block {}", job.kernel, number(job, block)),
    }
}

pub(super) fn number(job: &Job, [x, y, z]: [u32; 3]) -> String {
    match job.launch.grid {
        [_, 1, 1] => x.to_string(),
        _ => format!("({x}, {y}, {z})"),
    }
}

/// Sorted thread ids as inclusive ranges: `0..31, 40, 64..95`.
pub(super) fn ranges(threads: &[u32]) -> String {
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
