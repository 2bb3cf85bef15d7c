//! Statements dropped from a piece of program, wherever they are in it.

use super::Stmt;

/// Keeps those that `keep` says yes to; what is inside the others goes with them.
pub fn retain_stmts(stmts: &mut Vec<Stmt>, keep: &mut dyn FnMut(&Stmt) -> bool) {
    stmts.retain(|stmt| keep(stmt));
    for stmt in stmts {
        for block in stmt.kind.blocks_mut() {
            retain_stmts(block, keep);
        }
    }
}
