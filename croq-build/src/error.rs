//! The error of a build: all reports in one value.

use std::fmt::{self, Write as _};

use crate::diagnostics::{Diagnostic, Quota, render};
use crate::source::SourceFile;
use crate::toolchain::problem::Problem;

/// All errors in a package's kernels, or in the machine that builds them.
///
/// `Display` prints the report; so does `Debug`, because that is what
/// `fn main() -> Result<(), croq_build::Error>` in a `build.rs` prints.
pub struct Error {
    pub(crate) files: Vec<(SourceFile, Vec<Diagnostic>)>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) format: Format,
}

/// The format of reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    Text { color: bool },
    Json,
}

impl Error {
    /// One JSON object per line and diagnostic: `code`, `severity`, `message`, `spans` with line
    /// and column, `help`.
    pub fn json_lines(&self) -> String {
        let mut quota = self.quota();
        let mut out: String = self
            .files
            .iter()
            .map(|(file, diagnostics)| render::json_within(file, diagnostics, &mut quota))
            .collect();
        out.push_str(&render::json_rest(&quota));
        for problem in &self.problems {
            out.push_str(&problem.json());
            out.push('\n');
        }
        out
    }

    fn quota(&self) -> Quota {
        Quota::of(
            self.files
                .iter()
                .map(|(_, diagnostics)| diagnostics.as_slice()),
        )
    }

    /// The reports in the format that the environment selects.
    pub(crate) fn rendered(&self) -> String {
        match self.format {
            Format::Json => self.json_lines(),
            Format::Text { color } => self.text(color),
        }
    }

    fn text(&self, color: bool) -> String {
        let mut out = String::new();
        let mut quota = self.quota();
        for (file, diagnostics) in &self.files {
            separate(&mut out);
            out.push_str(&render::report_within(file, diagnostics, color, &mut quota));
        }
        out.push_str(&render::rest(&quota, color));
        for problem in &self.problems {
            separate(&mut out);
            let _ = writeln!(out, "{problem}");
        }
        out
    }
}

/// Adds a blank line between reports.
fn separate(out: &mut String) {
    if !out.is_empty() {
        out.push('\n');
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self {
            files: Vec::new(),
            problems: vec![problem],
            format: Format::Text { color: false },
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text(false).trim_end())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}
