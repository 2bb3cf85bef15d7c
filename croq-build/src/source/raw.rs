//! C++ text as far as croq parses it: words, brackets, and the text to skip.

use super::cursor::{is_word_byte, is_word_start};
use super::lexer::{block_comment_end, raw_string_end};
use super::steps::step;

/// Scans C++ text; skips white space, comments, strings, characters and numbers.
pub struct RawText<'a> {
    pub text: &'a str,
    pub pos: usize,
    /// The end of the text that may be read.
    pub limit: usize,
    /// The beginning of a comment that has no end.
    pub open_comment: Option<usize>,
    /// The ranges of the comments that were skipped, where they are of interest.
    pub comments: Option<Vec<(usize, usize)>>,
    /// The backslashes that continue a skipped `//` comment on a line with text.
    pub continued_comments: Vec<usize>,
    /// The beginning of the last skipped string or character that ends with its line, without a quote.
    pub cut_literal: Option<usize>,
}

impl<'a> RawText<'a> {
    pub fn new(text: &'a str, pos: usize, limit: usize) -> Self {
        Self {
            text,
            pos,
            limit,
            open_comment: None,
            comments: None,
            continued_comments: Vec::new(),
            cut_literal: None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Raw<'a> {
    Word(&'a str, usize),
    /// A string literal that begins here.
    Str(usize),
    /// Any other byte except a blank; operators are returned byte by byte.
    Byte(u8, usize),
    /// `#` first on its line, at this offset. The scan continues after it.
    LineHash(usize),
}

impl<'a> RawText<'a> {
    pub fn byte(&self, at: usize) -> u8 {
        step();
        if at < self.limit {
            self.text.as_bytes().get(at).copied().unwrap_or(0)
        } else {
            0
        }
    }

    pub fn next_raw(&mut self) -> Option<Raw<'a>> {
        loop {
            self.skip_blanks();
            if self.pos >= self.limit {
                return None;
            }
            let start = self.pos;
            let first = self.byte(start);
            match first {
                b'#' if starts_line(self.text, start) => {
                    self.pos += 1;
                    return Some(Raw::LineHash(start));
                }
                b'"' => {
                    self.skip_quoted(b'"');
                    return Some(Raw::Str(start));
                }
                b'\'' => self.skip_quoted(b'\''),
                b'0'..=b'9' => {
                    // `1'000'000`, `0x1p-3`, `1.5e3f`
                    while is_word_byte(self.byte(self.pos))
                        || self.byte(self.pos) == b'.'
                        || (self.byte(self.pos) == b'\'' && is_word_byte(self.byte(self.pos + 1)))
                    {
                        self.pos += 1;
                    }
                }
                _ if is_word_start(first) => {
                    while is_word_byte(self.byte(self.pos)) {
                        self.pos += 1;
                    }
                    let word = self.text.get(start..self.pos).unwrap_or("");
                    if self.byte(self.pos) == b'"'
                        && matches!(word, "R" | "LR" | "uR" | "UR" | "u8R")
                    {
                        match raw_string_end(self.text, self.pos) {
                            Some((_, end)) => self.pos = end.min(self.limit),
                            None => self.skip_quoted(b'"'),
                        }
                        return Some(Raw::Str(start));
                    }
                    return Some(Raw::Word(word, start));
                }
                _ => {
                    self.pos += 1;
                    return Some(Raw::Byte(first, start));
                }
            }
        }
    }

    pub fn skip_blanks(&mut self) {
        while self.pos < self.limit {
            let start = self.pos;
            match self.byte(self.pos) {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => self.pos += 1,
                b'\\' if matches!(self.byte(self.pos + 1), b'\n' | b'\r') => self.pos += 2,
                b'/' if self.byte(self.pos + 1) == b'/' => {
                    self.skip_line();
                    let comment = self.text.get(start..self.pos).unwrap_or_default();
                    let continued = continued_on(comment).map(|at| start + at);
                    self.continued_comments.extend(continued);
                }
                b'/' if self.byte(self.pos + 1) == b'*' => {
                    let end = block_comment_end(self.text.as_bytes(), self.pos);
                    if end.is_none() {
                        self.open_comment = Some(self.pos);
                    }
                    self.pos = end.unwrap_or(self.limit).min(self.limit);
                }
                _ => break,
            }
            if self.byte(start) == b'/'
                && let Some(comments) = &mut self.comments
            {
                comments.push((start, self.pos));
            }
        }
    }

    /// Skips a quoted literal, or to the end of its line if it is never closed.
    fn skip_quoted(&mut self, quote: u8) {
        let start = self.pos;
        self.pos += 1;
        while self.pos < self.limit {
            match self.byte(self.pos) {
                b'\\' => self.pos += 2,
                b'\n' => {
                    self.cut_literal = Some(start);
                    break;
                }
                b if b == quote => {
                    self.pos += 1;
                    break;
                }
                _ => self.pos += 1,
            }
        }
        // An escape may have skipped beyond the limit, or into a character.
        self.pos = self.pos.min(self.limit);
        while self.pos < self.limit && !self.text.is_char_boundary(self.pos) {
            self.pos += 1;
        }
    }

    /// Skips to the end of the line, with line continuations.
    pub fn skip_line(&mut self) {
        while self.pos < self.limit && self.byte(self.pos) != b'\n' {
            let step = match (
                self.byte(self.pos),
                self.byte(self.pos + 1),
                self.byte(self.pos + 2),
            ) {
                (b'\\', b'\n', _) => 2,
                (b'\\', b'\r', b'\n') => 3,
                _ => 1,
            };
            self.pos += step;
        }
        self.pos = self.pos.min(self.limit);
    }
}

/// The backslash of a `//` comment that takes text of the next line: neither a blank line nor another
/// comment.
fn continued_on(comment: &str) -> Option<usize> {
    let mut backslash = None;
    let mut start = 0;
    for line in comment.split_inclusive('\n') {
        step();
        let text = line.trim();
        if backslash.is_some() && !text.is_empty() && text != "\\" && !text.starts_with("//") {
            return backslash;
        }
        backslash = (start + line.trim_end().len()).checked_sub(1);
        start += line.len();
    }
    None
}

/// Whether only blanks precede `pos` on its line.
pub fn starts_line(text: &str, pos: usize) -> bool {
    text.as_bytes()
        .get(..pos)
        .unwrap_or_default()
        .iter()
        .rev()
        .inspect(|_| step())
        .find(|b| !matches!(b, b' ' | b'\t' | b'\r'))
        .is_none_or(|b| *b == b'\n')
}
