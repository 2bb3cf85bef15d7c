//! Pages of memory, by the operating system: the stacks of simulated threads are made of them.

pub(super) use system::{forbid, map, mark_guard, memory_of_machine, unmap};

use super::settings::Setting;

/// The size of a page in bytes.
pub(super) fn size() -> usize {
    /// The smallest page size.
    const LEAST: u64 = 4096;
    static PAGE: Setting = Setting::new(|| system::page().unwrap_or(LEAST).max(LEAST));
    PAGE.get() as usize
}

#[cfg(unix)]
mod system {
    use std::io;
    use std::ptr::{self, NonNull};

    pub(in crate::sim) fn page() -> Option<u64> {
        // SAFETY: asks for a number.
        u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()
    }

    /// The physical memory in bytes, if it is known.
    pub(in crate::sim) fn memory_of_machine() -> Option<u64> {
        // SAFETY: asks for a number.
        let pages = u64::try_from(unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) }).ok()?;
        (pages > 0).then(|| pages.saturating_mul(super::size() as u64))
    }

    /// Zeros. Only pages that are used take memory.
    pub(in crate::sim) fn map(bytes: usize) -> io::Result<NonNull<u8>> {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a fresh private mapping touches nothing that exists.
        let base = unsafe { libc::mmap(ptr::null_mut(), bytes, rights, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        NonNull::new(base.cast()).ok_or_else(io::Error::last_os_error)
    }

    /// # Safety
    /// `base` is of [`map`] with the same number of bytes, and nothing uses it any more.
    pub(in crate::sim) unsafe fn unmap(base: NonNull<u8>, bytes: usize) {
        // SAFETY: the caller's contract.
        unsafe { libc::munmap(base.as_ptr().cast(), bytes) };
    }

    /// Makes whole pages inaccessible without splitting their mapping. `false` if the system cannot.
    ///
    /// # Safety
    /// The pages are of [`map`], and nothing uses them.
    #[cfg(target_os = "linux")]
    pub(in crate::sim) unsafe fn mark_guard(at: *mut u8, bytes: usize) -> bool {
        /// `MADV_GUARD_INSTALL`, which libc does not define everywhere.
        const GUARD_INSTALL: libc::c_int = 102;
        // SAFETY: the caller's contract.
        refuses_advice() && unsafe { libc::madvise(at.cast(), bytes, GUARD_INSTALL) == 0 }
    }

    /// Whether the success of `madvise` means anything: qemu-user accepts every advice, and ignores most.
    #[cfg(target_os = "linux")]
    fn refuses_advice() -> bool {
        use crate::sim::settings::Setting;

        /// No kernel has such an advice.
        const UNKNOWN: libc::c_int = 0x7fff_0000;
        static REFUSES: Setting = Setting::new(|| {
            let bytes = super::size();
            let Ok(page) = map(bytes) else { return 0 };
            // SAFETY: the page is used for nothing else, and unmapped once.
            let accepted = unsafe {
                let accepted = libc::madvise(page.as_ptr().cast(), bytes, UNKNOWN) == 0;
                unmap(page, bytes);
                accepted
            };
            u64::from(!accepted)
        });
        REFUSES.get() != 0
    }

    /// As on Linux.
    ///
    /// # Safety
    /// None; as on Linux.
    #[cfg(not(target_os = "linux"))]
    pub(in crate::sim) unsafe fn mark_guard(_at: *mut u8, _bytes: usize) -> bool {
        false
    }

    /// Makes whole pages inaccessible, as a mapping of their own.
    ///
    /// # Safety
    /// The pages are of [`map`], and nothing uses them.
    pub(in crate::sim) unsafe fn forbid(at: *mut u8, bytes: usize) {
        // SAFETY: the caller's contract.
        unsafe { libc::mprotect(at.cast(), bytes, libc::PROT_NONE) };
    }
}

#[cfg(windows)]
mod system {
    use std::io;
    use std::mem::MaybeUninit;
    use std::ptr::{self, NonNull};

    use windows_sys::Win32::System::Memory::{
        MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, PAGE_NOACCESS, PAGE_READWRITE, VirtualAlloc,
        VirtualFree, VirtualProtect,
    };
    use windows_sys::Win32::System::SystemInformation::{
        GetSystemInfo, GlobalMemoryStatusEx, MEMORYSTATUSEX,
    };

    pub(in crate::sim) fn page() -> Option<u64> {
        let mut info = MaybeUninit::zeroed();
        // SAFETY: fills the structure, of which all bytes may be zero.
        let info = unsafe {
            GetSystemInfo(info.as_mut_ptr());
            info.assume_init()
        };
        Some(u64::from(info.dwPageSize))
    }

    /// The physical memory in bytes, if it is known.
    pub(in crate::sim) fn memory_of_machine() -> Option<u64> {
        // SAFETY: numbers, all of which may be zero.
        let mut status: MEMORYSTATUSEX = unsafe { std::mem::zeroed() };
        status.dwLength = u32::try_from(size_of::<MEMORYSTATUSEX>()).ok()?;
        // SAFETY: fills the structure, whose size it is told.
        let done = unsafe { GlobalMemoryStatusEx(&mut status) };
        (done != 0).then_some(status.ullTotalPhys)
    }

    /// Zeros. All pages count as memory of the process; only those that are used take it.
    pub(in crate::sim) fn map(bytes: usize) -> io::Result<NonNull<u8>> {
        // SAFETY: a fresh allocation touches nothing that exists.
        let base =
            unsafe { VirtualAlloc(ptr::null(), bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) };
        NonNull::new(base.cast()).ok_or_else(io::Error::last_os_error)
    }

    /// # Safety
    /// `base` is of [`map`], and nothing uses it any more.
    pub(in crate::sim) unsafe fn unmap(base: NonNull<u8>, _bytes: usize) {
        // SAFETY: the caller's contract.
        unsafe { VirtualFree(base.as_ptr().cast(), 0, MEM_RELEASE) };
    }

    /// Makes whole pages inaccessible; any number may be.
    ///
    /// # Safety
    /// The pages are of [`map`], and nothing uses them.
    pub(in crate::sim) unsafe fn mark_guard(at: *mut u8, bytes: usize) -> bool {
        let mut before = 0;
        // SAFETY: the caller's contract.
        unsafe { VirtualProtect(at.cast(), bytes, PAGE_NOACCESS, &mut before) != 0 }
    }

    /// As [`mark_guard`], which failed.
    ///
    /// # Safety
    /// The pages are of [`map`], and nothing uses them.
    pub(in crate::sim) unsafe fn forbid(at: *mut u8, bytes: usize) {
        // SAFETY: the caller's contract.
        unsafe { mark_guard(at, bytes) };
    }
}
