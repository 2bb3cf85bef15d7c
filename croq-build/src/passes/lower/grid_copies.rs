//! Copies and fills between kernels. The host cannot access device memory, so `sema` makes each of
//! them a kernel with one statement, for one block; this pass distributes it over the threads of a
//! whole grid, in the same way as a tile over those of a block.

use crate::ir::build;
use crate::ir::{
    BinOp, BufferId, Copy, Expr, ExprKind, Function, Intrinsic, KernelId, Role, Scalar, Stmt,
    StmtKind,
};
use crate::passes::lower::copies::{Tile, share, widest};
use crate::source::Span;
use crate::symbolic::Sym;

/// Threads of a block.
const THREADS: i64 = 256;
/// More blocks than run concurrently on any GPU; they iterate over larger tiles.
const BLOCKS: i64 = 2048;

/// Whether the kernel was of this kind.
pub fn distribute(function: &mut Function, id: KernelId) -> bool {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return false;
    };
    let [stmt] = kernel.body.as_slice() else {
        return false;
    };
    // An explicit kernel of the program, which determines the number of blocks.
    if kernel.attrs.cooperative.is_some() {
        return false;
    }
    let span = stmt.span;
    let is_global = |id: BufferId| {
        function
            .buffers
            .get(id.index())
            .is_some_and(|b| b.storage.is_global())
    };
    // Tiles of one buffer must not overlap. Where `sema` could not prove that, the simulated GPU
    // detects the races.
    let tracked = match &stmt.kind {
        StmtKind::Copy(Copy { source, dest, .. })
            if source.buffer == dest.buffer && !source.is_cut_like(dest) =>
        {
            Some(dest.buffer)
        }
        _ => None,
    };
    let tile = match &stmt.kind {
        StmtKind::Copy(copy) if is_global(copy.source.buffer) && is_global(copy.dest.buffer) => {
            Tile::of_copy(function, copy, span)
        }
        StmtKind::Fill { view, value, .. } if is_global(view.buffer) => {
            Tile::of_fill(function, view, value.clone(), span)
        }
        _ => return false,
    };
    let each = Sym::int(THREADS * i64::from(widest(&tile)));
    let cx = &function.cx;
    let blocks = cx.min(&cx.cdiv(&tile.count(), &each), &Sym::int(BLOCKS));
    function.with_kernel_body(id, |function, body| {
        *body = distributed(function, &tile, &blocks, span);
    });
    if let Some(kernel) = function.kernels.get_mut(id.index()) {
        kernel.grid = [blocks, Sym::one(), Sym::one()];
        kernel.threads = Sym::int(THREADS);
        kernel.facts.tracked.extend(tracked);
    }
    true
}

/// By thread number `block_x * THREADS + tid` of the grid.
fn distributed(function: &mut Function, tile: &Tile, blocks: &Sym, span: Span) -> Vec<Stmt> {
    let mut body = Vec::new();
    let mut threads = blocks * THREADS;
    if threads.as_int().is_none() {
        let (local, sym) = build::index(function, "threads", Role::Value, None, span);
        let value = Some(Expr::index(threads, span));
        body.push(Stmt::new(StmtKind::Let { local, value }, span));
        threads = sym;
    }
    let (local, thread) = build::index(function, "thread", Role::Value, Some(&threads), span);
    let hardware = |h| Expr::intrinsic(h, span);
    let index = |op, a, b| Expr::new(ExprKind::Binary(op, a, b), Scalar::Index, span);
    let first = index(
        BinOp::Mul,
        hardware(Intrinsic::Block(0)),
        Expr::index(Sym::int(THREADS), span),
    );
    let value = Some(index(BinOp::Add, first, hardware(Intrinsic::Thread)));
    body.push(Stmt::new(StmtKind::Let { local, value }, span));
    body.extend(share(function, tile, &thread, &threads));
    body
}
