//! What a thread computes beside an MMA in flight.
//!
//! Between the wait for one MMA and that for the next, threads compute with the results of the first;
//! in attention this is the softmax. To ptxas it is arithmetic on registers, and the waits are all
//! that is ordered: it moves the second wait in front of the arithmetic, and the tensor cores are idle
//! meanwhile. An arrival between the two that depends on the results of the arithmetic prevents that:
//! what is before the arrival cannot move behind the wait, and the arrival itself cannot move.

use super::pass::{load_of, register};
use crate::ir::{
    Access, BufferId, Expr, Flow, Function, MmaOp, ON, Scalar, Step, Stmt, StmtKind, Storage,
    Visitor, walk,
};
use crate::sorted::{SortedMap, SortedSet};
use crate::symbolic::Sym;

/// At most as many registers of a thread are tested before an arrival.
const MOST: i64 = 4;

/// The registers of the smallest fragment whose values depend on all others that were computed since
/// the last wait that left MMAs in flight. `before` are the statements in front of an arrival.
pub fn values(function: &Function, before: &[Stmt]) -> Vec<Expr> {
    let waits = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Mma(op) => match &**op {
            MmaOp::Step(Step::Wait { younger, .. }) => Some(*younger),
            _ => None,
        },
        _ => None,
    };
    let last = before.iter().rposition(|stmt| waits(stmt).is_some());
    let Some((stmt, since)) = last.and_then(|at| before.get(at..)?.split_first()) else {
        return Vec::new();
    };
    if waits(stmt) == Some(0) {
        return Vec::new();
    }
    let mut computed = Computed {
        function,
        from: SortedMap::new(),
        read: SortedSet::new(),
    };
    let _ = computed.block(since);
    let all: SortedSet<BufferId> = computed.from.keys().copied().collect();
    let registers = |id: &BufferId| function.buffer(*id).count.as_int();
    let mut covering: Vec<(i64, BufferId)> = (computed.from.iter())
        .filter(|(id, from)| from.is_superset(&all) && function.buffer(*id).elem == Scalar::F32)
        .filter_map(|(id, _)| Some((registers(id)?, *id)))
        .filter(|(n, _)| *n <= MOST)
        .collect();
    covering.sort_unstable();
    let Some((count, id)) = covering.first() else {
        return Vec::new();
    };
    let load = |at| {
        let access = register(*id, Sym::int(at), stmt.span);
        load_of(access, Scalar::F32, stmt.span)
    };
    (0..*count).map(load).collect()
}

/// The fragments that statements write, each with those from which its values are computed.
struct Computed<'a> {
    function: &'a Function,
    from: SortedMap<BufferId, SortedSet<BufferId>>,
    /// Those that the current statement reads.
    read: SortedSet<BufferId>,
}

impl Visitor for Computed<'_> {
    fn stmt(&mut self, stmt: &Stmt) -> Flow {
        let StmtKind::Store { access, .. } = &stmt.kind else {
            return walk::stmt(self, stmt);
        };
        self.read.clear();
        walk::stmt(self, stmt)?;
        let to = access.view.buffer;
        if self.function.buffer(to).storage != Storage::Fragment {
            return ON;
        }
        let mut from: SortedSet<BufferId> = (self.read.iter())
            .filter_map(|read| self.from.get(read))
            .flatten()
            .copied()
            .collect();
        from.insert(to);
        // Other registers of the fragment keep their values.
        self.from.entry(to).or_default().extend(from);
        ON
    }

    fn access(&mut self, access: &Access, _written: bool) -> Flow {
        self.read.insert(access.view.buffer);
        walk::access(self, access)
    }
}
