//! The interface to the text that reports quote.

use crate::span::Span;

/// The properties of a file that reports need.
pub trait Quoted {
    /// The path in messages.
    fn path(&self) -> &str;

    fn text(&self) -> &str;

    /// The first byte of each line.
    fn line_starts(&self) -> &[u32];

    /// 1-based line and column; the column counts characters.
    fn line_col(&self, byte: u32) -> (u32, u32);

    /// The macro that `span` is a use of.
    fn macro_at(&self, span: Span) -> Option<&str>;
}

/// The file of reports without a location.
pub(super) struct Nothing;

impl Quoted for Nothing {
    fn path(&self) -> &str {
        ""
    }

    fn text(&self) -> &str {
        ""
    }

    fn line_starts(&self) -> &[u32] {
        &[]
    }

    fn line_col(&self, _: u32) -> (u32, u32) {
        (1, 1)
    }

    fn macro_at(&self, _: Span) -> Option<&str> {
        None
    }
}
