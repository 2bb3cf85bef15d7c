//! Divergence between threads of a block.

use crate::ir::{BufferId, Function, Intrinsic, Level, LocalId, Role, Storage, ThreadSet};
use crate::passes::analysis::uniformity::{Divergence, Participation, SymUniformity};
use crate::symbolic::Sym;

/// The threads of a region, or of several.
pub struct Threads {
    pub set: ThreadSet,
}

impl Threads {
    /// Whether they are all in one unit of this level, or are the threads of the region to which
    /// such a statement applies.
    pub fn is_one(&self, level: Level) -> bool {
        match level {
            Level::Cluster | Level::Block => true,
            Level::Warpgroup | Level::Warp | Level::Thread => {
                let unit = level.threads().filter(|n| *n > 1);
                unit.is_some_and(|unit| self.set.is_in_one(unit))
            }
        }
    }
}

impl Divergence for Threads {
    fn hardware(&self, what: Intrinsic) -> bool {
        what.differs_in_block()
    }

    fn index(&self, function: &Function, local: LocalId) -> Option<bool> {
        match function.locals.get(local.index())?.role {
            Role::Parallel(level) => Some(!self.is_one(level)),
            _ => None,
        }
    }

    fn memory(&self, _: BufferId, storage: Storage) -> Option<bool> {
        Some(storage.is_private())
    }

    fn divergent_part(&self, _: &Function, sym: &Sym) -> SymUniformity {
        SymUniformity::Like(sym.clone())
    }

    fn takes_part(&self, set: Option<&ThreadSet>) -> bool {
        set.is_none_or(|set| set.meets(&self.set))
    }

    fn region(&self, set: Option<&ThreadSet>, _: bool) -> Participation {
        match set {
            Some(set) if set.includes(&self.set) => Participation::All,
            _ => Participation::Some,
        }
    }

    fn single_thread(&self) -> Participation {
        Participation::Some
    }
}
