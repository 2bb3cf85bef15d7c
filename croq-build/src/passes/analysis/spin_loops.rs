//! Loops of a kernel that may wait for memory that other threads write (spin loops).
//!
//! A loop may do so if its continuation depends on an element that the kernel writes, or on the
//! result of an atomic operation. On the simulated GPU the threads of such a kernel are
//! interleaved, and those of several blocks if the memory is device memory: otherwise the thread
//! for which the loop waits might never run.
//!
//! Dependence is followed through locals and conditions, without regard to order. The result is
//! conservative; a false positive costs only speed on the simulated GPU.

use crate::ir::threads::{Function, Kernel, Stmt, StmtKind};
use crate::ir::{
    Access, Arg, BufferId, Expr, ExprKind, LocalId, Threads, VarHome, View, Visit, any_expr,
    walk_block, walk_exprs,
};
use crate::sorted::SortedSet;
use crate::symbolic::Sym;

/// The spin loops of a kernel.
#[derive(Debug, Default)]
pub struct Spins {
    /// Some loop may wait for another thread.
    pub any: bool,
    /// Some loop may wait for a thread of another block.
    pub global: bool,
    written: SortedSet<BufferId>,
    locals: SortedSet<LocalId>,
}

impl Spins {
    pub fn of(function: &Function, kernel: &Kernel) -> Self {
        let of_shared = Self::through(function, kernel, |_| true);
        if !of_shared.any {
            return of_shared;
        }
        let global = |id| function.buffer(id).storage.is_global();
        let of_global = Self::through(function, kernel, global);
        Self {
            global: of_global.any,
            ..of_shared
        }
    }

    fn through(function: &Function, kernel: &Kernel, counts: impl Fn(BufferId) -> bool) -> Self {
        let mut written = Written::default();
        walk_block(&kernel.body, &mut written);
        let shared = |id: &BufferId| !function.buffer(*id).storage.is_private();
        let mut walk = Walk {
            function,
            spins: Spins {
                written: (written.0.into_iter())
                    .filter(|id| shared(id) && counts(*id))
                    .collect(),
                ..Spins::default()
            },
        };
        loop {
            let before = walk.spins.locals.len();
            walk.block(&kernel.body, false);
            if walk.spins.locals.len() == before {
                return walk.spins;
            }
        }
    }

    /// Whether this `while` may wait for memory.
    pub fn waits(&self, function: &Function, prelude: &[Stmt], cond: &Expr, body: &[Stmt]) -> bool {
        let depends = |e: &Expr| self.depends(function, e);
        depends(cond) || leaves(prelude, &depends, false) || leaves(body, &depends, false)
    }

    fn depends(&self, function: &Function, expr: &Expr) -> bool {
        let mut find = Find {
            spins: self,
            function,
            found: false,
        };
        walk_exprs(expr, &mut find);
        find.found
    }
}

/// The locals that one iteration of a loop passes to the next, if its only other effects are those
/// of its atomic operations.
pub fn carried(prelude: &[Stmt], body: &[Stmt]) -> Option<Vec<LocalId>> {
    let (mut declared, mut assigned) = (SortedSet::new(), SortedSet::new());
    let pure = is_pure(prelude, &mut declared, &mut assigned)
        && is_pure(body, &mut declared, &mut assigned);
    pure.then(|| assigned.difference(&declared).copied().collect())
}

fn is_pure(
    block: &[Stmt],
    declared: &mut SortedSet<LocalId>,
    assigned: &mut SortedSet<LocalId>,
) -> bool {
    block.iter().all(|stmt| match &stmt.kind {
        StmtKind::Let { local, value } => {
            declared.insert(*local);
            value.as_ref().is_none_or(calls_nothing)
        }
        StmtKind::Assign { local, value } => {
            assigned.insert(*local);
            calls_nothing(value)
        }
        StmtKind::Atomic(atomic) => {
            declared.extend(atomic.result);
            atomic.operands().all(calls_nothing)
        }
        StmtKind::If {
            cond,
            then,
            otherwise,
        } => {
            calls_nothing(cond)
                && is_pure(then, declared, assigned)
                && is_pure(otherwise, declared, assigned)
        }
        StmtKind::Check { cond, .. } => calls_nothing(cond),
        StmtKind::Break | StmtKind::Continue | StmtKind::Yield | StmtKind::Fence(_) => true,
        _ => false,
    })
}

fn calls_nothing(expr: &Expr) -> bool {
    !any_expr(expr, |expr| matches!(&*expr.kind, ExprKind::Call(_)))
}

/// Whether a statement leaves the loop around `block` under a condition that depends on memory.
fn leaves(block: &[Stmt], depends: &dyn Fn(&Expr) -> bool, under: bool) -> bool {
    block.iter().any(|stmt| match &stmt.kind {
        StmtKind::Break | StmtKind::Yield => under,
        StmtKind::If {
            cond,
            then,
            otherwise,
        } => {
            let under = under || depends(cond);
            leaves(then, depends, under) || leaves(otherwise, depends, under)
        }
        // A `break` in it leaves the inner loop.
        StmtKind::For { .. } | StmtKind::While { .. } => false,
        kind => (kind.blocks()).any(|block| leaves(block, depends, under)),
    })
}

/// The buffers that a kernel writes, or passes to a call.
#[derive(Default)]
struct Written(SortedSet<BufferId>);

impl Visit<Threads> for Written {
    fn access(&mut self, access: &Access, written: bool) {
        if written {
            self.0.insert(access.view.buffer);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        if let StmtKind::Tma(op) = &stmt.kind {
            self.0.extend(op.buffers());
        }
    }

    fn view(&mut self, view: &View) {
        self.0.insert(view.buffer);
    }
}

struct Walk<'a> {
    function: &'a Function,
    spins: Spins,
}

impl Walk<'_> {
    fn depends(&self, expr: &Expr) -> bool {
        self.spins.depends(self.function, expr)
    }

    /// `under`: an enclosing condition depends on memory.
    fn block(&mut self, block: &[Stmt], under: bool) {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Let {
                    local,
                    value: Some(value),
                }
                | StmtKind::Assign { local, value } => {
                    if under || self.depends(value) {
                        self.spins.locals.insert(*local);
                    }
                }
                StmtKind::Atomic(atomic) => {
                    let is_written = self.spins.written.contains(&atomic.access.view.buffer);
                    self.spins
                        .locals
                        .extend(atomic.result.filter(|_| is_written));
                }
                StmtKind::If { cond, .. } => {
                    let under = under || self.depends(cond);
                    stmt.kind
                        .blocks()
                        .for_each(|block| self.block(block, under));
                }
                StmtKind::While {
                    prelude,
                    cond,
                    body,
                } => {
                    let waits = self.spins.waits(self.function, prelude, cond, body);
                    self.spins.any |= waits;
                    let under = under || waits;
                    self.block(prelude, under);
                    self.block(body, under);
                }
                kind => kind.blocks().for_each(|block| self.block(block, under)),
            }
        }
    }
}

struct Find<'a> {
    spins: &'a Spins,
    function: &'a Function,
    found: bool,
}

impl Visit<Threads> for Find<'_> {
    fn expr(&mut self, expr: &Expr) {
        self.found |= match &*expr.kind {
            ExprKind::Local(id) => self.spins.locals.contains(id),
            ExprKind::Call(call) => call.args.iter().any(|arg| matches!(arg, Arg::Pointer(_))),
            _ => false,
        };
    }

    fn sym(&mut self, sym: &Sym) {
        self.found |= sym.sorted_vars().iter().any(|var| {
            let home = self.function.var_home.get(var);
            matches!(home, Some(VarHome::Local(id)) if self.spins.locals.contains(id))
        });
    }

    fn access(&mut self, access: &Access, _written: bool) {
        self.found |= self.spins.written.contains(&access.view.buffer);
    }
}
