//! Shared buffers that overlap.

use super::access::MemAccess;
use crate::ir::{BufferId, Level};
use crate::sorted::SortedSet;

/// Pairs of buffers, the lesser first.
pub type Pairs = SortedSet<(BufferId, BufferId)>;

#[derive(Debug, Default)]
pub struct Overlaps {
    pairs: Pairs,
    /// Only record conflicts, without barriers.
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

    /// Whether this is the second walk, in which the barriers between uses of one buffer are
    /// already in place.
    pub fn is_second_walk(&self) -> bool {
        !self.pairs.is_empty()
    }

    /// Whether a barrier must lie between two accesses to different buffers.
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
