//! When a warpgroup waits for its products.
//!
//! They go on while the program does, and count as over wherever it could tell: before anything touches
//! registers they use, before others may be let at an operand (a barrier, a `trigger`), where threads part
//! ways. There a wait is put. What would overwrite an operand without a barrier or a `trigger` in front
//! does not exist: `hazards` has taken products for reads by the whole warpgroup.
//!
//! Products in a row, loops of nothing else among them, are a slab: one fence in front, one group at the end.
//! Consumers of rings are [`ring`]'s.

use std::collections::BTreeSet;

use super::{fills, ring};
use crate::ir::{
    Access, BarrierScope, BufferId, Expr, ExprKind, Function, KernelId, MmaOp, Step, Stmt,
    StmtKind, Unroll, Visit, walk_block,
};
use crate::source::Span;

/// Loops of products of so many turns are unrolled: operands are then known distances from each other.
const TURNS: i64 = 16;

/// Puts fences, groups and waits around the products of a kernel.
pub fn settle(function: &mut Function, id: KernelId) {
    let Some(kernel) = function.kernels.get_mut(id.index()) else {
        return;
    };
    if !has(&kernel.body, &is_product) && !has(&kernel.body, &is_finish) {
        return;
    }
    let mut body = std::mem::take(&mut kernel.body);
    let end = kernel.span;
    let whole = body.clone();
    let mut settler = Settler {
        function,
        whole: &whole,
    };
    let mut registers = settler.block(&mut body, Registers::new());
    wait_at_end(&mut body, &mut registers, end);
    if let Some(kernel) = function.kernels.get_mut(id.index()) {
        kernel.body = body;
    }
}

/// Registers of products that may be under way.
type Registers = BTreeSet<BufferId>;

/// Products in a row, and names among them.
pub struct Slab(Vec<Stmt>);

impl Slab {
    pub fn of(stmts: Vec<Stmt>) -> Option<Slab> {
        has(&stmts, &is_product).then_some(Slab(stmts))
    }

    pub fn span(&self) -> Span {
        let last = self.0.iter().rev().find(|s| !is_name(s));
        last.map_or_else(Span::default, |s| s.span)
    }

    pub fn registers(&self) -> Vec<BufferId> {
        registers_of(&self.0).into_iter().collect()
    }

    /// The statements that begin them, as a group.
    pub fn begun(mut self) -> Vec<Stmt> {
        let (registers, span) = (self.registers(), self.span());
        unroll(&mut self.0);
        let mut stmts = vec![step(Step::Fence { registers }, span)];
        stmts.extend(self.0);
        stmts.push(step(Step::Commit, span));
        stmts
    }
}

fn unroll(stmts: &mut [Stmt]) {
    for stmt in stmts {
        if let StmtKind::For {
            lo,
            hi,
            unroll: how,
            body,
            ..
        } = &mut stmt.kind
        {
            unroll(body);
            let few = (&*hi - &*lo).as_int().is_some_and(|n| n <= TURNS);
            if few && how.is_none() {
                *how = Some(Unroll::Full);
            }
        }
    }
}

struct Settler<'a> {
    function: &'a mut Function,
    /// The kernel as it was.
    whole: &'a [Stmt],
}

impl Settler<'_> {
    /// Walks `stmts`, with `under_way` at their start; what is at their end.
    fn block(&mut self, stmts: &mut Vec<Stmt>, mut under_way: Registers) -> Registers {
        fills::leave_out(self.function, stmts);
        let mut out = Vec::with_capacity(stmts.len());
        let mut rest = std::mem::take(stmts).into_iter().peekable();
        while let Some(stmt) = rest.next() {
            if !is_slab(&stmt) {
                self.statement(stmt, &mut under_way, &mut out);
                continue;
            }
            let mut slab = vec![stmt];
            while let Some(next) = rest.next_if(is_part_of_slab) {
                slab.push(next);
            }
            let slab = Slab(slab);
            under_way.extend(slab.registers());
            out.extend(slab.begun());
        }
        *stmts = out;
        under_way
    }

    fn statement(&mut self, mut stmt: Stmt, under_way: &mut Registers, out: &mut Vec<Stmt>) {
        let span = stmt.span;
        if is_finish(&stmt) {
            return wait(under_way, out, span);
        }
        let inside = |block: &Vec<Stmt>| has(block, &is_product) || has(block, &is_finish);
        if !stmt.kind.blocks().any(inside) {
            if tells(&stmt, under_way) {
                wait(under_way, out, span);
            }
            out.push(stmt);
            return;
        }
        if let Some(delayed) = ring::delayed(self.function, self.whole, &stmt) {
            wait(under_way, out, span);
            out.extend(delayed);
            return;
        }
        match &mut stmt.kind {
            // Nothing is under way from one turn to the next: ptxas would have them one by one.
            StmtKind::For { body, .. } => {
                wait(under_way, out, span);
                self.alone(body, span);
            }
            StmtKind::While { prelude, body, .. } => {
                wait(under_way, out, span);
                for inner in [prelude, body] {
                    self.alone(inner, span);
                }
            }
            StmtKind::If {
                then, otherwise, ..
            } => {
                let mut after = self.block(then, under_way.clone());
                after.extend(self.block(otherwise, under_way.clone()));
                *under_way = after;
            }
            // Other threads than those around.
            StmtKind::Region { body, .. } => {
                wait(under_way, out, span);
                self.alone(body, span);
            }
            kind => {
                for inner in kind.blocks_mut() {
                    *under_way = self.block(inner, std::mem::take(under_way));
                }
            }
        }
        out.push(stmt);
    }

    fn alone(&mut self, stmts: &mut Vec<Stmt>, span: Span) {
        let mut end = self.block(stmts, Registers::new());
        wait_at_end(stmts, &mut end, span);
    }
}

fn wait(under_way: &mut Registers, out: &mut Vec<Stmt>, span: Span) {
    let registers: Vec<BufferId> = std::mem::take(under_way).into_iter().collect();
    if !registers.is_empty() {
        out.push(step(Step::wait(0, &registers), span));
    }
}

fn wait_at_end(stmts: &mut Vec<Stmt>, under_way: &mut Registers, span: Span) {
    let at = stmts.last().map_or(span, |s| s.span);
    wait(under_way, stmts, at);
}

pub fn step(step: Step, span: Span) -> Stmt {
    super::mma(MmaOp::Step(step), span)
}

fn has(stmts: &[Stmt], wanted: &dyn Fn(&Stmt) -> bool) -> bool {
    stmts
        .iter()
        .any(|stmt| wanted(stmt) || stmt.kind.blocks().any(|inner| has(inner, wanted)))
}

fn is_product(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::Mma(op) if matches!(**op, MmaOp::Product(_)))
}

/// `mma.commit`
pub fn is_finish(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::Mma(op) if matches!(**op, MmaOp::Finish))
}

/// A product, or a loop of products and names alone.
fn is_slab(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::For { body, .. } => has(body, &is_product) && body.iter().all(is_part_of_slab),
        _ => is_product(stmt),
    }
}

pub fn is_part_of_slab(stmt: &Stmt) -> bool {
    is_slab(stmt) || is_name(stmt)
}

/// An integer that is given a name.
pub fn is_name(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Let {
            value: Some(value), ..
        } => matches!(*value.kind, ExprKind::Index(_)),
        StmtKind::Consult(_) => true,
        _ => false,
    }
}

fn registers_of(stmts: &[Stmt]) -> Registers {
    struct Find(Registers);
    impl Visit for Find {
        fn stmt(&mut self, stmt: &Stmt) {
            if let StmtKind::Mma(op) = &stmt.kind
                && let MmaOp::Product(product) = &**op
            {
                self.0
                    .extend(product.parts().iter().map(|part| part.buffer));
            }
        }
    }
    let mut find = Find(Registers::new());
    walk_block(stmts, &mut find);
    find.0
}

/// Whether a statement without products could tell that some are not over.
fn tells(stmt: &Stmt, under_way: &Registers) -> bool {
    struct Find<'a>(&'a Registers, bool);
    impl Visit for Find<'_> {
        fn stmt(&mut self, stmt: &Stmt) {
            self.1 |= match &stmt.kind {
                // Lanes of one warp alone share nothing with the engine.
                StmtKind::Barrier { scope, .. } => !matches!(scope, BarrierScope::Lanes(_)),
                StmtKind::Trigger(_)
                | StmtKind::Region { .. }
                | StmtKind::Break
                | StmtKind::Continue
                | StmtKind::Yield
                | StmtKind::Cpp { .. } => true,
                StmtKind::Mma(op) => op.parts().iter().any(|p| self.0.contains(&p.buffer)),
                _ => false,
            };
        }
        fn expr(&mut self, expr: &Expr) {
            if let ExprKind::Call(call) = &*expr.kind {
                self.1 |= !call.callee.starts_with("croq::");
            }
        }
        fn access(&mut self, access: &Access, _written: bool) {
            self.1 |= self.0.contains(&access.view.buffer);
        }
    }
    let mut find = Find(under_way, false);
    walk_block(std::slice::from_ref(stmt), &mut find);
    find.1
}
