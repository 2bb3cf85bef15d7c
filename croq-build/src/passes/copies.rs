//! Turns copies and fills into loops over elements.
//!
//! The threads of a unit share the work: thread `t` of `T` moves elements `t`, `t + T`, … of the
//! tile, counted with the innermost axis fastest, so that neighbouring lanes touch neighbouring
//! memory. Axes along which both sides are contiguous are walked as one, and only axes that may
//! leave the data are guarded. A thread that copies for itself walks the axes with nested loops.

use super::fresh;
use super::tile::Tile;
use crate::ir::{
    BinOp, Copy, Expr, ExprKind, Function, Hardware, KernelId, Level, Role, Scalar, Stmt, StmtKind,
    Storage, Unroll,
};
use crate::source::Span;
use crate::symbolic::Sym;

/// A loop of at most this many known turns is unrolled, so that its loads overlap.
const UNROLL: i64 = 16;
/// Arrays up to this size live in registers if all their indices are constants.
const REGISTERS: i64 = 256;

pub fn expand(function: &mut Function, id: KernelId) {
    let Some(kernel) = function.kernels.get_mut(id.index()) else {
        return;
    };
    let body = std::mem::take(&mut kernel.body);
    let (threads, span) = (kernel.threads.clone(), kernel.span);
    let mut expander = Expander {
        function,
        threads,
        span,
        thread: None,
    };
    let mut body = expander.block(body);
    if let Some((stmt, _)) = expander.thread {
        body.insert(0, stmt);
    }
    if let Some(kernel) = function.kernels.get_mut(id.index()) {
        kernel.body = body;
    }
}

struct Expander<'a> {
    function: &'a mut Function,
    threads: Sym,
    span: Span,
    /// The declaration of the linear thread id, once something needs it.
    thread: Option<(Stmt, Sym)>,
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
            StmtKind::Copy(copy) => return self.copy(&copy, span, out),
            StmtKind::Fill { view, value, level } => {
                let local = self.is_local(view.buffer.index());
                let tile = Tile::of_fill(self.function, &view, value, span);
                return self.tile(tile, level, local, span, out);
            }
            StmtKind::For {
                local,
                lo,
                hi,
                step,
                unroll,
                body,
            } => StmtKind::For {
                local,
                lo,
                hi,
                step,
                unroll,
                body: self.block(body),
            },
            StmtKind::While {
                prelude,
                cond,
                body,
            } => StmtKind::While {
                prelude: self.block(prelude),
                cond,
                body: self.block(body),
            },
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => StmtKind::If {
                cond,
                then: self.block(then),
                otherwise: self.block(otherwise),
            },
            StmtKind::Parallel { level, body } => StmtKind::Parallel {
                level,
                body: self.block(body),
            },
            // A lone thread needs no mask.
            StmtKind::Once { level, body } => StmtKind::Once {
                level: if self.threads.is_one() {
                    Level::Thread
                } else {
                    level
                },
                body: self.block(body),
            },
            StmtKind::Region {
                pred,
                set,
                is_async,
                outermost,
                body,
            } => StmtKind::Region {
                pred,
                set,
                is_async,
                outermost,
                body: self.block(body),
            },
            other => other,
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
        self.tile(tile, copy.level, local, span, out);
    }

    fn tile(&mut self, mut tile: Tile, level: Level, local: bool, span: Span, out: &mut Vec<Stmt>) {
        if let Some(filler) = tile.costly_filler() {
            let (stmt, value) = fresh::value(self.function, "filler", filler.clone());
            *filler = value;
            out.push(stmt);
        }
        let threads = match level {
            Level::Block => self.threads.clone(),
            Level::Group4 => Sym::int(128),
            Level::Group => Sym::int(32),
            Level::Thread => Sym::one(),
        };
        if threads.is_one() {
            out.extend(private(self.function, &tile, local, span));
        } else {
            let thread = self.thread();
            let lane = if level == Level::Block {
                thread
            } else {
                self.function.cx.rem(&thread, &threads)
            };
            out.extend(shared_out(self.function, &tile, &lane, &threads, span));
        }
    }

    fn thread(&mut self) -> Sym {
        if let Some((_, sym)) = &self.thread {
            return sym.clone();
        }
        let (local, sym) = fresh::index(
            self.function,
            "thread",
            Role::Value,
            Some(&self.threads),
            self.span,
        );
        let value = Expr::new(
            ExprKind::Hardware(Hardware::Thread),
            Scalar::Index,
            self.span,
        );
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

/// One thread moves the whole tile: a loop per axis.
fn private(function: &mut Function, tile: &Tile, local: bool, span: Span) -> Vec<Stmt> {
    let extents = tile.extents();
    let count = extents.iter().fold(Sym::one(), |n, e| &n * e);
    let in_registers = local && count.as_int().is_some_and(|n| n <= REGISTERS);
    let indices: Vec<_> = extents
        .iter()
        .enumerate()
        .map(|(axis, extent)| {
            fresh::index(
                function,
                &format!("e{axis}"),
                Role::Loop,
                Some(extent),
                span,
            )
        })
        .collect();
    let coordinates: Vec<Sym> = indices.iter().map(|(_, sym)| sym.clone()).collect();
    let mut body = tile.element(&coordinates);
    for ((local, _), hi) in indices.into_iter().zip(extents).rev() {
        let unroll = in_registers.then_some(Unroll::Full);
        let kind = StmtKind::For {
            local,
            lo: Sym::zero(),
            hi,
            step: Sym::one(),
            unroll,
            body,
        };
        body = vec![Stmt::new(kind, span)];
    }
    body
}

/// `threads` threads share the tile; `lane` tells them apart.
fn shared_out(
    function: &mut Function,
    tile: &Tile,
    lane: &Sym,
    threads: &Sym,
    span: Span,
) -> Vec<Stmt> {
    let extents = tile.extents();
    let count = extents.iter().fold(Sym::one(), |n, e| &n * e);
    let turns = match (count.as_int(), threads.as_int()) {
        (Some(n), Some(t)) if n % t == 0 => Some(n / t),
        _ => None,
    };
    let fewer = function.cx.le(&count, threads).is_yes();
    if turns == Some(1) {
        return element(function, tile, lane, &extents, span);
    }
    if fewer {
        let body = element(function, tile, lane, &extents, span);
        let kind = ExprKind::Binary(
            BinOp::Lt,
            Expr::index(lane.clone(), span),
            Expr::index(count, span),
        );
        let cond = Expr::new(kind, Scalar::Bool, span);
        return vec![Stmt::new(
            StmtKind::If {
                cond,
                then: body,
                otherwise: Vec::new(),
            },
            span,
        )];
    }
    let kind = match turns {
        // A trip count that the C++ compiler can see.
        Some(turns) => {
            let turns = Sym::int(turns);
            let (local, turn) = fresh::index(function, "turn", Role::Loop, Some(&turns), span);
            let (e, e_sym) = fresh::index(function, "e", Role::Value, Some(&count), span);
            let value = Expr::index(&(&turn * threads) + lane, span);
            let mut body = vec![Stmt::new(
                StmtKind::Let {
                    local: e,
                    value: Some(value),
                },
                span,
            )];
            body.extend(element(function, tile, &e_sym, &extents, span));
            let unroll = turns
                .as_int()
                .is_some_and(|n| n <= UNROLL)
                .then_some(Unroll::Full);
            StmtKind::For {
                local,
                lo: Sym::zero(),
                hi: turns,
                step: Sym::one(),
                unroll,
                body,
            }
        }
        None => {
            let (local, e) = fresh::index(function, "e", Role::Loop, Some(&count), span);
            let body = element(function, tile, &e, &extents, span);
            StmtKind::For {
                local,
                lo: lane.clone(),
                hi: count,
                step: threads.clone(),
                unroll: None,
                body,
            }
        }
    };
    vec![Stmt::new(kind, span)]
}

/// Element `e` of the tile, counted with the innermost axis fastest.
pub(super) fn element(
    function: &mut Function,
    tile: &Tile,
    e: &Sym,
    extents: &[Sym],
    span: Span,
) -> Vec<Stmt> {
    if let [_] = extents {
        return tile.element(std::slice::from_ref(e));
    }
    let mut stmts = Vec::new();
    let mut coordinates = Vec::new();
    let mut rest = e.clone();
    for (axis, extent) in extents.iter().enumerate().rev() {
        let at = if axis == 0 {
            rest.clone()
        } else {
            function.cx.rem(&rest, extent)
        };
        rest = function.cx.div(&rest, extent);
        let (local, sym) = fresh::index(
            function,
            &format!("e{axis}"),
            Role::Value,
            Some(extent),
            span,
        );
        let value = Some(Expr::index(at, span));
        stmts.push(Stmt::new(StmtKind::Let { local, value }, span));
        coordinates.push(sym);
    }
    stmts.reverse();
    coordinates.reverse();
    stmts.extend(tile.element(&coordinates));
    stmts
}
