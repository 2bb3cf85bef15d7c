//! Packed elements of which two threads may store to one byte.
//!
//! A store of a packed element rewrites its byte. Where another thread may do the same with another
//! element of the byte, it must be a compare-and-swap. As in `owned`, the stores of a kernel are
//! compared in pairs, with the numbers of bytes in place of those of elements: it is enough that a
//! byte determines the instance of all levels that stores to it. Barriers are not taken into
//! account, and a copy or a fill counts unless its vectors are known to have whole bytes.

use std::rc::Rc;

use super::access::MemAccess;
use super::collect::Collector;
use super::instances::{EnclosingIndices, is_one_instance};
use super::owned::{accesses_of_blocks, indices_around};
use super::vars::Vars;
use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{BufferId, Function, KernelId, Scalar, Stmt, StmtKind};
use crate::passes::lower::copies::{Tile, moves_whole_bytes};
use crate::sorted::SortedMap;
use crate::source::Span;
use crate::symbolic::{Ctx, Sym};

/// The maximum number of stores to one buffer that are compared.
const MOST: usize = 64;

/// Finds the buffers, and reports the cost once for each.
pub fn find(function: &mut Function, id: KernelId) -> Vec<Diagnostic> {
    if !function.buffers.iter().any(|b| b.elem.is_packed()) {
        return Vec::new();
    }
    let found = function.with_kernel_body(id, |function, body| {
        let mut stores = Stores::default();
        let others = stores.block(function, body);
        stores.compare(function, body, &others);
        stores.swapped
    });
    let mut reports = Vec::new();
    for (id, span) in found.unwrap_or_default() {
        let Some(buffer) = function.buffers.get_mut(id.index()) else {
            continue;
        };
        if buffer.swaps {
            continue;
        }
        buffer.swaps = true;
        let (name, elem) = (&buffer.name, buffer.elem);
        reports.push(
            Diagnostic::new(
                codes::W0870,
                span,
                format!("threads may store to one byte of `{name}`: each store of an element is a compare-and-swap"),
            )
            .label(format!(
                "a byte has {} elements of `{elem}`; a store reads the word of 32 bits, and tries again if it has changed",
                elem.per_byte()
            ))
            .help(format!(
                "let one thread store all {} elements of a byte, or copy a tile with rows that begin and end at whole bytes",
                elem.per_byte()
            )),
        );
    }
    reports
}

#[derive(Default)]
struct Stores {
    /// The first store to each buffer.
    first: SortedMap<BufferId, Span>,
    swapped: SortedMap<BufferId, Span>,
}

impl Stores {
    /// The statements without copies and fills.
    fn block(&mut self, function: &Function, stmts: &[Stmt]) -> Vec<Stmt> {
        stmts
            .iter()
            .filter_map(|stmt| self.stmt(function, stmt))
            .collect()
    }

    fn stmt(&mut self, function: &Function, stmt: &Stmt) -> Option<Stmt> {
        let span = stmt.span;
        let tile = match &stmt.kind {
            StmtKind::Copy(copy) => Some(Tile::of_copy(function, copy, span)),
            StmtKind::Fill { view, value, .. } => {
                Some(Tile::of_fill(function, view, value.clone(), span))
            }
            _ => None,
        };
        if let Some(tile) = tile {
            let dest = tile.dest_buffer();
            let unequal = is_packed(function, dest) && !moves_whole_bytes(&function.cx, &tile);
            if unequal {
                self.swapped.entry(dest).or_insert(span);
            }
            return None;
        }
        let mut stmt = stmt.clone();
        if let StmtKind::Store { access, .. } = &stmt.kind
            && is_packed(function, access.view.buffer)
        {
            self.first.entry(access.view.buffer).or_insert(span);
        }
        for block in stmt.kind.blocks_mut() {
            *block = self.block(function, block);
        }
        Some(stmt)
    }

    fn compare(&mut self, function: &mut Function, body: &[Stmt], others: &[Stmt]) {
        if self.first.is_empty() {
            return;
        }
        let around = indices_around(function, body);
        let (mut collector, accesses) = accesses_of_blocks(function, &around, others);
        let Collector { function, vars, .. } = &mut collector;
        // Each block has its own shared memory.
        let in_block = EnclosingIndices::default();
        for (id, span) in &self.first {
            let around = match function.buffer_is_global(*id) {
                true => &around,
                false => &in_block,
            };
            let stores: Vec<MemAccess> = accesses
                .iter()
                .filter(|a| a.buffer == *id && a.write)
                .map(|access| of_byte(&function.cx, access, function.buffer(*id).elem))
                .collect();
            let is_one =
                |a: &MemAccess, b: &MemAccess, function: &mut Function, vars: &mut Vars| {
                    are_same_levels(a, b) && is_one_instance(&mut function.cx, vars, a, b, around)
                };
            let owned = stores.len() <= MOST
                && stores
                    .iter()
                    .enumerate()
                    .all(|(at, a)| (stores.iter().skip(at)).all(|b| is_one(a, b, function, vars)));
            if !owned {
                self.swapped.entry(*id).or_insert(*span);
            }
        }
    }
}

/// The same access with the place of its byte: rows begin at whole bytes.
pub(super) fn of_byte(cx: &Ctx, access: &MemAccess, elem: Scalar) -> MemAccess {
    let per_byte = Sym::int(i64::from(elem.per_byte()));
    let mut access = access.clone();
    if let Some(place) = &mut access.place {
        let place = Rc::make_mut(place);
        let coordinates = place.coordinates.iter_mut();
        for element in coordinates.filter_map(|c| c.last_mut()) {
            *element = cx.div(element, &per_byte);
        }
        place.flat = cx.div(&place.flat, &per_byte);
    }
    access
}

/// Whether the same levels are around both: barriers between levels order elements, not bytes.
fn are_same_levels(a: &MemAccess, b: &MemAccess) -> bool {
    a.executor == b.executor
        && a.chain.len() == b.chain.len()
        && (a.chain.iter().zip(b.chain.iter())).all(|(a, b)| a.instance == b.instance)
}

/// Whether elements of the buffer share bytes.
fn is_packed(function: &Function, id: BufferId) -> bool {
    let buffer = function.buffers.get(id.index());
    buffer.is_some_and(|b| b.elem.is_packed() && !b.storage.is_private())
}
