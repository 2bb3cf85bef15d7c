//! The type of a diagnostic, and the collector that gathers all diagnostics before the compiler
//! fails. Rendering is in [`render`]; nothing here prints.

use std::collections::HashMap;

use crate::sorted::SortedMap;
use crate::span::Span;

mod code;
pub mod codes;
mod excerpt;
pub mod explain;
pub mod groups;
mod instance;
pub mod levels;
mod nearest;
mod quota;
pub mod quoted;
pub mod render;
mod severity;
mod suggestion;

pub use code::Code;
pub use instance::{Asked, InstanceName};
pub use nearest::{edit_distance, nearest};
pub use quota::Quota;
pub use severity::Severity;
pub use suggestion::{Applied, Suggestion, apply};

/// The most reports of one run.
pub const REPORTS: usize = 100;

/// A fact that a diagnostic depends on, or its primary location, with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub span: Span,
    pub text: String,
}

/// One diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub code: Code,
    /// One sentence that names the constructs concerned.
    pub message: String,
    /// The location in the user's text, and the error there.
    pub primary: Label,
    pub secondary: Vec<Label>,
    pub notes: Vec<String>,
    /// The remedy, as text to write instead.
    pub help: Option<String>,
    /// It depends on the whole function, and may be wrong if a part of the function is in error.
    pub of_the_whole: bool,
    /// The instances of templates that it is about.
    pub instances: Vec<InstanceName>,
    /// The correction, if it is certain.
    pub suggestion: Option<Box<Suggestion>>,
    severity: Severity,
}

/// The functions that build a diagnostic are calls in the passes, not copies: thousands of places build one, few runs do.
impl Diagnostic {
    /// An error of croq itself.
    pub fn internal(span: Span, message: impl Into<String>) -> Self {
        Self::new(codes::E1199, span, message)
            .help("this is an error in croq, not in the program; please report it with this file")
    }

    /// An integer that the prover can't express.
    pub fn too_large_integer(span: Span) -> Self {
        let message = "this integer expression grows too large to be kept exactly";
        Self::new(codes::E0429, span, message)
            .label("too many terms, or beyond 64 bits")
            .help("in a kernel, compute a part of it into an `s64` variable first")
    }

    #[cold]
    #[inline(never)]
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            primary: Label {
                span,
                text: String::new(),
            },
            secondary: Vec::new(),
            notes: Vec::new(),
            help: None,
            of_the_whole: false,
            instances: Vec::new(),
            suggestion: None,
            severity: code.severity(),
        }
    }

    /// The severity: the code's, unless a setting of the build gives it another one.
    pub fn severity(&self) -> Severity {
        self.severity
    }

    pub fn of_the_whole(mut self) -> Self {
        self.of_the_whole = true;
        self
    }

    /// The order of reports: that of the text.
    pub fn order(&self) -> (u32, Severity, Code) {
        (self.primary.span.start, self.severity(), self.code)
    }

    /// Sets the text at the primary location.
    #[cold]
    #[inline(never)]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// Adds a location that the diagnostic depends on.
    #[cold]
    #[inline(never)]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label {
            span,
            text: text.into(),
        });
        self
    }

    #[cold]
    #[inline(never)]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    #[cold]
    #[inline(never)]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Sets the correction, which must be certain: `croq fix` applies it without asking.
    #[cold]
    #[inline(never)]
    pub fn suggest(mut self, span: Span, replacement: impl Into<String>) -> Self {
        self.suggestion = Some(Box::new(Suggestion {
            span,
            replacement: replacement.into(),
        }));
        self
    }
}

/// Collects all independent diagnostics of one file.
#[derive(Default, Debug)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    /// The position in the list of each code and location.
    seen: HashMap<(Code, Span), usize>,
    pushed: usize,
    /// What is reported now is about this instance.
    instance: Option<InstanceName>,
    /// Whether there is an error that another collector has.
    error_elsewhere: bool,
}

impl Diagnostics {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a diagnostic, unless the same code was already reported at the same location: then only
    /// the instance that it is about is added.
    pub fn push(&mut self, mut diagnostic: Diagnostic) {
        self.pushed += 1;
        let key = (diagnostic.code, diagnostic.primary.span);
        if let Some(first) = self.seen.get(&key).and_then(|at| self.list.get_mut(*at)) {
            if first.instances.last() != self.instance.as_ref() {
                first.instances.extend(self.instance.clone());
            }
            if first.suggestion != diagnostic.suggestion {
                first.suggestion = None;
            }
            return;
        }
        diagnostic.instances.extend(self.instance.clone());
        self.seen.insert(key, self.list.len());
        self.list.push(diagnostic);
    }

    /// Adds all diagnostics of another collector, which are about no instance yet.
    pub fn append(&mut self, other: Self) {
        self.error_elsewhere |= other.error_elsewhere;
        for diagnostic in other.list {
            self.push(diagnostic);
        }
    }

    /// What `report` reports is about this instance.
    pub fn within<R>(
        &mut self,
        instance: Option<&InstanceName>,
        report: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let outer = std::mem::replace(&mut self.instance, instance.cloned());
        let result = report(self);
        self.instance = outer;
        result
    }

    /// Whether there are more reports than a run shows: further ones need no explanation.
    pub fn is_full(&self) -> bool {
        self.list.len() >= REPORTS
    }

    /// Whether there is an error, here or in what this depends on.
    pub fn has_errors(&self) -> bool {
        let is_error = |d: &Diagnostic| d.severity() == Severity::Error;
        self.error_elsewhere || self.list.iter().any(is_error)
    }

    /// Whether what this depends on has an error, which another collector has.
    pub fn has_error_elsewhere(&self) -> bool {
        self.error_elsewhere
    }

    /// What this depends on has an error, which another collector has.
    pub fn note_error_elsewhere(&mut self) {
        self.error_elsewhere = true;
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// The number of diagnostics pushed, duplicates included.
    pub fn pushed(&self) -> usize {
        self.pushed
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// All of it, in source order (errors, warnings and notes interleaved by position).
    pub fn into_sorted(mut self) -> Vec<Diagnostic> {
        for d in &mut self.list {
            // Another instance may need the text as it is; syntax is the same for all of them.
            if !d.instances.is_empty() && d.code.severity() != Severity::Error {
                d.suggestion = None;
            }
            let (notes, place) = instance::described(&std::mem::take(&mut d.instances));
            d.notes.extend(notes);
            d.secondary
                .extend(place.map(|(span, text)| Label { span, text }));
        }
        self.list.sort_by_key(Diagnostic::order);
        self.list
    }
}

/// Keeps one note per file and cause, with the number of the other locations.
pub fn notes_once(sorted: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut kept: Vec<Diagnostic> = Vec::new();
    let mut first: SortedMap<(Code, String), (usize, usize)> = SortedMap::new();
    for d in sorted {
        if d.severity() == Severity::Note {
            let key = (d.code, d.message.clone());
            if let Some((_, others)) = first.get_mut(&key) {
                *others += 1;
                continue;
            }
            first.insert(key, (kept.len(), 0));
        }
        kept.push(d);
    }
    for (at, others) in first.into_values().filter(|(_, others)| *others > 0) {
        if let Some(d) = kept.get_mut(at) {
            let places = if others == 1 { "place" } else { "places" };
            d.notes.push(format!(
                "the same holds for {others} more {places} of this file"
            ));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_reported_once_for_a_file_and_cause() {
        let note =
            |at, message: &str| Diagnostic::new(codes::N0860, Span::new(at, at + 1), message);
        let warning = |at| Diagnostic::new(codes::W0703, Span::new(at, at + 1), "lossy");
        let all = notes_once(vec![
            note(0, "one"),
            warning(2),
            note(3, "another"),
            warning(4),
            note(5, "one"),
            note(7, "one"),
        ]);
        let messages: Vec<&str> = all.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(messages, ["one", "lossy", "another", "lossy"]);
        assert_eq!(all[0].primary.span, Span::new(0, 1));
        assert_eq!(
            all[0].notes,
            ["the same holds for 2 more places of this file"]
        );
        assert!(all[2].notes.is_empty());
    }
}
