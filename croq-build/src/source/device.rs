//! `__device__` functions and `__cok__` blocks: text for the device part, copied as it stands.

use super::Span;
use super::file::DeviceTextKind;
use super::host::declared_names;
use super::raw::{Raw, starts_line};
use super::scan::{Place, Scanner};
use super::signature::Signature;
use crate::diagnostics::Diagnostic;

impl Scanner<'_> {
    /// Reads the function whose declaration begins at `start`, its `__device__` at `word` before the
    /// walk. It ends at the first `}` outside all braces, or at a `;` outside all brackets.
    pub fn device_function(&mut self, start: usize, word: usize) {
        let opening = Span::new(word as u32, self.walk.pos as u32);
        let Some(end) = self.device_extent(opening) else {
            return;
        };
        let span = Span::new(start as u32, end as u32);
        let header = self.slice(span).split('{').next().unwrap_or("");
        let names = match Signature::read(header) {
            Some(signature) => vec![signature.name],
            None => self.names_of_device(header),
        };
        self.keep(DeviceTextKind::Device, span, names);
    }

    /// What a header that is not understood may declare.
    fn names_of_device(&self, header: &str) -> Vec<String> {
        let names = declared_names(header).into_iter();
        match header.trim_start().starts_with("template") {
            true => names.collect(),
            false => names.take(1).collect(),
        }
    }

    /// Skips the device function whose `__device__` is before the walk, which has no place there.
    pub fn skip_device_function(&mut self, opening: Span) {
        let dead = std::mem::replace(&mut self.dead, true);
        self.device_extent(opening);
        self.dead = dead;
    }

    fn device_extent(&mut self, opening: Span) -> Option<usize> {
        // Open brackets; angle brackets count in the header only, where `<` compares nothing.
        let mut open: Vec<(u8, usize)> = Vec::new();
        let mut after_word = false;
        let mut last_word = "";
        let mut last_byte = (0u8, 0usize);
        while let Some(raw) = self.walk.next_raw() {
            let braces = open.iter().any(|(b, _)| *b == b'{');
            let was_word = std::mem::replace(&mut after_word, false);
            match raw {
                Raw::LineHash(hash) => self.directive(hash, Place::Device),
                Raw::Word("__co__", at) if starts_line(self.text, at) => {
                    self.never_closed(opening, &open);
                    self.walk.pos = at;
                    return None;
                }
                Raw::Word(word, _) => {
                    after_word = word != "operator";
                    last_word = word;
                }
                Raw::Str(_) => {}
                Raw::Byte(b'<', at) => {
                    if !braces && was_word && open.iter().all(|(b, _)| *b == b'<') {
                        open.push((b'<', at));
                    }
                }
                Raw::Byte(b'>', at) => {
                    let arrow = last_byte == (b'-', at.wrapping_sub(1));
                    if !arrow && open.last().is_some_and(|(b, _)| *b == b'<') {
                        open.pop();
                    }
                }
                Raw::Byte(b @ (b'(' | b'[' | b'{'), at) => {
                    if b == b'{' && !braces && open.iter().all(|(b, _)| *b == b'<') {
                        for (bracket, at) in std::mem::take(&mut open) {
                            self.unmatched(bracket, at, opening);
                        }
                    }
                    open.push((b, at));
                }
                Raw::Byte(b @ (b')' | b']' | b'}'), at) => {
                    if self.close(b, at, &mut open, opening) {
                        continue;
                    }
                    if b == b'}' && !open.iter().any(|(b, _)| *b == b'{') {
                        for (bracket, at) in open {
                            self.unmatched(bracket, at, opening);
                        }
                        let end = self.walk.pos;
                        // `__device__ int table[2] = {1, 2};`
                        self.walk.skip_blanks();
                        if self.walk.byte(self.walk.pos) == b';' {
                            self.walk.pos += 1;
                            return Some(self.walk.pos);
                        }
                        self.walk.pos = end;
                        return Some(end);
                    }
                }
                Raw::Byte(b';', at) => {
                    if open.is_empty() {
                        return Some(at + 1);
                    }
                    // In the header a `;` inside `(` or `<` shows that the bracket is never closed.
                    if !braces && last_word != "for" {
                        for (bracket, at) in open {
                            self.unmatched(bracket, at, opening);
                        }
                        return None;
                    }
                }
                Raw::Byte(..) => {}
            }
            if let Raw::Byte(b, at) = raw {
                last_byte = (b, at);
            }
        }
        self.never_closed(opening, &open);
        None
    }

    /// Closes a bracket; true when it matches nothing and was reported.
    fn close(&mut self, b: u8, at: usize, open: &mut Vec<(u8, usize)>, opening: Span) -> bool {
        let wanted = match b {
            b')' => b'(',
            b']' => b'[',
            _ => b'{',
        };
        match open.iter().rposition(|(b, _)| *b == wanted) {
            // A brace outranks what is open inside it; a parenthesis does not outrank a brace.
            Some(found) if b == b'}' || open.iter().skip(found + 1).all(|(b, _)| *b != b'{') => {
                let inner = open.split_off(found + 1);
                for (bracket, at) in inner.into_iter().filter(|(b, _)| *b != b'<') {
                    self.unmatched(bracket, at, opening);
                }
                open.pop();
                false
            }
            _ => {
                match open.last().copied() {
                    // `(x / 3]`: the two stand for each other, one report for both.
                    Some((other @ (b'(' | b'['), start)) => {
                        open.pop();
                        self.mismatched(b, at, other, start);
                    }
                    _ => self.unmatched(b, at, opening),
                }
                true
            }
        }
    }

    fn mismatched(&mut self, close: u8, at: usize, open: u8, start: usize) {
        let (close, open) = (char::from(close), char::from(open));
        self.report(
            Diagnostic::new(
                "E0016",
                Span::new(at as u32, at as u32 + 1),
                format!("unmatched `{close}` in a device function"),
            )
            .label(format!("does not close `{open}`"))
            .also(Span::new(start as u32, start as u32 + 1), "opened here"),
        );
    }

    fn unmatched(&mut self, bracket: u8, at: usize, opening: Span) {
        self.report(
            Diagnostic::new(
                "E0016",
                Span::new(at as u32, at as u32 + 1),
                format!("unmatched `{}` in a device function", char::from(bracket)),
            )
            .label("has no partner")
            .also(opening, "the function begins here"),
        );
    }

    fn never_closed(&mut self, opening: Span, open: &[(u8, usize)]) {
        let braces = open.iter().filter(|(b, _)| *b == b'{').count();
        let s = if braces == 1 { "" } else { "s" };
        let message = if braces == 0 {
            "this device function never ends".to_string()
        } else {
            format!("this device function never ends: {braces} brace{s} still open")
        };
        let mut diagnostic = Diagnostic::new("E0005", opening, message).label("begins here");
        if let Some((_, at)) = open.iter().rev().find(|(b, _)| *b == b'{') {
            diagnostic = diagnostic.also(Span::new(*at as u32, *at as u32 + 1), "still open");
        }
        self.report(diagnostic);
    }

    /// Reads `__cok__ { … }`; the walk stands behind the word.
    pub fn kernel_block(&mut self, at: usize) {
        let opening = Span::new(at as u32, at as u32 + 7);
        self.walk.skip_blanks();
        let brace = self.walk.pos;
        if self.walk.byte(brace) != b'{' {
            self.report(
                Diagnostic::new("E0100", opening, "`__cok__` begins a block of device text")
                    .label("expected `{` after it")
                    .help("write `__cok__ { … }`"),
            );
            return;
        }
        self.walk.pos = brace + 1;
        let mut depth = 1usize;
        while let Some(raw) = self.walk.next_raw() {
            match raw {
                Raw::LineHash(hash) => self.directive(hash, Place::Device),
                Raw::Byte(b'{', _) => depth += 1,
                Raw::Byte(b'}', close) => {
                    depth -= 1;
                    if depth == 0 {
                        let span = Span::new(brace as u32 + 1, close as u32);
                        let names = declared_names(self.slice(span));
                        self.keep(DeviceTextKind::Kernel, span, names);
                        return;
                    }
                }
                Raw::Word("__co__", at) => {
                    let span = Span::new(at as u32, at as u32 + 6);
                    self.report(
                        Diagnostic::new("E0010", span, "`__co__` inside a `__cok__` block")
                            .label("`__co__` functions must be at file scope")
                            .also(opening, "the block begins here"),
                    );
                }
                _ => {}
            }
        }
        let s = if depth == 1 { "" } else { "s" };
        self.report(
            Diagnostic::new(
                "E0005",
                opening,
                format!("this `__cok__` block never ends: {depth} brace{s} still open"),
            )
            .label("begins here"),
        );
    }
}
