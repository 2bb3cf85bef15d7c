//! The parameters and the results of a function.

use super::{BufferId, DimId, ParamId, Scalar};
use crate::source::Span;
use crate::symbolic::{Sym, Var};

/// A symbolic dimension: `M`, or an anonymous one (named `param_axis`, such as `src_0`).
#[derive(Clone, Debug)]
pub struct Dim {
    pub name: String,
    pub var: Var,
    pub anonymous: bool,
    /// The parameter and axis that declare it, from which its run-time value is read.
    pub param: ParamId,
    pub axis: usize,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Param {
    /// Unnamed parameters get `arg<position>`.
    pub name: String,
    pub named: bool,
    pub span: Span,
    pub kind: ParamKind,
}

#[derive(Clone, Debug)]
pub enum ParamKind {
    /// `var` is set for integer parameters, about which the prover can reason.
    Scalar {
        ty: Scalar,
        var: Option<Var>,
    },
    Stream,
    Tensor(TensorParam),
}

#[derive(Clone, Debug)]
pub struct TensorParam {
    pub passing: Passing,
    pub elem: Scalar,
    pub extents: Vec<Extent>,
    pub buffer: BufferId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// `T [..] x`: copied in.
    In,
    /// `T [..] & x`: copied in, and back at the end.
    InOut,
    /// `global T [..] x`: the caller's device memory, in place.
    Global,
}

/// One axis of a tensor parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    Static(u64),
    /// `declares` is set at the first occurrence of the name, and for an anonymous dimension.
    Dim {
        dim: DimId,
        declares: bool,
    },
    /// `??`
    Unbounded,
}

/// The type of a result.
#[derive(Clone, Debug)]
pub enum ResultType {
    Scalar(Scalar),
    Tensor {
        elem: Scalar,
        shape: Vec<Sym>,
    },
    /// One element of device memory, in a buffer of its own: a scalar for callers that wait.
    Element(Scalar),
}

impl ResultType {
    pub fn elem(&self) -> Scalar {
        match self {
            ResultType::Scalar(elem)
            | ResultType::Tensor { elem, .. }
            | ResultType::Element(elem) => *elem,
        }
    }

    /// The extents of a tensor.
    pub fn shape(&self) -> &[Sym] {
        match self {
            ResultType::Tensor { shape, .. } => shape,
            _ => &[],
        }
    }
}
