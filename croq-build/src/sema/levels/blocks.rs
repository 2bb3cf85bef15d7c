//! The blocks of a kernel.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::Level;
use crate::sema::levels::indices::{self, block_index, part_name};
use crate::sema::levels::{cluster_legality, extents, thread_mapping};
use crate::sema::state::elab::Elab;
use crate::sema::state::nests::Node;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, ParallelItem};

/// The grid: the first two parts are its x and y, the others together its z.
fn grid_of(extents: &[Sym]) -> [Sym; 3] {
    let axis = |n: usize| extents.get(n).cloned().unwrap_or_else(Sym::one);
    let rest = extents.iter().skip(2);
    [axis(0), axis(1), rest.product::<Sym>()]
}

/// Lowers the block level of a kernel; returns the grid.
pub(crate) fn lower_blocks(
    el: &mut Elab<'_>,
    item: &ParallelItem,
    extents: &[Sym],
    tree: &Node,
    rest: &[ParallelItem],
    body: &ast::Block,
) -> Option<[Sym; 3]> {
    if tree.children.is_empty() && tree.explicit && !super::nest::uses_shared(&body.stmts) {
        // Blocks of a cluster, and blocks that a barrier of the grid may order, stay blocks.
        let grid = el.kernel.as_ref().map(|k| &k.grid);
        let stay = grid.is_some_and(|grid| grid.cooperative || grid.cluster != [1; 3]);
        el.cx.report(
            Diagnostic::new(
                codes::W0523,
                item.span,
                "a block with no inner `parallel` runs one thread",
            )
            .label("one thread per block")
            .help(match stay {
                true => "add an inner `parallel … : thread`",
                false => "add an inner `parallel … : thread`, or write `: thread` here",
            })
            .of_the_whole(),
        );
    }
    let grid = grid_of(extents);
    let parts_of_z = extents.get(2..).unwrap_or_default();
    for (axis, extent) in grid.iter().enumerate().take(extents.len()) {
        extents::check_grid_limit(el, axis, extent, item.span);
    }
    let folded = indices::folded(parts_of_z);
    let mut values = Vec::new();
    for (part, extent) in extents.iter().enumerate() {
        let axis = part.min(2);
        let name = part_name(&item.binding, part);
        let mut e = block_index(axis, item.span);
        let alone = part < 2 || parts_of_z.len() == 1;
        if !alone && let Some(index) = folded.get(part - 2) {
            e = indices::divided(e, index, item.span);
        }
        let value = indices::new_index_variable(el, &name, Level::Block, e, extent, None);
        let slot = el.kernel.as_mut().filter(|_| alone);
        if let Some(slot) = slot.and_then(|k| k.grid.indices.get_mut(axis)) {
            *slot = value.as_var();
        }
        values.push(value);
    }
    cluster_legality::check_grid(el, &grid, item.span)?;
    cluster_legality::assume_first_block(el);
    indices::bind_indices(el, &item.binding, values, extents);
    thread_mapping::lower_after_header(el, tree, rest, body);
    Some(grid)
}
