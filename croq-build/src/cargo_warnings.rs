//! Warnings and notes of a build as `cargo::warning` lines.
//!
//! Cargo shows each as one line, and shows no other output of a build script that succeeds, so
//! notes are printed in this way, too: for example `N0321` reports an assignment with an unexpected
//! effect. The number and the length of the lines are limited; `croq check` prints the complete
//! reports.

use crate::diagnostics::levels::Levels;
use crate::diagnostics::{Diagnostic, Severity, render};
use crate::error::Format;
use crate::source::SourceFile;
use crate::toolchain::problem::Problem;

/// The most lines of one build.
const MOST_LINES: usize = 50;

/// The most characters of a line.
const MOST_CHARACTERS: usize = 400;

/// The lines of one build, in the order in which they are added.
#[derive(Default)]
pub struct CargoWarnings(Vec<(Severity, String)>);

impl CargoWarnings {
    /// Adds a warning that belongs to no file.
    pub fn warning(&mut self, text: &str) {
        self.0.push((Severity::Warning, one_line(text)));
    }

    /// Adds problems of the machine that are warnings.
    ///
    /// # Errors
    ///
    /// Returns the first that the settings of the build deny.
    pub fn problems(&mut self, problems: Vec<Problem>, levels: &Levels) -> Result<(), Problem> {
        for mut problem in problems {
            if !problem.apply(levels) {
                continue;
            }
            if !problem.is_warning() {
                return Err(problem);
            }
            self.warning(&problem.one_line());
        }
        Ok(())
    }

    /// Adds the warnings and notes among a file's diagnostics.
    pub fn of_file(&mut self, file: &SourceFile, diagnostics: &[Diagnostic], format: Format) {
        for diagnostic in diagnostics {
            if diagnostic.severity() == Severity::Error {
                continue;
            }
            let line = match format {
                Format::Json => render::json_lines(file, std::slice::from_ref(diagnostic))
                    .trim_end()
                    .to_owned(),
                Format::Text { .. } => one_line(&plain(file, diagnostic)),
            };
            self.0.push((diagnostic.severity(), line));
        }
    }

    /// The lines for cargo: if there are too many, warnings before notes, and a line with the
    /// number of those left out.
    pub fn into_lines(self) -> Vec<String> {
        let mut rest = self.0.len().saturating_sub(MOST_LINES);
        let left_out = rest;
        let mut lines = self.0;
        for dropped in [Severity::Note, Severity::Warning] {
            let mut kept = Vec::new();
            // The last ones are removed first.
            for (severity, line) in lines.into_iter().rev() {
                if severity == dropped && rest > 0 {
                    rest -= 1;
                } else {
                    kept.push((severity, line));
                }
            }
            kept.reverse();
            lines = kept;
        }
        let mut lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
        if left_out > 0 {
            lines.push(format!(
                "{left_out} more warnings and notes; `croq check` shows all of a file"
            ));
        }
        lines
    }
}

/// `kernels/scale.co:3:5: [W0209] message; help: …`
fn plain(file: &SourceFile, diagnostic: &Diagnostic) -> String {
    let (line, column) = file.line_col(diagnostic.primary.span.start);
    let word = match diagnostic.severity() {
        Severity::Note => " note:",
        _ => "",
    };
    let help = diagnostic
        .help
        .as_ref()
        .map_or(String::new(), |help| format!("; help: {help}"));
    format!(
        "{}:{line}:{column}: [{}]{word} {}{help}",
        file.path, diagnostic.code, diagnostic.message
    )
}

/// In cargo's protocol a line end is the end of the directive.
fn one_line(text: &str) -> String {
    let mut rest = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut line: String = rest.by_ref().take(MOST_CHARACTERS - 1).collect();
    match (rest.next(), rest.next()) {
        (None, _) => {}
        (Some(last), None) => line.push(last),
        _ => line.push('…'),
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::Diagnostics;
    use crate::diagnostics::codes;
    use crate::source::Span;

    fn file() -> SourceFile {
        crate::source::load("kernels/a.co", "a\nb\n", &[], &mut Diagnostics::new())
    }

    const TEXT: Format = Format::Text { color: false };

    #[test]
    fn notes_and_warnings_have_a_line_each() {
        let mut lines = CargoWarnings::default();
        let found = [
            Diagnostic::new(
                codes::E0201,
                Span::new(0, 1),
                "an error, which is reported elsewhere",
            ),
            Diagnostic::new(codes::N0321, Span::new(2, 3), "this hides\na name").help("rename it"),
            Diagnostic::new(codes::W0209, Span::new(0, 1), "never read"),
        ];
        lines.of_file(&file(), &found, TEXT);
        lines.warning("nvcc was not found");
        assert_eq!(
            lines.into_lines(),
            [
                "kernels/a.co:2:1: [N0321] note: this hides a name; help: rename it",
                "kernels/a.co:1:1: [W0209] never read",
                "nvcc was not found",
            ]
        );
    }

    #[test]
    fn number_and_length_are_limited_and_notes_go_first() {
        let mut lines = CargoWarnings::default();
        let note = Diagnostic::new(codes::N0321, Span::new(0, 1), "n");
        let warning = Diagnostic::new(codes::W0209, Span::new(0, 1), "w".repeat(1000));
        for _ in 0..40 {
            lines.of_file(&file(), &[note.clone(), warning.clone()], TEXT);
        }
        let lines = lines.into_lines();
        assert_eq!(lines.len(), MOST_LINES + 1);
        let count = |code: &str| lines.iter().filter(|l| l.contains(code)).count();
        assert_eq!((count("W0209"), count("N0321")), (40, 10));
        assert!(lines.iter().all(|l| l.chars().count() <= MOST_CHARACTERS));
        assert!(lines.last().is_some_and(|l| l.starts_with("30 more")));
    }

    #[test]
    fn json_lines_are_whole() {
        let mut lines = CargoWarnings::default();
        let note = Diagnostic::new(codes::N0321, Span::new(0, 1), "n".repeat(1000));
        lines.of_file(&file(), &[note], Format::Json);
        let lines = lines.into_lines();
        assert!(lines.iter().all(|l| l.starts_with('{') && l.ends_with('}')));
        assert_eq!(lines.len(), 1);
    }
}
