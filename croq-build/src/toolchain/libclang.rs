//! Verifies that bindgen can find libclang: otherwise bindgen panics, and a panic in a build script
//! does not name the package to install.

use std::path::{Path, PathBuf};

use super::environment::Environment;
use super::nvcc::python_packages;
use super::problem::Problem;
use crate::diagnostics::codes;

/// Loads libclang for this thread, which bindgen then uses.
pub fn load(env: &Environment) -> Result<(), Problem> {
    // clang-sys reads these; reading them here declares them to cargo.
    let path = env.text("LIBCLANG_PATH");
    for name in ["LLVM_CONFIG_PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH"] {
        let _ = env.get(name);
    }
    if clang_sys::is_loaded() {
        return Ok(());
    }
    clang_sys::load().map_err(|reason| missing(env, path.as_deref(), &reason))
}

fn missing(env: &Environment, path: Option<&str>, reason: &str) -> Problem {
    let problem = Problem::new(
        codes::E1111,
        "libclang was not found, which croq needs to read the C headers of its kernels",
    );
    let problem = match path {
        Some(path) => problem.note(format!("LIBCLANG_PATH={path}: no libclang there")),
        None => problem.note(
            "looked at LIBCLANG_PATH (not set), `llvm-config`, LD_LIBRARY_PATH, LIBRARY_PATH and the system's \
             library folders",
        ),
    };
    let problem = if reason.contains("could not be opened") || reason.contains("(invalid: [(") {
        problem.note(reason.to_owned())
    } else {
        problem
    };
    let problem = match fetched_by_make() {
        Some(folder) => problem.note(format!(
            "croq's own folder has one: LIBCLANG_PATH={}",
            folder.display()
        )),
        None => problem,
    };
    match in_python_packages(env) {
        Some(folder) => problem.help(format!(
            "there is one among your Python packages: set LIBCLANG_PATH={}",
            folder.display()
        )),
        None => problem.help(
            "install it (Debian and Ubuntu: `apt-get install libclang-dev`, Fedora: `dnf install clang-devel`; \
             without root: `pip install libclang` in a virtual environment, and set LIBCLANG_PATH to the folder \
             `clang/native` of the package)",
        ),
    }
}

/// The folder into which `make` installs it in a checkout of croq that is used as a path
/// dependency.
fn fetched_by_make() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    Some(folder.join(".croq").join("libclang")).filter(|folder| has_libclang(folder))
}

/// The folder of the PyPI wheel, if there is one.
fn in_python_packages(env: &Environment) -> Option<PathBuf> {
    python_packages(env)
        .into_iter()
        .map(|packages| packages.join("clang").join("native"))
        .find(|folder| has_libclang(folder))
}

fn has_libclang(folder: &Path) -> bool {
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    folder.join(format!("{prefix}clang{suffix}")).is_file()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::environment::tests::environment;

    #[test]
    fn a_missing_library_says_where_it_was_looked_for() {
        let env = environment(&[("LIBCLANG_PATH", "/nowhere")]);
        let text = missing(&env, Some("/nowhere"), "couldn't find any").to_string();
        assert!(text.contains("LIBCLANG_PATH=/nowhere"), "{text}");
        assert_eq!(
            text.contains("croq's own folder"),
            fetched_by_make().is_some(),
            "{text}"
        );
        assert!(
            text.contains("libclang-dev") && text.contains("pip install libclang"),
            "{text}"
        );
    }

    #[test]
    fn one_among_the_python_packages_is_pointed_at() {
        let venv = tempfile::tempdir().expect("a folder");
        let folder = venv
            .path()
            .join("lib/python3.12/site-packages/clang/native");
        std::fs::create_dir_all(&folder).expect("folders");
        let name = format!(
            "{}clang{}",
            std::env::consts::DLL_PREFIX,
            std::env::consts::DLL_SUFFIX
        );
        std::fs::write(folder.join(name), "").expect("a library");
        let env = environment(&[("VIRTUAL_ENV", &venv.path().to_string_lossy())]);
        let text = missing(&env, None, "").to_string();
        assert!(
            text.contains(&format!("set LIBCLANG_PATH={}", folder.display())),
            "{text}"
        );
    }
}
