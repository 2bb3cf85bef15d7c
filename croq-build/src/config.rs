//! The settings of a `build.rs`.

use std::path::Path;

use crate::build_script;
use crate::diagnostics::levels::Level;
use crate::error::Error;
use crate::settings::{Checks, Cuda, Settings, ThreadOrder};

/// Settings for the `.co` files of a package; [`crate::compile`] uses the defaults.
///
/// ```no_run
/// croq_build::Config::new()
///     .define("TILE_K", 64)
///     .arch("sm_90a")
///     .compile("kernels/");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Config(Settings);

impl Config {
    /// The default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Defines a macro before the first line of every file, like a C++ compiler's `-DNAME=value`.
    pub fn define(&mut self, name: impl Into<String>, value: impl ToString) -> &mut Self {
        self.0.defines.push((name.into(), value.to_string()));
        self
    }

    /// Adds an instance of a function template, as `template __co__ scaled<f16, 256>;` in its file
    /// does. For build scripts that choose sizes:
    ///
    /// ```no_run
    /// let tile = if std::env::var_os("CARGO_FEATURE_WIDE").is_some() { 256 } else { 64 };
    /// croq_build::Config::new()
    ///     .instantiate(format!("scaled<f16, {tile}>"))
    ///     .compile("kernels/");
    /// ```
    pub fn instantiate(&mut self, instance: impl Into<String>) -> &mut Self {
        self.0.instances.push(instance.into());
        self
    }

    /// Applies the values that `croq tune` has chosen and written to this file of the package. A value
    /// that applies to nothing is a warning (W1118), and so are values that were chosen for another
    /// text (W1119). A file that is missing or malformed is an error.
    ///
    /// ```no_run
    /// croq_build::Config::new().tuned("croq-tuned.txt").compile("kernels/");
    /// ```
    pub fn tuned(&mut self, file: impl AsRef<Path>) -> &mut Self {
        self.0.tuned.push(file.as_ref().to_owned());
        self
    }

    /// Builds for a GPU architecture such as `sm_90a`. Call it once for each; without a call, the
    /// architectures are `sm_80` and `sm_90a`. The environment variable `CROQ_CUDA_ARCH` overrides
    /// it.
    pub fn arch(&mut self, name: impl Into<String>) -> &mut Self {
        self.0.archs.push(name.into());
        self
    }

    /// Whether to build for CUDA. The environment variable `CROQ_CUDA` overrides it.
    pub fn cuda(&mut self, cuda: Cuda) -> &mut Self {
        self.0.cuda = cuda;
        self
    }

    /// Adds a folder of headers for `#include "…"` in device code, relative to the package.
    pub fn include(&mut self, folder: impl AsRef<Path>) -> &mut Self {
        self.0.includes.push(folder.as_ref().to_owned());
        self
    }

    /// Names a namespace of C++ whose functions `call` finds by their plain names, such as one of a
    /// header that a `.co` file includes, or of the file itself. `a::b` is a nested one.
    pub fn device_namespace(&mut self, name: impl Into<String>) -> &mut Self {
        self.0.device_namespace = Some(name.into());
        self
    }

    /// Selects the run-time checks.
    pub fn checks(&mut self, checks: Checks) -> &mut Self {
        self.0.checks = checks;
        self
    }

    /// Selects the index of a level that is the fastest among its threads. Only `__cpp__` and
    /// helpers that read `threadIdx`, `print` and barriers of warps can observe it;
    /// [`ThreadOrder::Auto`] does not change kernels that contain these.
    pub fn thread_order(&mut self, order: ThreadOrder) -> &mut Self {
        self.0.thread_order = order;
        self
    }

    /// Whether the simulated GPU records each access of shared memory of these kernels, for
    /// `croq_sys::sim::banks`, which counts bank conflicts. Recording is slow; it is off by default.
    pub fn trace_shared_memory(&mut self, trace: bool) -> &mut Self {
        self.0.trace_shared_memory = trace;
        self
    }

    /// Makes a warning or a note an error. The name is a code such as `W0620`, or a group such as
    /// `correctness`; `docs/checks.md` lists the groups. Of several calls that concern a code, the last
    /// one counts. A name that is neither is an error of the build.
    ///
    /// ```
    /// let mut config = croq_build::Config::new();
    /// config.deny("all").allow("W0625").warn("unused");
    /// ```
    ///
    /// In a file, `// croq: allow(W0620) reason` above a statement or a function still allows what is
    /// denied here. `CROQ_WARNINGS=warn` makes it a warning again, for a build that must not fail.
    pub fn deny(&mut self, code_or_group: impl Into<String>) -> &mut Self {
        self.level(Level::Deny, code_or_group.into())
    }

    /// Does not report a warning or a note.
    ///
    /// ```
    /// let mut config = croq_build::Config::new();
    /// config.allow("performance").allow("N0321");
    /// ```
    pub fn allow(&mut self, code_or_group: impl Into<String>) -> &mut Self {
        self.level(Level::Allow, code_or_group.into())
    }

    /// Reports as a warning, which is the default for codes that begin with `W`: after
    /// [`Config::deny`] or [`Config::allow`] of a group, and for notes.
    ///
    /// ```
    /// let mut config = croq_build::Config::new();
    /// config.deny("all").warn("performance").warn("N0321");
    /// ```
    pub fn warn(&mut self, code_or_group: impl Into<String>) -> &mut Self {
        self.level(Level::Warn, code_or_group.into())
    }

    fn level(&mut self, level: Level, name: String) -> &mut Self {
        self.0.levels.push((level, name));
        self
    }

    /// Compiles every `.co` file below a folder of the package (or one file), and prints the link
    /// directives for cargo.
    ///
    /// Reports errors on stderr, coloured like cargo's output (or as JSON lines if
    /// `CROQ_MESSAGE_FORMAT=json`), and then ends the build script with status 1.
    pub fn compile(&self, path: impl AsRef<Path>) {
        if let Err(error) = self.try_compile(path) {
            eprintln!("{}", error.rendered().trim_end());
            std::process::exit(1);
        }
    }

    /// Like [`Config::compile`], but returns the errors.
    ///
    /// # Errors
    ///
    /// All errors of the build, in one value: `Display` and `Debug` print the whole report.
    pub fn try_compile(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let directives = build_script::run(&self.0, path.as_ref())?;
        print!("{directives}");
        Ok(())
    }
}
