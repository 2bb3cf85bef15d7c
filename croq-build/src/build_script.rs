//! A whole build: from the folder that `build.rs` names to the directives for cargo.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::cargo_warnings::CargoWarnings;
use crate::config::{Config, Cuda};
use crate::diagnostics::{Diagnostic, Severity, render};
use crate::error::{Error, Format};
use crate::pipeline::{self, Compiled};
use crate::source::SourceFile;
use crate::toolchain::arch::Arch;
use crate::toolchain::directives::Directives;
use crate::toolchain::environment::Environment;
use crate::toolchain::modules::{self, ModulePath};
use crate::toolchain::nvcc::{self, Toolkit};
use crate::toolchain::problem::Problem;
use crate::toolchain::{self, Findings, Request, Unit, headers};

/// Runs with the environment of the process, which must be a build script's.
pub fn run(config: &Config, path: &Path) -> Result<Directives, Error> {
    let env = Environment::of_process();
    let format = format(&env);
    build(config, path, &env, format).map_err(|error| Error { format, ..error })
}

/// What cargo tells a build script about the package.
struct Package {
    out_dir: PathBuf,
    folder: PathBuf,
    name: String,
    version: String,
    target: String,
    host: String,
}

impl Package {
    fn of(env: &Environment) -> Result<Self, Problem> {
        let get = |name: &str| {
            env.undeclared(name).ok_or_else(|| {
                Problem::new(
                    "E1106",
                    format!("{name} is not set: croq_build compiles from a build script"),
                )
                .help("call it in build.rs; outside of cargo there is the command `croq check`")
            })
        };
        let text = |name: &str| get(name).map(|value| value.to_string_lossy().into_owned());
        Ok(Self {
            out_dir: get("OUT_DIR")?.into(),
            folder: get("CARGO_MANIFEST_DIR")?.into(),
            name: text("CARGO_PKG_NAME")?,
            version: text("CARGO_PKG_VERSION")?,
            target: text("TARGET")?,
            host: text("HOST")?,
        })
    }

    /// Keeps the symbols of two packages, two versions of one, and two of its files apart.
    fn hash(&self, file: &str) -> String {
        let parts = [
            self.name.as_str(),
            &self.version,
            file,
            headers::abi_version(),
        ];
        let hash = blake3::hash(parts.join("\n").as_bytes()).to_hex();
        hash.chars().take(8).collect()
    }
}

fn build(
    config: &Config,
    path: &Path,
    env: &Environment,
    format: Format,
) -> Result<Directives, Error> {
    let package = Package::of(env)?;
    only_once(&package.out_dir)?;
    let archs = archs(config, env)?;
    let mut warnings = CargoWarnings::default();
    let toolkit = toolkit(config, env, &package, &mut warnings)?;
    let inputs = inputs(&package, path)?;

    let options = pipeline::Options {
        defines: config.defines.clone(),
        archs: archs.clone(),
        cuda: toolkit.is_some(),
        checks: config.checks,
        thread_order: config.thread_order,
    };
    let mut files = Vec::new();
    for input in &inputs {
        let compiled = pipeline::compile_text(&input.names(&package), &input.text, &options);
        files.push(compiled);
    }
    let files = without_errors(files)?;

    let mut sources = Vec::new();
    let mut units = Vec::new();
    for (compiled, input) in files.into_iter().zip(&inputs) {
        if let Some(outputs) = compiled.outputs {
            units.push(Unit {
                path: input.path.clone(),
                source: input.text.clone(),
                folder: input.folder.clone(),
                module: input.module.clone(),
                hash: input.hash(&package),
                device: outputs.device,
                header: outputs.header,
                wrappers: outputs.wrappers,
                shims: outputs.shims,
                functions: outputs.functions,
            });
            sources.push((compiled.file, compiled.diagnostics));
        } else {
            warnings.of_file(&compiled.file, &compiled.diagnostics, format);
        }
    }
    let includes: Vec<PathBuf> = config
        .includes
        .iter()
        .map(|folder| package.folder.join(folder))
        .collect();
    let request = Request {
        out_dir: &package.out_dir,
        base: &package.folder,
        target: &package.target,
        host: &package.host,
        archs: &archs,
        cuda: toolkit.as_ref(),
        package_hash: &package.hash(""),
        defines: &config.defines,
        includes: &includes,
        documentation_only: env.get("DOCS_RS").is_some(),
    };
    let built = match toolchain::build(&request, &units, env) {
        Ok(built) => built,
        Err(findings) => return Err(rejected(findings, sources)),
    };
    if env.text("CROQ_WARNINGS").as_deref() == Some("deny") && !built.warnings.is_empty() {
        let mut error = rejected(built.warnings, sources);
        error.problems.push(Problem::new(
            "E1102",
            "the compilers have warned, and CROQ_WARNINGS=deny",
        ));
        return Err(error);
    }

    let mut directives = built.directives;
    directives.rerun_if_changed(&package.folder.join(path));
    for name in env.asked() {
        directives.rerun_if_env_changed(name);
    }
    for (file, diagnostics) in &sources {
        warnings.of_file(file, diagnostics, format);
    }
    for (position, diagnostics) in &built.warnings.placed {
        if let Some((file, _)) = sources.get(*position) {
            warnings.of_file(file, diagnostics, format);
        }
    }
    for problem in &built.warnings.unplaced {
        warnings.warning(&problem.one_line());
    }
    for warning in warnings.into_lines() {
        directives.warning(&warning);
    }
    Ok(directives)
}

/// A second call would write a second `kernels.rs` over the first.
fn only_once(out_dir: &Path) -> Result<(), Problem> {
    static SEEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
    let mut seen = SEEN
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    if seen.iter().any(|folder| folder == out_dir) {
        return Err(
            Problem::new("E1105", "kernels are compiled twice in one build script").help(
                "put all `.co` files below one folder (subfolders become modules) and compile that",
            ),
        );
    }
    seen.push(out_dir.to_owned());
    Ok(())
}

fn archs(config: &Config, env: &Environment) -> Result<Vec<Arch>, Problem> {
    let (names, origin) = match env.text("CROQ_CUDA_ARCH") {
        Some(list) => (
            list.split(',').map(|name| name.trim().to_owned()).collect(),
            "CROQ_CUDA_ARCH",
        ),
        None => (config.archs.clone(), "build.rs"),
    };
    let mut archs = Vec::new();
    for name in names.iter().filter(|name| !name.is_empty()) {
        let arch: Arch = name.parse().map_err(|unknown| {
            Problem::new("E1103", format!("{unknown}")).note(format!("from {origin}"))
        })?;
        archs.push(arch);
    }
    if archs.is_empty() {
        archs.extend(Arch::DEFAULT);
    }
    archs.sort();
    archs.dedup();
    Ok(archs)
}

fn toolkit(
    config: &Config,
    env: &Environment,
    package: &Package,
    warnings: &mut CargoWarnings,
) -> Result<Option<Toolkit>, Problem> {
    let wanted = match env.text("CROQ_CUDA").as_deref() {
        None => config.cuda,
        Some("auto") => Cuda::Auto,
        Some("required") => Cuda::Required,
        Some("off") => Cuda::Off,
        Some(other) => {
            return Err(
                Problem::new("E1102", format!("CROQ_CUDA={other} is no choice"))
                    .help("it is one of auto, required, off"),
            );
        }
    };
    // Documentation is the same with and without CUDA.
    if wanted == Cuda::Off || env.get("DOCS_RS").is_some() {
        return Ok(None);
    }
    let record = toolchain::output_folder(&package.out_dir).join(toolchain::NVCC_RECORD);
    let search = nvcc::search(env, Some(&record));
    if search.toolkit.is_none() {
        if wanted == Cuda::Required {
            return Err(search.required());
        }
        warnings.warning(&search.left_out().one_line());
    }
    Ok(search.toolkit)
}

/// A `.co` file as found.
struct Input {
    /// Below the package, as messages and `#line` show it.
    path: String,
    /// Below the folder that `build.rs` names.
    relative: PathBuf,
    folder: PathBuf,
    module: ModulePath,
    text: String,
}

impl Input {
    fn names(&self, package: &Package) -> pipeline::FileNames {
        pipeline::FileNames {
            path: self.path.clone(),
            stem: self.module.file_stem(),
            hash: self.hash(package),
        }
    }

    fn hash(&self, package: &Package) -> String {
        package.hash(&self.relative.to_string_lossy().replace('\\', "/"))
    }
}

/// The `.co` files below `path`, in the order of their names.
fn inputs(package: &Package, path: &Path) -> Result<Vec<Input>, Problem> {
    let root = package.folder.join(path);
    let metadata = root
        .metadata()
        .map_err(|error| unreadable(&root, &error).note(from_package(package)))?;
    let mut found = Vec::new();
    if metadata.is_dir() {
        find(&root, &mut found, 0)?;
        if found.is_empty() {
            return Err(Problem::new(
                "E1104",
                format!("there is no `.co` file below {}", root.display()),
            ));
        }
    } else {
        found.push(root.clone());
    }
    let base = if metadata.is_dir() {
        root.as_path()
    } else {
        root.parent().unwrap_or(&root)
    };
    let mut inputs = Vec::new();
    for file in found {
        let relative = file.strip_prefix(base).unwrap_or(&file).to_owned();
        let bytes = std::fs::read(&file).map_err(|error| unreadable(&file, &error))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let line = 1 + error
                .as_bytes()
                .iter()
                .take(at)
                .filter(|byte| **byte == b'\n')
                .count();
            Problem::new("E1104", format!("{} is not UTF-8 text", file.display()))
                .note(format!("the first byte that is not stands in line {line}"))
        })?;
        inputs.push(Input {
            path: file
                .strip_prefix(&package.folder)
                .unwrap_or(&file)
                .to_string_lossy()
                .into_owned(),
            module: ModulePath::of(&relative),
            folder: file.parent().unwrap_or(base).to_owned(),
            relative,
            text,
        });
    }
    modules::distinct(
        inputs
            .iter()
            .map(|input| (&input.module, input.path.as_str())),
    )?;
    Ok(inputs)
}

/// Deeper than anybody nests folders; a link that leads in circles ends here.
const DEEPEST: usize = 32;

fn find(folder: &Path, found: &mut Vec<PathBuf>, depth: usize) -> Result<(), Problem> {
    let entries = std::fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            if depth < DEEPEST {
                find(&path, found, depth + 1)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "co") {
            found.push(path);
        }
    }
    Ok(())
}

fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
    Problem::new("E1104", format!("can't read {}: {error}", path.display()))
}

fn from_package(package: &Package) -> String {
    format!(
        "paths begin at the package's folder, {}",
        package.folder.display()
    )
}

/// All files, when none has an error; else everything there is to say about those that have.
fn without_errors(files: Vec<Compiled>) -> Result<Vec<Compiled>, Error> {
    let wrong = |file: &Compiled| {
        file.diagnostics
            .iter()
            .any(|d| d.severity == Severity::Error)
    };
    if !files.iter().any(wrong) {
        return Ok(files);
    }
    Err(Error {
        files: files
            .into_iter()
            .filter(wrong)
            .map(|file| (file.file, file.diagnostics))
            .collect(),
        problems: Vec::new(),
        format: Format::Text { color: false },
    })
}

/// What the compilers of C++ have said.
fn rejected(findings: Findings, mut sources: Vec<(SourceFile, Vec<Diagnostic>)>) -> Error {
    let mut placed = findings.placed;
    let mut files = Vec::new();
    // From the back, so that positions stay right while files are taken out.
    while let Some((position, diagnostics)) = placed.pop() {
        if position < sources.len() {
            let (file, _) = sources.swap_remove(position);
            files.push((file, diagnostics));
        }
    }
    files.reverse();
    Error {
        files,
        problems: findings.unplaced,
        format: Format::Text { color: false },
    }
}

fn format(env: &Environment) -> Format {
    match env.text("CROQ_MESSAGE_FORMAT").as_deref() {
        Some("json") => Format::Json,
        _ => Format::Text {
            color: render::color_wanted(),
        },
    }
}
