//! The walk over one kernel, and its shared state.

use crate::ir::build;
use crate::ir::{
    Access, BufferId, Expr, ExprKind, Flow, Fragment, FragmentLayout, Function, Intrinsic, Layout,
    LocalId, METADATA_ROWS, MmaOp, Part, Role, Scalar, Stmt, StmtKind, Storage, Unroll, View,
    Visitor, WARP_THREADS, walk,
};
use crate::sorted::SortedSet;
use crate::source::Span;
use crate::symbolic::{Sym, Var};

/// Lanes of a warp.
pub(super) const LANES: i64 = WARP_THREADS as i64;
/// Warps of a warpgroup.
pub(super) const WARPS: i64 = 4;

/// The number of elements of one fragment in a thread.
pub(in crate::passes) fn elements_per_thread(fragment: &Fragment) -> i64 {
    let warps = fragment.layout.map_or(1, FragmentLayout::warps);
    match (fragment.layout, fragment.shape.as_slice()) {
        (Some(FragmentLayout::Dealt(d)), [rows]) => d.rows(*rows),
        (Some(FragmentLayout::Dealt(d)), [rows, columns]) => d.rows(*rows) * d.columns(*columns),
        (Some(FragmentLayout::Rows { .. }), [rows]) => (rows / (8 * warps)).max(1),
        (Some(FragmentLayout::Metadata(layout)), [rows, words]) => {
            rows / (METADATA_ROWS * warps) * layout.registers(*words)
        }
        (_, shape) => (shape.iter().product::<i64>() / (LANES * warps)).max(1),
    }
}

/// The descriptor of a buffer that MMAs read.
pub(super) struct Descriptor {
    pub(super) buffer: BufferId,
    pub(super) k_last: bool,
    pub(super) local: LocalId,
    pub(super) stmt: Stmt,
}

/// A thread's position in its warp, as in the fragment layouts.
#[derive(Clone)]
pub(super) struct Lanes {
    pub(super) stmts: Vec<Stmt>,
    /// The number of the warp in its warpgroup.
    pub(super) warp: Sym,
    pub(super) lane: Sym,
    /// `lane / 4`: the row of a tile; `lane % 4`: the register of the row.
    pub(super) row: Sym,
    pub(super) place: Sym,
}

impl Lanes {
    /// A row of which the lane holds elements, in the first tiles of `warps` warps with `rows` rows
    /// each.
    pub(super) fn row_in(&self, warps: i64, rows: i64) -> Sym {
        match warps {
            1 => self.row.clone(),
            _ => &self.row + &(&self.warp * rows),
        }
    }
}

pub(super) struct Pass<'a> {
    pub(super) function: &'a mut Function,
    pub(super) threads: Sym,
    pub(super) span: Span,
    pub(super) lanes: Option<Lanes>,
    /// The buffers that MMAs read in shared memory.
    pub(super) described: Vec<Descriptor>,
    /// The registers of MMAs by warpgroups.
    pub(super) multiplied: SortedSet<BufferId>,
    /// The destinations of copies that may fill a part of a tile with zeros.
    pub(super) cut: SortedSet<BufferId>,
}

/// A fragment with its layout.
pub(super) struct Tile {
    pub(super) buffer: BufferId,
    /// The number of its first element in the thread's part.
    pub(super) first: Sym,
    pub(super) layout: Layout,
    /// In the orientation of the layout, of one warp.
    pub(super) rows: i64,
    pub(super) columns: i64,
    /// See [`Layout::steps`].
    pub(super) steps: [i64; 3],
    pub(super) elem: Scalar,
}

impl Pass<'_> {
    pub(super) fn block(
        &mut self,
        stmts: &mut Vec<Stmt>,
        of: fn(&mut Self, Stmt) -> Result<Vec<Stmt>, Stmt>,
    ) {
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

    /// A loop whose variable selects a fragment of an array must be unrolled.
    pub(super) fn unrolled(&self, stmt: &mut Stmt) {
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

    /// Whether the variable selects registers in these statements: a fragment of an array, columns of
    /// one, or elements.
    pub(super) fn chooses(&self, body: &[Stmt], var: Var) -> bool {
        let mut find = Chooses { pass: self, var };
        find.block(body).is_break()
    }

    pub(super) fn is_fragment(&self, id: BufferId) -> bool {
        let buffer = self.function.buffers.get(id.index());
        buffer.is_some_and(|b| b.storage == Storage::Fragment)
    }

    pub(super) fn layout(&self, part: &Part) -> Option<FragmentLayout> {
        self.function.fragments.get(&part.buffer)?.layout
    }

    pub(super) fn tile(&self, part: &Part) -> Option<Tile> {
        let fragment = self.function.fragments.get(&part.buffer)?;
        let Some(FragmentLayout::Matrix(layout)) = fragment.layout else {
            return None;
        };
        let [rows, columns] = fragment.shape.as_slice() else {
            return None;
        };
        let shape = [*rows, *columns];
        let number = part.number.clone().unwrap_or_else(Sym::zero);
        let [rows, columns] = layout.oriented(shape);
        Some(Tile {
            buffer: part.buffer,
            first: &number * elements_per_thread(fragment),
            layout,
            rows: rows / layout.warps,
            columns,
            steps: layout.steps(shape),
            elem: self.function.buffer(part.buffer).elem,
        })
    }

    pub(super) fn lanes(&mut self) -> Lanes {
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
        let warp = self.named("warp_of_group", warp, WARPS, span, &mut stmts);
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

    /// A variable for a value below `count`.
    pub(super) fn named(
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

    /// Nested, unrolled loops over registers, the outermost first; each with a name, its end and
    /// its step. The loop counts steps, so that the upper bound of each index is known.
    pub(super) fn loops(
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
            let iterations = Sym::int((end + step - 1) / step);
            let (local, sym) =
                build::index(self.function, name, Role::Loop, Some(&iterations), span);
            indices.push(&sym * *step);
            loops.push((local, iterations));
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
}

struct Chooses<'a, 'f> {
    pass: &'a Pass<'f>,
    var: Var,
}

impl Visitor for Chooses<'_, '_> {
    fn stmt(&mut self, stmt: &Stmt) -> Flow {
        if let StmtKind::Mma(op) = &stmt.kind {
            let numbers = op.parts().into_iter().filter_map(|p| p.number.as_ref());
            if numbers.into_iter().any(|number| number.contains(self.var)) {
                return Flow::Break(());
            }
        }
        walk::stmt(self, stmt)
    }

    fn access(&mut self, access: &Access, _written: bool) -> Flow {
        let selects = access.address().contains(self.var);
        match selects && self.pass.is_fragment(access.view.buffer) {
            true => Flow::Break(()),
            false => walk::access(self, access),
        }
    }
}

/// Element `at` of a thread's part.
pub(super) fn register(buffer: BufferId, at: Sym, span: Span) -> Access {
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

pub(super) fn load_of(access: Access, elem: Scalar, span: Span) -> Expr {
    Expr::new(ExprKind::Load(access), elem, span)
}

pub(super) fn zero(elem: Scalar, span: Span) -> Expr {
    let kind = if elem.is_float() {
        ExprKind::Float(0.0)
    } else {
        ExprKind::Int(0)
    };
    Expr::new(kind, elem, span)
}

pub(super) fn mma(op: MmaOp, span: Span) -> Stmt {
    Stmt::new(StmtKind::Mma(Box::new(op)), span)
}

/// A view's element whose place is the sum of a part that unrolled loops make constant, and a part
/// of the lane. They are kept separate, so that a multiple of a swizzle's period is added outside
/// of the swizzle.
pub(super) fn element(view: &View, known: &[Sym], of_lane: &[Sym], span: Span) -> Access {
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
