//! The open braces of a function, and which of them was probably forgotten.
//!
//! A `}` that stands further left than the line of its `{` closes, by the look of it, a brace further
//! out: the one that it pairs with is the one that lacks its `}`.

use super::Span;

#[derive(Default)]
pub struct Braces {
    open: Vec<Open>,
    /// The indentation of the line at hand.
    indent: usize,
    suspect: Option<Span>,
}

struct Open {
    span: Span,
    indent: usize,
    /// How many intrinsics were registered before the block.
    intrinsics: usize,
}

impl Braces {
    /// A line begins with the token at `start`.
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

    /// Closes the innermost block; how many intrinsics were registered before it.
    pub fn close(&mut self, starts_line: bool) -> usize {
        let Some(open) = self.open.pop() else {
            return 0;
        };
        if starts_line && self.indent < open.indent {
            self.suspect = self.suspect.or(Some(open.span));
        }
        open.intrinsics
    }

    pub fn none_open(&self) -> bool {
        self.open.is_empty()
    }

    /// The brace to look at when the function does not end.
    pub fn never_closed(&self) -> Option<Span> {
        self.suspect.or(self.open.last().map(|open| open.span))
    }
}
