//! The warp number of a thread, and the elected lane, in a form that ptxas recognises as
//! warp-uniform.
//!
//! Warp-uniform values can be in uniform registers, where MMA descriptors must be; but only in code
//! that ptxas knows to be executed by the whole warp. It does not know that of a branch on
//! `threadIdx.x / 128`: then it moves descriptors into place at each MMA, and guards every shuffle
//! against lanes that are elsewhere. So the warp number is computed once, by a shuffle at the
//! kernel's start, and every quotient of the thread number by a multiple of the warp size is
//! computed from it.
//!
//! TMA requests are issued by the lane that `elect.sync` selects: under any other condition ptxas
//! generates a loop over the possible lanes for each request. It is always the same lane, so it can
//! also execute the other statements of a single thread (it waits for its own stores).

use crate::ir::build;
use crate::ir::{
    BinOp, Expr, ExprKind, Function, Intrinsic, KernelId, Level, Role, Scalar, Stmt, StmtKind,
    ThreadSet, TmaOp, WARP_THREADS, any_stmt,
};
use crate::source::Span;
use crate::symbolic::Sym;

const LANES: u32 = WARP_THREADS;
/// Warps of a warpgroup.
const WARPS: u32 = 4;

/// Applies to kernels with warp specialisation or TMA requests, in which all warps are whole.
pub fn expose(function: &mut Function, id: KernelId) {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return;
    };
    let threads = kernel.threads.as_int().and_then(|n| u32::try_from(n).ok());
    let Some(threads) = threads.filter(|n| n.is_multiple_of(LANES) && *n > 0) else {
        return;
    };
    if !applies(&kernel.body) {
        return;
    }
    let span = kernel.span;
    function.with_kernel_body(id, |function, body| {
        let warps = Sym::int(i64::from(threads / LANES));
        let (warp, _) = build::index(function, "warp", Role::Value, Some(&warps), span);
        let first = build::declare(warp, Expr::intrinsic(Intrinsic::Warp, span));
        let warp = Expr::local(warp, Scalar::Index, span);
        let elected = Expr::intrinsic(Intrinsic::Elected, span);
        let (second, elected) = build::value(function, "elected", elected);
        let elects = elects(body);
        let rewriter = Rewriter {
            warp,
            elected,
            elects,
        };
        rewriter.block(body, Some(&ThreadSet::first(threads)));
        body.splice(0..0, [first, second]);
    });
}

fn applies(body: &[Stmt]) -> bool {
    any_stmt(body, |stmt| {
        is_tma(stmt) || matches!(stmt.kind, StmtKind::Region { is_async: true, .. })
    })
}

/// Whether the elected lane executes some statement. Then it executes all statements of a single
/// thread of a unit, so that these follow each other in one thread, without a barrier.
fn elects(body: &[Stmt]) -> bool {
    any_stmt(body, |stmt| {
        is_tma(stmt)
            || matches!(
                stmt.kind,
                StmtKind::Region {
                    elected_from: Some(_),
                    ..
                }
            )
    })
}

/// TMA requests, and preparations for them.
fn is_tma(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::Tma(_))
}

struct Rewriter {
    warp: Expr,
    elected: Expr,
    elects: bool,
}

impl Rewriter {
    /// `set`: the threads that execute the statements, if they are known.
    fn block(&self, stmts: &mut [Stmt], set: Option<&ThreadSet>) {
        for stmt in stmts {
            let span = stmt.span;
            match &mut stmt.kind {
                StmtKind::Let {
                    value: Some(value), ..
                } => self.divided(value),
                StmtKind::Region {
                    pred,
                    set: own,
                    elected_from,
                    body,
                    ..
                } => match (elected_from, own.as_ref().and_then(ThreadSet::lowest)) {
                    (Some((_, all)), Some(one)) if has_warp_of(all, one) => {
                        *pred = self.leader(one, span);
                        by_elected(body);
                    }
                    _ => self.block(body, own.as_ref()),
                },
                StmtKind::SingleThread { level, body, .. } => {
                    if let Some(cond) = self.one_of(*level, set, span).filter(|_| self.elects) {
                        stmt.kind = build::only_if(cond, std::mem::take(body));
                    }
                }
                // The thread that executes the other statements of one thread of the unit.
                StmtKind::Tma(TmaOp::Arrive { sharing, .. }) => {
                    if let Some((unit, leader)) = &mut sharing.unit
                        && let Some(elected) = self.one_of(*unit, set, span)
                    {
                        *leader = Some(elected);
                    }
                }
                kind => {
                    for inner in kind.blocks_mut() {
                        self.block(inner, set);
                    }
                }
            }
        }
    }

    /// `thread / (32 n)` is `warp / n`.
    fn divided(&self, value: &mut Expr) {
        let ExprKind::Binary(op, a, b) = &mut *value.kind else {
            return;
        };
        self.divided(a);
        let by = match &*b.kind {
            ExprKind::Index(by) => by.as_int(),
            _ => None,
        };
        let thread = matches!(*a.kind, ExprKind::Intrinsic(Intrinsic::Thread, _));
        if let (BinOp::Div, true, Some(by)) = (*op, thread, by)
            && by > 0
            && by % i64::from(LANES) == 0
        {
            match by / i64::from(LANES) {
                1 => *value = self.warp.clone(),
                warps => {
                    *a = self.warp.clone();
                    *b = Expr::index(Sym::int(warps), b.span);
                }
            }
        }
    }

    /// The condition that selects the thread for the statements of one thread of a unit of this
    /// level.
    fn one_of(&self, level: Level, set: Option<&ThreadSet>, span: Span) -> Option<Expr> {
        let set = set.filter(|set| set.is_whole(LANES))?;
        let first = set.lowest()?;
        match level {
            Level::Cluster => Some(both(in_first_block(span), self.leader(first, span))),
            Level::Block => Some(self.leader(first, span)),
            Level::Warpgroup if set.is_whole(WARPS * LANES) => {
                let warps = Expr::index(Sym::int(i64::from(WARPS)), span);
                let which = ExprKind::Binary(BinOp::Rem, self.warp.clone(), warps);
                let which = Expr::new(which, Scalar::Index, span);
                Some(both(is(which, 0, span), self.elected.clone()))
            }
            Level::Warp => Some(self.elected.clone()),
            _ => None,
        }
    }

    /// The elected lane of this thread's warp.
    fn leader(&self, thread: u32, span: Span) -> Expr {
        let own = is(self.warp.clone(), thread / LANES, span);
        both(own, self.elected.clone())
    }
}

/// In a region of only the elected lane, statements of a single thread of a cluster only need to
/// select the block.
fn by_elected(stmts: &mut [Stmt]) {
    for stmt in stmts {
        for inner in stmt.kind.blocks_mut() {
            by_elected(inner);
        }
        if let StmtKind::SingleThread {
            level: Level::Cluster,
            body,
            ..
        } = &mut stmt.kind
        {
            stmt.kind = build::only_if(in_first_block(stmt.span), std::mem::take(body));
        }
    }
}

fn has_warp_of(set: &ThreadSet, thread: u32) -> bool {
    thread.is_multiple_of(LANES) && (thread..thread + LANES).all(|t| set.contains(t))
}

fn in_first_block(span: Span) -> Expr {
    is(Expr::intrinsic(Intrinsic::ClusterRank, span), 0, span)
}

fn is(value: Expr, number: u32, span: Span) -> Expr {
    let number = Expr::new(ExprKind::Int(i128::from(number)), value.ty, span);
    let kind = ExprKind::Binary(BinOp::Eq, value, number);
    Expr::new(kind, Scalar::Bool, span)
}

fn both(a: Expr, b: Expr) -> Expr {
    let span = a.span;
    let kind = ExprKind::Binary(BinOp::LogicAnd, a, b);
    Expr::new(kind, Scalar::Bool, span)
}
