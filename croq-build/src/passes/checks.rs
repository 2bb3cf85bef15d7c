//! Leaves run-time checks out, where a build asks for fewer.
//!
//! What stays at the lower level costs next to nothing: checks on the host, before a launch, and the
//! `assert`s that a person wrote (R14).

use crate::ir::{CheckInfo, Function, Stmt, StmtKind};

/// Drops the checks inside kernels, and with `entry` unset those on the host as well.
pub fn lower(function: &mut Function, entry: bool) {
    let checks = &function.checks;
    let keeps = |on_host: bool| {
        move |check: Option<&CheckInfo>| {
            entry && (on_host || check.is_some_and(|c| c.code == "R14"))
        }
    };
    drop_checks(&mut function.body, checks, &keeps(true));
    for kernel in &mut function.kernels {
        drop_checks(&mut kernel.body, checks, &keeps(false));
    }
}

fn drop_checks(
    body: &mut Vec<Stmt>,
    rows: &[CheckInfo],
    keeps: &impl Fn(Option<&CheckInfo>) -> bool,
) {
    body.retain(|stmt| match &stmt.kind {
        StmtKind::Check { check, .. } => keeps(rows.get(check.index())),
        _ => true,
    });
    for stmt in body {
        match &mut stmt.kind {
            StmtKind::For { body, .. }
            | StmtKind::Parallel { body, .. }
            | StmtKind::Once { body, .. }
            | StmtKind::Region { body, .. } => drop_checks(body, rows, keeps),
            StmtKind::While { prelude, body, .. } => {
                drop_checks(prelude, rows, keeps);
                drop_checks(body, rows, keeps);
            }
            StmtKind::If {
                then, otherwise, ..
            } => {
                drop_checks(then, rows, keeps);
                drop_checks(otherwise, rows, keeps);
            }
            _ => {}
        }
    }
}
