//! `: cluster`: blocks that are resident together. Its bounds are the numbers of blocks along each
//! axis of the grid, its variables the position of a block in the cluster; the grid is that of the
//! `: block` inside.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{BinOp, Level};
use crate::sema::checks::targets;
use crate::sema::levels::indices::{self, block_index, index_op, part_name};
use crate::sema::levels::nest::node_cursor;
use crate::sema::levels::{blocks, extents};
use crate::sema::state::elab::Elab;
use crate::sema::state::nests::Node;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{ParallelItem, ParallelStmt};

/// The cluster size that every GPU with clusters supports.
const PORTABLE: i64 = 8;
/// The largest cluster size that some GPUs support.
const MOST: i64 = 16;

/// Lowers the cluster level, which is the first item of a nest; returns the grid of the blocks
/// inside.
pub(crate) fn lower(
    el: &mut Elab<'_>,
    p: &ParallelStmt,
    item: &ParallelItem,
    extents: &[Sym],
    tree: &Node,
) -> Option<[Sym; 3]> {
    let sizes = check_sizes(el, extents, item.span)?;
    if sizes.iter().any(|size| *size > 1) {
        targets::note_targets(el, item.span, codes::N0510, "clusters");
    }
    // As for blocks, the first two parts are x and y, and the others together z.
    let mut cluster = [1; 3];
    let parts_of_z = extents.get(2..).unwrap_or_default();
    let folded = indices::folded(parts_of_z);
    let depth = parts_of_z.iter().product::<Sym>();
    let mut values = Vec::new();
    for (part, (size, extent)) in sizes.iter().zip(extents).enumerate() {
        let axis = part.min(2);
        if let Some(slot) = cluster.get_mut(axis) {
            *slot *= *size;
        }
        let name = part_name(&item.binding, part);
        let block = block_index(axis, item.span);
        let alone = part < 2 || parts_of_z.len() == 1;
        let e = match folded.get(part.wrapping_sub(2)).filter(|_| !alone) {
            None => index_op(BinOp::Rem, block, extent.clone(), item.span),
            Some(index) => {
                let place = index_op(BinOp::Rem, block, depth.clone(), item.span);
                indices::divided(place, index, item.span)
            }
        };
        let value = indices::new_index_variable(el, &name, Level::Cluster, e, extent, None);
        let slot = el.kernel.as_mut().filter(|_| alone);
        if let Some(slot) = slot.and_then(|k| k.grid.places.get_mut(axis)) {
            *slot = value.as_var();
        }
        values.push(value);
    }
    if let Some(k) = el.kernel.as_mut() {
        k.grid.cluster = cluster;
    }
    indices::bind_indices(el, &item.binding, values, extents);
    match (p.items.get(1), tree.children.first()) {
        (Some(item), Some(child)) => {
            let extents = extents::lower_all(el, item)?;
            let rest = p.items.get(2..).unwrap_or_default();
            blocks::lower_blocks(el, item, &extents, child, rest, &p.body)
        }
        _ => {
            el.nests.push(node_cursor(tree));
            el.block(&p.body);
            el.nests.pop();
            el.kernel.as_mut()?.grid.extents.take()
        }
    }
}

fn check_sizes(el: &mut Elab<'_>, extents: &[Sym], at: Span) -> Option<Vec<u32>> {
    let mut total: i64 = 1;
    let mut sizes = Vec::new();
    for extent in extents {
        let Some(size) = extent.as_int() else {
            let shown = el.f.cx.show(extent);
            el.cx.report(
                Diagnostic::new(codes::E0525, at, "the size of a cluster is a constant")
                    .label(format!("`{shown}` is known at run time"))
                    .help("write a number, or a `#define`"),
            );
            return None;
        };
        total = total.saturating_mul(size);
        sizes.push(u32::try_from(size).unwrap_or(u32::MAX));
    }
    if total > MOST {
        el.cx.report(
            Diagnostic::new(
                codes::E0525,
                at,
                format!("{total} blocks in a cluster: at most {MOST} fit"),
            )
            .label(format!("{total} blocks"))
            .help(format!("every GPU with clusters has room for {PORTABLE}")),
        );
        return None;
    }
    if total > PORTABLE {
        el.cx.report(
            Diagnostic::new(
                codes::W0525,
                at,
                format!("{total} blocks in a cluster: not every GPU with clusters has room"),
            )
            .label(format!("{PORTABLE} are portable"))
            .help("an H100 has room for 16, others refuse the launch"),
        );
    }
    Some(sizes)
}

#[cfg(test)]
mod tests {

    fn codes(size: u32, archs: &[(&str, u16)]) -> Vec<&'static str> {
        let text = format!(
            "__co__ void f(global f32 [64] x) {{
               parallel c by {size} : cluster, p by 2 : block, i by 32 : thread x.at(p # i) = c;
             }}"
        );
        crate::sema::testing::codes(&text, archs)
    }

    #[test]
    fn some_target_has_clusters() {
        assert_eq!(codes(2, &[("sm_80", 80), ("sm_90a", 90)]), ["N0510"]);
        assert!(codes(2, &[("sm_90a", 90)]).is_empty());
        assert!(codes(1, &[("sm_80", 80), ("sm_90a", 90)]).is_empty());
        assert_eq!(codes(2, &[("sm_80", 80)]), ["E0510"]);
    }
}
