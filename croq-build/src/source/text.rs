//! Normalises the text of a file before it is read. Offsets do not change.

use std::borrow::Cow;

use super::Span;
use crate::diagnostics::{Diagnostic, Diagnostics, codes};

/// The text with one kind of line end: a single `\r` ends a line, as `\n` does. Characters that are
/// not text are reported once and read as blanks.
pub fn readable<'t>(text: &'t str, diags: &mut Diagnostics) -> Cow<'t, str> {
    const MARK: &str = "\u{feff}";
    let mut text = Cow::Borrowed(text);
    if text.contains('\r') {
        let mut chars = text.chars().peekable();
        let mut out = String::with_capacity(text.len());
        while let Some(c) = chars.next() {
            let alone = c == '\r' && chars.peek() != Some(&'\n');
            out.push(if alone { '\n' } else { c });
        }
        text = out.into();
    }
    if let Some(at) = text.find('\0') {
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        let more = text.matches('\0').count();
        diags.push(
            Diagnostic::new(
                codes::E0104,
                Span::new(at, at + 1),
                "the file holds a NUL byte",
            )
            .label(match more {
                1 => "not text".to_owned(),
                _ => format!("the first of {more}"),
            })
            .help("save the file as UTF-8 text"),
        );
        text = text.replace('\0', " ").into();
    }
    if text.starts_with(MARK) {
        diags.push(
            Diagnostic::new(
                codes::E0104,
                Span::new(0, MARK.len() as u32),
                "the file begins with a byte order mark",
            )
            .label("an invisible character")
            .help("save it as UTF-8 without a byte order mark"),
        );
        text = text.replacen(MARK, &" ".repeat(MARK.len()), 1).into();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, Vec<String>) {
        let mut diags = Diagnostics::new();
        let out = readable(text, &mut diags).into_owned();
        assert_eq!(out.len(), text.len());
        let messages = diags.into_sorted().into_iter().map(|d| d.message);
        (out, messages.collect())
    }

    #[test]
    fn every_kind_of_line_end_ends_a_line() {
        assert_eq!(read("a\rb\r\nc\r\r\nd\n").0, "a\nb\r\nc\n\r\nd\n");
        assert_eq!(read("a\r").0, "a\n");
    }

    #[test]
    fn what_is_no_text_is_reported_once() {
        let (out, messages) = read("\u{feff}a\0b\0");
        assert_eq!(out, "   a b ");
        assert_eq!(
            messages,
            [
                "the file begins with a byte order mark",
                "the file holds a NUL byte"
            ]
        );
    }
}
