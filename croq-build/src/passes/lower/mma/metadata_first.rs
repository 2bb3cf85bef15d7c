//! Loads the metadata of all iterations of a loop before the MMAs of the first one.
//!
//! A loop with alternating loads and MMAs would wait for each MMA before the next load, which
//! overwrites registers of metadata that an MMA in flight may read. With separate registers for
//! each iteration, and the loads in a separate loop before, the MMAs are one group.

use super::mma_group::is_mma;
use crate::ir::{
    BufferId, FragmentLayout, Function, MmaOp, Part, Stmt, StmtKind, Unroll, Visit, walk_block,
};
use crate::sorted::SortedSet;
use crate::symbolic::Sym;

/// The maximum number of iterations whose metadata is in registers at once.
const ITERATIONS: i64 = 8;

/// Splits the loops of a kernel's body.
pub fn arrange(function: &mut Function, body: &mut Vec<Stmt>) {
    let whole = body.clone();
    arrange_block(function, &whole, body);
}

fn arrange_block(function: &mut Function, whole: &[Stmt], stmts: &mut Vec<Stmt>) {
    for mut stmt in std::mem::take(stmts) {
        match split(function, whole, &stmt) {
            Some(loops) => stmts.extend(loops),
            None => {
                for inner in stmt.kind.blocks_mut() {
                    arrange_block(function, whole, inner);
                }
                stmts.push(stmt);
            }
        }
    }
}

/// A loop of loads, and one of MMAs, if the statement is a loop that consists only of these.
fn split(function: &mut Function, whole: &[Stmt], stmt: &Stmt) -> Option<[Stmt; 2]> {
    let StmtKind::For {
        local,
        lo,
        hi,
        step,
        unroll,
        body,
    } = &stmt.kind
    else {
        return None;
    };
    let var = function.local(*local).var.filter(|_| step.is_one())?;
    let iterations = (hi - lo)
        .as_int()
        .filter(|n| (2..=ITERATIONS).contains(n))?;
    if !matches!(unroll, None | Some(Unroll::Full)) {
        return None;
    }
    let loaded = loaded_metadata(function, body)?;
    // No other statement of the kernel uses the registers.
    if loaded
        .iter()
        .any(|id| uses_of(whole, *id) != uses_of(body, *id))
    {
        return None;
    }
    for id in &loaded {
        function.fragments.get_mut(id)?.count = iterations;
    }
    let iteration = &Sym::var(var) - lo;
    let (mut loads, mut mmas) = (Vec::new(), Vec::new());
    for mut stmt in body.clone() {
        if let StmtKind::Mma(op) = &mut stmt.kind {
            for part in metadata_parts(op) {
                if loaded.contains(&part.buffer) {
                    part.number = Some(iteration.clone());
                }
            }
        }
        match is_mma(&stmt) {
            true => mmas.push(stmt),
            false => loads.push(stmt),
        }
    }
    Some([loads, mmas].map(|body| {
        let kind = StmtKind::For {
            local: *local,
            lo: lo.clone(),
            hi: hi.clone(),
            step: step.clone(),
            unroll: Some(Unroll::Full),
            body,
        };
        Stmt::new(kind, stmt.span)
    }))
}

/// The fragments of metadata that the loads of a loop's body fill, each before the MMAs that use
/// it; `None` if there are other statements than such loads and MMAs.
fn loaded_metadata(function: &Function, body: &[Stmt]) -> Option<SortedSet<BufferId>> {
    let mut loaded = SortedSet::new();
    for stmt in body {
        let StmtKind::Mma(op) = &stmt.kind else {
            return None;
        };
        match &**op {
            MmaOp::Load { into, .. } => {
                let fragment = function.fragments.get(&into.buffer)?;
                let metadata = matches!(fragment.layout, Some(FragmentLayout::Metadata(_)));
                if !metadata || fragment.count != 1 || !loaded.insert(into.buffer) {
                    return None;
                }
            }
            MmaOp::WarpgroupMma(mma) if mma.operation.is_none() => {
                let metadata = mma.metadata.as_ref()?;
                if !loaded.contains(&metadata.buffer) {
                    return None;
                }
            }
            _ => return None,
        }
    }
    let multiplies = body.iter().any(is_mma);
    (multiplies && !loaded.is_empty()).then_some(loaded)
}

fn metadata_parts(op: &mut MmaOp) -> impl Iterator<Item = &mut Part> {
    let part = match op {
        MmaOp::Load { into, .. } => Some(into),
        MmaOp::WarpgroupMma(mma) => mma.metadata.as_mut(),
        _ => None,
    };
    part.into_iter()
}

fn uses_of(stmts: &[Stmt], id: BufferId) -> usize {
    struct Find(BufferId, usize);
    impl Visit for Find {
        fn stmt(&mut self, stmt: &Stmt) {
            if let StmtKind::Mma(op) = &stmt.kind {
                let own = op.parts().into_iter().filter(|part| part.buffer == self.0);
                self.1 += own.count();
            }
        }
    }
    let mut find = Find(id, 0);
    walk_block(stmts, &mut find);
    find.1
}
