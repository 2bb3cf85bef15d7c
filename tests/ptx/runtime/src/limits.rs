//! Limits and properties of an H100 SXM (CUDA C++ programming guide, "Compute Capabilities", and the
//! data sheet).

use std::ffi::CStr;

pub const NAME: &CStr = c"PTX machine (H100)";
/// The compute capability times ten.
pub const ARCHITECTURE: u32 = 90;
pub const MEMORY_BYTES: u64 = 80 << 30;
pub const MULTIPROCESSORS: u64 = 132;
pub const THREADS_OF_BLOCK: u64 = 1024;
pub const THREADS_OF_MULTIPROCESSOR: u64 = 2048;
pub const BLOCKS_OF_MULTIPROCESSOR: u64 = 32;
pub const REGISTERS: u64 = 65536;
/// Without opting in.
pub const SHARED_BYTES: u64 = 48 * 1024;
pub const SHARED_BYTES_OPT_IN: u64 = 227 * 1024;
pub const SHARED_BYTES_OF_MULTIPROCESSOR: u64 = 228 * 1024;
/// Of each block, for the system.
pub const SHARED_BYTES_RESERVED: u64 = 1024;
pub const CLUSTER_BLOCKS: u64 = 8;
/// If the kernel allows sizes that are not portable.
pub const CLUSTER_BLOCKS_OPT_IN: u64 = 16;

/// The value of a `cudaDeviceAttr`; none for those that say nothing about this device.
pub fn attribute(number: i32) -> Option<i64> {
    Some(match number {
        1 => THREADS_OF_BLOCK as i64,
        2 | 3 => 1024,
        4 => 64,
        5 => i32::MAX.into(),
        6 | 7 => 65535,
        8 => SHARED_BYTES as i64,
        9 => 65536,
        10 => 32,
        11 => i32::MAX.into(),
        12 | 82 => REGISTERS as i64,
        // kHz
        13 => 1_980_000,
        14 | 30 => 512,
        51 => 32,
        16 => MULTIPROCESSORS as i64,
        36 => 2_619_000,
        37 => 5120,
        38 => 50 << 20,
        39 => THREADS_OF_MULTIPROCESSOR as i64,
        40 => 3,
        75 => i64::from(ARCHITECTURE / 10),
        76 => i64::from(ARCHITECTURE % 10),
        81 => SHARED_BYTES_OF_MULTIPROCESSOR as i64,
        87 => 2,
        97 => SHARED_BYTES_OPT_IN as i64,
        106 => BLOCKS_OF_MULTIPROCESSOR as i64,
        111 => SHARED_BYTES_RESERVED as i64,
        // GPU overlap, mapped host memory, concurrent kernels, unified addressing, priorities,
        // caches, host pointers of registered memory, cooperative launches, registration of host
        // memory, memory pools, clusters.
        15 | 19 | 31 | 41 | 78 | 79 | 80 | 91 | 95 | 99 | 115 | 120 => 1,
        // Timeout, integrated, compute mode, ECC, PCI, TCC, managed memory, boards, native atomics of
        // the host, pageable memory, preemption.
        17 | 18 | 20 | 32..=35 | 50 | 83..=86 | 88..=90 | 100 | 101 => 0,
        _ => return None,
    })
}
