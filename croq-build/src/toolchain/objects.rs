//! Brings the objects of a package up to date, in parallel.
//!
//! First every file gets its symbol ([`plan`]), because generated texts contain it: computed from
//! the inputs of its objects, or, if the existing objects are still valid, the symbol that they
//! were built with. Then the missing objects are compiled ([`Objects::bring_up_to_date`]).

use std::path::{Path, PathBuf};

use super::cache::{Entry, Reusable};
use super::canonical::Canonical;
use super::compile::{Compilers, Failed, Job, Object, Precompiled, Twin};
use super::environment::Environment;
use super::findings::{Failures, Findings, place};
use super::headers;
use super::jobs::Slots;
use super::key::Key;
use super::outputs::Outputs;
use super::problem::Problem;
use super::special_functions;
use super::symbol::Symbol;
use super::unit::Unit;
use super::user_headers::{Headers, includes_any};
use crate::diagnostics::Diagnostics;

/// The plan for one text.
pub struct Plan {
    pub symbol: Symbol,
    entry: Entry,
    key: String,
    /// For each target; `None` where the compiler found an error in the text.
    headers: Vec<Option<Headers>>,
    reusable: Option<Reusable>,
}

/// The objects of a package.
#[derive(Default)]
pub struct Objects {
    /// In the order of the units.
    pub files: Vec<FileObjects>,
    /// The objects of croq's own text, which passes the CUDA runtime to croq-sys.
    pub cuda_runtime: Option<FileObjects>,
}

/// All objects of one text.
pub struct FileObjects {
    pub symbol: Symbol,
    pub objects: Vec<(Twin, Object)>,
    /// See [`super::canonical::moved_lines`].
    pub moved: Vec<(u32, u32)>,
    /// The user's headers that the text includes.
    pub headers: Vec<PathBuf>,
}

/// A text to be compiled, as it was emitted.
struct Source<'a> {
    stem: String,
    /// Part of the key, since `#line` and messages contain it.
    path: &'a str,
    device: &'a str,
    header: &'a str,
    co_folder: &'a Path,
    twins: &'a [Twin],
}

impl Source<'_> {
    /// Croq's own text includes the header of the CUDA runtime by name; nvcc includes it before each text.
    fn may_use_special_functions(&self) -> bool {
        !self.path.is_empty() && special_functions::may_be_used(self.device, &self.own_header())
    }

    /// The name of the header that the text includes first after croq's.
    fn own_header(&self) -> String {
        let base = self.stem.rsplit('/').next().unwrap_or_default();
        format!("{base}.h")
    }
}

fn twins(compilers: &Compilers<'_>) -> &'static [Twin] {
    match compilers.cuda {
        Some(_) => &[Twin::Sim, Twin::Cuda],
        None => &[Twin::Sim],
    }
}

fn sources<'u>(compilers: &Compilers<'_>, units: &'u [Unit]) -> Vec<Source<'u>> {
    let mut sources: Vec<Source<'u>> = units
        .iter()
        .map(|unit| Source {
            stem: unit.module.file_stem(),
            path: &unit.path,
            device: &unit.device,
            header: &unit.header,
            co_folder: &unit.folder,
            twins: twins(compilers),
        })
        .collect();
    if compilers.cuda.is_some() {
        sources.push(Source {
            stem: RUNTIME.to_owned(),
            path: "",
            device: headers::CUDA_RUNTIME,
            header: "",
            co_folder: Path::new(""),
            twins: &[Twin::Cuda],
        });
    }
    sources
}

/// `build/croq.cuda.o`; no module has this name.
const RUNTIME: &str = "croq";

/// From this number of files for the simulated GPU on, precompiling the headers saves time.
const WORTH_PRECOMPILING: usize = 4;

/// Determines the symbol of every file's objects and of those of croq's own text. `package` is the
/// package's name and version.
pub fn plan(
    compilers: &Compilers<'_>,
    package: &str,
    units: &[Unit],
    outputs: &mut Outputs,
    env: &Environment,
) -> Result<Vec<Plan>, Problem> {
    let sources = sources(compilers, units);
    let mut scans = Vec::new();
    for (at, source) in sources.iter().enumerate() {
        for twin in source.twins {
            scans.push((at, Scan::of(compilers, source, *twin, outputs)?));
        }
    }
    let found = Slots::of_cargo(env).run(&scans, |(_, scan)| scan.headers(compilers));
    let mut headers: Vec<Vec<Option<Headers>>> = sources.iter().map(|_| Vec::new()).collect();
    for ((at, _), found) in scans.iter().zip(found) {
        if let Some(list) = headers.get_mut(*at) {
            list.push(found?);
        }
    }
    let mut plans = Vec::new();
    for (source, headers) in sources.iter().zip(headers) {
        let canonical = Canonical::of(source.device);
        let mut key = Key::new("object")
            .with("package", package)
            .with("path", source.path)
            .with("device", &canonical.text)
            .with("header", &Canonical::of(source.header).text);
        for (twin, headers) in source.twins.iter().zip(&headers) {
            let digest = headers.as_ref().map(Headers::digest);
            key = compilers
                .key(*twin, key)
                .with("headers", &digest.unwrap_or_default());
        }
        let names: Vec<&str> = source.twins.iter().map(|twin| twin.name()).collect();
        let entry = Entry::new(outputs, &format!("build/{}", source.stem), &names)?;
        let known = headers.iter().all(Option::is_some);
        let debug_info = compilers.host.debug_info;
        // Debug information names the folder, which is not part of symbols.
        let record = match debug_info {
            true => key
                .clone()
                .with("folder", &compilers.base.to_string_lossy())
                .finish(),
            false => key.finish(),
        };
        // A debugger needs the lines of the present text.
        let reusable = entry
            .reusable(&record, source.device)
            .filter(|reusable| known && (reusable.moved.is_empty() || !debug_info));
        let symbol = match &reusable {
            Some(reusable) => reusable.symbol.clone(),
            None => Symbol::of(&key, &canonical),
        };
        plans.push(Plan {
            symbol,
            entry,
            key: record,
            headers,
            reusable,
        });
    }
    Ok(plans)
}

/// Whether a text has to be scanned for headers that it includes.
enum Scan {
    /// It cannot include any.
    None,
    Text {
        twin: Twin,
        text: PathBuf,
        co_folder: PathBuf,
        record: PathBuf,
        key: String,
    },
}

impl Scan {
    fn of(
        compilers: &Compilers<'_>,
        source: &Source<'_>,
        twin: Twin,
        outputs: &mut Outputs,
    ) -> Result<Self, Problem> {
        let is_croqs = source.path.is_empty();
        let any =
            includes_any(source.device, &source.own_header()) || compilers.variables_add_headers();
        if is_croqs || !any {
            return Ok(Scan::None);
        }
        outputs.write(&format!("build/scan/{}.h", source.stem), source.header)?;
        let text = outputs.write(&format!("build/scan/{}.cc", source.stem), source.device)?;
        let mut key = compilers
            .key(twin, Key::new("headers"))
            .with("device", &Canonical::of(source.device).text);
        for folder in compilers.search(source.co_folder).searched {
            key = key.with("folder", &folder.to_string_lossy());
        }
        Ok(Scan::Text {
            twin,
            text,
            co_folder: source.co_folder.to_owned(),
            record: outputs.path(&format!("build/{}.{}.headers", source.stem, twin.name()))?,
            key: key.finish(),
        })
    }

    fn headers(&self, compilers: &Compilers<'_>) -> Result<Option<Headers>, Problem> {
        let Scan::Text {
            twin,
            text,
            co_folder,
            record,
            key,
        } = self
        else {
            return Ok(Some(Headers::default()));
        };
        let folders = compilers.search(co_folder);
        if let Some(headers) = Headers::recall(record, key, &folders) {
            return Ok(Some(headers));
        }
        let headers = compilers.headers(*twin, text, co_folder, &folders)?;
        if let Some(headers) = &headers {
            headers.remember(record, key);
        }
        Ok(headers)
    }
}

impl FileObjects {
    fn reused(plan: &Plan, twins: &[Twin]) -> Option<Self> {
        let reusable = plan.reusable.as_ref()?;
        let objects = twins.iter().zip(&plan.entry.places).zip(&reusable.logs);
        Some(Self {
            symbol: plan.symbol.clone(),
            objects: objects
                .map(|((twin, place), log)| (*twin, Object::reused(place, log)))
                .collect(),
            moved: reusable.moved.clone(),
            headers: plan.headers(),
        })
    }
}

impl Plan {
    fn header_paths(&self) -> impl Iterator<Item = &PathBuf> {
        let lists = self.headers.iter().flatten();
        lists.flat_map(|list| list.files.iter().map(|(path, _)| path))
    }

    /// The headers of all targets.
    fn headers(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = self.header_paths().cloned().collect();
        files.sort();
        files.dedup();
        files
    }

    /// Records the objects after all were built. They are not recorded if a header has changed
    /// since the compiler was asked for the list: then the next build compiles them again.
    fn record(&self, device_text: &str) -> Result<(), Problem> {
        let are_unchanged =
            |headers: &Option<Headers>| headers.as_ref().is_some_and(Headers::are_unchanged);
        if self.headers.iter().all(are_unchanged) {
            self.entry.record(&self.key, &self.symbol, device_text)?;
        }
        Ok(())
    }
}

impl Objects {
    pub fn all(&self) -> impl Iterator<Item = &Object> {
        let files = self.files.iter().chain(&self.cuda_runtime);
        files.flat_map(|file| file.objects.iter().map(|(_, object)| object))
    }

    /// The compilers' warnings about texts that they accept.
    pub fn warnings(&self, units: &[Unit]) -> Findings {
        let mut findings = Findings::default();
        for (index, (unit, file)) in units.iter().zip(&self.files).enumerate() {
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

    /// Builds the objects that cannot be reused, and reports all failures. `device_paths` are the
    /// texts with their symbols, in the order of the units.
    pub fn bring_up_to_date(
        compilers: &Compilers<'_>,
        plans: &[Plan],
        units: &[Unit],
        device_paths: &[PathBuf],
        outputs: &mut Outputs,
        env: &Environment,
    ) -> Result<Self, Findings> {
        let sources = sources(compilers, units);
        let runtime = outputs.write("include/cuda/runtime.cu", headers::CUDA_RUNTIME)?;
        let paths = device_paths.iter().chain([&runtime]);
        let mut jobs: Vec<(usize, Job<'_>)> = Vec::new();
        let texts = paths.clone();
        for (at, ((plan, source), path)) in plans.iter().zip(&sources).zip(texts).enumerate() {
            if plan.reusable.is_some() {
                continue;
            }
            plan.entry.invalidate()?;
            let places = source.twins.iter().zip(&plan.entry.places);
            jobs.extend(places.map(|(twin, place)| {
                let job = Job {
                    twin: *twin,
                    place,
                    symbol: plan.symbol.digits(),
                    device_path: path,
                    co_folder: source.co_folder,
                    special_functions: source.may_use_special_functions(),
                };
                (at, job)
            }));
        }
        let of_sim = jobs.iter().filter(|(_, job)| job.twin == Twin::Sim);
        let precompiled = match of_sim.count() >= WORTH_PRECOMPILING {
            true => Precompiled::of(compilers, outputs.path("build/first/croq.h.gch")?),
            false => None,
        };
        let names = match jobs.iter().any(|(_, job)| job.twin == Twin::Cuda) {
            true => compilers.portable_names(paths, plans.iter().flat_map(Plan::header_paths))?,
            false => None,
        };
        let results = Slots::of_cargo(env).run(&jobs, |(_, job)| {
            compilers.build(job, precompiled.as_ref(), names.as_ref())
        });
        drop((precompiled, names));

        let mut failures = Failures::new(units);
        let mut files: Vec<FileObjects> = Vec::new();
        let mut results = jobs.iter().zip(results).peekable();
        for (at, (plan, source)) in plans.iter().zip(&sources).enumerate() {
            if let Some(file) = FileObjects::reused(plan, source.twins) {
                files.push(file);
                continue;
            }
            let mut objects = Vec::new();
            while let Some(((_, job), result)) = results.next_if(|((of, _), _)| *of == at) {
                match result {
                    Err(failed) => {
                        failures.add((at < units.len()).then_some(at), job.twin, failed);
                    }
                    Ok(object) => objects.push((job.twin, object)),
                }
            }
            if objects.len() == source.twins.len()
                && let Err(problem) = plan.record(source.device)
            {
                failures.add(None, Twin::Sim, Failed::Machine(problem));
            }
            files.push(FileObjects {
                symbol: plan.symbol.clone(),
                objects,
                moved: Vec::new(),
                headers: plan.headers(),
            });
        }
        failures.none()?;
        let cuda_runtime = match files.len() > units.len() {
            true => files.pop(),
            false => None,
        };
        Ok(Self {
            files,
            cuda_runtime,
        })
    }
}
