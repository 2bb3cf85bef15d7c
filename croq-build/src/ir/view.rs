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
    /// For each axis, the positions of the tile that are inside the data it was cut from. An axis
    /// that the prover showed to be entirely inside has neither bound.
    pub valid: Vec<Valid>,
    /// The tensor that the view was cut from; `None` if a window with strides of its own makes it
    /// unknown.
    pub frame: Option<Frame>,
    pub span: Span,
}

/// The tensor that a view is a box of: a buffer as declared, or as reshaped by `span_as`. Its
/// element 0 is at `view.offset - Σ origin_d · strides[d]`.
#[derive(Clone, Debug)]
pub struct Frame {
    pub extents: Vec<Sym>,
    pub strides: Vec<Sym>,
    /// The coordinates of the view's first element; they may be outside the tensor.
    pub origin: Vec<Sym>,
    /// For each axis of the view, the axis of the frame that it runs along. Along the other axes of
    /// the frame the box has one position.
    pub axes: Vec<usize>,
}

impl Frame {
    /// The frame of a view of a whole tensor.
    pub fn whole(extents: &[Sym], strides: &[Sym]) -> Self {
        Self {
            extents: extents.to_vec(),
            strides: strides.to_vec(),
            origin: vec![Sym::zero(); extents.len()],
            axes: (0..extents.len()).collect(),
        }
    }

    /// The element of the buffer that is the frame's first, if the box begins at `offset`.
    pub fn base(&self, offset: &Sym) -> Sym {
        self.origin
            .iter()
            .zip(&self.strides)
            .fold(offset.clone(), |base, (o, s)| &base - &(o * s))
    }
}

impl View {
    /// One past the last element; `None` if a stride is negative or not known.
    pub fn end(&self) -> Option<Sym> {
        let mut last = self.offset.clone();
        for (extent, stride) in self.shape.iter().zip(&self.strides) {
            stride.as_int().filter(|s| *s >= 0)?;
            last = &last + &(&(extent - 1) * stride);
        }
        Some(&last + 1)
    }

    /// Whether both are boxes of the same tensor, so that their origins determine the elements they
    /// share.
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

    /// Whether some position of the tile may be outside the data.
    pub fn may_cross(&self) -> bool {
        self.valid.iter().any(|v| v.lo.is_some() || v.hi.is_some())
    }
}

/// The positions `lo <= j < hi` of one axis of a view are inside its parent; `None` is no limit.
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

    /// Accesses the element with this number, without indices.
    pub fn set_address(&mut self, address: Sym) {
        self.view.offset = address;
        self.view.shape.clear();
        self.view.strides.clear();
        self.view.valid.clear();
        self.view.frame = None;
        self.indices.clear();
    }
}
