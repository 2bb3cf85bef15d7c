//! Copies bound by `trigger … after` complete the trigger's event.

use std::collections::BTreeMap;

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{Engine, EventAt, Function, FutureId, Stmt, StmtKind};
use crate::source::Span;

/// Sets the event of each bound copy, and moves the copy to its `trigger`.
pub fn bind(func: &mut Function, diags: &mut Diagnostics) {
    if func.facts.bound.is_empty() {
        return;
    }
    let mut misplaced = Vec::new();
    for kernel in &mut func.kernels {
        bind_in(&mut kernel.body, &func.facts.bound, &mut misplaced);
    }
    for (copy, trigger) in misplaced {
        diags.push(
                Diagnostic::new(codes::E1037, trigger, "a copy that completes an event must be in the same block as the `trigger`")
                    .label("in another block than the copy")
                    .also(copy, "begun here")
                    .help("put both into the same block, or name the event at the copy: `tma.copy.async<e> …`"),
            );
    }
}

/// A copy is issued immediately before its `trigger`, because the slot of the event is only known
/// there.
fn bind_in(
    stmts: &mut Vec<Stmt>,
    bound: &BTreeMap<FutureId, (EventAt, Span)>,
    misplaced: &mut Vec<(Span, Span)>,
) {
    let (rest, mut begun) = (std::mem::take(stmts), Vec::new());
    for mut stmt in rest {
        if let StmtKind::Copy(copy) = &mut stmt.kind
            && let Some((at, trigger)) = copy.future.and_then(|id| bound.get(&id))
            && let Engine::Tma(tma) = &mut copy.engine
        {
            tma.event = Some(at.clone());
            copy.future = None;
            begun.push((*trigger, stmt));
            continue;
        }
        if let StmtKind::Trigger(_) = &stmt.kind {
            let now = |copy: &mut (Span, Stmt)| copy.0 == stmt.span;
            stmts.extend(begun.extract_if(.., now).map(|copy| copy.1));
        }
        for block in stmt.kind.blocks_mut() {
            bind_in(block, bound, misplaced);
        }
        stmts.push(stmt);
    }
    misplaced.extend(
        begun
            .into_iter()
            .map(|(trigger, copy)| (copy.span, trigger)),
    );
}
