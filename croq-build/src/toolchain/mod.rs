//! Runs the C++ compilers and bindgen on the output of `emit`, and emits the link directives for
//! cargo.
//!
//! This is the only stage that runs processes, reads the environment and writes files; the earlier
//! stages only transform text. It may assume that the emitted texts are what croq intended: an
//! error that a compiler finds is either in the user's own C++ or a fault of croq, and is reported
//! on the `.co` line that it belongs to.
//!
//! The steps: every file gets a [`symbol`] computed from all inputs of its objects, the user's
//! headers included ([`user_headers`]); emitted texts are written to `OUT_DIR/croq`; objects are
//! taken from the [`cache`] or built in parallel ([`jobs`]); each file's objects become one static
//! library ([`link`]); bindgen reads each header ([`bindings`]); `kernels.rs` contains them all
//! ([`modules`]); and after all of that has succeeded, [`directives`] are printed.

use std::path::{Path, PathBuf};

mod archive;
mod bindings;
mod cache;
mod canonical;
mod compile;
pub mod directives;
pub mod environment;
mod findings;
pub mod front_end;
mod gencode;
pub mod headers;
mod host_compiler;
mod identity;
pub mod inputs;
mod jobs;
mod key;
pub mod libclang;
mod link;
mod messages;
pub mod missing_headers;
pub mod modules;
pub mod nvcc;
mod objects;
pub mod outputs;
mod portable_names;
pub mod problem;
pub mod spans;
pub mod special_functions;
pub mod symbol;
pub mod tuned;
mod unit;
mod user_headers;
pub mod variables;

use crate::target::Arch;
use canonical::Canonical;
use compile::Compilers;
use directives::Directives;
use environment::Environment;
pub use findings::Findings;
use host_compiler::HostCompiler;
use key::Key;
use link::link;
use modules::Module;
use nvcc::Toolkit;
use objects::Objects;
use outputs::Outputs;
use symbol::Symbol;
pub use unit::Unit;

/// The parameters of a build.
pub struct Request<'a> {
    /// `OUT_DIR`.
    pub out_dir: &'a Path,
    /// The crate's folder, the base of relative paths.
    pub base: &'a Path,
    pub target: &'a str,
    pub host: &'a str,
    pub archs: &'a [Arch],
    pub cuda: Option<&'a Toolkit>,
    /// The package's name and version.
    pub package: &'a str,
    pub includes: &'a [PathBuf],
    /// Whether the simulated GPU records accesses of shared memory.
    pub trace_shared_memory: bool,
    /// Only what documentation requires: no compiler runs, nothing is linked.
    pub documentation_only: bool,
}

/// A finished build: the directives for cargo, and the compilers' warnings per unit.
#[derive(Default)]
pub struct Built {
    pub directives: Directives,
    pub warnings: Findings,
    /// The number of objects that were compiled; the others were reused.
    pub compiled: usize,
}

/// `OUT_DIR/croq`.
pub fn output_folder(out_dir: &Path) -> PathBuf {
    out_dir.join("croq")
}

/// Brings everything below `OUT_DIR/croq` up to date.
pub fn build(request: &Request<'_>, units: &[Unit], env: &Environment) -> Result<Built, Findings> {
    let root = output_folder(request.out_dir);
    let mut outputs = Outputs::in_folder(root.clone());
    // The record of the search for nvcc.
    outputs.path(NVCC_RECORD)?;
    let include = root.join("include");
    let mut headers_key = Key::new("headers");
    for (name, text) in headers::HEADERS {
        outputs.write(&format!("include/{name}"), text)?;
        headers_key = headers_key.with(name, text);
    }

    let host = HostCompiler::of(env, request.target, request.host);
    let nvcc_flags = ["NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"]
        .map(|name| env.text(name).unwrap_or_default())
        .join(" ");
    let headers_hash = headers_key.finish();
    let cuda_table = cuda_table(request, &headers_hash);
    let compilers = Compilers {
        host: &host,
        cuda: request.cuda,
        archs: request.archs,
        cuda_table: &cuda_table,
        nvcc_flags: &nvcc_flags,
        environment_includes: &variables::include_folders(env),
        include: &include,
        includes: request.includes,
        base: request.base,
        headers_hash: &headers_hash,
        own: &root,
        trace_shared_memory: request.trace_shared_memory,
    };
    let compiles = !request.documentation_only && !units.is_empty();
    let plans = match compiles {
        true => objects::plan(&compilers, request.package, units, &mut outputs, env)?,
        false => Vec::new(),
    };

    let mut written = Vec::new();
    let mut texts = Vec::new();
    for (at, unit) in units.iter().enumerate() {
        let symbol = match plans.get(at) {
            Some(plan) => plan.symbol.clone(),
            None => Symbol::of(&Key::new("documentation"), &Canonical::of(&unit.device)),
        };
        let stem = unit.module.file_stem();
        let header_text = symbol.fill(&unit.header);
        let device = outputs.write(&format!("{stem}.cc"), &symbol.fill(&unit.device))?;
        let header = outputs.write(&format!("{stem}.h"), &header_text)?;
        outputs.write(&format!("{stem}.rs"), &symbol.fill(&unit.wrappers))?;
        let header = bindings::Header {
            name: &stem,
            path: &header,
            text: &header_text,
        };
        let _span = spans::bindings(&stem);
        let declarations = bindings::write(&mut outputs, &header, &include, request.target, env)?;
        written.push(device);
        texts.push((declarations, symbol.fill(&unit.shims)));
    }

    let mut built = Built::default();
    let moved: Vec<Vec<(u32, u32)>> = if compiles {
        let objects =
            Objects::bring_up_to_date(&compilers, &plans, units, &written, &mut outputs, env)?;
        built.directives = link(&compilers, &objects, &mut outputs)?;
        built.warnings = objects.warnings(units);
        built.compiled = objects.all().filter(|object| object.built).count();
        objects
            .files
            .iter()
            .map(|file| file.moved.clone())
            .collect()
    } else {
        vec![Vec::new(); units.len()]
    };

    let modules: Vec<Module<'_>> = units
        .iter()
        .zip(&texts)
        .zip(&moved)
        .map(|((unit, (declarations, shims)), moved)| Module {
            path: &unit.module,
            origin: &unit.path,
            functions: &unit.functions,
            declarations,
            shims,
            moved,
        })
        .collect();
    outputs.write("kernels.rs", &modules::kernels_rs(&modules))?;
    outputs.remove_stale();
    Ok(built)
}

/// The name of the package's function that passes its CUDA runtime to croq-sys. Packages with the
/// same text, built by the same tools, may share it.
fn cuda_table(request: &Request<'_>, headers_hash: &str) -> String {
    let mut key = Key::new("cuda table")
        .with("package", request.package)
        .with("croq headers", headers_hash)
        .with("runtime", headers::CUDA_RUNTIME);
    if let Some(toolkit) = request.cuda {
        let nvcc = identity::FileIdentity::of(&toolkit.nvcc);
        key = key.with("nvcc", &nvcc.to_string());
    }
    let hash: String = key.finish().chars().take(24).collect();
    format!("croq_cuda_table_{hash}")
}

/// The file below `OUT_DIR/croq` that records the results of the search for nvcc.
pub const NVCC_RECORD: &str = "build/nvcc.txt";

#[cfg(test)]
mod tests;
