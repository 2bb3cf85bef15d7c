//! `if`, `while`, `break`, `continue`, `yield`.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{Expr, Stmt, StmtKind, path_facts};
use crate::sema::asynchronous::rebound;
use crate::sema::build;
use crate::sema::checks::lints;
use crate::sema::levels::uniformity;
use crate::sema::state::elab::Elab;
use crate::sema::state::path::Frame;
use crate::sema::values::conditionals;
use crate::source::Span;
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
    let decided = path_facts::decided(&el.f, &cond);
    uniformity::note_reads(el, &cond);
    let divergence = uniformity::divergence(el, &cond);
    let (yes, no) = el.within(divergence.map(Frame::Divergent), |el| {
        el.names.enter_arm(arms, true);
        let yes = lower_arm(el, (&cond, true), decided == Some(false), Some(then));
        el.names.leave_arm();
        el.names.enter_arm(arms, false);
        let no = lower_arm(el, (&cond, false), decided == Some(true), otherwise);
        el.names.leave_arm();
        (yes, no)
    });
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
            // The statements after an `if` that always leaves run only if its condition was false.
            if always_leaves(&yes) && !always_leaves(&no) {
                path_facts::assume(&mut el.f, &cond, false);
            } else if always_leaves(&no) && !always_leaves(&yes) && !no.is_empty() {
                path_facts::assume(&mut el.f, &cond, true);
            }
        }
    }
}

/// The statements of an arm. If it is `never` taken, placeholders that it copies into stay empty.
fn lower_arm(
    el: &mut Elab<'_>,
    (cond, holds): (&Expr, bool),
    never: bool,
    block: Option<&ast::Block>,
) -> Vec<Stmt> {
    let futures = &el.asynchronous.futures;
    let empty: Vec<bool> = futures.iter().map(|f| never && f.data.is_none()).collect();
    let ((), stmts) = conditionals::assuming(el, cond, holds, never, |el| {
        if let Some(block) = block {
            el.block(block);
        }
    });
    for (future, empty) in el.asynchronous.futures.iter_mut().zip(empty) {
        if empty {
            future.data = None;
        }
    }
    stmts
}

pub(crate) fn lower_while(el: &mut Elab<'_>, cond: &ast::Expr, body: &ast::Block, span: Span) {
    rebound::enter_loop(el, body);
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
    let ((), stmts) = el.within(Frame::Loop, |el| {
        uniformity::note_reads(el, &cond);
        let divergence = uniformity::divergence(el, &cond);
        el.within(divergence.map(Frame::Divergent), |el| {
            let never = path_facts::decided(&el.f, &cond) == Some(false);
            conditionals::assuming(el, &cond, true, never, |el| el.block(body))
        })
    });
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
                codes::E0550,
                span,
                format!("`{word}` would act on a loop outside of this `parallel` or `inthreads`"),
            )
            .label("more threads execute that loop than this statement")
            .help("decide it outside, where all threads of the loop see the same"),
        );
        return;
    }
    if el.path.loops() == 0 {
        el.cx.report(
            Diagnostic::new(codes::E0550, span, format!("`{word}` outside a loop"))
                .label("no `foreach` or `while` around this"),
        );
        return;
    }
    el.path.leave_loop();
    el.build.uneven_exit |= el.path.exits_unevenly();
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
            Diagnostic::new(codes::E0552, span, "`yield` outside `parallel`")
                .label("leaves a kernel, but this is host code")
                .help("write `return`"),
        ),
    }
}

/// Whether a list of statements always ends by leaving the loop or the kernel.
fn always_leaves(stmts: &[Stmt]) -> bool {
    matches!(
        stmts.last().map(|s| &s.kind),
        Some(StmtKind::Yield | StmtKind::Continue | StmtKind::Break | StmtKind::Return(_))
    )
}
