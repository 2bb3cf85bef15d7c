//! The open braces of a function, and a guess at the one that is not closed.
//!
//! If a `}` is indented less than the line of the `{` that it pairs with, it was probably meant to
//! close an outer brace, and its partner is probably the one without a `}`. If it is indented more,
//! it was probably meant to close an inner one, whose `{` is missing.

use super::Span;

#[derive(Default)]
pub struct Braces {
    open: Vec<Open>,
    /// The indentation of the current line.
    indent: usize,
    suspect: Option<Span>,
    /// The first `}` that is indented more than the line of its `{`.
    early: Option<Span>,
}

struct Open {
    span: Span,
    indent: usize,
    /// The number of intrinsics registered before the block.
    intrinsics: usize,
}

impl Braces {
    /// Records that a line begins with the token at `start`.
    pub fn line(&mut self, text: &str, start: u32) {
        let before = text.as_bytes().get(..start as usize).unwrap_or_default();
        self.indent = before
            .iter()
            .rev()
            .take_while(|b| matches!(b, b' ' | b'\t'))
            .count();
    }

    pub fn open(&mut self, span: Span, intrinsics: usize) {
        self.open.push(Open {
            span,
            indent: self.indent,
            intrinsics,
        });
    }

    /// Closes the innermost block; returns the number of intrinsics registered before it.
    pub fn close(&mut self, brace: Span, starts_line: bool) -> usize {
        let Some(open) = self.open.pop() else {
            return 0;
        };
        if starts_line && self.indent < open.indent {
            self.suspect = self.suspect.or(Some(open.span));
        }
        if starts_line && self.indent > open.indent {
            self.early = self.early.or(Some(brace));
        }
        open.intrinsics
    }

    pub fn none_open(&self) -> bool {
        self.open.is_empty()
    }

    /// The brace to report if the function ends before its last `}`.
    pub fn closed_early(&self) -> Option<Span> {
        self.early
    }

    /// The brace to report if the function does not end.
    pub fn never_closed(&self) -> Option<Span> {
        self.suspect.or(self.open.last().map(|open| open.span))
    }
}
