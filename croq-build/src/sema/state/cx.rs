//! The context of a function: the file, the options, and the sink for diagnostics.

use std::collections::HashSet;
use std::sync::Arc;

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::sema::state::siblings::Siblings;
use crate::sorted::SortedSet;
use crate::source::{SourceFile, Span};

pub(crate) struct Cx<'a> {
    pub file: &'a SourceFile,
    pub options: &'a Options,
    /// All `__co__` functions of the file.
    pub siblings: &'a Siblings<'a>,
    /// The spans of the function that did not parse.
    pub faults: &'a [Span],
    /// The words of the function's branches that were removed before the parser.
    pub untaken: &'a HashSet<Arc<str>>,
    pub diags: &'a mut Diagnostics,
    /// Kernels for which it was reported that not all targets support their features.
    pub older_left_out: SortedSet<Span>,
    /// Constructs that were reported as not supported.
    pub unsupported: SortedSet<String>,
    /// Levels, by their headers, at which a statement of a warp was reported.
    pub without_warps: SortedSet<Span>,
    /// The number of uses of undeclared names so far.
    pub names_missed: usize,
    /// Undeclared names that were reported: a name is, where it is used first.
    pub undeclared: SortedSet<String>,
}

impl<'a> Cx<'a> {
    pub fn new(
        file: &'a SourceFile,
        options: &'a Options,
        siblings: &'a Siblings<'a>,
        faults: &'a [Span],
        untaken: &'a HashSet<Arc<str>>,
        diags: &'a mut Diagnostics,
    ) -> Self {
        Self {
            file,
            options,
            siblings,
            faults,
            untaken,
            diags,
            older_left_out: SortedSet::new(),
            unsupported: SortedSet::new(),
            without_warps: SortedSet::new(),
            names_missed: 0,
            undeclared: SortedSet::new(),
        }
    }

    /// Whether it is the name of a function of the file whose header did not parse, or of an instance
    /// with an error. What depends on it is not reported: there is an error already.
    pub fn is_of_broken_header(&mut self, name: &str) -> bool {
        let mut texts = self.file.functions.iter();
        let broken = self.siblings.named(name).is_none()
            && (texts.any(|text| text.name() == Some(name)) || self.file.instance(name).is_some());
        if broken {
            self.diags.note_error_elsewhere();
        }
        broken
    }

    pub fn report(&mut self, d: Diagnostic) {
        self.diags.push(d);
    }

    pub fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::new(code, span, message));
    }
}

/// Options that checks depend on, among them the targets.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The targets of the build; an empty list means any target.
    pub targets: Vec<Target>,
    /// Whether somebody asked for these targets: then it is reported which of them a kernel leaves
    /// out.
    pub targets_asked: bool,
    /// The version of the build's nvcc; `None` if there is none, or if none is known.
    pub nvcc: Option<[u32; 2]>,
    /// The last sub-level of threads and groups is the fastest, instead of the first.
    pub last_is_fastest: bool,
    /// A failed check is recorded and the kernel continues; the checked access is guarded.
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

/// The source text at `span`, to be repeated in a help; `other` if that is long or was expanded
/// from a macro.
pub(crate) fn source_text(cx: &Cx<'_>, span: Span, other: &str) -> String {
    let text = cx.file.snippet(span);
    if text.is_empty() || text.len() > 40 || text.contains('\n') || cx.file.macro_at(span).is_some()
    {
        return other.to_owned();
    }
    text.to_owned()
}
