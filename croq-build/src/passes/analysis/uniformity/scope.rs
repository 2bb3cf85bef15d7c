//! The units of threads in which a value is uniform, and the cause of its divergence in wider ones.

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

impl Cause {
    /// Whether it is a number of threads, warps or blocks.
    pub fn is_of_threads(self) -> bool {
        matches!(self.kind, CauseKind::Index(_) | CauseKind::Hardware)
    }
}

/// The reason why a value is not uniform in wider units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    pub kind: CauseKind,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CauseKind {
    /// An index of a `parallel`.
    Index(LocalId),
    /// A number that the hardware assigns to each thread, warp or block.
    Hardware,
    /// Each thread holds its own part of the fragment.
    Fragment(BufferId),
    /// Each thread reads the value that the previous one left.
    Atomic,
    /// Only one thread of a unit computes it.
    SingleThread,
    /// Memory that the launch may write concurrently.
    Written(BufferId),
    /// Other blocks have their own.
    PerBlock(BufferId),
    /// Opaque C++ code has its address or modifies it.
    Escapes(BufferId),
    Text,
    Call,
    /// The analysis has reached its limits.
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

/// The widest unit for which a property holds, and why it does not hold for wider ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    pub scope: Scope,
    pub cause: Option<Cause>,
}

impl Limit {
    const NONE: Limit = Limit {
        scope: Scope::Grid,
        cause: None,
    };

    pub fn meet(self, other: Limit) -> Limit {
        if other.scope < self.scope {
            other
        } else {
            self
        }
    }
}

/// Whether a value is the same in all threads of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Same,
    Unknown(Option<Cause>),
    Differs(Option<Cause>),
}

/// Values of all threads of the block, by their number in `indices::Indices`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Known(pub usize);

/// The uniformity of a value. Units up to `same` are uniform. Units wider than `divergent` are
/// divergent: the value differs between their parts, or is as different as a value that does. For
/// units in between the result is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uniform {
    same: Limit,
    divergent: Limit,
    /// The values, where thread numbers alone determine them.
    pub known: Option<Known>,
}

impl Uniform {
    pub const EVERYWHERE: Uniform = Uniform {
        same: Limit::NONE,
        divergent: Limit::NONE,
        known: None,
    };

    /// The value differs between the parts of a unit that is wider than `scope`.
    pub fn within(scope: Scope, kind: CauseKind, span: Span) -> Self {
        Self::exactly(scope, Some(Cause { kind, span }))
    }

    /// The exact result of a computation for each thread.
    pub fn exactly(scope: Scope, cause: Option<Cause>) -> Self {
        let limit = match scope {
            Scope::Grid => Limit::NONE,
            _ => Limit { scope, cause },
        };
        Self {
            same: limit,
            divergent: limit,
            known: None,
        }
    }

    /// Uniform in units up to `scope`; unknown for wider ones.
    pub fn at_least(scope: Scope, kind: CauseKind, span: Span) -> Self {
        let cause = Some(Cause { kind, span });
        Self {
            same: Limit { scope, cause },
            ..Self::EVERYWHERE
        }
    }

    /// For a value that is determined by both: it is divergent where one of them is.
    pub fn meet(self, other: Self) -> Self {
        Self {
            same: self.same.meet(other.same),
            divergent: self.divergent.meet(other.divergent),
            known: None,
        }
    }

    /// For a sum or a comparison: the divergence of one operand remains where the other is uniform.
    pub fn sum_with(self, other: Self) -> Self {
        let kept = |a: Self, b: Self| match b.same.scope > a.divergent.scope {
            true => a.divergent,
            false => Limit::NONE,
        };
        Self {
            same: self.same.meet(other.same),
            divergent: kept(self, other).meet(kept(other, self)),
            known: None,
        }
    }

    /// For a selection by `selector`: it is divergent where both values are and the selector is
    /// uniform.
    pub fn either(self, other: Self, selector: Self) -> Self {
        let divergent = match self.divergent.scope >= other.divergent.scope {
            true => self.divergent,
            false => other.divergent,
        };
        Self {
            same: self.same.meet(other.same).meet(selector.same),
            divergent: match selector.same.scope > divergent.scope {
                true => divergent,
                false => Limit::NONE,
            },
            known: None,
        }
    }

    /// At the head of a loop: in the first iteration the value is the one before the loop.
    pub fn at_head(self, carried: Self, skips: Self) -> Self {
        Self {
            same: self.same.meet(carried.same).meet(skips.same),
            known: None,
            ..self
        }
    }

    /// Joins the result of this walk to those of earlier ones.
    pub fn widened(self, now: Self) -> Self {
        Self {
            same: self.same.meet(now.same),
            divergent: now.divergent,
            known: None,
        }
    }

    /// Replaces the causes by a named value, for reports.
    pub fn because(self, kind: CauseKind, span: Span) -> Self {
        let named = |limit: Limit| Limit {
            cause: limit.cause.map(|_| Cause { kind, span }),
            ..limit
        };
        Self {
            same: named(self.same),
            divergent: named(self.divergent),
            known: self.known,
        }
    }

    /// The same uniform units, without any proof of divergence: divergent terms may cancel out.
    pub fn without_divergence(self) -> Self {
        Self {
            same: self.same,
            ..Self::EVERYWHERE
        }
    }

    pub fn with(self, known: Option<Known>) -> Self {
        Self { known, ..self }
    }

    /// The widest uniform unit, and the cause of the divergence, proved if one is.
    pub fn limit(self) -> Limit {
        Limit {
            scope: self.same.scope,
            cause: self.divergent.cause.or(self.same.cause),
        }
    }

    pub fn is_everywhere(self) -> bool {
        self.same.scope == Scope::Grid
    }

    /// Whether the limits are equal, regardless of the causes.
    pub fn is_like(self, other: Self) -> bool {
        self.same.scope == other.same.scope && self.divergent.scope == other.divergent.scope
    }

    pub fn over(self, unit: Scope) -> Verdict {
        if unit <= self.same.scope {
            Verdict::Same
        } else if unit > self.divergent.scope {
            Verdict::Differs(self.divergent.cause)
        } else {
            Verdict::Unknown(self.same.cause)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combined_values_are_uniform_in_the_smaller_units() {
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
            warp.without_divergence().over(Scope::Block),
            Verdict::Unknown(_)
        ));
        let everywhere = Uniform::exactly(Scope::Grid, None);
        assert_eq!(everywhere.over(Scope::Block), Verdict::Same);
    }

    #[test]
    fn divergent_operands_may_cancel_out() {
        let at = Span::default();
        let differs = |scope| Uniform::within(scope, CauseKind::Hardware, at);
        let (thread, warp) = (differs(Scope::Thread), differs(Scope::Warp));
        let data = Uniform::at_least(Scope::Thread, CauseKind::Call, at);
        let over = |value: Uniform| value.over(Scope::Block);
        assert!(matches!(over(thread.sum_with(thread)), Verdict::Unknown(_)));
        assert!(matches!(over(thread.sum_with(data)), Verdict::Unknown(_)));
        assert!(matches!(over(thread.sum_with(warp)), Verdict::Differs(_)));
        assert!(matches!(
            over(thread.sum_with(Uniform::EVERYWHERE)),
            Verdict::Differs(_)
        ));
        let one_of = |selector| thread.either(Uniform::EVERYWHERE, selector);
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
