//! Over which units of threads a value is the same, and what disturbs it.

use crate::ir::{BufferId, Function, Level, LocalId};
use crate::source::Span;

/// Units of threads, each a part of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    Thread,
    Warp,
    Warpgroup,
    Block,
    Cluster,
    Grid,
}

impl Scope {
    pub fn of(level: Level) -> Self {
        match level {
            Level::Thread => Scope::Thread,
            Level::Warp => Scope::Warp,
            Level::Warpgroup => Scope::Warpgroup,
            Level::Block => Scope::Block,
            Level::Cluster => Scope::Cluster,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Scope::Thread => "thread",
            Scope::Warp => "warp",
            Scope::Warpgroup => "warpgroup",
            Scope::Block => "block",
            Scope::Cluster => "cluster",
            Scope::Grid => "grid",
        }
    }
}

/// Where a value stops being the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    pub kind: CauseKind,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CauseKind {
    /// An index of a `parallel`.
    Index(LocalId),
    /// A number that the hardware gives each thread, warp or block.
    Hardware,
    /// Each thread holds its own part of the fragment.
    Fragment(BufferId),
    /// Each thread finds what the one before it left.
    Atomic,
    /// Only one thread of a unit computes it.
    SingleThread,
    /// Memory that the launch writes at the same time, as far as is known.
    Written(BufferId),
    /// Other blocks have their own.
    PerBlock(BufferId),
    /// C++ text that the compiler does not see into has its address or changes it.
    Escapes(BufferId),
    Text,
    Call,
    /// The analysis gave up.
    Complex,
}

impl CauseKind {
    pub fn text(self, function: &Function) -> String {
        let buffer = |id: BufferId| function.buffers.get(id.index()).map_or("", |b| &b.name);
        match self {
            Self::Index(id) => {
                let local = function.locals.get(id.index());
                format!("`{}` differs", local.map_or("", |l| &l.name))
            }
            Self::Hardware => "this number differs".to_owned(),
            Self::Fragment(id) => format!("each thread holds another part of `{}`", buffer(id)),
            Self::Atomic => "each thread gets another result".to_owned(),
            Self::SingleThread => "only one thread has this value".to_owned(),
            Self::Written(id) => {
                format!("`{}` may be written between two threads' reads", buffer(id))
            }
            Self::PerBlock(id) => format!("each block has its own `{}`", buffer(id)),
            Self::Escapes(id) => format!("C++ code has the address of `{}`", buffer(id)),
            Self::Text => "C++ code may change this".to_owned(),
            Self::Call => "what C++ code returns may differ".to_owned(),
            Self::Complex => "the analysis gave up on this loop".to_owned(),
        }
    }
}

/// The widest unit that something holds for, and what it fails for beyond that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limit {
    scope: Scope,
    cause: Option<Cause>,
}

impl Limit {
    const NONE: Limit = Limit {
        scope: Scope::Grid,
        cause: None,
    };

    fn meet(self, other: Limit) -> Limit {
        if other.scope < self.scope {
            other
        } else {
            self
        }
    }
}

/// Whether the threads of a unit have the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Same,
    Unknown(Option<Cause>),
    Differs(Option<Cause>),
}

/// Values of all threads of the block, by their number in `indices::Indices`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known(pub usize);

/// The threads of each unit up to `same` have one value. Those of units beyond `apart` do not: it is a
/// value that differs between them, or one that is as different. In between only run time tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uniform {
    same: Limit,
    apart: Limit,
    /// Where the numbers of the threads alone determine it.
    pub known: Option<Known>,
}

impl Uniform {
    pub const EVERYWHERE: Uniform = Uniform {
        same: Limit::NONE,
        apart: Limit::NONE,
        known: None,
    };

    /// It differs between the parts of a unit that is wider than `scope`.
    pub fn within(scope: Scope, kind: CauseKind, span: Span) -> Self {
        Self::exactly(scope, Some(Cause { kind, span }))
    }

    /// It was computed for each thread: this is what the values say.
    pub fn exactly(scope: Scope, cause: Option<Cause>) -> Self {
        let limit = match scope {
            Scope::Grid => Limit::NONE,
            _ => Limit { scope, cause },
        };
        Self {
            same: limit,
            apart: limit,
            known: None,
        }
    }

    /// It is the same in units up to `scope`; more is not known.
    pub fn at_least(scope: Scope, kind: CauseKind, span: Span) -> Self {
        let cause = Some(Cause { kind, span });
        Self {
            same: Limit { scope, cause },
            ..Self::EVERYWHERE
        }
    }

    /// Of what is decided by both: it differs where one of them does.
    pub fn meet(self, other: Self) -> Self {
        Self {
            same: self.same.meet(other.same),
            apart: self.apart.meet(other.apart),
            known: None,
        }
    }

    /// Of a sum or a comparison: what differs in one of them stays if the other is the same there.
    pub fn beside(self, other: Self) -> Self {
        let kept = |a: Self, b: Self| match b.same.scope > a.apart.scope {
            true => a.apart,
            false => Limit::NONE,
        };
        Self {
            same: self.same.meet(other.same),
            apart: kept(self, other).meet(kept(other, self)),
            known: None,
        }
    }

    /// One of both, as `decides` says: it differs where both do, and the same one is taken.
    pub fn either(self, other: Self, decides: Self) -> Self {
        let apart = match self.apart.scope >= other.apart.scope {
            true => self.apart,
            false => other.apart,
        };
        Self {
            same: self.same.meet(other.same).meet(decides.same),
            apart: match decides.same.scope > apart.scope {
                true => apart,
                false => Limit::NONE,
            },
            known: None,
        }
    }

    /// At the head of a loop: in the first iteration it is as before the loop.
    pub fn at_head(self, carried: Self, skips: Self) -> Self {
        Self {
            same: self.same.meet(carried.same).meet(skips.same),
            known: None,
            ..self
        }
    }

    /// What this walk has found, beside what others have.
    pub fn widened(self, now: Self) -> Self {
        Self {
            same: self.same.meet(now.same),
            apart: now.apart,
            known: None,
        }
    }

    /// It has a name of its own, by which reports know it.
    pub fn because(self, kind: CauseKind, span: Span) -> Self {
        let named = |limit: Limit| Limit {
            cause: limit.cause.map(|_| Cause { kind, span }),
            ..limit
        };
        Self {
            same: named(self.same),
            apart: named(self.apart),
            known: self.known,
        }
    }

    /// The same in fewer units, perhaps: what differs may cancel out.
    pub fn perhaps(self) -> Self {
        Self {
            same: self.same,
            ..Self::EVERYWHERE
        }
    }

    pub fn with(self, known: Option<Known>) -> Self {
        Self { known, ..self }
    }

    pub fn cause(self) -> Option<Cause> {
        self.apart.cause.or(self.same.cause)
    }

    pub fn is_everywhere(self) -> bool {
        self.same.scope == Scope::Grid
    }

    /// The same limits, whatever the causes.
    pub fn is_like(self, other: Self) -> bool {
        self.same.scope == other.same.scope && self.apart.scope == other.apart.scope
    }

    pub fn over(self, unit: Scope) -> Verdict {
        if unit <= self.same.scope {
            Verdict::Same
        } else if unit > self.apart.scope {
            Verdict::Differs(self.apart.cause)
        } else {
            Verdict::Unknown(self.same.cause)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_computed_of_both_is_the_same_in_the_smaller_units() {
        let at = Span::default();
        let warp = Uniform::within(Scope::Warp, CauseKind::Hardware, at);
        let data = Uniform::at_least(Scope::Thread, CauseKind::Call, at);
        assert_eq!(warp.over(Scope::Warp), Verdict::Same);
        assert!(matches!(warp.over(Scope::Block), Verdict::Differs(_)));
        assert!(matches!(data.over(Scope::Warp), Verdict::Unknown(_)));
        assert!(matches!(
            warp.meet(data).over(Scope::Warp),
            Verdict::Unknown(_)
        ));
        assert!(matches!(
            warp.meet(data).over(Scope::Block),
            Verdict::Differs(_)
        ));
        assert!(matches!(
            warp.perhaps().over(Scope::Block),
            Verdict::Unknown(_)
        ));
        let everywhere = Uniform::exactly(Scope::Grid, None);
        assert_eq!(everywhere.over(Scope::Block), Verdict::Same);
    }

    #[test]
    fn what_differs_in_both_may_cancel_out() {
        let at = Span::default();
        let differs = |scope| Uniform::within(scope, CauseKind::Hardware, at);
        let (thread, warp) = (differs(Scope::Thread), differs(Scope::Warp));
        let data = Uniform::at_least(Scope::Thread, CauseKind::Call, at);
        let over = |value: Uniform| value.over(Scope::Block);
        assert!(matches!(over(thread.beside(thread)), Verdict::Unknown(_)));
        assert!(matches!(over(thread.beside(data)), Verdict::Unknown(_)));
        assert!(matches!(over(thread.beside(warp)), Verdict::Differs(_)));
        assert!(matches!(
            over(thread.beside(Uniform::EVERYWHERE)),
            Verdict::Differs(_)
        ));
        let one_of = |decides| thread.either(Uniform::EVERYWHERE, decides);
        assert!(matches!(
            over(one_of(Uniform::EVERYWHERE)),
            Verdict::Unknown(_)
        ));
        let both = thread.either(thread, Uniform::EVERYWHERE);
        assert!(matches!(over(both), Verdict::Differs(_)));
        assert!(matches!(
            over(thread.either(thread, data)),
            Verdict::Unknown(_)
        ));
    }
}
