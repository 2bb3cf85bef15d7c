//! Constructs of the language that croq parses but does not lower yet.

use crate::diagnostics::{Diagnostic, codes};
use crate::sema::state::cx::Cx;
use crate::source::Span;

/// Reports a construct that is not supported, at its span, the first time a function uses it.
pub(crate) fn report(cx: &mut Cx<'_>, span: Span, what: &str) {
    report_with_remedy(cx, span, what, None);
}

/// The same with an alternative in the help.
pub(crate) fn report_with_remedy(cx: &mut Cx<'_>, span: Span, what: &str, instead: Option<&str>) {
    if !cx.unsupported.insert(what.to_owned()) {
        return;
    }
    let text = format!("{what} is not supported yet");
    let d = Diagnostic::new(codes::E0099, span, text)
        .label("croq parses this, but can't compile it yet");
    cx.report(match instead {
        Some(instead) => d.help(instead),
        None => d,
    });
}
