//! The targets that support the features of a kernel.

use crate::diagnostics::{Code, Diagnostic};
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::source::Span;

/// The first architecture with TMA.
const FROM: u16 = 90;

/// The targets with TMA, and those without.
pub(crate) fn targets(cx: &Cx<'_>) -> (String, String) {
    let list = |newer: bool| {
        let targets = cx.options.targets.iter();
        let names: Vec<&str> = targets
            .filter(|t| (t.number >= FROM) == newer)
            .map(|t| t.name.as_str())
            .collect();
        names.join(" and ")
    };
    (list(true), list(false))
}

/// Notes once for each kernel that not all targets that were asked for support `what`.
pub(crate) fn note_targets(el: &mut Elab<'_>, at: Span, code: Code, what: &str) {
    let (newer, older) = targets(&el.cx);
    let header = el.kernel.as_ref().map_or(at, |k| k.header);
    if !el.cx.options.targets_asked || older.is_empty() || !el.cx.older_left_out.insert(header) {
        return;
    }
    let text = format!("this kernel is built for {newer} alone");
    let label = format!("{older} has no {what}");
    el.cx.report(Diagnostic::new(code, at, text).label(label));
}
