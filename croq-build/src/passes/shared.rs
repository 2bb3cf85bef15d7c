//! The shared-memory plan: where in the block's arena each shared buffer lies.
//!
//! Buffers of known size come first, in order of declaration and 128-byte aligned, so that later
//! asynchronous copies into them are legal; buffers whose size only the launch knows follow, each
//! at a multiple of 16 bytes. The first buffer is at 0, and a CUDA arena is 1024-byte aligned, so an
//! offset's alignment is an address's. Swizzled buffers begin at multiples of 1024 bytes, where the
//! pattern begins.

use super::uses::Uses;
use crate::ir::{BufferId, Function, KernelId, Storage};
use crate::symbolic::Sym;

const STATIC_ALIGNMENT: i64 = 128;
const DYNAMIC_ALIGNMENT: i64 = 16;
const SWIZZLED_ALIGNMENT: i64 = 1024;

pub fn plan(function: &mut Function, id: KernelId) {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return;
    };
    let uses = Uses::of_block(function, &kernel.body);
    let mut fixed = Vec::new();
    let mut sized_at_launch = Vec::new();
    for buffer in uses.buffers {
        let Some(info) = function.buffers.get(buffer.index()) else {
            continue;
        };
        if info.storage != Storage::Shared {
            continue;
        }
        let bytes = &info.count * i64::try_from(info.elem.bytes()).unwrap_or(1);
        let (group, alignment) = if bytes.as_int().is_some() {
            (&mut fixed, STATIC_ALIGNMENT)
        } else {
            (&mut sized_at_launch, DYNAMIC_ALIGNMENT)
        };
        let alignment = match info.swizzle {
            Some(_) => SWIZZLED_ALIGNMENT,
            None => alignment,
        };
        group.push((buffer, bytes, alignment));
    }

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

fn align(cx: &crate::symbolic::Ctx, offset: &Sym, to: i64) -> Sym {
    cx.align_up(offset, &Sym::int(to))
}
