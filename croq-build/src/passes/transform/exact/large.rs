//! Integers that exceed the limits of the compiler: the only ones that this pass reports.

use super::needs::Needs;
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{Function, Stmt, StmtKind};
use crate::source::Span;

/// Reports the first one of a function, as [`super::check`] does.
pub fn report(function: &Function, diags: &mut Diagnostics) {
    if !diags.has_errors()
        && let Some(span) = in_host(function, &function.body)
    {
        diags.push(diagnostic(span));
    }
}

pub(super) fn diagnostic(span: Span) -> Diagnostic {
    let text = "this integer expression grows too large to be kept exactly";
    Diagnostic::new(codes::E0429, span, text)
        .label("too many terms, or beyond 64 bits")
        .help("compute a part of it into an `s64` variable first")
}

/// The first one among these statements of the host and the kernels that they launch.
fn in_host(function: &Function, stmts: &[Stmt]) -> Option<Span> {
    stmts.iter().find_map(|stmt| {
        let mut needs = Needs::only_large();
        needs.stmt(stmt);
        needs.host(stmt, function, &function.kernels);
        let launched = || match &stmt.kind {
            StmtKind::Launch(id) => {
                let kernel = function.kernels.get(id.index())?;
                first(&kernel.body)
            }
            _ => None,
        };
        let nested = || {
            let mut blocks = stmt.kind.blocks();
            blocks.find_map(|block| in_host(function, block))
        };
        needs.first_large().or_else(launched).or_else(nested)
    })
}

/// The first one among these statements of a kernel.
pub fn first(stmts: &[Stmt]) -> Option<Span> {
    stmts.iter().find_map(|stmt| {
        let mut needs = Needs::only_large();
        needs.stmt(stmt);
        let nested = || stmt.kind.blocks().find_map(|block| first(block));
        needs.first_large().or_else(nested)
    })
}
