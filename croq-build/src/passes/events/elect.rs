//! Regions that are one thread's.

use std::collections::BTreeSet;

use crate::ir::{
    BinOp, Engine, Expr, ExprKind, Function, Hardware, Level, LocalId, Role, Scalar, Stmt,
    StmtKind, Storage, ThreadSet, VarHome, Visit, walk_block, walk_exprs,
};
use crate::symbolic::Sym;

/// Gives regions of which one thread does everything, copies by the copy engine among it, to that thread.
pub fn elect(function: &Function, body: &mut [Stmt]) {
    let whole = body.to_vec();
    in_block(function, &whole, body);
}

fn in_block(function: &Function, whole: &[Stmt], stmts: &mut [Stmt]) {
    for stmt in stmts {
        let span = stmt.span;
        let StmtKind::Region {
            pred,
            set: Some(set),
            is_async: true,
            outermost: true,
            body,
        } = &mut stmt.kind
        else {
            for block in stmt.kind.blocks_mut() {
                in_block(function, whole, block);
            }
            continue;
        };
        let Some(first) = set.lowest().filter(|_| set.len() > 1) else {
            continue;
        };
        if !is_one_threads(function, whole, body, set) {
            continue;
        }
        let thread = Expr::new(
            ExprKind::Hardware(Hardware::Thread),
            Scalar::Index,
            pred.span,
        );
        let number = Expr::new(ExprKind::Int(i128::from(first)), Scalar::Index, pred.span);
        *pred = Expr::new(
            ExprKind::Binary(BinOp::Eq, thread, number),
            Scalar::Bool,
            span,
        );
        *set = ThreadSet {
            ranges: vec![(first, first + 1)],
        };
        by_the_region(body);
    }
}

/// A unit's copies are the region's, which is one thread now.
fn by_the_region(stmts: &mut [Stmt]) {
    for stmt in stmts {
        if let StmtKind::Copy(copy) = &mut stmt.kind {
            copy.level = Level::Block;
        }
        if let StmtKind::WaitTma { futures } = &mut stmt.kind {
            futures.iter_mut().for_each(|w| w.level = Level::Block);
        }
        for block in stmt.kind.blocks_mut() {
            by_the_region(block);
        }
    }
}

/// All it does is the copy engine's or an arrival, the same for all threads of `set`.
fn is_one_threads(function: &Function, whole: &[Stmt], body: &[Stmt], set: &ThreadSet) -> bool {
    let mut varying = Varying {
        function,
        set,
        found: BTreeSet::new(),
        grown: true,
    };
    while std::mem::take(&mut varying.grown) {
        varying.block(whole, false);
    }
    let mut one = One {
        varying: &varying,
        declared: BTreeSet::new(),
        acts: false,
        fits: true,
    };
    walk_block(body, &mut one);
    one.fits && one.acts
}

struct One<'a> {
    varying: &'a Varying<'a>,
    declared: BTreeSet<LocalId>,
    acts: bool,
    fits: bool,
}

impl Visit for One<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        self.fits &= match &stmt.kind {
            StmtKind::Let { local, .. } => {
                self.declared.insert(*local);
                true
            }
            // Nobody outside sees it.
            StmtKind::Assign { local, .. } => self.declared.contains(local),
            StmtKind::Copy(copy) => {
                self.acts = true;
                matches!(copy.engine, Engine::Tma(_)) && self.varying.is_one(copy.level)
            }
            StmtKind::WaitTma { futures } => futures.iter().all(|w| self.varying.is_one(w.level)),
            StmtKind::Trigger(at) => {
                let event = self.varying.function.event(at.event);
                event.count.is_none_or(|(n, _)| n == 1)
            }
            StmtKind::WaitEvent(_)
            | StmtKind::For { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Check { .. }
            | StmtKind::Rotate { .. }
            | StmtKind::Consult(_)
            | StmtKind::Alloc(_) => true,
            _ => false,
        };
    }

    fn expr(&mut self, e: &Expr) {
        self.fits &= !self.varying.in_expr(e);
    }

    fn sym(&mut self, sym: &Sym) {
        self.fits &= !self.varying.in_sym(sym);
    }
}

/// The locals that threads of `set` may disagree about.
struct Varying<'a> {
    function: &'a Function,
    set: &'a ThreadSet,
    found: BTreeSet<LocalId>,
    grown: bool,
}

impl Varying<'_> {
    /// They are all in one unit of this level, or make up the region that such a statement is for.
    fn is_one(&self, level: Level) -> bool {
        match level {
            Level::Cluster | Level::Block => true,
            Level::Group4 => self.set.is_in_one(128),
            Level::Group => self.set.is_in_one(32),
            Level::Thread => false,
        }
    }

    fn local(&self, id: LocalId) -> bool {
        let role = self.function.locals.get(id.index()).map(|l| l.role);
        match role {
            Some(Role::Parallel(Level::Cluster | Level::Block)) => false,
            Some(Role::Parallel(level)) => !self.is_one(level),
            _ => self.found.contains(&id),
        }
    }

    fn in_sym(&self, sym: &Sym) -> bool {
        sym.vars()
            .iter()
            .any(|v| match self.function.var_home.get(v) {
                Some(VarHome::Local(id)) => self.local(*id),
                _ => false,
            })
    }

    fn in_expr(&self, e: &Expr) -> bool {
        struct Find<'a>(&'a Varying<'a>, bool);
        impl Visit for Find<'_> {
            fn expr(&mut self, e: &Expr) {
                self.1 |= match &*e.kind {
                    ExprKind::Hardware(Hardware::Thread) | ExprKind::Call(_) => true,
                    ExprKind::Local(id) => self.0.local(*id),
                    ExprKind::Load(access) => {
                        let buffer = self.0.function.buffers.get(access.view.buffer.index());
                        buffer.is_none_or(|b| b.storage == Storage::Local)
                    }
                    _ => false,
                };
            }
            fn sym(&mut self, sym: &Sym) {
                self.1 |= self.0.in_sym(sym);
            }
        }
        let mut find = Find(self, false);
        walk_exprs(e, &mut find);
        find.1
    }

    fn add(&mut self, id: LocalId) {
        self.grown |= self.found.insert(id);
    }

    /// `apart`: not all of the threads come here.
    fn block(&mut self, stmts: &[Stmt], apart: bool) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Let { local, value } => {
                    if apart || value.as_ref().is_some_and(|e| self.in_expr(e)) {
                        self.add(*local);
                    }
                }
                // Each thread finds what the one before it left.
                StmtKind::Atomic(atomic) => {
                    atomic.result.into_iter().for_each(|id| self.add(id));
                }
                StmtKind::Assign { local, value } => {
                    if apart || self.in_expr(value) {
                        self.add(*local);
                    }
                }
                StmtKind::For {
                    local,
                    lo,
                    hi,
                    step,
                    body,
                    ..
                } => {
                    let apart = apart || [lo, hi, step].iter().any(|s| self.in_sym(s));
                    if apart {
                        self.add(*local);
                    }
                    self.block(body, apart);
                }
                StmtKind::While {
                    prelude,
                    cond,
                    body,
                } => {
                    let apart = apart || self.in_expr(cond);
                    self.block(prelude, apart);
                    self.block(body, apart);
                }
                StmtKind::If {
                    cond,
                    then,
                    otherwise,
                } => {
                    let apart = apart || self.in_expr(cond);
                    self.block(then, apart);
                    self.block(otherwise, apart);
                }
                StmtKind::Once { body, .. } => self.block(body, true),
                StmtKind::Region { set, body, .. } => {
                    let Some(other) = set else {
                        self.block(body, true);
                        continue;
                    };
                    // What others do by themselves is theirs: each thread has locals of its own.
                    if other.meets(self.set) {
                        let all = self.set.threads().all(|tid| other.contains(tid));
                        self.block(body, apart || !all);
                    }
                }
                kind => {
                    for block in kind.blocks() {
                        self.block(block, apart);
                    }
                }
            }
        }
    }
}
