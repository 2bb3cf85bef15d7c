//! Lists of template arguments, `<f16, 128, false>`, and their assignment to parameters.

use super::constant::{Constant, Malformed, Reader};
use super::parts::{Argument, Parameter, ParameterKind};
use super::substitution::substitute;
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::source::token::{Keyword, Punct, Token, TokenKind};
use crate::span::Span;

/// Binds explicit arguments and defaults to the parameters of a template. `tokens` are those
/// between `<` and `>`. `None` after a report.
pub fn bind(
    params: &[Parameter],
    tokens: &[Token],
    whole: Span,
    diags: &mut Diagnostics,
) -> Option<Vec<Argument>> {
    match bound(params, tokens, whole) {
        Ok(arguments) => Some(arguments),
        Err(report) => {
            diags.push(report.note(format!(
                "the template's parameters are `{}`",
                listed(params)
            )));
            None
        }
    }
}

/// `typename T, int Tile = 64`
fn listed(params: &[Parameter]) -> String {
    let one = |param: &Parameter| {
        let default = match &param.default {
            Some(tokens) => format!(" = {}", spelled(tokens)),
            None => String::new(),
        };
        format!("{} {}{default}", param.kind.keyword(), param.name)
    };
    let all: Vec<String> = params.iter().map(one).collect();
    format!("<{}>", all.join(", "))
}

/// The text of tokens.
fn spelled(tokens: &[Token]) -> String {
    let words: Vec<String> = tokens
        .iter()
        .map(|token| token.kind.to_string().trim_matches('`').to_owned())
        .collect();
    words.join(" ")
}

fn bound(params: &[Parameter], tokens: &[Token], whole: Span) -> Result<Vec<Argument>, Diagnostic> {
    let end = Span::new(whole.end.saturating_sub(1).max(whole.start), whole.end);
    let mut reader = Reader::of_list(tokens, end);
    let mut arguments: Vec<Argument> = Vec::new();
    while reader.peek().is_some() {
        let Some(param) = params.get(arguments.len()) else {
            return Err(superfluous(params.len(), reader.here()));
        };
        arguments.push(argument(param, &mut reader)?);
        if reader.peek().is_none() {
            break;
        }
        let here = reader.here();
        if !reader.eat(Punct::Comma) {
            let found = reader.peek().map_or(String::new(), |t| t.kind.to_string());
            let message = format!("expected `,` or `>` after an argument, found {found}");
            return Err(Diagnostic::new(codes::E0100, here, message).label("unexpected here"));
        }
        if reader.peek().is_none() {
            return Err(missing(params.get(arguments.len()), end));
        }
    }
    for at in arguments.len()..params.len() {
        let Some(param) = params.get(at) else { break };
        let Some(default) = &param.default else {
            return Err(missing(Some(param), whole));
        };
        // A default may refer to the parameters before it.
        let tokens = substitute(default, params, &arguments);
        let mut reader = Reader::of_list(&tokens, param.span);
        arguments.push(argument(param, &mut reader)?);
        if let Some(token) = reader.peek() {
            let message = format!("unexpected {} after a default", token.kind);
            return Err(Diagnostic::new(codes::E0100, token.span, message)
                .label("the default ends before this"));
        }
    }
    Ok(arguments)
}

fn superfluous(most: usize, at: Span) -> Diagnostic {
    let s = if most == 1 { "" } else { "s" };
    let message = format!("too many arguments: the template has {most} parameter{s}");
    Diagnostic::new(codes::E1213, at, message)
        .label("no parameter is left for this one")
        .help("leave it out")
}

fn missing(param: Option<&Parameter>, at: Span) -> Diagnostic {
    let (name, kind) = match param {
        Some(param) => (&*param.name, param.kind.described()),
        None => ("", "none"),
    };
    let message = match param {
        Some(_) => format!("the argument for `{name}` is missing"),
        None => "an argument is missing after this comma".to_owned(),
    };
    Diagnostic::new(codes::E1213, at, message)
        .label(format!("expected {kind}"))
        .help("only parameters with a default may be left out")
}

fn wrong_kind(param: &Parameter, at: Span, is: &str) -> Diagnostic {
    let message = format!(
        "the argument for `{}` is {}, this is {is}",
        param.name,
        param.kind.described()
    );
    Diagnostic::new(codes::E1213, at, message)
        .label(format!("not {}", param.kind.described()))
        .also(param.span, "the parameter")
}

fn argument(param: &Parameter, reader: &mut Reader<'_>) -> Result<Argument, Diagnostic> {
    let at = reader.here();
    if param.kind == ParameterKind::Type {
        return match reader.elem_type() {
            Some(elem) => Ok(Argument::Type(elem)),
            None => Err(wrong_kind(param, at, &described(reader.peek()))),
        };
    }
    if let Some(token) = reader.peek()
        && matches!(token.kind, TokenKind::Type(_))
    {
        return Err(wrong_kind(param, at, &described(Some(token))));
    }
    let value = match reader.expression() {
        Ok(value) => value,
        Err(Malformed { span, what }) => {
            let message = format!(
                "the argument for `{}` is no constant expression",
                param.name
            );
            return Err(Diagnostic::new(codes::E1213, span, message).label(what));
        }
    };
    match (param.kind, value) {
        (ParameterKind::Bool, Constant::Bool(value)) => Ok(Argument::Bool(value)),
        (ParameterKind::Bool, Constant::Int(value @ (0 | 1))) => Ok(Argument::Bool(value == 1)),
        (ParameterKind::Bool, Constant::Int(value)) => {
            Err(wrong_kind(param, at, &format!("the integer {value}"))
                .help("write `true` or `false`"))
        }
        (_, Constant::Bool(value)) => Err(wrong_kind(param, at, &format!("`{value}`"))),
        (_, Constant::Int(value)) => match i32::try_from(value) {
            Ok(value) => Ok(Argument::Int(value)),
            Err(_) => {
                let name = &param.name;
                let message = format!("the argument for `{name}` exceeds 32 bits: it is {value}");
                Err(Diagnostic::new(codes::E1213, at, message)
                    .label("does not fit an `int`")
                    .also(param.span, "the parameter")
                    .help("an `int` is from -2147483648 to 2147483647"))
            }
        },
    }
}

fn described(token: Option<&Token>) -> String {
    match token.map(|token| &token.kind) {
        Some(TokenKind::Type(elem)) => format!("the type `{}`", elem.text()),
        Some(TokenKind::Int { value, .. }) => format!("the integer {value}"),
        Some(TokenKind::Keyword(Keyword::True | Keyword::False)) => "a boolean".to_owned(),
        Some(kind) => kind.to_string(),
        None => "nothing".to_owned(),
    }
}
