//! Evaluates `if constexpr` and `static_assert`, and removes them with the branches that are not
//! taken.
//!
//! A branch that is not taken need only have matching brackets. The branch that is taken remains a
//! block.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use super::constant::{self, Malformed};
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::source::token::{Keyword, Punct, Token, TokenKind};
use crate::span::Span;

/// A function's tokens without the branches that are not taken.
pub struct Resolved {
    pub tokens: Vec<Token>,
    /// The identifiers in the removed branches, which therefore count as used.
    pub untaken: HashSet<Arc<str>>,
}

/// Returns `None` after an error, which is reported. `text` is the file's.
pub fn resolve(tokens: Vec<Token>, text: &str, diags: &mut Diagnostics) -> Option<Resolved> {
    let mut untaken = HashSet::new();
    let concerned = |token: &Token| matches!(token.kind.word(), Some("constexpr" | STATIC_ASSERT));
    if !tokens.iter().any(concerned) {
        return Some(Resolved { tokens, untaken });
    }
    let mut pruner = Pruner {
        partners: partners(&tokens),
        kept: vec![true; tokens.len()],
        tokens,
        diags,
        failed: false,
    };
    pruner.run();
    if pruner.failed {
        return None;
    }
    let mut left = Vec::with_capacity(pruner.tokens.len());
    for (token, kept) in pruner.tokens.into_iter().zip(pruner.kept) {
        match token.kind {
            _ if kept => left.push(token),
            TokenKind::Word(word) => {
                untaken.insert(word);
            }
            // Some of these may be names.
            TokenKind::Type(_) | TokenKind::Keyword(_) => {
                let written = text.get(token.span.start as usize..token.span.end as usize);
                untaken.extend(written.map(Arc::from));
            }
            _ => {}
        }
    }
    Some(Resolved {
        tokens: left,
        untaken,
    })
}

const STATIC_ASSERT: &str = "static_assert";

/// For each opening bracket the position of the closing one.
fn partners(tokens: &[Token]) -> Vec<Option<usize>> {
    let mut partners = vec![None; tokens.len()];
    let mut open: Vec<(usize, Punct)> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let TokenKind::Punct(punct) = token.kind else {
            continue;
        };
        let wanted = match punct {
            Punct::LParen | Punct::LBracket | Punct::LBrace => {
                open.push((at, punct));
                continue;
            }
            Punct::RParen => Punct::LParen,
            Punct::RBracket => Punct::LBracket,
            Punct::RBrace => Punct::LBrace,
            _ => continue,
        };
        // A closing brace closes everything that is open inside it.
        if punct == Punct::RBrace {
            while open.last().is_some_and(|(_, other)| *other != wanted) {
                open.pop();
            }
        }
        if let Some((start, _)) = open.pop_if(|(_, other)| *other == wanted)
            && let Some(partner) = partners.get_mut(start)
        {
            *partner = Some(at);
        }
    }
    partners
}

struct Pruner<'d> {
    tokens: Vec<Token>,
    partners: Vec<Option<usize>>,
    kept: Vec<bool>,
    diags: &'d mut Diagnostics,
    failed: bool,
}

/// One branch of an `if constexpr`: the tokens before its block, and the braces.
struct Branch {
    /// `None` for the last `else`.
    condition: Option<Range<usize>>,
    braces: Range<usize>,
}

impl Pruner<'_> {
    fn run(&mut self) {
        for at in 0..self.tokens.len() {
            if !self.is_kept(at) {
                continue;
            }
            if self.is_if_constexpr(at) {
                self.conditional(at);
            } else if self.is_assertion(at) {
                self.assertion(at);
            }
        }
    }

    fn is_kept(&self, at: usize) -> bool {
        self.kept.get(at).is_some_and(|kept| *kept)
    }

    fn kind(&self, at: usize) -> Option<&TokenKind> {
        self.tokens.get(at).map(|token| &token.kind)
    }

    fn is(&self, at: usize, punct: Punct) -> bool {
        self.kind(at).is_some_and(|kind| kind.is(punct))
    }

    fn span(&self, at: usize) -> Span {
        let token = self.tokens.get(at).or(self.tokens.last());
        token.map_or(Span::default(), |token| token.span)
    }

    fn partner(&self, at: usize) -> Option<usize> {
        self.partners.get(at).copied().flatten()
    }

    fn is_if_constexpr(&self, at: usize) -> bool {
        let next = self.kind(at + 1).and_then(TokenKind::word);
        self.kind(at)
            .is_some_and(|kind| kind.is_keyword(Keyword::If))
            && next == Some("constexpr")
    }

    fn is_assertion(&self, at: usize) -> bool {
        self.kind(at).and_then(TokenKind::word) == Some(STATIC_ASSERT)
            && self.is(at + 1, Punct::LParen)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.failed = true;
        self.diags.push(diagnostic);
    }

    fn unexpected(&mut self, at: usize, expected: &str, help: &str) {
        let span = self.span(at);
        let found = match self.kind(at) {
            Some(kind) => format!("expected {expected}, found {kind}"),
            None => format!("expected {expected}"),
        };
        self.report(
            Diagnostic::new(codes::E0100, span, found)
                .label("unexpected here")
                .help(help),
        );
    }

    /// The value of the condition in these tokens; `None` after a report.
    fn condition(&mut self, range: &Range<usize>) -> Option<bool> {
        let end = self.span(range.end);
        let tokens = self.tokens.get(range.clone()).unwrap_or_default();
        match constant::condition(tokens, end) {
            Ok(value) => Some(value),
            Err(Malformed { span, what }) => {
                let whole = self.whole(range);
                self.report(
                    Diagnostic::new(
                        codes::E0100,
                        span,
                        "this condition is no constant expression",
                    )
                    .label(what)
                    .also(whole, "the condition"),
                );
                None
            }
        }
    }

    fn whole(&self, range: &Range<usize>) -> Span {
        let start = self.span(range.start);
        match range.is_empty() {
            true => start,
            false => start.to(self.span(range.end - 1)),
        }
    }

    /// Removes the chain that begins at `start`, except the block that is taken.
    fn conditional(&mut self, start: usize) {
        let Some((branches, end)) = self.branches(start) else {
            return;
        };
        let mut taken = None;
        for branch in branches {
            let holds = match &branch.condition {
                None => true,
                // A condition after the branch that is taken is not evaluated.
                Some(_) if taken.is_some() => false,
                Some(condition) => match self.condition(condition) {
                    Some(value) => value,
                    None => return,
                },
            };
            if holds && taken.is_none() {
                taken = Some(branch.braces);
            }
        }
        let kept = taken.unwrap_or(end..end);
        let is_statement = self.follows_a_statement(start);
        for at in (start..end).filter(|at| !kept.contains(at)) {
            if let Some(flag) = self.kept.get_mut(at) {
                *flag = false;
            }
        }
        // The body of a loop or a condition without braces.
        if kept.is_empty() && !is_statement {
            self.replace_by_semicolon(start);
        }
    }

    /// Whether the statement at `at` follows another one, so that it can be removed.
    fn follows_a_statement(&self, at: usize) -> bool {
        let before = (0..at).rev().find(|at| self.is_kept(*at));
        before.is_none_or(|at| {
            [Punct::Semi, Punct::LBrace, Punct::RBrace]
                .into_iter()
                .any(|punct| self.is(at, punct))
        })
    }

    fn replace_by_semicolon(&mut self, at: usize) {
        if let (Some(token), Some(kept)) = (self.tokens.get_mut(at), self.kept.get_mut(at)) {
            token.kind = TokenKind::Punct(Punct::Semi);
            *kept = true;
        }
    }

    /// The branches of the chain at `start`, and the position after it; `None` after a report.
    fn branches(&mut self, start: usize) -> Option<(Vec<Branch>, usize)> {
        const BRACES: &str = "the branches of `if constexpr` are blocks: `{ … }`";
        let mut branches = Vec::new();
        let mut at = start;
        loop {
            let open = at + 2;
            let Some(close) = self.bracket(open, Punct::LParen) else {
                self.unexpected(open, "a condition in parentheses", BRACES);
                return None;
            };
            let Some(end) = self.bracket(close + 1, Punct::LBrace) else {
                self.unexpected(close + 1, "`{`", BRACES);
                return None;
            };
            branches.push(Branch {
                condition: Some(open + 1..close),
                braces: close + 1..end + 1,
            });
            let is_else = |kind: &TokenKind| kind.is_keyword(Keyword::Else);
            if !self.kind(end + 1).is_some_and(is_else) {
                return self.balanced(branches, end + 1);
            }
            at = end + 2;
            if self.is_if_constexpr(at) {
                continue;
            }
            let Some(end) = self.bracket(at, Punct::LBrace) else {
                self.unexpected(at, "`{` or `if constexpr`", BRACES);
                return None;
            };
            branches.push(Branch {
                condition: None,
                braces: at..end + 1,
            });
            return self.balanced(branches, end + 1);
        }
    }

    /// The end of the bracket that is expected at `at`.
    fn bracket(&self, at: usize, punct: Punct) -> Option<usize> {
        self.partner(at).filter(|_| self.is(at, punct))
    }

    /// Reports a bracket in the blocks that has no partner, because the parser only sees one of the
    /// blocks.
    fn balanced(&mut self, branches: Vec<Branch>, end: usize) -> Option<(Vec<Branch>, usize)> {
        let closing: Vec<usize> = self.partners.iter().flatten().copied().collect();
        let alone = branches
            .iter()
            .flat_map(|branch| branch.braces.clone())
            .find(|at| match self.kind(*at) {
                Some(TokenKind::Punct(Punct::LParen | Punct::LBracket)) => {
                    self.partner(*at).is_none()
                }
                Some(TokenKind::Punct(Punct::RParen | Punct::RBracket)) => !closing.contains(at),
                _ => false,
            });
        let Some(alone) = alone else {
            return Some((branches, end));
        };
        if let Some(kind) = self.kind(alone).cloned() {
            let span = self.span(alone);
            self.report(
                Diagnostic::new(
                    codes::E0100,
                    span,
                    format!("unmatched {kind} in a branch of `if constexpr`"),
                )
                .label("has no partner")
                .help("even a branch that is not taken has matching brackets"),
            );
        }
        None
    }

    /// Checks and removes the `static_assert` at `start`.
    fn assertion(&mut self, start: usize) {
        const FORM: &str = "write `static_assert(condition, \"message\");`";
        let Some(close) = self.partner(start + 1) else {
            self.unexpected(start + 1, "a condition and `)`", FORM);
            return;
        };
        if !self.is(close + 1, Punct::Semi) {
            self.unexpected(close + 1, "`;`", FORM);
            return;
        }
        let (message, end) = match (
            self.kind(close - 1),
            self.is(close.saturating_sub(2), Punct::Comma),
        ) {
            (Some(TokenKind::Str(message)), true) => (Some(message.clone()), close - 2),
            _ => (None, close),
        };
        let condition = start + 2..end;
        if self.condition(&condition) == Some(false) {
            let span = self.whole(&condition);
            let says = message.map_or(String::new(), |message| format!(": {message}"));
            self.report(
                Diagnostic::new(
                    codes::E1212,
                    span,
                    format!("a static assertion fails{says}"),
                )
                .label("this is false"),
            );
        }
        let is_statement = self.follows_a_statement(start);
        for flag in self.kept.iter_mut().take(close + 2).skip(start) {
            *flag = false;
        }
        if !is_statement {
            self.replace_by_semicolon(start);
        }
    }
}
