//! `if`, `while`, `inthreads`, barriers, `yield`, `__cpp__`.

use crate::diagnostics::Diagnostic;
use crate::ir::{
    BarrierReason, BarrierScope, BinOp, CppName, Expr, ExprKind, FenceScope, Level, Role, Scalar,
    Stmt, StmtKind, ThreadSet, UnOp,
};
use crate::sema::asynchronous::futures;
use crate::sema::build;
use crate::sema::checks::lints;
use crate::sema::levels::{clusters, instances, registers};
use crate::sema::names::params;
use crate::sema::state::elab::Elab;
use crate::sema::state::path::Frame;
use crate::sema::state::scopes::Entity;
use crate::sema::values::{arith, conditionals};
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast;

pub(crate) fn lower_if(
    el: &mut Elab<'_>,
    cond: &ast::Expr,
    then: &ast::Block,
    otherwise: Option<&ast::Block>,
    span: Span,
) {
    let Some(cond) = conditionals::lower_condition(el, cond) else {
        el.block(then);
        if let Some(b) = otherwise {
            el.block(b);
        }
        return;
    };
    let arms = el.names.condition();
    let decided = arith::decided(el, &cond);
    let divergent = varies_in_block(el, &cond);
    if divergent {
        el.path.push(Frame::Divergent);
    }
    el.names.enter_arm(arms, true);
    let ((), yes) =
        conditionals::assuming(el, &cond, true, decided == Some(false), |el| el.block(then));
    el.names.leave_arm();
    el.names.enter_arm(arms, false);
    let ((), no) = conditionals::assuming(el, &cond, false, decided == Some(true), |el| {
        if let Some(b) = otherwise {
            el.block(b);
        }
    });
    el.names.leave_arm();
    if divergent {
        el.path.pop();
    }
    match decided {
        Some(true) => build::splice(el, yes),
        Some(false) => build::splice(el, no),
        None => {
            build::emit(
                el,
                StmtKind::If {
                    cond: cond.clone(),
                    then: yes.clone(),
                    otherwise: no.clone(),
                },
                span,
            );
            // What follows an `if` that always leaves runs only when its condition failed.
            if leaves(&yes) && !leaves(&no) {
                arith::assume(el, &cond, false);
            } else if leaves(&no) && !leaves(&yes) && !no.is_empty() {
                arith::assume(el, &cond, true);
            }
        }
    }
}

/// Whether threads of one block may disagree about an expression.
pub(crate) fn varies_in_block(el: &Elab<'_>, e: &Expr) -> bool {
    if el.kernel.is_none() {
        return false;
    }
    let mut varies = false;
    let mut walk = Varies {
        el,
        found: &mut varies,
    };
    crate::ir::walk_exprs(e, &mut walk);
    varies
}

pub(crate) fn local_varies(el: &Elab<'_>, id: crate::ir::LocalId) -> bool {
    match el.f.local(id).role {
        Role::Parallel(level) => level > Level::Block,
        Role::Loop | Role::Value => el.build.varying.contains(&id),
    }
}

pub(crate) fn lower_while(el: &mut Elab<'_>, cond: &ast::Expr, body: &ast::Block, span: Span) {
    el.names.enter_loop();
    lower_while_body(el, cond, body, span);
    el.names.leave_loop();
}

fn lower_while_body(el: &mut Elab<'_>, cond: &ast::Expr, body: &ast::Block, span: Span) {
    let at = cond.span;
    let (cond_value, prelude) = build::collect(el, |el| conditionals::lower_condition(el, cond));
    let Some(cond) = cond_value else {
        el.within(Frame::Loop, |el| el.block(body));
        return;
    };
    el.path.push(Frame::Loop);
    let divergent = varies_in_block(el, &cond);
    if divergent {
        el.path.push(Frame::Divergent);
    }
    let never = arith::decided(el, &cond) == Some(false);
    let ((), stmts) = conditionals::assuming(el, &cond, true, never, |el| el.block(body));
    if divergent {
        el.path.pop();
    }
    el.path.pop();
    lints::lint_endless_loop(el, &cond, &prelude, &stmts, at);
    build::emit(
        el,
        StmtKind::While {
            prelude,
            cond,
            body: stmts,
        },
        span,
    );
}

pub(crate) fn lower_break(el: &mut Elab<'_>, is_break: bool, span: Span) {
    let word = if is_break { "break" } else { "continue" };
    if el.path.loops() == 0 && el.path.in_loop() {
        el.cx.report(
            Diagnostic::new(
                "E0550",
                span,
                format!("`{word}` would act on a loop outside of this `parallel` or `inthreads`"),
            )
            .label("more threads run that loop than come here")
            .help("decide it outside, where all threads of the loop see the same"),
        );
        return;
    }
    if el.path.loops() == 0 {
        el.cx.report(
            Diagnostic::new("E0550", span, format!("`{word}` outside a loop"))
                .label("no `foreach` or `while` around this"),
        );
        return;
    }
    el.path.leave();
    build::emit(
        el,
        if is_break {
            StmtKind::Break
        } else {
            StmtKind::Continue
        },
        span,
    );
}

pub(crate) fn lower_yield(el: &mut Elab<'_>, span: Span) {
    match el.kernel.as_mut() {
        Some(k) => {
            k.yielded.get_or_insert(span);
            el.path.leave();
            build::emit(el, StmtKind::Yield, span);
        }
        None => el.cx.report(
            Diagnostic::new("E0552", span, "`yield` outside `parallel`")
                .label("leaves a kernel, but this is host code")
                .help("write `return`"),
        ),
    }
}

pub(crate) fn lower_inthreads(
    el: &mut Elab<'_>,
    is_async: bool,
    pred: &ast::Expr,
    body: &ast::Block,
    span: Span,
) {
    if el.kernel.is_none() {
        el.cx.report(
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
    let outermost = !el.path.in_region();
    if is_async && !outermost {
        el.cx.report(
            Diagnostic::new(
                "E0562",
                Span::new(span.start, pred.span.end),
                "only the outermost `inthreads` may be `.async`",
            )
            .label("nested")
            .help("drop `.async`"),
        );
    }
    let cond = el.within(Frame::Predicate, |el| {
        conditionals::lower_condition(el, pred)
    });
    let Some(cond) = cond else {
        let region = Frame::Region {
            threads: None,
            span: pred.span,
        };
        el.within(region, |el| el.block(body));
        return;
    };
    let before = el.cx.diags.len();
    check_divergent(el, &cond, pred.span);
    let own = thread_set(el, &cond);
    if el.cx.diags.len() == before {
        lints::lint_pointless_region(el, own.as_ref(), pred.span);
        if is_async && own.is_none() {
            report_threads_unknown(el, pred.span);
        }
    }
    let set = match (own, el.path.regions().next()) {
        (Some(own), Some((around, _))) => around.map(|a| a.intersect(&own)),
        (own, _) => own,
    };
    let nobody = set.as_ref().is_some_and(ThreadSet::is_empty);
    if nobody && el.cx.diags.len() == before {
        el.cx.report(
            Diagnostic::new(
                "W0567",
                pred.span,
                "no thread that comes here satisfies this predicate",
            )
            .label("never holds"),
        );
    }
    let region = Frame::Region {
        threads: set.clone(),
        span: pred.span,
    };
    // Threads that are there come here, whatever the other variables are.
    let condition = Frame::Condition {
        restricts: set.as_ref().is_none_or(ThreadSet::is_empty),
        never: nobody,
    };
    let ((), stmts) = el.within(region, |el| {
        conditionals::assuming_in(el, &cond, true, condition, |el| el.block(body))
    });
    if outermost && !is_async {
        instances::warn_if_not_all_arrive(el, span, "the barrier after `inthreads`");
    }
    // What no thread executes is told, checked as far as can be, and left out.
    if nobody {
        return;
    }
    build::emit(
        el,
        StmtKind::Region {
            pred: cond,
            set,
            among: None,
            is_async,
            outermost,
            body: stmts,
        },
        span,
    );
}

/// Regions that run at the same time need to know who is where.
fn report_threads_unknown(el: &mut Elab<'_>, at: Span) {
    let text = el.cx.file.snippet(at).to_owned();
    el.cx.report(
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
fn check_divergent(el: &mut Elab<'_>, cond: &Expr, at: Span) {
    match &*cond.kind {
        ExprKind::Binary(BinOp::LogicAnd | BinOp::LogicOr, a, b) => {
            check_divergent(el, a, a.span);
            check_divergent(el, b, b.span);
        }
        ExprKind::Unary(UnOp::Not, a) => check_divergent(el, a, a.span),
        _ => {
            let depends = match &*cond.kind {
                ExprKind::Binary(_, a, b) => names_unit(el, a) || names_unit(el, b),
                _ => names_unit(el, cond),
            };
            if !depends {
                let text = el.cx.file.snippet(at).to_owned();
                el.cx.report(
                        Diagnostic::new("E0560", at, format!("`{text}` is the same for every thread"))
                            .label("does not divide the threads")
                            .help("compare a variable of an inner `parallel`; for a uniform condition use `if`"),
                    );
            }
        }
    }
}

fn names_unit(el: &Elab<'_>, e: &Expr) -> bool {
    match arith::as_sym(el, e) {
        Some(s) => s.vars().iter().any(|v| instances::is_unit_variable(el, *v)),
        None => varies_in_block(el, e),
    }
}

/// The linear ids of the threads that satisfy a predicate, when that is static.
fn thread_set(el: &Elab<'_>, cond: &Expr) -> Option<ThreadSet> {
    let k = el.kernel.as_ref()?;
    let threads = u32::try_from(k.threads.count.as_ref()?.as_int()?)
        .ok()
        .filter(|n| *n <= 1024)?;
    let condition = thread_condition(el, cond)?;
    let homes = &k.threads.indices;
    let mut set = ThreadSet::default();
    for tid in 0..threads {
        let at = |v: crate::symbolic::Var| {
            let home = homes.get(&v)?;
            let mut value = i128::from(tid) / i128::from(home.divisor.as_int().filter(|d| *d > 0)?);
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
fn thread_condition(el: &Elab<'_>, cond: &Expr) -> Option<Condition> {
    let both = |a, b| {
        Some((
            Box::new(thread_condition(el, a)?),
            Box::new(thread_condition(el, b)?),
        ))
    };
    Some(match &*cond.kind {
        ExprKind::Bool(b) => Condition::Is(*b),
        ExprKind::Unary(UnOp::Not, a) => Condition::Not(Box::new(thread_condition(el, a)?)),
        ExprKind::Binary(BinOp::LogicAnd, a, b) => {
            let (a, b) = both(a, b)?;
            Condition::And(a, b)
        }
        ExprKind::Binary(BinOp::LogicOr, a, b) => {
            let (a, b) = both(a, b)?;
            Condition::Or(a, b)
        }
        ExprKind::Binary(op, a, b) => {
            Condition::Compare(*op, arith::as_sym(el, a)?, arith::as_sym(el, b)?)
        }
        _ => return None,
    })
}

pub(crate) fn lower_sync_storage(el: &mut Elab<'_>, storage: ast::Storage, span: Span) {
    match (storage, el.kernel.is_some()) {
        (ast::Storage::Global, false) => build::emit(el, StmtKind::Synchronize, span),
        (ast::Storage::Global, true) => report_sync_error(
            el,
            span,
            "`sync.global` waits for the device: it belongs outside `parallel`",
        ),
        (_, false) => report_sync_error(el, span, "this barrier is for threads of a kernel"),
        (ast::Storage::Shared, true) => emit_barrier(el, BarrierScope::Block, span),
        (ast::Storage::Local, true) => emit_barrier(el, BarrierScope::Group, span),
    }
}

fn report_sync_error(el: &mut Elab<'_>, span: Span, text: &str) {
    el.cx.report(
        Diagnostic::new("E0585", span, text).label("not here").help(
            "kernels wait with `sync.shared` and `sync.barrier`, the host with `sync.global`",
        ),
    );
}

pub(crate) fn lower_sync_barrier(el: &mut Elab<'_>, level: ast::Level, span: Span) {
    if el.kernel.is_none() {
        return report_sync_error(el, span, "a barrier needs the threads of a kernel");
    }
    match level {
        ast::Level::Thread | ast::Level::Group => emit_barrier(el, BarrierScope::Group, span),
        ast::Level::Group4 => emit_barrier(el, BarrierScope::Group4, span),
        ast::Level::Block | ast::Level::Device if waits_together(el) => {
            emit_barrier(el, BarrierScope::Grid, span);
        }
        ast::Level::Block => emit_barrier(el, BarrierScope::Block, span),
        ast::Level::Device => el.cx.report(
            Diagnostic::new(
                "E0580",
                span,
                "`sync.barrier : device` needs a cooperative launch",
            )
            .label("blocks come and go: they don't wait for each other")
            .help(
                "write `parallel … : block<cooperative>`, or end the kernel here and start another",
            ),
        ),
        ast::Level::Cluster if clusters::in_cluster(el) => {
            emit_barrier(el, BarrierScope::Cluster, span)
        }
        ast::Level::Cluster => el.cx.report(
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

fn waits_together(el: &Elab<'_>) -> bool {
    el.kernel.as_ref().is_some_and(|k| k.grid.cooperative)
}

fn emit_barrier(el: &mut Elab<'_>, scope: BarrierScope, span: Span) {
    // Who comes to one of the whole grid is looked at in all of the kernel (`passes::together`).
    if scope != BarrierScope::Grid {
        instances::warn_if_not_all_arrive(el, span, "a barrier");
    }
    let (wide, what) = match scope {
        BarrierScope::Grid => (true, "grid"),
        BarrierScope::Cluster => (true, "cluster"),
        scope => (scope == BarrierScope::Block, "block"),
    };
    if wide && el.path.in_region() {
        el.cx.report(
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
    build::emit(
        el,
        StmtKind::Barrier {
            scope,
            why: BarrierReason::Written,
        },
        span,
    );
}

/// `__bar_sync(id, threads)`, or `__bar_arrive`, which doesn't wait.
pub(crate) fn lower_named_barrier(
    el: &mut Elab<'_>,
    call: &ast::CallExpr,
    waits: bool,
    span: Span,
) {
    if el.kernel.is_none() {
        return report_sync_error(el, span, "a barrier needs the threads of a kernel");
    }
    let numbers: Vec<Option<u32>> = call
        .args
        .iter()
        .map(|e| params::constant(el, e).and_then(|n| u32::try_from(n).ok()))
        .collect();
    let block = el
        .kernel
        .as_ref()
        .and_then(|k| k.threads.count.as_ref()?.as_int());
    // Number 0 is that of `sync.shared`, at which all threads wait.
    let first = u32::from(!waits);
    let fits = |threads: u32| block.is_none_or(|n| i64::from(threads) <= n) && threads > 0;
    let (id, threads) = match numbers.as_slice() {
        [Some(id), Some(threads)] if (first..16).contains(id) && fits(*threads) => (*id, *threads),
        _ => {
            let most = block.map_or_else(|| "1024".to_owned(), |n| n.to_string());
            el.cx.report(
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
        el.cx.report(
            Diagnostic::new("W0583", span, "named barrier 15 is reserved in other tools")
                .label("this number")
                .help("take one of 1 to 14"),
        );
    }
    if threads % 32 != 0 {
        let text = format!("{threads} threads are not whole warps, which a named barrier counts");
        el.cx.report(
            Diagnostic::new("W0584", span, text)
                .label("no multiple of 32")
                .help("let whole warps meet"),
        );
    }
    instances::warn_if_not_all_arrive(el, span, "a barrier");
    let scope = match waits {
        true => BarrierScope::Named { id, threads },
        false => BarrierScope::Arrive { id, threads },
    };
    build::emit(
        el,
        StmtKind::Barrier {
            scope,
            why: BarrierReason::Written,
        },
        span,
    );
}

pub(crate) fn lower_sync_fence(el: &mut Elab<'_>, level: ast::Level, span: Span) {
    if el.kernel.is_none() {
        return report_sync_error(el, span, "a fence needs the threads of a kernel");
    }
    let scope = match level {
        ast::Level::Thread | ast::Level::Group | ast::Level::Group4 => FenceScope::Block,
        ast::Level::Block | ast::Level::Device | ast::Level::Cluster => FenceScope::Device,
    };
    build::emit(el, StmtKind::Fence(scope), span);
}

pub(crate) fn lower_cpp(el: &mut Elab<'_>, text: &str, span: Span) {
    if let Some((more, number)) = crate::sema::levels::registers::in_assembly(text) {
        return registers::set_registers_of_each(el, "setmaxnreg", number, more, span);
    }
    let mut names = Vec::new();
    let mentioned: Vec<(String, Entity)> = el
        .names
        .visible()
        .filter(|b| mentions(text, &b.name))
        .map(|b| (b.name.clone(), b.entity.clone()))
        .collect();
    for (name, entity) in mentioned {
        if crate::ir::cpp_names::is_taken(&name) {
            el.cx.report(
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
        el.names.read(&name, span);
        match entity {
            Entity::Scalar { local, .. } => names.push(CppName::Local(local)),
            Entity::Int { value, .. } => {
                let existing = value
                    .value
                    .as_var()
                    .and_then(|v| match el.f.var_home.get(&v) {
                        Some(crate::ir::VarHome::Local(id)) if el.f.local(*id).name == name => {
                            Some(*id)
                        }
                        _ => None,
                    });
                // A named expression has no storage of its own: give it some under its name.
                let local = existing.unwrap_or_else(|| {
                    let local =
                        build::new_local(el, &name, Scalar::Index, false, Role::Value, span);
                    let value = Expr::index(value.value.clone(), span);
                    build::emit(
                        el,
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
                if let Some(v) = el.ranges.values.get(id).and_then(|r| r.value.as_var())
                    && let Some(crate::ir::VarHome::Local(l)) = el.f.var_home.get(&v)
                {
                    names.push(CppName::Local(*l));
                }
            }
            Entity::Buffer { id, .. } | Entity::Word(id) => names.push(CppName::Buffer(id)),
            Entity::View(d) | Entity::Chosen(d) => names.push(CppName::Buffer(d.view.buffer)),
            Entity::Future(id) => {
                if let Some(data) = futures::get(el, id).and_then(|f| f.data.as_ref()) {
                    names.push(CppName::Buffer(data.view.buffer));
                }
            }
            _ => {}
        }
    }
    for name in &names {
        if let CppName::Buffer(id) = name
            && let Some(b) = el.f.buffers.get_mut(id.index())
        {
            b.read = true;
            b.written = true;
        }
    }
    build::emit(
        el,
        StmtKind::Cpp {
            text: text.to_owned(),
            names,
        },
        span,
    );
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
    el: &'c Elab<'a>,
    found: &'c mut bool,
}

impl crate::ir::Visit for Varies<'_, '_> {
    fn expr(&mut self, e: &Expr) {
        match &*e.kind {
            ExprKind::Hardware(crate::ir::Hardware::Thread) => *self.found = true,
            ExprKind::Local(id) => *self.found |= local_varies(self.el, *id),
            // What a C++ function returns may depend on the thread that calls it.
            ExprKind::Call(_) if self.el.level() == Some(Level::Thread) => *self.found = true,
            _ => {}
        }
    }

    fn sym(&mut self, s: &Sym) {
        *self.found |= s
            .vars()
            .iter()
            .any(|v| instances::is_unit_variable(self.el, *v));
    }
}
