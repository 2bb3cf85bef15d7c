//! Atomic operations.

use super::{Access, Expr, LocalId, Scalar};

/// Reads an element and writes its new value; no other thread accesses the element in between.
#[derive(Clone, Debug)]
pub struct Atomic {
    pub op: AtomicOp,
    pub access: Access,
    /// The value that the element must have for `value` to replace it; only for `Cas`.
    pub compare: Option<Expr>,
    pub value: Expr,
    /// A new local that receives the element's previous value.
    pub result: Option<LocalId>,
}

impl Atomic {
    pub fn operands(&self) -> impl Iterator<Item = &Expr> {
        self.compare.iter().chain([&self.value])
    }

    pub fn operands_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.compare.iter_mut().chain([&mut self.value])
    }

    /// Whether the final or the returned value depends on the order of the threads.
    pub fn depends_on_order(&self) -> bool {
        let exact = self.value.ty.is_integer() || matches!(self.op, AtomicOp::Min | AtomicOp::Max);
        !exact || self.result.is_some() || matches!(self.op, AtomicOp::Exch | AtomicOp::Cas)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicOp {
    Add,
    Sub,
    Exch,
    Min,
    Max,
    And,
    Or,
    Xor,
    Cas,
}

impl AtomicOp {
    pub const ALL: [AtomicOp; 9] = [
        AtomicOp::Add,
        AtomicOp::Sub,
        AtomicOp::Exch,
        AtomicOp::Min,
        AtomicOp::Max,
        AtomicOp::And,
        AtomicOp::Or,
        AtomicOp::Xor,
        AtomicOp::Cas,
    ];

    /// The name in Croqtile, without the prefix: `add` for `__atomic_add`.
    pub fn name(self) -> &'static str {
        match self {
            AtomicOp::Add => "add",
            AtomicOp::Sub => "sub",
            AtomicOp::Exch => "exch",
            AtomicOp::Min => "min",
            AtomicOp::Max => "max",
            AtomicOp::And => "and",
            AtomicOp::Or => "or",
            AtomicOp::Xor => "xor",
            AtomicOp::Cas => "cas",
        }
    }

    /// The element types that the operation supports.
    pub fn types(self) -> &'static [Scalar] {
        use Scalar::{Bf16, F16, F32, F64, S32, S64, U16, U32, U64};
        match self {
            AtomicOp::Add => &[S32, U32, U64, F16, F32, F64],
            AtomicOp::Sub => &[S32, U32],
            AtomicOp::Exch => &[S32, U32, U64, F32],
            AtomicOp::Min | AtomicOp::Max => &[S32, U32, S64, U64, F16, Bf16, F32, F64],
            AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => &[S32, U32, S64, U64],
            AtomicOp::Cas => &[S32, U32, U64, U16],
        }
    }
}
