//! Reads `__co__` functions: lexes them, executes their directives, expands their macros.

use std::sync::Arc;

use super::Span;
use super::braces::Braces;
use super::cursor::is_word_start;
use super::device;
use super::directive::{self, KNOWN, Line};
use super::expansion::Expander;
use super::function_text::FunctionText;
use super::intrinsics::Intrinsic;
use super::lexer::{Lexeme, Lexer};
use super::macros::report_bad;
use super::scan::{Place, Scanner, continued_comment};
use super::token::{Keyword, Punct, Token, TokenKind};
use crate::diagnostics::{Diagnostic, codes};

/// The end of a function's text.
enum End {
    /// At its closing brace.
    Closed,
    /// At a `;` instead of a body.
    NoBody(Span),
    /// At the `__co__` of another function.
    Intruder(Span),
    /// In a comment that has no end.
    OpenComment(Span),
    FileEnd,
}

/// Adds the brace that was probably not closed.
fn with_open_brace(diagnostic: Diagnostic, braces: &Braces) -> Diagnostic {
    match braces.never_closed() {
        Some(brace) => diagnostic.also(brace, "the matching `}` of this brace may be missing"),
        None => diagnostic,
    }
}

/// The word before the first parenthesis.
fn name_of(tokens: &[Token]) -> Option<Arc<str>> {
    tokens.windows(2).find_map(|pair| match pair {
        [name, open] if open.kind.is(Punct::LParen) => name.kind.word().map(Arc::from),
        _ => None,
    })
}

/// A keyword between the type and the parameters of a function is its name.
fn name_in_header(text: &str, tokens: &mut [Token]) {
    let mut brackets = 0usize;
    let mut before = None;
    for (at, token) in tokens.iter().enumerate() {
        match &token.kind {
            TokenKind::Punct(Punct::LBracket) => brackets += 1,
            TokenKind::Punct(Punct::RBracket) => brackets = brackets.saturating_sub(1),
            TokenKind::Punct(Punct::LParen) if brackets == 0 => {
                before = at.checked_sub(1);
                break;
            }
            TokenKind::Punct(Punct::LBrace) => return,
            _ => {}
        }
    }
    // After `__co__` and a type.
    let Some(token) = before
        .filter(|at| *at >= 2)
        .and_then(|at| tokens.get_mut(at))
    else {
        return;
    };
    let span = token.span.start as usize..token.span.end as usize;
    if token.kind.may_be_a_name()
        && let Some(written) = text.get(span)
        && written
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_')
    {
        token.kind = TokenKind::Word(written.into());
    }
}

/// Reads the function whose `__co__` is at `at`; `None` if there is none, which is reported.
pub fn function(s: &mut Scanner<'_>, at: usize) -> Option<FunctionText> {
    let opening = Span::new(at as u32, at as u32 + 6);
    s.macros.enter_body();
    s.budget.incomplete = false;
    let mut tokens = Vec::new();
    let open_branches = s.branches.len();
    let mut braces = Braces::default();
    let end = function_tokens(s, at, &mut tokens, &mut braces);
    s.macros.leave_body();
    let mut intrinsics: Vec<Intrinsic> = s.intrinsics.clone();
    intrinsics.append(&mut s.local_intrinsics);
    if s.dead {
        return None;
    }
    let complete = match end {
        End::Closed => true,
        End::NoBody(semi) => {
            // Requests for instances of it are no further errors.
            s.templates.broken.extend(name_of(&tokens));
            s.report(
                Diagnostic::new(
                    codes::E0100,
                    semi,
                    "a `__co__` function can't be declared without a body",
                )
                .label("expected `{` here")
                .also(opening, "the function begins here")
                .help(
                    "give it its body: `__co__` functions of one file need no forward declarations",
                ),
            );
            return None;
        }
        End::Intruder(_) if unclosed_string(s.text, &tokens) => false,
        End::Intruder(intruder) => {
            let diagnostic = Diagnostic::new(
                codes::E0010,
                intruder,
                "`__co__` inside another `__co__` function",
            )
            .label("`__co__` functions must be at file scope")
            .also(opening, "the enclosing function begins here")
            .help("close the function before it: a `}` may be missing");
            s.report(with_open_brace(diagnostic, &braces));
            false
        }
        End::OpenComment(comment) => {
            s.open_comment(comment);
            return None;
        }
        // The conditional that extends to the end of the file has its own report.
        End::FileEnd if s.branches.len() > open_branches => return None,
        // The bracket that seems to be missing is probably in the string.
        End::FileEnd if unclosed_string(s.text, &tokens) => {
            report_bad(s.text, tokens, s.diags);
            return None;
        }
        End::FileEnd => {
            let diagnostic = Diagnostic::new(
                codes::E0004,
                opening,
                "the file ends inside this `__co__` function",
            )
            .label("begins here")
            .help("a closing `}` is missing");
            s.report(with_open_brace(diagnostic, &braces));
            return None;
        }
    };
    if s.budget.incomplete {
        // Its remaining tokens are not meaningful.
        return None;
    }
    name_in_header(s.text, &mut tokens);
    let span = tokens
        .last()
        .map_or(opening, |last: &Token| opening.to(last.span));
    Some(FunctionText {
        tokens,
        span,
        intrinsics,
        complete,
        closed_early: braces.closed_early(),
        instance: None,
        untaken: Arc::default(),
    })
}

/// Whether a string that is never closed has taken a `}` of its line.
fn unclosed_string(text: &str, tokens: &[Token]) -> bool {
    tokens.iter().any(|token| {
        let span = token.span.start as usize..token.span.end as usize;
        let written = text.get(span).unwrap_or_default();
        matches!(token.kind, TokenKind::Bad(_))
            && written.starts_with(['"', 'R'])
            && written.contains('}')
    })
}

fn function_tokens(
    s: &mut Scanner<'_>,
    at: usize,
    tokens: &mut Vec<Token>,
    braces: &mut Braces,
) -> End {
    let mut lexer = Lexer::at(s.text, at, true);
    let mut run: Vec<Token> = Vec::new();
    let end = loop {
        // A dead branch of host text ends at its directive, even inside open brackets.
        if lexer.pos() >= s.walk.limit {
            break End::FileEnd;
        }
        let lexeme = match lexer.next_lexeme() {
            Lexeme::LineHash => match function_directive(s, &mut lexer, &mut run, tokens) {
                Some(lexeme) => lexeme,
                None => continue,
            },
            other => other,
        };
        let token = match lexeme {
            Lexeme::Token(token) => token,
            Lexeme::OpenComment(span) => {
                s.walk.pos = s.walk.limit;
                break End::OpenComment(span);
            }
            Lexeme::LineHash | Lexeme::End => {
                s.walk.pos = s.walk.limit;
                break End::FileEnd;
            }
        };
        if token.starts_line {
            braces.line(s.text, token.span.start);
        }
        match &token.kind {
            TokenKind::Punct(Punct::LBrace) => {
                braces.open(token.span, s.local_intrinsics.len());
            }
            TokenKind::Punct(Punct::RBrace) => {
                let registered = braces.close(token.span, token.starts_line);
                for intrinsic in s.local_intrinsics.iter_mut().skip(registered) {
                    intrinsic.scope.end = intrinsic.scope.end.min(token.span.start);
                }
                if braces.none_open() {
                    run.push(token);
                    break End::Closed;
                }
            }
            TokenKind::Punct(Punct::Semi) if braces.none_open() => {
                break End::NoBody(token.span);
            }
            TokenKind::Keyword(Keyword::Co) if token.span.start as usize != at => {
                let span = token.span;
                s.walk.pos = span.start as usize;
                report_continued(s, &lexer);
                expand(s, &mut run, tokens);
                return End::Intruder(span);
            }
            TokenKind::Word(word)
                if matches!(&**word, "__cok__" | "__device__" | "__co_device__") =>
            {
                misplaced(s, &word.clone(), token.span);
                lexer.resume_at_line(s.walk.pos);
                continue;
            }
            _ => {}
        }
        run.push(token);
    };
    report_continued(s, &lexer);
    expand(s, &mut run, tokens);
    if !matches!(end, End::FileEnd | End::OpenComment(_)) {
        s.walk.pos = lexer.pos();
    }
    end
}

fn report_continued(s: &mut Scanner<'_>, lexer: &Lexer<'_>) {
    for at in &lexer.continued_comments {
        s.report(continued_comment(*at));
    }
}

fn expand(s: &mut Scanner<'_>, run: &mut Vec<Token>, tokens: &mut Vec<Token>) {
    if s.dead {
        run.clear();
        return;
    }
    Expander {
        macros: &s.macros,
        expansions: &mut s.expansions,
        diags: s.diags,
        budget: &mut s.budget,
    }
    .expand(std::mem::take(run), tokens);
}

/// Executes the directive at the lexer's position; returns the `#` as a token if it is the
/// operator.
fn function_directive(
    s: &mut Scanner<'_>,
    lexer: &mut Lexer,
    run: &mut Vec<Token>,
    tokens: &mut Vec<Token>,
) -> Option<Lexeme> {
    let hash = lexer.pos();
    let line = Line::read(s.text, hash, s.walk.limit);
    if KNOWN.contains(&line.name) {
        expand(s, run, tokens);
        s.directive(hash, Place::Function);
        lexer.resume_at_line(s.walk.pos);
        return None;
    }
    // After a complete statement neither an operand nor an operator `#` is possible, so a directive
    // was intended.
    let after_statement = run.last().or(tokens.last()).is_none_or(|token| {
        matches!(
            token.kind,
            TokenKind::Punct(Punct::Semi | Punct::LBrace | Punct::RBrace)
        )
    });
    let slip = directive::nearest(line.name)
        .filter(|_| after_statement && line.name.bytes().next().is_some_and(is_word_start));
    let Some(known) = slip else {
        return Some(lexer.hash_operator());
    };
    s.report(
        Diagnostic::new(
            codes::W0019,
            line.name_span,
            format!("`#{}` is no directive", line.name),
        )
        .label("this line is ignored")
        .help(format!("write `#{known}`")),
    );
    lexer.resume_at_line(line.span.end as usize);
    None
}

fn misplaced(s: &mut Scanner<'_>, word: &str, span: Span) {
    s.report(
        Diagnostic::new(
            codes::E0011,
            span,
            format!("`{word}` inside a `__co__` function"),
        )
        .label("device functions must be at file scope")
        .help("move it out of the function"),
    );
    s.walk.pos = span.end as usize;
    let dead = std::mem::replace(&mut s.dead, true);
    let kept = s.device.len();
    if word == "__cok__" {
        device::kernel_block(s, span.start as usize);
    } else {
        device::skip_device_function(s, span);
    }
    s.device.truncate(kept);
    s.dead = dead;
}
