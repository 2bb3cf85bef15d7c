//! Turns what a warp or a warpgroup does with fragments into what each of its threads does with its part of them.
//!
//! [`prepare`] comes first of all: from then on a fragment's buffer is a thread's part, and what concerns
//! registers alone (fills, `apply`, reductions) is loops over it. Loads, products and stores stay
//! until barriers are placed, as they reach for elements of memory that other passes had better not take
//! for this thread's own; [`expand`] makes instructions of them.
//!
//! Every loop over registers is unrolled: an index that is no constant would put a fragment into memory.

mod descriptor_licm;
mod elements;
mod load;
mod multiply;
mod product;
mod release_pipelining;
mod store;
#[cfg(test)]
mod tests;
mod wait_insertion;
mod zero_initialisation;

use crate::ir::build;
use crate::ir::{
    Access, BufferId, Expr, ExprKind, Fragment, FragmentLayout, Function, Intrinsic, KernelId,
    Layout, MmaOp, Part, Role, Scalar, Stmt, StmtKind, Storage, Unroll, View, WARP_THREADS,
};
use crate::source::Span;
use crate::symbolic::Sym;

/// Lanes of a warp.
const LANES: i64 = WARP_THREADS as i64;
/// Warps of a warpgroup.
const WARPS: i64 = 4;

/// Fragments become the parts that threads have of them.
pub fn prepare(function: &mut Function) {
    if function.fragments.is_empty() {
        return;
    }
    for (id, fragment) in &function.fragments {
        let count = Sym::int(own(fragment) * fragment.count);
        if let Some(buffer) = function.buffers.get_mut(id.index()) {
            buffer.shape = vec![count.clone()];
            buffer.count = count;
        }
    }
    for at in 0..function.kernels.len() {
        let id = KernelId(u32::try_from(at).unwrap_or(u32::MAX));
        rewrite(function, id, |pass, stmt| pass.prepared(stmt));
    }
}

/// What is left becomes instructions.
pub fn expand(function: &mut Function, id: KernelId) {
    if !function.fragments.is_empty() {
        wait_insertion::insert(function, id);
        rewrite(function, id, |pass, stmt| pass.expanded(stmt));
        descriptor_licm::hoist(function, id);
    }
}

fn rewrite(
    function: &mut Function,
    id: KernelId,
    of: fn(&mut Pass<'_>, Stmt) -> Result<Vec<Stmt>, Stmt>,
) {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return;
    };
    let (threads, span) = (kernel.threads.clone(), kernel.span);
    function.with_kernel_body(id, |function, body| {
        let mut pass = Pass {
            function,
            threads,
            span,
            lanes: None,
            described: Vec::new(),
        };
        pass.block(body, of);
        let mut first = pass.descriptors();
        if let Some(lanes) = pass.lanes.take() {
            first.extend(lanes.stmts);
        }
        body.splice(0..0, first);
    });
}

/// Elements that a thread has of one fragment.
fn own(fragment: &Fragment) -> i64 {
    let warps = fragment.spread.map_or(1, FragmentLayout::warps);
    match (fragment.spread, fragment.shape.as_slice()) {
        (Some(FragmentLayout::Rows { .. }), [rows]) => (rows / (8 * warps)).max(1),
        (_, shape) => (shape.iter().product::<i64>() / (LANES * warps)).max(1),
    }
}

/// A thread's place in its warp, as the layouts have it.
#[derive(Clone)]
struct Lanes {
    stmts: Vec<Stmt>,
    /// Which warp of its warpgroup.
    warp: Sym,
    lane: Sym,
    /// `lane / 4`: the row of a tile; `lane % 4`: the register of the row.
    row: Sym,
    place: Sym,
}

impl Lanes {
    /// The row of a tile that the lane has something of, in matrices of which so many warps have so many
    /// rows each.
    fn row_in(&self, warps: i64, rows: i64) -> Sym {
        match warps {
            1 => self.row.clone(),
            _ => &self.row + &(&self.warp * rows),
        }
    }
}

struct Pass<'a> {
    function: &'a mut Function,
    threads: Sym,
    span: Span,
    lanes: Option<Lanes>,
    /// What products read in shared memory.
    described: Vec<product::Descriptor>,
}

/// A fragment with all there is to know of it.
struct Tile {
    buffer: BufferId,
    /// The number of its first element in the thread's part.
    first: Sym,
    layout: Layout,
    /// As the layout sees it, of one warp.
    rows: i64,
    columns: i64,
    /// See [`Layout::steps`].
    steps: [i64; 3],
    elem: Scalar,
}

impl Pass<'_> {
    fn block(&mut self, stmts: &mut Vec<Stmt>, of: fn(&mut Self, Stmt) -> Result<Vec<Stmt>, Stmt>) {
        for mut stmt in std::mem::take(stmts) {
            for inner in stmt.kind.blocks_mut() {
                self.block(inner, of);
            }
            self.unrolled(&mut stmt);
            match of(self, stmt) {
                Ok(made) => stmts.extend(made),
                Err(same) => stmts.push(same),
            }
        }
    }

    /// A loop whose variable chooses among the fragments of an array must not stay a loop.
    fn unrolled(&self, stmt: &mut Stmt) {
        let StmtKind::For {
            local,
            unroll,
            body,
            ..
        } = &mut stmt.kind
        else {
            return;
        };
        let var = self.function.locals.get(local.index()).and_then(|l| l.var);
        if let (None, Some(var)) = (*unroll, var)
            && self.chooses(body, var)
        {
            *unroll = Some(Unroll::Full);
        }
    }

    fn chooses(&self, body: &[Stmt], var: crate::symbolic::Var) -> bool {
        body.iter().any(|stmt| {
            let here = match &stmt.kind {
                StmtKind::Mma(op) => {
                    let numbers = op.parts().into_iter().filter_map(|p| p.number.as_ref());
                    let accesses = op.accesses().into_iter();
                    let places = accesses.map(|(access, _)| access.address());
                    numbers.cloned().chain(places).any(|s| s.contains(var))
                }
                StmtKind::Store { access, .. } => {
                    self.is_fragment(access.view.buffer) && access.address().contains(var)
                }
                _ => false,
            };
            here || stmt.kind.blocks().any(|inner| self.chooses(inner, var))
        })
    }

    fn is_fragment(&self, id: BufferId) -> bool {
        let buffer = self.function.buffers.get(id.index());
        buffer.is_some_and(|b| b.storage == Storage::Fragment)
    }

    fn tile(&self, part: &Part) -> Option<Tile> {
        let fragment = self.function.fragments.get(&part.buffer)?;
        let Some(FragmentLayout::Matrix(layout)) = fragment.spread else {
            return None;
        };
        let [rows, columns] = fragment.shape.as_slice() else {
            return None;
        };
        let shape = [*rows, *columns];
        let number = part.number.clone().unwrap_or_else(Sym::zero);
        let [rows, columns] = layout.turn(shape);
        Some(Tile {
            buffer: part.buffer,
            first: &number * own(fragment),
            layout,
            rows: rows / layout.warps,
            columns,
            steps: layout.steps(shape),
            elem: self.function.buffer(part.buffer).elem,
        })
    }

    fn lanes(&mut self) -> Lanes {
        if let Some(lanes) = &self.lanes {
            return lanes.clone();
        }
        let span = self.span;
        let thread = Expr::intrinsic(Intrinsic::Thread, span);
        let threads = self.threads.clone();
        let (thread_local, thread_sym) =
            build::index(self.function, "thread", Role::Value, Some(&threads), span);
        let mut stmts = vec![Stmt::new(
            StmtKind::Let {
                local: thread_local,
                value: Some(thread),
            },
            span,
        )];
        let warp = self.function.cx.div(&thread_sym, &Sym::int(LANES));
        let warp = self.function.cx.rem(&warp, &Sym::int(WARPS));
        let warp = self.named("warp", warp, WARPS, span, &mut stmts);
        let lane = self.function.cx.rem(&thread_sym, &Sym::int(LANES));
        let lane = self.named("lane", lane, LANES, span, &mut stmts);
        let [row, place] = [
            self.function.cx.div(&lane, &Sym::int(4)),
            self.function.cx.rem(&lane, &Sym::int(4)),
        ];
        let row = self.named("row_of_lane", row, 8, span, &mut stmts);
        let place = self.named("place_of_lane", place, 4, span, &mut stmts);
        let lanes = Lanes {
            stmts,
            warp,
            lane,
            row,
            place,
        };
        self.lanes = Some(lanes.clone());
        lanes
    }

    /// A name for a value below `count`.
    fn named(
        &mut self,
        name: &str,
        value: Sym,
        count: i64,
        span: Span,
        stmts: &mut Vec<Stmt>,
    ) -> Sym {
        if value.as_int().is_some() {
            return value;
        }
        let count = Sym::int(count);
        let (local, sym) = build::index(self.function, name, Role::Value, Some(&count), span);
        let value = Some(Expr::index(value, span));
        stmts.push(Stmt::new(StmtKind::Let { local, value }, span));
        sym
    }

    /// Nested loops over registers; the outermost first, with how far it goes and by what step. Steps are counted,
    /// so that it is known how far each index goes at most.
    fn loops(
        &mut self,
        axes: &[(&str, i64, i64)],
        span: Span,
        body: impl FnOnce(&mut Self, &[Sym]) -> Vec<Stmt>,
    ) -> Vec<Stmt> {
        let mut indices = Vec::new();
        let mut loops = Vec::new();
        for (name, end, step) in axes {
            if end <= step {
                indices.push(Sym::zero());
                continue;
            }
            let turns = Sym::int((end + step - 1) / step);
            let (local, sym) = build::index(self.function, name, Role::Loop, Some(&turns), span);
            indices.push(&sym * *step);
            loops.push((local, turns));
        }
        let mut stmts = body(self, &indices);
        for (local, hi) in loops.into_iter().rev() {
            let kind = StmtKind::For {
                local,
                lo: Sym::zero(),
                hi,
                step: Sym::one(),
                unroll: Some(Unroll::Full),
                body: stmts,
            };
            stmts = vec![Stmt::new(kind, span)];
        }
        stmts
    }

    fn expanded(&mut self, stmt: Stmt) -> Result<Vec<Stmt>, Stmt> {
        let StmtKind::Mma(op) = &stmt.kind else {
            return Err(stmt);
        };
        let span = stmt.span;
        let made = match &**op {
            MmaOp::Load { into, source } => self.load(into, source, span),
            MmaOp::Store {
                from,
                dest,
                transposed,
            } => self.store(from, dest, *transposed, span),
            MmaOp::Product(product) => self.product(product, span),
            MmaOp::Multiply { sums, a, b, atom } => self.multiply([sums, a, b], *atom, span),
            _ => return Err(stmt),
        };
        // What could not be lowered stays: `seal` reports it.
        made.ok_or(stmt)
    }
}

/// Element `at` of a thread's part.
fn register(buffer: BufferId, at: Sym, span: Span) -> Access {
    Access {
        view: View {
            buffer,
            offset: at,
            shape: Vec::new(),
            strides: Vec::new(),
            valid: Vec::new(),
            frame: None,
            span,
        },
        indices: Vec::new(),
        span,
    }
}

fn load_of(access: Access, elem: Scalar, span: Span) -> Expr {
    Expr::new(ExprKind::Load(access), elem, span)
}

fn zero(elem: Scalar, span: Span) -> Expr {
    let kind = if elem.is_float() {
        ExprKind::Float(0.0)
    } else {
        ExprKind::Int(0)
    };
    Expr::new(kind, elem, span)
}

fn mma(op: MmaOp, span: Span) -> Stmt {
    Stmt::new(StmtKind::Mma(Box::new(op)), span)
}

/// A view's element whose place is told by a part that unrolled loops make constant and one of the lane.
/// They are kept apart: what is a multiple of a swizzle's period stays outside of it.
fn element(view: &View, known: &[Sym], of_lane: &[Sym], span: Span) -> Access {
    let steps = known.iter().zip(&view.strides).map(|(i, s)| i * s);
    let offset = steps.fold(view.offset.clone(), |sum, step| &sum + &step);
    Access {
        view: View {
            offset,
            ..view.clone()
        },
        indices: of_lane.to_vec(),
        span,
    }
}
