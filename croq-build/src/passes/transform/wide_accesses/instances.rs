//! Neighbouring instances become one thread.
//!
//! Thread `h` of `T` in the new block `b` takes the threads `W · (h % (T / W)) + 0 .. W` of the old
//! block `W · b + h / (T / W)`. All names of a kernel's blocks and threads are expressions in the
//! two numbers, so new expressions take their place wherever they are used, folded again: of
//! `128 · block + thread` remains `512 · block + 4 · thread + position`. With `V` vectors, the new
//! block takes `V` times as many old ones, and vector `v` of the thread is of `W` of them.

use super::group::{Group, Numbers};
use super::survey::{self, Positions, conjuncts};
use crate::ir::build;
use crate::ir::{
    Access, BinOp, Expr, ExprKind, Flow, Function, Intrinsic, Kernel, KernelId, Level, LocalId, ON,
    Role, Scalar, Stmt, StmtKind, Visitor, VisitorMut, any_in, walk, walk_mut,
};
use crate::sorted::SortedMap;
use crate::symbolic::{Sym, Var};

/// The kernel with groups of `width` instances, several of them in a thread; `None` if its accesses
/// do not form vectors.
pub(super) fn grouped(
    function: &mut Function,
    id: KernelId,
    (width, vectors): (i64, i64),
    threads: i64,
) -> Option<Kernel> {
    let mut kernel = function.kernels.get(id.index())?.clone();
    let span = kernel.span;
    let (last, before) = kernel.body.split_last()?;
    let StmtKind::Parallel { body, .. } = &last.kind else {
        return None;
    };
    let [x, _, _] = &kernel.grid;
    let (blocks, count) = (x.clone(), function.cx.cdiv(x, &Sym::int(width * vectors)));
    let index = |function: &mut Function, name, level, count: &Sym| {
        build::index(function, name, Role::Parallel(level), Some(count), span)
    };
    let (block_local, block) = index(function, "block", Level::Block, &count);
    let (thread_local, thread) = index(function, "thread", Level::Thread, &Sym::int(threads));
    let mut numbers = |name, count| {
        let (local, value) = build::index(function, name, Role::Loop, Some(&Sym::int(count)), span);
        let var = value.as_var()?;
        Some((Numbers { local, var, count }, value))
    };
    let (position, at) = numbers("at", width)?;
    let (vector, part) = match vectors {
        1 => (None, Sym::zero()),
        _ => numbers("part", vectors).map(|(vector, part)| (Some(vector), part))?,
    };
    let numbers = [&block, &thread, &at, &part];
    let numbers: Vec<Var> = numbers.into_iter().filter_map(Sym::as_var).collect();
    let cx = &function.cx;
    let share = Sym::int(threads / width);
    let old_block =
        cx.simplify(&(&block * (width * vectors) + &part * width + cx.div(&thread, &share)));
    let old_thread = cx.simplify(&(cx.rem(&thread, &share) * width + &at));
    let excluded = excludes(function, before, body, &blocks);
    let mut instances = Instances {
        function,
        block: old_block.clone(),
        thread: old_thread,
        values: SortedMap::new(),
        complete: true,
    };
    let mut statements = [before, body].concat();
    instances.names(&mut statements);
    let _ = instances.block(&mut statements);
    if !instances.complete || names_instances(&statements) || computes_with(&statements, &numbers) {
        return None;
    }
    // Everything that the blocks beyond the last would do is inside of the condition.
    let excluded = excluded && matches!(statements.as_slice(), [only] if !tests_elements(only));
    let whole = Sym::int(width * vectors);
    if !excluded && !instances.function.cx.divides(&whole, &blocks).is_yes() {
        let (old, all) = (Expr::index(old_block, span), Expr::index(blocks, span));
        let is_block = Expr::binary(BinOp::Lt, old, all, span);
        statements = vec![Stmt::new(build::only_if(is_block, statements), last.span)];
    }
    let written = survey::written(&statements);
    let mut group = Group {
        function,
        position,
        vector,
        written,
        positions: Positions::Instances,
    };
    let mut grouped = group.statements(&statements)?;
    let number = |of| Expr::intrinsic(of, span);
    let thread = build::declare(thread_local, number(Intrinsic::Thread));
    grouped.insert(0, thread);
    let parallel = StmtKind::Parallel {
        level: Level::Thread,
        body: grouped,
    };
    let parallel = Stmt::new(parallel, last.span);
    let block = build::declare(block_local, number(Intrinsic::Block(0)));
    kernel.body = vec![block, parallel];
    if let Some(x) = kernel.grid.first_mut() {
        *x = count;
    }
    Some(kernel)
}

/// Whether the condition around all statements of a thread excludes the blocks beyond the last.
fn excludes(function: &mut Function, before: &[Stmt], body: &[Stmt], blocks: &Sym) -> bool {
    let is_number = |stmt: &&Stmt| {
        let StmtKind::Let {
            value: Some(value), ..
        } = &stmt.kind
        else {
            return false;
        };
        any_block(value)
    };
    let mut numbers = before.iter().chain(body).filter(is_number);
    let (Some(only), None) = (numbers.next(), numbers.next()) else {
        return false;
    };
    let StmtKind::Let {
        local,
        value: Some(value),
    } = &only.kind
    else {
        return false;
    };
    let var = function.locals.get(local.index()).and_then(|l| l.var);
    let (ExprKind::Intrinsic(..), Some(var)) = (&*value.kind, var) else {
        return false;
    };
    let rest: Vec<&Stmt> = body
        .iter()
        .filter(|s| !matches!(s.kind, StmtKind::Let { .. }))
        .collect();
    let [only] = rest.as_slice() else {
        return false;
    };
    let StmtKind::If {
        cond, otherwise, ..
    } = &only.kind
    else {
        return false;
    };
    let beyond = Sym::var(function.cx.new_var("beyond", Some(blocks.clone()), None));
    let cx = &function.cx;
    let is_false = |cond: &Expr| match &*cond.kind {
        ExprKind::Binary(BinOp::Lt, a, b) => match (&*a.kind, &*b.kind) {
            (ExprKind::Index(a), ExprKind::Index(b)) => {
                let [a, b] = [a, b].map(|sym| cx.substituted(sym, var, &beyond));
                cx.le(&b, &a).is_yes()
            }
            _ => false,
        },
        _ => false,
    };
    otherwise.is_empty() && conjuncts(cond).into_iter().any(is_false)
}

/// Whether elements decide about a branch.
fn tests_elements(stmt: &Stmt) -> bool {
    let StmtKind::If { cond, .. } = &stmt.kind else {
        return false;
    };
    crate::ir::any_expr(cond, |e| matches!(&*e.kind, ExprKind::Load(_)))
}

fn any_block(value: &Expr) -> bool {
    crate::ir::any_expr(value, |e| {
        matches!(&*e.kind, ExprKind::Intrinsic(Intrinsic::Block(0), _))
    })
}

/// Whether the number of a thread, or of a block along x, is left.
fn names_instances(stmts: &[Stmt]) -> bool {
    let is_number = |e: &Expr| {
        matches!(
            &*e.kind,
            ExprKind::Intrinsic(Intrinsic::Thread | Intrinsic::Block(0), _)
        )
    };
    any_in(stmts, |_| false, is_number)
}

/// Whether a value is computed from the number of an instance, other than a place in memory or an
/// operand of a condition. The integers of such a value have limits that the host checks, for the
/// instances that there are: their numbers must remain those of the program.
fn computes_with(stmts: &[Stmt], numbers: &[Var]) -> bool {
    struct Values<'a>(&'a [Var]);
    impl Visitor for Values<'_> {
        fn stmt(&mut self, stmt: &Stmt) -> Flow {
            match &stmt.kind {
                StmtKind::Check { .. } => ON,
                StmtKind::If {
                    cond,
                    then,
                    otherwise,
                } => {
                    for cond in conjuncts(cond) {
                        match &*cond.kind {
                            ExprKind::Binary(_, a, b) => {
                                let is_number = |e: &Expr| matches!(&*e.kind, ExprKind::Index(_));
                                let mut operands = [a, b].into_iter().filter(|e| !is_number(e));
                                operands.try_for_each(|e| self.expr(e))?;
                            }
                            _ => self.expr(cond)?,
                        }
                    }
                    self.block(then)?;
                    self.block(otherwise)
                }
                StmtKind::For { body, .. } => self.block(body),
                _ => walk::stmt(self, stmt),
            }
        }
        fn access(&mut self, _access: &Access, _written: bool) -> Flow {
            ON
        }
        fn sym(&mut self, sym: &Sym) -> Flow {
            match self.0.iter().any(|number| sym.contains(*number)) {
                true => Flow::Break(()),
                false => ON,
            }
        }
    }
    Values(numbers).block(stmts).is_break()
}

/// Replaces names of blocks and threads by their values.
struct Instances<'a> {
    function: &'a Function,
    block: Sym,
    thread: Sym,
    values: SortedMap<Var, Sym>,
    /// No name remains that another value must replace.
    complete: bool,
}

impl Instances<'_> {
    /// Removes statements that only name integers, and keeps their values.
    fn names(&mut self, stmts: &mut Vec<Stmt>) {
        stmts.retain_mut(|stmt| {
            stmt.kind.blocks_mut().for_each(|inner| self.names(inner));
            let StmtKind::Let {
                local,
                value: Some(value),
            } = &stmt.kind
            else {
                return true;
            };
            let local = self.function.locals.get(local.index());
            let integer = local.filter(|l| l.ty == Scalar::Index && !l.mutable);
            let named = integer.and_then(|l| Some((l.var?, self.value(value)?)));
            self.values.extend(named.clone());
            named.is_none()
        });
    }

    fn value(&self, value: &Expr) -> Option<Sym> {
        let cx = &self.function.cx;
        let value = match &*value.kind {
            ExprKind::Index(sym) => self.replaced(sym),
            ExprKind::Intrinsic(Intrinsic::Thread, _) => self.thread.clone(),
            ExprKind::Intrinsic(Intrinsic::Block(0), _) => self.block.clone(),
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                match op {
                    BinOp::Add => a + &b,
                    BinOp::Mul => a * &b,
                    BinOp::Div if cx.lt(&Sym::zero(), &b).is_yes() => cx.div(&a, &b),
                    BinOp::Rem if cx.lt(&Sym::zero(), &b).is_yes() => cx.rem(&a, &b),
                    _ => return None,
                }
            }
            _ => return None,
        };
        (!value.is_poison()).then_some(value)
    }

    fn replaced(&self, sym: &Sym) -> Sym {
        let cx = &self.function.cx;
        let mut all = sym.clone();
        for var in sym.sorted_vars() {
            if let Some(value) = self.values.get(var) {
                all = cx.substituted(&all, *var, value);
            }
        }
        match all == *sym {
            true => all,
            false => cx.simplify(&all),
        }
    }

    fn value_of(&self, local: LocalId) -> Option<&Sym> {
        let var = self.function.locals.get(local.index())?.var?;
        self.values.get(&var)
    }
}

impl VisitorMut for Instances<'_> {
    fn expr(&mut self, expr: &mut Expr) -> Flow {
        if let ExprKind::Local(local) = &*expr.kind
            && let Some(value) = self.value_of(*local)
        {
            *expr = Expr::index(value.clone(), expr.span);
            return ON;
        }
        walk_mut::expr(self, expr)
    }

    fn sym(&mut self, sym: &mut Sym) -> Flow {
        let replaced = self.replaced(sym);
        self.complete &= !replaced.is_poison();
        *sym = replaced;
        ON
    }
}
