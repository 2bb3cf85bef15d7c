//! What is known about the way to the statement at hand: the constructs around it, innermost last.

use crate::ir::ThreadSet;
use crate::sema::state::value::Derive;
use crate::source::Span;

/// A construct around the statement or expression at hand.
pub(crate) enum Frame {
    /// The outermost `parallel`: a kernel.
    Launch,
    /// A level below the blocks. `merged`: the outer of two merged thread levels.
    Level { merged: bool, header: Span },
    /// `inthreads`: which threads come, as far as that is known, and where it is written.
    Region {
        threads: Option<ThreadSet>,
        span: Span,
    },
    /// One range of a `foreach`, which may have no iterations.
    Range { may_be_empty: bool },
    /// What `break` leaves.
    Loop,
    /// A condition, which may restrict which instances come here, or never hold.
    Condition { restricts: bool, never: bool },
    /// A condition that differs between threads of a block.
    Divergent,
    /// A predicate that may well hold always: an `assert`'s, an `inthreads`'.
    Predicate,
    /// An extent, a bound or another number of things.
    Count,
    /// The value of a `return`.
    Returned,
    /// What a bare `(i)` is an element of, if it is one here.
    Derivation(Option<Derive>),
}

struct Step {
    frame: Frame,
    /// Something in it may leave it early.
    left: bool,
}

#[derive(Default)]
pub(crate) struct Path {
    steps: Vec<Step>,
    /// A `return` outside of all loops came before.
    returned: bool,
}

impl Path {
    pub fn push(&mut self, frame: Frame) {
        self.steps.push(Step { frame, left: false });
    }

    pub fn pop(&mut self) {
        self.steps.pop();
    }

    /// A statement leaves the loop, the kernel or the function.
    pub fn leave(&mut self) {
        let mut steps = self.steps.iter_mut().rev();
        match steps.find(|s| matches!(s.frame, Frame::Loop | Frame::Range { .. } | Frame::Launch)) {
            Some(step) => step.left = true,
            None => self.returned = true,
        }
    }

    /// The steps of the kernel, or of all host code, innermost first.
    fn of_kernel(&self) -> impl Iterator<Item = &Frame> {
        self.frames().take_while(|f| !matches!(f, Frame::Launch))
    }

    fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.steps.iter().rev().map(|s| &s.frame)
    }

    /// Loops that `break` can leave. Not those around an inner `parallel` or an `inthreads`:
    /// threads that don't come here run them too, and would wait for the missing ones at the next
    /// barrier.
    pub fn loops(&self) -> usize {
        self.of_kernel()
            .take_while(|f| !matches!(f, Frame::Level { .. } | Frame::Region { .. }))
            .filter(|f| matches!(f, Frame::Loop))
            .count()
    }

    /// Whether there are loops around, in this kernel or on the host.
    pub fn in_loop(&self) -> bool {
        self.of_kernel().any(|f| matches!(f, Frame::Loop))
    }

    /// Conditions of the kernel that restrict which instances come here.
    pub fn conditions(&self) -> usize {
        let restricts = |f: &&Frame| {
            matches!(
                f,
                Frame::Condition {
                    restricts: true,
                    ..
                }
            )
        };
        self.of_kernel().filter(restricts).count()
    }

    /// A condition restricts which instances come here.
    pub fn is_conditional(&self) -> bool {
        self.conditions() > 0
    }

    /// A condition around here differs between threads of a block.
    pub fn is_divergent(&self) -> bool {
        self.of_kernel().any(|f| matches!(f, Frame::Divergent))
    }

    /// A condition around here never holds: a proven violation is none.
    pub fn is_dead(&self) -> bool {
        self.frames()
            .any(|f| matches!(f, Frame::Condition { never: true, .. }))
    }

    /// Every call comes here: no condition is around, no loop of perhaps no iterations, and nothing
    /// left early. Host code and kernels alike.
    pub fn is_certain(&self) -> bool {
        !self.returned && self.steps.iter().all(Step::is_certain)
    }

    /// Every launch of the kernel comes here.
    pub fn is_certain_in_kernel(&self) -> bool {
        for step in self.steps.iter().rev() {
            if !step.is_certain() {
                return false;
            }
            if matches!(step.frame, Frame::Launch) {
                return true;
            }
        }
        !self.returned
    }

    /// The `inthreads` of the kernel, innermost first: who comes, and where they are.
    pub fn regions(&self) -> impl Iterator<Item = (Option<&ThreadSet>, Span)> {
        self.of_kernel().filter_map(|f| match f {
            Frame::Region { threads, span } => Some((threads.as_ref(), *span)),
            _ => None,
        })
    }

    pub fn in_region(&self) -> bool {
        self.regions().next().is_some()
    }

    /// The threads of the innermost `inthreads` around; `None` outside, or where they are not
    /// known.
    pub fn region_threads(&self) -> Option<&ThreadSet> {
        self.regions().next()?.0
    }

    /// Where the innermost level below the blocks is written.
    pub fn level_header(&self) -> Option<Span> {
        self.of_kernel().find_map(|f| match f {
            Frame::Level { header, .. } => Some(*header),
            _ => None,
        })
    }

    /// Inside the outer of two merged thread levels.
    pub fn is_merged(&self) -> bool {
        let mut levels = self.frames().filter_map(|f| match f {
            Frame::Level { merged, .. } => Some(*merged),
            _ => None,
        });
        levels.next().unwrap_or(false)
    }

    pub fn in_predicate(&self) -> bool {
        self.frames().any(|f| matches!(f, Frame::Predicate))
    }

    pub fn in_count(&self) -> bool {
        self.frames().any(|f| matches!(f, Frame::Count))
    }

    pub fn in_returned(&self) -> bool {
        self.frames().any(|f| matches!(f, Frame::Returned))
    }

    /// The shape or ituple that a bare `(i)` is an element of.
    pub fn derivation(&self) -> Option<&Derive> {
        let mut derivations = self.frames().filter_map(|f| match f {
            Frame::Derivation(base) => Some(base.as_ref()),
            _ => None,
        });
        derivations.next().flatten()
    }
}

impl Step {
    fn is_certain(&self) -> bool {
        let uncertain = match self.frame {
            Frame::Condition { .. } => true,
            Frame::Range { may_be_empty } => may_be_empty,
            _ => false,
        };
        !uncertain && !self.left
    }
}
