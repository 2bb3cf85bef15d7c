//! Runs the C++ compilers and bindgen over what `emit` printed, and tells cargo what to link.
//!
//! This is the only stage that runs processes, reads the environment and writes files; all to its
//! left is text in, text out. It may assume that the emitted texts are what croq meant to say: what
//! a compiler then rejects is either the user's own C++ in the file or a fault of croq, and is
//! reported on the `.co` line it came from.
//!
//! The way through: emitted texts are written to `OUT_DIR/croq`; objects are taken from the
//! [`cache`] or built in parallel ([`jobs`]); each file's objects become one [`archive`]; bindgen
//! reads each header ([`bindings`]); `kernels.rs` ties it together ([`modules`]); and when all of
//! that has worked, and not before, [`directives`] are printed.

use std::path::{Path, PathBuf};

use crate::diagnostics::{Diagnostic, Diagnostics};

pub mod arch;
mod archive;
mod bindings;
mod cache;
mod canonical;
mod compile;
pub mod directives;
pub mod environment;
pub mod headers;
mod host_compiler;
mod identity;
mod jobs;
mod libclang;
mod messages;
pub mod modules;
pub mod nvcc;
mod outputs;
pub mod problem;

use arch::Arch;
use cache::{Entry, Key};
use compile::{Compilers, Failed, Job, Object, Twin};
use directives::Directives;
use environment::Environment;
use host_compiler::HostCompiler;
use jobs::Slots;
use messages::{Message, Origin};
use modules::{Module, ModulePath};
use nvcc::Toolkit;
use outputs::Outputs;
use problem::Problem;

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

/// What the compilers said: on `.co` lines (by the unit's position), and what has no such line.
#[derive(Default, Debug)]
pub struct Findings {
    pub placed: Vec<(usize, Vec<Diagnostic>)>,
    pub unplaced: Vec<Problem>,
}

impl From<Problem> for Findings {
    fn from(problem: Problem) -> Self {
        Findings {
            placed: Vec::new(),
            unplaced: vec![problem],
        }
    }
}

impl Findings {
    pub fn is_empty(&self) -> bool {
        self.placed.is_empty() && self.unplaced.is_empty()
    }
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
    for unit in units {
        let stem = unit.module.file_stem();
        let device = outputs.write(&format!("{stem}.cc"), &unit.device)?;
        let header = outputs.write(&format!("{stem}.h"), &unit.header)?;
        outputs.write(&format!("{stem}.rs"), &unit.wrappers)?;
        bindings::write(&mut outputs, &stem, &header, &unit.header, &include, env)?;
        written.push(device);
    }

    let mut built = Built::default();
    let moved: Vec<Vec<(u32, u32)>> = if request.documentation_only {
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
            defines: request.defines,
            nvcc_environment: &nvcc_environment.join("\n"),
            include: &include,
            includes: request.includes,
            base: request.base,
            headers_hash: &headers_key.finish(),
            own: &root,
        };
        let objects = objects(&compilers, units, &written, &mut outputs, env)?;
        link(
            &compilers,
            units,
            &objects,
            &mut outputs,
            &mut built.directives,
        )?;
        built.warnings = findings(units, &objects);
        built.compiled = objects
            .iter()
            .flat_map(|file| &file.objects)
            .filter(|(_, o)| o.built)
            .count();
        objects.iter().map(|file| file.moved.clone()).collect()
    };

    let modules: Vec<Module<'_>> = units
        .iter()
        .zip(&moved)
        .map(|(unit, moved)| Module {
            path: &unit.module,
            origin: &unit.path,
            functions: &unit.functions,
            moved,
        })
        .collect();
    outputs.write("kernels.rs", &modules::kernels_rs(&modules))?;
    outputs.remove_stale();
    Ok(built)
}

/// The file below `OUT_DIR/croq` in which the search for nvcc keeps what it has learnt.
pub const NVCC_RECORD: &str = "build/nvcc.txt";

/// All objects of one `.co` file.
struct FileObjects {
    objects: Vec<(Twin, Object)>,
    moved: Vec<(u32, u32)>,
}

/// Takes the objects of every file from the cache or builds them, reporting all that fails.
fn objects(
    compilers: &Compilers<'_>,
    units: &[Unit],
    device_paths: &[PathBuf],
    outputs: &mut Outputs,
    env: &Environment,
) -> Result<Vec<FileObjects>, Findings> {
    let twins: &[Twin] = if compilers.cuda.is_some() {
        &[Twin::Sim, Twin::Cuda]
    } else {
        &[Twin::Sim]
    };
    let mut entries = Vec::new();
    for unit in units {
        for twin in twins {
            let stem = format!("build/{}.{}", unit.module.file_stem(), twin.name());
            entries.push(Entry::new(outputs, &stem)?);
        }
    }
    let jobs: Vec<(usize, Job<'_>)> = units
        .iter()
        .zip(device_paths)
        .enumerate()
        .flat_map(|(index, (unit, path))| twins.iter().map(move |twin| (index, unit, path, *twin)))
        .zip(&entries)
        .map(|((index, unit, path, twin), entry)| {
            let job = Job {
                twin,
                entry,
                device_path: path,
                device_text: &unit.device,
                header_text: &unit.header,
                co_folder: &unit.folder,
                co_path: &unit.path,
            };
            (index, job)
        })
        .collect();
    let slots = Slots::of_cargo(env);
    let mut results = slots.run(&jobs, |(_, job)| compilers.object(job));

    // Wrappers have one table of moved lines, so the twins must have been built from texts with
    // the same lines; where they were not, those that have moved are built again.
    let again: Vec<usize> = disagreeing(&results, twins.len());
    let rebuilt = slots.run(&again, |position| {
        jobs.get(*position)
            .map(|(_, job)| compilers.build(job, compilers.key(job)))
    });
    for (position, result) in again.into_iter().zip(rebuilt) {
        if let (Some(place), Some(result)) = (results.get_mut(position), result) {
            *place = result;
        }
    }

    let mut failures = Failures::new(units);
    let mut files: Vec<FileObjects> = units
        .iter()
        .map(|_| FileObjects {
            objects: Vec::new(),
            moved: Vec::new(),
        })
        .collect();
    for ((index, job), result) in jobs.iter().zip(results) {
        match result {
            Err(failed) => failures.add(*index, job.twin, failed),
            Ok(object) => {
                if let Some(file) = files.get_mut(*index) {
                    file.moved.clone_from(&object.moved);
                    file.objects.push((job.twin, object));
                }
            }
        }
    }
    failures.none().map(|()| files)
}

/// Positions of reused objects whose lines have moved otherwise than their twin's.
fn disagreeing(results: &[Result<Object, Failed>], twins: usize) -> Vec<usize> {
    let mut positions = Vec::new();
    for (group, results) in results.chunks(twins).enumerate() {
        let moved = |result: &Result<Object, Failed>| {
            result.as_ref().ok().map(|object| object.moved.clone())
        };
        let first = results.first().and_then(moved);
        if results.iter().any(|result| moved(result) != first) {
            let movers = results
                .iter()
                .enumerate()
                .filter(|(_, result)| result.as_ref().is_ok_and(|object| !object.moved.is_empty()));
            positions.extend(movers.map(|(at, _)| group * twins + at));
        }
    }
    positions
}

/// Archives each file's objects and writes down what to link.
fn link(
    compilers: &Compilers<'_>,
    units: &[Unit],
    files: &[FileObjects],
    outputs: &mut Outputs,
    directives: &mut Directives,
) -> Result<(), Problem> {
    let mut folder = None;
    for (unit, file) in units.iter().zip(files) {
        let paths: Vec<&Path> = file
            .objects
            .iter()
            .map(|(_, object)| object.path.as_path())
            .collect();
        let mut members = Vec::new();
        for (_, object) in &file.objects {
            members.push(object.key.as_str());
            for header in &object.headers {
                directives.rerun_if_changed(header);
            }
        }
        let name = format!("croq_{}", unit.hash);
        if file.objects.iter().any(|(_, object)| object.built) {
            // The keys may be the old ones: a header of the user's has changed.
            let _ = std::fs::remove_file(outputs.path(&format!("build/{name}.members"))?);
        }
        let archive = archive::write(outputs, &name, &paths, &members.join("\n"), compilers.host)?;
        if folder.is_none() {
            folder = archive.parent().map(Path::to_owned);
            if let Some(folder) = &folder {
                directives.link_search(folder);
            }
        }
        directives.link_library("static", &name);
    }
    if units.is_empty() {
        return Ok(());
    }
    if let Some(toolkit) = compilers.cuda {
        // Not bundled: every crate with kernels would otherwise carry a copy of its own.
        directives.link_search(&toolkit.libraries);
        directives.link_library("static:-bundle", "cudart_static");
        directives.rerun_if_changed(&toolkit.nvcc);
    }
    if let Some(library) = &compilers.host.standard_library {
        directives.link_library("dylib", library);
    }
    Ok(())
}

/// What compilers said about good texts.
fn findings(units: &[Unit], files: &[FileObjects]) -> Findings {
    let mut findings = Findings::default();
    for (index, (unit, file)) in units.iter().zip(files).enumerate() {
        let mut placed = Diagnostics::new();
        for (twin, object) in &file.objects {
            place(
                unit,
                *twin,
                &object.warnings,
                &mut placed,
                &mut findings.unplaced,
            );
        }
        if !placed.is_empty() {
            findings.placed.push((index, placed.into_sorted()));
        }
    }
    findings
}

/// Sorts messages into those with a `.co` line and those without.
fn place(
    unit: &Unit,
    twin: Twin,
    messages: &[Message],
    placed: &mut Diagnostics,
    unplaced: &mut Vec<Problem>,
) {
    let origin = Origin {
        path: &unit.path,
        source: &unit.source,
        device_text: &unit.device,
    };
    let codes = twin.codes();
    for message in messages {
        match origin.diagnostic(message, &codes) {
            // Both compilers see one text: the first to object speaks for the line.
            Some(diagnostic) => {
                if !placed
                    .iter()
                    .any(|d| d.primary.span == diagnostic.primary.span)
                {
                    placed.push(diagnostic);
                }
            }
            None => {
                let code = match message.severity {
                    messages::Severity::Error => codes.error,
                    _ => codes.warning,
                };
                let place = match &message.file {
                    Some(file) => format!("{file}:{}: ", message.line),
                    None => String::new(),
                };
                let mut problem =
                    Problem::new(code, format!("{}: {place}{}", codes.compiler, message.text));
                problem
                    .notes
                    .extend(message.details.iter().take(8).cloned());
                unplaced.push(problem);
            }
        }
    }
}

/// Gathers what failed; all of it is reported at once.
struct Failures<'a> {
    units: &'a [Unit],
    placed: Vec<Diagnostics>,
    unplaced: Vec<Problem>,
    any: bool,
}

impl<'a> Failures<'a> {
    fn new(units: &'a [Unit]) -> Self {
        Self {
            units,
            placed: units.iter().map(|_| Diagnostics::new()).collect(),
            unplaced: Vec::new(),
            any: false,
        }
    }

    fn add(&mut self, index: usize, twin: Twin, failed: Failed) {
        self.any = true;
        match failed {
            Failed::Machine(problem) => {
                // The same compiler is missing for every file.
                if !self.unplaced.contains(&problem) {
                    self.unplaced.push(problem);
                }
            }
            Failed::Text { messages, output } => {
                let (Some(unit), Some(placed)) =
                    (self.units.get(index), self.placed.get_mut(index))
                else {
                    return;
                };
                let before = (placed.len(), self.unplaced.len());
                let errors: Vec<Message> = messages
                    .into_iter()
                    .filter(|message| message.severity == messages::Severity::Error)
                    .collect();
                place(unit, twin, &errors, placed, &mut self.unplaced);
                if errors.is_empty() && before == (placed.len(), self.unplaced.len()) {
                    let codes = twin.codes();
                    self.unplaced.push(
                        Problem::new(
                            codes.error,
                            format!("{} fails on {}", codes.compiler, unit.path),
                        )
                        .note(output.trim().to_owned()),
                    );
                }
            }
        }
    }

    fn none(self) -> Result<(), Findings> {
        if !self.any {
            return Ok(());
        }
        Err(Findings {
            placed: self
                .placed
                .into_iter()
                .enumerate()
                .filter(|(_, list)| !list.is_empty())
                .map(|(index, list)| (index, list.into_sorted()))
                .collect(),
            unplaced: self.unplaced,
        })
    }
}

#[cfg(test)]
mod tests;
