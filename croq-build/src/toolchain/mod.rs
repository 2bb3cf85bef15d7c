//! Runs the C++ compilers and bindgen over what `emit` printed, and tells cargo what to link.
//!
//! This is the only stage that runs processes, reads the environment and writes files; all to its
//! left is text in, text out. It may assume that the emitted texts are what croq meant to say: what
//! a compiler then rejects is either the user's own C++ in the file or a fault of croq, and is
//! reported on the `.co` line it came from.
//!
//! The way through: emitted texts are written to `OUT_DIR/croq`; objects are taken from the
//! [`cache`] or built in parallel ([`jobs`]); each file's objects become one static library ([`link`]);
//! bindgen reads each header ([`bindings`]); `kernels.rs` ties it together ([`modules`]); and when all of
//! that has worked, and not before, [`directives`] are printed.

use std::path::{Path, PathBuf};

pub mod arch;
mod archive;
mod bindings;
mod cache;
mod canonical;
mod compile;
pub mod directives;
pub mod environment;
mod findings;
pub mod headers;
mod host_compiler;
mod identity;
mod jobs;
mod libclang;
mod link;
mod messages;
pub mod modules;
pub mod nvcc;
mod objects;
mod outputs;
pub mod problem;

use arch::Arch;
use cache::Key;
use compile::Compilers;
use directives::Directives;
use environment::Environment;
pub use findings::Findings;
use host_compiler::HostCompiler;
use link::link;
use modules::{Module, ModulePath};
use nvcc::Toolkit;
use objects::Objects;
use outputs::Outputs;

/// One `.co` file with all that was emitted for it.
#[derive(Debug)]
pub struct Unit {
    /// As `#line` and messages name it.
    pub path: String,
    pub source: String,
    /// The folder that holds the file.
    pub folder: PathBuf,
    pub module: ModulePath,
    /// Eight hex digits, in every symbol.
    pub hash: String,
    pub device: String,
    pub header: String,
    pub wrappers: String,
    /// What the wrappers rest on; stands beside the header's declarations.
    pub shims: String,
    /// The public functions that the wrappers define.
    pub functions: Vec<String>,
}

/// What a build is asked for.
pub struct Request<'a> {
    /// `OUT_DIR`.
    pub out_dir: &'a Path,
    /// The crate's folder, where relative paths begin.
    pub base: &'a Path,
    pub target: &'a str,
    pub host: &'a str,
    pub archs: &'a [Arch],
    pub cuda: Option<&'a Toolkit>,
    /// Keeps the package's own symbols apart from those of others, as [`Unit::hash`] does for a file.
    pub package_hash: &'a str,
    pub defines: &'a [(String, String)],
    pub includes: &'a [PathBuf],
    /// Only what documentation needs: no compiler runs, nothing is linked.
    pub documentation_only: bool,
}

/// A finished build: what to tell cargo, and the compilers' warnings per unit.
#[derive(Default)]
pub struct Built {
    pub directives: Directives,
    pub warnings: Findings,
    /// How many objects had to be compiled; the others were reused.
    pub compiled: usize,
}

/// `nvcc`'s own variables.
const NVCC_VARIABLES: [&str; 3] = ["NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"];

/// `OUT_DIR/croq`.
pub fn output_folder(out_dir: &Path) -> PathBuf {
    out_dir.join("croq")
}

/// Brings everything below `OUT_DIR/croq` up to date.
pub fn build(request: &Request<'_>, units: &[Unit], env: &Environment) -> Result<Built, Findings> {
    let root = output_folder(request.out_dir);
    let mut outputs = Outputs::in_folder(root.clone());
    // What the search for nvcc has learnt.
    outputs.path(NVCC_RECORD)?;
    let include = root.join("include");
    let mut headers_key = Key::new("headers");
    for (name, text) in headers::HEADERS {
        outputs.write(&format!("include/{name}"), text)?;
        headers_key = headers_key.with(name, text);
    }

    let mut written = Vec::new();
    let mut declarations = Vec::new();
    for unit in units {
        let stem = unit.module.file_stem();
        let device = outputs.write(&format!("{stem}.cc"), &unit.device)?;
        let header = outputs.write(&format!("{stem}.h"), &unit.header)?;
        outputs.write(&format!("{stem}.rs"), &unit.wrappers)?;
        let declared = bindings::write(
            &mut outputs,
            &stem,
            &header,
            &unit.header,
            &include,
            request.target,
            env,
        )?;
        declarations.push(declared);
        written.push(device);
    }

    let mut built = Built::default();
    let moved: Vec<Vec<(u32, u32)>> = if request.documentation_only || units.is_empty() {
        vec![Vec::new(); units.len()]
    } else {
        let host = HostCompiler::of(env, request.target, request.host);
        let nvcc_environment: Vec<String> = NVCC_VARIABLES
            .iter()
            .map(|name| env.text(name).unwrap_or_default())
            .collect();
        let compilers = Compilers {
            host: &host,
            cuda: request.cuda,
            archs: request.archs,
            cuda_table: &format!("croq_cuda_table_{}", request.package_hash),
            defines: request.defines,
            nvcc_environment: &nvcc_environment.join("\n"),
            include: &include,
            includes: request.includes,
            base: request.base,
            headers_hash: &headers_key.finish(),
            own: &root,
        };
        let objects = Objects::bring_up_to_date(&compilers, units, &written, &mut outputs, env)?;
        built.directives = link(
            &compilers,
            units,
            &objects,
            request.package_hash,
            &mut outputs,
        )?;
        built.warnings = Findings::of_warnings(units, &objects);
        built.compiled = objects.all().filter(|object| object.built).count();
        objects
            .files
            .iter()
            .map(|file| file.moved.clone())
            .collect()
    };

    let modules: Vec<Module<'_>> = units
        .iter()
        .zip(&declarations)
        .zip(&moved)
        .map(|((unit, declarations), moved)| Module {
            path: &unit.module,
            origin: &unit.path,
            functions: &unit.functions,
            declarations,
            shims: &unit.shims,
            moved,
        })
        .collect();
    outputs.write("kernels.rs", &modules::kernels_rs(&modules))?;
    outputs.remove_stale();
    Ok(built)
}

/// The file below `OUT_DIR/croq` in which the search for nvcc keeps what it has learnt.
pub const NVCC_RECORD: &str = "build/nvcc.txt";

#[cfg(test)]
mod tests;
