//! Regions of buffers.

use super::BufferId;
use crate::source::Span;
use crate::symbolic::Sym;

/// A region of a buffer: element `(i0, i1, …)` is at `offset + Σ i_d · strides[d]` elements.
#[derive(Clone, Debug)]
pub struct View {
    pub buffer: BufferId,
    pub offset: Sym,
    pub shape: Vec<Sym>,
    pub strides: Vec<Sym>,
    /// Per axis, which positions of the tile lie inside the data it was cut from. An axis that the
    /// prover showed to be inside altogether has neither bound.
    pub valid: Vec<Valid>,
    pub span: Span,
}

impl View {
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Some position of the tile may lie outside the data.
    pub fn may_cross(&self) -> bool {
        self.valid.iter().any(|v| v.lo.is_some() || v.hi.is_some())
    }
}

/// Positions `lo <= j < hi` of one axis of a view are inside its parent; `None` is no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Valid {
    pub lo: Option<Sym>,
    pub hi: Option<Sym>,
}

/// One element of a view.
#[derive(Clone, Debug)]
pub struct Access {
    pub view: View,
    pub indices: Vec<Sym>,
    pub span: Span,
}
