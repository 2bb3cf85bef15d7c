//! Limits and properties of an H100 SXM, or of an A100 where they differ (CUDA C++ programming guide,
//! "Compute Capabilities", and the data sheets).

use std::ffi::CStr;
use std::sync::OnceLock;

/// What `CROQ_PTX_ARCHITECTURE` chooses: 80, or 90 without it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Model {
    pub name: &'static CStr,
    /// The compute capability times ten.
    pub architecture: u32,
    pub multiprocessors: u64,
    pub shared_bytes_opt_in: u64,
    pub shared_bytes_of_multiprocessor: u64,
}

const H100: Model = Model {
    name: c"PTX machine (H100)",
    architecture: 90,
    multiprocessors: 132,
    shared_bytes_opt_in: 227 * 1024,
    shared_bytes_of_multiprocessor: 228 * 1024,
};

const A100: Model = Model {
    name: c"PTX machine (A100)",
    architecture: 80,
    multiprocessors: 108,
    shared_bytes_opt_in: 163 * 1024,
    shared_bytes_of_multiprocessor: 164 * 1024,
};

/// The device of the process.
pub fn model() -> Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    *MODEL.get_or_init(|| match std::env::var("CROQ_PTX_ARCHITECTURE") {
        Ok(number) if number.trim() == "80" => A100,
        _ => H100,
    })
}

pub const MEMORY_BYTES: u64 = 80 << 30;
pub const THREADS_OF_BLOCK: u64 = 1024;
pub const THREADS_OF_MULTIPROCESSOR: u64 = 2048;
pub const BLOCKS_OF_MULTIPROCESSOR: u64 = 32;
pub const REGISTERS: u64 = 65536;
/// Without opting in.
pub const SHARED_BYTES: u64 = 48 * 1024;
/// Of each block, for the system.
pub const SHARED_BYTES_RESERVED: u64 = 1024;
pub const CLUSTER_BLOCKS: u64 = 8;
/// If the kernel allows sizes that are not portable.
pub const CLUSTER_BLOCKS_OPT_IN: u64 = 16;

/// The value of a `cudaDeviceAttr`; none for those that say nothing about this device.
pub fn attribute(number: i32) -> Option<i64> {
    let model = model();
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
        16 => model.multiprocessors as i64,
        36 => 2_619_000,
        37 => 5120,
        38 => 50 << 20,
        39 => THREADS_OF_MULTIPROCESSOR as i64,
        40 => 3,
        75 => i64::from(model.architecture / 10),
        76 => i64::from(model.architecture % 10),
        81 => model.shared_bytes_of_multiprocessor as i64,
        87 => 2,
        97 => model.shared_bytes_opt_in as i64,
        106 => BLOCKS_OF_MULTIPROCESSOR as i64,
        111 => SHARED_BYTES_RESERVED as i64,
        // Clusters.
        120 => i64::from(model.architecture >= 90),
        // GPU overlap, mapped host memory, concurrent kernels, unified addressing, priorities,
        // caches, host pointers of registered memory, cooperative launches, registration of host
        // memory, memory pools.
        15 | 19 | 31 | 41 | 78 | 79 | 80 | 91 | 95 | 99 | 115 => 1,
        // Timeout, integrated, compute mode, ECC, PCI, TCC, managed memory, boards, native atomics of
        // the host, pageable memory, preemption.
        17 | 18 | 20 | 32..=35 | 50 | 83..=86 | 88..=90 | 100 | 101 => 0,
        _ => return None,
    })
}
