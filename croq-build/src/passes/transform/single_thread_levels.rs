//! Additional threads for blocks to which the program gives only one.
//!
//! A single level that uses shared memory and has no level annotation becomes a block for each
//! instance, with one thread as far as the program says. Operations of a block, copies and fills,
//! can be distributed over any number of threads. So can the iterations of a loop if they are
//! independent (`barriers::independent`). All other statements are the same for all threads or
//! executed by one of them already, as everywhere at block level, and the barrier pass applies as
//! usual.
//!
//! Where a loop stores something and its iterations cannot be proved independent, or where there is
//! opaque code, the block keeps its one thread: otherwise all threads would execute the loop and
//! wait for the one that stores.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::build;
use crate::ir::{
    BinOp, Expr, ExprKind, Function, Intrinsic, KernelId, Level, LocalId, Role, Scalar, Stmt,
    StmtKind, Visit, walk_block,
};
use crate::passes::transform::barriers;
use crate::source::Span;
use crate::symbolic::{Sym, Var};

/// The maximum number of threads; fewer if there is less work …
const MOST: i64 = 128;
/// … but at least a whole warp.
const LEAST: i64 = 32;

/// The note for the program, if the kernel is of this kind.
pub fn add(function: &mut Function, id: KernelId) -> Option<Diagnostic> {
    let kernel = function.kernels.get(id.index())?;
    let at = kernel.one_thread?;
    let note = Diagnostic::new(
        codes::N0524,
        at,
        "one level that uses shared memory: each instance is a block of its own",
    );
    let help = "write `: block` to say so, and add an inner `parallel` to say what the threads do";
    let bounded = kernel.attrs.launch_bounds.is_some_and(|b| b[0].is_some());
    let obstacle = match opaque(&kernel.body) {
        _ if bounded => Some((at, "`launch_bounds` says how many threads there are")),
        Some(span) => Some((span, "this may be for one thread")),
        None => None,
    };
    let threads = threads_for(&kernel.body).max(LEAST);
    let obstacle = function.with_kernel_body(id, |function, body| {
        let mut distribution = Distribution {
            function,
            kernel: body,
            threads,
            obstacle: None,
        };
        let shared = distribution.block(body);
        let obstacle = obstacle.or(distribution.obstacle);
        if obstacle.is_none() {
            *body = shared;
        }
        obstacle
    })?;
    if let Some((span, why)) = obstacle {
        let note = note.label("taken as `block`, with one thread each");
        return Some(note.also(span, why).help(help));
    }
    if let Some(kernel) = function.kernels.get_mut(id.index()) {
        kernel.threads = Sym::int(threads);
    }
    let label = format!("taken as `block`, with {threads} threads each");
    Some(note.label(label).help(help))
}

/// The number of elements of the largest tile, or of iterations of the longest nest of loops,
/// within bounds.
fn threads_for(body: &[Stmt]) -> i64 {
    let known = |count: &Sym| count.as_int().unwrap_or(MOST);
    let of = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Copy(copy) => known(&copy.dest.shape.iter().product()),
        StmtKind::Fill { view, .. } => known(&view.shape.iter().product()),
        StmtKind::For { lo, hi, body, .. } => {
            let iterations = known(&(hi - lo)).clamp(0, MOST);
            iterations.saturating_mul(threads_for(body).min(MOST))
        }
        StmtKind::While { body, .. } => threads_for(body),
        StmtKind::If {
            then, otherwise, ..
        } => threads_for(then).max(threads_for(otherwise)),
        _ => 1,
    };
    let most = body.iter().map(of).max().unwrap_or(1).clamp(1, MOST);
    let threads = u64::try_from(most).unwrap_or(1).next_power_of_two();
    i64::try_from(threads).unwrap_or(MOST)
}

/// Code that every thread would execute, and that may not be intended for several.
fn opaque(body: &[Stmt]) -> Option<Span> {
    struct Find(Option<Span>);
    impl Visit for Find {
        fn stmt(&mut self, stmt: &Stmt) {
            if matches!(stmt.kind, StmtKind::Cpp { .. } | StmtKind::Region { .. }) {
                self.0.get_or_insert(stmt.span);
            }
        }
        fn expr(&mut self, e: &Expr) {
            if matches!(
                &*e.kind,
                ExprKind::Call(_)
                    | ExprKind::Intrinsic(Intrinsic::Thread | Intrinsic::LaneAcross, _)
            ) {
                self.0.get_or_insert(e.span);
            }
        }
    }
    let mut find = Find(None);
    walk_block(body, &mut find);
    find.0
}

struct Distribution<'a> {
    function: &'a mut Function,
    kernel: &'a [Stmt],
    threads: i64,
    obstacle: Option<(Span, &'static str)>,
}

/// One loop of a nest.
struct Loop {
    local: LocalId,
    var: Var,
    lo: Sym,
    count: Sym,
}

impl Distribution<'_> {
    fn block(&mut self, stmts: &[Stmt]) -> Vec<Stmt> {
        stmts.iter().map(|stmt| self.stmt(stmt)).collect()
    }

    fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        let kind = match &stmt.kind {
            StmtKind::For {
                local,
                lo,
                hi,
                step,
                unroll,
                body,
            } => {
                if let Some(shared) = self.distributed_nest(stmt) {
                    return shared;
                }
                self.check_cooperative(body, stmt.span);
                StmtKind::For {
                    local: *local,
                    lo: lo.clone(),
                    hi: hi.clone(),
                    step: step.clone(),
                    unroll: *unroll,
                    body: self.block(body),
                }
            }
            StmtKind::While {
                prelude,
                cond,
                body,
            } => {
                self.check_cooperative(body, stmt.span);
                self.check_cooperative(prelude, stmt.span);
                StmtKind::While {
                    prelude: self.block(prelude),
                    cond: cond.clone(),
                    body: self.block(body),
                }
            }
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => StmtKind::If {
                cond: cond.clone(),
                then: self.block(then),
                otherwise: self.block(otherwise),
            },
            other => other.clone(),
        };
        Stmt::new(kind, stmt.span)
    }

    /// A loop that every thread executes should not consist mostly of work for a single thread.
    fn check_cooperative(&mut self, body: &[Stmt], span: Span) {
        let copies = body.iter().any(|s| matches!(s.kind, StmtKind::Copy(_)));
        if !copies && has_single_thread_work(body) && self.obstacle.is_none() {
            let why = "the iterations of this loop may depend on each other";
            self.obstacle = Some((span, why));
        }
    }

    /// Distributes the nest that begins here over all threads: as many of its loops as have
    /// independent iterations.
    fn distributed_nest(&mut self, stmt: &Stmt) -> Option<Stmt> {
        let mut nest: Vec<Loop> = Vec::new();
        let mut bodies: Vec<&[Stmt]> = Vec::new();
        let mut next = stmt;
        while let StmtKind::For {
            local,
            lo,
            hi,
            step,
            body,
            ..
        } = &next.kind
        {
            let var = self.function.locals.get(local.index()).and_then(|l| l.var);
            let cx = &self.function.cx;
            let mut count = hi - lo;
            if !cx.le(&Sym::zero(), &count).is_yes() {
                // The product of two negative counts must not be positive.
                count = cx.max(&count, &Sym::zero());
            }
            let rectangular = nest
                .iter()
                .all(|l| !count.contains(l.var) && !lo.contains(l.var));
            let Some(var) = var.filter(|_| step.is_one() && rectangular) else {
                break;
            };
            nest.push(Loop {
                local: *local,
                var,
                lo: lo.clone(),
                count,
            });
            bodies.push(body);
            match body.as_slice() {
                [inner] => next = inner,
                _ => break,
            }
        }
        while let Some(iteration) = bodies.pop() {
            let vars: Vec<Var> = nest.iter().map(|l| l.var).collect();
            if is_thread_independent(self.function, iteration)
                && barriers::independent(self.function, self.kernel, &vars, iteration)
            {
                return Some(self.distribute(&nest, iteration, stmt.span));
            }
            nest.pop();
        }
        None
    }

    /// Thread `e % threads` executes iteration `e`, where the innermost loop is the fastest.
    fn distribute(&mut self, nest: &[Loop], iteration: &[Stmt], span: Span) -> Stmt {
        let total: Sym = nest.iter().map(|l| &l.count).product();
        let threads = Sym::int(self.threads);
        let iteration: Vec<Stmt> = iteration
            .iter()
            .cloned()
            .flat_map(by_executing_thread)
            .collect();
        let bind = |local, value| {
            let value = Some(value);
            Stmt::new(StmtKind::Let { local, value }, span)
        };
        let f = &mut *self.function;
        let role = Role::Parallel(Level::Thread);
        let (local, thread) = build::index(f, "thread", role, Some(&threads), span);
        let id = Expr::intrinsic(Intrinsic::Thread, span);
        let mut body = vec![bind(local, id)];
        let numbers = |f: &Function, e: &Sym| {
            let mut below = Sym::one();
            let mut lets = Vec::new();
            for (at, l) in nest.iter().enumerate().rev() {
                let mut number = f.cx.div(e, &below);
                if at > 0 {
                    number = f.cx.rem(&number, &l.count);
                }
                below = &below * &l.count;
                lets.push(bind(l.local, Expr::index(&l.lo + &number, span)));
            }
            lets.reverse();
            lets
        };
        match nest {
            // At most one iteration for each thread.
            _ if f.cx.le(&total, &threads).is_yes() => {
                let mut once = numbers(f, &thread);
                once.extend(iteration);
                if total == threads {
                    body.extend(once);
                } else {
                    let (thread, total) = (Expr::index(thread, span), Expr::index(total, span));
                    let less = ExprKind::Binary(BinOp::Lt, thread, total);
                    let kind = StmtKind::If {
                        cond: Expr::new(less, Scalar::Bool, span),
                        then: once,
                        otherwise: Vec::new(),
                    };
                    body.push(Stmt::new(kind, span));
                }
            }
            // The loop itself, with another start.
            [only] => body.push(every(
                threads,
                only.local,
                &only.lo + &thread,
                &only.lo + &total,
                iteration,
                span,
            )),
            _ => {
                let (local, e) = build::index(f, "step", Role::Loop, Some(&total), span);
                let mut inside = numbers(f, &e);
                inside.extend(iteration);
                body.push(every(threads, local, thread, total, inside, span));
            }
        }
        let level = Level::Thread;
        Stmt::new(StmtKind::Parallel { level, body }, span)
    }
}

fn every(step: Sym, local: LocalId, lo: Sym, hi: Sym, body: Vec<Stmt>, span: Span) -> Stmt {
    let kind = StmtKind::For {
        local,
        lo,
        hi,
        step,
        unroll: None,
        body,
    };
    Stmt::new(kind, span)
}

/// Without the statements of inner loops.
fn has_single_thread_work(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::If {
            then, otherwise, ..
        } => has_single_thread_work(then) || has_single_thread_work(otherwise),
        StmtKind::SingleThread { .. } => true,
        _ => false,
    })
}

/// Whether any thread can execute the iteration: its only results are elements of shared and global
/// memory.
fn is_thread_independent(function: &Function, iteration: &[Stmt]) -> bool {
    let uses = crate::passes::analysis::uses::Uses::of_block(function, iteration);
    let local_memory = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Store { access, .. } => {
            let buffer = function.buffers.get(access.view.buffer.index());
            buffer.is_none_or(|b| b.storage.is_private())
        }
        _ => false,
    };
    let ok = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Assign { local, .. } => uses.declared.contains(local),
        StmtKind::Let { .. }
        | StmtKind::Store { .. }
        | StmtKind::Atomic(_)
        | StmtKind::For { .. }
        | StmtKind::While { .. }
        | StmtKind::If { .. }
        | StmtKind::SingleThread { .. }
        | StmtKind::Check { .. } => !local_memory(stmt),
        // In loops inside of the iteration; those of the iteration itself are tested below.
        StmtKind::Break | StmtKind::Continue => true,
        _ => false,
    };
    struct All<'a>(&'a dyn Fn(&Stmt) -> bool, bool);
    impl Visit for All<'_> {
        fn stmt(&mut self, stmt: &Stmt) {
            self.1 &= (self.0)(stmt);
        }
    }
    let mut all = All(&ok, true);
    walk_block(iteration, &mut all);
    all.1 && !iteration.iter().any(Stmt::leaves_iteration)
}

/// Work of one thread of the block becomes work of the thread that executes the iteration.
fn by_executing_thread(mut stmt: Stmt) -> Vec<Stmt> {
    let every = |stmts: &mut Vec<Stmt>| {
        *stmts = std::mem::take(stmts)
            .into_iter()
            .flat_map(by_executing_thread)
            .collect();
    };
    match &mut stmt.kind {
        StmtKind::SingleThread { body, .. } => {
            every(body);
            return std::mem::take(body);
        }
        StmtKind::For { body, .. } => every(body),
        StmtKind::While { prelude, body, .. } => {
            every(prelude);
            every(body);
        }
        StmtKind::If {
            then, otherwise, ..
        } => {
            every(then);
            every(otherwise);
        }
        _ => {}
    }
    vec![stmt]
}

#[cfg(test)]
mod tests {
    use super::add;
    use crate::ir::KernelId;
    use crate::sema::testing;

    /// The number of threads of a block for this body of a single level, and the reason if it is
    /// one.
    fn threads(body: &str) -> (i64, Option<String>) {
        let text = format!(
            "__co__ auto f(s32 [M, 64] x, s32 n) {{
               s32 [M, 64] y;
               parallel p by M {{
                 t = dma.copy x.subspan(1, 64).at(p, 0) => shared;
                 {body}
               }}
               return y;
             }}"
        );
        let mut function = testing::function(&text);
        let note = add(&mut function, KernelId(0)).expect("a note");
        let why = note.secondary.first().map(|l| l.text.clone());
        let threads = function.kernels[0].threads.as_int();
        (threads.expect("a number"), why)
    }

    #[test]
    fn independent_iterations_are_distributed() {
        for body in [
            "foreach i in [64] y.at(p, i) = t.data.at(0, i) + 1;",
            "foreach i in [64] y.at(p, 63 - i) = t.data.at(0, i);",
            "foreach i in [64] t.data.at(0, i) += 3;",
            "foreach {i, j} in [8, 8] y.at(p, i * 8 + j) = t.data.at(0, j * 8 + i);",
            // In the order of the loops or not.
            "foreach {i, j} in [8, 8] y.at(p, j * 8 + i) = t.data.at(0, 0);",
            // Only the outer loops.
            "foreach {i, j} in [8, 8] y.at(p, i) += t.data.at(0, j);",
            "foreach i in [64] { s32 s = 0; foreach k in [64] s = s + t.data.at(0, k); y.at(p, i) = s; }",
            "with i in 64 { foreach i(1:) if (i < n) y.at(p, i) = t.data.at(0, i - 1); }",
            "foreach k in [n] { foreach i in [64] t.data.at(0, i) *= 2; }",
            // Only the inner loop, in each iteration of the outer one.
            "foreach {i, j} in [8, 8] y.at(p, i + j) = t.data.at(0, j);",
            // Nothing is stored in the loop.
            "s32 s = 0; foreach i in [64] s = s + t.data.at(0, i); y.at(p, 0) = s;",
        ] {
            let (threads, why) = threads(body);
            assert!(threads >= 64 && why.is_none(), "{body}: {threads} {why:?}");
        }
        assert_eq!(
            threads("shared s32 [500] u; foreach i in [500] u.at(i) = 1;"),
            (128, None)
        );
    }

    #[test]
    fn dependent_iterations_keep_one_thread() {
        for body in [
            "with i in 64 { foreach i(1:) t.data.at(0, i) = t.data.at(0, i - 1); }",
            "foreach i in [63] t.data.at(0, i) = t.data.at(0, i + 1);",
            "foreach i in [64] y.at(p, 0) += t.data.at(0, i);",
            "foreach i in [64] y.at(p, i / 2) = t.data.at(0, i);",
            "foreach i in [64] { if (i == n) break; y.at(p, i) = t.data.at(0, i); }",
            "s32 s = 0; foreach i in [64] { s = s + t.data.at(0, i); y.at(p, i) = s; }",
            "foreach i in [64] println(t.data.at(0, i));",
        ] {
            let why = "the iterations of this loop may depend on each other";
            assert_eq!(threads(body), (1, Some(why.to_owned())), "{body}");
        }
        let why = "this may be for one thread";
        assert_eq!(
            threads("__cpp__(\"int u = 1;\");"),
            (1, Some(why.to_owned()))
        );
    }
}
