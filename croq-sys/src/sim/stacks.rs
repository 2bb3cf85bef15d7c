//! Stacks for the threads of a block.
//!
//! They are cut from a few large mappings that a worker keeps: a mapping for each would run into
//! the operating system's limit of about 65,000. A guard page splits a mapping, so guards are
//! rationed over the process. With the default limits about 300 mappings of 64 stacks have them:
//! 19 workers with blocks of 1024 threads.

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use corosensei::stack::{Stack, StackPointer};

/// Smallest page size there is; a larger one makes guards fail, which is no error.
const PAGE: usize = 4096;
/// An odd number of pages, so that the stacks' hot ends fall into different cache sets.
const STACK_BYTES: usize = 33 * PAGE;
const PER_MAPPING: usize = 64;
/// Cache lines that a thread uses between two barriers, when it uses little.
#[cfg(target_arch = "x86_64")]
const HOT_LINES: usize = 8;
/// Two mappings each, of the 65,530 that Linux allows a process by default.
const GUARDS: usize = 20_000;

static GUARDS_LEFT: AtomicUsize = AtomicUsize::new(GUARDS);

#[derive(Default)]
pub(super) struct StackPool {
    mappings: Vec<Mapping>,
}

impl StackPool {
    /// Makes sure that there are stacks `0..count`.
    pub(super) fn reserve(&mut self, count: usize) -> io::Result<()> {
        while self.mappings.len() * PER_MAPPING < count {
            self.mappings.push(Mapping::new()?);
        }
        Ok(())
    }

    /// Stack number `index`, which must have been reserved.
    ///
    /// # Safety
    /// The pool outlives the stack, and nothing else uses this number meanwhile.
    pub(super) unsafe fn stack(&self, index: usize) -> PooledStack {
        let mapping = &self.mappings[index / PER_MAPPING];
        let start = mapping.base.as_ptr() as usize;
        PooledStack {
            limit: start + index % PER_MAPPING * STACK_BYTES,
            base: start + Self::hot_end(index),
        }
    }

    /// Where the stack begins, as an offset into its mapping.
    fn hot_end(index: usize) -> usize {
        // Spreads the hot ends over the sets of a first-level cache, whose ways repeat every page;
        // not so far that a thread's frames need a second page.
        let colour = index % 12 * 256;
        (index % PER_MAPPING + 1) * STACK_BYTES - colour
    }

    /// Asks for the hot end of a stack that is about to run: with hundreds of threads it has long
    /// left the first cache.
    #[inline]
    pub(super) fn prefetch(&self, index: usize) {
        #[cfg(target_arch = "x86_64")]
        if let Some(mapping) = self.mappings.get(index / PER_MAPPING) {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let top = mapping.base.as_ptr().wrapping_add(Self::hot_end(index));
            for line in 1..=HOT_LINES {
                // SAFETY: a prefetch reads nothing, whatever the address.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(top.wrapping_sub(line * 64).cast()) }
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = index;
    }
}

struct Mapping {
    base: NonNull<u8>,
    guards: usize,
}

impl Mapping {
    const BYTES: usize = PER_MAPPING * STACK_BYTES;

    fn new() -> io::Result<Self> {
        // SAFETY: a fresh private mapping touches nothing that exists.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                Self::BYTES,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(base.cast()).ok_or_else(io::Error::last_os_error)?;
        let mut mapping = Self { base, guards: 0 };
        let granted = GUARDS_LEFT
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(PER_MAPPING)
            })
            .is_ok();
        if granted {
            mapping.guards = PER_MAPPING;
            for stack in 0..PER_MAPPING {
                // SAFETY: the lowest page of a stack in our own mapping. A failure leaves the
                // stack usable.
                unsafe {
                    libc::mprotect(
                        base.as_ptr().add(stack * STACK_BYTES).cast(),
                        PAGE,
                        libc::PROT_NONE,
                    );
                }
            }
        }
        Ok(mapping)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: our own mapping, whose stacks are gone by `StackPool::stack`'s contract.
        unsafe { libc::munmap(self.base.as_ptr().cast(), Self::BYTES) };
        GUARDS_LEFT.fetch_add(self.guards, Ordering::Relaxed);
    }
}

// SAFETY: a mapping is plain memory, owned alone.
unsafe impl Send for Mapping {}

/// One stack; its memory belongs to the pool.
pub(super) struct PooledStack {
    limit: usize,
    base: usize,
}

// SAFETY: `base` and `limit` enclose 33 pages less the colour, both aligned to 16 bytes and more,
// with a guard page while the ration lasts.
unsafe impl Stack for PooledStack {
    fn base(&self) -> StackPointer {
        StackPointer::new(self.base).unwrap_or(StackPointer::MIN)
    }

    fn limit(&self) -> StackPointer {
        StackPointer::new(self.limit).unwrap_or(StackPointer::MIN)
    }
}
