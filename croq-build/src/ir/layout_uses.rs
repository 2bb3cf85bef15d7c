//! Statements and calls for which it matters how a buffer is laid out in memory.

use super::{
    Access, Arg, BufferId, CppName, Expr, ExprKind, Function, MmaOp, Stmt, StmtKind, View, Visit,
    walk_block,
};
use crate::source::Span;
use crate::symbolic::Sym;

/// Of all buffers, swizzled or not.
#[derive(Default)]
pub struct LayoutUses {
    pub copied: Vec<View>,
    /// By TMA.
    pub moved: Vec<View>,
    pub accessed: Vec<Access>,
    /// Operands of warpgroups, each with whether K runs along its rows.
    pub multiplied: Vec<(View, bool)>,
    /// Seen by text in C++.
    pub raw: Vec<(BufferId, Span)>,
}

impl LayoutUses {
    /// In the kernels of a function.
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
            StmtKind::Mma(op) => {
                if let MmaOp::WarpgroupMma(mma) = &**op {
                    let tiles = mma.tiles();
                    self.multiplied
                        .extend(tiles.map(|t| (t.view.clone(), t.k_last)));
                }
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
