//! A block's shared memory.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;

/// The largest alignment that TMA and wgmma require of shared addresses.
const ALIGNMENT: usize = 1024;

/// The initial byte of shared memory: NaN in every float format, -1 in every integer type.
const POISON: u8 = 0xff;

/// Memory for one block at a time, reused by the next.
#[derive(Default)]
pub(super) struct Arena {
    memory: Option<(NonNull<u8>, Layout)>,
}

impl Arena {
    /// At least `bytes` of memory; `None` if the allocation fails. Null for zero bytes.
    pub(super) fn reserve(&mut self, bytes: u64) -> Option<*mut u8> {
        let bytes = usize::try_from(bytes).ok()?;
        if bytes == 0 {
            return Some(std::ptr::null_mut());
        }
        match self.memory {
            Some((memory, layout)) if layout.size() >= bytes => Some(memory.as_ptr()),
            _ => {
                self.release();
                let layout = Layout::from_size_align(bytes, ALIGNMENT)
                    .ok()?
                    .pad_to_align();
                // SAFETY: the layout isn't empty.
                let memory = NonNull::new(unsafe { alloc(layout) })?;
                self.memory = Some((memory, layout));
                Some(memory.as_ptr())
            }
        }
    }

    /// # Safety
    /// As for [`Arena::poison`].
    pub(super) unsafe fn clear(memory: *mut u8, bytes: u64) {
        if bytes != 0 {
            // SAFETY: the caller's promise; the conversion succeeded in `reserve`.
            unsafe { memory.write_bytes(0, bytes as usize) }
        }
    }

    /// # Safety
    /// `memory` is from the last `reserve` of at least `bytes`.
    pub(super) unsafe fn poison(memory: *mut u8, bytes: u64) {
        if bytes != 0 {
            // SAFETY: the caller's promise; the conversion succeeded in `reserve`.
            unsafe { memory.write_bytes(POISON, bytes as usize) }
        }
    }

    fn release(&mut self) {
        if let Some((memory, layout)) = self.memory.take() {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(memory.as_ptr(), layout) }
        }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        self.release();
    }
}
