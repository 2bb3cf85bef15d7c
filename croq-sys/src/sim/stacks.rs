//! Stacks for the threads of a block.
//!
//! They are cut from a few large mappings that a worker keeps: a mapping for each would exceed the
//! operating system's limit of about 65,000. The lowest page of each is a guard. If the system
//! supports guards as marks in page tables (Linux 6.13, Windows), every stack gets one. Otherwise a guard is
//! a page without access rights, which splits a mapping, so their number is limited per process.
//! Stacks without a guard rely on the limit of frames at compile time, and on the checks of the
//! remaining stack in device functions (`croq::enter`).

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use corosensei::stack::{Stack, StackPointer};

use super::pages;
use crate::abi::{CROQ_SIM_FRAME_BYTES, CROQ_SIM_RESERVE_BYTES};

/// The minimum size of a stack, its guard included.
const LEAST_BYTES: usize = 132 << 10;
const PER_MAPPING: usize = 64;
/// The distance between the hot ends of stacks, modulo a page.
const COLOUR: usize = 256;
const COLOURS: usize = 12;
/// Cache lines that a thread with small frames uses between two barriers.
#[cfg(target_arch = "x86_64")]
const HOT_LINES: usize = 8;
/// Two mappings each, of the 65,530 that Linux allows a process by default.
const GUARDS: usize = 20_000;

static GUARDS_LEFT: AtomicUsize = AtomicUsize::new(GUARDS);

/// The layout of stacks in memory on this machine.
#[derive(Clone, Copy)]
struct Layout {
    page: usize,
    stack: usize,
}

impl Layout {
    fn of_machine() -> Self {
        let page = pages::size();
        // An odd number of pages, so that the stacks' hot ends are in different cache sets.
        let stack = (LEAST_BYTES.div_ceil(page) | 1) * page;
        Self { page, stack }
    }

    fn mapping(self) -> usize {
        PER_MAPPING * self.stack
    }
}

// A kernel's frame and that of a function it calls fit, with everything that may be below them.
const _: () = assert!(
    2 * CROQ_SIM_FRAME_BYTES + CROQ_SIM_RESERVE_BYTES + COLOURS * COLOUR < LEAST_BYTES - (4 << 10)
);

pub(super) struct StackPool {
    layout: Layout,
    mappings: Vec<Mapping>,
}

impl Default for StackPool {
    fn default() -> Self {
        Self {
            layout: Layout::of_machine(),
            mappings: Vec::new(),
        }
    }
}

impl StackPool {
    /// Ensures that there are stacks `0..count`.
    pub(super) fn reserve(&mut self, count: usize) -> io::Result<()> {
        while self.mappings.len() * PER_MAPPING < count {
            self.mappings.push(Mapping::new(self.layout)?);
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
            limit: start + index % PER_MAPPING * self.layout.stack + self.layout.page,
            base: start + self.hot_end(index),
        }
    }

    /// The lowest byte of stack number `index` above its guard.
    pub(super) fn end(&self, index: usize) -> *mut u8 {
        let mapping = &self.mappings[index / PER_MAPPING];
        let offset = index % PER_MAPPING * self.layout.stack + self.layout.page;
        mapping.base.as_ptr().wrapping_add(offset)
    }

    /// The beginning of the stack, as an offset in its mapping.
    fn hot_end(&self, index: usize) -> usize {
        // Distributes the hot ends over the sets of a first-level cache, whose ways repeat every
        // page; the distance is limited so that a thread's frames do not need a second page.
        let colour = index % COLOURS * COLOUR;
        (index % PER_MAPPING + 1) * self.layout.stack - colour
    }

    /// Prefetches the hot end of a stack that is about to run: with hundreds of threads it is no
    /// longer in the first-level cache.
    #[inline]
    pub(super) fn prefetch(&self, index: usize) {
        #[cfg(target_arch = "x86_64")]
        if let Some(mapping) = self.mappings.get(index / PER_MAPPING) {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let top = mapping.base.as_ptr().wrapping_add(self.hot_end(index));
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
    layout: Layout,
    /// The number of guards that count towards the limit.
    guards: usize,
}

impl Mapping {
    fn new(layout: Layout) -> io::Result<Self> {
        let base = pages::map(layout.mapping())?;
        let guards = 0;
        let mut mapping = Self {
            base,
            layout,
            guards,
        };
        mapping.guard();
        Ok(mapping)
    }

    /// A stack without a guard is usable.
    fn guard(&mut self) {
        let first = self.base.as_ptr();
        let lowest = |stack: usize| first.wrapping_add(stack * self.layout.stack);
        // SAFETY: the lowest page of a stack in our own mapping, which nothing uses yet.
        let mark = |stack| unsafe { pages::mark_guard(lowest(stack), self.layout.page) };
        if (0..PER_MAPPING).all(mark) {
            return;
        }
        let granted = GUARDS_LEFT
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(PER_MAPPING)
            })
            .is_ok();
        if granted {
            for stack in 0..PER_MAPPING {
                // SAFETY: as above.
                unsafe { pages::forbid(lowest(stack), self.layout.page) };
            }
            self.guards = PER_MAPPING;
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: our own mapping, whose stacks are gone by `StackPool::stack`'s contract.
        unsafe { pages::unmap(self.base, self.layout.mapping()) };
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

// SAFETY: `base` and `limit` enclose 128 KiB less the colour, both aligned to 16 bytes and more,
// with a guard page below while the limit of guards allows.
unsafe impl Stack for PooledStack {
    fn base(&self) -> StackPointer {
        StackPointer::new(self.base).unwrap_or(StackPointer::MIN)
    }

    fn limit(&self) -> StackPointer {
        StackPointer::new(self.limit).unwrap_or(StackPointer::MIN)
    }

    // The system does not grow these stacks: all of their pages are there.
    #[cfg(windows)]
    fn teb_fields(&self) -> corosensei::stack::StackTebFields {
        corosensei::stack::StackTebFields {
            StackBase: self.base,
            StackLimit: self.limit,
            DeallocationStack: self.limit - pages::size(),
            GuaranteedStackBytes: 0,
        }
    }

    #[cfg(windows)]
    fn update_teb_fields(&mut self, _stack_limit: usize, _guaranteed_stack_bytes: usize) {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// The signal that ends a child of this process that writes to `at`, 0 if none.
    fn signal_of_write(at: *mut u8) -> i32 {
        // SAFETY: the child does nothing but the write and `_exit`.
        unsafe {
            let child = libc::fork();
            assert!(child >= 0, "there is room for a process");
            if child == 0 {
                at.write_volatile(1);
                libc::_exit(0);
            }
            let mut status = 0;
            assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
            match libc::WIFSIGNALED(status) {
                true => libc::WTERMSIG(status),
                false => 0,
            }
        }
    }

    #[test]
    fn stacks_have_guards_and_end_above_them() {
        let mut pool = StackPool::default();
        pool.reserve(1).expect("memory");
        let end = pool.end(3);
        assert_eq!(signal_of_write(end), 0);
        assert_eq!(signal_of_write(end.wrapping_sub(1)), libc::SIGSEGV);
        // SAFETY: nothing runs on it.
        let stack = unsafe { pool.stack(3) };
        assert_eq!(stack.limit().get(), end as usize);
    }

    /// The limit of guards that split mappings is 20,000.
    #[test]
    fn where_the_kernel_marks_guards_no_stack_is_without() {
        let mut pool = StackPool::default();
        pool.reserve(20_200).expect("memory");
        if pool.mappings.iter().all(|mapping| mapping.guards == 0) {
            let last = pool.end(20_199).wrapping_sub(1);
            assert_eq!(signal_of_write(last), libc::SIGSEGV);
        } else {
            // An older kernel: the limit is observed.
            let guards: usize = pool.mappings.iter().map(|mapping| mapping.guards).sum();
            assert!(guards <= GUARDS);
        }
    }
}
