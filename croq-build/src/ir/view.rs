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
    /// What the view was cut from; `None` when a window with strides of its own hides it.
    pub frame: Option<Frame>,
    pub span: Span,
}

/// The tensor that a view is a box of: a buffer as it was declared, or as `span_as` sees it. Its
/// element 0 is at `view.offset - Σ origin_d · strides[d]`.
#[derive(Clone, Debug)]
pub struct Frame {
    pub extents: Vec<Sym>,
    pub strides: Vec<Sym>,
    /// Coordinates of the view's first element; they may be outside.
    pub origin: Vec<Sym>,
    /// Which axis of the frame each axis of the view runs along. The box has one position on others.
    pub axes: Vec<usize>,
}

impl Frame {
    /// A tensor that is seen whole.
    pub fn whole(extents: &[Sym], strides: &[Sym]) -> Self {
        Self {
            extents: extents.to_vec(),
            strides: strides.to_vec(),
            origin: vec![Sym::zero(); extents.len()],
            axes: (0..extents.len()).collect(),
        }
    }

    /// The buffer's element that is the frame's first, when the box begins at `offset`.
    pub fn base(&self, offset: &Sym) -> Sym {
        self.origin
            .iter()
            .zip(&self.strides)
            .fold(offset.clone(), |base, (o, s)| &base - &(o * s))
    }
}

impl View {
    /// Whether both are boxes of the same tensor, so that their origins say which elements they share.
    pub fn is_cut_like(&self, other: &View) -> bool {
        let (Some(one), Some(other)) = (&self.frame, &other.frame) else {
            return false;
        };
        one.extents == other.extents
            && one.strides == other.strides
            && one.origin.len() == other.origin.len()
    }

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

impl Access {
    /// The element's number in the buffer.
    pub fn address(&self) -> Sym {
        let steps = self.indices.iter().zip(&self.view.strides);
        steps.fold(self.view.offset.clone(), |sum, (i, s)| &sum + &(i * s))
    }
}
