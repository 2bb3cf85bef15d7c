//! The barrier of the threads of a cluster (`barrier.cluster`): each arrives, then waits.
//!
//! As in the PTX ISA it is one of the threads that have not left the kernel, whatever their block. The barrier of
//! a grid is the same among all its blocks, but for those who leave: they are waited for in vain.

/// A thread: the rank of its block in the cluster, and its number in the block.
pub(super) type Member = (usize, u32);

/// What a thread's step comes to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    GoesOn,
    Waits,
    /// It has no meaning: why.
    Misused(&'static str),
}

/// Nobody has come to it until `turns` has an entry for each thread.
#[derive(Default)]
pub(super) struct Meeting {
    threads: usize,
    /// Of a whole grid, not of a cluster.
    of_grid: bool,
    /// Of the cluster, not yet gone.
    live: usize,
    /// How often all have arrived.
    turn: u64,
    /// Arrivals of this turn.
    arrived: usize,
    /// By block and thread: how often it has arrived, and waited.
    turns: Vec<(u64, u64)>,
    waiting: Vec<Member>,
}

impl Meeting {
    pub(super) fn reset(&mut self, blocks: usize, threads: usize, of_grid: bool) {
        (self.threads, self.of_grid) = (threads, of_grid);
        self.live = blocks * threads;
        (self.turn, self.arrived) = (0, 0);
        self.turns.clear();
        self.waiting.clear();
    }

    fn turns(&mut self, (rank, thread): Member, blocks: usize) -> &mut (u64, u64) {
        if self.turns.is_empty() {
            self.turns.resize(blocks * self.threads, (0, 0));
        }
        &mut self.turns[rank * self.threads + thread as usize]
    }

    pub(super) fn arrive(&mut self, who: Member, blocks: usize) -> Step {
        let (arrived, waited) = self.turns(who, blocks);
        if arrived != waited {
            return Step::Misused("cluster barrier: arrives twice");
        }
        *arrived += 1;
        self.arrived += 1;
        self.advance();
        Step::GoesOn
    }

    pub(super) fn wait(&mut self, who: Member, blocks: usize) -> Step {
        let (arrived, waited) = self.turns(who, blocks);
        if arrived == waited {
            return Step::Misused("cluster barrier: waits without an arrival");
        }
        *waited += 1;
        if *waited <= self.turn {
            return Step::GoesOn;
        }
        self.waiting.push(who);
        Step::Waits
    }

    /// A thread has left the kernel; whether that may release others.
    pub(super) fn exit(&mut self, (rank, thread): Member) -> bool {
        if self.of_grid {
            return false;
        }
        self.live -= 1;
        match self.turns.get(rank * self.threads + thread as usize) {
            None => false,
            Some((arrived, _)) => {
                self.arrived -= usize::from(*arrived > self.turn);
                self.advance();
                true
            }
        }
    }

    pub(super) fn is_of_grid(&self) -> bool {
        self.of_grid
    }

    /// How often all have arrived.
    pub(super) fn turn(&self) -> u64 {
        self.turn
    }

    fn advance(&mut self) {
        if self.arrived == self.live {
            self.turn += 1;
            self.arrived = 0;
        }
    }

    /// Those who can go on, if all have arrived.
    pub(super) fn released(&mut self) -> impl Iterator<Item = Member> {
        let over = self.waiting.first().is_some_and(|&(rank, thread)| {
            let turns = self.turns.get(rank * self.threads + thread as usize);
            turns.is_some_and(|(_, waited)| *waited <= self.turn)
        });
        let end = if over { self.waiting.len() } else { 0 };
        self.waiting.drain(..end)
    }

    /// What those who wait wait for, as a report says it; and who.
    pub(super) fn plight(&self) -> (String, &[Member]) {
        let (arrived, live) = (self.arrived, self.live);
        let have = if arrived == 1 { "has" } else { "have" };
        let whose = if self.of_grid { "grid" } else { "cluster" };
        let text = format!("the {whose} barrier ({arrived} of {live} {have} arrived)");
        (text, &self.waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn released(meeting: &mut Meeting) -> Vec<Member> {
        meeting.released().collect()
    }

    #[test]
    fn all_threads_of_all_blocks_arrive() {
        let mut m = Meeting::default();
        m.reset(2, 2, false);
        let all = [(0, 0), (0, 1), (1, 0), (1, 1)];
        for turn in 0..3 {
            for who in &all[..3] {
                assert_eq!(m.arrive(*who, 2), Step::GoesOn, "turn {turn}");
            }
            assert_eq!(m.wait((0, 1), 2), Step::Waits);
            assert_eq!(m.wait((1, 0), 2), Step::Waits);
            assert_eq!(released(&mut m), []);
            assert_eq!(m.arrive((1, 1), 2), Step::GoesOn);
            assert_eq!(released(&mut m), [(0, 1), (1, 0)]);
            assert_eq!(m.wait((1, 1), 2), Step::GoesOn);
            // The first to arrive may come late.
            assert_eq!(m.wait((0, 0), 2), Step::GoesOn);
        }
    }

    #[test]
    fn who_has_left_is_not_waited_for() {
        let mut m = Meeting::default();
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
        let mut m = Meeting::default();
        m.reset(1, 2, false);
        assert!(matches!(m.wait((0, 0), 1), Step::Misused(_)));
        assert_eq!(m.arrive((0, 0), 1), Step::GoesOn);
        assert!(matches!(m.arrive((0, 0), 1), Step::Misused(_)));
    }
}
