//! A whole build: from the folder named in `build.rs` to the directives for cargo.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::cargo_warnings::CargoWarnings;
use crate::diagnostics::levels::{Level, Levels};
use crate::diagnostics::{Diagnostic, Severity, codes, nearest, render};
use crate::error::{Error, Format};
use crate::pipeline::{self, Compiled, Dump};
use crate::settings::{Cuda, Settings};
use crate::source::{self, SourceFile};
use crate::suppression::Allowed;
use crate::target::Arch;
use crate::toolchain::directives::{self, Directives};
use crate::toolchain::environment::Environment;
use crate::toolchain::inputs::{self, Input};
use crate::toolchain::nvcc::{self, Toolkit};
use crate::toolchain::outputs::Outputs;
use crate::toolchain::problem::Problem;
use crate::toolchain::spans;
use crate::toolchain::tuned;
use crate::toolchain::{self, Built, Findings, Request, Unit, headers, symbol};

/// Runs with the environment of the process, which must be a build script's.
pub fn run(settings: &Settings, path: &Path) -> Result<Directives, Error> {
    let env = Environment::of_process();
    let format = format(&env);
    build(settings, path, &env, format).map_err(|error| Error { format, ..error })
}

/// The package's properties that cargo passes to a build script.
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
                    codes::E1106,
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

    /// The package's part of every symbol.
    fn identity(&self) -> String {
        format!("{}\n{}", self.name, self.version)
    }
}

/// Compares the version that croq-sys passes to the build scripts of packages that depend on it. If
/// croq-sys is not a direct dependency, a call reports a different version at run time.
fn versions_agree(env: &Environment) -> Result<(), Problem> {
    let own = (env!("CARGO_PKG_VERSION"), headers::abi_version());
    let version = env.undeclared("DEP_CROQ_VERSION");
    let abi = env.undeclared("DEP_CROQ_ABI");
    let (Some(version), Some(abi)) = (version, abi) else {
        return Ok(());
    };
    if version == own.0 && abi == own.1 {
        return Ok(());
    }
    Err(Problem::new(
        codes::E1111,
        format!(
            "croq-build {} (ABI {}) generates code for another version than croq-sys {} (ABI {})",
            own.0,
            own.1,
            version.to_string_lossy(),
            abi.to_string_lossy()
        ),
    )
    .help("ask for the same version of both in Cargo.toml"))
}

fn build(
    settings: &Settings,
    path: &Path,
    env: &Environment,
    format: Format,
) -> Result<Directives, Error> {
    let package = Package::of(env)?;
    versions_agree(env)?;
    for folder in [&package.out_dir, &package.folder] {
        directives::sayable(folder).map_err(|problem| {
            problem.help("move the package, or set CARGO_TARGET_DIR to another folder")
        })?;
    }
    only_once(&package.out_dir)?;
    build_package(settings, path, env, format, &package)
}

fn build_package(
    settings: &Settings,
    path: &Path,
    env: &Environment,
    format: Format,
    package: &Package,
) -> Result<Directives, Error> {
    let _span = spans::build(&package.name);
    let (archs, archs_asked) = archs(settings, env)?;
    namespace_is_name(settings)?;
    let levels = levels(settings, env)?;
    let mut warnings = CargoWarnings::default();
    let search = toolkit(settings, env, package)?;
    warnings.problems(search.left_out, &levels)?;
    let toolkit = search.toolkit;
    let mut inputs = inputs::find(&package.folder, path)?;
    warnings.problems(tuned(settings, &package.folder, &mut inputs)?, &levels)?;

    let options = pipeline::Options {
        archs_asked,
        levels: levels.clone(),
        ..options(settings, &archs, toolkit.as_ref(), env)
    };
    let dump = dump(env)?;
    let mut dumped = Outputs::in_folder(package.out_dir.join("croq-ir"));
    let mut files = Vec::new();
    for input in &inputs {
        let names = names_of(input);
        let _span = spans::file(&names.path);
        let (compiled, ir) = pipeline::compile_and_dump(&names, &input.text, &options, &dump);
        if !ir.is_empty() {
            let path = dumped.write(&format!("{}.ir", names.stem), &ir)?;
            warnings.warning(&format!("{}: IR in {}", names.path, path.display()));
        }
        files.push(compiled);
    }
    let files = without_errors(files)?;
    instances_exist(&settings.instances, &files)?;

    let mut sources = Vec::new();
    let mut allowed = Vec::new();
    let mut units = Vec::new();
    for (compiled, input) in files.into_iter().zip(&inputs) {
        if let Some(outputs) = compiled.outputs {
            units.push(Unit {
                path: input.path.clone(),
                source: compiled.file.text.clone(),
                folder: input.folder.clone(),
                module: input.module.clone(),
                device: outputs.device,
                header: outputs.header,
                wrappers: outputs.wrappers,
                shims: outputs.shims,
                functions: outputs.functions,
            });
            sources.push((compiled.file, compiled.diagnostics));
            allowed.push(compiled.allowed);
        } else {
            warnings.of_file(&compiled.file, &compiled.diagnostics, format);
        }
    }
    let includes: Vec<PathBuf> = settings
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
        package: &package.identity(),
        includes: &includes,
        trace_shared_memory: settings.trace_shared_memory,
        documentation_only: env.get("DOCS_RS").is_some(),
    };
    let mut built = match toolchain::build(&request, &units, env) {
        Ok(built) => built,
        Err(findings) => return Err(rejected(findings, sources)),
    };
    if let Some(denied) = of_compilers(&mut built.warnings, &mut allowed, &levels) {
        return Err(rejected(denied, sources));
    }

    let mut read = vec![package.folder.join(path)];
    read.extend(settings.tuned.iter().map(|file| package.folder.join(file)));
    finish(built, &read, env, format, &sources, warnings)
}

/// Applies the values of all files of them, and returns warnings about those that do not apply.
fn tuned(
    settings: &Settings,
    package: &Path,
    inputs: &mut [Input],
) -> Result<Vec<Problem>, Problem> {
    let mut warnings = Vec::new();
    for file in &settings.tuned {
        let path = package.join(file);
        let entries = tuned::read(&path)?;
        let folder = path.parent().unwrap_or(package);
        let shown = directives::shown(file);
        warnings.extend(tuned::apply(&entries, inputs, package, folder, &shown));
    }
    Ok(warnings)
}

/// The levels that the build script sets, and `CROQ_WARNINGS`.
fn levels(settings: &Settings, env: &Environment) -> Result<Levels, Problem> {
    let mut levels = Levels::default();
    for (level, name) in &settings.levels {
        let setting = match level {
            Level::Allow => "allow",
            Level::Warn => "warn",
            Level::Deny => "deny",
        };
        let setting = format!("`Config::{setting}(\"{name}\")`");
        levels.set(*level, name, setting.clone()).map_err(|why| {
            Problem::new(codes::E1102, why.message(name))
                .note(format!("from {setting} in build.rs"))
                .help(why.help())
        })?;
    }
    match env.text("CROQ_WARNINGS").as_deref() {
        None => {}
        Some("deny") => levels.set_rest(Level::Deny, "CROQ_WARNINGS=deny"),
        Some("warn") => levels.set_rest(Level::Warn, "CROQ_WARNINGS=warn"),
        Some(other) => {
            let text = format!("CROQ_WARNINGS={other} is no choice");
            return Err(Problem::new(codes::E1102, text).help("it is one of deny, warn"));
        }
    }
    Ok(levels)
}

/// Applies comments and levels to the warnings of compilers. If one of them is denied, these are the
/// findings that the build fails with.
fn of_compilers(
    warnings: &mut Findings,
    allowed: &mut [Allowed],
    levels: &Levels,
) -> Option<Findings> {
    for (position, diagnostics) in &mut warnings.placed {
        if let Some(allowed) = allowed.get_mut(*position) {
            allowed.suppress(diagnostics);
        }
        levels.apply(diagnostics);
    }
    warnings
        .unplaced
        .retain_mut(|problem| problem.apply(levels));
    let denied = |d: &Diagnostic| d.severity() == Severity::Error;
    let mut placed = warnings.placed.iter().flat_map(|(_, list)| list);
    let fails = placed.any(denied) || warnings.unplaced.iter().any(|p| !p.is_warning());
    fails.then(|| std::mem::take(warnings))
}

fn namespace_is_name(settings: &Settings) -> Result<(), Problem> {
    match &settings.device_namespace {
        Some(name) if !source::is_qualified(name) => {
            let text = format!("`{name}` is not the name of a namespace");
            Err(Problem::new(codes::E1102, text)
                .help("`Config::device_namespace` takes a name such as `ours`"))
        }
        _ => Ok(()),
    }
}

fn options(
    settings: &Settings,
    archs: &[Arch],
    toolkit: Option<&Toolkit>,
    env: &Environment,
) -> pipeline::Options {
    pipeline::Options {
        defines: settings.defines.clone(),
        instances: settings.instances.clone(),
        device_namespace: settings.device_namespace.clone(),
        archs: archs.to_vec(),
        archs_asked: false,
        cuda: toolkit.is_some(),
        nvcc: toolkit.map(|toolkit| toolkit.version),
        checks: settings.checks,
        thread_order: settings.thread_order,
        levels: Levels::default(),
        verify: cfg!(debug_assertions) || env.text("CROQ_VERIFY").as_deref() == Some("1"),
        texts: true,
        needs_functions: false,
        threads: 1,
    }
}

/// The directives for cargo after a successful build.
fn finish(
    built: Built,
    read: &[PathBuf],
    env: &Environment,
    format: Format,
    sources: &[(SourceFile, Vec<Diagnostic>)],
    mut warnings: CargoWarnings,
) -> Result<Directives, Error> {
    let mut directives = built.directives;
    for path in read {
        directives.rerun_if_changed(path)?;
    }
    for name in env.asked() {
        directives.rerun_if_env_changed(name);
    }
    for (file, diagnostics) in sources {
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

/// `CROQ_DUMP_IR=PASS,…` (or `all`), and `CROQ_DUMP_KERNEL=name` for one kernel or function.
fn dump(env: &Environment) -> Result<Dump, Problem> {
    let mut dump = Dump {
        of: env.text("CROQ_DUMP_KERNEL"),
        ..Dump::default()
    };
    let names = env.text("CROQ_DUMP_IR").unwrap_or_default();
    for name in names
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
    {
        dump.add(name).map_err(|stages| {
            Problem::new(codes::E1102, format!("CROQ_DUMP_IR={name} is no pass"))
                .note(format!("passes: {}", stages.join(", ")))
        })?;
    }
    Ok(dump)
}

/// A second call would write a second `kernels.rs` over the first.
fn only_once(out_dir: &Path) -> Result<(), Problem> {
    static SEEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
    let mut seen = SEEN
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    if seen.iter().any(|folder| folder == out_dir) {
        return Err(Problem::new(
            codes::E1105,
            "kernels are compiled twice in one build script",
        )
        .help(
            "put all `.co` files below one folder (subfolders become modules) and compile that",
        ));
    }
    seen.push(out_dir.to_owned());
    Ok(())
}

/// The architectures, and whether somebody asked for them.
fn archs(settings: &Settings, env: &Environment) -> Result<(Vec<Arch>, bool), Problem> {
    let (names, origin) = match env.text("CROQ_CUDA_ARCH") {
        Some(list) => (
            list.split(',').map(|name| name.trim().to_owned()).collect(),
            "CROQ_CUDA_ARCH",
        ),
        None => (settings.archs.clone(), "build.rs"),
    };
    let mut archs = Vec::new();
    for name in names.iter().filter(|name| !name.is_empty()) {
        let arch: Arch = name.parse().map_err(|unknown| {
            Problem::new(codes::E1103, format!("{unknown}")).note(format!("from {origin}"))
        })?;
        archs.push(arch);
    }
    let asked = !archs.is_empty();
    if !asked {
        archs.extend(Arch::DEFAULT);
    }
    archs.sort();
    archs.dedup();
    Ok((archs, asked))
}

/// The nvcc of a build, and the warning about its absence.
#[derive(Default)]
struct Found {
    toolkit: Option<Toolkit>,
    left_out: Vec<Problem>,
}

fn toolkit(settings: &Settings, env: &Environment, package: &Package) -> Result<Found, Problem> {
    let wanted = match env.text("CROQ_CUDA").as_deref() {
        None => settings.cuda,
        Some("auto") => Cuda::Auto,
        Some("required") => Cuda::Required,
        Some("off") => Cuda::Off,
        Some(other) => {
            return Err(
                Problem::new(codes::E1102, format!("CROQ_CUDA={other} is no choice"))
                    .help("it is one of auto, required, off"),
            );
        }
    };
    // Documentation is the same with and without CUDA.
    if wanted == Cuda::Off || env.get("DOCS_RS").is_some() {
        return Ok(Found::default());
    }
    let record = toolchain::output_folder(&package.out_dir).join(toolchain::NVCC_RECORD);
    let search = nvcc::search(env, Some(&record));
    if search.toolkit.is_none() && wanted == Cuda::Required {
        return Err(search.required());
    }
    let left_out = search.toolkit.is_none().then(|| search.left_out());
    Ok(Found {
        left_out: left_out.into_iter().collect(),
        toolkit: search.toolkit,
    })
}

fn names_of(input: &Input) -> pipeline::FileNames {
    pipeline::FileNames {
        path: input.path.clone(),
        stem: input.module.file_stem(),
        hash: symbol::PLACEHOLDER.to_owned(),
    }
}

/// Fails if no file has the template of an instance that the build script requests.
fn instances_exist(instances: &[String], files: &[Compiled]) -> Result<(), Problem> {
    let templates = || files.iter().flat_map(|compiled| &compiled.file.templates);
    for instance in instances {
        let name = instance.split('<').next().unwrap_or_default().trim();
        if templates().any(|template| *template.name == *name) {
            continue;
        }
        let problem = Problem::new(
            codes::E1102,
            format!(
                "build.rs asks for the instance `{instance}`, but no file has a template `{name}`"
            ),
        );
        let known = templates().map(|template| &*template.name);
        return Err(match nearest(name, known) {
            Some(meant) => problem.help(format!("did you mean `{meant}`?")),
            None => problem.help("write `Config::instantiate(\"NAME<arguments>\")`"),
        });
    }
    Ok(())
}

/// All files, if none has an error; otherwise all diagnostics of the files with errors.
fn without_errors(files: Vec<Compiled>) -> Result<Vec<Compiled>, Error> {
    let wrong = |file: &Compiled| {
        file.diagnostics
            .iter()
            .any(|d| d.severity() == Severity::Error)
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

/// The error from the diagnostics of the C++ compilers.
fn rejected(findings: Findings, mut sources: Vec<(SourceFile, Vec<Diagnostic>)>) -> Error {
    let mut placed = findings.placed;
    let mut files = Vec::new();
    // In reverse order, so that positions remain valid while files are removed.
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

#[cfg(test)]
mod reproducible_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::environment::tests::environment;

    fn problem(vars: &[(&str, &str)]) -> String {
        let mut all = vec![
            ("CARGO_MANIFEST_DIR", "/nowhere"),
            ("CARGO_PKG_NAME", "p"),
            ("CARGO_PKG_VERSION", "0.1.0"),
            ("TARGET", "x86_64-unknown-linux-gnu"),
            ("HOST", "x86_64-unknown-linux-gnu"),
            ("CROQ_CUDA", "off"),
        ];
        // The last value of a variable counts.
        all.extend(vars);
        let env = environment(&all);
        let format = Format::Text { color: false };
        let error = build(&Settings::default(), Path::new("kernels"), &env, format);
        error.expect_err("an error").to_string()
    }

    #[test]
    fn a_folder_that_cargo_can_not_be_told_is_an_error() {
        let text = problem(&[("OUT_DIR", "/out\ncargo::rustc-link-arg=-evil")]);
        assert_eq!(
            text,
            "error[E1106]: the path \"/out\\ncargo::rustc-link-arg=-evil\" has a control character\n  \
             note: a line break in what a build script prints begins another directive for cargo\n  \
             help: move the package, or set CARGO_TARGET_DIR to another folder"
        );
        let vars = [("OUT_DIR", "/o1"), ("CARGO_MANIFEST_DIR", "/a\u{1b}[2J")];
        assert!(problem(&vars).contains("has a control character"));
    }

    #[test]
    fn another_version_of_croq_sys_is_an_error() {
        let own = env!("CARGO_PKG_VERSION");
        let abi = headers::abi_version();
        for (version, other_abi) in [("9.8.7", abi), (own, "1")] {
            let text = problem(&[
                ("OUT_DIR", "/o2"),
                ("DEP_CROQ_VERSION", version),
                ("DEP_CROQ_ABI", other_abi),
            ]);
            let said = format!("croq-sys {version} (ABI {other_abi})");
            assert!(text.contains("E1111") && text.contains(&said), "{text}");
        }
        let same = [
            ("OUT_DIR", "/o3"),
            ("DEP_CROQ_VERSION", own),
            ("DEP_CROQ_ABI", abi),
        ];
        assert!(problem(&same).contains("can't read /nowhere/kernels"));
    }
}
