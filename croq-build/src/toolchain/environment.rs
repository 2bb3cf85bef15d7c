//! The inputs from outside: environment variables and the search path.
//!
//! The name of every variable that is read is recorded, so that the build can declare it to cargo,
//! which reruns the build script when one of them changes. No variable can be read without being
//! recorded.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::sorted::SortedSet;

type Lookup = Box<dyn Fn(&str) -> Option<OsString>>;

pub struct Environment {
    lookup: Lookup,
    asked: RefCell<SortedSet<String>>,
}

impl Environment {
    /// The environment of this process.
    pub fn of_process() -> Self {
        Self::new(|name| std::env::var_os(name))
    }

    pub fn new(lookup: impl Fn(&str) -> Option<OsString> + 'static) -> Self {
        Self {
            lookup: Box::new(lookup),
            asked: RefCell::new(SortedSet::new()),
        }
    }

    /// The value of a variable; an empty one counts as not set.
    pub fn get(&self, name: &str) -> Option<OsString> {
        self.asked.borrow_mut().insert(name.to_owned());
        self.undeclared(name)
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(|v| v.to_string_lossy().into_owned())
    }

    /// The value of a variable whose change must not make cargo rerun the script: cargo's own,
    /// which it tracks itself, and `PATH`, which differs between a shell and an editor on the same
    /// unchanged machine.
    pub fn undeclared(&self, name: &str) -> Option<OsString> {
        (self.lookup)(name).filter(|value| !value.is_empty())
    }

    /// The names read so far, for `rerun-if-env-changed`.
    pub fn asked(&self) -> Vec<String> {
        self.asked.borrow().iter().cloned().collect()
    }

    /// The path of a program of this name in the folders of `PATH`.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let path = self.undeclared("PATH")?;
        std::env::split_paths(&path)
            .map(|folder| folder.join(name))
            .find(|candidate| is_program(candidate))
    }

    /// A program given as a path or as a bare name to look up in `PATH`.
    pub fn resolve(&self, program: &Path) -> Option<PathBuf> {
        if program.components().count() > 1 {
            return is_program(program).then(|| program.to_owned());
        }
        self.program(&program.to_string_lossy())
    }
}

pub fn is_program(path: &Path) -> bool {
    let Ok(metadata) = path.metadata() else {
        return false;
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
    }
    #[cfg(not(unix))]
    metadata.is_file()
}

#[cfg(test)]
pub mod tests {
    use super::*;

    use crate::sorted::SortedMap;

    /// An environment with exactly these variables, for tests.
    pub fn environment(vars: &[(&str, &str)]) -> Environment {
        let vars: SortedMap<String, OsString> = vars
            .iter()
            .map(|(name, value)| ((*name).to_owned(), OsString::from(value)))
            .collect();
        Environment::new(move |name| vars.get(name).cloned())
    }

    #[test]
    fn only_declared_variables_are_remembered() {
        let env = environment(&[("NVCC", "/opt/nvcc"), ("EMPTY", ""), ("OUT_DIR", "/out")]);
        assert_eq!(env.text("NVCC").as_deref(), Some("/opt/nvcc"));
        assert_eq!(env.get("EMPTY"), None);
        assert!(env.undeclared("OUT_DIR").is_some());
        assert_eq!(env.asked(), ["EMPTY", "NVCC"]);
    }

    #[test]
    fn a_bare_name_is_looked_up_and_a_path_is_not() {
        let env = environment(&[("PATH", "/nowhere:/bin:/usr/bin")]);
        assert!(env.resolve(Path::new("sh")).is_some());
        assert_eq!(env.resolve(Path::new("./sh")), None);
        assert_eq!(env.resolve(Path::new("no-such-program-of-croq")), None);
    }
}
