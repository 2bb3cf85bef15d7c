//! Buffers that are laid over each other in shared memory.

use std::collections::BTreeSet;

use super::access::MemAccess;
use crate::ir::{BufferId, Level};

/// Pairs of buffers, the lesser first.
pub type Pairs = BTreeSet<(BufferId, BufferId)>;

#[derive(Debug, Default)]
pub struct Overlaps {
    pairs: Pairs,
    /// Conflicts are only noted; barriers are for those that are decided on.
    only_note: bool,
    pub noted: Pairs,
}

impl Overlaps {
    pub fn of(pairs: &Pairs) -> Overlaps {
        Overlaps {
            pairs: pairs.clone(),
            ..Overlaps::default()
        }
    }

    pub fn only_noted(pairs: &Pairs) -> Overlaps {
        Overlaps {
            only_note: true,
            ..Overlaps::of(pairs)
        }
    }

    /// Barriers between uses of one buffer are in place already, from before buffers were moved.
    pub fn are_all_that_is_new(&self) -> bool {
        !self.pairs.is_empty()
    }

    /// Whether a barrier must come between two accesses to different buffers.
    pub fn conflict(&mut self, earlier: &MemAccess, then: &MemAccess) -> bool {
        let (a, b) = (earlier.buffer, then.buffer);
        let pair = (a.min(b), a.max(b));
        let ordered_at = earlier.ordered_at == Some(Level::Block);
        let conflict = !ordered_at && (earlier.write || then.write) && self.pairs.contains(&pair);
        if conflict && self.only_note {
            self.noted.insert(pair);
            return false;
        }
        conflict
    }
}
