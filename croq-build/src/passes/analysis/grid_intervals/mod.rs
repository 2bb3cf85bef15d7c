//! Loads of device memory whose element is not written between the two grid barriers around them.
//!
//! Such a load has the same value in all threads of the grid. The walk visits the statements with
//! two sets of facts: the accesses since the last grid barrier, and the values of locals, where
//! these are sums of constants, sizes, and what a loop adds in each iteration. With these,
//! `changes.at(turn)` after the barrier is known to be a different element than the one that the
//! next iteration writes.

use crate::ir::{
    Access, BarrierScope, BinOp, BufferId, Expr, ExprKind, Function, Kernel, LocalId, MmaOp,
    Scalar, Stmt, StmtKind, VarHome, Visit, any_stmt, walk_block, walk_exprs,
};
use crate::sorted::{SortedMap, SortedSet};
use crate::symbolic::{Atom, Sym};

mod value;

pub use value::{LoadId, load_id};
use value::{PastAccess, Term, Value, at_next_head};

/// Iterations of the analysis after which each access of a loop counts as an access to any element.
const MOST_ROUNDS: usize = 4;
/// The maximum number of statements analysed; for a kernel with more, no load is listed.
const MOST_STATEMENTS: usize = 200_000;

/// The loads. `written`: the buffers that the launch writes; loads of other buffers are not listed.
pub fn stable_loads(
    function: &Function,
    kernel: &Kernel,
    written: &SortedSet<BufferId>,
) -> SortedSet<LoadId> {
    let is_barrier = |s: &Stmt| {
        matches!(
            s.kind,
            StmtKind::Barrier {
                scope: BarrierScope::Grid,
                ..
            }
        )
    };
    if !any_stmt(&kernel.body, is_barrier) {
        return SortedSet::new();
    }
    let mut late_writes = AsyncWrites::default();
    walk_block(&kernel.body, &mut late_writes);
    let mut walk = Walk {
        function,
        written,
        declared: assigned(&kernel.body),
        loads: SortedSet::new(),
        unstable: SortedSet::new(),
        history: Vec::new(),
        depth: 0,
        steps: 0,
    };
    walk.block(&kernel.body, &mut Path::default());
    if walk.steps > MOST_STATEMENTS {
        return SortedSet::new();
    }
    let loads = walk.loads.difference(&walk.unstable).copied();
    loads
        .filter(|load| !late_writes.0.contains(&load.0))
        .collect()
}

/// Buffers that an asynchronous copy may still write after the next barrier.
#[derive(Default)]
struct AsyncWrites(SortedSet<BufferId>);

impl Visit for AsyncWrites {
    fn stmt(&mut self, stmt: &Stmt) {
        if let StmtKind::Copy(copy) = &stmt.kind
            && (copy.future.is_some() || !copy.engine.is_threads())
        {
            self.0.insert(copy.dest.buffer);
        }
    }
}

/// The facts at one statement.
#[derive(Clone, Default)]
struct Path {
    values: SortedMap<LocalId, Value>,
    past: SortedSet<PastAccess>,
}

struct Walk<'a> {
    function: &'a Function,
    written: &'a SortedSet<BufferId>,
    /// Locals of the kernel itself.
    declared: SortedSet<LocalId>,
    loads: SortedSet<LoadId>,
    unstable: SortedSet<LoadId>,
    /// All accesses so far, for iterations that end early.
    history: Vec<PastAccess>,
    depth: usize,
    steps: usize,
}

/// Accesses of a statement or an expression.
#[derive(Default)]
struct Found(Vec<(Option<LoadId>, BufferId, Sym)>);

impl Visit for Found {
    fn access(&mut self, access: &Access, written: bool) {
        let load = (!written).then(|| load_id(access));
        self.0.push((load, access.view.buffer, access.address()));
    }
}

impl Walk<'_> {
    fn block(&mut self, stmts: &[Stmt], path: &mut Path) {
        for stmt in stmts {
            self.steps += 1;
            if self.steps > MOST_STATEMENTS {
                return;
            }
            self.stmt(stmt, path);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, path: &mut Path) {
        match &stmt.kind {
            StmtKind::Barrier {
                scope: BarrierScope::Grid,
                ..
            } => path.past.clear(),
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => {
                self.expr(cond, path);
                let mut other = path.clone();
                self.block(then, path);
                self.block(otherwise, &mut other);
                self.join(path, other);
            }
            StmtKind::For {
                local,
                lo,
                step,
                body,
                ..
            } => {
                let first = self.of_sym(lo, path).filter(|_| step.as_int().is_some());
                let counts = first.zip(step.as_int());
                if let Some((first, _)) = &counts {
                    path.values.insert(*local, first.clone());
                }
                let counts = counts.map(|(_, step)| (*local, step));
                self.iterate(path, &[], None, body, counts);
            }
            StmtKind::While {
                prelude,
                cond,
                body,
            } => self.iterate(path, prelude, Some(cond), body, None),
            StmtKind::Region {
                pred, elected_from, ..
            } => {
                self.expr(pred, path);
                if let Some((lanes, _)) = elected_from {
                    self.expr(lanes, path);
                }
                self.optional(stmt, path);
            }
            StmtKind::SingleThread { .. } => self.optional(stmt, path),
            StmtKind::Parallel { body, .. } => self.block(body, path),
            StmtKind::Mma(op) if op.body().is_some() => {
                // The fragment determines the number of iterations.
                let inside = op.body().map_or(&[][..], |body| body);
                self.iterate(path, &[], None, inside, None);
            }
            _ => self.leaf(stmt, path),
        }
    }

    fn optional(&mut self, stmt: &Stmt, path: &mut Path) {
        let mut inside = path.clone();
        stmt.kind.blocks().for_each(|b| self.block(b, &mut inside));
        self.join(path, inside);
    }

    fn leaf(&mut self, stmt: &Stmt, path: &mut Path) {
        let mut found = Found::default();
        walk_block(std::slice::from_ref(stmt), &mut found);
        self.note(found, path);
        let whole = match &stmt.kind {
            StmtKind::Copy(copy) => vec![copy.dest.buffer],
            StmtKind::Fill { view, .. } => vec![view.buffer],
            StmtKind::Mma(op) => {
                let written = op.views().into_iter().filter(|(_, written)| *written);
                written.map(|(view, _)| view.buffer).collect()
            }
            _ => Vec::new(),
        };
        for buffer in whole {
            let (load, at) = (None, None);
            self.add(PastAccess { buffer, load, at }, path);
        }
        match &stmt.kind {
            StmtKind::Let { local, value } => {
                let value = value.as_ref().and_then(|e| self.of_expr(e, path));
                set(path, *local, value);
            }
            StmtKind::Assign { local, value } => {
                let value = self.of_expr(value, path);
                set(path, *local, value);
            }
            StmtKind::Atomic(atomic) => {
                if let Some(local) = atomic.result {
                    set(path, local, None);
                }
            }
            _ => {}
        }
        // C++ code may assign to any local.
        if matches!(stmt.kind, StmtKind::Cpp { .. }) || calls(stmt) {
            path.values.clear();
        }
    }

    fn expr(&mut self, e: &Expr, path: &mut Path) {
        let mut found = Found::default();
        walk_exprs(e, &mut found);
        self.note(found, path);
    }

    fn note(&mut self, found: Found, path: &mut Path) {
        // The loads of a statement precede its writes.
        let (loads, writes): (Vec<_>, Vec<_>) = found.0.into_iter().partition(|f| f.0.is_some());
        for (load, buffer, address) in loads.into_iter().chain(writes) {
            let at = self.of_sym(&address, path);
            self.add(PastAccess { buffer, load, at }, path);
        }
    }

    fn add(&mut self, past: PastAccess, path: &mut Path) {
        if !self.written.contains(&past.buffer) {
            return;
        }
        self.loads.extend(past.load);
        for other in path.past.iter().filter(|other| past.conflicts_with(other)) {
            self.unstable.extend(past.load.or(other.load));
        }
        self.history.push(past.clone());
        path.past.insert(past);
    }

    /// After a branch: some threads took one path, the others the other.
    fn join(&mut self, path: &mut Path, other: Path) {
        for a in &path.past {
            for b in other.past.iter().filter(|b| a.conflicts_with(b)) {
                self.unstable.extend(a.load.or(b.load));
            }
        }
        path.past.extend(other.past);
        path.values
            .retain(|local, value| other.values.get(local) == Some(value));
    }

    /// `counts`: the variable of a `for`, and its step.
    fn iterate(
        &mut self,
        path: &mut Path,
        prelude: &[Stmt],
        cond: Option<&Expr>,
        body: &[Stmt],
        counts: Option<(LocalId, i64)>,
    ) {
        self.depth += 1;
        let depth = self.depth;
        let mut changed = assigned(prelude);
        changed.extend(assigned(body));
        changed.extend(counts.map(|(local, _)| local));
        let tracked = changed.iter().filter(|l| path.values.contains_key(l));
        let mut tracked: SortedSet<LocalId> = tracked.copied().collect();
        path.values.retain(|local, _| !changed.contains(local));
        let leaves = body.iter().any(Stmt::leaves_iteration);
        let mut head = path.past.clone();
        let mut rounds = 0;
        let at_exit = loop {
            rounds += 1;
            let start = self.at_head(path, &tracked, &head);
            let (mark, mut now) = (self.history.len(), start);
            self.block(prelude, &mut now);
            cond.into_iter().for_each(|cond| self.expr(cond, &mut now));
            let mut exit = now.past.clone();
            self.block(body, &mut now);
            if leaves {
                let all = self
                    .history
                    .iter()
                    .skip(mark)
                    .cloned()
                    .map(PastAccess::anywhere);
                now.past.extend(all);
                now.values.retain(|local, _| !changed.contains(local));
                exit.extend(now.past.iter().cloned());
            }
            if let Some((local, step)) = counts
                && let Some(next) = Value::term(Term::Head(depth, local)).plus(&Value::int(step), 1)
            {
                now.values.insert(local, next);
            }
            let known = tracked.iter().filter(|l| now.values.contains_key(l));
            let known: SortedSet<LocalId> = known.copied().collect();
            if known != tracked {
                // The value of a local that is no longer tracked may differ between threads.
                tracked = known;
                head = path.past.clone();
                continue;
            }
            let next = now.past.iter().map(|p| at_next_head(p, depth, &now.values));
            let next = next.map(|p| match rounds > MOST_ROUNDS {
                true => p.anywhere(),
                false => p,
            });
            let known = head.len();
            head.extend(next);
            if head.len() == known || self.steps > MOST_STATEMENTS {
                break exit;
            }
        };
        self.depth -= 1;
        // A `for` loop is left at its head.
        let exit = at_exit.into_iter().chain(head);
        path.past = exit
            .map(
                |p| match p.at.as_ref().is_some_and(|at| at.is_of_loop(depth)) {
                    true => p.anywhere(),
                    false => p,
                },
            )
            .collect();
    }

    fn at_head(
        &self,
        path: &Path,
        tracked: &SortedSet<LocalId>,
        past: &SortedSet<PastAccess>,
    ) -> Path {
        let mut values = path.values.clone();
        let heads = tracked.iter().map(|l| (*l, Term::Head(self.depth, *l)));
        values.extend(heads.map(|(local, term)| (local, Value::term(term))));
        Path {
            values,
            past: past.clone(),
        }
    }

    fn of_sym(&self, sym: &Sym, path: &Path) -> Option<Value> {
        let mut sum = Value::default();
        for (coefficient, atoms) in sym.terms() {
            let value = match atoms {
                [] => Value::int(1),
                [Atom::Var(var)] => match self.function.var_home.get(var)? {
                    VarHome::Local(id) if self.declared.contains(id) => {
                        path.values.get(id)?.clone()
                    }
                    _ => Value::term(Term::Fixed(*var)),
                },
                _ => return None,
            };
            sum = sum.plus(&value, coefficient)?;
        }
        Some(sum)
    }

    fn of_expr(&self, e: &Expr, path: &Path) -> Option<Value> {
        let is_wide = |ty: Scalar| !ty.is_float() && ty.bytes() >= 4;
        if !is_wide(e.ty) {
            return None;
        }
        match &*e.kind {
            ExprKind::Int(value) => i64::try_from(*value).ok().map(Value::int),
            ExprKind::Index(sym) => self.of_sym(sym, path),
            ExprKind::Local(id) if self.declared.contains(id) => path.values.get(id).cloned(),
            ExprKind::Cast(inner) if is_wide(inner.ty) => self.of_expr(inner, path),
            ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) => {
                let sign = if *op == BinOp::Add { 1 } else { -1 };
                self.of_expr(a, path)?.plus(&self.of_expr(b, path)?, sign)
            }
            _ => None,
        }
    }
}

fn set(path: &mut Path, local: LocalId, value: Option<Value>) {
    match value {
        Some(value) => drop(path.values.insert(local, value)),
        None => drop(path.values.remove(&local)),
    }
}

/// Locals that are declared or assigned.
fn assigned(stmts: &[Stmt]) -> SortedSet<LocalId> {
    struct Find(SortedSet<LocalId>);
    impl Visit for Find {
        fn stmt(&mut self, stmt: &Stmt) {
            match &stmt.kind {
                StmtKind::Let { local, .. }
                | StmtKind::Assign { local, .. }
                | StmtKind::For { local, .. } => drop(self.0.insert(*local)),
                StmtKind::Atomic(atomic) => self.0.extend(atomic.result),
                StmtKind::Mma(op) => {
                    if let MmaOp::Apply { indices, .. } = &**op {
                        self.0.extend(indices);
                    }
                }
                _ => {}
            }
        }
    }
    let mut find = Find(SortedSet::new());
    walk_block(stmts, &mut find);
    find.0
}

fn calls(stmt: &Stmt) -> bool {
    struct Find(bool);
    impl Visit for Find {
        fn expr(&mut self, e: &Expr) {
            self.0 |= matches!(*e.kind, ExprKind::Call(_));
        }
    }
    let mut find = Find(false);
    walk_block(std::slice::from_ref(stmt), &mut find);
    find.0
}
