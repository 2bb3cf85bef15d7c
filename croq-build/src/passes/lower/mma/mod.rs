//! Lowers the operations of a warp or a warpgroup on fragments to operations of each of its threads
//! on its part of them.
//!
//! [`prepare`] runs first of all passes: from then on a fragment's buffer is a thread's part, and
//! operations on registers only (fills, `apply`, reductions) are loops over it. Loads, MMAs and
//! stores remain until barriers are inserted, because they access elements of memory that other
//! passes must not consider this thread's own; [`expand`] lowers them to instructions. Fills of a
//! warpgroup's accumulators also remain, because the first MMA may not need them.
//!
//! Every loop over registers is unrolled: an index that is not constant would put a fragment into
//! memory.

mod computed_first;
mod dealt;
mod descriptor_licm;
mod elements;
mod load;
mod metadata;
mod metadata_first;
mod mma_group;
mod multiply;
mod overwritten_fills;
mod pass;
mod registers;
mod release_pipelining;
mod releases;
mod store;
#[cfg(test)]
mod tests;
mod uniform_descriptors;
mod wait_insertion;
mod warpgroup_mma;
mod zero_initialisation;

use dealt::Motion;
use pass::Pass;
pub(in crate::passes) use pass::elements_per_thread;

use crate::ir::{FragmentLayout, Function, KernelId, MmaOp, Stmt, StmtKind};
use crate::symbolic::Sym;

/// Replaces fragments by the threads' parts of them.
pub fn prepare(function: &mut Function) {
    if function.fragments.is_empty() {
        return;
    }
    for at in 0..function.kernels.len() {
        let id = KernelId(u32::try_from(at).unwrap_or(u32::MAX));
        function.with_kernel_body(id, metadata_first::arrange);
    }
    for (id, fragment) in &function.fragments {
        let count = Sym::int(elements_per_thread(fragment) * fragment.count);
        if let Some(buffer) = function.buffers.get_mut(id.index()) {
            buffer.shape = vec![count.clone()];
            buffer.count = count;
        }
    }
    for at in 0..function.kernels.len() {
        let id = KernelId(u32::try_from(at).unwrap_or(u32::MAX));
        function.with_kernel_body(id, |function, body| {
            overwritten_fills::remove(function, body)
        });
        rewrite(function, id, elements::prepared);
    }
}

/// Lowers the remaining operations to instructions.
pub fn expand(function: &mut Function, id: KernelId) {
    // An `mma.commit` may be there without a product.
    wait_insertion::insert(function, id);
    if !function.fragments.is_empty() {
        rewrite(function, id, expanded);
        descriptor_licm::hoist(function, id);
        uniform_descriptors::mark(function, id);
    }
}

fn rewrite(
    function: &mut Function,
    id: KernelId,
    of: fn(&mut Pass<'_>, Stmt) -> Result<Vec<Stmt>, Stmt>,
) {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return;
    };
    let (threads, span) = (kernel.threads.clone(), kernel.span);
    function.with_kernel_body(id, |function, body| {
        let mut pass = Pass {
            function,
            threads,
            span,
            lanes: None,
            described: Vec::new(),
            multiplied: mma_group::registers_of(body),
            cut: metadata::filled_at_edges(body),
        };
        pass.block(body, of);
        let mut first = warpgroup_mma::place_descriptors(&mut pass, body);
        if let Some(lanes) = pass.lanes.take() {
            first.extend(lanes.stmts);
        }
        body.splice(0..0, first);
    });
}

fn expanded(pass: &mut Pass<'_>, stmt: Stmt) -> Result<Vec<Stmt>, Stmt> {
    let StmtKind::Mma(op) = &stmt.kind else {
        return Err(stmt);
    };
    let span = stmt.span;
    let made = match &**op {
        MmaOp::FillElements { part, add, value } => {
            Some(elements::filled(pass, part, *add, value, span))
        }
        MmaOp::Load { into, source } => match pass.layout(into) {
            Some(FragmentLayout::Metadata(layout)) => {
                metadata::load(pass, into, layout, source, span)
            }
            Some(FragmentLayout::Dealt(_)) => dealt::moved(pass, into, source, Motion::Load, span),
            _ => load::load(pass, into, source, span),
        },
        MmaOp::Store {
            from,
            columns,
            dest,
            transposed,
        } => match pass.layout(from) {
            Some(FragmentLayout::Dealt(_)) => {
                let motion = match transposed {
                    true => Motion::StoreTransposed,
                    false => Motion::Store,
                };
                let dest = match columns {
                    Some(columns) => store::widened(pass, from, columns, dest, *transposed),
                    None => Some(dest.clone()),
                };
                dest.and_then(|dest| dealt::moved(pass, from, &dest, motion, span))
            }
            Some(FragmentLayout::Rows { .. }) => elements::store_rows(pass, from, dest, span),
            _ => store::store(pass, (from, columns.as_ref()), dest, *transposed, span),
        },
        MmaOp::WarpgroupMma(mma) => warpgroup_mma::warpgroup_mma(pass, mma, span),
        MmaOp::Multiply {
            acc,
            a,
            b,
            metadata,
            atom,
        } => {
            let parts = [acc, a, b];
            multiply::multiply(pass, parts, metadata.as_ref(), *atom, span)
        }
        _ => return Err(stmt),
    };
    // A statement that could not be lowered remains: `seal` reports it.
    made.ok_or(stmt)
}
