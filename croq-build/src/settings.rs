//! The options of a build.

use std::path::PathBuf;

use crate::diagnostics::levels::Level;

/// Whether kernels are built for CUDA, besides the simulated GPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Cuda {
    /// If an nvcc of 12.4 or later is found; otherwise there is one warning.
    #[default]
    Auto,
    /// A build without nvcc fails, and the error lists every place that was searched.
    Required,
    /// Never, even if there is an nvcc.
    Off,
}

/// The run-time checks in the kernels, of conditions that the compiler could not prove.
///
/// With [`Checks::Entry`] or [`Checks::None`], the generated functions are `unsafe fn`, because on
/// a GPU an index outside its buffer is then not detected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Checks {
    /// All checks.
    #[default]
    All,
    /// All checks, but a failure in a kernel does not end the launch: for servers, whose other work
    /// on the GPU must continue. A load outside its buffer gives zero, a store and an atomic
    /// operation outside have no effect, a division by zero gives 0, and a false `assert` is
    /// recorded. The first record is the call's `Err`. Two failures still end the launch: an
    /// integer of a kernel that does not fit 64 bits (R19), and a wait without end.
    Report,
    /// The checks on the host before a launch, and `assert`s.
    Entry,
    /// No checks.
    None,
}

/// The index of `parallel {a, b} by [A, B]` that is the fastest among the threads of a level: the
/// one that differs between adjacent threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ThreadOrder {
    /// The first; if the order is not observable in a kernel, the one with which a warp accesses
    /// the least memory.
    #[default]
    Auto,
    /// The first, always.
    First,
    /// The last, always: the order of a row-major array.
    Last,
}

/// All options of a `build.rs`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub defines: Vec<(String, String)>,
    pub instances: Vec<String>,
    /// The files of values that `croq tune` has chosen.
    pub tuned: Vec<PathBuf>,
    pub archs: Vec<String>,
    pub cuda: Cuda,
    pub includes: Vec<PathBuf>,
    pub device_namespace: Option<String>,
    pub checks: Checks,
    pub thread_order: ThreadOrder,
    /// The codes and groups whose level is set, in order.
    pub levels: Vec<(Level, String)>,
    pub trace_shared_memory: bool,
}
