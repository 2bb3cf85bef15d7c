//! Constructs of the language that croq parses but does not lower yet.

use super::Checker;
use crate::diagnostics::Diagnostic;
use crate::source::Span;

impl Checker<'_> {
    /// Never silence, never a panic: what isn't there yet says so on its own span, the first time
    /// a function uses it.
    pub(super) fn unsupported(&mut self, span: Span, what: &str) {
        if !self.unsupported.insert(what.to_owned()) {
            return;
        }
        self.report(
            Diagnostic::new("E0099", span, format!("{what} is not supported yet"))
                .label("croq parses this, but can't compile it yet"),
        );
    }
}
