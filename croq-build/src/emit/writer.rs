//! Lines of C++ with their indentation, and the `#line` directives through which all tools
//! (compilers, ptxas, debuggers, reports of the simulated GPU) refer to the `.co` file.
//!
//! The writer counts the lines that it writes, so the line to which a C++ compiler would attribute
//! the next one is known, and a directive is written only if that is not the intended one.

use std::fmt::Write as _;

use crate::sorted::SortedSet;
use crate::source::Span;

/// Where a `.co` file's lines start.
pub struct Lines<'a> {
    text: &'a str,
    starts: Vec<u32>,
}

impl<'a> Lines<'a> {
    pub fn new(text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        let starts =
            std::iter::once(0).chain(ends.map(|(at, _)| u32::try_from(at + 1).unwrap_or(u32::MAX)));
        Self {
            text,
            starts: starts.collect(),
        }
    }

    /// Counted from 1.
    pub fn number(&self, offset: u32) -> u32 {
        u32::try_from(self.starts.partition_point(|start| *start <= offset))
            .unwrap_or(u32::MAX)
            .max(1)
    }

    /// The text of line `number`, trimmed.
    pub fn text(&self, number: u32) -> &'a str {
        let at = |n: u32| {
            self.starts
                .get(n as usize)
                .map_or(self.text.len(), |start| *start as usize)
        };
        let range = at(number.saturating_sub(1))..at(number);
        self.text.get(range).unwrap_or_default().trim()
    }
}

pub struct Writer<'a> {
    out: String,
    indent: usize,
    lines: &'a Lines<'a>,
    /// The `.co` file as directives name it, and the generated file's own name.
    source_path: &'a str,
    own_path: &'a str,
    /// Lines written so far.
    written: u32,
    /// The `.co` line that the next line belongs to; `None` in text without a source line.
    in_source: Option<u32>,
    /// `.co` lines already shown as a comment in the current function.
    shown: SortedSet<u32>,
}

impl<'a> Writer<'a> {
    pub fn new(lines: &'a Lines<'a>, source_path: &'a str, own_path: &'a str) -> Self {
        Self {
            out: String::new(),
            indent: 0,
            lines,
            source_path,
            own_path,
            written: 0,
            in_source: None,
            shown: SortedSet::new(),
        }
    }

    /// The bytes written so far.
    pub fn length(&self) -> usize {
        self.out.len()
    }

    pub fn finish(self) -> String {
        self.out
    }

    pub fn line_of(&self, span: Span) -> u32 {
        self.lines.number(span.start)
    }

    /// The line of the `.co` file with the text of the statement at `span`: in a macro, the line of
    /// its definition.
    pub fn written_on(&self, span: Span) -> u32 {
        self.lines.number(span.written())
    }

    /// A line as it is, without indentation.
    fn raw(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
        let lines = 1 + u32::try_from(text.matches('\n').count()).unwrap_or(0);
        self.written += lines;
        if let Some(line) = &mut self.in_source {
            *line += lines;
        }
    }

    /// A line at the current indentation.
    pub fn line(&mut self, text: &str) {
        let mut full = String::with_capacity(text.len() + self.indent * 2);
        if !text.is_empty() {
            full.extend(std::iter::repeat_n("  ", self.indent));
            full.push_str(text);
        }
        self.raw(&full);
    }

    /// The user's own text, unchanged, from line `number` of the `.co` file.
    pub fn verbatim(&mut self, number: u32, text: &str) {
        self.direct_to_source(number);
        self.raw(text.strip_suffix('\n').unwrap_or(text));
    }

    /// `text` opens a block, which `close` ends.
    pub fn open(&mut self, text: &str) {
        self.line(text);
        self.indent += 1;
    }

    pub fn close(&mut self, text: &str) {
        self.indent = self.indent.saturating_sub(1);
        self.line(text);
    }

    /// Between the two halves of an `if`.
    pub fn reopen(&mut self, text: &str) {
        self.close(text);
        self.indent += 1;
    }

    /// The next line belongs to the statement at `span`, whose lines become comments unless already
    /// shown.
    pub fn statement(&mut self, span: Span) {
        self.comment_on(span);
        self.attribute(span);
    }

    /// Prints the lines of the statement at `span` as comments, unless already shown.
    pub fn comment_on(&mut self, span: Span) {
        let number = self.written_on(span);
        if self.shown.insert(number) {
            let text = comment(self.lines.text(number));
            if !text.is_empty() {
                self.line(&format!("// {text}"));
            }
        }
    }

    /// The next line belongs to `span`; no comment.
    pub fn attribute(&mut self, span: Span) {
        let number = self.line_of(span);
        self.direct_to_source(number);
    }

    fn direct_to_source(&mut self, number: u32) {
        if self.in_source != Some(number) {
            let directive = format!("#line {number} {}", quoted(self.source_path));
            self.raw(&directive);
            self.in_source = Some(number);
        }
    }

    /// The next lines have no source line: compilers should name the generated file.
    pub fn own_text(&mut self) {
        if self.in_source.take().is_some() {
            // The directive is itself a line.
            let directive = format!("#line {} {}", self.written + 2, quoted(self.own_path));
            self.raw(&directive);
        }
    }

    pub fn new_function(&mut self) {
        self.shown.clear();
    }
}

/// Source text as the content of a `//` comment, which a trailing backslash would continue.
fn comment(text: &str) -> &str {
    if matches!(text, "{" | "}") {
        ""
    } else {
        text.trim_end_matches(['\\', ' ', '\t'])
    }
}

/// A C++ string literal.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            // Three octal digits end an escape, whatever follows.
            c if c.is_ascii_control() => {
                let _ = write!(out, "\\{:03o}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_appear_only_where_lines_differ() {
        let lines = Lines::new("one;\ntwo;\n  three; \\\n");
        let mut w = Writer::new(&lines, "a.co", "a.cc");
        w.line("own");
        w.statement(Span::new(0, 1));
        w.line("1");
        w.statement(Span::new(5, 6));
        w.line("2");
        w.statement(Span::new(5, 6));
        w.line("2 again");
        w.statement(Span::new(12, 13));
        w.line("3");
        w.own_text();
        w.line("own");
        assert_eq!(
            w.finish(),
            "own\n// one;\n#line 1 \"a.co\"\n1\n// two;\n#line 2 \"a.co\"\n2\n#line 2 \"a.co\"\n2 again\n\
             // three;\n#line 3 \"a.co\"\n3\n#line 14 \"a.cc\"\nown\n"
        );
    }
}
