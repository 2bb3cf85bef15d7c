//! Four warps that execute the same `wgmma` instructions with the same descriptors.

use std::collections::VecDeque;

/// An instruction: an address that stands for its function, its position, and its descriptors.
pub type Entry = (usize, usize, [u64; 2]);

#[derive(Clone, Debug)]
pub struct Warpgroup {
    warps: usize,
    /// Instructions that not all warps have executed yet.
    log: VecDeque<Entry>,
    /// How many came before them.
    earlier: usize,
    executed: [usize; 4],
    has_exited: [bool; 4],
}

impl Warpgroup {
    /// For all warps of a block.
    pub fn of_block(warps: usize) -> Vec<Warpgroup> {
        let group = |first: usize| Warpgroup {
            warps: (warps - first).min(4),
            log: VecDeque::new(),
            earlier: 0,
            executed: [0; 4],
            has_exited: [false; 4],
        };
        (0..warps).step_by(4).map(group).collect()
    }

    /// # Errors
    ///
    /// The warps of the group do not execute the same.
    pub fn execute(&mut self, warp: usize, entry: Entry) -> Result<(), String> {
        if self.warps < 4 {
            let warps = self.warps;
            return Err(format!("the warpgroup has {warps} warps instead of 4"));
        }
        let own = self.executed[warp];
        let gone = (0..4).find(|other| self.has_exited[*other] && self.executed[*other] <= own);
        if let Some(other) = gone {
            return Err(format!(
                "warp {other} of the warpgroup has exited without this instruction"
            ));
        }
        match self.log.get(own - self.earlier) {
            None => self.log.push_back(entry),
            Some(known) if *known == entry => {}
            Some(known) if (known.0, known.1) == (entry.0, entry.1) => {
                return Err(
                    "the matrix descriptors of the warps of the warpgroup differ".to_owned(),
                );
            }
            Some(_) => {
                return Err("the warps of the warpgroup execute different instructions".to_owned());
            }
        }
        self.executed[warp] += 1;
        while self.executed.iter().all(|count| *count > self.earlier) {
            self.log.pop_front();
            self.earlier += 1;
        }
        Ok(())
    }

    /// # Errors
    ///
    /// Others have executed more.
    pub fn exit(&mut self, warp: usize) -> Result<(), String> {
        self.has_exited[warp] = true;
        let most = self.executed.iter().max().copied().unwrap_or(0);
        match self.executed[warp] < most {
            true => Err(format!(
                "warp {warp} of a warpgroup exits without a `wgmma` instruction that others execute"
            )),
            false => Ok(()),
        }
    }
}
