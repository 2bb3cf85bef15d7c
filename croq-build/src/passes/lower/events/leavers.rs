//! Blocks of a cluster that may leave while others still arrive at their events.
//!
//! All threads wait for the cluster at the end of the kernel, and `yield` goes around that. Where
//! some threads of the block never leave early, these keep the block.

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{Stmt, StmtKind, ThreadSet};
use crate::source::Span;

/// `all`: the threads of the block, if their number is known.
pub fn check(body: &[Stmt], all: Option<&ThreadSet>, diags: &mut Diagnostics) {
    let mut found = Leavers {
        set: ThreadSet::default(),
        everybody: false,
        last: None,
    };
    found.block(body, all);
    let stays = all.is_some_and(|all| !found.set.includes(all)) && !found.everybody;
    if let Some(last) = found.last.filter(|_| !stays) {
        let text = "a whole block may leave while other blocks of its cluster trigger its events";
        diags.push(
            Diagnostic::new(codes::E0582, last, text)
                .label("goes around the barrier of the cluster at the end of the kernel")
                .help("put what follows under the opposite condition, so that all threads come to the end"),
        );
    }
}

struct Leavers {
    set: ThreadSet,
    /// Some are only known at run time.
    everybody: bool,
    last: Option<Span>,
}

impl Leavers {
    fn block(&mut self, stmts: &[Stmt], set: Option<&ThreadSet>) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Yield => {
                    self.last = Some(stmt.span);
                    match set {
                        Some(set) => self.set = self.set.union(set),
                        None => self.everybody = true,
                    }
                }
                StmtKind::Region { set: own, body, .. } => self.block(body, own.as_ref().or(set)),
                kind => kind.blocks().for_each(|block| self.block(block, set)),
            }
        }
    }
}
