//! `croq new` and `croq init`: a package with one kernel that works at once.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

use super::arguments::unknown;
use super::crate_name;
use super::input::advice;
use super::outcome::{DIAGNOSTICS, Outcome};
use super::usage::bad_usage;
use crate::toolchain::environment::Environment;
use crate::toolchain::libclang;
use crate::toolchain::problem::Problem;

const BUILD_RS: &str = "fn main() {\n    croq_build::compile(\"kernels/\");\n}\n";

const KERNEL: &str = "\
// Multiplies every element by `gain`.
__co__ f32 [N] scale(f32 [N] x, f32 gain) {
  f32 [N] y;
  parallel p by N { y.at(p) = x.at(p) * gain; }
  return y;
}
";

const MAIN: &str = "\
croq_sys::include_kernels!();

use croq_sys::Tensor;

fn main() -> croq_sys::Result<()> {
    let x = Tensor::from_fn((1000,), |[i]| i as f32);
    let y = kernels::scale(&x, 1.5)?;
    let expected: Vec<f32> = x.as_slice().iter().map(|x| x * 1.5).collect();
    assert_eq!(y.as_slice(), expected);
    println!(\"{} elements, all as in plain Rust\", expected.len());
    Ok(())
}
";

/// What is put into a package.
struct Wanted {
    folder: PathBuf,
    name: String,
    /// A checkout of croq, in place of the published crates.
    checkout: Option<PathBuf>,
}

/// The arguments of both commands.
#[derive(Default)]
struct Given {
    place: Option<String>,
    name: Option<String>,
    checkout: Option<PathBuf>,
}

impl Given {
    fn of(args: &[String]) -> Result<Self, String> {
        let mut given = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let (option, inline) = match arg.split_once('=') {
                Some((option, value)) if arg.starts_with("--") => (option, Some(value.to_owned())),
                _ => (arg.as_str(), None),
            };
            let mut value = |what: &str| {
                let value = inline.clone().or_else(|| args.next().cloned());
                value.ok_or_else(|| format!("`{option}` needs {what}"))
            };
            match option {
                "--path" => given.checkout = Some(PathBuf::from(value("a folder")?)),
                "--name" => given.name = Some(value("a name")?),
                _ if option.starts_with('-') => {
                    return Err(unknown("option", option, &["--path", "--name"]));
                }
                _ if given.place.is_some() => {
                    return Err(format!("`{arg}` is one folder too many"));
                }
                _ => given.place = Some(arg.clone()),
            }
        }
        Ok(given)
    }

    fn wanted(self, folder: PathBuf) -> Result<Wanted, String> {
        let of_folder = || {
            let whole = std::path::absolute(&folder).unwrap_or_else(|_| folder.clone());
            let last = whole.components().next_back();
            last.map_or_else(String::new, |last| {
                last.as_os_str().to_string_lossy().into_owned()
            })
        };
        let name = self.name.unwrap_or_else(of_folder);
        crate_name::valid(&name).map_err(|why| {
            format!("`{name}` is no name for a package: it {why}; `--name` gives another")
        })?;
        if let Some(checkout) = &self.checkout {
            for part in ["croq-sys", "croq-build"] {
                let manifest = checkout.join(part).join("Cargo.toml");
                if !manifest.is_file() {
                    let checkout = checkout.display();
                    return Err(format!(
                        "{checkout} is no checkout of croq: it has no {part}/Cargo.toml"
                    ));
                }
            }
        }
        Ok(Wanted {
            folder,
            name,
            checkout: self.checkout,
        })
    }
}

pub(super) fn new(args: &[String]) -> Outcome {
    let given = match Given::of(args) {
        Ok(given) => given,
        Err(why) => return bad_usage(&why),
    };
    let Some(place) = given.place.clone() else {
        return bad_usage("`croq new` needs a name, as in `croq new hello-croq`");
    };
    outcome(given.wanted(PathBuf::from(place)).and_then(created))
}

pub(super) fn init(args: &[String]) -> Outcome {
    let given = match Given::of(args) {
        Ok(given) => given,
        Err(why) => return bad_usage(&why),
    };
    let folder = PathBuf::from(given.place.clone().unwrap_or_else(|| ".".to_owned()));
    outcome(completed(given, folder))
}

fn outcome(result: Result<String, String>) -> Outcome {
    match result {
        Ok(stdout) => Outcome {
            stdout,
            ..Outcome::default()
        },
        Err(why) => Outcome {
            stderr: format!("croq: {why}\n"),
            status: DIAGNOSTICS,
            ..Outcome::default()
        },
    }
}

/// Makes a package in a folder that does not exist yet.
fn created(wanted: Wanted) -> Result<String, String> {
    let folder = &wanted.folder;
    if folder.symlink_metadata().is_ok() {
        let folder = folder.display();
        return Err(format!(
            "{folder} exists; `croq init {folder}` adds what is missing there"
        ));
    }
    let parent = folder
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent {
        fs::create_dir_all(parent).map_err(|why| cannot_write(parent, &why))?;
    }
    fs::create_dir(folder).map_err(|why| cannot_write(folder, &why))?;
    for file in FILES {
        if let Err(why) = write(&wanted, file) {
            // The folder is new, so that nothing of others is in it.
            let _ = fs::remove_dir_all(folder);
            return Err(why);
        }
    }
    let mut said = String::new();
    let (name, shown) = (&wanted.name, folder.display());
    let runs = match wanted.checkout {
        Some(_) => ": `cargo run` there runs its kernel",
        None => "",
    };
    let _ = writeln!(said, "created the package `{name}` in {shown}{runs}");
    said.push_str(&membership(folder));
    said.push_str(&before_cargo_run(
        wanted.checkout.is_none(),
        libclang::load(&Environment::of_process()).err(),
    ));
    Ok(said)
}

/// Adds the files that a folder lacks.
fn completed(given: Given, folder: PathBuf) -> Result<String, String> {
    if !folder.is_dir() {
        let shown = folder.display();
        return Err(format!(
            "{shown} is no folder; `croq new {shown}` makes one"
        ));
    }
    let wanted = match given.name.is_none() && folder.join("Cargo.toml").exists() {
        // The name of an existing package is its own.
        true => Given {
            name: Some("package".to_owned()),
            ..given
        }
        .wanted(folder)?,
        false => given.wanted(folder)?,
    };
    let mut said = String::new();
    // What the files say before there are new ones.
    let left: Vec<(&str, Option<String>)> = FILES
        .iter()
        .map(|file| (*file, left(&wanted, file)))
        .collect();
    // A manifest that is written, or lines that are missing in one, name versions without a checkout.
    let names_versions = left.iter().any(|(file, left)| {
        *file == "Cargo.toml" && left.as_ref().is_none_or(|why| why.contains("dependencies"))
    });
    let all_there = left.iter().all(|(_, left)| left.is_some());
    for (file, left) in left {
        match left {
            None => {
                write(&wanted, file)?;
                let _ = writeln!(said, "added {file}");
            }
            Some(why) => {
                let _ = writeln!(said, "left {file}{why}");
            }
        }
    }
    if all_there {
        said.push_str("nothing is added\n");
    }
    said.push_str(&membership(&wanted.folder));
    said.push_str(&before_cargo_run(
        wanted.checkout.is_none() && names_versions,
        libclang::load(&Environment::of_process()).err(),
    ));
    Ok(said)
}

/// Notes on what `cargo run` will need: `unpublished` crates that the manifest names by their
/// version, and libclang.
fn before_cargo_run(unpublished: bool, no_libclang: Option<Problem>) -> String {
    let mut said = String::new();
    if unpublished {
        said.push_str(
            "note: cargo will not find croq-sys and croq-build: no registry has them yet\n  \
             help: `--path CROQ`, the folder of a clone of croq, makes a package that takes them from there; in this \
             one, write their folders in Cargo.toml, as in `croq-sys = { path = \"CROQ/croq-sys\" }`\n",
        );
    }
    if let Some(problem) = no_libclang {
        let _ = writeln!(said, "note: `cargo run` will fail: {}", problem.message);
        said.push_str(&advice(&problem.notes, problem.help.as_deref()));
    }
    said
}

const FILES: [&str; 5] = [
    "Cargo.toml",
    "build.rs",
    "kernels/scale.co",
    "src/main.rs",
    ".gitignore",
];

/// Why a file of [`FILES`] is not written, with what it lacks; `None` if it is to be written.
fn left(wanted: &Wanted, file: &str) -> Option<String> {
    let path = wanted.folder.join(file);
    let text = fs::read_to_string(&path).unwrap_or_default();
    let unless_with = |part: &str, advice: String| match text.contains(part) {
        true => Some(String::new()),
        false => Some(advice),
    };
    let exists = path.symlink_metadata().is_ok();
    match file {
        "kernels/scale.co" if !exists => {
            let kernels = wanted.folder.join("kernels");
            kernels
                .symlink_metadata()
                .is_ok()
                .then(|| ": there is a folder `kernels`".to_owned())
        }
        "src/main.rs" if !exists => {
            let library = wanted.folder.join("src/lib.rs").exists();
            let advice = ": there is a src/lib.rs, which needs `croq_sys::include_kernels!();`";
            library.then(|| advice.to_owned())
        }
        _ if !exists => None,
        "Cargo.toml" => Some(missing_dependencies(wanted, &text) + &missing_profiles(&text)),
        "build.rs" => unless_with(
            "croq_build",
            ": it needs `croq_build::compile(\"kernels/\");`".to_owned(),
        ),
        "src/main.rs" => unless_with(
            "include_kernels!",
            ": it, or src/lib.rs, needs `croq_sys::include_kernels!();`".to_owned(),
        ),
        ".gitignore" => unless_with("target", ": it lacks `/target`".to_owned()),
        _ => Some(String::new()),
    }
}

/// The lines that a manifest lacks.
fn missing_dependencies(wanted: &Wanted, text: &str) -> String {
    let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let has = |name: &str| {
        let mut lines = text.lines().map(str::trim_start);
        lines.any(|line| {
            let key = line.trim_start_matches('[').trim_start_matches(['"', '\'']);
            key.strip_prefix(name)
                .is_some_and(|rest| !rest.starts_with(in_name))
                || line.contains(&format!("dependencies.{name}]"))
        })
    };
    let mut advice = String::new();
    for (table, name) in [
        ("dependencies", "croq-sys"),
        ("build-dependencies", "croq-build"),
    ] {
        if !has(name) {
            let line = dependency(wanted, name);
            let _ = write!(advice, "\n  it needs in [{table}]: {line}");
        }
    }
    advice
}

/// The recommended profiles, if a manifest lacks one of them.
fn missing_profiles(text: &str) -> String {
    let mut headers = PROFILES.lines().filter(|line| line.starts_with('['));
    if headers.all(|header| text.contains(header)) {
        return String::new();
    }
    let mut advice =
        "\n  recommended, in the manifest of the workspace if the package belongs to one:"
            .to_owned();
    for line in PROFILES.lines() {
        let _ = write!(advice, "\n    {line}");
    }
    advice
}

fn write(wanted: &Wanted, file: &str) -> Result<(), String> {
    let text = match file {
        "Cargo.toml" => manifest(wanted),
        "build.rs" => BUILD_RS.to_owned(),
        "kernels/scale.co" => KERNEL.to_owned(),
        "src/main.rs" => MAIN.to_owned(),
        _ => "/target\n".to_owned(),
    };
    let path = wanted.folder.join(file);
    let folder = path.parent().unwrap_or(&wanted.folder);
    fs::create_dir_all(folder).map_err(|why| cannot_write(folder, &why))?;
    // Never over a file that has appeared meanwhile.
    let made = fs::File::create_new(&path).and_then(|mut made| made.write_all(text.as_bytes()));
    made.map_err(|why| cannot_write(&path, &why))
}

fn cannot_write(path: &Path, why: &io::Error) -> String {
    format!("can't write {}: {why}", path.display())
}

/// The profiles that `docs/building.md` recommends.
pub const PROFILES: &str = r#"[profile.dev]
lto = "off"
[profile.dev.build-override]
incremental = false
debug = false
[profile.dev.package.croq-sys]
incremental = false
opt-level = 2
debug = false
"#;

fn manifest(wanted: &Wanted) -> String {
    let name = &wanted.name;
    let (sys, build) = (
        dependency(wanted, "croq-sys"),
        dependency(wanted, "croq-build"),
    );
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [dependencies]\n{sys}\n\n\
         [build-dependencies]\n{build}\n\n\
         # One build of croq-build for `cargo build` and `cargo check`, and a fast simulated GPU.\n{PROFILES}"
    )
}

/// The line of a manifest for one of croq's crates.
fn dependency(wanted: &Wanted, name: &str) -> String {
    match &wanted.checkout {
        None => format!("{name} = \"{}\"", env!("CARGO_PKG_VERSION")),
        Some(checkout) => {
            let path = from(&wanted.folder, checkout).join(name);
            format!("{name} = {{ path = {} }}", quoted(&path.to_string_lossy()))
        }
    }
}

/// The path of a folder as a manifest in `base` writes it: relative, if it was given so.
fn from(base: &Path, given: &Path) -> PathBuf {
    if given.is_absolute() {
        return given.to_owned();
    }
    let absolute = |path: &Path| {
        // The folder may not exist yet; that of its parent does, or is created below one that does.
        let known = path.canonicalize().or_else(|_| std::path::absolute(path));
        known.unwrap_or_else(|_| path.to_owned())
    };
    let (base, target) = (absolute(base), absolute(given));
    let (base, target): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (base.components().collect(), target.components().collect());
    let common = base.iter().zip(&target).take_while(|(a, b)| a == b).count();
    let up = base.iter().skip(common).map(|_| Component::ParentDir);
    up.chain(target.iter().skip(common).copied()).collect()
}

/// A basic string of TOML.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// What to do if the folder is inside of a workspace, which then has to list the package.
fn membership(folder: &Path) -> String {
    let Ok(whole) = folder.canonicalize() else {
        return String::new();
    };
    let workspaces = whole
        .ancestors()
        .skip(1)
        .map(|above| above.join("Cargo.toml"));
    let mut manifests = workspaces.filter_map(|path| Some((fs::read_to_string(&path).ok()?, path)));
    let own = fs::read_to_string(whole.join("Cargo.toml")).unwrap_or_default();
    let is_workspace = |text: &str| {
        text.lines()
            .any(|line| line.trim_start().starts_with("[workspace"))
    };
    match manifests.find(|(text, _)| is_workspace(text)) {
        Some((_, path)) if !is_workspace(&own) => {
            let path = path.display();
            format!(
                "{path} is a workspace: its `members` need this folder, if they do not have it\n"
            )
        }
        _ => String::new(),
    }
}

#[cfg(test)]
#[path = "package_tests.rs"]
mod tests;
