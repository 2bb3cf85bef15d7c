//! The text that reports quote.

use crate::span::Span;

/// A file as reports see it.
pub trait Quoted {
    /// As shown to users.
    fn path(&self) -> &str;

    fn text(&self) -> &str;

    /// The first byte of each line.
    fn line_starts(&self) -> &[u32];

    /// 1-based line and column; the column counts characters.
    fn line_col(&self, byte: u32) -> (u32, u32);

    /// The macro that `span` is a use of.
    fn macro_at(&self, span: Span) -> Option<&str>;
}

/// What reports without a place quote.
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
