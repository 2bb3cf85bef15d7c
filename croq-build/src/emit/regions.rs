//! `inthreads` as C++.
//!
//! Consecutive regions with disjoint threads are printed as one decision with several branches.
//! After a branch with a single thread, ptxas assumes that the warp may have diverged; with an
//! `else`, no code follows the branch.

use super::body::Body;
use super::expr;
use crate::ir::ThreadSet;
use crate::ir::threads::{Stmt, StmtKind};

impl Body<'_, '_> {
    /// Prints the regions at the start of `stmts`; returns their number.
    pub(super) fn regions(&mut self, stmts: &[Stmt]) -> usize {
        let mut before: Option<ThreadSet> = None;
        for (number, stmt) in stmts.iter().enumerate() {
            let Some(set) = threads_of(stmt) else {
                return number;
            };
            let apart = match (&before, set) {
                (Some(before), Some(set)) => !before.meets(set),
                _ => false,
            };
            if number > 0 && !apart {
                return number;
            }
            self.region(stmt, if number > 0 { "else " } else { "" });
            let set = set.cloned();
            before = match (before, set) {
                (Some(before), Some(set)) => Some(before.union(&set)),
                (_, set) => set,
            };
        }
        stmts.len()
    }

    fn region(&mut self, stmt: &Stmt, or_else: &str) {
        let StmtKind::Region {
            pred,
            elected_from,
            body,
            ..
        } = &stmt.kind
        else {
            return;
        };
        let pred = expr::used(&self.names, pred, "condition").text;
        match elected_from {
            None => self.braced(stmt.span, &format!("{or_else}if ({pred}) {{"), body),
            // With braces even for few lines: an `else` must not belong to an inner `if`.
            Some((asked, _)) => {
                let asked = expr::used(&self.names, asked, "condition").text;
                // `warp == 0 && elected` where `warp == 0` is the condition already tested.
                let rest = pred
                    .strip_prefix(&asked)
                    .and_then(|rest| rest.strip_prefix(" && "));
                let pred = rest.unwrap_or(&pred);
                self.writer.statement(stmt.span);
                self.writer.open(&format!("{or_else}if ({asked}) {{"));
                self.braced(stmt.span, &format!("if ({pred}) {{"), body);
                self.writer.close("}");
            }
        }
    }
}

/// The threads of a region, before a leader of them was chosen.
fn threads_of(stmt: &Stmt) -> Option<Option<&ThreadSet>> {
    match &stmt.kind {
        StmtKind::Region {
            set, elected_from, ..
        } => match elected_from {
            Some((_, all)) => Some(Some(all)),
            None => Some(set.as_ref()),
        },
        _ => None,
    }
}
