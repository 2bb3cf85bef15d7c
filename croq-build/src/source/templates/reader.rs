//! Reads templates, full specialisations and requests for instances.

use std::sync::Arc;

use super::header;
use super::parts::{Parameter, ParameterKind, Request, Specialisation, Template};
use crate::diagnostics::{Asked, Diagnostic, codes};
use crate::source::Span;
use crate::source::expansion::Expander;
use crate::source::function;
use crate::source::function_text::FunctionText;
use crate::source::lexer::{Lexeme, Lexer};
use crate::source::raw::Raw;
use crate::source::scan::Scanner;
use crate::source::token::{Keyword, Punct, Token, TokenKind};

/// The instances that the build script requests, of templates that the file has.
pub fn of_build(s: &mut Scanner<'_>, asked: &[String]) -> Vec<Request> {
    let mut requests = Vec::new();
    for text in asked {
        let (name, rest) = text.split_once('<').unwrap_or((text, ""));
        let name = name.trim();
        if !s
            .templates
            .templates
            .iter()
            .any(|template| *template.name == *name)
        {
            continue;
        }
        let arguments = rest.trim_end().strip_suffix('>').unwrap_or(rest);
        let mut tokens = expanded(s, arguments, 0);
        // The text is not in the file.
        tokens
            .iter_mut()
            .for_each(|token| token.span = Span::default());
        requests.push(Request {
            name: name.into(),
            span: Span::default(),
            arguments: tokens,
            asked: Asked::Build,
        });
    }
    requests
}

/// Reads `template __co__ NAME<…>;`, which begins at `start`; the scanner is after `template`.
pub fn request(s: &mut Scanner<'_>, start: usize) {
    const FORM: &str = "write `template __co__ NAME<arguments>;`";
    let from = s.walk.pos;
    let mut ends = None;
    while let Some(raw) = s.walk.next_raw() {
        match raw {
            Raw::Byte(b';', at) => {
                ends = Some(at);
                break;
            }
            Raw::Byte(b'{', at) => {
                s.walk.pos = at;
                break;
            }
            _ => {}
        }
    }
    let opening = Span::new(start as u32, from as u32);
    let Some(end) = ends else {
        s.report(
            Diagnostic::new(
                codes::E0100,
                opening,
                "a request for an instance has no body",
            )
            .label("expected `;` after it")
            .help(format!(
                "{FORM}, or `template <> __co__ …` for an instance with a body of its own"
            )),
        );
        skip_block(s);
        return;
    };
    if s.dead {
        return;
    }
    let tokens = tokens(s, from, end);
    let whole = Span::new(from as u32, end as u32);
    match tokens.as_slice() {
        [co, name, open, arguments @ .., close]
            if co.kind.is_keyword(Keyword::Co)
                && open.kind.is(Punct::Lt)
                && close.kind.is(Punct::Gt) =>
        {
            if let TokenKind::Word(word) = &name.kind {
                let span = name.span.to(close.span);
                let request = Request {
                    name: Arc::clone(word),
                    span,
                    arguments: arguments.to_vec(),
                    asked: Asked::Here(span),
                };
                s.templates.requests.push(request);
                return;
            }
            not_a_request(s, name.span, FORM);
        }
        [_, .., last] => not_a_request(s, last.span, FORM),
        _ => not_a_request(s, whole, FORM),
    }
}

fn not_a_request(s: &mut Scanner<'_>, at: Span, form: &str) {
    s.report(
        Diagnostic::new(
            codes::E0100,
            at,
            "expected a template's name and its arguments",
        )
        .label("unexpected here")
        .help(form),
    );
}

/// Skips `{ … }` if it is next.
fn skip_block(s: &mut Scanner<'_>) {
    let mut depth = 0usize;
    while let Some(raw) = s.walk.next_raw() {
        match raw {
            Raw::Byte(b'{', _) => depth += 1,
            Raw::Byte(b'}', _) => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return;
                }
            }
            _ => {}
        }
    }
}

/// The tokens of a part of the file, with macros expanded.
fn tokens(s: &mut Scanner<'_>, start: usize, end: usize) -> Vec<Token> {
    let text = s.text.get(start..end).unwrap_or_default();
    expanded(s, text, start as u32)
}

fn expanded(s: &mut Scanner<'_>, text: &str, base: u32) -> Vec<Token> {
    let mut lexer = Lexer::new(text, base);
    let mut read = Vec::new();
    loop {
        let lexeme = match lexer.next_lexeme() {
            Lexeme::LineHash => lexer.hash_operator(),
            other => other,
        };
        match lexeme {
            Lexeme::Token(token) => read.push(token),
            _ => break,
        }
    }
    let mut expanded = Vec::new();
    Expander {
        macros: &s.macros,
        expansions: &mut s.expansions,
        diags: s.diags,
        budget: &mut s.budget,
    }
    .expand(read, &mut expanded);
    expanded
}

/// The location of a template's header `<…>` in the text.
#[derive(Clone, Copy)]
pub struct Header {
    /// The position of `template`.
    pub start: usize,
    pub open: usize,
    /// The position after `>`.
    pub end: usize,
}

/// Reads the template or specialisation whose `__co__` is at `at`.
pub fn function(s: &mut Scanner<'_>, header: Header, at: usize) {
    let whole = Span::new(header.open as u32, header.end as u32);
    let params = match s.dead {
        true => None,
        false => {
            let tokens = tokens(s, header.open, header.end);
            header::parameters(&tokens, whole, s.diags)
        }
    };
    let Some(function) = function::function(s, at) else {
        return;
    };
    let Some(name) = Signature::of(&function.tokens) else {
        // The parser reports the error in the header.
        s.functions.push(function);
        return;
    };
    let Some(params) = params else {
        s.templates.broken.push(name.text);
        return;
    };
    match (params.is_empty(), &name.arguments) {
        (true, Some(_)) => specialisation(s, name, function),
        (true, None) => s.report(
            Diagnostic::new(
                codes::E1213,
                name.span,
                format!("a specialisation of `{}` needs its arguments", name.text),
            )
            .label("expected `<…>` after the name")
            .help(format!("write `{}<f16>(…)`", name.text)),
        ),
        (false, Some((_, span))) => {
            let report = header::outside(*span, "a partial specialisation");
            s.report(report.help(
                "`template <>` specialises a template for all of its arguments; \
                 `if constexpr` decides within it",
            ));
        }
        (false, None) => template(s, header, params, name, function),
    }
}

fn specialisation(s: &mut Scanner<'_>, name: Signature, mut function: FunctionText) {
    let Some((range, span)) = name.arguments else {
        return;
    };
    let arguments: Vec<Token> = function.tokens.drain(range).collect();
    let arguments = match arguments.as_slice() {
        [_, inner @ .., _] => inner.to_vec(),
        _ => Vec::new(),
    };
    let span = name.span.to(span);
    let request = Request {
        name: name.text,
        span,
        arguments,
        asked: Asked::Specialised(span),
    };
    s.templates
        .specialisations
        .push(Specialisation { request, function });
}

fn template(
    s: &mut Scanner<'_>,
    header: Header,
    params: Vec<Parameter>,
    name: Signature,
    function: FunctionText,
) {
    if let Some(report) = recursion(s, &name.text, &function.tokens) {
        s.report(*report);
        s.templates.broken.push(name.text);
        return;
    }
    let again = redeclared(&function.tokens, &params);
    if !again.is_empty() {
        again.into_iter().for_each(|report| s.report(report));
        s.templates.broken.push(name.text);
        return;
    }
    let element = |tokens: &[Token]| element_type(tokens, &params);
    let decided = name.params.iter().map(|range| {
        let tokens = function.tokens.get(range.clone()).unwrap_or_default();
        element(tokens)
    });
    let decided = decided.collect();
    let returned = element(function.tokens.get(1..name.at).unwrap_or_default());
    let span = Span::new(header.start as u32, function.span.end);
    s.templates.templates.push(Template {
        name: name.text,
        name_span: name.span,
        params,
        span,
        function,
        decided,
        returned,
        used: false,
    });
}

/// Reports on declarations with the name of a parameter of the template, which is a constant in each
/// instance.
fn redeclared(tokens: &[Token], params: &[Parameter]) -> Vec<Diagnostic> {
    let mut reports: Vec<Diagnostic> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Some(param) = params
            .iter()
            .find(|param| token.kind.word() == Some(&*param.name))
        else {
            continue;
        };
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        if !declares(before.map(|token| &token.kind), tokens.get(at + 1)) {
            continue;
        }
        let message = format!("`{}` is a parameter of the template", param.name);
        reports.push(
            Diagnostic::new(codes::E0302, token.span, message)
                .label("declared again here")
                .also(param.span, "the template's parameter")
                .help("give one of them another name"),
        );
    }
    reports
}

/// Whether a name between these tokens is declared or assigned.
fn declares(before: Option<&TokenKind>, after: Option<&Token>) -> bool {
    let then = |puncts: &[Punct]| {
        after.is_some_and(|after| puncts.iter().any(|punct| after.kind.is(*punct)))
    };
    let word = |word| after.is_some_and(|after| after.kind.is_keyword(word));
    match before {
        Some(TokenKind::Type(_)) => then(&[
            Punct::Eq,
            Punct::Semi,
            Punct::Comma,
            Punct::RParen,
            Punct::LBrace,
        ]),
        Some(TokenKind::Punct(Punct::RBracket)) => then(&[Punct::Eq, Punct::Semi, Punct::LBrace]),
        Some(TokenKind::Punct(Punct::Semi | Punct::LBrace | Punct::RBrace)) => then(&[Punct::Eq]),
        Some(TokenKind::Keyword(Keyword::Mutable)) => then(&[Punct::Eq]),
        Some(TokenKind::Keyword(Keyword::Parallel)) => word(Keyword::By),
        Some(TokenKind::Keyword(Keyword::Foreach | Keyword::With)) => word(Keyword::In),
        _ => false,
    }
}

/// A report on a template that calls itself, because an instance would require another one.
fn recursion(s: &Scanner<'_>, name: &str, tokens: &[Token]) -> Option<Box<Diagnostic>> {
    let is_device = s
        .device
        .iter()
        .any(|text| text.names.iter().any(|n| n == name));
    let is_use = |at: usize| {
        let is = |at: usize, punct| tokens.get(at).is_some_and(|t| t.kind.is(punct));
        // A member has the name of something else: `x.at(p)` in a function `at`.
        let is_member = at
            .checked_sub(1)
            .is_some_and(|before| is(before, Punct::Dot));
        !is_member && (is(at + 1, Punct::Lt) || is(at + 1, Punct::LParen))
    };
    let mut uses = tokens
        .iter()
        .enumerate()
        .filter(|(at, token)| token.kind.word() == Some(name) && is_use(*at))
        .map(|(_, token)| token.span);
    // The first use is the declaration.
    let again = uses.nth(1).filter(|_| !is_device)?;
    let report = header::outside(again, "a template that calls itself");
    Some(Box::new(report.help("write a loop")))
}

/// The index of the template's parameter that these tokens name as an element type.
fn element_type(tokens: &[Token], params: &[Parameter]) -> Option<usize> {
    let word = tokens.iter().find_map(|token| match &token.kind {
        TokenKind::Keyword(Keyword::Global | Keyword::Shared | Keyword::Local) => None,
        TokenKind::Word(word) if &**word == "const" => None,
        kind => Some(kind.word()),
    })??;
    params
        .iter()
        .position(|param| param.kind == ParameterKind::Type && *param.name == *word)
}

/// The name and the parameters of a function, as positions in its tokens.
struct Signature {
    text: Arc<str>,
    span: Span,
    at: usize,
    /// `<…>` after the name.
    arguments: Option<(std::ops::Range<usize>, Span)>,
    params: Vec<std::ops::Range<usize>>,
}

impl Signature {
    fn of(tokens: &[Token]) -> Option<Self> {
        let mut brackets = 0usize;
        for (at, token) in tokens.iter().enumerate() {
            match &token.kind {
                TokenKind::Punct(Punct::LBracket) => brackets += 1,
                TokenKind::Punct(Punct::RBracket) => brackets = brackets.saturating_sub(1),
                TokenKind::Punct(Punct::LBrace) => return None,
                TokenKind::Word(text) if brackets == 0 => {
                    let next = tokens.get(at + 1).map(|token| &token.kind);
                    let arguments = match next {
                        Some(next) if next.is(Punct::LParen) => None,
                        Some(next) if next.is(Punct::Lt) => Some(arguments(tokens, at + 1)?),
                        _ => continue,
                    };
                    let open = arguments.as_ref().map_or(at + 1, |(range, _)| range.end);
                    return Some(Self {
                        text: Arc::clone(text),
                        span: token.span,
                        at,
                        arguments,
                        params: parameters(tokens, open),
                    });
                }
                _ => {}
            }
        }
        None
    }
}

/// From the `<` at `open` to the `>` before `(`.
fn arguments(tokens: &[Token], open: usize) -> Option<(std::ops::Range<usize>, Span)> {
    let rest = tokens.get(open..)?;
    let length = rest.windows(2).position(|pair| {
        matches!(pair, [close, next] if close.kind.is(Punct::Gt) && next.kind.is(Punct::LParen))
    })?;
    let span = rest.first()?.span.to(rest.get(length)?.span);
    Some((open..open + length + 1, span))
}

/// The parameters between the parentheses that begin at `open`.
fn parameters(tokens: &[Token], open: usize) -> Vec<std::ops::Range<usize>> {
    let mut params = Vec::new();
    let mut depth = 0usize;
    let mut start = open + 1;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            TokenKind::Punct(Punct::LParen | Punct::LBracket) => depth += 1,
            TokenKind::Punct(Punct::RParen | Punct::RBracket) => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    if start < at {
                        params.push(start..at);
                    }
                    break;
                }
            }
            TokenKind::Punct(Punct::Comma) if depth == 1 => {
                params.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
    }
    params
}
