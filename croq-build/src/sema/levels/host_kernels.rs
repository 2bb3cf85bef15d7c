//! Kernels for single statements of the host.

use crate::ir::{self, StmtKind};
use crate::sema::build;
use crate::sema::state::elab::Elab;
use crate::source::Span;
use crate::symbolic::Sym;

/// Runs one block-level statement over device memory from host code: a kernel of its own.
pub(crate) fn emit_host_kernel(el: &mut Elab<'_>, kind: StmtKind, span: Span) {
    let id = ir::KernelId(u32::try_from(el.f.kernels.len()).unwrap_or(u32::MAX));
    let name = build::kernel_name(el);
    el.f.kernels.push(ir::Kernel {
        name,
        span,
        grid: [Sym::one(), Sym::one(), Sym::one()],
        cluster: [1; 3],
        threads: Sym::int(256),
        attrs: ir::LaunchAttrs::default(),
        body: vec![ir::Stmt::new(kind, span)],
        fastest: Vec::new(),
        shared: Vec::new(),
        shared_bytes: Sym::zero(),
        waits: false,
        ordered: false,
        tracked: Vec::new(),
        escaping: Vec::new(),
        asynchronous: false,
        warpgroups: false,
        one_thread: None,
        unwritten: Default::default(),
        anew: Default::default(),
        maps: Vec::new(),
    });
    build::emit(el, StmtKind::Launch(id), span);
}
