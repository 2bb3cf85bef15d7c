//! One side of a move.

use super::conditions::{at_most, less};
use crate::ir::{Expr, Valid};
use crate::source::Span;
use crate::symbolic::{Ctx, Sym};

/// `width` consecutive elements of a row are contiguous; the next group is at distance `jump`.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    pub(super) width: i64,
    pub(super) jump: Sym,
}

/// One side of the move along one axis: position `c` is at `c * stride`, and inside the data if
/// every `lo <= c` and `c < hi`.
#[derive(Clone, Debug, Default)]
pub(super) struct Side {
    pub(super) stride: Sym,
    /// The row is divided into groups: position `c` is at `c % width * stride + c / width * jump`.
    pub(super) groups: Option<Groups>,
    pub(super) lo: Vec<Sym>,
    pub(super) hi: Vec<Sym>,
}

impl Side {
    pub(super) fn new(stride: &Sym, valid: Option<&Valid>) -> Side {
        let bound = |b: Option<&Sym>| b.cloned().into_iter().collect();
        Side {
            stride: stride.clone(),
            groups: None,
            lo: bound(valid.and_then(|v| v.lo.as_ref())),
            hi: bound(valid.and_then(|v| v.hi.as_ref())),
        }
    }

    pub(super) fn is_free(&self) -> bool {
        self.lo.is_empty() && self.hi.is_empty()
    }

    pub(super) fn drop_redundant_bounds(&mut self, cx: &Ctx, extent: &Sym) {
        self.lo.retain(|lo| !cx.le(lo, &Sym::zero()).is_yes());
        self.hi.retain(|hi| !cx.le(extent, hi).is_yes());
    }

    pub(super) fn scale_bounds(&mut self, by: &Sym) {
        for bound in self.lo.iter_mut().chain(&mut self.hi) {
            *bound = &*bound * by;
        }
    }

    /// The conditions at position `at`.
    pub(super) fn conditions<'a>(
        &'a self,
        at: &'a Sym,
        span: Span,
    ) -> impl Iterator<Item = Expr> + 'a {
        let low = self.lo.iter().map(move |lo| at_most(lo, at, span));
        low.chain(self.hi.iter().map(move |hi| less(at, hi, span)))
    }
}
