//! Keywords that a function uses as names.
//!
//! A word is a keyword only where the grammar requires it. A function that declares a name with the
//! spelling of a keyword (`stage = k % 2;`, `half = n / 2;`, `int wait = 3;`) may use it wherever
//! no rule expects the keyword: `x + half`, but `half y;` and `__to<half>(x)`. A function without
//! such a declaration is not changed, so a keyword in the place of a name is still reported.
//!
//! Reserved words of C++ (`if`, `float`, `auto`, …) are never names.

use std::borrow::Cow;
use std::collections::HashSet;

use super::tokens::kind_text;
use crate::source::SourceFile;
use crate::source::token::{ElemType, Keyword, Punct, Token, TokenKind};

/// The tokens of a function, in which keywords that are used as names are identifiers.
pub fn with_names<'t>(tokens: Cow<'t, [Token]>, file: &SourceFile) -> Cow<'t, [Token]> {
    let all = Neighbours { tokens: &tokens };
    let mut names: HashSet<String> = HashSet::new();
    for (at, token) in tokens.iter().enumerate() {
        if may_be_a_name(&token.kind) && all.is_declared(at) {
            names.insert(spelling(token, file));
        }
    }
    if names.is_empty() {
        return tokens;
    }
    let mut out = Vec::with_capacity(tokens.len());
    for (at, token) in tokens.iter().enumerate() {
        let mut token = token.clone();
        if may_be_a_name(&token.kind) && !all.is_keyword(at) {
            let text = spelling(&token, file);
            if names.contains(&text) {
                token.kind = TokenKind::Word(text.into());
            }
        }
        out.push(token);
    }
    Cow::Owned(out)
}

/// The word in the source, which may be an alias of the token's.
fn spelling(token: &Token, file: &SourceFile) -> String {
    match file.macro_at(token.span) {
        None => file.snippet(token.span).to_owned(),
        Some(_) => kind_text(&token.kind).unwrap_or_default().to_owned(),
    }
}

fn may_be_a_name(kind: &TokenKind) -> bool {
    match kind {
        TokenKind::Keyword(word) => matches!(
            word,
            Keyword::Mdspan
                | Keyword::Ituple
                | Keyword::Stream
                | Keyword::Event
                | Keyword::Frag
                | Keyword::Global
                | Keyword::Shared
                | Keyword::Local
                | Keyword::By
                | Keyword::With
                | Keyword::In
                | Keyword::Where
                | Keyword::Dma
                | Keyword::Tma
                | Keyword::Swap
                | Keyword::Rotate
                | Keyword::Select
                | Keyword::Wait
                | Keyword::Trigger
                | Keyword::Sync
                | Keyword::Mma
                | Keyword::Apply
                | Keyword::Call
                | Keyword::Inf
        ),
        TokenKind::Type(ElemType::Int | ElemType::Bool) => false,
        TokenKind::Type(_) => true,
        _ => false,
    }
}

/// Classification of a token by its neighbours.
struct Neighbours<'a> {
    tokens: &'a [Token],
}

impl Neighbours<'_> {
    fn kind(&self, at: usize) -> Option<&TokenKind> {
        self.tokens.get(at).map(|token| &token.kind)
    }

    fn before(&self, at: usize) -> Option<&TokenKind> {
        at.checked_sub(1).and_then(|at| self.kind(at))
    }

    fn after(&self, at: usize) -> Option<&TokenKind> {
        self.kind(at + 1)
    }

    /// Whether the token before shows that this is the first token of a statement. A `)` may end
    /// the header of an `if` or a loop.
    fn begins_statement(&self, at: usize) -> bool {
        match self.before(at) {
            None => true,
            Some(TokenKind::Punct(punct)) => matches!(
                punct,
                Punct::LBrace | Punct::RBrace | Punct::Semi | Punct::RParen
            ),
            Some(TokenKind::Keyword(word)) => matches!(word, Keyword::Else),
            Some(_) => false,
        }
    }

    /// Whether a statement may begin here, where an expression cannot continue with a name: after a
    /// `;`, and after the operand that ends the header of a loop, as in `foreach i in [2] wait e;`.
    fn may_begin_statement(&self, at: usize) -> bool {
        self.begins_statement(at) || self.follows_an_operand(at)
    }

    /// Whether the token before ends an operand, so that an operator or a keyword follows.
    fn follows_an_operand(&self, at: usize) -> bool {
        match self.before(at) {
            Some(TokenKind::Punct(punct)) => {
                matches!(punct, Punct::RParen | Punct::RBracket | Punct::RBrace)
            }
            Some(TokenKind::Keyword(_) | TokenKind::Type(_)) => {
                at.checked_sub(1).is_some_and(|at| self.is_declared(at))
            }
            Some(_) => true,
            None => false,
        }
    }

    fn is_assigned(&self, at: usize) -> bool {
        matches!(
            self.after(at),
            Some(TokenKind::Punct(
                Punct::Eq
                    | Punct::PlusEq
                    | Punct::MinusEq
                    | Punct::StarEq
                    | Punct::SlashEq
                    | Punct::PercentEq
            ))
        )
    }

    /// Whether the word is declared here: `half = …`, `int wait = …`, `f32 step;`, `parallel by by
    /// 4`, `foreach in in 4`.
    fn is_declared(&self, at: usize) -> bool {
        let after = self.after(at);
        if self.begins_statement(at) {
            return after.is_some_and(|kind| kind.is(Punct::Eq));
        }
        let ends = |punct: Punct| after.is_some_and(|kind| kind.is(punct));
        match self.before(at) {
            Some(TokenKind::Type(_)) => {
                [Punct::Eq, Punct::Semi, Punct::Comma].into_iter().any(ends)
            }
            Some(TokenKind::Keyword(Keyword::Mutable)) => ends(Punct::Eq),
            Some(TokenKind::Keyword(Keyword::Parallel)) => {
                after.is_some_and(|kind| kind.is_keyword(Keyword::By)) || ends(Punct::Eq)
            }
            Some(TokenKind::Keyword(Keyword::Foreach | Keyword::With)) => {
                after.is_some_and(|kind| kind.is_keyword(Keyword::In))
            }
            Some(TokenKind::Punct(Punct::Comma)) => {
                after.is_some_and(|kind| kind.is_keyword(Keyword::By))
            }
            _ => false,
        }
    }

    /// Whether the grammar expects the keyword here, even if a name with this spelling is visible.
    fn is_keyword(&self, at: usize) -> bool {
        if self.is_declared(at) || self.is_assigned(at) {
            return false;
        }
        let after = self.after(at);
        let then = |punct: Punct| after.is_some_and(|kind| kind.is(punct));
        let before = |punct: Punct| self.before(at).is_some_and(|kind| kind.is(punct));
        match self.kind(at) {
            Some(TokenKind::Keyword(word)) => match word {
                Keyword::Wait
                | Keyword::Trigger
                | Keyword::Swap
                | Keyword::Rotate
                | Keyword::Sync
                | Keyword::Apply
                | Keyword::With => self.may_begin_statement(at),
                Keyword::By | Keyword::In | Keyword::Where => self.follows_an_operand(at),
                Keyword::Dma | Keyword::Tma | Keyword::Mma => {
                    then(Punct::Dot) && (self.may_begin_statement(at) || before(Punct::Eq))
                }
                Keyword::Call => matches!(after, Some(TokenKind::Word(_))),
                Keyword::Select => then(Punct::LParen),
                Keyword::Inf => false,
                // Storages and types in declarations.
                _ => {
                    before(Punct::FatArrow)
                        || self.may_begin_statement(at) && begins_an_operand(after)
                        || matches!(
                            self.before(at),
                            Some(TokenKind::Keyword(
                                Keyword::Global | Keyword::Shared | Keyword::Local
                            ))
                        )
                }
            },
            Some(TokenKind::Type(_)) => {
                before(Punct::Dot) || before(Punct::Lt) || begins_an_operand(after)
            }
            _ => true,
        }
    }
}

/// A declared name, or a shape, a type or a storage before one.
fn begins_an_operand(kind: Option<&TokenKind>) -> bool {
    match kind {
        Some(TokenKind::Word(_) | TokenKind::Type(_) | TokenKind::Keyword(_)) => true,
        Some(TokenKind::Punct(punct)) => matches!(punct, Punct::LBracket),
        _ => false,
    }
}
