//! The memory of a call.

use std::ffi::c_void;
use std::sync::Arc;

use crate::memory::Memory;
use crate::region::Region;

/// Memory that a call uses.
#[derive(Clone)]
pub(super) struct Used {
    pub(super) memory: Arc<Memory>,
    /// The distance of the kernel's tensor from the start of the memory, in bytes.
    pub(super) offset: usize,
    pub(super) written: bool,
    pub(super) origin: Origin,
}

/// Where the memory of a call is from.
#[derive(Clone)]
pub(super) enum Origin {
    /// A tensor of the caller has it.
    Tensor,
    /// It is the call's, with the elements of a host tensor.
    Host(&'static str),
    /// It is the call's, and gets elements of a tensor before the kernel runs.
    Copy(Box<Copy>),
    /// The kernel has allocated it; whether it is cleared before.
    Kernel(bool),
}

/// A copy from places of some memory.
#[derive(Clone)]
pub(super) struct Copy {
    pub(super) from: Arc<Memory>,
    pub(super) source: Region,
    pub(super) to: Region,
}

impl Used {
    pub(super) fn address(&self) -> *mut c_void {
        self.memory.address().wrapping_byte_add(self.offset)
    }
}
