//! Statements dropped from a piece of program, wherever they are in it.

use super::{Stmt, StmtKind};

/// Keeps those that `keep` says yes to; what is inside the others goes with them.
pub fn retain_stmts(stmts: &mut Vec<Stmt>, keep: &mut dyn FnMut(&Stmt) -> bool) {
    stmts.retain(|stmt| keep(stmt));
    for stmt in stmts {
        match &mut stmt.kind {
            StmtKind::For { body, .. }
            | StmtKind::Parallel { body, .. }
            | StmtKind::Once { body, .. }
            | StmtKind::Region { body, .. } => retain_stmts(body, keep),
            StmtKind::While { prelude, body, .. } => {
                retain_stmts(prelude, keep);
                retain_stmts(body, keep);
            }
            StmtKind::If {
                then, otherwise, ..
            } => {
                retain_stmts(then, keep);
                retain_stmts(otherwise, keep);
            }
            _ => {}
        }
    }
}
