//! Host text: C++ declarations at file scope, and which of them device code may need.
//!
//! Kept, in order: preprocessor lines, namespaces, types, `using`, `typedef`, `static_assert`,
//! `constexpr` and `__constant__` declarations, and constants of arithmetic type. Left out:
//! function bodies and objects, because host code is written in Rust.

use super::Span;
use super::device;
use super::file::{DeviceTextKind, Note};
use super::function;
use super::lost_text;
use super::raw::Raw;
use super::scan::{Place, Scanner};
use super::templates::header::outside;
use super::templates::reader::{self, Header};
use crate::diagnostics::{Diagnostic, codes};

/// The parts of a declaration that determine its kind.
#[derive(Default)]
struct Seen<'a> {
    /// The words before the first bracket or `=`.
    words: Vec<&'a str>,
    parens: bool,
    braces: bool,
    equals: bool,
    /// Whether a word of it was reported.
    reported: bool,
}

impl Seen<'_> {
    fn has(&self, word: &str) -> bool {
        self.words.contains(&word)
    }

    fn first(&self) -> &str {
        self.words.first().copied().unwrap_or("")
    }

    fn is_type(&self) -> bool {
        matches!(self.first(), "struct" | "class" | "union" | "enum") && !self.parens
    }

    fn is_kept(&self) -> bool {
        const ARITHMETIC: [&str; 14] = [
            "int", "unsigned", "signed", "long", "short", "char", "float", "double", "bool",
            "size_t", "int32_t", "uint32_t", "int64_t", "uint64_t",
        ];
        self.is_type()
            || matches!(
                self.first(),
                "using" | "typedef" | "static_assert" | "concept"
            )
            || self.has("constexpr")
            || self.has("__constant__")
            || (self.has("const")
                && self.equals
                && !self.parens
                && self.words.iter().any(|word| ARITHMETIC.contains(word)))
    }
}

pub fn file(s: &mut Scanner<'_>) {
    host_text(s);
    if let Some(open) = s.walk.open_comment {
        s.open_comment(Span::new(open as u32, open as u32 + 2));
    }
    for branch in std::mem::take(&mut s.branches) {
        s.diags.push(
            Diagnostic::new(
                codes::E0006,
                branch.span,
                "this conditional is never closed",
            )
            .label("opened here")
            .help("end it with `#endif`"),
        );
    }
    if let Some(span) = s.host.left_out {
        s.notes.push(Note {
            span,
            text: "host functions and objects of this file are left out: the host is Rust".into(),
        });
    }
}

/// Reads a directive, and the C++ text of a dead branch after it.
fn directive_of_host(s: &mut Scanner<'_>, hash: usize) {
    s.continued_comments();
    let Some(dead) = s.directive(hash, Place::Host) else {
        return;
    };
    let limit = std::mem::replace(&mut s.walk.limit, dead.end);
    let scopes = std::mem::take(&mut s.scopes);
    s.walk.pos = dead.start;
    s.dead = true;
    host_text(s);
    s.dead = false;
    s.scopes = scopes;
    s.walk.limit = limit;
    s.walk.pos = dead.end;
}

/// Reads file-scope text up to the limit.
pub fn host_text(s: &mut Scanner<'_>) {
    loop {
        s.walk.skip_blanks();
        s.continued_comments();
        let start = s.walk.pos;
        if start >= s.walk.limit {
            return;
        }
        match s.walk.byte(start) {
            b'}' => {
                s.walk.pos += 1;
                if s.scopes.is_empty() {
                    stray_brace(s, start);
                }
                if s.scopes.pop().is_some() {
                    s.keep(
                        DeviceTextKind::HostKept,
                        Span::new(start as u32, start as u32 + 1),
                        Vec::new(),
                    );
                }
            }
            b';' => s.walk.pos += 1,
            _ => declaration(s, start),
        }
    }
}

/// A `}` at file scope. After a function it indicates an additional brace inside the function.
fn stray_brace(s: &mut Scanner<'_>, at: usize) {
    while s.walk.byte(s.walk.pos) == b'}' && s.walk.pos < s.walk.limit {
        s.walk.pos += 1;
    }
    let span = Span::new(at as u32, s.walk.pos as u32);
    let message = match s.walk.pos - at {
        1 => "this `}` closes nothing".to_owned(),
        n => format!("these {n} `}}` close nothing"),
    };
    let mut diagnostic = Diagnostic::new(codes::E0100, span, message)
        .label("unmatched")
        .help("remove it, or add the `{` that it closes");
    if let Some(function) = s.functions.last_mut() {
        let end = Span::new(function.span.end.saturating_sub(1), function.span.end);
        diagnostic = match function.closed_early {
            Some(early) if early == end => diagnostic.also(
                end,
                "the last function ended here; the `{` of this `}` may be missing",
            ),
            Some(early) => diagnostic
                .also(early, "the `{` of this `}` may be missing")
                .also(end, "the last function ended here"),
            None => diagnostic.also(end, "the last function ended here"),
        };
        function.complete &= function.closed_early.is_none();
    }
    s.report(diagnostic);
}

/// Reads one declaration, or the island that begins with it.
fn declaration(s: &mut Scanner<'_>, start: usize) {
    let kept_before = s.device.len();
    let mut seen = Seen::default();
    let mut header: Option<Header> = None;
    loop {
        let Some(raw) = s.walk.next_raw() else {
            end_declaration(s, start, s.walk.limit, &seen, kept_before);
            return;
        };
        match raw {
            Raw::LineHash(hash) => {
                directive_of_host(s, hash);
                if seen.words.is_empty() && !seen.parens {
                    return;
                }
            }
            Raw::Word("__co__", at) => {
                refuse_before(s, start, at, &seen);
                co_function(s, header, at);
                return;
            }
            Raw::Word("__device__" | "__co_device__", at) => {
                device::device_function(s, start, at);
                return;
            }
            Raw::Word("__cok__", at) => {
                device::kernel_block(s, at);
                return;
            }
            Raw::Word("template", at) => {
                let is_first = seen.words.is_empty();
                if is_first && next_is(s, "__co__") {
                    reader::request(s, at);
                    return;
                }
                header = template_header(s, at);
            }
            Raw::Word("namespace", at) if seen.words.iter().all(|w| *w == "inline") => {
                if open_scope(s, start, at) {
                    return;
                }
                seen.words.push("using");
            }
            Raw::Word(word, at) => {
                if !seen.parens && !seen.braces && !seen.equals && seen.words.len() < 16 {
                    seen.words.push(word);
                    seen.reported |= misspelled(s, word, at);
                }
            }
            Raw::Str(at) => {
                // `extern "C" {` opens a scope, `extern "C" int f();` does not.
                if seen.words == ["extern"] && open_scope(s, start, at) {
                    return;
                }
            }
            Raw::Byte(b'(', at) => {
                let is_attribute = matches!(
                    seen.words.last().copied(),
                    Some(
                        "alignas" | "__align__" | "__attribute__" | "__declspec" | "static_assert"
                    )
                );
                seen.parens |= !is_attribute;
                if !skip_brackets(s, at) {
                    return;
                }
            }
            Raw::Byte(b'[', at) => {
                if !skip_brackets(s, at) {
                    return;
                }
            }
            Raw::Byte(b'{', at) => {
                seen.braces = true;
                if !skip_brackets(s, at) {
                    return;
                }
                let end = s.walk.pos;
                s.walk.skip_blanks();
                let next = s.walk.byte(s.walk.pos);
                let goes_on = seen.is_type() || seen.equals || matches!(next, b';' | b',' | b'=');
                if !goes_on {
                    end_declaration(s, start, end, &seen, kept_before);
                    return;
                }
            }
            Raw::Byte(b'=', _) => seen.equals = true,
            Raw::Byte(b';', at) => {
                end_declaration(s, start, at + 1, &seen, kept_before);
                return;
            }
            Raw::Byte(b'}', at) => {
                s.walk.pos = at;
                end_declaration(s, start, at, &seen, kept_before);
                return;
            }
            Raw::Byte(..) => {}
        }
    }
}

fn next_is(s: &mut Scanner<'_>, word: &str) -> bool {
    s.walk.skip_blanks();
    let rest = s.text.get(s.walk.pos..s.walk.limit);
    rest.is_some_and(|rest| rest.starts_with(word))
}

/// Skips the `<…>` of the template that begins at `start`.
fn template_header(s: &mut Scanner<'_>, start: usize) -> Option<Header> {
    s.walk.skip_blanks();
    let open = s.walk.pos;
    skip_angles(s);
    let end = s.walk.pos;
    (end > open).then_some(Header { start, open, end })
}

/// The function whose `__co__` is at `at`, a template if it has a header.
fn co_function(s: &mut Scanner<'_>, header: Option<Header>, at: usize) {
    match header {
        Some(header) => reader::function(s, header, at),
        None => {
            let function = function::function(s, at);
            s.functions.extend(function);
        }
    }
}

fn end_declaration(s: &mut Scanner<'_>, start: usize, end: usize, seen: &Seen, kept_before: usize) {
    let span = Span::new(start as u32, end as u32);
    if seen.is_kept() {
        // Directives inside it were kept one by one; the whole text includes them.
        s.device.truncate(kept_before);
        s.keep(DeviceTextKind::HostKept, span, Vec::new());
    } else if !s.dead {
        s.host.left_out.get_or_insert(span);
        if seen.parens {
            let header = s.slice(span).split(['{', ';']).next().unwrap_or("");
            let name = device::declared_names(header).into_iter().next();
            let at = Span::new(span.start, span.start + header.trim_end().len() as u32);
            if let (Some(name), Some((from, to)), false) =
                (&name, lost_text::tensor_type(header), seen.reported)
            {
                let tensor = Span::new(span.start + from as u32, span.start + to as u32);
                s.report(lost_text::without_keyword(name, at, tensor));
            }
            s.host.functions.extend(name.map(|name| (name, at)));
        } else if end == s.walk.limit && !seen.braces && !seen.equals {
            refuse_words(s, start, end, seen);
        }
    }
}

/// Reports a word that is meant to be a keyword. Whether it is one.
fn misspelled(s: &mut Scanner<'_>, word: &str, at: usize) -> bool {
    let keyword = lost_text::keyword_of(word).filter(|_| s.macros.get(word).is_none());
    if let Some(keyword) = keyword {
        let span = Span::new(at as u32, (at + word.len()) as u32);
        s.report(lost_text::misspelled(word, keyword, span));
    }
    keyword.is_some()
}

/// Reports words up to `end` that are no declaration: no `;` or body ends them.
fn refuse_words(s: &mut Scanner<'_>, start: usize, end: usize, seen: &Seen) {
    let is_macro = |word: &&str| s.macros.get(word).is_some();
    let ended = s.text.get(start..end).is_some_and(|t| t.ends_with(';'));
    let specifier = |word: &&str| SPECIFIERS.contains(word) || *word == "requires";
    if seen.parens
        || seen.reported
        || ended
        || seen.words.iter().all(is_macro)
        || seen.words.iter().any(specifier)
    {
        return;
    }
    let text = s.text.get(start..end).unwrap_or("").trim_end();
    let span = Span::new(start as u32, (start + text.len()) as u32);
    s.report(lost_text::belongs_to_nothing(span));
}

/// `namespace a::b {` or `extern "C" {`: kept unchanged, with its contents read as file scope.
fn open_scope(s: &mut Scanner<'_>, start: usize, at: usize) -> bool {
    let resume = s.walk.pos;
    loop {
        match s.walk.next_raw() {
            Some(Raw::Word(..)) | Some(Raw::Byte(b':' | b'[' | b']', _)) => {}
            Some(Raw::Byte(b'{', brace)) => {
                s.scopes.push(Span::new(at as u32, brace as u32 + 1));
                s.keep(
                    DeviceTextKind::HostKept,
                    Span::new(start as u32, brace as u32 + 1),
                    Vec::new(),
                );
                return true;
            }
            _ => {
                s.walk.pos = resume;
                return false;
            }
        }
    }
}

/// Skips to the end of the bracket that was just read. False if a `__co__` inside shows that it is
/// never closed: then the position is at the `__co__`.
fn skip_brackets(s: &mut Scanner<'_>, open: usize) -> bool {
    let mut depth = 1usize;
    while let Some(raw) = s.walk.next_raw() {
        match raw {
            Raw::Byte(b'(' | b'[' | b'{', _) => depth += 1,
            Raw::Byte(b')' | b']' | b'}', _) => {
                depth -= 1;
                if depth == 0 {
                    return true;
                }
            }
            Raw::LineHash(hash) => directive_of_host(s, hash),
            Raw::Word("__co__", at) if super::raw::starts_line(s.text, at) => {
                let mut report = Diagnostic::new(
                    codes::E0010,
                    Span::new(at as u32, at as u32 + 6),
                    "`__co__` counts only at file scope",
                )
                .label("inside brackets that are still open")
                .also(Span::new(open as u32, open as u32 + 1), "opened here");
                // A closing bracket in it does not count.
                if let Some(literal) = s.walk.cut_literal.filter(|at| *at > open) {
                    let span = Span::new(literal as u32, literal as u32 + 1);
                    report = report.also(span, "this quote is not closed on its line");
                }
                s.report(report);
                s.walk.pos = at;
                return false;
            }
            _ => {}
        }
    }
    true
}

/// Skips the `<…>` of a template header, if there is one.
fn skip_angles(s: &mut Scanner<'_>) {
    s.walk.skip_blanks();
    if s.walk.byte(s.walk.pos) != b'<' {
        return;
    }
    let mut depth = 0usize;
    while let Some(raw) = s.walk.next_raw() {
        match raw {
            Raw::Byte(b'<', _) => depth += 1,
            Raw::Byte(b'>', _) => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return;
                }
            }
            Raw::Byte(b'(' | b'[' | b'{', at) if !skip_brackets(s, at) => return,
            Raw::Byte(b';', at) => {
                s.walk.pos = at;
                return;
            }
            Raw::LineHash(hash) => directive_of_host(s, hash),
            _ => {}
        }
    }
}

/// What C++ has in front of functions, and `__co__` functions have not.
const SPECIFIERS: [&str; 4] = ["inline", "extern", "static", "constexpr"];

/// Reports what stands before a `__co__` function: specifiers, since it cannot have a linkage, or other words.
fn refuse_before(s: &mut Scanner<'_>, start: usize, at: usize, seen: &Seen) {
    let before = s.text.get(start..at).unwrap_or("").trim_end();
    let word = seen
        .words
        .iter()
        .copied()
        .find(|word| SPECIFIERS.contains(word));
    if seen.has("requires") {
        let span = Span::new(start as u32, (start + before.len()) as u32);
        s.report(*outside(span, "a `requires` clause"));
    } else if let Some(word) = word {
        let span = Span::new(start as u32, (start + before.len()) as u32);
        s.report(
            Diagnostic::new(
                codes::E0100,
                span,
                format!("a `__co__` function can't be `{word}`"),
            )
            .label("nothing is allowed before `__co__`")
            .help("remove it"),
        );
    }
    refuse_words(s, start, at, seen);
    if let Some(scope) = s.scopes.last().copied() {
        s.report(
            Diagnostic::new(
                codes::E0010,
                Span::new(at as u32, at as u32 + 6),
                "`__co__` counts only at file scope",
            )
            .label("inside a namespace or a block")
            .also(scope, "opened here"),
        );
    }
}
