//! Statements and calls that depend on the memory layout of a buffer.

use super::{
    Access, Arg, BufferId, CppName, Expr, ExprKind, Function, MmaOp, Operand, Stmt, StmtKind, Tile,
    View, Visit, walk_block,
};
use crate::source::Span;
use crate::symbolic::Sym;

/// For all buffers, with and without a swizzle.
#[derive(Default)]
pub struct LayoutUses {
    pub copied: Vec<View>,
    /// Views of TMA copies.
    pub moved: Vec<View>,
    pub accessed: Vec<Access>,
    /// Buffers whose address is passed to C++.
    pub raw: Vec<(BufferId, Span)>,
}

/// An operand of a warpgroup MMA in shared memory.
pub struct Multiplied {
    pub view: View,
    /// Whether K runs along its rows.
    pub k_last: bool,
    /// The bytes of a row along K that one instruction reads.
    pub step: i64,
}

/// The bytes of a row along K that one instruction reads; for a sparse A, of its stored elements.
const STEP: i64 = 32;

impl Multiplied {
    /// The operands of a statement.
    pub fn of(stmt: &Stmt) -> Vec<Self> {
        let StmtKind::Mma(op) = &stmt.kind else {
            return Vec::new();
        };
        let MmaOp::WarpgroupMma(mma) = &**op else {
            return Vec::new();
        };
        let of = |tile: &Tile, step| Self {
            view: tile.view.clone(),
            k_last: tile.k_last,
            step,
        };
        let step = match mma.metadata.is_some() {
            true => 2 * STEP,
            false => STEP,
        };
        let b = of(&mma.b, step);
        match &mma.a {
            Operand::Memory(a) => vec![b, of(a, STEP)],
            _ => vec![b],
        }
    }
}

impl LayoutUses {
    /// The uses in these statements.
    pub fn of_block(stmts: &[Stmt]) -> Self {
        let mut uses = Self::default();
        walk_block(stmts, &mut uses);
        uses
    }

    /// The uses in the kernels of a function.
    pub fn of(function: &Function) -> Self {
        let mut uses = Self::default();
        for kernel in &function.kernels {
            walk_block(&kernel.body, &mut uses);
        }
        uses
    }
}

impl Visit for LayoutUses {
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Copy(copy) => {
                let sides = [copy.source.clone(), copy.dest.clone()];
                if !copy.engine.is_threads() {
                    self.moved.extend(sides.clone());
                }
                self.copied.extend(sides);
            }
            StmtKind::Cpp { names, .. } => {
                self.raw.extend(names.iter().filter_map(|name| match name {
                    CppName::Buffer(id) => Some((*id, stmt.span)),
                    CppName::Local(_) => None,
                }))
            }
            _ => {}
        }
    }

    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Call(call) = &*expr.kind {
            for mut arg in &call.args {
                while let Arg::Cast(_, inner) = arg {
                    arg = inner;
                }
                if let Arg::Pointer(view) = arg
                    && !view.shape.iter().all(Sym::is_one)
                {
                    self.raw.push((view.buffer, view.span));
                }
            }
        }
    }

    fn access(&mut self, access: &Access, _: bool) {
        self.accessed.push(access.clone());
    }
}
