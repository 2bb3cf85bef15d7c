//! Lowers copies and fills to loops of moves.
//!
//! * [`tile`]: the iteration space. Axes along which both sides are contiguous are merged, and only
//!   axes that may cross the edge of the data have guards.
//! * [`layout`]: the division of rows of swizzled memory.
//! * [`width`]: the number of elements of one access, and the conditions for it.
//! * [`work_distribution`]: the assignment of vectors to the threads of a unit. A thread that
//!   copies for itself walks the axes with nested loops.
//! * [`moves`]: the move of one vector, with its guards.
//! * [`slow`]: reports of copies that move single elements, with the reason.

mod conditions;
mod layout;
mod moves;
mod side;
mod slow;
mod tile;
mod width;
mod work_distribution;

#[cfg(test)]
mod against_model;
#[cfg(test)]
mod tests;

use crate::diagnostics::Diagnostic;
use crate::ir::build;
use crate::ir::{
    BinOp, Copy, Expr, ExprKind, Function, Intrinsic, KernelId, Level, Role, Scalar, Stmt,
    StmtKind, Storage, ThreadSet, Unroll,
};
use crate::source::Span;
use crate::symbolic::Sym;
use conditions::all;
use moves::{point, vector};
pub use tile::Tile;
use width::Way;
pub use width::{moves_whole_bytes, widest};

/// Arrays up to this size are in registers if all their indices are constants.
const REGISTERS: i64 = 256;

/// Returns the reports of copies that are slower than necessary.
pub fn expand(function: &mut Function, id: KernelId) -> Vec<Diagnostic> {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return Vec::new();
    };
    let (threads, span) = (kernel.threads.clone(), kernel.span);
    let slow = function.with_kernel_body(id, |function, body| {
        let mut expander = Expander {
            function,
            threads,
            span,
            thread: None,
            slow: Vec::new(),
            regions: Vec::new(),
        };
        *body = expander.block(std::mem::take(body));
        if let Some((stmt, _)) = expander.thread {
            body.insert(0, stmt);
        }
        expander.slow
    });
    slow.unwrap_or_default()
}

struct Expander<'a> {
    function: &'a mut Function,
    threads: Sym,
    span: Span,
    /// The declaration of the linear thread id, once it is needed.
    thread: Option<(Stmt, Sym)>,
    slow: Vec<Diagnostic>,
    /// For each enclosing region, innermost last: its threads and this thread's rank among them.
    regions: Vec<Option<Region>>,
}

/// `if (c) { …; commit } else { commit }`: removes both commits and returns one, to be placed after
/// the `if`.
fn shared_commit(kind: &mut StmtKind) -> Option<Stmt> {
    let StmtKind::If {
        then, otherwise, ..
    } = kind
    else {
        return None;
    };
    let is_commit = |stmt: &&Stmt| matches!(stmt.kind, StmtKind::CommitCopies);
    then.last().filter(is_commit)?;
    let [alone] = otherwise.as_slice() else {
        return None;
    };
    is_commit(&alone).then_some(())?;
    otherwise.clear();
    then.pop()
}

struct Region {
    set: ThreadSet,
    rank: Option<(Stmt, Sym)>,
}

impl Expander<'_> {
    fn block(&mut self, stmts: Vec<Stmt>) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(stmts.len());
        for stmt in stmts {
            self.stmt(stmt, &mut out);
        }
        out
    }

    fn stmt(&mut self, stmt: Stmt, out: &mut Vec<Stmt>) {
        let span = stmt.span;
        let kind = match stmt.kind {
            StmtKind::Copy(copy) if copy.engine.is_threads() => return self.copy(&copy, span, out),
            StmtKind::Fill { view, value, level } => {
                let local = self.is_local(view.buffer.index());
                let tile = Tile::of_fill(self.function, &view, value, span);
                return self.tile(tile, level, local, out);
            }
            StmtKind::Wait {
                pending: Some(pending),
                ..
            } => StmtKind::WaitCopies { pending },
            // These were for the wait counts, and for the waits of MMAs.
            StmtKind::Wait { pending: None, .. }
            | StmtKind::Rotate { .. }
            | StmtKind::UseFuture(_) => return,
            // The only thread of a block needs no condition.
            StmtKind::SingleThread { level, cond, body } => StmtKind::SingleThread {
                level: match level {
                    Level::Cluster => level,
                    _ if self.thread_count(level).is_one() => Level::Thread,
                    _ => level,
                },
                cond,
                body: self.block(body),
            },
            mut kind => {
                if let StmtKind::Region { set, .. } = &kind {
                    let set = set.clone();
                    self.regions.push(set.map(|set| Region { set, rank: None }));
                }
                for block in kind.blocks_mut() {
                    *block = self.block(std::mem::take(block));
                }
                if let StmtKind::Region { body, .. } = &mut kind {
                    let region = self.regions.pop().flatten();
                    if let Some((rank, _)) = region.and_then(|r| r.rank) {
                        body.insert(0, rank);
                    }
                }
                let commit = shared_commit(&mut kind);
                out.push(Stmt::new(kind, span));
                return out.extend(commit);
            }
        };
        out.push(Stmt::new(kind, span));
    }

    fn is_local(&self, buffer: usize) -> bool {
        self.function
            .buffers
            .get(buffer)
            .is_some_and(|b| b.storage == Storage::Local)
    }

    fn copy(&mut self, copy: &Copy, span: Span, out: &mut Vec<Stmt>) {
        let local =
            self.is_local(copy.source.buffer.index()) || self.is_local(copy.dest.buffer.index());
        let tile = Tile::of_copy(self.function, copy, span);
        self.slow.extend(slow::report(self.function, copy, &tile));
        self.tile(tile, copy.level, local, out);
    }

    fn tile(&mut self, mut tile: Tile, level: Level, local: bool, out: &mut Vec<Stmt>) {
        if let Some(filler) = tile.costly_filler() {
            let (stmt, value) = build::value(self.function, "filler", filler.clone());
            *filler = value;
            out.push(stmt);
        }
        let threads = self.thread_count(level);
        if threads.is_one() {
            let way = width::known(&self.function.cx, &tile);
            out.extend(private(self.function, &tile, way, local));
        } else {
            out.extend(self.distributed(&tile, level, &threads));
        }
        if tile.is_async {
            // By every thread: the groups are counted equally for all threads of a unit.
            out.push(Stmt::new(StmtKind::CommitCopies, tile.span));
        }
    }

    /// The number of threads of a unit that execute this.
    fn thread_count(&self, level: Level) -> Sym {
        match (level.threads(), self.regions.last()) {
            (Some(unit), _) => Sym::int(i64::from(unit)),
            (None, Some(Some(region))) if level == Level::Block => {
                Sym::int(i64::from(region.set.len()))
            }
            _ => self.threads.clone(),
        }
    }

    fn distributed(&mut self, tile: &Tile, level: Level, threads: &Sym) -> Vec<Stmt> {
        let lane = if level == Level::Block {
            self.rank(tile.span)
        } else {
            let thread = self.thread();
            self.function.cx.rem(&thread, threads)
        };
        share(self.function, tile, &lane, threads)
    }

    /// The rank of this thread among those that execute this.
    fn rank(&mut self, span: Span) -> Sym {
        let thread = self.thread();
        let Some(Some(region)) = self.regions.last_mut() else {
            return thread;
        };
        if let Some((_, rank)) = &region.rank {
            return rank.clone();
        }
        if region.set.ranges.len() == 1 && region.set.lowest() == Some(0) {
            return thread;
        }
        let count = Sym::int(i64::from(region.set.len()));
        let value = ranked(self.function, &region.set, &thread, span);
        let (local, rank) = build::index(self.function, "rank", Role::Value, Some(&count), span);
        let value = Some(value);
        let declared = Stmt::new(StmtKind::Let { local, value }, span);
        region.rank = Some((declared, rank.clone()));
        rank
    }

    fn thread(&mut self) -> Sym {
        if let Some((_, sym)) = &self.thread {
            return sym.clone();
        }
        let (local, sym) = build::index(
            self.function,
            "thread",
            Role::Value,
            Some(&self.threads),
            self.span,
        );
        let value = Expr::intrinsic(Intrinsic::Thread, self.span);
        let stmt = Stmt::new(
            StmtKind::Let {
                local,
                value: Some(value),
            },
            self.span,
        );
        self.thread = Some((stmt, sym.clone()));
        sym
    }
}

/// The rank of a thread in a set that contains it.
fn ranked(function: &Function, set: &ThreadSet, thread: &Sym, span: Span) -> Expr {
    let cx = &function.cx;
    let int = |n: u32| Sym::int(i64::from(n));
    let lengths = set.ranges.iter().map(|(lo, hi)| hi - lo);
    let steps = set.ranges.iter().zip(set.ranges.iter().skip(1));
    let steps: Vec<u32> = steps.map(|(a, b)| b.0 - a.0).collect();
    let first = set.lowest().unwrap_or(0);
    let from_first = thread - i64::from(first);
    let length = set.ranges.first().map_or(1, |(lo, hi)| hi - lo);
    let Some(step) = steps.first().copied() else {
        return Expr::index(from_first, span);
    };
    // Ranges of equal length at equal distances.
    if lengths.clone().all(|n| n == length) && steps.iter().all(|s| *s == step) {
        let number = cx.div(&from_first, &int(step));
        let rank = &(&number * &int(length)) + &cx.rem(&from_first, &int(step));
        return Expr::index(rank, span);
    }
    // Minus the gaps between the ranges below.
    let mut rank = Expr::index(from_first, span);
    for (a, b) in set.ranges.iter().zip(set.ranges.iter().skip(1)) {
        let zero = || Expr::index(Sym::zero(), span);
        let above = ExprKind::Binary(
            BinOp::Ge,
            Expr::index(thread.clone(), span),
            Expr::index(int(b.0), span),
        );
        let gap = Expr::index(int(b.0 - a.1), span);
        let above = Expr::new(above, Scalar::Bool, span);
        let gap = Expr::new(ExprKind::Select(above, gap, zero()), Scalar::Index, span);
        rank = Expr::new(ExprKind::Binary(BinOp::Sub, rank, gap), Scalar::Index, span);
    }
    rank
}

/// One thread moves the whole tile: a loop for each axis.
fn private(function: &mut Function, tile: &Tile, way: Way, local: bool) -> Vec<Stmt> {
    let span = tile.span;
    let extents = tile.extents_in(&function.cx, way.width);
    let in_registers = local && tile.count().as_int().is_some_and(|n| n <= REGISTERS);
    let indices: Vec<_> = extents
        .iter()
        .enumerate()
        .map(|(axis, extent)| {
            let name = format!("e{axis}");
            build::index(function, &name, Role::Loop, Some(extent), span)
        })
        .collect();
    let coordinates: Vec<Sym> = indices.iter().map(|(_, sym)| sym.clone()).collect();
    let point = point(tile, &function.cx, way.width, &coordinates);
    let mut body = vector(tile, function, way, &point);
    for ((local, _), hi) in indices.into_iter().zip(extents).rev() {
        let kind = StmtKind::For {
            local,
            lo: Sym::zero(),
            unroll: if in_registers {
                Some(Unroll::Full)
            } else {
                partial_unroll(&hi)
            },
            hi,
            step: Sym::one(),
            body,
        };
        body = vec![Stmt::new(kind, span)];
    }
    body
}

/// By default, nvcc unrolls long loops of known length completely, computes all addresses in
/// advance and spills them.
fn partial_unroll(iterations: &Sym) -> Option<Unroll> {
    iterations
        .as_int()
        .filter(|n| *n > 16)
        .map(|_| Unroll::By(4))
}

/// `threads` threads share the tile. The code may depend on conditions, which are uniform in these
/// threads; `lane` is the thread's number among them.
pub fn share(function: &mut Function, tile: &Tile, lane: &Sym, threads: &Sym) -> Vec<Stmt> {
    let plan = width::plan(&mut function.cx, tile, threads);
    let mut by = |way| work_distribution::share(function, tile, way, lane, threads);
    let Some((conditions, fast)) = plan.fast else {
        return by(plan.always);
    };
    let choose = |(conditions, then): (Vec<Expr>, Vec<Stmt>), otherwise: Vec<Stmt>| {
        let Some(cond) = all(conditions, tile.span) else {
            return then;
        };
        let kind = StmtKind::If {
            cond,
            then,
            otherwise,
        };
        vec![Stmt::new(kind, tile.span)]
    };
    let fast = (conditions, by(fast));
    match plan.edge {
        Some((aligned, edge)) => {
            let vectors = choose(fast, by(edge));
            choose((aligned, vectors), by(plan.always))
        }
        None => choose(fast, by(plan.always)),
    }
}
