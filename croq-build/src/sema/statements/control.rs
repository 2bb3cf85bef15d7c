//! `if`, `while`, `inthreads`, barriers, `yield`, `__cpp__`.

use crate::diagnostics::Diagnostic;
use crate::ir::{
    BarrierReason, BarrierScope, BinOp, CppName, Expr, ExprKind, FenceScope, Level, Role, Scalar,
    Stmt, StmtKind, ThreadSet, UnOp,
};
use crate::sema::Checker;
use crate::sema::names::scope::Entity;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast;

impl Checker<'_> {
    pub(crate) fn if_stmt(
        &mut self,
        cond: &ast::Expr,
        then: &ast::Block,
        otherwise: Option<&ast::Block>,
        span: Span,
    ) {
        let Some(cond) = self.condition(cond) else {
            self.block(then);
            if let Some(b) = otherwise {
                self.block(b);
            }
            return;
        };
        let arms = self.scopes.condition();
        let decided = self.decided(&cond);
        let divergent = self.varies_in_block(&cond);
        self.diverge(divergent, 1);
        self.scopes.enter_arm(arms, true);
        let ((), yes) = self.assuming(&cond, true, decided == Some(false), |s| s.block(then));
        self.scopes.leave_arm();
        self.scopes.enter_arm(arms, false);
        let ((), no) = self.assuming(&cond, false, decided == Some(true), |s| {
            if let Some(b) = otherwise {
                s.block(b);
            }
        });
        self.scopes.leave_arm();
        self.diverge(divergent, -1);
        match decided {
            Some(true) => self.splice(yes),
            Some(false) => self.splice(no),
            None => {
                self.emit(
                    StmtKind::If {
                        cond: cond.clone(),
                        then: yes.clone(),
                        otherwise: no.clone(),
                    },
                    span,
                );
                // What follows an `if` that always leaves runs only when its condition failed.
                if leaves(&yes) && !leaves(&no) {
                    self.assume(&cond, false);
                } else if leaves(&no) && !leaves(&yes) && !no.is_empty() {
                    self.assume(&cond, true);
                }
            }
        }
    }

    fn splice(&mut self, stmts: Vec<Stmt>) {
        if let Some(sink) = self.sinks.last_mut() {
            sink.extend(stmts);
        }
    }

    fn diverge(&mut self, divergent: bool, by: i32) {
        if let (true, Some(k)) = (divergent, self.kernel.as_mut()) {
            k.divergent = k.divergent.saturating_add_signed(by);
        }
    }

    /// Whether threads of one block may disagree about an expression.
    pub(crate) fn varies_in_block(&self, e: &Expr) -> bool {
        if self.kernel.is_none() {
            return false;
        }
        let mut varies = false;
        let mut walk = Varies {
            checker: self,
            found: &mut varies,
        };
        crate::ir::walk_exprs(e, &mut walk);
        varies
    }

    pub(crate) fn local_varies(&self, id: crate::ir::LocalId) -> bool {
        match self.f.local(id).role {
            Role::Parallel(level) => level > Level::Block,
            Role::Loop | Role::Value => self.varying.contains(&id),
        }
    }

    pub(crate) fn while_loop(&mut self, cond: &ast::Expr, body: &ast::Block, span: Span) {
        self.scopes.enter_loop();
        self.while_statement(cond, body, span);
        self.scopes.leave_loop();
    }

    fn while_statement(&mut self, cond: &ast::Expr, body: &ast::Block, span: Span) {
        let at = cond.span;
        let (cond_value, prelude) = self.collect(|s| s.condition(cond));
        self.loops += 1;
        let Some(cond) = cond_value else {
            self.block(body);
            self.loops -= 1;
            return;
        };
        let divergent = self.varies_in_block(&cond);
        self.diverge(divergent, 1);
        let never = self.decided(&cond) == Some(false);
        let uncertain = self.uncertain;
        let ((), stmts) = self.assuming(&cond, true, never, |s| s.block(body));
        self.uncertain = uncertain;
        self.diverge(divergent, -1);
        self.loops -= 1;
        self.endless(&cond, &prelude, &stmts, at);
        self.emit(
            StmtKind::While {
                prelude,
                cond,
                body: stmts,
            },
            span,
        );
    }

    /// Runs `body`, where `break` can't mean the loops around it: threads that don't come here run
    /// them too, and would wait for the missing ones at the next barrier.
    pub(crate) fn apart_from_loops<R>(&mut self, body: impl FnOnce(&mut Self) -> R) -> R {
        let around = std::mem::take(&mut self.loops);
        self.loops_apart += around;
        let result = body(self);
        self.loops_apart -= around;
        self.loops = around;
        result
    }

    pub(crate) fn leave_loop(&mut self, is_break: bool, span: Span) {
        let word = if is_break { "break" } else { "continue" };
        if self.loops == 0 && self.loops_apart > 0 {
            self.report(
                Diagnostic::new(
                    "E0550",
                    span,
                    format!(
                        "`{word}` would act on a loop outside of this `parallel` or `inthreads`"
                    ),
                )
                .label("more threads run that loop than come here")
                .help("decide it outside, where all threads of the loop see the same"),
            );
            return;
        }
        if self.loops == 0 {
            self.report(
                Diagnostic::new("E0550", span, format!("`{word}` outside a loop"))
                    .label("no `foreach` or `while` around this"),
            );
            return;
        }
        self.uncertain += 1;
        self.emit(
            if is_break {
                StmtKind::Break
            } else {
                StmtKind::Continue
            },
            span,
        );
    }

    pub(crate) fn yield_stmt(&mut self, span: Span) {
        match self.kernel.as_mut() {
            Some(k) => {
                k.yielded.get_or_insert(span);
                self.uncertain += 1;
                self.emit(StmtKind::Yield, span);
            }
            None => self.report(
                Diagnostic::new("E0552", span, "`yield` outside `parallel`")
                    .label("leaves a kernel, but this is host code")
                    .help("write `return`"),
            ),
        }
    }

    pub(crate) fn inthreads(
        &mut self,
        is_async: bool,
        pred: &ast::Expr,
        body: &ast::Block,
        span: Span,
    ) {
        if self.kernel.is_none() {
            self.report(
                Diagnostic::new(
                    "E0561",
                    Span::new(span.start, pred.span.end),
                    "`inthreads` outside `parallel`",
                )
                .label("there are no threads here")
                .help("write `if`, or move it into a `parallel`"),
            );
            return;
        }
        let depth = self.kernel.as_ref().map_or(0, |k| k.regions);
        if is_async && depth > 0 {
            self.report(
                Diagnostic::new(
                    "E0562",
                    Span::new(span.start, pred.span.end),
                    "only the outermost `inthreads` may be `.async`",
                )
                .label("nested")
                .help("drop `.async`"),
            );
        }
        self.asserting = true;
        let cond = self.condition(pred);
        self.asserting = false;
        let Some(cond) = cond else {
            self.enter_region(None, pred.span);
            self.apart_from_loops(|s| s.block(body));
            self.end_region();
            return;
        };
        let before = self.diags.len();
        self.strictly_divergent(&cond, pred.span);
        let own = self.thread_set(&cond);
        if self.diags.len() == before {
            self.pointless_region(own.as_ref(), pred.span);
            if is_async && own.is_none() {
                self.threads_unknown(pred.span);
            }
        }
        let set = match (own, self.kernel.as_ref().map(|k| k.sets.as_slice())) {
            (Some(own), Some([.., around])) => around.as_ref().map(|a| a.intersect(&own)),
            (own, _) => own,
        };
        let nobody = set.as_ref().is_some_and(ThreadSet::is_empty);
        if nobody && self.diags.len() == before {
            self.report(
                Diagnostic::new(
                    "W0567",
                    pred.span,
                    "no thread that comes here satisfies this predicate",
                )
                .label("never holds"),
            );
        }
        self.enter_region(set.clone(), pred.span);
        // Threads that are there come here, whatever the other variables are.
        let some_come = set.as_ref().is_some_and(|set| !set.is_empty());
        let ((), stmts) = self.assuming(&cond, true, nobody, |s| {
            let conditional = s.conditional;
            s.conditional -= u32::from(some_come);
            s.apart_from_loops(|s| s.block(body));
            s.conditional = conditional;
        });
        self.end_region();
        if depth == 0 && !is_async {
            self.cooperative(span, "the barrier after `inthreads`");
        }
        // What no thread executes is told, checked as far as can be, and left out.
        if nobody {
            return;
        }
        self.emit(
            StmtKind::Region {
                pred: cond,
                set,
                among: None,
                is_async,
                outermost: depth == 0,
                body: stmts,
            },
            span,
        );
    }

    fn enter_region(&mut self, set: Option<ThreadSet>, at: Span) {
        if let Some(k) = self.kernel.as_mut() {
            k.regions += 1;
            k.sets.push(set);
            k.regions_at.push(at);
        }
    }

    fn end_region(&mut self) {
        if let Some(k) = self.kernel.as_mut() {
            k.sets.pop();
            k.regions_at.pop();
            k.regions = k.regions.saturating_sub(1);
        }
    }

    /// Regions that run at the same time need to know who is where.
    fn threads_unknown(&mut self, at: Span) {
        let text = self.file.snippet(at).to_owned();
        self.report(
            Diagnostic::new(
                "E0566",
                at,
                format!("which threads satisfy `{text}` is known only at run time"),
            )
            .label("must be known here")
            .help("compare variables of inner `parallel`s of constant size with constants; use `if` for the rest"),
        );
    }

    /// Both sides of `&&` and `||` must depend on the thread.
    fn strictly_divergent(&mut self, cond: &Expr, at: Span) {
        match &*cond.kind {
            ExprKind::Binary(BinOp::LogicAnd | BinOp::LogicOr, a, b) => {
                self.strictly_divergent(a, a.span);
                self.strictly_divergent(b, b.span);
            }
            ExprKind::Unary(UnOp::Not, a) => self.strictly_divergent(a, a.span),
            _ => {
                let depends = match &*cond.kind {
                    ExprKind::Binary(_, a, b) => self.names_unit(a) || self.names_unit(b),
                    _ => self.names_unit(cond),
                };
                if !depends {
                    let text = self.file.snippet(at).to_owned();
                    self.report(
                        Diagnostic::new("E0560", at, format!("`{text}` is the same for every thread"))
                            .label("does not divide the threads")
                            .help("compare a variable of an inner `parallel`; for a uniform condition use `if`"),
                    );
                }
            }
        }
    }

    fn names_unit(&self, e: &Expr) -> bool {
        match self.as_sym(e) {
            Some(s) => s.vars().iter().any(|v| self.unit_var(*v)),
            None => self.varies_in_block(e),
        }
    }

    /// The linear ids of the threads that satisfy a predicate, when that is static.
    fn thread_set(&self, cond: &Expr) -> Option<ThreadSet> {
        let k = self.kernel.as_ref()?;
        let threads = u32::try_from(k.threads.as_ref()?.as_int()?)
            .ok()
            .filter(|n| *n <= 1024)?;
        let condition = self.thread_condition(cond)?;
        let homes = &k.homes;
        let mut set = ThreadSet::default();
        for tid in 0..threads {
            let at = |v: crate::symbolic::Var| {
                let home = homes.get(&v)?;
                let mut value =
                    i128::from(tid) / i128::from(home.divisor.as_int().filter(|d| *d > 0)?);
                if let Some(m) = &home.modulus {
                    value %= i128::from(m.as_int().filter(|m| *m > 0)?);
                }
                Some(value)
            };
            if condition.holds(&at)? {
                set.push(tid);
            }
        }
        Some(set)
    }

    /// A predicate, taken apart once for all threads.
    fn thread_condition(&self, cond: &Expr) -> Option<Condition> {
        let both = |a, b| {
            Some((
                Box::new(self.thread_condition(a)?),
                Box::new(self.thread_condition(b)?),
            ))
        };
        Some(match &*cond.kind {
            ExprKind::Bool(b) => Condition::Is(*b),
            ExprKind::Unary(UnOp::Not, a) => Condition::Not(Box::new(self.thread_condition(a)?)),
            ExprKind::Binary(BinOp::LogicAnd, a, b) => {
                let (a, b) = both(a, b)?;
                Condition::And(a, b)
            }
            ExprKind::Binary(BinOp::LogicOr, a, b) => {
                let (a, b) = both(a, b)?;
                Condition::Or(a, b)
            }
            ExprKind::Binary(op, a, b) => Condition::Compare(*op, self.as_sym(a)?, self.as_sym(b)?),
            _ => return None,
        })
    }

    pub(crate) fn sync_storage(&mut self, storage: ast::Storage, span: Span) {
        match (storage, self.kernel.is_some()) {
            (ast::Storage::Global, false) => self.emit(StmtKind::Synchronize, span),
            (ast::Storage::Global, true) => self.sync_error(
                span,
                "`sync.global` waits for the device: it belongs outside `parallel`",
            ),
            (_, false) => self.sync_error(span, "this barrier is for threads of a kernel"),
            (ast::Storage::Shared, true) => self.barrier(BarrierScope::Block, span),
            (ast::Storage::Local, true) => self.barrier(BarrierScope::Group, span),
        }
    }

    fn sync_error(&mut self, span: Span, text: &str) {
        self.report(Diagnostic::new("E0585", span, text).label("not here").help(
            "kernels wait with `sync.shared` and `sync.barrier`, the host with `sync.global`",
        ));
    }

    pub(crate) fn sync_barrier(&mut self, level: ast::Level, span: Span) {
        if self.kernel.is_none() {
            return self.sync_error(span, "a barrier needs the threads of a kernel");
        }
        match level {
            ast::Level::Thread | ast::Level::Group => self.barrier(BarrierScope::Group, span),
            ast::Level::Group4 => self.barrier(BarrierScope::Group4, span),
            ast::Level::Block | ast::Level::Device if self.waits_together() => {
                self.barrier(BarrierScope::Grid, span);
            }
            ast::Level::Block => self.barrier(BarrierScope::Block, span),
            ast::Level::Device => self.report(
                Diagnostic::new(
                    "E0580",
                    span,
                    "`sync.barrier : device` needs a cooperative launch",
                )
                .label("blocks come and go: they don't wait for each other")
                .help("write `parallel … : block<cooperative>`, or end the kernel here and start another"),
            ),
            ast::Level::Cluster if self.in_cluster() => self.barrier(BarrierScope::Cluster, span),
            ast::Level::Cluster => self.report(
                Diagnostic::new(
                    "E0585",
                    span,
                    "`sync.barrier : cluster` outside of a cluster",
                )
                .label("each block is on its own here")
                .help("write `parallel … : cluster` around the blocks"),
            ),
        }
    }

    fn waits_together(&self) -> bool {
        self.kernel.as_ref().is_some_and(|k| k.cooperative)
    }

    fn barrier(&mut self, scope: BarrierScope, span: Span) {
        // Who comes to one of the whole grid is looked at in all of the kernel (`passes::together`).
        if scope != BarrierScope::Grid {
            self.cooperative(span, "a barrier");
        }
        let (wide, what) = match scope {
            BarrierScope::Grid => (true, "grid"),
            BarrierScope::Cluster => (true, "cluster"),
            scope => (scope == BarrierScope::Block, "block"),
        };
        if wide && self.kernel.as_ref().is_some_and(|k| k.regions > 0) {
            self.report(
                Diagnostic::new(
                    "E0582",
                    span,
                    format!("a barrier over the whole {what}, inside `inthreads`"),
                )
                .label("the other threads never come here")
                .help("move it out, or use a narrower barrier"),
            );
            return;
        }
        self.emit(
            StmtKind::Barrier {
                scope,
                why: BarrierReason::Written,
            },
            span,
        );
    }

    /// `__bar_sync(id, threads)`, or `__bar_arrive`, which doesn't wait.
    pub(crate) fn named_barrier(&mut self, call: &ast::CallExpr, waits: bool, span: Span) {
        if self.kernel.is_none() {
            return self.sync_error(span, "a barrier needs the threads of a kernel");
        }
        let numbers: Vec<Option<u32>> = call
            .args
            .iter()
            .map(|e| self.const_int(e).and_then(|n| u32::try_from(n).ok()))
            .collect();
        let block = self
            .kernel
            .as_ref()
            .and_then(|k| k.threads.as_ref()?.as_int());
        // Number 0 is that of `sync.shared`, at which all threads wait.
        let first = u32::from(!waits);
        let fits = |threads: u32| block.is_none_or(|n| i64::from(threads) <= n) && threads > 0;
        let (id, threads) = match numbers.as_slice() {
            [Some(id), Some(threads)] if (first..16).contains(id) && fits(*threads) => {
                (*id, *threads)
            }
            _ => {
                let most = block.map_or_else(|| "1024".to_owned(), |n| n.to_string());
                self.report(
                    Diagnostic::new(
                        "E0587",
                        span,
                        "a named barrier takes its number and how many threads meet there",
                    )
                    .label(format!(
                        "{first} to 15, and 1 to {most} threads of the block"
                    ))
                    .help(format!("write constants: `{}(1, 64);`", call.callee.text)),
                );
                return;
            }
        };
        if id == 15 {
            self.report(
                Diagnostic::new("W0583", span, "named barrier 15 is reserved in other tools")
                    .label("this number")
                    .help("take one of 1 to 14"),
            );
        }
        if threads % 32 != 0 {
            let text =
                format!("{threads} threads are not whole warps, which a named barrier counts");
            self.report(
                Diagnostic::new("W0584", span, text)
                    .label("no multiple of 32")
                    .help("let whole warps meet"),
            );
        }
        self.cooperative(span, "a barrier");
        let scope = match waits {
            true => BarrierScope::Named { id, threads },
            false => BarrierScope::Arrive { id, threads },
        };
        self.emit(
            StmtKind::Barrier {
                scope,
                why: BarrierReason::Written,
            },
            span,
        );
    }

    pub(crate) fn sync_fence(&mut self, level: ast::Level, span: Span) {
        if self.kernel.is_none() {
            return self.sync_error(span, "a fence needs the threads of a kernel");
        }
        let scope = match level {
            ast::Level::Thread | ast::Level::Group | ast::Level::Group4 => FenceScope::Block,
            ast::Level::Block | ast::Level::Device | ast::Level::Cluster => FenceScope::Device,
        };
        self.emit(StmtKind::Fence(scope), span);
    }

    pub(crate) fn cpp(&mut self, text: &str, span: Span) {
        if let Some((more, number)) = crate::sema::levels::registers::in_assembly(text) {
            return self.registers_of_each("setmaxnreg", number, more, span);
        }
        let mut names = Vec::new();
        let mentioned: Vec<(String, Entity)> = self
            .scopes
            .visible()
            .filter(|b| mentions(text, &b.name))
            .map(|b| (b.name.clone(), b.entity.clone()))
            .collect();
        for (name, entity) in mentioned {
            if crate::ir::cpp_names::is_taken(&name) {
                self.report(
                    Diagnostic::new(
                        "E0794",
                        span,
                        format!("`{name}` means something else in C++ text"),
                    )
                    .label(format!("mentions `{name}`"))
                    .note(format!("`{name}` is {} of this function", entity.kind()))
                    .help(format!(
                        "call it something else, such as `{name}_`, here and in the text"
                    )),
                );
            }
            self.scopes.read(&name, span);
            match entity {
                Entity::Scalar { local, .. } => names.push(CppName::Local(local)),
                Entity::Int { value, .. } => {
                    let existing =
                        value
                            .value
                            .as_var()
                            .and_then(|v| match self.f.var_home.get(&v) {
                                Some(crate::ir::VarHome::Local(id))
                                    if self.f.local(*id).name == name =>
                                {
                                    Some(*id)
                                }
                                _ => None,
                            });
                    // A named expression has no storage of its own: give it some under its name.
                    let local = existing.unwrap_or_else(|| {
                        let local = self.new_local(&name, Scalar::Index, false, Role::Value, span);
                        let value = Expr::index(value.value.clone(), span);
                        self.emit(
                            StmtKind::Let {
                                local,
                                value: Some(value),
                            },
                            span,
                        );
                        local
                    });
                    names.push(CppName::Local(local));
                }
                Entity::Range(id) => {
                    if let Some(v) = self.ranges.get(id).and_then(|r| r.value.as_var())
                        && let Some(crate::ir::VarHome::Local(l)) = self.f.var_home.get(&v)
                    {
                        names.push(CppName::Local(*l));
                    }
                }
                Entity::Buffer { id, .. } | Entity::Word(id) => names.push(CppName::Buffer(id)),
                Entity::View(d) | Entity::Chosen(d) => names.push(CppName::Buffer(d.view.buffer)),
                Entity::Future(id) => {
                    if let Some(data) = self.future(id).and_then(|f| f.data.as_ref()) {
                        names.push(CppName::Buffer(data.view.buffer));
                    }
                }
                _ => {}
            }
        }
        for name in &names {
            if let CppName::Buffer(id) = name
                && let Some(b) = self.f.buffers.get_mut(id.index())
            {
                b.read = true;
                b.written = true;
            }
        }
        self.emit(
            StmtKind::Cpp {
                text: text.to_owned(),
                names,
            },
            span,
        );
    }
}

/// A predicate on the threads of a block.
enum Condition {
    Is(bool),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    Compare(BinOp, Sym, Sym),
}

impl Condition {
    fn holds(&self, at: &dyn Fn(crate::symbolic::Var) -> Option<i128>) -> Option<bool> {
        match self {
            Condition::Is(b) => Some(*b),
            Condition::Not(a) => a.holds(at).map(|a| !a),
            Condition::And(a, b) => Some(a.holds(at)? && b.holds(at)?),
            Condition::Or(a, b) => Some(a.holds(at)? || b.holds(at)?),
            Condition::Compare(op, a, b) => {
                let (a, b) = (a.evaluate(at)?, b.evaluate(at)?);
                Some(match op {
                    BinOp::Lt => a < b,
                    BinOp::Le => a <= b,
                    BinOp::Gt => a > b,
                    BinOp::Ge => a >= b,
                    BinOp::Eq => a == b,
                    BinOp::Ne => a != b,
                    _ => return None,
                })
            }
        }
    }
}

/// Whether a statement list always ends by leaving the loop or the kernel.
fn leaves(stmts: &[Stmt]) -> bool {
    matches!(
        stmts.last().map(|s| &s.kind),
        Some(StmtKind::Yield | StmtKind::Continue | StmtKind::Break | StmtKind::Return(_))
    )
}

/// Whether a C++ text contains a name as a whole word.
fn mentions(text: &str, name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|t| t.chars().next());
        !before.is_some_and(word) && !after.is_some_and(word)
    })
}

struct Varies<'c, 'a> {
    checker: &'c Checker<'a>,
    found: &'c mut bool,
}

impl crate::ir::Visit for Varies<'_, '_> {
    fn expr(&mut self, e: &Expr) {
        match &*e.kind {
            ExprKind::Hardware(crate::ir::Hardware::Thread) => *self.found = true,
            ExprKind::Local(id) => *self.found |= self.checker.local_varies(*id),
            // What a C++ function returns may depend on the thread that calls it.
            ExprKind::Call(_) if self.checker.level() == Some(Level::Thread) => *self.found = true,
            _ => {}
        }
    }

    fn sym(&mut self, s: &Sym) {
        *self.found |= s.vars().iter().any(|v| self.checker.unit_var(*v));
    }
}
