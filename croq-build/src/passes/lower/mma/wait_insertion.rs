//! When a warpgroup waits for its products.
//!
//! They go on while the program does, and count as over wherever it could tell: before anything touches
//! registers they use, before others may be let at an operand (a barrier, a `trigger`), where threads part
//! ways. There a wait is put. What would overwrite an operand without a barrier or a `trigger` in front
//! does not exist: `hazards` has taken products for reads by the whole warpgroup.
//!
//! Products in a row, loops of nothing else among them, are a slab: one fence in front, one group at the end. One
//! that the program waits for itself is a group of its own. Consumers of rings are [`release_pipelining`]'s.

use std::collections::BTreeSet;

use super::{release_pipelining, zero_initialisation};
use crate::ir::{
    Access, BarrierScope, BufferId, Expr, ExprKind, Function, KernelId, MmaOp, Step, Stmt,
    StmtKind, Unroll, Visit, any_in, walk_block,
};
use crate::source::Span;

/// Loops of products of so many turns are unrolled: operands are then known distances from each other.
const TURNS: i64 = 16;

/// Puts fences, groups and waits around the products of a kernel.
pub fn insert(function: &mut Function, id: KernelId) {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return;
    };
    if !has(&kernel.body, &is_about_products) {
        return;
    }
    let end = kernel.span;
    function.with_kernel_body(id, |function, body| {
        let whole = body.clone();
        let mut settler = Settler {
            function,
            whole: &whole,
        };
        let mut under_way = UnderWay::default();
        settler.block(body, &mut under_way);
        under_way.wait_at_end(body, end);
    });
}

type Registers = BTreeSet<BufferId>;

/// The groups of products that may be under way, the oldest first.
#[derive(Clone, Default)]
struct UnderWay(Vec<Group>);

#[derive(Clone)]
struct Group {
    /// The program's name for it.
    operation: Option<u32>,
    registers: Registers,
}

/// Groups that a wait can leave out.
const YOUNGER: usize = 7;

impl UnderWay {
    /// Waits for all of them.
    fn wait(&mut self, out: &mut Vec<Stmt>, span: Span) {
        self.wait_for(self.0.len(), out, span);
    }

    /// Waits for the oldest so many.
    fn wait_for(&mut self, oldest: usize, out: &mut Vec<Stmt>, span: Span) {
        let younger = self.0.len().saturating_sub(oldest).min(YOUNGER);
        let over = self.0.drain(..self.0.len() - younger);
        let registers: Registers = over.flat_map(|group| group.registers).collect();
        if !registers.is_empty() {
            let registers: Vec<BufferId> = registers.into_iter().collect();
            let younger = u32::try_from(younger).unwrap_or(0);
            out.push(step(Step::wait(younger, &registers), span));
        }
    }

    fn wait_at_end(&mut self, stmts: &mut Vec<Stmt>, span: Span) {
        let at = stmts.last().map_or(span, |s| s.span);
        self.wait(stmts, at);
    }

    /// So many of the oldest are over once `found` is.
    fn up_to(&self, found: impl Fn(&Group) -> bool) -> usize {
        self.0.iter().rposition(found).map_or(0, |at| at + 1)
    }
}

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

    /// The program waits for one of them itself.
    pub fn is_waited_for(&self) -> bool {
        has(&self.0, &|s| operation(s).is_some())
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
    /// Walks `stmts`, with `under_way` at their start and then at their end.
    fn block(&mut self, stmts: &mut Vec<Stmt>, under_way: &mut UnderWay) {
        zero_initialisation::leave_out(self.function, stmts);
        let mut out = Vec::with_capacity(stmts.len());
        let mut rest = std::mem::take(stmts).into_iter().peekable();
        while let Some(stmt) = rest.next() {
            if !is_slab(&stmt) {
                self.statement(stmt, under_way, &mut out);
                continue;
            }
            let operation = operation(&stmt);
            let mut slab = vec![stmt];
            while operation.is_none()
                && let Some(next) = rest.next_if(is_part_of_group)
            {
                slab.push(next);
            }
            let slab = Slab(slab);
            under_way.0.push(Group {
                operation,
                registers: slab.registers().into_iter().collect(),
            });
            out.extend(slab.begun());
        }
        *stmts = out;
    }

    fn statement(&mut self, mut stmt: Stmt, under_way: &mut UnderWay, out: &mut Vec<Stmt>) {
        let span = stmt.span;
        if let StmtKind::Mma(op) = &stmt.kind {
            match **op {
                MmaOp::CommitAll(()) => return under_way.wait(out, span),
                MmaOp::WaitMma(id) => {
                    let oldest = under_way.up_to(|group| group.operation == Some(id));
                    return under_way.wait_for(oldest, out, span);
                }
                _ => {}
            }
        }
        if !stmt
            .kind
            .blocks()
            .any(|block| has(block, &is_about_products))
        {
            let oldest = match tells(&stmt) {
                true => under_way.0.len(),
                false => {
                    let touched = fragments_of(&stmt);
                    under_way.up_to(|group| !group.registers.is_disjoint(&touched))
                }
            };
            under_way.wait_for(oldest, out, span);
            out.push(stmt);
            return;
        }
        if let Some(delayed) = release_pipelining::delayed(self.function, self.whole, &stmt) {
            under_way.wait(out, span);
            out.extend(delayed);
            return;
        }
        match &mut stmt.kind {
            // Both ways end with nothing under way.
            StmtKind::If {
                then, otherwise, ..
            } => {
                for way in [then, otherwise] {
                    let mut own = under_way.clone();
                    self.block(way, &mut own);
                    own.wait_at_end(way, span);
                }
                under_way.0.clear();
            }
            StmtKind::Parallel { body, .. } => self.block(body, under_way),
            // Nothing is under way from one turn to the next: ptxas would have them one by one. Nor among
            // the threads of regions, who are others.
            kind => {
                under_way.wait(out, span);
                for inner in kind.blocks_mut() {
                    let mut own = UnderWay::default();
                    self.block(inner, &mut own);
                    own.wait_at_end(inner, span);
                }
            }
        }
        out.push(stmt);
    }
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
    matches!(&stmt.kind, StmtKind::Mma(op) if matches!(**op, MmaOp::CommitAll(())))
}

fn is_about_products(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Mma(op) => {
            matches!(
                **op,
                MmaOp::Product(_) | MmaOp::CommitAll(()) | MmaOp::WaitMma(_)
            )
        }
        _ => false,
    }
}

/// What the program calls a product that it waits for itself.
fn operation(stmt: &Stmt) -> Option<u32> {
    match &stmt.kind {
        StmtKind::Mma(op) => match &**op {
            MmaOp::Product(product) => product.operation,
            _ => None,
        },
        _ => None,
    }
}

/// A product, or a loop of products and names alone.
fn is_slab(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::For { body, .. } => {
            has(body, &is_product)
                && body.iter().all(is_part_of_group)
                && !has(body, &|s| operation(s).is_some())
        }
        _ => is_product(stmt),
    }
}

pub fn is_part_of_group(stmt: &Stmt) -> bool {
    (is_slab(stmt) && operation(stmt).is_none()) || is_name(stmt)
}

/// An integer that is given a name.
pub fn is_name(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Let {
            value: Some(value), ..
        } => matches!(*value.kind, ExprKind::Index(_)),
        StmtKind::UseFuture(_) => true,
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

/// Whether a statement without products lets others at operands, or leaves for where they would be waited
/// for.
fn tells(stmt: &Stmt) -> bool {
    let lets = |stmt: &Stmt| match &stmt.kind {
        // Lanes of one warp alone share nothing with the engine.
        StmtKind::Barrier { scope, .. } => !matches!(scope, BarrierScope::Lanes(_)),
        StmtKind::Trigger(_)
        | StmtKind::Region { .. }
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Yield
        | StmtKind::Cpp { .. } => true,
        _ => false,
    };
    let calls = |e: &Expr| matches!(&*e.kind, ExprKind::Call(_));
    any_in(std::slice::from_ref(stmt), lets, calls)
}

/// Fragments that a statement reads or writes, and other memory.
fn fragments_of(stmt: &Stmt) -> Registers {
    struct Find(Registers);
    impl Visit for Find {
        fn stmt(&mut self, stmt: &Stmt) {
            if let StmtKind::Mma(op) = &stmt.kind {
                self.0.extend(op.parts().iter().map(|part| part.buffer));
            }
        }
        fn access(&mut self, access: &Access, _written: bool) {
            self.0.insert(access.view.buffer);
        }
    }
    let mut find = Find(Registers::new());
    walk_block(std::slice::from_ref(stmt), &mut find);
    find.0
}
