//! Selects the diagnostics of a run that are shown: at most [`REPORTS`], errors before warnings, in
//! the order of the text. So the size of the output is limited for any input.

use super::{Diagnostic, REPORTS, Severity, codes};
use crate::span::Span;

/// The number of reports that a run may still show, and the number of those it left out.
#[derive(Debug)]
pub struct Quota {
    errors_left: usize,
    others_left: usize,
    errors: usize,
    warnings: usize,
}

impl Quota {
    /// The quota of a run with all these diagnostics, file by file.
    pub fn of<'d>(files: impl IntoIterator<Item = &'d [Diagnostic]>) -> Self {
        let all = files.into_iter().flatten();
        let errors = all.filter(|d| d.severity() == Severity::Error).count();
        let errors_left = errors.min(REPORTS);
        Self {
            errors_left,
            others_left: REPORTS - errors_left,
            errors: 0,
            warnings: 0,
        }
    }

    /// The diagnostics of one file that are shown.
    pub fn take<'d>(&mut self, diagnostics: &'d [Diagnostic]) -> Vec<&'d Diagnostic> {
        let mut shown = Vec::new();
        for diagnostic in diagnostics {
            let (left, not_shown) = match diagnostic.severity() {
                Severity::Error => (&mut self.errors_left, &mut self.errors),
                Severity::Warning | Severity::Note => (&mut self.others_left, &mut self.warnings),
            };
            if *left > 0 {
                *left -= 1;
                shown.push(diagnostic);
            } else {
                *not_shown += 1;
            }
        }
        shown
    }

    /// The last report of a run that left some out.
    pub fn rest(&self) -> Option<Diagnostic> {
        let counted = |n: usize, what: &str| match n {
            0 => None,
            1 => Some(format!("1 {what}")),
            n => Some(format!("{n} {what}s")),
        };
        let parts: Vec<String> = [
            counted(self.errors, "error"),
            counted(self.warnings, "warning"),
        ]
        .into_iter()
        .flatten()
        .collect();
        if parts.is_empty() {
            return None;
        }
        let verb = if self.errors + self.warnings == 1 {
            "is"
        } else {
            "are"
        };
        Some(Diagnostic::new(
            codes::N1117,
            Span::default(),
            format!(
                "{} more {verb} not shown: a run shows at most {REPORTS} reports",
                parts.join(" and ")
            ),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(code: crate::diagnostics::Code, n: u32) -> Vec<Diagnostic> {
        (0..n)
            .map(|at| Diagnostic::new(code, Span::new(at, at), "text"))
            .collect()
    }

    #[test]
    fn errors_are_shown_before_warnings_and_the_rest_is_counted() {
        let mut first = some(codes::W0209, 150);
        first.extend(some(codes::E0201, 3));
        let second = some(codes::E0201, 1);
        // A run has one quota for all of its files.
        let mut quota = Quota::of([first.as_slice(), &second]);
        let shown = quota.take(&first);
        assert_eq!(shown.len(), REPORTS - 1);
        assert_eq!(shown.iter().filter(|d| d.code == "E0201").count(), 3);
        assert_eq!(quota.take(&second).len(), 1);
        let rest = quota.rest().expect("some are left out").message;
        assert!(rest.starts_with("54 warnings more are not shown"), "{rest}");
    }

    #[test]
    fn one_more_is_singular() {
        let all = some(codes::E0201, 101);
        let mut quota = Quota::of([all.as_slice()]);
        assert_eq!(quota.take(&all).len(), REPORTS);
        let rest = quota.rest().expect("one is left out").message;
        assert!(rest.starts_with("1 error more is not shown"), "{rest}");
    }

    #[test]
    fn few_reports_are_all_shown() {
        let all = some(codes::W0209, 100);
        let mut quota = Quota::of([all.as_slice()]);
        assert_eq!(quota.take(&all).len(), 100);
        assert_eq!(quota.rest(), None);
    }
}
