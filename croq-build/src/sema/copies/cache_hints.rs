//! `call croq::cuda::evict_first(f)`: how L2 keeps what the TMA load `f` reads.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{CacheHint, Engine, FutureId, Stmt, StmtKind};
use crate::sema::names::scope;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::source::Span;
use crate::syntax::ast::{CallExpr, ExprKind};

/// The hint that a call of this name gives.
pub(crate) fn of_call(callee: &str) -> Option<CacheHint> {
    match callee {
        "croq::cuda::evict_first" => Some(CacheHint::EvictFirst),
        "croq::cuda::evict_last" => Some(CacheHint::EvictLast),
        _ => None,
    }
}

pub(crate) fn lower(el: &mut Elab<'_>, call: &CallExpr, hint: CacheHint, span: Span) {
    let [arg] = call.args.as_slice() else {
        return refuse(el, span, "not one copy");
    };
    let ExprKind::Name(name) = &*arg.kind else {
        return refuse(el, arg.span, "not the name of a copy");
    };
    let id = match scope::lookup(el, name, arg.span) {
        Some(Entity::Future(id)) => id,
        Some(Entity::Poison) | None => return,
        Some(_) => return refuse(el, arg.span, "not the name of a copy"),
    };
    let global = |view: &crate::ir::View| el.f.buffer(view.buffer).storage.is_global();
    let mut found = 0;
    let mut refused = false;
    for list in &mut el.build.sinks {
        each_copy(list, id, &mut |copy| {
            found += 1;
            match &mut copy.engine {
                Engine::Tma(tma) if tma.blocks == 1 && !global(&copy.dest) => {
                    tma.hint = Some(hint);
                }
                _ => refused = true,
            }
        });
    }
    el.asynchronous.hints += 1;
    if refused || found == 0 {
        refuse(el, arg.span, "no load by TMA of one block");
    }
}

fn each_copy(stmts: &mut [Stmt], id: FutureId, with: &mut impl FnMut(&mut crate::ir::Copy)) {
    for stmt in stmts {
        if let StmtKind::Copy(copy) = &mut stmt.kind
            && copy.future == Some(id)
        {
            with(copy);
        }
        for block in stmt.kind.blocks_mut() {
            each_copy(block, id, with);
        }
    }
}

fn refuse(el: &mut Elab<'_>, at: Span, label: &str) {
    let text = "an eviction hint is for an asynchronous load by TMA";
    el.cx
        .report(Diagnostic::new(codes::E0859, at, text).label(label).help(
        "name the load: `f = tma.copy.async … => shared;`, then `call croq::cuda::evict_last(f);`",
    ));
}
