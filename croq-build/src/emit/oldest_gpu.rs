//! The GPUs that can run a kernel.

use crate::ir::threads::{Function, Kernel, MmaOp, Stmt, StmtKind};
use crate::ir::{Access, Scalar, any_stmt};

/// The compute capability that a kernel needs, if sm_80 is not enough: 10 times the version.
pub(super) fn oldest_gpu(function: &Function, kernel: &Kernel) -> Option<u32> {
    if crate::ir::needs_sm_90(kernel) {
        return Some(super::tma::SM);
    }
    let is_float8 = |part: &Access| {
        let elem = function.buffer(part.view.buffer).elem;
        matches!(elem, Scalar::F8E4M3 | Scalar::F8E5M2)
    };
    let multiplies_float8 = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Mma(op) => match &**op {
            MmaOp::Instruction { parts, .. } => parts.iter().any(is_float8),
            _ => false,
        },
        _ => false,
    };
    any_stmt(&kernel.body, multiplies_float8).then_some(89)
}
