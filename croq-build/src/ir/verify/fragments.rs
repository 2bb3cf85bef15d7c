//! Verifies operations on fragments.

use super::super::*;
use super::expr;
use super::verifier::Verifier;

/// Verifies an operation, and declares the locals that its statements or those after it use.
pub(super) fn operation<'a, P: Phase>(v: &mut Verifier<'a, P>, op: &'a MmaOp<P>) {
    for part in op.parts() {
        expr::part(v, part);
        let fragment = v.function.fragments.get(&part.buffer);
        let layout = fragment.and_then(|f| f.layout);
        // Fragments in no MMA are distributed over all threads of the level.
        if let Some(FragmentLayout::Dealt(_)) = layout {
            continue;
        }
        // A fragment that is only filled has no shape and no registers.
        if layout.is_none() && matches!(op, MmaOp::FillElements { .. }) {
            continue;
        }
        let warps = layout.map_or(1, FragmentLayout::warps);
        let unit = match warps {
            1 => Level::Warp,
            _ => Level::Warpgroup,
        };
        v.collective(unit);
        let around = v.unit;
        v.require(around <= unit, || {
            format!("fragments of a unit ({unit:?}) are used in a part of one ({around:?})")
        });
    }
    op.views()
        .into_iter()
        .for_each(|(view, _)| expr::view(v, view));
    for (access, _) in op.accesses() {
        expr::access(v, access);
    }
    metadata(v, op);
    match op {
        MmaOp::FillElements { value, .. } => expr::expr(v, value),
        MmaOp::Apply { indices, .. } => indices.iter().for_each(|id| v.declare(*id)),
        MmaOp::WarpgroupMma(mma) => expr::condition(v, &P::only(mma).accumulate),
        MmaOp::Step(Step::Describe { local, leading, .. }) => {
            v.sym(leading);
            v.declare(*local);
        }
        MmaOp::Step(Step::Advance {
            local, by, bytes, ..
        }) => {
            v.local(*by);
            v.sym(bytes);
            v.declare(*local);
        }
        MmaOp::Step(Step::Instruction(i)) => {
            i.described().for_each(|d| v.local(d.by));
            expr::condition(v, &i.accumulate);
        }
        MmaOp::Step(Step::Fence { registers } | Step::Wait { registers, .. }) => {
            registers.iter().for_each(|id| v.buffer(*id));
        }
        MmaOp::Load { .. }
        | MmaOp::Multiply { .. }
        | MmaOp::CommitAll(_)
        | MmaOp::WaitMma(_)
        | MmaOp::Store { .. }
        | MmaOp::Reduce { .. }
        | MmaOp::AllReduce { .. }
        | MmaOp::Convert { .. }
        | MmaOp::Instruction { .. }
        | MmaOp::Matrices { .. }
        | MmaOp::Step(Step::Commit) => {}
    }
}

/// Verifies that the metadata of a sparse MMA has the layout for its instruction, and that no other
/// operand has this layout.
fn metadata<P: Phase>(v: &mut Verifier<'_, P>, op: &MmaOp<P>) {
    let (metadata, atom) = match op {
        MmaOp::Multiply { metadata, atom, .. } => (metadata.as_ref(), *atom),
        MmaOp::WarpgroupMma(mma) => {
            let mma = P::only(mma);
            (mma.metadata.as_ref(), mma.atom)
        }
        _ => return,
    };
    for part in op.parts() {
        let fragment = v.function.fragments.get(&part.buffer);
        let layout = match fragment.and_then(|f| f.layout) {
            Some(FragmentLayout::Metadata(layout)) => Some(layout),
            _ => None,
        };
        let is_metadata = metadata.is_some_and(|m| m.buffer == part.buffer);
        let fits = match layout {
            Some(layout) => is_metadata && layout.k == atom.k,
            None => !is_metadata,
        };
        v.require(fits, || {
            "an operand of an MMA has the layout of metadata, or metadata another one".to_owned()
        });
    }
}
