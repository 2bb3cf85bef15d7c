//! What a function is checked against, and where findings go.

use std::collections::BTreeSet;

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::source::{SourceFile, Span};

pub(crate) struct Cx<'a> {
    pub file: &'a SourceFile,
    pub options: &'a Options,
    /// Every `__co__` function of the file.
    pub siblings: &'a [String],
    /// Where the function did not parse.
    pub faults: &'a [Span],
    pub diags: &'a mut Diagnostics,
    /// Kernels of which it was reported that not all targets have what they ask for.
    pub older_left_out: BTreeSet<Span>,
    /// What was reported as not supported.
    pub unsupported: BTreeSet<String>,
    /// Levels, by their headers, at which a statement of a warp was reported.
    pub without_warps: BTreeSet<Span>,
    /// Uses of names that stand for nothing, so far.
    pub names_missed: usize,
}

impl<'a> Cx<'a> {
    pub fn new(
        file: &'a SourceFile,
        options: &'a Options,
        siblings: &'a [String],
        faults: &'a [Span],
        diags: &'a mut Diagnostics,
    ) -> Self {
        Self {
            file,
            options,
            siblings,
            faults,
            diags,
            older_left_out: BTreeSet::new(),
            unsupported: BTreeSet::new(),
            without_warps: BTreeSet::new(),
            names_missed: 0,
        }
    }

    pub fn report(&mut self, d: Diagnostic) {
        self.diags.push(d);
    }

    pub fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::new(code, span, message));
    }
}

/// What the checks need to know about the targets.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What the kernels are built for; empty is anything.
    pub targets: Vec<Target>,
    /// The last sub-level of threads and groups is the fastest, not the first.
    pub last_is_fastest: bool,
    /// A failed check is recorded, and the kernel goes on: what it was made for is guarded.
    pub reports: bool,
}

#[derive(Clone, Debug)]
pub struct Target {
    /// `sm_90a`
    pub name: String,
    /// `90`
    pub number: u16,
}

pub(crate) fn spans_meet(a: Span, b: Span) -> bool {
    a.start <= b.end && b.start <= a.end
}

/// What the user wrote at `span`, to be written again in a help; `other` where that is long or
/// came out of a macro.
pub(crate) fn source_text(cx: &Cx<'_>, span: Span, other: &str) -> String {
    let text = cx.file.snippet(span);
    if text.is_empty() || text.len() > 40 || text.contains('\n') || cx.file.macro_at(span).is_some()
    {
        return other.to_owned();
    }
    text.to_owned()
}
