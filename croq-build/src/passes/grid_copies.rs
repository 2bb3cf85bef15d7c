//! Copies and fills between kernels. The host can't reach device memory, so `sema` makes a kernel of
//! each, with one statement that one block would carry out; here the whole grid gets a share.

use super::copies::{Tile, element};
use super::fresh;
use crate::ir::{
    BinOp, BufferId, Expr, ExprKind, Function, Hardware, KernelId, Role, Scalar, Stmt, StmtKind,
};
use crate::source::Span;
use crate::symbolic::Sym;

const THREADS: i64 = 256;

/// Whether the kernel was such a one.
pub fn spread(function: &mut Function, id: KernelId) -> bool {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return false;
    };
    let [stmt] = kernel.body.as_slice() else {
        return false;
    };
    let span = stmt.span;
    let is_global = |id: BufferId| {
        function
            .buffers
            .get(id.index())
            .is_some_and(|b| b.storage.is_global())
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
    let count = tile.count();
    let threads = Sym::int(THREADS);
    let blocks = function.cx.cdiv(&count, &threads);
    let body = share(function, &tile, count, span);
    if let Some(kernel) = function.kernels.get_mut(id.index()) {
        kernel.grid = [blocks, Sym::one(), Sym::one()];
        kernel.threads = threads;
        kernel.body = body;
    }
    true
}

/// Element `block_x * THREADS + tid` of the tile.
fn share(function: &mut Function, tile: &Tile, count: Sym, span: Span) -> Vec<Stmt> {
    let (e, e_sym) = fresh::index(function, "e", Role::Value, Some(&count), span);
    let hardware = |h| Expr::new(ExprKind::Hardware(h), Scalar::Index, span);
    let index = |op, a, b| Expr::new(ExprKind::Binary(op, a, b), Scalar::Index, span);
    let first = index(
        BinOp::Mul,
        hardware(Hardware::Block(0)),
        Expr::index(Sym::int(THREADS), span),
    );
    let value = Some(index(BinOp::Add, first, hardware(Hardware::Thread)));
    // Not by way of the prover, which was promised that e is below count.
    let inside = ExprKind::Binary(
        BinOp::Lt,
        Expr::index(e_sym.clone(), span),
        Expr::index(count, span),
    );
    let guarded = StmtKind::If {
        cond: Expr::new(inside, Scalar::Bool, span),
        then: element(function, tile, &e_sym),
        otherwise: Vec::new(),
    };
    vec![
        Stmt::new(StmtKind::Let { local: e, value }, span),
        Stmt::new(guarded, span),
    ]
}
