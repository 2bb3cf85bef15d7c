//! Kernels for single statements of the host.

use crate::ir::{self, StmtKind};
use crate::sema::build;
use crate::sema::state::elab::Elab;
use crate::source::Span;
use crate::symbolic::Sym;

/// Emits a kernel for one block-level statement over device memory in host code.
pub(crate) fn emit_host_kernel(el: &mut Elab<'_>, kind: StmtKind, span: Span) {
    let id = ir::KernelId(u32::try_from(el.f.kernels.len()).unwrap_or(u32::MAX));
    let name = build::kernel_name(el);
    el.f.kernels.push(ir::Kernel {
        body: vec![ir::Stmt::new(kind, span)],
        ..ir::Kernel::new(name, span, Sym::int(256))
    });
    build::emit(el, StmtKind::Launch(id), span);
}
