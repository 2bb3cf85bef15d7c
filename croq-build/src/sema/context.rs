//! What a function is checked against, and where findings go.

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::sema::Options;
use crate::source::{SourceFile, Span};

pub(crate) struct Cx<'a> {
    pub file: &'a SourceFile,
    pub options: &'a Options,
    /// Every `__co__` function of the file.
    pub siblings: &'a [String],
    /// Where the function did not parse.
    pub faults: &'a [Span],
    pub diags: &'a mut Diagnostics,
}

impl Cx<'_> {
    pub fn report(&mut self, d: Diagnostic) {
        self.diags.push(d);
    }

    pub fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::new(code, span, message));
    }
}
