//! The basic rules of which all others are made.

use chumsky::input::InputRef;
use chumsky::inspector::SimpleState;
use chumsky::prelude::*;

use super::ast::{ElemType, Expr, ExprKind, Name, Stmt, StmtKind, Storage};
use super::builtin_names::is_builtin;
use super::fault::{Class, Expected, Fault};
use super::foreign_types;
pub use super::tokens::{Tokens, kind_text};
use crate::diagnostics::{Diagnostic, codes};
use crate::source::steps::step;
use crate::source::token::{Keyword, Punct, Token, TokenKind};
use crate::source::{FunctionText, SourceFile, Span};

pub type Extra<'t> = extra::Full<Fault, SimpleState<Around<'t>>, Nested>;
pub type Rule<'t, O> = Boxed<'t, 't, Tokens<'t>, O, Extra<'t>>;
pub type In<'t, 'p> = InputRef<'t, 'p, Tokens<'t>, Extra<'t>>;

/// The context of rules, in chumsky's sense; it says nothing. Because it has no default value, a rule can be started
/// only by [`start`]: the compiler makes chumsky's functions for that once, and not for each boxed rule.
#[derive(Clone, Copy)]
pub struct Nested;

/// The context of rules besides the tokens.
#[derive(Clone, Copy)]
pub struct Around<'t> {
    pub file: &'t SourceFile,
    pub function: &'t FunctionText,
}

/// Parses all tokens by a rule: the output, if there is one, and the faults.
pub fn start<'t, O>(
    rule: &Rule<'t, O>,
    tokens: &'t [Token],
    state: &mut SimpleState<Around<'t>>,
) -> (Option<O>, Vec<Fault>) {
    type Started<'t> = extra::Full<Fault, SimpleState<Around<'t>>, ()>;
    let parser = rule.clone().with_ctx(Nested);
    Parser::<'t, Tokens<'t>, O, Started<'t>>::parse_with_state(&parser, tokens, state)
        .into_output_errors()
}

/// The index of the next token.
pub fn position(inp: &mut In) -> usize {
    let here = inp.cursor();
    inp.span_since(&here).start
}

type Direct<'t, O> = dyn Fn(&mut In<'t, '_>) -> Result<O, Fault> + 't;

/// A rule implemented directly over the token stream.
pub fn rule<'t, O: 't>(f: impl Fn(&mut In<'t, '_>) -> Result<O, Fault> + 't) -> Rule<'t, O> {
    let f: Box<Direct<'t, O>> = Box::new(f);
    of_direct(f)
}

/// chumsky's part of [`rule`], compiled for each output and not for each closure.
fn of_direct<'t, O: 't>(f: Box<Direct<'t, O>>) -> Rule<'t, O> {
    custom(move |inp: &mut In<'t, '_>| {
        step();
        f(inp)
    })
    .boxed()
}

/// One token, if `f` accepts it.
pub fn accept<'t, O: 't>(
    expected: impl Into<Expected>,
    f: impl Fn(&'t Token) -> Option<O> + 't,
) -> Rule<'t, O> {
    let expected = expected.into();
    rule(move |inp| match inp.peek_ref().and_then(&f) {
        Some(out) => {
            inp.next_ref();
            Ok(out)
        }
        None => Err(Fault::expected(position(inp), expected)),
    })
}

pub fn punct<'t>(punct: Punct) -> Rule<'t, Span> {
    accept(punct, move |token| {
        token.kind.is(punct).then_some(token.span)
    })
}

pub fn keyword<'t>(keyword: Keyword, class: Class) -> Rule<'t, Span> {
    accept(class, move |token| {
        token.kind.is_keyword(keyword).then_some(token.span)
    })
}

/// A contextual keyword.
pub fn word<'t>(text: &'static str, class: Class) -> Rule<'t, Span> {
    accept(class, move |token| {
        (token.kind.word() == Some(text)).then_some(token.span)
    })
}

/// `.text`; consumed only if both tokens are present.
pub fn member<'t>(text: &'static str, class: Class) -> Rule<'t, Span> {
    rule(move |inp| {
        let at = position(inp);
        if is_member(inp, |kind| kind_text(kind) == Some(text)) {
            let dot = inp.next_ref().map(|token| token.span);
            let name = inp.next_ref().map(|token| token.span);
            if let (Some(dot), Some(name)) = (dot, name) {
                return Ok(dot.to(name));
            }
        }
        Err(Fault::expected(at, class))
    })
}

/// Whether the next tokens are a dot and a word for which `f` is true.
pub fn is_member(inp: &mut In, f: impl Fn(&TokenKind) -> bool) -> bool {
    matches!(ahead(inp), [Some(dot), Some(next)] if dot.kind.is(Punct::Dot) && f(&next.kind))
}

/// The next tokens, without consuming them.
pub fn ahead<'t, const N: usize>(inp: &mut In<'t, '_>) -> [Option<&'t Token>; N] {
    let start = inp.save();
    let tokens = std::array::from_fn(|_| inp.next_ref());
    inp.rewind(start);
    tokens
}

/// `rule`, tried only if `f` is true for the next token; avoids useless alternatives.
pub fn when<'t, O: 't>(
    f: impl Fn(&TokenKind) -> bool + 't,
    then: impl Parser<'t, Tokens<'t>, O, Extra<'t>> + 't,
) -> Rule<'t, O> {
    let gate = rule(move |inp| match inp.peek_ref() {
        Some(token) if f(&token.kind) => Ok(()),
        _ => Err(Fault::expected(position(inp), Expected::default())),
    });
    gate.ignore_then(then).boxed()
}

pub fn when_keyword<'t, O: 't>(
    keyword: Keyword,
    then: impl Parser<'t, Tokens<'t>, O, Extra<'t>> + 't,
) -> Rule<'t, O> {
    when(move |kind| kind.is_keyword(keyword), then)
}

/// A word as the user wrote it, such as `half`, an alias of `f16`.
pub fn written<'t>(inp: &mut In<'t, '_>, token: &'t Token) -> &'t str {
    let file = inp.state().0.file;
    match file.macro_at(token.span) {
        None => file.snippet(token.span),
        Some(_) => kind_text(&token.kind).unwrap_or_default(),
    }
}

/// A use of a name. A keyword in its place is reported and consumed.
pub fn name<'t>() -> Rule<'t, Name> {
    rule(|inp| take_name(inp, Place::Use))
}

/// A declaration of a name.
pub fn declared<'t>() -> Rule<'t, Name> {
    rule(|inp| take_name(inp, Place::Declaration))
}

/// The name of an index: of a `parallel`, a range or an `apply`. `_` declares no name.
pub fn index_name<'t>() -> Rule<'t, Name> {
    rule(|inp| take_name(inp, Place::Index))
}

/// The role of a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Use,
    Declaration,
    Index,
}

fn take_name<'t>(inp: &mut In<'t, '_>, place: Place) -> Result<Name, Fault> {
    let at = position(inp);
    let Some(token) = inp.peek_ref() else {
        return Err(Fault::expected(at, Class::Name));
    };
    let name = |text: &str| Name {
        text: text.to_string(),
        span: token.span,
    };
    match &token.kind {
        TokenKind::Word(text) => {
            inp.next_ref();
            let name = name(text);
            let nameless = place == Place::Index && name.is_wildcard();
            if place != Place::Use
                && !nameless
                && let Some(fault) = unfit(&name)
            {
                inp.emit(fault);
            }
            Ok(name)
        }
        // In the header of a loop these belong to the header, unless they occur twice.
        TokenKind::Keyword(word @ (Keyword::In | Keyword::By | Keyword::Where))
            if !follows_a_name(inp, *word) =>
        {
            Err(Fault::expected(at, Class::Name))
        }
        TokenKind::Keyword(_) | TokenKind::Type(_) => {
            let text = written(inp, token);
            inp.emit(keyword_as_name(text, token.span));
            inp.next_ref();
            Ok(name(text))
        }
        _ => Err(Fault::expected(at, Class::Name)),
    }
}

/// Whether the token after the next one shows that the next one is a name.
fn follows_a_name(inp: &mut In, word: Keyword) -> bool {
    let [_, next] = ahead(inp);
    next.is_some_and(|next| match next.kind {
        TokenKind::Keyword(second) => second == word,
        TokenKind::Punct(punct) => matches!(
            punct,
            Punct::Comma
                | Punct::RParen
                | Punct::RBrace
                | Punct::Semi
                | Punct::Eq
                | Punct::LBracket
        ),
        _ => false,
    })
}

pub fn keyword_as_name(text: &str, span: Span) -> Fault {
    let report = Diagnostic::new(
        codes::E0124,
        span,
        format!("`{text}` is a keyword and names nothing else"),
    )
    .label("a name belongs here")
    .help(format!("choose another name, such as `{text}_`").replace("`__", "`my_"));
    Fault::keyword(text, report)
}

/// The maximum length of a name: generated text repeats it.
const NAME: usize = 255;

/// The reason why a name cannot be declared, if there is one.
pub fn unfit(name: &Name) -> Option<Fault> {
    if name.is_wildcard() {
        return Some(wildcard(name.span));
    }
    if name.text.len() > NAME {
        return Some(Fault::known(
            Diagnostic::new(codes::E0129, name.span, "this name is too long")
                .label(format!("{} characters", name.text.len()))
                .help(format!("names have at most {NAME} characters")),
        ));
    }
    if is_builtin(&name.text) {
        let plain = name.text.trim_matches('_');
        return Some(Fault::known(
            Diagnostic::new(
                codes::E0125,
                name.span,
                format!("`{}` is a builtin", name.text),
            )
            .label("a name belongs here")
            .help(format!("call it `{plain}`")),
        ));
    }
    None
}

pub fn wildcard(span: Span) -> Fault {
    Fault::known(
        Diagnostic::new(codes::E0127, span, "`_` is no variable")
            .label("a name or value belongs here")
            .help("`_` means a whole dimension, only as an argument of `chunkat`, `subspan` and the like"),
    )
}

/// `a, b, c`, at least one item.
pub fn comma<'t, O: 't>(item: Rule<'t, O>) -> Rule<'t, Vec<O>> {
    item.separated_by(punct(Punct::Comma))
        .at_least(1)
        .collect()
        .boxed()
}

pub fn parens<'t, O: 't>(inner: Rule<'t, O>) -> Rule<'t, (O, Span)> {
    between(Punct::LParen, inner, Punct::RParen)
}

/// `inner` in brackets, with the span including the brackets.
pub fn between<'t, O: 't>(open: Punct, inner: Rule<'t, O>, close: Punct) -> Rule<'t, (O, Span)> {
    punct(open)
        .then(inner)
        .then(punct(close))
        .map(|((open, inner), close)| (inner, open.to(close)))
        .boxed()
}

/// `;`. If it is only missing at the end of a line, that is reported and the rule succeeds, so that
/// the statements before and after it are both parsed.
pub fn semi<'t>() -> Rule<'t, ()> {
    rule(|inp| {
        let at = position(inp);
        match inp.peek_ref() {
            Some(token) if token.kind.is(Punct::Semi) => {
                inp.next_ref();
                Ok(())
            }
            next => {
                let ends = next.is_none_or(|token| {
                    token.kind.is(Punct::RBrace)
                        || (token.starts_line
                            && matches!(
                                token.kind,
                                TokenKind::Word(_) | TokenKind::Keyword(_) | TokenKind::Type(_)
                            ))
                });
                if !ends {
                    return Err(Fault::expected(at, Punct::Semi));
                }
                inp.emit(Fault::missing(at, Punct::Semi));
                Ok(())
            }
        }
    })
}

/// The span from the first to the last token that a rule consumed.
pub fn spanned<'t, O: 't>(
    inner: impl Parser<'t, Tokens<'t>, O, Extra<'t>> + 't,
) -> Rule<'t, (O, Span)> {
    inner.map_with(|out, e| (out, cover(e.slice()))).boxed()
}

pub fn cover(tokens: &[Token]) -> Span {
    match (tokens.first(), tokens.last()) {
        (Some(first), Some(last)) => first.span.to(last.span),
        _ => Span::default(),
    }
}

/// A statement from a rule for its kind.
pub fn statement<'t>(
    kind: impl Parser<'t, Tokens<'t>, StmtKind, Extra<'t>> + 't,
) -> Rule<'t, Stmt> {
    spanned(kind)
        .map(|(kind, span)| Stmt { kind, span })
        .boxed()
}

pub fn expr(kind: ExprKind, span: Span) -> Expr {
    Expr {
        kind: Box::new(kind),
        span,
    }
}

pub fn storage_word<'t>() -> Rule<'t, (Storage, Span)> {
    accept(Class::Storage, |token| {
        Some((storage_of(&token.kind)?, token.span))
    })
}

pub fn storage_of(kind: &TokenKind) -> Option<Storage> {
    match kind {
        TokenKind::Keyword(Keyword::Global) => Some(Storage::Global),
        TokenKind::Keyword(Keyword::Shared) => Some(Storage::Shared),
        TokenKind::Keyword(Keyword::Local) => Some(Storage::Local),
        _ => None,
    }
}

/// An element type. A type of another language is reported, and stands for the one that it means.
pub fn elem_word<'t>() -> Rule<'t, (ElemType, Span)> {
    rule(|inp| {
        let at = position(inp);
        match inp.peek_ref().map(|token| (&token.kind, token.span)) {
            Some((TokenKind::Type(word), span)) => {
                inp.next_ref();
                return Ok((*word, span));
            }
            Some((TokenKind::Word(word), _)) if foreign_types::meant(word).is_some() => {}
            _ => return Err(Fault::expected(at, Class::Type)),
        }
        let tokens = ahead::<5>(inp);
        let Some((elem, count)) = foreign_types::at_beginning(&tokens) else {
            return Err(Fault::expected(at, Class::Type));
        };
        let words: Vec<&Token> = tokens.into_iter().take(count).flatten().collect();
        let texts: Vec<&str> = words.iter().filter_map(|t| kind_text(&t.kind)).collect();
        let spans = words.iter().map(|token| token.span);
        let span = spans.reduce(Span::to).unwrap_or_default();
        for _ in 0..count {
            inp.next_ref();
        }
        inp.emit(Fault::known(
            Diagnostic::new(
                codes::E0126,
                span,
                format!("there is no type `{}`", texts.join(" ")),
            )
            .label("not part of the language")
            .help(format!("write `{}`", elem.text()))
            .suggest(span, elem.text()),
        ));
        Ok((elem, span))
    })
}

/// One or more adjacent string literals, concatenated.
pub fn text<'t>() -> Rule<'t, String> {
    accept(Class::Text, |token| match &token.kind {
        TokenKind::Str(text) => Some(text.to_string()),
        _ => None,
    })
    .repeated()
    .at_least(1)
    .collect::<Vec<String>>()
    .map(|parts| parts.concat())
    .boxed()
}

/// Suggests the same text with braces in place of its parentheses.
pub fn with_braces(report: Diagnostic, written: &str) -> Diagnostic {
    let inside = written
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    let span = report.primary.span;
    match inside {
        Some(inside) => report.suggest(span, format!("{{{inside}}}")),
        None => report,
    }
}
