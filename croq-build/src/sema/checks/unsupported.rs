//! Constructs of the language that croq parses but does not lower yet.

use crate::diagnostics::Diagnostic;
use crate::sema::Checker;
use crate::source::Span;

impl Checker<'_> {
    /// Never silence, never a panic: what isn't there yet says so on its own span, the first time
    /// a function uses it.
    pub(crate) fn unsupported(&mut self, span: Span, what: &str) {
        self.unsupported_but(span, what, None);
    }

    /// The same where there is something to do instead.
    pub(crate) fn unsupported_but(&mut self, span: Span, what: &str, instead: Option<&str>) {
        if !self.unsupported.insert(what.to_owned()) {
            return;
        }
        let text = format!("{what} is not supported yet");
        let d = Diagnostic::new("E0099", span, text)
            .label("croq parses this, but can't compile it yet");
        self.report(match instead {
            Some(instead) => d.help(instead),
            None => d,
        });
    }
}
