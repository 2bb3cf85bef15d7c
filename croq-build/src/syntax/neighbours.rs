//! Classification of a word by its neighbours: whether it is declared, or needed as a keyword.

use super::postfix::MEMBERS;
use super::tokens::kind_text;
use crate::source::token::{Keyword, Punct, Token, TokenKind};

/// How far from a word brackets and the beginning of its declaration are searched.
const FAR: usize = 256;

/// The tokens of a function.
pub(super) struct Neighbours<'a> {
    pub tokens: &'a [Token],
    /// The index of the brace that opens the body.
    pub body: usize,
}

impl Neighbours<'_> {
    fn kind(&self, at: usize) -> Option<&TokenKind> {
        self.tokens.get(at).map(|token| &token.kind)
    }

    fn back(&self, at: usize, by: usize) -> Option<&TokenKind> {
        at.checked_sub(by).and_then(|at| self.kind(at))
    }

    fn before(&self, at: usize) -> Option<&TokenKind> {
        self.back(at, 1)
    }

    fn after(&self, at: usize) -> Option<&TokenKind> {
        self.kind(at + 1)
    }

    fn precedes(&self, at: usize, puncts: &[Punct]) -> bool {
        is_one_of(self.after(at), puncts)
    }

    fn follows(&self, at: usize, puncts: &[Punct]) -> bool {
        is_one_of(self.before(at), puncts)
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
        self.precedes(
            at,
            &[
                Punct::Eq,
                Punct::PlusEq,
                Punct::MinusEq,
                Punct::StarEq,
                Punct::SlashEq,
                Punct::PercentEq,
            ],
        )
    }

    /// Whether the word is declared here: `half = …`, `int wait = …`, `f32 step;`, `f32 [N] call`,
    /// `event swap[2];`, `parallel by by 4`, `foreach in in 4`.
    pub fn is_declared(&self, at: usize) -> bool {
        if at < self.body && self.is_dimension(at) {
            return true;
        }
        if self.begins_statement(at) {
            return self.precedes(at, &[Punct::Eq, Punct::Colon])
                || self.follows(at, &[Punct::LBrace]) && self.is_index(at);
        }
        let then = |word: Keyword| self.after(at).is_some_and(|kind| kind.is_keyword(word));
        match self.before(at) {
            Some(TokenKind::Type(_)) => self.ends_declarator(at),
            Some(TokenKind::Keyword(Keyword::Mutable)) => self.precedes(at, &[Punct::Eq]),
            Some(TokenKind::Keyword(Keyword::Parallel)) => {
                then(Keyword::By) || self.precedes(at, &[Punct::Eq])
            }
            Some(TokenKind::Keyword(Keyword::Foreach | Keyword::With)) => then(Keyword::In),
            Some(TokenKind::Keyword(word)) => {
                let is_parameter = at < self.body && self.precedes(at, &[Punct::RParen]);
                // `frag f32 [16, 16] sum;`
                let is_type = *word == Keyword::Frag
                    && matches!(self.kind(at), Some(TokenKind::Type(_)))
                    && self.precedes(at, &[Punct::LBracket]);
                declares(*word)
                    && !is_type
                    && (is_parameter || self.precedes(at, &DECLARATORS_OF_WORDS))
            }
            Some(TokenKind::Punct(Punct::RBracket)) => {
                self.ends_declarator(at) && self.ends_shape(at - 1)
                    || self.precedes(at, &[Punct::LBracket]) && self.ends_shape(at - 1)
            }
            Some(TokenKind::Punct(Punct::Amp)) => {
                at < self.body && self.precedes(at, &[Punct::Comma, Punct::RParen])
            }
            // `event<4> call;`
            Some(TokenKind::Punct(Punct::Gt)) => {
                let word = self.back(at, 4);
                self.back(at, 3).is_some_and(|kind| kind.is(Punct::Lt))
                    && matches!(word, Some(TokenKind::Keyword(word)) if declares(*word))
                    && self.precedes(at, &DECLARATORS_OF_WORDS)
            }
            Some(TokenKind::Punct(Punct::Comma)) => {
                // `parallel p by 4, q by 8`; among parameters, `s32 by` is one.
                at >= self.body && then(Keyword::By)
                    || self.is_index(at)
                    || self.continues_declaration(at)
            }
            _ => false,
        }
    }

    /// What follows a name in a declaration with a type.
    fn ends_declarator(&self, at: usize) -> bool {
        let always = [Punct::Eq, Punct::Semi, Punct::Comma, Punct::LBrace];
        self.precedes(at, &always) || at < self.body && self.precedes(at, &[Punct::RParen])
    }

    /// Whether the bracket closes the shape after a type: `f32 [N]`.
    fn ends_shape(&self, close: usize) -> bool {
        let open = self.opened(close);
        open.is_some_and(|open| matches!(self.before(open), Some(TokenKind::Type(_))))
    }

    /// The index of the bracket that is closed at `close`.
    fn opened(&self, close: usize) -> Option<usize> {
        let mut depth = 0usize;
        for at in (close.saturating_sub(FAR)..=close).rev() {
            match self.kind(at) {
                Some(TokenKind::Punct(Punct::RParen | Punct::RBracket | Punct::RBrace)) => {
                    depth += 1;
                }
                Some(TokenKind::Punct(Punct::LParen | Punct::LBracket | Punct::LBrace)) => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Whether the word is an extent of a parameter, or a part of one: `f32 [swap / 2] x`.
    fn is_dimension(&self, at: usize) -> bool {
        if let Some(TokenKind::Type(_)) = self.kind(at) {
            return self.follows(at, &[Punct::LBracket, Punct::Comma])
                && self.precedes(at, &[Punct::RBracket, Punct::Comma])
                && self.is_in_shape(at);
        }
        !self.precedes(at, &[Punct::LParen, Punct::Dot]) && self.is_in_shape(at)
    }

    /// Whether the innermost bracket around the word is that of a shape.
    fn is_in_shape(&self, at: usize) -> bool {
        let Some(mut here) = at.checked_sub(1) else {
            return false;
        };
        for _ in 0..FAR {
            match self.kind(here) {
                Some(TokenKind::Punct(Punct::LBracket)) => {
                    return matches!(
                        self.before(here),
                        Some(TokenKind::Type(_) | TokenKind::Keyword(Keyword::Mdspan))
                    );
                }
                Some(TokenKind::Punct(Punct::RParen | Punct::RBracket)) => {
                    match self.opened(here) {
                        Some(open) => here = open,
                        None => return false,
                    }
                }
                None | Some(TokenKind::Punct(Punct::LBrace)) => return false,
                _ => {}
            }
            match here.checked_sub(1) {
                Some(next) => here = next,
                None => return false,
            }
        }
        false
    }

    /// Whether the word is one of several indices: `parallel {by, in} by [4, 4]`.
    fn is_index(&self, at: usize) -> bool {
        let mut end = at;
        while self.precedes(end, &[Punct::Comma]) && end - at < FAR {
            end += 2;
        }
        self.precedes(end, &[Punct::RBrace])
            && matches!(
                self.kind(end + 2),
                Some(TokenKind::Keyword(Keyword::By | Keyword::In))
            )
    }

    /// Whether a comma before the word separates the names of one declaration: `f32 [4] a, half;`.
    fn continues_declaration(&self, at: usize) -> bool {
        let ends = [
            Punct::Eq,
            Punct::Semi,
            Punct::Comma,
            Punct::LBrace,
            Punct::LBracket,
        ];
        if at < self.body || !self.precedes(at, &ends) {
            return false;
        }
        let mut here = at - 1;
        for _ in 0..FAR {
            match self.kind(here) {
                Some(TokenKind::Punct(Punct::RParen | Punct::RBracket | Punct::RBrace)) => {
                    match self.opened(here) {
                        Some(open) => here = open,
                        None => return false,
                    }
                }
                Some(TokenKind::Punct(Punct::LParen | Punct::LBracket)) | None => return false,
                _ => {}
            }
            let Some(first) = here.checked_sub(1) else {
                return false;
            };
            let statement = [Punct::Semi, Punct::LBrace];
            if is_one_of(self.kind(first), &statement) {
                return match self.kind(here) {
                    Some(TokenKind::Type(_)) => true,
                    Some(TokenKind::Keyword(word)) => is_storage(*word) || declares(*word),
                    _ => false,
                };
            }
            here = first;
        }
        false
    }

    /// Whether the grammar expects the keyword here, even if a name with this spelling is visible.
    pub fn is_keyword(&self, at: usize) -> bool {
        if self.is_declared(at) {
            return false;
        }
        if at < self.body {
            return true;
        }
        if self.is_assigned(at) {
            return false;
        }
        let after = self.after(at);
        let then = |punct: Punct| self.precedes(at, &[punct]);
        match self.kind(at) {
            Some(TokenKind::Keyword(word)) => match word {
                Keyword::Wait
                | Keyword::Trigger
                | Keyword::Swap
                | Keyword::Rotate
                | Keyword::Sync
                | Keyword::Apply
                | Keyword::With => self.may_begin_statement(at) && self.has_operands(at, *word),
                Keyword::By | Keyword::In | Keyword::Where => {
                    self.follows_an_operand(at) && !then(Punct::Dot)
                }
                Keyword::Dma | Keyword::Tma | Keyword::Mma => {
                    then(Punct::Dot)
                        && !self.is_operand_with_member(at)
                        && (self.may_begin_statement(at) || self.follows(at, &[Punct::Eq]))
                }
                Keyword::Call => {
                    matches!(after, Some(TokenKind::Word(_)))
                        && is_one_of(
                            self.kind(at + 2),
                            &[Punct::LParen, Punct::Lt, Punct::ColonColon],
                        )
                }
                Keyword::Select => then(Punct::LParen),
                Keyword::Inf => false,
                _ => self.begins_declaration(at, *word),
            },
            Some(TokenKind::Type(_)) => {
                let bound = matches!(
                    self.before(at),
                    Some(TokenKind::Keyword(Keyword::By | Keyword::In))
                );
                self.follows(at, &[Punct::Dot])
                    || self.follows(at, &[Punct::Lt]) && then(Punct::Gt)
                    || begins_an_operand(after) && !bound
            }
            _ => true,
        }
    }

    /// Whether the word is the name of a device function: `call select(a, b)`.
    pub fn is_device_function(&self, at: usize) -> bool {
        let is_call = |kind: &TokenKind| kind.is_keyword(Keyword::Call);
        self.before(at).is_some_and(is_call)
            && self.kind(at).is_some_and(TokenKind::may_be_a_name)
            && self.precedes(at, &[Punct::LParen, Punct::Lt])
    }

    /// The index after the statement `parallel …` that begins at `at`.
    pub fn end_of_parallel(&self, at: usize) -> usize {
        let mut here = at + 1;
        while let Some(kind) = self.kind(here) {
            let end = match kind {
                TokenKind::Punct(Punct::LBrace) if self.is_index(here + 1) => None,
                TokenKind::Punct(Punct::LBrace) => Some(self.closed(here)),
                TokenKind::Punct(Punct::Semi) => Some(here + 1),
                _ => None,
            };
            match end {
                // `parallel p by n if (c) { … } else { … }`
                Some(end) if matches!(self.kind(end), Some(TokenKind::Keyword(Keyword::Else))) => {
                    here = end + 1;
                }
                Some(end) => return end,
                None => here += 1,
            }
        }
        here
    }

    /// The index after the brace that closes the one at `open`.
    fn closed(&self, open: usize) -> usize {
        let mut depth = 0usize;
        let mut here = open;
        while let Some(kind) = self.kind(here) {
            here += 1;
            match kind {
                TokenKind::Punct(Punct::LBrace) => depth += 1,
                TokenKind::Punct(Punct::RBrace) => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        here
    }

    /// Whether the word can be the name of a function that is called: `half(x);`. `on_host` is
    /// whether `swap(x, y);` here can be a call, too: kernels call no functions of the file.
    pub fn is_called(&self, at: usize, on_host: bool) -> bool {
        if at < self.body
            || !self.precedes(at, &[Punct::LParen])
            || self.follows(at, &[Punct::Dot, Punct::Lt, Punct::FatArrow])
        {
            return false;
        }
        match self.kind(at) {
            Some(TokenKind::Keyword(word)) => match word {
                Keyword::Wait
                | Keyword::Trigger
                | Keyword::Swap
                | Keyword::Rotate
                | Keyword::Select => on_host,
                Keyword::By | Keyword::In | Keyword::Where => !self.follows_an_operand(at),
                _ => true,
            },
            _ => true,
        }
    }

    /// Whether the word can only be an operand here, so that a reserved word that was declared, and
    /// reported there, is no second error.
    pub fn is_operand(&self, at: usize) -> bool {
        let begins =
            self.may_begin_statement(at) || matches!(self.before(at), Some(TokenKind::Keyword(_)));
        let in_angles = self.follows(at, &[Punct::Lt]) && self.precedes(at, &[Punct::Gt]);
        match self.after(at) {
            Some(TokenKind::Punct(Punct::Dot)) => self.is_operand_with_member(at),
            Some(TokenKind::Punct(punct)) => {
                let opens = [Punct::LParen, Punct::LBracket, Punct::LBrace, Punct::Lt];
                !begins && !in_angles && !opens.contains(punct)
            }
            _ => false,
        }
    }

    /// Whether what follows the first word of a statement belongs to the keyword: `wait e;`, but
    /// `wait++;` and `wait.at(0) = 1;`.
    fn has_operands(&self, at: usize, word: Keyword) -> bool {
        match self.after(at) {
            Some(TokenKind::Punct(Punct::Dot)) => {
                let member = self.kind(at + 2).and_then(kind_text).unwrap_or_default();
                match word {
                    Keyword::Wait => member == "phase",
                    Keyword::Trigger => member == "cluster",
                    Keyword::Sync => !MEMBERS.contains(&member),
                    _ => false,
                }
            }
            Some(TokenKind::Punct(punct)) => matches!(punct, Punct::LParen | Punct::LBrace),
            Some(_) => true,
            None => false,
        }
    }

    /// `tma.at(i)`: a buffer of this name, and no copy.
    fn is_operand_with_member(&self, at: usize) -> bool {
        let member = self.kind(at + 2).and_then(kind_text).unwrap_or_default();
        MEMBERS.contains(&member)
    }

    /// Whether a storage, or a word that declares, is needed here.
    fn begins_declaration(&self, at: usize, word: Keyword) -> bool {
        let after = self.after(at);
        if self.follows(at, &[Punct::FatArrow]) {
            return is_storage(word) && !self.precedes(at, &[Punct::Dot]);
        }
        let after_storage =
            matches!(self.before(at), Some(TokenKind::Keyword(word)) if is_storage(*word));
        // The stream after the level of a `parallel`.
        let a_name = matches!(
            after,
            Some(TokenKind::Word(_) | TokenKind::Type(_) | TokenKind::Keyword(_))
        );
        let special = match word {
            Keyword::Event | Keyword::Ituple | Keyword::Mdspan => self.precedes(at, &[Punct::Lt]),
            // `frag.f32 a;`
            Keyword::Frag => matches!(self.kind(at + 2), Some(TokenKind::Type(_))),
            _ => false,
        };
        after_storage || self.may_begin_statement(at) && (a_name || special)
    }
}

/// What follows a name that is declared without a type.
const DECLARATORS_OF_WORDS: [Punct; 6] = [
    Punct::Eq,
    Punct::Colon,
    Punct::Semi,
    Punct::Comma,
    Punct::LBrace,
    Punct::LBracket,
];

/// The words that begin declarations without an element type.
fn declares(word: Keyword) -> bool {
    matches!(
        word,
        Keyword::Event | Keyword::Stream | Keyword::Mdspan | Keyword::Ituple | Keyword::Frag
    )
}

fn is_storage(word: Keyword) -> bool {
    matches!(word, Keyword::Global | Keyword::Shared | Keyword::Local)
}

fn is_one_of(kind: Option<&TokenKind>, puncts: &[Punct]) -> bool {
    matches!(kind, Some(TokenKind::Punct(punct)) if puncts.contains(punct))
}

/// A declared name, or a shape, a type or a storage before one.
fn begins_an_operand(kind: Option<&TokenKind>) -> bool {
    match kind {
        Some(TokenKind::Word(_) | TokenKind::Type(_) | TokenKind::Keyword(_)) => true,
        Some(TokenKind::Punct(punct)) => matches!(punct, Punct::LBracket),
        _ => false,
    }
}
