//! Groups of asynchronous copies: equal numbers on all paths of an `if`.

use crate::ir::{Stmt, StmtKind, retain_stmts};

/// Gives the branches of each `if` the same number of groups, where each has a fixed number.
/// Returns the number of groups that the statements begin; `None` if it is not fixed.
pub fn balance(stmts: &mut Vec<Stmt>) -> Option<u32> {
    let mut total = Some(0u32);
    for stmt in stmts {
        let span = stmt.span;
        let own = match &mut stmt.kind {
            StmtKind::Copy(copy) => {
                Some(u32::from(copy.future.is_some() && copy.engine.is_threads()))
            }
            StmtKind::CommitCopies => Some(1),
            StmtKind::If {
                then, otherwise, ..
            } => {
                let counts = (balance(then), balance(otherwise));
                if let (Some(a), Some(b)) = counts {
                    let (fewer, missing) = if a < b {
                        (&mut *then, b - a)
                    } else {
                        (&mut *otherwise, a - b)
                    };
                    for _ in 0..missing {
                        fewer.push(Stmt::new(StmtKind::CommitCopies, span));
                    }
                    Some(a.max(b))
                } else {
                    None
                }
            }
            StmtKind::For { body, .. } => balance(body).filter(|n| *n == 0),
            StmtKind::While { prelude, body, .. } => {
                let counts = (balance(prelude), balance(body));
                (counts == (Some(0), Some(0))).then_some(0)
            }
            StmtKind::Parallel { body, .. } => balance(body),
            StmtKind::SingleThread { body, .. } | StmtKind::Region { body, .. } => {
                balance(body).filter(|n| *n == 0)
            }
            _ => Some(0),
        };
        total = match (total, own) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            _ => None,
        };
    }
    total
}

pub fn has_asynchronous(stmts: &[Stmt]) -> bool {
    struct Find(bool);
    impl crate::ir::Visit for Find {
        fn stmt(&mut self, stmt: &Stmt) {
            self.0 |= match &stmt.kind {
                StmtKind::Copy(copy) => copy.future.is_some(),
                StmtKind::Wait { .. } | StmtKind::WaitTma { .. } => true,
                _ => false,
            };
        }
    }
    let mut find = Find(false);
    crate::ir::walk_block(stmts, &mut find);
    find.0
}

/// Removes the statements that only this analysis needs.
pub fn drop_marks(stmts: &mut Vec<Stmt>) {
    retain_stmts(stmts, &mut |s| {
        !matches!(
            s.kind,
            StmtKind::Rotate { .. } | StmtKind::UseFuture(_) | StmtKind::Wait { pending: None, .. }
        )
    });
}
