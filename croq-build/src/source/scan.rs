//! One pass over a `.co` file: executes directives in order, finds islands, and calls their
//! readers.

use std::ops::Range;

use super::directive::{Branch, Definition, Line};
use super::expansion::{Budget, Expansions};
use super::file::{DeviceText, DeviceTextKind, Note};
use super::function_text::FunctionText;
use super::intrinsics::{self, Intrinsic, IntrinsicKind};
use super::macros::{Macro, Macros};
use super::raw::RawText;
use super::templates::parts::Found;
use super::token::{Punct, TokenKind};
use super::{Span, condition};
use crate::diagnostics::{Diagnostic, Diagnostics, codes};

/// The place of a directive, which determines what it may do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Host text at file scope: the line is kept for C++.
    Host,
    /// Inside a `__device__` function or a `__cok__` block, whose text is kept entirely.
    Device,
    /// Inside a `__co__` function.
    Function,
}

pub(super) struct Scanner<'a> {
    pub text: &'a str,
    pub walk: RawText<'a>,
    pub macros: Macros,
    pub branches: Vec<Branch>,
    pub expansions: Expansions,
    pub budget: Budget,
    pub diags: &'a mut Diagnostics,
    pub functions: Vec<FunctionText>,
    pub templates: Found,
    pub device: Vec<DeviceText>,
    pub notes: Vec<Note>,
    /// Intrinsics registered at file scope so far.
    pub intrinsics: Vec<Intrinsic>,
    /// Intrinsics registered in the current function.
    pub local_intrinsics: Vec<Intrinsic>,
    /// Whether the position is in a dead branch: its text is kept for C++, where the condition may
    /// have another value (because `__CUDA_ARCH__` is defined), but nothing is evaluated, compiled
    /// or reported.
    pub dead: bool,
    /// The open namespaces and `extern "C"` blocks, innermost last.
    pub scopes: Vec<Span>,
    /// Information about the host text.
    pub host: Host,
}

/// The host text, most of which is not part of the output.
#[derive(Default)]
pub struct Host {
    /// A part that was omitted.
    pub left_out: Option<Span>,
    /// The functions in the omitted parts.
    pub functions: Vec<(String, Span)>,
    /// The `#include`s with quotes.
    pub includes: Vec<(String, Span)>,
    /// The branches of conditionals that are not compiled.
    pub dead_branches: Vec<Span>,
    /// Where the comments end that were looked at for line continuations.
    pub comments_until: usize,
    /// Whether a macro makes functions, which are reported and not known.
    pub hidden_functions: bool,
}

impl<'a> Scanner<'a> {
    pub fn new(text: &'a str, macros: Macros, diags: &'a mut Diagnostics) -> Self {
        Self {
            text,
            walk: RawText::new(text, 0, text.len()),
            macros,
            branches: Vec::new(),
            expansions: Expansions::default(),
            budget: Budget::of_a_file(),
            diags,
            functions: Vec::new(),
            templates: Found::default(),
            device: Vec::new(),
            notes: Vec::new(),
            intrinsics: Vec::new(),
            local_intrinsics: Vec::new(),
            dead: false,
            scopes: Vec::new(),
            host: Host::default(),
        }
    }

    pub fn keep(&mut self, kind: DeviceTextKind, span: Span, names: Vec<String>) {
        let text = self.slice(span).to_string();
        self.device.push(DeviceText {
            kind,
            text,
            span,
            names,
        });
    }

    pub fn open_comment(&mut self, span: Span) {
        self.report(
            Diagnostic::new(codes::E0104, span, "this comment is never closed")
                .label("opened here")
                .help("end it with `*/`"),
        );
    }

    /// Reports the comments at file scope that take the next line. Text may be read twice.
    pub fn continued_comments(&mut self) {
        let mut found = std::mem::take(&mut self.walk.continued_comments);
        found.sort_unstable();
        for at in found {
            if self.host.comments_until <= at {
                self.host.comments_until = at + 1;
                self.report(continued_comment(Span::new(at as u32, at as u32 + 1)));
            }
        }
    }

    pub fn slice(&self, span: Span) -> &'a str {
        self.text
            .get(span.start as usize..span.end as usize)
            .unwrap_or("")
    }

    pub fn report(&mut self, diagnostic: Diagnostic) {
        if !self.dead {
            self.diags.push(diagnostic);
        }
    }

    /// Reads the directive at `hash` and continues after it, or, if it begins a dead branch, at the
    /// directive that ends the branch: then the branch's text is returned.
    pub fn directive(&mut self, hash: usize, place: Place) -> Option<Range<usize>> {
        let line = Line::read(self.text, hash, self.walk.limit);
        self.walk.pos = line.span.end as usize;
        let is_croq_pragma = line.name == "pragma"
            && matches!(line.rest.split_whitespace().next(), Some("croq" | "choreo"));
        if place == Place::Host && !is_croq_pragma && !only_for_functions(&line) {
            self.keep(DeviceTextKind::HostKept, line.span, Vec::new());
        }
        if self.dead {
            return None;
        }
        if let Some(span) = line.broken_continuation {
            let line_end = match self.slice(span).ends_with('\r') {
                true => "\\\r",
                false => "\\",
            };
            self.diags.push(
                Diagnostic::new(
                    codes::W0015,
                    span,
                    "blanks after this backslash keep it from continuing the line",
                )
                .label("the continuation is ignored")
                .help("remove the blanks")
                .suggest(span, line_end),
            );
        }
        match line.name {
            "define" => self.define(&line, place),
            "undef" => {
                let name = line.rest.split_whitespace().next().unwrap_or("");
                self.macros.undefine(name);
            }
            "if" => {
                let live = self.condition(&line);
                return self.open_branch(&line, live);
            }
            "ifdef" | "ifndef" => {
                let name = line.rest.split_whitespace().next().unwrap_or("");
                if name.is_empty() {
                    self.diags.push(
                        Diagnostic::new(
                            codes::E0002,
                            line.span,
                            format!("`#{}` needs a name", line.name),
                        )
                        .label("a macro name belongs here"),
                    );
                }
                let defined = self.macros.get(name).is_some();
                return self.open_branch(&line, defined == (line.name == "ifdef"));
            }
            "elif" | "else" => return self.next_branch(&line),
            "endif" if self.branches.pop().is_none() => self.stray(&line),
            "error" if place == Place::Function => {
                let text = line.rest.trim();
                self.diags.push(
                    Diagnostic::new(codes::E0017, line.span, format!("#error: {text}"))
                        .label("this branch is live"),
                );
            }
            "include" if place == Place::Function => {
                self.diags.push(
                    Diagnostic::new(
                        codes::E0018,
                        line.span,
                        "`#include` inside a `__co__` function",
                    )
                    .label("not allowed here")
                    .help("move it to file scope"),
                );
            }
            "include" => self.include(&line),
            "pragma" => self.pragma(&line, place),
            _ => {}
        }
        None
    }

    /// Reports a macro that contains a function: functions are searched in the unexpanded text, so
    /// this one would be lost without a message.
    fn functions_are_no_macros(&mut self, line: &Line<'a>, body: &str) {
        const MARK: &str = "__co__";
        let Some(at) = body.find(MARK) else { return };
        let is_word = |byte: Option<u8>| byte.is_some_and(super::cursor::is_word_byte);
        let bytes = body.as_bytes();
        let before = body.get(..at).unwrap_or_default();
        let whole =
            !is_word(before.bytes().next_back()) && !is_word(bytes.get(at + MARK.len()).copied());
        if !whole || before.contains("//") || before.contains("/*") || before.contains('"') {
            return;
        }
        let start = (line.rest_start + line.rest.len() - body.len() + at) as u32;
        self.host.hidden_functions = true;
        self.diags.push(
            Diagnostic::new(
                codes::E0099,
                Span::new(start, start + MARK.len() as u32),
                "a macro that makes a `__co__` function is not supported yet",
            )
            .label("functions are found in the text before macros are expanded")
            .help("write the function itself, and use macros inside it"),
        );
    }

    fn include(&mut self, line: &Line<'a>) {
        let rest = line.rest.trim_start();
        let Some((name, _)) = rest.strip_prefix('"').and_then(|r| r.split_once('"')) else {
            return;
        };
        let start = (line.rest_start + line.rest.len() - rest.len()) as u32;
        let span = Span::new(start, start + name.len() as u32 + 2);
        self.host.includes.push((name.to_owned(), span));
    }

    fn define(&mut self, line: &Line<'a>, place: Place) {
        match Definition::read(line) {
            Some(found) => {
                self.functions_are_no_macros(line, found.body);
                let start = (line.rest_start + line.rest.len() - found.body.len()) as u32;
                let new = Macro::new(found.name, found.params, found.body, Some(found.name_span))
                    .written_at(start);
                self.macros.define(new, self.diags);
            }
            None if place == Place::Function => {
                self.diags.push(
                    Diagnostic::new(codes::E0100, line.span, "this `#define` defines nothing")
                        .label("expected a name, and perhaps a list of parameter names")
                        .help("write `#define NAME value` or `#define NAME(a, b) value`"),
                );
            }
            // C++ may accept the definition (`args...` in GNU C); a function that uses the macro gets
            // the unexpanded name.
            None => {}
        }
    }

    fn condition(&mut self, line: &Line) -> bool {
        let start = line.rest_start as u32;
        match condition::evaluate(line.rest, start, &self.macros, &mut self.budget) {
            Ok(value) => value != 0,
            Err(malformed) => {
                self.diags.push(
                    Diagnostic::new(
                        codes::E0002,
                        malformed.span,
                        format!("malformed `#{}` condition", line.name),
                    )
                    .label(malformed.what),
                );
                false
            }
        }
    }

    fn open_branch(&mut self, line: &Line, live: bool) -> Option<Range<usize>> {
        self.branches.push(Branch {
            span: line.span,
            taken: live,
            live,
            seen_else: None,
        });
        (!live).then(|| self.skip_dead())
    }

    fn next_branch(&mut self, line: &Line) -> Option<Range<usize>> {
        let Some(mut branch) = self.branches.pop() else {
            self.stray(line);
            return None;
        };
        if let Some(first) = branch.seen_else {
            self.diags.push(
                Diagnostic::new(
                    codes::E0003,
                    line.span,
                    format!("`#{}` after the `#else` of its `#if`", line.name),
                )
                .label("unexpected here")
                .also(branch.span, "the `#if`")
                .also(first, "its `#else`"),
            );
        }
        if line.name == "else" {
            branch.seen_else = branch.seen_else.or(Some(line.span));
            branch.live = !branch.taken;
        } else {
            branch.live = !branch.taken && self.condition(line);
        }
        branch.taken |= branch.live;
        let live = branch.live;
        self.branches.push(branch);
        (!live).then(|| self.skip_dead())
    }

    fn stray(&mut self, line: &Line) {
        self.diags.push(
            Diagnostic::new(
                codes::E0003,
                line.span,
                format!("`#{}` without an open `#if`", line.name),
            )
            .label("nothing to end here"),
        );
    }

    /// Continues at the directive that ends the dead branch that begins here.
    fn skip_dead(&mut self) -> Range<usize> {
        let start = self.walk.pos;
        let end = self.dead_end(start);
        self.walk.pos = end;
        let span = Span::new(start as u32, end as u32);
        self.host.dead_branches.push(span);
        start..end
    }

    /// The `#` of the `#else`, `#elif` or `#endif` that belongs to the innermost open `#if`.
    fn dead_end(&self, start: usize) -> usize {
        let mut walk = RawText::new(self.text, start, self.walk.limit);
        let mut nested = 0usize;
        loop {
            // Comments are skipped as in C++, so that a directive in one does not count; quotes
            // have no meaning in dead text.
            walk.skip_blanks();
            if walk.pos >= walk.limit {
                return walk.limit;
            }
            if walk.byte(walk.pos) == b'#' && super::raw::starts_line(self.text, walk.pos) {
                let hash = walk.pos;
                let line = Line::read(self.text, hash, walk.limit);
                match line.name {
                    "if" | "ifdef" | "ifndef" => nested += 1,
                    "endif" | "else" | "elif" if nested == 0 => return hash,
                    "endif" => nested -= 1,
                    _ => {}
                }
                walk.pos = (line.span.end as usize).max(hash + 1);
            } else {
                walk.pos += 1;
            }
        }
    }

    fn pragma(&mut self, line: &Line, place: Place) {
        let named = intrinsics::read_pragma(line, self.diags);
        for (kind, name) in named.into_iter().flatten() {
            self.register(line, place, kind, name);
        }
    }

    fn register(&mut self, line: &Line, place: Place, kind: IntrinsicKind, name: String) {
        let end = u32::MAX;
        let new = Intrinsic {
            kind,
            name,
            span: line.span,
            scope: Span::new(line.span.end, end),
        };
        let known = self.intrinsics.iter().chain(&self.local_intrinsics);
        let earlier = known
            .filter(|old| old.scope.end == end)
            .find(|old| old.kind == new.kind && old.name == new.name);
        if let Some(earlier) = earlier {
            let (kind, label) = match new.kind {
                IntrinsicKind::Name => ("intrinsic", "registered again"),
                _ => ("intrinsics", "has no effect"),
            };
            let be = if kind == "intrinsic" { "is" } else { "are" };
            let diagnostic = Diagnostic::new(
                codes::W0014,
                line.span,
                format!("the {kind} `{}` {be} already registered", new.name),
            )
            .label(label)
            .also(earlier.span, "registered here");
            self.diags.push(diagnostic);
            return;
        }
        if place == Place::Function {
            self.local_intrinsics.push(new);
        } else {
            self.intrinsics.push(new);
        }
    }
}

/// A comment whose line ends in a backslash, which is at `at`.
pub(super) fn continued_comment(at: Span) -> Diagnostic {
    Diagnostic::new(codes::W0021, at, "this comment continues on the next line")
        .label("a backslash joins the next line to it, as in C++")
        .help("remove the backslash, or write `//` on the next line, too")
}

/// Whether a macro is only usable in `__co__` functions: C++ has no `#` operator on tokens, and
/// rejects a macro with parameters whose text has one, used or not.
fn only_for_functions(line: &Line) -> bool {
    if line.name != "define" {
        return false;
    }
    let Some(found) = Definition::read(line) else {
        return false;
    };
    let Some(params) = &found.params else {
        return false;
    };
    let is_param = |kind: &TokenKind| kind.word().is_some_and(|word| params.contains(&word));
    let read = Macro::new(found.name, found.params.clone(), found.body, None);
    let mut tokens = read.body.iter().peekable();
    while let Some(kind) = tokens.next() {
        let next = tokens.peek().copied();
        if kind.is(Punct::Hash) {
            // `##` joins words in C++.
            if next.is_some_and(|kind| kind.is(Punct::Hash)) {
                tokens.next();
            } else if !next.is_some_and(is_param) {
                return true;
            }
        } else if [
            Punct::HashPlus,
            Punct::HashMinus,
            Punct::HashStar,
            Punct::HashSlash,
            Punct::HashPercent,
        ]
        .iter()
        .any(|operator| kind.is(*operator))
        {
            return true;
        }
    }
    false
}
