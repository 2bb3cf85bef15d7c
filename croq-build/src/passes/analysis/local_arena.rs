//! Offsets of a thread's local arrays in the simulated GPU's arena.
//!
//! A thread's stack there is small, and nothing should depend on how a C++ compiler lays out a
//! frame. Large arrays and all fragments are in an arena that the launch allocates for each thread
//! in addition to its stack, at offsets that are computed here, so its size is known before the
//! launch. Small arrays stay in the frame, where a C++ compiler can keep them in registers. On a
//! GPU all of them are plain arrays.

use crate::ir::threads::{Function, Kernel};
use crate::ir::{BufferId, Storage};
use crate::passes::analysis::captures::kernel_uses;
use crate::passes::analysis::unproven::Unproven;
use crate::sorted::SortedMap;

/// Maximum size in bytes of an array that stays in the frame.
const MOST_IN_FRAME: u64 = 256;
/// Maximum size in bytes of all such arrays together.
const ALL_IN_FRAME: u64 = 4096;
/// Alignment in bytes of each array in the arena: the width of the widest access.
const ALIGNMENT: u64 = 16;

/// The arena of a kernel's threads.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Arena {
    /// The offset in bytes of each array in the arena.
    pub offsets: SortedMap<BufferId, u64>,
    pub bytes: u64,
}

pub fn arena(function: &Function, kernel: &Kernel) -> Arena {
    let mut arena = Arena::default();
    let mut in_frame = 0u64;
    let unproven = Unproven::of(function, kernel);
    for id in kernel_uses(function, kernel).buffers {
        let Some(buffer) = function.buffers.get(id.index()) else {
            continue;
        };
        if !matches!(buffer.storage, Storage::Local | Storage::Fragment) {
            continue;
        }
        // sema admits only static sizes here.
        let count = buffer.count.as_int().and_then(|n| u64::try_from(n).ok());
        let element = buffer.elem.bytes().max(1);
        // The marks of written elements follow the elements, one byte each.
        let has_marks = unproven.buffers.contains(&id) || unproven.escaping.contains(&id);
        let each = element + u64::from(has_marks);
        let bytes = count.unwrap_or(1).max(1).saturating_mul(each);
        let small = bytes <= MOST_IN_FRAME && in_frame + bytes <= ALL_IN_FRAME;
        if small && buffer.storage == Storage::Local {
            in_frame += bytes;
            continue;
        }
        arena.offsets.insert(id, arena.bytes);
        let whole = bytes.div_ceil(ALIGNMENT).saturating_mul(ALIGNMENT);
        arena.bytes = arena.bytes.saturating_add(whole);
    }
    arena
}
