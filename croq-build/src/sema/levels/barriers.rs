//! Barriers and fences.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{BarrierReason, BarrierScope, FenceScope, StmtKind, WARP_THREADS};
use crate::sema::build;
use crate::sema::levels::{cluster_legality, instances};
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::values::constants;
use crate::source::Span;
use crate::syntax::ast;

pub(crate) fn lower_sync_storage(el: &mut Elab<'_>, storage: ast::Storage, span: Span) {
    match (storage, el.kernel.is_some()) {
        (ast::Storage::Global, false) => build::emit(el, StmtKind::Synchronize, span),
        (ast::Storage::Global, true) => report_sync_error(
            &mut el.cx,
            span,
            "`sync.global` waits for the device: it belongs outside `parallel`",
        ),
        (_, false) => {
            report_sync_error(&mut el.cx, span, "this barrier is for threads of a kernel")
        }
        (ast::Storage::Shared, true) => emit_barrier(el, BarrierScope::Block, span),
        (ast::Storage::Local, true) => emit_barrier(el, BarrierScope::Warp, span),
    }
}

fn report_sync_error(cx: &mut Cx<'_>, span: Span, text: &str) {
    cx.report(
        Diagnostic::new(codes::E0585, span, text)
            .label("not here")
            .help(
                "kernels wait with `sync.shared` and `sync.barrier`, the host with `sync.global`",
            ),
    );
}

pub(crate) fn lower_sync_barrier(el: &mut Elab<'_>, level: ast::Level, span: Span) {
    if el.kernel.is_none() {
        return report_sync_error(&mut el.cx, span, "a barrier needs the threads of a kernel");
    }
    match level {
        ast::Level::Thread | ast::Level::Group => emit_barrier(el, BarrierScope::Warp, span),
        ast::Level::Group4 => emit_barrier(el, BarrierScope::Warpgroup, span),
        ast::Level::Block | ast::Level::Device if is_cooperative(el) => {
            emit_barrier(el, BarrierScope::Grid, span);
        }
        ast::Level::Block => emit_barrier(el, BarrierScope::Block, span),
        ast::Level::Device => el.cx.report(
            Diagnostic::new(
                codes::E0580,
                span,
                "`sync.barrier : device` needs a cooperative launch",
            )
            .label("blocks are not resident together: they can't wait for each other")
            .help(
                "write `parallel … : block<cooperative>`, or end the kernel here and start another",
            ),
        ),
        ast::Level::Cluster if cluster_legality::is_in_cluster(el) => {
            emit_barrier(el, BarrierScope::Cluster, span)
        }
        ast::Level::Cluster => el.cx.report(
            Diagnostic::new(
                codes::E0585,
                span,
                "`sync.barrier : cluster` outside of a cluster",
            )
            .label("each block is on its own here")
            .help("write `parallel … : cluster` around the blocks"),
        ),
    }
}

fn is_cooperative(el: &Elab<'_>) -> bool {
    el.kernel.as_ref().is_some_and(|k| k.grid.cooperative)
}

fn emit_barrier(el: &mut Elab<'_>, scope: BarrierScope, span: Span) {
    // `passes::check::grid_barriers` checks in the whole kernel which threads reach a grid barrier.
    if scope != BarrierScope::Grid {
        instances::warn_if_some_have_left(el, span, "a barrier");
    }
    let (wide, what) = match scope {
        BarrierScope::Grid => (true, "grid"),
        BarrierScope::Cluster => (true, "cluster"),
        scope => (scope == BarrierScope::Block, "block"),
    };
    if wide && el.path.in_region() {
        el.cx.report(
            Diagnostic::new(
                codes::E0582,
                span,
                format!("a barrier over the whole {what}, inside `inthreads`"),
            )
            .label("the other threads never reach this barrier")
            .help("move it out, or use a narrower barrier"),
        );
        return;
    }
    build::emit(
        el,
        StmtKind::Barrier {
            scope,
            why: BarrierReason::Written,
        },
        span,
    );
}

/// `__bar_sync(id, threads)`, or `__bar_arrive`, which does not wait.
pub(crate) fn lower_named_barrier(
    el: &mut Elab<'_>,
    call: &ast::CallExpr,
    waits: bool,
    span: Span,
) {
    if el.kernel.is_none() {
        return report_sync_error(&mut el.cx, span, "a barrier needs the threads of a kernel");
    }
    let numbers: Vec<Option<u32>> = call
        .args
        .iter()
        .map(|e| constants::constant(e).and_then(|n| u32::try_from(n).ok()))
        .collect();
    let block = el
        .kernel
        .as_ref()
        .and_then(|k| k.threads.count.as_ref()?.as_int());
    // Barrier 0 is that of `sync.shared`, at which all threads wait.
    let first = u32::from(!waits);
    let fits = |threads: u32| block.is_none_or(|n| i64::from(threads) <= n) && threads > 0;
    let (id, threads) = match numbers.as_slice() {
        [Some(id), Some(threads)] if (first..16).contains(id) && fits(*threads) => (*id, *threads),
        _ => {
            let most = block.map_or_else(|| "1024".to_owned(), |n| n.to_string());
            el.cx.report(
                Diagnostic::new(
                    codes::E0587,
                    span,
                    "a named barrier takes its number and its number of threads",
                )
                .label(format!(
                    "{first} to 15, and 1 to {most} threads of the block"
                ))
                .help(format!("write constants: `{}(1, 64);`", call.callee.text)),
            );
            return;
        }
    };
    if id == 15 {
        el.cx.report(
            Diagnostic::new(
                codes::W0583,
                span,
                "named barrier 15 is reserved in other tools",
            )
            .label("this number")
            .help("take one of 1 to 14"),
        );
    }
    if threads % WARP_THREADS != 0 {
        let text = format!("{threads} threads are not whole warps, which a named barrier counts");
        el.cx.report(
            Diagnostic::new(codes::W0584, span, text)
                .label("no multiple of 32")
                .help("let whole warps execute the barrier"),
        );
    }
    instances::warn_if_some_have_left(el, span, "a barrier");
    let scope = match waits {
        true => BarrierScope::Named { id, threads },
        false => BarrierScope::Arrive { id, threads },
    };
    build::emit(
        el,
        StmtKind::Barrier {
            scope,
            why: BarrierReason::Written,
        },
        span,
    );
}

pub(crate) fn lower_sync_fence(el: &mut Elab<'_>, level: ast::Level, span: Span) {
    if el.kernel.is_none() {
        return report_sync_error(&mut el.cx, span, "a fence needs the threads of a kernel");
    }
    let scope = match level {
        ast::Level::Thread | ast::Level::Group | ast::Level::Group4 => FenceScope::Block,
        ast::Level::Block | ast::Level::Device | ast::Level::Cluster => FenceScope::Device,
    };
    build::emit(el, StmtKind::Fence(scope), span);
}
