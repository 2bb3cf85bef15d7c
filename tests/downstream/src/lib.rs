//! A package as a user would write it, in its own folder outside of the workspace, built by cargo.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

pub const SCALE: &str = "\
__co__ f32 [N] scale(f32 [N] x, f32 gain) {
  f32 [N] y;
  parallel p by N { y.at(p) = x.at(p) * gain; }
  return y;
}
";

pub const BUILD_RS: &str = "fn main() {\n    croq_build::compile(\"kernels/\");\n}\n";

/// The number of units of code of build scripts and what they depend on, as it is without this variable. Where
/// it is set, cargo compiles a crate that the package depends on, too, once more for build scripts. Otherwise
/// `cargo build` has one crate for both and `cargo check` has not, and all that depends on it, croq-build too, is
/// compiled once for each of these commands.
pub const UNITS: (&str, &str) = ("CARGO_PROFILE_DEV_BUILD_OVERRIDE_CODEGEN_UNITS", "16");

/// A package, with other packages that it depends on in subfolders.
pub struct Package {
    folder: PathBuf,
    name: String,
    /// Whether some dependency is in a (local) git repository.
    pub uses_git: bool,
}

/// The output that a user sees.
pub struct Seen {
    pub success: bool,
    pub stdout: String,
    pub stderr: String,
}

impl Package {
    /// A program with the kernel [`SCALE`] in `kernels/scale.co` and no calls. Tests need different
    /// names, because they share a target folder.
    pub fn new(name: &str) -> Self {
        // Always the same path: cargo keeps one output folder for each path of a package, and files
        // of an earlier run of the test show that no stale file is used.
        let folder = target_folder().join("downstream").join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        let package = Self {
            folder,
            name: name.to_owned(),
            uses_git: false,
        };
        package.write("Cargo.toml", &manifest(name, ""));
        package.write("build.rs", BUILD_RS);
        package.write("kernels/scale.co", SCALE);
        package.write(
            "src/main.rs",
            "croq_sys::include_kernels!();\nfn main() {}\n",
        );
        package
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The folder of the build script's output.
    pub fn out_dirs(&self) -> Vec<PathBuf> {
        let build = target_folder().join("debug/build");
        let entries = std::fs::read_dir(build).expect("a folder").flatten();
        entries
            .filter(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                name.rsplit_once('-')
                    .is_some_and(|(name, _)| name == self.name)
            })
            .map(|entry| entry.path().join("out/croq"))
            .filter(|path| path.is_dir())
            .collect()
    }

    /// The directives that the build script printed for cargo.
    pub fn directives(&self) -> String {
        let files = self.out_dirs();
        let files = files.iter().map(|out| out.join("../../output"));
        files
            .filter_map(|path| std::fs::read_to_string(path).ok())
            .collect()
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        std::fs::write(path, text).expect("a file");
    }

    /// Replaces a part of a file, which must exist.
    pub fn edit(&self, name: &str, from: &str, to: &str) {
        let text = std::fs::read_to_string(self.path(name)).expect("a file");
        assert!(text.contains(from), "no {from:?} in {name}");
        self.write(name, &text.replace(from, to));
    }

    /// Runs cargo with further variables. CUDA is off unless they enable it.
    pub fn cargo(&self, args: &[&str], vars: &[(&str, &str)]) -> Seen {
        // Builds wait for each other at the shared folder; waiting here keeps cargo's messages
        // about it out of the output.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let lock = self.path("Cargo.lock");
        if !lock.exists() {
            std::fs::copy(workspace().join("Cargo.lock"), lock).expect("the workspace's versions");
        }
        let mut command = Command::new(env!("CARGO"));
        // A git repository in the next folder counts as a remote one.
        if !self.uses_git {
            command.arg("--offline");
        }
        command
            .args(args)
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", target_folder())
            .env("CARGO_TERM_COLOR", "never")
            .env(UNITS.0, UNITS.1)
            .env("CROQ_CUDA", "off");
        // Cargo sets these for this test; a user's environment does not have them.
        for name in [
            "CROQ_MESSAGE_FORMAT",
            "CROQ_WARNINGS",
            "CROQ_DEVICE",
            "RUSTFLAGS",
            "RUSTC_WORKSPACE_WRAPPER",
            "CLIPPY_ARGS",
            "RUST_BACKTRACE",
        ] {
            command.env_remove(name);
        }
        command.envs(vars.iter().copied());
        let Output {
            status,
            stdout,
            stderr,
        } = command.output().expect("cargo runs");
        Seen {
            success: status.success(),
            stdout: String::from_utf8_lossy(&stdout).into_owned(),
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
        }
    }

    /// Builds and runs; panics with the whole output if that fails.
    pub fn run(&self, vars: &[(&str, &str)]) -> Seen {
        let seen = self.cargo(&["run", "--quiet"], vars);
        assert!(
            seen.success,
            "{}: {}\n{}",
            self.name, seen.stdout, seen.stderr
        );
        seen
    }
}

/// `more` is appended, with further dependencies first.
pub fn manifest(name: &str, more: &str) -> String {
    let root = workspace();
    let root = root.display();
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [workspace]\n\n\
         [profile.dev]\ndebug = false\n\n\
         [build-dependencies]\ncroq-build = {{ path = \"{root}/croq-build\" }}\n\n\
         [dependencies]\ncroq-sys = {{ path = \"{root}/croq-sys\" }}\n{more}"
    )
}

pub fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("the workspace").to_owned()
}

/// An identifier that no earlier run of the tests has used: it names code that must really be
/// compiled.
pub fn fresh_name() -> String {
    let now = std::time::UNIX_EPOCH.elapsed().expect("a clock past 1970");
    format!("n{}", now.as_nanos())
}

/// The target folder of the workspace, so that croq and its dependences are built once.
pub fn target_folder() -> PathBuf {
    // This test runs in <target>/<profile>/deps.
    let exe = std::env::current_exe().expect("a path");
    exe.ancestors()
        .nth(3)
        .expect("the target folder")
        .to_owned()
}
