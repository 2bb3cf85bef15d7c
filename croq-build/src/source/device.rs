//! `__device__` functions and `__cok__` blocks: text for the device part, copied unchanged.

use super::Span;
use super::file::DeviceTextKind;
use super::raw::{Raw, RawText, starts_line};
use super::scan::{Place, Scanner};
use super::signature::Signature;
use crate::diagnostics::{Diagnostic, codes};

/// Reads the function whose declaration begins at `start`; its `__device__` at `word` has been
/// read. The function ends at the first `}` outside all braces, or at a `;` outside all brackets.
pub fn device_function(s: &mut Scanner<'_>, start: usize, word: usize) {
    let opening = Span::new(word as u32, s.walk.pos as u32);
    let Some(end) = device_extent(s, opening) else {
        return;
    };
    let span = Span::new(start as u32, end as u32);
    let header = s.slice(span).split('{').next().unwrap_or("");
    let names = match Signature::read(header) {
        Some(signature) => vec![signature.name],
        None => names_of_device(header),
    };
    s.keep(DeviceTextKind::Device, span, names);
}

/// The names that a header of unknown form may declare.
fn names_of_device(header: &str) -> Vec<String> {
    let names = declared_names(header).into_iter();
    match header.trim_start().starts_with("template") {
        true => names.collect(),
        false => names.take(1).collect(),
    }
}

/// Skips a device function in a place where none is allowed; its `__device__` has been read.
pub fn skip_device_function(s: &mut Scanner<'_>, opening: Span) {
    let dead = std::mem::replace(&mut s.dead, true);
    device_extent(s, opening);
    s.dead = dead;
}

fn device_extent(s: &mut Scanner<'_>, opening: Span) -> Option<usize> {
    // Open brackets; angle brackets only count in the header, where `<` is not a comparison.
    let mut open: Vec<(u8, usize)> = Vec::new();
    let mut after_word = false;
    let mut last_word = "";
    let mut last_byte = (0u8, 0usize);
    while let Some(raw) = s.walk.next_raw() {
        let braces = open.iter().any(|(b, _)| *b == b'{');
        let was_word = std::mem::replace(&mut after_word, false);
        match raw {
            Raw::LineHash(hash) => {
                s.directive(hash, Place::Device);
            }
            Raw::Word("__co__", at) if starts_line(s.text, at) => {
                never_closed(s, opening, &open);
                s.walk.pos = at;
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
                        unmatched(s, bracket, at, opening);
                    }
                }
                open.push((b, at));
            }
            Raw::Byte(b @ (b')' | b']' | b'}'), at) => {
                if close(s, b, at, &mut open, opening) {
                    continue;
                }
                if b == b'}' && !open.iter().any(|(b, _)| *b == b'{') {
                    for (bracket, at) in open {
                        unmatched(s, bracket, at, opening);
                    }
                    let end = s.walk.pos;
                    // `__device__ int table[2] = {1, 2};`
                    s.walk.skip_blanks();
                    if s.walk.byte(s.walk.pos) == b';' {
                        s.walk.pos += 1;
                        return Some(s.walk.pos);
                    }
                    s.walk.pos = end;
                    return Some(end);
                }
            }
            Raw::Byte(b';', at) => {
                if open.is_empty() {
                    return Some(at + 1);
                }
                // In the header a `;` inside `(` or `<` means that the bracket is never closed.
                if !braces && last_word != "for" {
                    for (bracket, at) in open {
                        unmatched(s, bracket, at, opening);
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
    never_closed(s, opening, &open);
    None
}

/// Closes a bracket; true if it matches none and was reported.
fn close(
    s: &mut Scanner<'_>,
    b: u8,
    at: usize,
    open: &mut Vec<(u8, usize)>,
    opening: Span,
) -> bool {
    let wanted = match b {
        b')' => b'(',
        b']' => b'[',
        _ => b'{',
    };
    match open.iter().rposition(|(b, _)| *b == wanted) {
        // A closing brace closes the brackets opened inside it; a closing parenthesis does not
        // close a brace.
        Some(found) if b == b'}' || open.iter().skip(found + 1).all(|(b, _)| *b != b'{') => {
            let inner = open.split_off(found + 1);
            for (bracket, at) in inner.into_iter().filter(|(b, _)| *b != b'<') {
                unmatched(s, bracket, at, opening);
            }
            open.pop();
            false
        }
        _ => {
            match open.last().copied() {
                // `(x / 3]`: the two are treated as a pair, with one report for both.
                Some((other @ (b'(' | b'['), start)) => {
                    open.pop();
                    mismatched(s, b, at, other, start);
                }
                _ => unmatched(s, b, at, opening),
            }
            true
        }
    }
}

fn mismatched(s: &mut Scanner<'_>, close: u8, at: usize, open: u8, start: usize) {
    let (close, open) = (char::from(close), char::from(open));
    s.report(
        Diagnostic::new(
            codes::E0016,
            Span::new(at as u32, at as u32 + 1),
            format!("unmatched `{close}` in a device function"),
        )
        .label(format!("does not close `{open}`"))
        .also(Span::new(start as u32, start as u32 + 1), "opened here"),
    );
}

fn unmatched(s: &mut Scanner<'_>, bracket: u8, at: usize, opening: Span) {
    s.report(
        Diagnostic::new(
            codes::E0016,
            Span::new(at as u32, at as u32 + 1),
            format!("unmatched `{}` in a device function", char::from(bracket)),
        )
        .label("has no partner")
        .also(opening, "the function begins here"),
    );
}

fn never_closed(s: &mut Scanner<'_>, opening: Span, open: &[(u8, usize)]) {
    let braces = open.iter().filter(|(b, _)| *b == b'{').count();
    let plural = if braces == 1 { "" } else { "s" };
    let message = if braces == 0 {
        "this device function never ends".to_string()
    } else {
        format!("this device function never ends: {braces} brace{plural} still open")
    };
    let mut diagnostic = Diagnostic::new(codes::E0005, opening, message).label("begins here");
    if let Some((_, at)) = open.iter().rev().find(|(b, _)| *b == b'{') {
        diagnostic = diagnostic.also(Span::new(*at as u32, *at as u32 + 1), "still open");
    }
    s.report(diagnostic);
}

/// Reads `__cok__ { … }`, after the word.
pub fn kernel_block(s: &mut Scanner<'_>, at: usize) {
    let opening = Span::new(at as u32, at as u32 + 7);
    s.walk.skip_blanks();
    let brace = s.walk.pos;
    if s.walk.byte(brace) != b'{' {
        s.report(
            Diagnostic::new(
                codes::E0100,
                opening,
                "`__cok__` begins a block of device text",
            )
            .label("expected `{` after it")
            .help("write `__cok__ { … }`"),
        );
        return;
    }
    s.walk.pos = brace + 1;
    let mut depth = 1usize;
    while let Some(raw) = s.walk.next_raw() {
        match raw {
            Raw::LineHash(hash) => {
                s.directive(hash, Place::Device);
            }
            Raw::Byte(b'{', _) => depth += 1,
            Raw::Byte(b'}', close) => {
                depth -= 1;
                if depth == 0 {
                    let span = Span::new(brace as u32 + 1, close as u32);
                    let names = declared_names(s.slice(span));
                    s.keep(DeviceTextKind::Kernel, span, names);
                    return;
                }
            }
            Raw::Word("__co__", at) => {
                let span = Span::new(at as u32, at as u32 + 6);
                s.report(
                    Diagnostic::new(codes::E0010, span, "`__co__` inside a `__cok__` block")
                        .label("`__co__` functions must be at file scope")
                        .also(opening, "the block begins here"),
                );
            }
            _ => {}
        }
    }
    let plural = if depth == 1 { "" } else { "s" };
    s.report(
        Diagnostic::new(
            codes::E0005,
            opening,
            format!("this `__cok__` block never ends: {depth} brace{plural} still open"),
        )
        .label("begins here"),
    );
}

/// The names of functions declared in C++ text: words before a `(` outside braces.
pub(super) fn declared_names(text: &str) -> Vec<String> {
    const NOT_NAMES: [&str; 12] = [
        "__launch_bounds__",
        "__attribute__",
        "__align__",
        "alignas",
        "decltype",
        "noexcept",
        "requires",
        "explicit",
        "static_assert",
        "__maxnreg__",
        "sizeof",
        "asm",
    ];
    let mut walk = RawText::new(text, 0, text.len());
    let mut names: Vec<String> = Vec::new();
    let mut depth = 0usize;
    let mut before: Option<&str> = None;
    while let Some(raw) = walk.next_raw() {
        let word = before.take();
        match raw {
            Raw::Word(text, _) => before = Some(text),
            Raw::Byte(b'(', _) => {
                if let Some(name) = word.filter(|name| depth == 0 && !NOT_NAMES.contains(name))
                    && names.iter().all(|known| known != name)
                {
                    names.push(name.to_string());
                }
                depth += 1;
            }
            Raw::Byte(b'{' | b'[', _) => depth += 1,
            Raw::Byte(b'}' | b']' | b')', _) => depth = depth.saturating_sub(1),
            Raw::LineHash(hash) => {
                walk.pos = super::directive::Line::read(text, hash, walk.limit)
                    .span
                    .end as usize;
            }
            _ => {}
        }
    }
    names
}
