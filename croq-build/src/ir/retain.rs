//! Statements dropped from a piece of program, wherever they are in it.

use super::{Phase, Stmt};

/// Keeps those that `keep` says yes to; what is inside the others goes with them.
pub fn retain_stmts<P: Phase>(stmts: &mut Vec<Stmt<P>>, keep: &mut dyn FnMut(&Stmt<P>) -> bool) {
    stmts.retain(|stmt| keep(stmt));
    for stmt in stmts {
        for block in stmt.kind.blocks_mut() {
            retain_stmts(block, keep);
        }
    }
}
