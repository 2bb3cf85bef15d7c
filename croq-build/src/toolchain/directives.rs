//! What cargo is told. Collected during the build and printed only when all of it has succeeded:
//! after a failure cargo shows everything that was printed, and the report should stand alone.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

#[derive(Default, Debug)]
pub struct Directives {
    rerun_files: BTreeSet<String>,
    rerun_variables: BTreeSet<String>,
    warnings: Vec<String>,
    /// Searching and linking; the order is the linker's.
    link: Vec<String>,
}

impl Directives {
    /// A file, or a folder with all below it. What does not exist is left out: cargo would take it
    /// for changed each time.
    pub fn rerun_if_changed(&mut self, path: &Path) {
        if path.exists() {
            self.rerun_files.insert(path.display().to_string());
        }
    }

    pub fn rerun_if_env_changed(&mut self, name: impl Into<String>) {
        self.rerun_variables.insert(name.into());
    }

    pub fn warning(&mut self, text: &str) {
        self.warnings.push(text.replace('\n', " "));
    }

    pub fn link_search(&mut self, folder: &Path) {
        self.link
            .push(format!("rustc-link-search=native={}", folder.display()));
    }

    /// `kind` as rustc's `-l` has it: `static`, `dylib`, `static:-bundle`.
    pub fn link_library(&mut self, kind: &str, name: &str) {
        self.link.push(format!("rustc-link-lib={kind}={name}"));
    }
}

impl fmt::Display for Directives {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for path in &self.rerun_files {
            writeln!(f, "cargo::rerun-if-changed={path}")?;
        }
        for name in &self.rerun_variables {
            writeln!(f, "cargo::rerun-if-env-changed={name}")?;
        }
        for line in &self.link {
            writeln!(f, "cargo::{line}")?;
        }
        for warning in &self.warnings {
            writeln!(f, "cargo::warning={warning}")?;
        }
        Ok(())
    }
}
