//! The path to the current statement: the constructs around it, innermost last.

use crate::ir::{Level, ThreadSet};
use crate::sema::state::value::Derive;
use crate::source::Span;

/// A construct around the current statement or expression.
pub(crate) enum Frame {
    /// The outermost `parallel`: a kernel.
    Launch,
    /// A level below the blocks. `merged`: the outer of two merged thread levels.
    Level { merged: bool, header: Span },
    /// `inthreads`: the threads that execute it, if they are known, and its source location.
    Region {
        threads: Option<ThreadSet>,
        span: Span,
    },
    /// The body of a function that host code calls.
    Call,
    /// One range of a `foreach`, which may have no iterations.
    Range { may_be_empty: bool },
    /// A loop that `break` can leave.
    Loop,
    /// A condition: whether it may restrict the instances that execute the statement, whether
    /// several instances hardly ever fail to satisfy it, and whether it never holds.
    Condition {
        restricts: bool,
        several: bool,
        never: bool,
    },
    /// A condition that differs between units of this level in a block.
    Divergent(Level),
    /// What not all units of this level do, or not equally often: a region, or the iterations of a
    /// loop.
    Uneven(Level),
    /// A predicate that may legitimately hold always: of an `assert` or an `inthreads`.
    Predicate,
    /// An extent, a bound or another count.
    Count,
    /// The base that a bare `(i)` takes an element of, if it is one here.
    Derivation(Option<Derive>),
}

/// An `inthreads`: its source location, and its number in the function, because those that one use of a
/// macro makes have the same location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RegionAt {
    pub span: Span,
    number: usize,
}

struct Step {
    frame: Frame,
    /// The number of the construct in the function.
    number: usize,
    /// Whether a statement in it may leave it early.
    left: bool,
}

#[derive(Default)]
pub(crate) struct Path {
    steps: Vec<Step>,
    /// The number of constructs so far.
    entered: usize,
    /// Whether a `return` came before, outside of all calls.
    returned: bool,
}

impl Path {
    pub(super) fn push(&mut self, frame: Frame) {
        self.entered += 1;
        self.steps.push(Step {
            frame,
            number: self.entered,
            left: false,
        });
    }

    pub(super) fn pop(&mut self) {
        self.steps.pop();
    }

    /// Records a statement that leaves the innermost loop.
    pub fn leave_loop(&mut self) {
        let mut steps = self.steps.iter_mut().rev();
        let is_left = |frame: &Frame| matches!(frame, Frame::Loop | Frame::Range { .. });
        if let Some(step) = steps.find(|s| is_left(&s.frame)) {
            step.left = true;
        }
    }

    /// Records a statement that leaves the kernel, or the function, and all loops around it there.
    pub fn leave(&mut self) {
        for step in self.steps.iter_mut().rev() {
            match step.frame {
                Frame::Loop | Frame::Range { .. } => step.left = true,
                Frame::Launch | Frame::Call => {
                    step.left = true;
                    return;
                }
                _ => {}
            }
        }
        self.returned = true;
    }

    /// The constructs of the kernel, or of all host code, innermost first.
    fn of_kernel(&self) -> impl Iterator<Item = &Frame> {
        self.steps_of_kernel().map(|s| &s.frame)
    }

    fn steps_of_kernel(&self) -> impl Iterator<Item = &Step> {
        let steps = self.steps.iter().rev();
        steps.take_while(|s| !matches!(s.frame, Frame::Launch))
    }

    fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.steps.iter().rev().map(|s| &s.frame)
    }

    /// The number of loops that `break` can leave. Loops around an inner `parallel` or an
    /// `inthreads` do not count: threads that do not execute the inner statement run them too, and
    /// would wait at the next barrier for those that left.
    pub fn loops(&self) -> usize {
        self.of_kernel()
            .take_while(|f| !matches!(f, Frame::Level { .. } | Frame::Region { .. }))
            .filter(|f| matches!(f, Frame::Loop))
            .count()
    }

    /// Whether there are enclosing loops, in this kernel or on the host.
    pub fn in_loop(&self) -> bool {
        self.of_kernel().any(|f| matches!(f, Frame::Loop))
    }

    /// The number of conditions in the kernel that restrict which instances execute the statement.
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

    /// Whether the statement is executed under a condition, in this kernel or on the host.
    pub fn is_below_condition(&self) -> bool {
        self.frames().any(|f| matches!(f, Frame::Condition { .. }))
    }

    /// Whether a condition restricts which instances execute the statement.
    pub fn is_conditional(&self) -> bool {
        self.conditions() > 0
    }

    /// Whether conditions may select a single instance for the statement.
    pub fn may_select_one(&self) -> bool {
        self.of_kernel().any(|f| {
            matches!(
                f,
                Frame::Condition {
                    restricts: true,
                    several: false,
                    ..
                }
            )
        })
    }

    /// Whether an enclosing condition differs between threads of a block.
    pub fn is_divergent(&self) -> bool {
        self.divergence() > Level::Block
    }

    /// The finest level between whose units the enclosing conditions differ.
    pub fn divergence(&self) -> Level {
        let levels = self.of_kernel().filter_map(|f| match f {
            Frame::Divergent(level) => Some(*level),
            _ => None,
        });
        levels.max().unwrap_or(Level::Block)
    }

    /// The number of constructs around the statement.
    pub fn depth(&self) -> usize {
        self.steps.len()
    }

    /// The finest level between whose units the constructs inside the first `depth` ones differ.
    pub fn unevenness(&self, depth: usize) -> Level {
        let inner = self.steps.iter().skip(depth);
        inner
            .map(|s| unevenness_of(&s.frame))
            .max()
            .unwrap_or(Level::Block)
    }

    /// Whether a condition inside the innermost loop differs between threads.
    pub fn exits_unevenly(&self) -> bool {
        let mut inner = self.frames().take_while(|f| !matches!(f, Frame::Loop));
        inner.any(|f| unevenness_of(f) > Level::Block)
    }

    /// Whether an enclosing condition never holds: then a proved violation is not an error.
    pub fn is_dead(&self) -> bool {
        self.frames()
            .any(|f| matches!(f, Frame::Condition { never: true, .. }))
    }

    /// Whether every call executes the statement: there is no enclosing condition, no loop that may
    /// have no iterations, and no statement before it that leaves early. For host code and kernels.
    pub fn is_certain(&self) -> bool {
        !self.returned && self.steps.iter().all(Step::is_certain)
    }

    /// Whether every launch of the kernel executes the statement.
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

    /// The `inthreads` of the kernel with their threads, innermost first.
    pub fn regions(&self) -> impl Iterator<Item = (Option<&ThreadSet>, RegionAt)> {
        self.steps_of_kernel().filter_map(|step| match &step.frame {
            Frame::Region { threads, span } => {
                let (span, number) = (*span, step.number);
                Some((threads.as_ref(), RegionAt { span, number }))
            }
            _ => None,
        })
    }

    pub fn in_region(&self) -> bool {
        self.regions().next().is_some()
    }

    /// The threads of the innermost enclosing `inthreads`; `None` outside, or if they are not
    /// known.
    pub fn region_threads(&self) -> Option<&ThreadSet> {
        self.regions().next()?.0
    }

    /// The source location of the innermost level below the blocks.
    pub fn level_header(&self) -> Option<Span> {
        self.of_kernel().find_map(|f| match f {
            Frame::Level { header, .. } => Some(*header),
            _ => None,
        })
    }

    /// Whether the statement is inside the outer of two merged thread levels.
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

    /// The shape or ituple that a bare `(i)` is an element of.
    pub fn derivation(&self) -> Option<&Derive> {
        let mut derivations = self.frames().filter_map(|f| match f {
            Frame::Derivation(base) => Some(base.as_ref()),
            _ => None,
        });
        derivations.next().flatten()
    }
}

fn unevenness_of(frame: &Frame) -> Level {
    match frame {
        Frame::Divergent(level) | Frame::Uneven(level) => *level,
        _ => Level::Block,
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
