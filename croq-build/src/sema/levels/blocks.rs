//! The blocks of a kernel.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::Level;
use crate::sema::levels::indices::{self, block_index, part_name};
use crate::sema::levels::{cluster_legality, extents, thread_mapping};
use crate::sema::state::elab::Elab;
use crate::sema::state::nests::Node;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, ParallelItem};

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
        el.cx.report(
            Diagnostic::new(
                codes::W0523,
                item.span,
                "a block with no inner `parallel` runs one thread",
            )
            .label("one thread per block")
            .help("add an inner `parallel … : thread`, or write `: thread` here")
            .of_the_whole(),
        );
    }
    let mut grid = [Sym::one(), Sym::one(), Sym::one()];
    let mut values = Vec::new();
    for (axis, extent) in extents.iter().enumerate() {
        extents::check_grid_limit(el, axis, extent, item.span);
        if let Some(g) = grid.get_mut(axis) {
            *g = extent.clone();
        }
        let name = part_name(&item.binding, axis);
        let e = block_index(axis, item.span);
        let value = indices::new_index_variable(el, &name, Level::Block, e, extent, None);
        if let Some(slot) = el
            .kernel
            .as_mut()
            .and_then(|k| k.grid.indices.get_mut(axis))
        {
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
