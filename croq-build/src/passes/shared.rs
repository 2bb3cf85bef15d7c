//! The shared-memory plan: where in the block's arena each shared buffer lies.
//!
//! Buffers of known size come first, in order of declaration and 128-byte aligned, so that later
//! asynchronous copies into them are legal; buffers whose size only the launch knows follow, each
//! at a multiple of 16 bytes. The first buffer is at 0, and a CUDA arena is 1024-byte aligned, so an
//! offset's alignment is an address's. Swizzled buffers begin at multiples of 1024 bytes, where the
//! pattern begins.

use super::uses::Uses;
use crate::ir::{BufferId, Function, KernelId, Stmt, StmtKind, Storage, TmaOp, Visit, walk_block};
use crate::symbolic::Sym;
use std::collections::BTreeSet;

const STATIC_ALIGNMENT: i64 = 128;
const DYNAMIC_ALIGNMENT: i64 = 16;
const SWIZZLED_ALIGNMENT: i64 = 1024;
const MBARRIER_ALIGNMENT: i64 = 8;

pub fn plan(function: &mut Function, id: KernelId) {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return;
    };
    let uses = Uses::of_block(function, &kernel.body);
    let by_tma = moved_by_tma(&kernel.body);
    let mut fixed = Vec::new();
    let mut sized_at_launch = Vec::new();
    for buffer in uses.buffers {
        let Some(info) = function.buffers.get(buffer.index()) else {
            continue;
        };
        if !matches!(info.storage, Storage::Shared | Storage::Mbarriers) {
            continue;
        }
        let bytes = &info.count * i64::try_from(info.elem.bytes()).unwrap_or(1);
        let is_fixed = bytes.as_int().is_some();
        let alignment = match info.storage {
            Storage::Mbarriers => MBARRIER_ALIGNMENT,
            _ if info.swizzle.is_some() => SWIZZLED_ALIGNMENT,
            _ if is_fixed || by_tma.contains(&buffer) => STATIC_ALIGNMENT,
            _ => DYNAMIC_ALIGNMENT,
        };
        if is_fixed {
            fixed.push((buffer, bytes, alignment));
        } else {
            sized_at_launch.push((buffer, bytes, alignment));
        }
    }
    // Small things after what would leave gaps behind them.
    fixed.sort_by_key(|(_, _, alignment)| *alignment == MBARRIER_ALIGNMENT);

    let cx = &function.cx;
    let mut offset = Sym::zero();
    let mut end = Sym::zero();
    let mut placed: Vec<(BufferId, Sym)> = Vec::new();
    for (buffer, bytes, alignment) in fixed.into_iter().chain(sized_at_launch) {
        offset = align(cx, &offset, alignment);
        placed.push((buffer, offset.clone()));
        offset = &offset + &bytes;
        end = offset.clone();
    }
    let total = align(cx, &end, DYNAMIC_ALIGNMENT);
    if let Some(kernel) = function.kernels.get_mut(id.index()) {
        kernel.shared = placed;
        kernel.shared_bytes = total;
    }
}

/// Tiles that the copy engine reaches begin at multiples of 128 bytes.
fn moved_by_tma(body: &[Stmt]) -> BTreeSet<BufferId> {
    struct Find(BTreeSet<BufferId>);
    impl Visit for Find {
        fn stmt(&mut self, stmt: &Stmt) {
            if let StmtKind::Tma(TmaOp::Load { moved, .. } | TmaOp::Store { moved }) = &stmt.kind {
                self.0.insert(moved.buffer);
            }
        }
    }
    let mut find = Find(BTreeSet::new());
    walk_block(body, &mut find);
    find.0
}

fn align(cx: &crate::symbolic::Ctx, offset: &Sym, to: i64) -> Sym {
    cx.align_up(offset, &Sym::int(to))
}
