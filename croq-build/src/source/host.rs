//! Host text: C++ declarations at file scope, and which of them device code may need.
//!
//! Kept, in order: preprocessor lines, namespaces, types, `using`, `typedef`, `static_assert`,
//! `constexpr` and `__constant__` declarations, and constants of arithmetic type. Left out: function
//! bodies and objects, for the host of croq is Rust.

use super::Span;
use super::file::DeviceTextKind;
use super::raw::{Raw, RawText};
use super::scan::{Place, Scanner};
use crate::diagnostics::Diagnostic;

/// What a declaration is known by once it ends.
#[derive(Default)]
struct Seen<'a> {
    /// The words before the first bracket or `=`.
    words: Vec<&'a str>,
    parens: bool,
    braces: bool,
    equals: bool,
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

impl<'a> Scanner<'a> {
    /// Reads file-scope text up to the limit.
    pub fn host_text(&mut self) {
        loop {
            self.walk.skip_blanks();
            let start = self.walk.pos;
            if start >= self.walk.limit {
                return;
            }
            match self.walk.byte(start) {
                b'}' => {
                    self.walk.pos += 1;
                    if self.scopes.is_empty() {
                        self.stray_brace(start);
                    }
                    if self.scopes.pop().is_some() {
                        self.keep(
                            DeviceTextKind::HostKept,
                            Span::new(start as u32, start as u32 + 1),
                            Vec::new(),
                        );
                    }
                }
                b';' => self.walk.pos += 1,
                _ => self.declaration(start),
            }
        }
    }

    /// A `}` at file scope. After a function it tells of a brace too many inside.
    fn stray_brace(&mut self, at: usize) {
        while self.walk.byte(self.walk.pos) == b'}' && self.walk.pos < self.walk.limit {
            self.walk.pos += 1;
        }
        let span = Span::new(at as u32, self.walk.pos as u32);
        let message = match self.walk.pos - at {
            1 => "this `}` closes nothing".to_owned(),
            n => format!("these {n} `}}` close nothing"),
        };
        let mut diagnostic = Diagnostic::new("E0100", span, message)
            .label("unmatched")
            .help("remove it, or add the `{` that it closes");
        if let Some(function) = self.functions.last() {
            let end = Span::new(function.span.end.saturating_sub(1), function.span.end);
            diagnostic = diagnostic.also(end, "the last function ended here");
        }
        self.report(diagnostic);
    }

    /// Reads one declaration, or the island that it turns out to be.
    fn declaration(&mut self, start: usize) {
        let kept_before = self.device.len();
        let mut seen = Seen::default();
        loop {
            let Some(raw) = self.walk.next_raw() else {
                self.end_declaration(start, self.walk.limit, &seen, kept_before);
                return;
            };
            match raw {
                Raw::LineHash(hash) => {
                    self.directive(hash, Place::Host);
                    if seen.words.is_empty() && !seen.parens {
                        return;
                    }
                }
                Raw::Word("__co__", at) => {
                    self.refuse_specifiers(start, at, &seen);
                    self.function(at);
                    return;
                }
                Raw::Word("__device__" | "__co_device__", at) => {
                    self.device_function(start, at);
                    return;
                }
                Raw::Word("__cok__", at) => {
                    self.kernel_block(at);
                    return;
                }
                Raw::Word("template", _) => self.skip_angles(),
                Raw::Word("namespace", at) if seen.words.iter().all(|w| *w == "inline") => {
                    if self.open_scope(start, at) {
                        return;
                    }
                    seen.words.push("using");
                }
                Raw::Word(word, _) => {
                    if !seen.parens && !seen.braces && !seen.equals && seen.words.len() < 16 {
                        seen.words.push(word);
                    }
                }
                Raw::Str(at) => {
                    // `extern "C" {` opens a scope, `extern "C" int f();` does not.
                    if seen.words == ["extern"] && self.open_scope(start, at) {
                        return;
                    }
                }
                Raw::Byte(b'(', at) => {
                    let is_attribute = matches!(
                        seen.words.last().copied(),
                        Some(
                            "alignas"
                                | "__align__"
                                | "__attribute__"
                                | "__declspec"
                                | "static_assert"
                        )
                    );
                    seen.parens |= !is_attribute;
                    if !self.skip_brackets(at) {
                        return;
                    }
                }
                Raw::Byte(b'[', at) => {
                    if !self.skip_brackets(at) {
                        return;
                    }
                }
                Raw::Byte(b'{', at) => {
                    seen.braces = true;
                    if !self.skip_brackets(at) {
                        return;
                    }
                    let end = self.walk.pos;
                    self.walk.skip_blanks();
                    let next = self.walk.byte(self.walk.pos);
                    let goes_on =
                        seen.is_type() || seen.equals || matches!(next, b';' | b',' | b'=');
                    if !goes_on {
                        self.end_declaration(start, end, &seen, kept_before);
                        return;
                    }
                }
                Raw::Byte(b'=', _) => seen.equals = true,
                Raw::Byte(b';', at) => {
                    self.end_declaration(start, at + 1, &seen, kept_before);
                    return;
                }
                Raw::Byte(b'}', at) => {
                    self.walk.pos = at;
                    self.end_declaration(start, at, &seen, kept_before);
                    return;
                }
                Raw::Byte(..) => {}
            }
        }
    }

    fn end_declaration(&mut self, start: usize, end: usize, seen: &Seen, kept_before: usize) {
        let span = Span::new(start as u32, end as u32);
        if seen.is_kept() {
            // Directives inside it were kept one by one; the whole holds them too.
            self.device.truncate(kept_before);
            self.keep(DeviceTextKind::HostKept, span, Vec::new());
        } else if !self.dead {
            self.left_out.get_or_insert(span);
            if seen.parens {
                let header = self.slice(span).split(['{', ';']).next().unwrap_or("");
                let name = declared_names(header).into_iter().next();
                let at = Span::new(span.start, span.start + header.trim_end().len() as u32);
                self.host_functions.extend(name.map(|name| (name, at)));
            }
        }
    }

    /// `namespace a::b {` or `extern "C" {`: kept as it stands, its text read as file scope.
    fn open_scope(&mut self, start: usize, at: usize) -> bool {
        let resume = self.walk.pos;
        loop {
            match self.walk.next_raw() {
                Some(Raw::Word(..)) | Some(Raw::Byte(b':' | b'[' | b']', _)) => {}
                Some(Raw::Byte(b'{', brace)) => {
                    self.scopes.push(Span::new(at as u32, brace as u32 + 1));
                    self.keep(
                        DeviceTextKind::HostKept,
                        Span::new(start as u32, brace as u32 + 1),
                        Vec::new(),
                    );
                    return true;
                }
                _ => {
                    self.walk.pos = resume;
                    return false;
                }
            }
        }
    }

    /// Past the bracket that closes the one before the walk. False when a `__co__` inside shows that
    /// it is never closed: the walk then stands on the `__co__`.
    fn skip_brackets(&mut self, open: usize) -> bool {
        let mut depth = 1usize;
        while let Some(raw) = self.walk.next_raw() {
            match raw {
                Raw::Byte(b'(' | b'[' | b'{', _) => depth += 1,
                Raw::Byte(b')' | b']' | b'}', _) => {
                    depth -= 1;
                    if depth == 0 {
                        return true;
                    }
                }
                Raw::LineHash(hash) => self.directive(hash, Place::Host),
                Raw::Word("__co__", at) if super::raw::starts_line(self.text, at) => {
                    self.report(
                        Diagnostic::new(
                            "E0010",
                            Span::new(at as u32, at as u32 + 6),
                            "`__co__` counts only at file scope",
                        )
                        .label("inside brackets that are still open")
                        .also(Span::new(open as u32, open as u32 + 1), "opened here"),
                    );
                    self.walk.pos = at;
                    return false;
                }
                _ => {}
            }
        }
        true
    }

    /// Past the `<…>` of a template header, if one follows.
    fn skip_angles(&mut self) {
        self.walk.skip_blanks();
        if self.walk.byte(self.walk.pos) != b'<' {
            return;
        }
        let mut depth = 0usize;
        while let Some(raw) = self.walk.next_raw() {
            match raw {
                Raw::Byte(b'<', _) => depth += 1,
                Raw::Byte(b'>', _) => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return;
                    }
                }
                Raw::Byte(b'(' | b'[' | b'{', at) if !self.skip_brackets(at) => return,
                Raw::Byte(b';', at) => {
                    self.walk.pos = at;
                    return;
                }
                Raw::LineHash(hash) => self.directive(hash, Place::Host),
                _ => {}
            }
        }
    }

    /// A `__co__` function has no linkage of its own choosing.
    fn refuse_specifiers(&mut self, start: usize, at: usize, seen: &Seen) {
        let before = self.text.get(start..at).unwrap_or("").trim_end();
        let refused = ["inline", "extern", "static", "template", "constexpr"];
        let word = seen
            .words
            .iter()
            .copied()
            .chain(before.starts_with("template").then_some("template"))
            .find(|word| refused.contains(word));
        if let Some(word) = word {
            let span = Span::new(start as u32, (start + before.len()) as u32);
            self.report(
                Diagnostic::new(
                    "E0100",
                    span,
                    format!("a `__co__` function can't be `{word}`"),
                )
                .label("nothing is allowed before `__co__`")
                .help("remove it"),
            );
        }
        if let Some(scope) = self.scopes.last().copied() {
            self.report(
                Diagnostic::new(
                    "E0010",
                    Span::new(at as u32, at as u32 + 6),
                    "`__co__` counts only at file scope",
                )
                .label("inside a namespace or a block")
                .also(scope, "opened here"),
            );
        }
    }
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
