//! The header of a template: `<typename T, int Tile = 64, bool Fast = true>`.

use std::sync::Arc;

use super::parts::{Parameter, ParameterKind};
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::source::token::{ElemType, Keyword, Punct, Token, TokenKind};
use crate::span::Span;

/// Reads the tokens from `<` to `>`; `None` after a report.
pub fn parameters(
    tokens: &[Token],
    whole: Span,
    diags: &mut Diagnostics,
) -> Option<Vec<Parameter>> {
    let inner = match tokens {
        [open, inner @ .., close] if open.kind.is(Punct::Lt) && close.kind.is(Punct::Gt) => inner,
        _ => {
            diags.push(
                Diagnostic::new(
                    codes::E0100,
                    whole,
                    "the parameters of this template have no end",
                )
                .label("expected `<`, the parameters, and `>`")
                .help("write `template <typename T, int N>`"),
            );
            return None;
        }
    };
    if inner.is_empty() {
        return Some(Vec::new());
    }
    let mut params: Vec<Parameter> = Vec::new();
    for tokens in split(inner) {
        let param = match parameter(tokens, whole) {
            Ok(param) => param,
            Err(report) => {
                diags.push(*report);
                return None;
            }
        };
        if let Some(report) = misfit(&params, &param) {
            diags.push(report);
            return None;
        }
        params.push(param);
    }
    Some(params)
}

/// A report on a parameter that conflicts with those before it.
fn misfit(before: &[Parameter], param: &Parameter) -> Option<Diagnostic> {
    if let Some(first) = before.iter().find(|other| other.name == param.name) {
        let message = format!("the template has two parameters `{}`", param.name);
        return Some(
            Diagnostic::new(codes::E0205, param.span, message)
                .label("second parameter of this name")
                .also(first.span, "first one")
                .help("give one of them another name"),
        );
    }
    let with_default = before.iter().rfind(|other| other.default.is_some())?;
    if param.default.is_some() {
        return None;
    }
    let message = format!(
        "`{}` has no default, but the parameter before it has one",
        param.name
    );
    Some(
        Diagnostic::new(codes::E1213, param.span, message)
            .label("no argument could be left out for this one")
            .also(with_default.span, "has a default")
            .help("give it a default, or move it before those that have one"),
    )
}

/// The parts between the commas outside of brackets.
pub fn split(tokens: &[Token]) -> Vec<&[Token]> {
    let mut parts = Vec::new();
    let (mut depth, mut angles, mut start) = (0usize, 0usize, 0);
    let mut after_is_same = false;
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Punct(Punct::LParen | Punct::LBracket | Punct::LBrace) => depth += 1,
            TokenKind::Punct(Punct::RParen | Punct::RBracket | Punct::RBrace) => {
                depth = depth.saturating_sub(1);
            }
            // Otherwise `<` is a comparison.
            TokenKind::Punct(Punct::Lt) if after_is_same => angles += 1,
            TokenKind::Punct(Punct::Gt) => angles = angles.saturating_sub(1),
            TokenKind::Punct(Punct::Comma) if depth + angles == 0 => {
                parts.push(tokens.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
        after_is_same = token.kind.word() == Some("__is_same");
    }
    parts.push(tokens.get(start..).unwrap_or_default());
    parts
}

fn span_of(tokens: &[Token], otherwise: Span) -> Span {
    match (tokens.first(), tokens.last()) {
        (Some(first), Some(last)) => first.span.to(last.span),
        _ => otherwise,
    }
}

fn parameter(tokens: &[Token], whole: Span) -> Result<Parameter, Box<Diagnostic>> {
    let span = span_of(tokens, whole);
    let [first, rest @ ..] = tokens else {
        return Err(Box::new(
            Diagnostic::new(
                codes::E0100,
                span,
                "a parameter of this template is missing",
            )
            .label("nothing between two commas")
            .help("write `typename T`, `int N` or `bool B`"),
        ));
    };
    if tokens.iter().any(|token| token.kind.is(Punct::Dot)) {
        return Err(outside(span, "a parameter pack"));
    }
    let kind = match &first.kind {
        TokenKind::Word(word) if matches!(&**word, "typename" | "class") => ParameterKind::Type,
        TokenKind::Type(ElemType::Int) => ParameterKind::Int,
        TokenKind::Type(ElemType::Bool) => ParameterKind::Bool,
        TokenKind::Word(word) if &**word == "template" => {
            return Err(outside(span, "a template as a parameter"));
        }
        TokenKind::Keyword(Keyword::Auto) => {
            return Err(outside(span, "a parameter of any type"));
        }
        TokenKind::Type(elem) => {
            return Err(outside(
                span,
                &format!("a parameter of type `{}`", elem.text()),
            ));
        }
        TokenKind::Word(word)
            if matches!(
                &**word,
                "unsigned" | "signed" | "long" | "short" | "char" | "size_t"
            ) =>
        {
            return Err(outside(span, &format!("a parameter of type `{word}`")));
        }
        TokenKind::Word(word) => return Err(outside(span, &format!("the concept `{word}`"))),
        other => {
            let message = format!("expected a parameter of the template, found {other}");
            return Err(Box::new(
                Diagnostic::new(codes::E0100, first.span, message)
                    .label("unexpected here")
                    .help("write `typename T`, `int N` or `bool B`"),
            ));
        }
    };
    let (name, name_span) = match rest.first().map(|token| (&token.kind, token.span)) {
        Some((TokenKind::Word(name), span)) => (Arc::clone(name), span),
        Some((kind @ TokenKind::Keyword(word), span)) if kind.may_be_a_name() => {
            (word.text().into(), span)
        }
        Some((TokenKind::Keyword(_) | TokenKind::Type(_), span)) => {
            return Err(Box::new(
                Diagnostic::new(
                    codes::E0124,
                    span,
                    "a parameter of a template can't have the name of a keyword or a type",
                )
                .label("a word of the language")
                .help("give it another name"),
            ));
        }
        _ => {
            return Err(Box::new(
                Diagnostic::new(codes::E0100, span, "a parameter of a template needs a name")
                    .label("a name is missing")
                    .help(format!("write `{} NAME`", kind.keyword())),
            ));
        }
    };
    let default = match rest.get(1..).unwrap_or_default() {
        [] => None,
        [equals, default @ ..] if equals.kind.is(Punct::Eq) && !default.is_empty() => {
            Some(default.to_vec())
        }
        [other, ..] => {
            let message = format!("unexpected {} in a parameter of a template", other.kind);
            return Err(Box::new(
                Diagnostic::new(codes::E0100, other.span, message)
                    .label("a default, `,` or `>` belongs here")
                    .help("write `int N = 64`"),
            ));
        }
    };
    Ok(Parameter {
        name,
        span: name_span,
        kind,
        default,
    })
}

/// A report on a feature of C++ templates that croq does not have.
pub fn outside(span: Span, feature: &str) -> Box<Diagnostic> {
    let message = format!("{feature} is not supported in templates of `__co__` functions");
    Box::new(
        Diagnostic::new(codes::E1211, span, message)
            .label("not part of the language")
            .help("parameters are `typename T`, `int N` and `bool B`, and each may have a default"),
    )
}
