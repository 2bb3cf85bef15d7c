//! `inthreads`: parts of a kernel that only some of its threads execute.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{
    self, BinOp, Condition, Expr, ExprKind, Role, StmtKind, ThreadSet, UnOp, VarHome,
    WARPGROUP_THREADS,
};
use crate::sema::build;
use crate::sema::checks::lints;
use crate::sema::levels::{instances, registers, uniformity};
use crate::sema::state::elab::Elab;
use crate::sema::state::path::Frame;
use crate::sema::statements::assembly;
use crate::sema::values::conditionals;
use crate::sorted::SortedSet;
use crate::source::Span;
use crate::symbolic::Var;
use crate::syntax::ast;

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
                codes::E0561,
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
                codes::E0562,
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
    }
    let set = match (own, el.path.regions().next()) {
        (Some(own), Some((around, _))) => around.map(|a| a.intersect(&own)),
        (own, _) => own,
    };
    let nobody = set.as_ref().is_some_and(ThreadSet::is_empty);
    if nobody && el.cx.diags.len() == before {
        el.cx.report(
            Diagnostic::new(
                codes::W0567,
                pred.span,
                "no thread that reaches this statement satisfies this predicate",
            )
            .label("never holds"),
        );
    }
    let own = set.as_ref().filter(|_| outermost && is_async);
    let rest = own.and_then(|own| lower_changes(el, &cond, own, body, span));
    let body = rest.as_ref().unwrap_or(body);
    let region = Frame::Region {
        threads: set.clone(),
        span: pred.span,
    };
    // If the set is known and not empty, some threads execute the body whatever the other variables
    // are.
    let condition = Frame::Condition {
        restricts: set.as_ref().is_none_or(ThreadSet::is_empty),
        several: false,
        never: nobody,
    };
    let ((), stmts) = el.within(region, |el| {
        conditionals::assuming_with(el, &cond, true, condition, |el| lower_body(el, &cond, body))
    });
    if outermost && !is_async {
        instances::warn_if_some_have_left(el, span, "the barrier after `inthreads`");
    }
    // A region that no thread executes is reported, its body checked, and no code emitted.
    if nobody {
        return;
    }
    build::emit(
        el,
        StmtKind::Region {
            pred: cond,
            set,
            elected_from: None,
            is_async,
            outermost,
            body: stmts,
        },
        span,
    );
}

/// Lowers the changes of registers with which a region begins, if it is one of a thread of a
/// warpgroup, and one side of its predicate selects the warpgroup: that makes the changes as a
/// whole. Returns the other statements.
fn lower_changes(
    el: &mut Elab<'_>,
    cond: &Expr,
    single: &ThreadSet,
    body: &ast::Block,
    span: Span,
) -> Option<ast::Block> {
    let count = body
        .stmts
        .iter()
        .take_while(|stmt| is_change(&stmt.kind))
        .count();
    let (changes, others) = body.stmts.split_at_checked(count).filter(|_| count > 0)?;
    let (pred, set) = of_warpgroups(el, cond, single)?;
    let block = |stmts: &[ast::Stmt]| ast::Block {
        stmts: stmts.to_vec(),
        span: body.span,
    };
    let region = Frame::Region {
        threads: Some(set.clone()),
        span: cond.span,
    };
    let changes = block(changes);
    let lower = |el: &mut Elab<'_>| lower_body(el, &pred, &changes);
    let ((), body) = el.within(region, |el| build::collect(el, lower));
    build::emit(
        el,
        StmtKind::Region {
            pred,
            set: Some(set),
            elected_from: None,
            is_async: true,
            outermost: true,
            body,
        },
        span,
    );
    Some(block(others))
}

/// Whether a statement as written is a change of registers.
fn is_change(stmt: &ast::StmtKind) -> bool {
    match stmt {
        ast::StmtKind::Call(e) => match &*e.kind {
            ast::ExprKind::Call(call) if call.kind == ast::CallKind::Device => {
                registers::direction(&call.callee.text).is_some()
            }
            _ => false,
        },
        ast::StmtKind::Cpp(text) => registers::in_assembly(text).is_some(),
        ast::StmtKind::Asm(asm) => assembly::is_register_change(asm),
        _ => false,
    }
}

/// The side of `&&` that selects the warpgroups of these threads, one of each, and their threads.
fn of_warpgroups(el: &Elab<'_>, cond: &Expr, single: &ThreadSet) -> Option<(Expr, ThreadSet)> {
    let ExprKind::Binary(BinOp::LogicAnd, a, b) = &*cond.kind else {
        let set = thread_set(el, cond)?;
        let groups = |set: &ThreadSet| -> SortedSet<u32> {
            set.threads().map(|t| t / WARPGROUP_THREADS).collect()
        };
        let fits = set.is_whole(WARPGROUP_THREADS)
            && single.len() * WARPGROUP_THREADS == set.len()
            && groups(&set) == groups(single);
        return fits.then(|| (cond.clone(), set));
    };
    of_warpgroups(el, a, single).or_else(|| of_warpgroups(el, b, single))
}

/// Lowers the body of a region, which not all units of the predicate's level execute.
fn lower_body(el: &mut Elab<'_>, cond: &Expr, body: &ast::Block) {
    let level = uniformity::finest(el, cond);
    el.within(Frame::Uneven(level), |el| el.block(body));
}

/// Checks that both sides of `&&` and `||` depend on the thread, or on the block.
fn check_divergent(el: &mut Elab<'_>, cond: &Expr, at: Span) {
    match &*cond.kind {
        ExprKind::Binary(BinOp::LogicAnd | BinOp::LogicOr, a, b) => {
            check_divergent(el, a, a.span);
            check_divergent(el, b, b.span);
        }
        ExprKind::Unary(UnOp::Not, a) => check_divergent(el, a, a.span),
        _ => {
            let depends = match &*cond.kind {
                ExprKind::Binary(_, a, b) => depends_on_unit(el, a) || depends_on_unit(el, b),
                _ => depends_on_unit(el, cond),
            };
            if !depends {
                let text = el.cx.file.snippet(at).to_owned();
                el.cx.report(
                        Diagnostic::new(codes::E0560, at, format!("`{text}` is the same for every thread"))
                            .label("does not divide the threads")
                            .help("compare a variable of an inner `parallel`; for a uniform condition use `if`"),
                    );
            }
        }
    }
}

fn depends_on_unit(el: &Elab<'_>, e: &Expr) -> bool {
    match ir::as_sym(&el.f, e) {
        Some(s) => s
            .vars()
            .iter()
            .any(|v| uniformity::is_unit_variable(el, *v) || is_of_parallel(el, *v)),
        None => uniformity::varies_in_block(el, e),
    }
}

/// Whether it is a variable of a `parallel`, be it one of blocks.
fn is_of_parallel(el: &Elab<'_>, v: Var) -> bool {
    match el.f.var_home.get(&v) {
        Some(VarHome::Local(id)) => matches!(el.f.local(*id).role, Role::Parallel(_)),
        _ => false,
    }
}

/// The linear ids of the threads that satisfy a predicate, if they are known statically.
fn thread_set(el: &Elab<'_>, cond: &Expr) -> Option<ThreadSet> {
    let k = el.kernel.as_ref()?;
    let threads = u32::try_from(k.threads.count.as_ref()?.as_int()?)
        .ok()
        .filter(|n| *n <= 1024)?;
    let condition = Condition::of(&el.f, cond)?;
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
