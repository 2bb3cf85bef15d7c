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

#[cfg(test)]
mod tests {
    use crate::emit::tests::lines;

    /// The line that asks for a GPU, for a product of this type.
    fn asks(elem: &str) -> Option<String> {
        let text = format!(
            "__co__ void f({elem} [16, 32] a, {elem} [8, 32] b, f32 [16, 8] & c) {{
               parallel by 1 : block parallel w by 1 : group {{
                 acc = mma.fill.f32 0.0f;  x = mma.load a;  y = mma.load b;
                 mma.row.row acc, x, y;  mma.store acc, c; }} }}"
        );
        let found = lines(&text)
            .into_iter()
            .find(|line| line.contains("CROQ_NEEDS"));
        found.map(|line| line.trim().to_owned())
    }

    #[test]
    fn eight_bit_floats_need_sm_89() {
        for elem in ["f8_e4m3", "f8_e5m2"] {
            assert_eq!(asks(elem).as_deref(), Some("CROQ_NEEDS(f_0, 89);"));
        }
        assert_eq!(asks("f16"), None);
    }
}
