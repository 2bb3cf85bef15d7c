//! What a build can choose.

use std::path::PathBuf;

/// Whether kernels are built for CUDA, besides the simulated GPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Cuda {
    /// When an nvcc of 12.4 or later is found; one warning says so when it is not.
    #[default]
    Auto,
    /// A build without nvcc fails, and the error lists every place looked at.
    Required,
    /// Never, whether or not there is an nvcc.
    Off,
}

/// Which run-time checks go into the kernels: those that the compiler could not prove.
///
/// With fewer, [`Checks::Entry`] or [`Checks::None`], the generated functions are `unsafe fn`: nothing then stops an
/// index from leaving its buffer on a GPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Checks {
    /// Every one.
    #[default]
    All,
    /// Every one, and those of kernels end no launch: for servers, whose other work on the GPU must go on. A load
    /// outside of its buffer gives zero, a store and an atomic operation outside do nothing, a division
    /// by zero gives 0, a false `assert` is recorded. The first record is the call's `Err`. Two ends stay: an
    /// integer of a kernel that does not fit 64 bits (R19), and a wait without end.
    Report,
    /// Those made on the host before a launch, and `assert`s.
    Entry,
    /// None at all.
    None,
}

/// Which index of `parallel {a, b} by [A, B]` is the fastest among the threads of a level: the one in which
/// neighbouring threads differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ThreadOrder {
    /// The first; where nothing in a kernel can tell, the one with which a warp touches the least
    /// memory.
    #[default]
    Auto,
    /// The first, always.
    First,
    /// The last, always: the order of a row-major array.
    Last,
}

/// All choices of a `build.rs`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub defines: Vec<(String, String)>,
    pub archs: Vec<String>,
    pub cuda: Cuda,
    pub includes: Vec<PathBuf>,
    pub checks: Checks,
    pub thread_order: ThreadOrder,
}
