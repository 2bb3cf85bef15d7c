//! The directives for cargo. They are collected during the build and printed only after all of it
//! has succeeded: after a failure cargo shows everything that was printed, which would obscure the
//! report.

use std::fmt;
use std::path::Path;

use super::problem::Problem;
use crate::diagnostics::codes;
use crate::sorted::SortedSet;

#[derive(Default, Debug)]
pub struct Directives {
    rerun_files: SortedSet<String>,
    rerun_variables: SortedSet<String>,
    warnings: Vec<String>,
    /// Search paths and libraries, in the linker's order.
    link: Vec<String>,
}

impl Directives {
    /// A file, or a folder with its contents. A path that does not exist is skipped: cargo would
    /// consider it changed at each build.
    pub fn rerun_if_changed(&mut self, path: &Path) -> Result<(), Problem> {
        if path.exists() {
            self.rerun_files.insert(sayable(path)?.to_owned());
        }
        Ok(())
    }

    pub fn rerun_if_env_changed(&mut self, name: impl Into<String>) {
        self.rerun_variables.insert(name.into());
    }

    pub fn warning(&mut self, text: &str) {
        self.warnings.push(one_line(text));
    }

    pub fn link_search(&mut self, folder: &Path) -> Result<(), Problem> {
        let folder = sayable(folder)?;
        self.link.push(format!("rustc-link-search=native={folder}"));
        Ok(())
    }

    /// `kind` as in rustc's `-l`: `static`, `dylib`, `static:-bundle`.
    pub fn link_library(&mut self, kind: &str, name: &str) {
        self.link.push(format!("rustc-link-lib={kind}={name}"));
    }
}

/// A path in a directive for cargo. A line break in it would begin another line, which cargo would
/// read as a directive.
pub fn sayable(path: &Path) -> Result<&str, Problem> {
    let text = path.to_str().ok_or_else(|| {
        Problem::new(
            codes::E1106,
            format!("the path {} is not UTF-8", shown(path)),
        )
        .note("cargo reads a build script's answers as lines of UTF-8")
    })?;
    if text.contains(char::is_control) {
        return Err(Problem::new(
            codes::E1106,
            format!("the path {} has a control character", shown(path)),
        )
        .note("a line break in what a build script prints begins another directive for cargo"));
    }
    Ok(text)
}

/// A path for messages, always on one line.
pub fn shown(path: &Path) -> String {
    match path.to_str() {
        Some(text) if !text.contains(char::is_control) => text.to_owned(),
        _ => format!("{path:?}"),
    }
}

/// Replaces line breaks and all other control characters, any of which some program treats as the
/// end of a line.
fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_begins_another_directive() {
        let mut directives = Directives::default();
        directives.warning("kernels/a\ncargo::rustc-env=X=1\r\u{1b}[31m.co: odd");
        let text = directives.to_string();
        assert_eq!(text.lines().count(), 1, "{text}");
        for odd in ["/out\ncargo::rustc-link-lib=evil", "/out\r", "/out\u{7f}"] {
            let problem = directives.link_search(Path::new(odd)).expect_err(odd);
            assert!(problem.message.contains("control character"), "{problem}");
            assert_eq!(problem.message.lines().count(), 1, "{problem}");
        }
        let plain = Path::new("/a folder/\"größe\"");
        assert_eq!(sayable(plain), Ok("/a folder/\"größe\""));
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_not_utf_8_is_named() {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"/out\xff"));
        let problem = sayable(path).expect_err("not UTF-8");
        assert!(problem.message.contains("\\xFF"), "{problem}");
    }
}
