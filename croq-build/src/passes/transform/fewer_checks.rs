//! Removes run-time checks in builds with fewer checks.
//!
//! The checks that remain at the lower level cost almost nothing: those on the host, before a
//! launch, and explicit `assert`s (R14).

use crate::ir::{Function, Stmt, StmtKind, retain_stmts};

/// Removes the checks inside kernels, and with `entry` unset those on the host as well.
pub fn lower(function: &mut Function, entry: bool) {
    let checks = &function.checks;
    let drop_from = |body: &mut Vec<Stmt>, on_host: bool| {
        retain_stmts(body, &mut |stmt| match &stmt.kind {
            StmtKind::Check { check, .. } => {
                let row = checks.get(check.index());
                entry && (on_host || row.is_some_and(|c| c.code.is_assertion()))
            }
            _ => true,
        });
    };
    drop_from(&mut function.body, true);
    for kernel in &mut function.kernels {
        drop_from(&mut kernel.body, false);
    }
}
