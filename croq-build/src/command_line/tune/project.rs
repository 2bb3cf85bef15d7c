//! The package of the candidates: its folder, its build and its runs.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::given::Given;
use super::results::{Counts, Results};
use crate::command_line::package::{PROFILES, quoted};

/// The package that a `.co` file belongs to, and the package of its candidates.
pub struct Project {
    /// The folder with the nearest `Cargo.toml`, or that of the file.
    pub root: PathBuf,
    folder: PathBuf,
    target: PathBuf,
    name: String,
    timeout: Duration,
}

/// A candidate that a C++ compiler rejects.
pub struct Rejected {
    pub candidate: usize,
    pub code: String,
    pub message: String,
}

impl Project {
    /// For a `.co` file, by its absolute path.
    pub fn of(file: &Path, timeout: Duration) -> Self {
        let folder = file.parent().unwrap_or(file);
        let mut above = folder.ancestors();
        let root = above.find(|folder| folder.join("Cargo.toml").is_file());
        let root = root.unwrap_or(folder).to_owned();
        let target = std::env::var_os("CARGO_TARGET_DIR").filter(|target| !target.is_empty());
        let target = target.map_or_else(|| root.join("target"), PathBuf::from);
        let target = std::path::absolute(&target).unwrap_or(target);
        let hash = blake3::hash(file.to_string_lossy().as_bytes()).to_hex();
        let name: String = "croq-tune-".chars().chain(hash.chars().take(8)).collect();
        Self {
            root,
            folder: target.join("croq-tune").join(&name),
            target,
            name,
            timeout,
        }
    }

    /// Writes the package. `texts` are the candidates by number.
    pub fn write(
        &self,
        given: &Given,
        file: &Path,
        texts: &[(usize, String)],
        main: &str,
    ) -> Result<(), String> {
        let kernels = self.folder.join("kernels");
        // Candidates of an earlier run.
        let _ = fs::remove_dir_all(&kernels);
        let dependencies = self.dependencies(given)?;
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n[workspace]\n\n\
             {dependencies}\n{PROFILES}[profile.dev.package.{name}]\ndebug = false\n",
            name = self.name
        );
        self.put("Cargo.toml", &manifest)?;
        self.put("build.rs", &build_script(given, file))?;
        self.put("src/main.rs", main)?;
        for (number, text) in texts {
            self.put(&format!("kernels/c{number}.co"), text)?;
        }
        // The versions of the package, where they are known.
        let mut above = self
            .root
            .ancestors()
            .map(|folder| folder.join("Cargo.lock"));
        if let Some(lock) = above.find(|lock| lock.is_file())
            && !self.folder.join("Cargo.lock").exists()
        {
            let _ = fs::copy(lock, self.folder.join("Cargo.lock"));
        }
        Ok(())
    }

    fn put(&self, name: &str, text: &str) -> Result<(), String> {
        let path = self.folder.join(name);
        let folder = path.parent().unwrap_or(&self.folder);
        let cannot = |why: std::io::Error| format!("can't write {}: {why}", path.display());
        fs::create_dir_all(folder).map_err(cannot)?;
        // A file that stays as it is needs no build.
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            return Ok(());
        }
        fs::write(&path, text).map_err(cannot)
    }

    /// The tables of dependencies: of a checkout that was given, or that the package depends on, or the
    /// published crates.
    fn dependencies(&self, given: &Given) -> Result<String, String> {
        let checkout = match &given.checkout {
            Some(checkout) => {
                let whole = checkout.canonicalize();
                Some(whole.map_err(|why| format!("can't read {}: {why}", checkout.display()))?)
            }
            None => self.root.ancestors().find_map(checkout_of),
        };
        let line = |name: &str| match &checkout {
            Some(checkout) => {
                let path = checkout.join(name);
                format!(
                    "{name} = {{ path = {} }}\n",
                    quoted(&path.to_string_lossy())
                )
            }
            None => format!("{name} = \"={}\"\n", env!("CARGO_PKG_VERSION")),
        };
        let (sys, build) = (line("croq-sys"), line("croq-build"));
        Ok(format!(
            "[dependencies]\n{sys}\n[build-dependencies]\n{build}"
        ))
    }

    /// Builds the program. Candidates that a C++ compiler rejects are returned.
    pub fn build(&self) -> Result<Vec<Rejected>, String> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(["build", "--quiet", "--manifest-path"]);
        command.arg(self.folder.join("Cargo.toml"));
        command.env("CARGO_TARGET_DIR", &self.target);
        command.env("CARGO_TERM_COLOR", "never");
        for name in [
            "CROQ_MESSAGE_FORMAT",
            "CROQ_WARNINGS",
            "RUSTC_WORKSPACE_WRAPPER",
        ] {
            command.env_remove(name);
        }
        let output = command
            .output()
            .map_err(|why| format!("can't run cargo: {why}"))?;
        if output.status.success() {
            return Ok(Vec::new());
        }
        let text = String::from_utf8_lossy(&output.stderr);
        let rejected = rejected(&text);
        match rejected.is_empty() {
            true => Err(format!(
                "the program of the candidates does not build:\n{}",
                text.trim_end()
            )),
            false => Ok(rejected),
        }
    }

    /// Runs a candidate: its results, and the counts of the PTX machine if it has run there. With
    /// `repeat`, its calls are timed instead.
    pub fn run(&self, candidate: usize, repeat: u32) -> Result<(Results, Option<Counts>), String> {
        let (out, counts) = (
            self.folder.join("results.txt"),
            self.folder.join("counts.txt"),
        );
        let json = self.folder.join("counts.txt.json");
        let stderr = self.folder.join("stderr.txt");
        for path in [&out, &counts, &json] {
            let _ = fs::remove_file(path);
        }
        let program = format!("{}{}", self.name, std::env::consts::EXE_SUFFIX);
        let mut command = Command::new(self.target.join("debug").join(program));
        command
            .arg(candidate.to_string())
            .arg(repeat.to_string())
            .arg(&out);
        command.env("CROQ_PTX_COUNT", &counts);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let file = fs::File::create(&stderr)
            .map_err(|why| format!("can't write {}: {why}", stderr.display()))?;
        command.stderr(file);
        if let Err(why) = within(command, self.timeout) {
            let said = fs::read_to_string(&stderr).unwrap_or_default();
            let last = said.lines().map(str::trim).find(|line| !line.is_empty());
            return Err(last.map_or(why.clone(), |last| format!("{why}: {last}")));
        }
        let text = fs::read_to_string(&out)
            .map_err(|why| format!("can't read {}: {why}", out.display()))?;
        let counts = fs::read_to_string(&json)
            .ok()
            .and_then(|json| Counts::parse(&json));
        Ok((Results::parse(&text)?, counts))
    }
}

/// Runs a program to its end, or ends it after some time.
fn within(mut command: Command, timeout: Duration) -> Result<(), String> {
    let cannot = |why: std::io::Error| format!("can't run it: {why}");
    let mut child = command.spawn().map_err(cannot)?;
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(cannot)? {
            return match status.success() {
                true => Ok(()),
                false => Err(format!("it ended with {status}")),
            };
        }
        if started.elapsed() > timeout {
            // It may have ended meanwhile.
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("it was stopped after {} s", timeout.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The checkout of croq that a manifest of this folder names for `croq-sys`.
fn checkout_of(folder: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(folder.join("Cargo.toml")).ok()?;
    let mut lines = text
        .lines()
        .filter(|line| line.trim_start().starts_with("croq-sys"));
    let path = lines.find_map(|line| {
        let (_, rest) = line.split_once("path")?;
        let quoted = rest.trim_start().strip_prefix('=')?.trim_start();
        let quote = quoted.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        quoted.get(1..)?.split(quote).next()
    })?;
    let crate_folder = folder.join(path).canonicalize().ok()?;
    let checkout = crate_folder.parent()?;
    checkout
        .join("croq-build/Cargo.toml")
        .is_file()
        .then(|| checkout.to_owned())
}

fn build_script(given: &Given, file: &Path) -> String {
    let options = &given.common.options;
    let mut text = String::from(
        "fn main() {\n    croq_build::Config::new()\n        .trace_shared_memory(true)\n",
    );
    for (name, value) in &options.defines {
        let _ = writeln!(text, "        .define({name:?}, {value:?})");
    }
    if options.archs_asked {
        for arch in &options.archs {
            let _ = writeln!(text, "        .arch({:?})", arch.to_string());
        }
    }
    if let Some(name) = &options.device_namespace {
        let _ = writeln!(text, "        .device_namespace({name:?})");
    }
    let absolute =
        |folder: &Path| std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let own = file.parent().map(absolute);
    let given = given.common.includes.iter().map(|folder| absolute(folder));
    for folder in own.into_iter().chain(given) {
        let _ = writeln!(text, "        .include({folder:?})");
    }
    text.push_str("        .compile(\"kernels/\");\n}\n");
    text
}

/// The candidates that a report of a build names, each with its first error.
fn rejected(report: &str) -> Vec<Rejected> {
    let mut found: Vec<Rejected> = Vec::new();
    let mut error: Option<(&str, &str)> = None;
    for line in report.lines().map(str::trim_start) {
        if let Some((code, message)) = line
            .strip_prefix("error[")
            .and_then(|line| line.split_once("]: "))
        {
            error = Some((code, message));
        }
        let number = line.split("kernels/c").skip(1).find_map(|rest| {
            let (number, _) = rest.split_once(".co")?;
            number.parse().ok()
        });
        let (Some(candidate), Some((code, message))) = (number, error) else {
            continue;
        };
        if found.iter().all(|known| known.candidate != candidate) {
            found.push(Rejected {
                candidate,
                code: code.to_owned(),
                message: message.to_owned(),
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_that_a_compiler_rejects_are_found_in_its_report() {
        let report = "error: failed to run custom build command\n  error[E1113]: nvcc rejects it: too many\n     \
                      ╭─[ kernels/c12.co:3:1 ]\n  error[E1112]: other\n  ╭─[ kernels/c3.co:1:1 ]\n  ╭─[ kernels/c12.co:1:1 ]\n";
        let found = rejected(report);
        let found: Vec<_> = found
            .iter()
            .map(|r| (r.candidate, &*r.code, &*r.message))
            .collect();
        assert_eq!(
            found,
            [
                (12, "E1113", "nvcc rejects it: too many"),
                (3, "E1112", "other")
            ]
        );
        assert!(rejected("error[E0308]: mismatched types\n --> src/main.rs:3:1\n").is_empty());
    }

    #[test]
    fn the_checkout_of_a_package_is_found() {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .expect("a folder");
        let base = tempfile::tempdir().expect("a folder");
        let manifest = base.path().join("Cargo.toml");
        let line = |path: &str| {
            format!("[dependencies]\ncroq-sys = {{ features = [], path = \"{path}\" }}\n")
        };
        std::fs::write(
            &manifest,
            line(&workspace.join("croq-sys").display().to_string()),
        )
        .expect("written");
        assert_eq!(checkout_of(base.path()), workspace.canonicalize().ok());
        for other in [
            line("/nowhere"),
            "[dependencies]\ncroq-sys = \"0.1\"\n".to_owned(),
        ] {
            std::fs::write(&manifest, other).expect("written");
            assert_eq!(checkout_of(base.path()), None);
        }
        assert_eq!(checkout_of(&base.path().join("none")), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_does_not_end_is_stopped() {
        let sleep = |seconds: &str| {
            let mut command = Command::new("sleep");
            command.arg(seconds);
            command
        };
        assert_eq!(within(sleep("0"), Duration::from_secs(60)), Ok(()));
        let started = Instant::now();
        let why = within(sleep("60"), Duration::from_millis(50)).expect_err("stopped");
        assert!(why.contains("stopped after"), "{why}");
        assert!(started.elapsed() < Duration::from_secs(30));
        assert!(
            within(Command::new("false"), Duration::from_secs(60))
                .expect_err("fails")
                .contains("ended with")
        );
        assert!(
            within(Command::new("/no/such"), Duration::from_secs(60))
                .expect_err("none")
                .contains("can't run")
        );
    }
}
