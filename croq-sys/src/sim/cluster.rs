//! The barrier of the threads of a cluster (`barrier.cluster`): each thread arrives, then waits.
//!
//! As in the PTX ISA it includes the threads of all blocks that have not left the kernel. The
//! barrier of a grid works the same way among all blocks, except that it never completes after a
//! thread has left.

/// A thread: the rank of its block in the cluster, and its number in the block.
pub(super) type Member = (usize, u32);

/// The result of a thread's operation.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Continues,
    Waits,
    /// The use is undefined, for this reason.
    Misused(&'static str),
}

/// Unused until `phases` has an entry for each thread.
#[derive(Default)]
pub(super) struct ClusterBarrier {
    threads: usize,
    /// Whether it is the barrier of a whole grid.
    of_grid: bool,
    /// The number of the cluster's threads that have not left.
    live: usize,
    /// The number of completed phases.
    phase: u64,
    /// The arrivals in this phase.
    arrived: usize,
    /// For each block and thread, the number of its arrivals and waits.
    phases: Vec<(u64, u64)>,
    waiting: Vec<Member>,
}

impl ClusterBarrier {
    pub(super) fn reset(&mut self, blocks: usize, threads: usize, of_grid: bool) {
        (self.threads, self.of_grid) = (threads, of_grid);
        self.live = blocks * threads;
        (self.phase, self.arrived) = (0, 0);
        self.phases.clear();
        self.waiting.clear();
    }

    fn phases(&mut self, (rank, thread): Member, blocks: usize) -> &mut (u64, u64) {
        if self.phases.is_empty() {
            self.phases.resize(blocks * self.threads, (0, 0));
        }
        &mut self.phases[rank * self.threads + thread as usize]
    }

    pub(super) fn arrive(&mut self, member: Member, blocks: usize) -> Step {
        let (arrived, waited) = self.phases(member, blocks);
        if arrived != waited {
            return Step::Misused("cluster barrier: arrives twice");
        }
        *arrived += 1;
        self.arrived += 1;
        self.advance();
        Step::Continues
    }

    pub(super) fn wait(&mut self, member: Member, blocks: usize) -> Step {
        let (arrived, waited) = self.phases(member, blocks);
        if arrived == waited {
            return Step::Misused("cluster barrier: waits without an arrival");
        }
        *waited += 1;
        if *waited <= self.phase {
            return Step::Continues;
        }
        self.waiting.push(member);
        Step::Waits
    }

    /// A thread has left the kernel; returns whether that may release others.
    pub(super) fn exit(&mut self, (rank, thread): Member) -> bool {
        if self.of_grid {
            return false;
        }
        self.live -= 1;
        match self.phases.get(rank * self.threads + thread as usize) {
            None => false,
            Some((arrived, _)) => {
                self.arrived -= usize::from(*arrived > self.phase);
                self.advance();
                true
            }
        }
    }

    pub(super) fn is_of_grid(&self) -> bool {
        self.of_grid
    }

    /// The number of completed phases.
    pub(super) fn phase(&self) -> u64 {
        self.phase
    }

    fn advance(&mut self) {
        if self.arrived == self.live {
            self.phase += 1;
            self.arrived = 0;
        }
    }

    /// The threads that can continue, if all have arrived.
    pub(super) fn released(&mut self) -> impl Iterator<Item = Member> {
        let over = self.waiting.first().is_some_and(|&(rank, thread)| {
            let phases = self.phases.get(rank * self.threads + thread as usize);
            phases.is_some_and(|(_, waited)| *waited <= self.phase)
        });
        let end = if over { self.waiting.len() } else { 0 };
        self.waiting.drain(..end)
    }

    /// The barrier, in the words of a report, and the threads that wait at it.
    pub(super) fn describe_wait(&self) -> (String, &[Member]) {
        let (arrived, live) = (self.arrived, self.live);
        let have = if arrived == 1 { "has" } else { "have" };
        let scope = if self.of_grid { "grid" } else { "cluster" };
        let text = format!("the {scope} barrier ({arrived} of {live} {have} arrived)");
        (text, &self.waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn released(cluster_barrier: &mut ClusterBarrier) -> Vec<Member> {
        cluster_barrier.released().collect()
    }

    #[test]
    fn all_threads_of_all_blocks_arrive() {
        let mut m = ClusterBarrier::default();
        m.reset(2, 2, false);
        let all = [(0, 0), (0, 1), (1, 0), (1, 1)];
        for phase in 0..3 {
            for member in &all[..3] {
                assert_eq!(m.arrive(*member, 2), Step::Continues, "turn {phase}");
            }
            assert_eq!(m.wait((0, 1), 2), Step::Waits);
            assert_eq!(m.wait((1, 0), 2), Step::Waits);
            assert_eq!(released(&mut m), []);
            assert_eq!(m.arrive((1, 1), 2), Step::Continues);
            assert_eq!(released(&mut m), [(0, 1), (1, 0)]);
            assert_eq!(m.wait((1, 1), 2), Step::Continues);
            // The first thread to arrive may wait late.
            assert_eq!(m.wait((0, 0), 2), Step::Continues);
        }
    }

    #[test]
    fn who_has_left_is_not_waited_for() {
        let mut m = ClusterBarrier::default();
        m.reset(2, 1, false);
        m.arrive((0, 0), 2);
        assert_eq!(m.wait((0, 0), 2), Step::Waits);
        m.exit((1, 0));
        assert_eq!(released(&mut m), [(0, 0)]);

        m.reset(3, 1, false);
        m.arrive((0, 0), 3);
        m.arrive((1, 0), 3);
        assert_eq!(m.wait((1, 0), 3), Step::Waits);
        m.exit((0, 0));
        assert_eq!(released(&mut m), [], "block 2 has yet to come");
        m.arrive((2, 0), 3);
        assert_eq!(released(&mut m), [(1, 0)]);
    }

    #[test]
    fn arrivals_and_waits_take_turns() {
        let mut m = ClusterBarrier::default();
        m.reset(1, 2, false);
        assert!(matches!(m.wait((0, 0), 1), Step::Misused(_)));
        assert_eq!(m.arrive((0, 0), 1), Step::Continues);
        assert!(matches!(m.arrive((0, 0), 1), Step::Misused(_)));
    }
}
