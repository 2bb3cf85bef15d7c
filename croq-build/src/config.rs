//! What a `build.rs` says.

use std::path::{Path, PathBuf};

use crate::build_script;
use crate::error::Error;

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

/// Settings for the `.co` files of a package; [`crate::compile`] is this with its defaults.
///
/// ```no_run
/// croq_build::Config::new()
///     .define("TILE_K", 64)
///     .arch("sm_90a")
///     .compile("kernels/");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Config {
    pub(crate) defines: Vec<(String, String)>,
    pub(crate) archs: Vec<String>,
    pub(crate) cuda: Cuda,
    pub(crate) includes: Vec<PathBuf>,
    pub(crate) checks: Checks,
    pub(crate) thread_order: ThreadOrder,
}

impl Config {
    pub fn new() -> Self {
        Self::default()
    }

    /// Defines a macro before the first line of every file, like a C++ compiler's `-DNAME=value`.
    pub fn define(&mut self, name: impl Into<String>, value: impl ToString) -> &mut Self {
        self.defines.push((name.into(), value.to_string()));
        self
    }

    /// Builds for a GPU architecture such as `sm_90a`. Call it once for each; never called, it is
    /// `sm_80` and `sm_90a`. The environment variable `CROQ_CUDA_ARCH` overrides it.
    pub fn arch(&mut self, name: impl Into<String>) -> &mut Self {
        self.archs.push(name.into());
        self
    }

    /// Whether to build for CUDA. The environment variable `CROQ_CUDA` overrides it.
    pub fn cuda(&mut self, cuda: Cuda) -> &mut Self {
        self.cuda = cuda;
        self
    }

    /// A folder of headers for `#include "…"` in device code, relative to the package.
    pub fn include(&mut self, folder: impl AsRef<Path>) -> &mut Self {
        self.includes.push(folder.as_ref().to_owned());
        self
    }

    /// Which run-time checks are made.
    pub fn checks(&mut self, checks: Checks) -> &mut Self {
        self.checks = checks;
        self
    }

    /// Which index of a level is the fastest among its threads. Only `__cpp__` and helpers that read
    /// `threadIdx`, `print` and barriers of warps can tell; [`ThreadOrder::Auto`] leaves kernels
    /// with such as they are.
    pub fn thread_order(&mut self, order: ThreadOrder) -> &mut Self {
        self.thread_order = order;
        self
    }

    /// Compiles every `.co` file below a folder of the package (or one file), and tells cargo what
    /// to link.
    ///
    /// Reports what is wrong on stderr, coloured as cargo is (or as JSON lines where
    /// `CROQ_MESSAGE_FORMAT=json`), and then ends the build script with status 1.
    pub fn compile(&self, path: impl AsRef<Path>) {
        if let Err(error) = self.try_compile(path) {
            eprintln!("{}", error.rendered().trim_end());
            std::process::exit(1);
        }
    }

    /// Like [`Config::compile`], but returns what is wrong.
    ///
    /// # Errors
    ///
    /// Anything that stops the build, in one value: `Display` and `Debug` are the whole report.
    pub fn try_compile(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let directives = build_script::run(self, path.as_ref())?;
        print!("{directives}");
        Ok(())
    }
}
