//! Removes statements from a list and from the bodies in it.

use super::{Phase, Stmt};

/// Keeps the statements for which `keep` is true; the others are removed with their bodies.
pub fn retain_stmts<P: Phase>(stmts: &mut Vec<Stmt<P>>, keep: &mut dyn FnMut(&Stmt<P>) -> bool) {
    stmts.retain(|stmt| keep(stmt));
    for stmt in stmts {
        for block in stmt.kind.blocks_mut() {
            retain_stmts(block, keep);
        }
    }
}
