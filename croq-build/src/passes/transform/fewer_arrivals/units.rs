//! The units of which one thread arrives.

use crate::ir::{BufferId, Function, Level, Storage};
use crate::sorted::SortedMap;

/// The unit of which one thread arrives, for the mbarriers of each event that has one.
pub type Units = SortedMap<BufferId, Level>;

/// Whether other threads can access the buffer's memory.
pub fn is_common(function: &Function, id: BufferId) -> bool {
    let buffer = function.buffers.get(id.index());
    buffer.is_none_or(|b| !matches!(b.storage, Storage::Local | Storage::Fragment))
}
