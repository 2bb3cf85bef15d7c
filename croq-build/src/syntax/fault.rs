//! The error of a failing rule, and its conversion to a diagnostic.
//!
//! A fault is a position and the set of tokens expected there, in one machine word, so that the
//! many alternatives that fail during a successful parse cost nothing.

use chumsky::error::{Error, LabelError};
use chumsky::util::MaybeRef;

use super::tokens::{Tokens, kind_text};
use crate::diagnostics::{self, Diagnostic, codes};
use crate::source::token::ElemType;
use crate::source::token::{Keyword, Punct, Token, TokenKind};
use crate::source::{SourceFile, Span};

/// Anything that a rule may expect, except punctuation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    Expression,
    Name,
    Operator,
    Statement,
    Integer,
    Text,
    Level,
    Storage,
    Type,
    Member,
    CopyOperation,
    TmaOperation,
    MmaOperation,
    By,
    In,
    LoopHint,
    Attribute,
    Body,
    Function,
    EndOfFunction,
    Suffix,
    SyncKind,
}

impl Class {
    const ALL: [(Class, &'static str); 22] = [
        (Class::By, "`by`"),
        (Class::In, "`in`"),
        (Class::Expression, "an expression"),
        (Class::Name, "a name"),
        (Class::Type, "a type"),
        (Class::Statement, "a statement"),
        (Class::Integer, "an integer"),
        (Class::Text, "a string"),
        (
            Class::Level,
            "a level (`block`, `group`, `group-4`, `thread`)",
        ),
        (Class::Storage, "`global`, `shared` or `local`"),
        (Class::Member, "a member"),
        (Class::CopyOperation, "`.copy`, `.transp`, `.pad` or `.any`"),
        (Class::TmaOperation, "`.copy`, `.load` or `.any`"),
        (
            Class::MmaOperation,
            "`.fill`, `.load`, `.store`, `.row`, `.col`, `.scale` or `.commit`",
        ),
        (Class::LoopHint, "`unroll` or `vectorize`"),
        (Class::Attribute, "an attribute"),
        (Class::Body, "a block"),
        (Class::Function, "`__co__`"),
        (Class::EndOfFunction, "the end of the function"),
        (Class::Suffix, "a modifier"),
        (
            Class::SyncKind,
            "`.shared`, `.global`, `.local`, `.barrier` or `.fence`",
        ),
        (Class::Operator, "an operator"),
    ];
}

/// A set of [`Class`]es and [`Punct`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expected(u128);

impl From<Class> for Expected {
    fn from(class: Class) -> Self {
        Expected(1 << (class as u32))
    }
}

impl From<Punct> for Expected {
    fn from(punct: Punct) -> Self {
        Expected(1 << (32 + punct as u32))
    }
}

impl Expected {
    fn has(self, other: impl Into<Expected>) -> bool {
        self.0 & other.into().0 != 0
    }

    fn has_member(self) -> bool {
        [
            Class::Member,
            Class::CopyOperation,
            Class::TmaOperation,
            Class::MmaOperation,
            Class::SyncKind,
            Class::Suffix,
        ]
        .into_iter()
        .any(|class| self.has(class))
    }

    /// At most five alternatives, the most informative first.
    fn list(mut self) -> String {
        if self.has(Class::Expression) {
            // Tokens with which an expression may begin add no information.
            for punct in [Punct::LParen, Punct::LBracket, Punct::LBrace, Punct::Pipe] {
                self.0 &= !Expected::from(punct).0;
            }
            self.0 &= !Expected::from(Class::Text).0;
        }
        if self.has(Class::Type) {
            self.0 &= !Expected::from(Class::Storage).0;
        }
        let mut items: Vec<String> = Class::ALL
            .iter()
            .filter(|(class, _)| *class != Class::Operator && self.has(*class))
            .map(|(_, text)| (*text).to_string())
            .collect();
        items.extend(
            Punct::ALL
                .iter()
                .filter(|punct| self.has(**punct))
                .map(|punct| format!("`{}`", punct.text())),
        );
        items.truncate(5);
        if self.has(Class::Operator) && items.len() < 5 {
            items.push("an operator".into());
        }
        match items.pop() {
            None => "something else".into(),
            Some(last) if items.is_empty() => last,
            Some(last) => format!("{} or {last}", items.join(", ")),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Fault {
    /// The index of the unexpected token.
    at: u32,
    expected: Expected,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Unexpected,
    /// A token is missing directly after the token before `at`.
    Missing(Punct),
    Known {
        report: Box<Diagnostic>,
        /// The error is that this keyword is used as a name.
        keyword: Option<String>,
    },
}

impl Fault {
    pub fn expected(at: usize, expected: impl Into<Expected>) -> Self {
        Fault {
            at: at as u32,
            expected: expected.into(),
            kind: Kind::Unexpected,
        }
    }

    pub fn missing(at: usize, punct: Punct) -> Self {
        Fault {
            at: at as u32,
            expected: punct.into(),
            kind: Kind::Missing(punct),
        }
    }

    pub fn known(diagnostic: Diagnostic) -> Self {
        Fault {
            at: 0,
            expected: Expected::default(),
            kind: Kind::Known {
                report: Box::new(diagnostic),
                keyword: None,
            },
        }
    }

    /// A keyword that is used as a name.
    pub fn keyword(keyword: &str, diagnostic: Diagnostic) -> Self {
        Fault {
            at: 0,
            expected: Expected::default(),
            kind: Kind::Known {
                report: Box::new(diagnostic),
                keyword: Some(keyword.to_owned()),
            },
        }
    }

    pub fn misused_keyword(&self) -> Option<&str> {
        match &self.kind {
            Kind::Known { keyword, .. } => keyword.as_deref(),
            _ => None,
        }
    }

    /// `None` if the unexpected text could not be tokenised, which has been reported.
    pub fn into_diagnostic(self, tokens: &[Token], file: &SourceFile) -> Option<Diagnostic> {
        let at = self.at as usize;
        let known = matches!(self.kind, Kind::Known { .. });
        if !known
            && matches!(tokens.get(at), Some(token) if matches!(token.kind, TokenKind::Bad(_)))
        {
            return None;
        }
        Some(match self.kind {
            Kind::Known { report, .. } => *report,
            Kind::Missing(punct) => {
                let before = at.checked_sub(1).and_then(|i| tokens.get(i));
                let place = before.map_or(Span::default(), |token| token.span);
                let before = before.map_or(String::new(), |token| {
                    format!(" after {}", shown(token, file))
                });
                let text = punct.text();
                let report =
                    Diagnostic::new(codes::E0100, place, format!("expected `{text}`{before}"))
                        .label(format!("`{text}` is missing after this"))
                        .help(format!("add `{text}`"));
                // A bracket may belong elsewhere.
                match punct {
                    Punct::Semi => report.suggest(Span::new(place.end, place.end), text),
                    _ => report,
                }
            }
            Kind::Unexpected => unexpected(at, self.expected, tokens, file),
        })
    }
}

fn unexpected(at: usize, expected: Expected, tokens: &[Token], file: &SourceFile) -> Diagnostic {
    if expected.has(Punct::FatArrow)
        && let Some(arrow) = arrow_before(at, tokens)
    {
        return Diagnostic::new(codes::E0100, arrow, "expected `=>`, found `->`")
            .label("unexpected")
            .help(COPY);
    }
    let list = expected.list();
    let Some(found) = tokens.get(at) else {
        let span = tokens.last().map_or(Span::default(), |token| token.span);
        return Diagnostic::new(
            codes::E0100,
            span,
            format!("expected {list}, but the function ends"),
        )
        .label("something is missing after this");
    };
    // `.cop`: the word is the error, not the dot.
    let member = tokens
        .get(at + 1)
        .and_then(|next| Some((kind_text(&next.kind)?, next.span)));
    let diagnostic = match member {
        Some((text, span)) if found.kind.is(Punct::Dot) && expected.has_member() => {
            let span = found.span.to(span);
            Diagnostic::new(
                codes::E0100,
                span,
                format!("expected {list}, found `.{text}`"),
            )
        }
        _ => Diagnostic::new(
            codes::E0100,
            found.span,
            format!("expected {list}, found {}", shown(found, file)),
        ),
    };
    let mut diagnostic = diagnostic.label("unexpected");
    if let Some(help) = advice(at, expected, tokens) {
        diagnostic = diagnostic.help(help);
    }
    diagnostic
}

const COPY: &str = "a copy is written `source => destination`";

/// The `->` of the statement whose tokens precede `at`.
fn arrow_before(at: usize, tokens: &[Token]) -> Option<Span> {
    let before = tokens.get(..at)?.iter().rev();
    let mut statement = before.take_while(|token| {
        !matches!(
            token.kind,
            TokenKind::Punct(Punct::Semi | Punct::LBrace | Punct::RBrace)
        )
    });
    statement
        .find(|token| token.kind.is(Punct::Arrow))
        .map(|token| token.span)
}

/// The token as the user wrote it; for a token from a macro, its text in the macro.
fn shown(token: &Token, file: &SourceFile) -> String {
    let written = file.snippet(token.span);
    let by_kind = matches!(token.kind, TokenKind::Str(_) | TokenKind::Bad(_));
    if by_kind || written.is_empty() || file.macro_at(token.span).is_some() {
        return token.kind.to_string();
    }
    format!("`{written}`")
}

/// The members that may follow a dot.
fn members(expected: Expected) -> &'static [&'static str] {
    if expected.has(Class::CopyOperation) {
        &["copy", "transp", "pad", "load", "any"]
    } else if expected.has(Class::MmaOperation) {
        &["fill", "load", "store", "row", "col", "scale", "commit"]
    } else if expected.has(Class::SyncKind) {
        &["shared", "global", "local", "barrier", "fence"]
    } else if expected.has(Class::Suffix) {
        &[
            "async",
            "swiz",
            "zfill",
            "promote",
            "sp",
            "multicast",
            "evict_first",
            "evict_last",
        ]
    } else {
        &[]
    }
}

/// A guess at the intended text.
fn advice(at: usize, expected: Expected, tokens: &[Token]) -> Option<String> {
    let found = &tokens.get(at)?.kind;
    let before = at.checked_sub(1).and_then(|i| tokens.get(i));
    let next = tokens.get(at + 1);
    if found.is(Punct::Eq) && expected.has(Class::Operator) && expected.has(Punct::RParen) {
        return Some("`==` compares; `=` is a statement of its own".into());
    }
    if found.is(Punct::EqEq) && expected.has(Punct::Eq) {
        return Some("`=` assigns, `==` compares".into());
    }
    let not_an_arrow = [
        Punct::Eq,
        Punct::Arrow,
        Punct::Comma,
        Punct::Semi,
        Punct::Ge,
    ];
    if found.word() == Some("as") && expected.has(Class::Operator) {
        return Some("a conversion is written `__to<f32>(value)`".into());
    }
    if expected.has(Punct::FatArrow) && not_an_arrow.into_iter().any(|punct| found.is(punct)) {
        return Some(COPY.into());
    }
    if expected == Expected::from(Punct::LParen)
        && let Some(TokenKind::Keyword(
            keyword @ (Keyword::If | Keyword::While | Keyword::Inthreads),
        )) = before.map(|token| &token.kind)
    {
        return Some(format!(
            "put the condition in parentheses: `{} (…)`",
            keyword.text()
        ));
    }
    if found.is(Punct::Dot)
        && let Some(text) = next.and_then(|next| kind_text(&next.kind))
    {
        let known = members(expected);
        if let Some(near) = diagnostics::nearest(text, known.iter().copied()) {
            return Some(format!("did you mean `.{near}`?"));
        }
    }
    if let Some(word) = found.word()
        && let Some(help) = word_advice(word, expected, next)
    {
        return Some(help);
    }
    if let Some(help) = operator_advice(at, expected, tokens) {
        return Some(help.into());
    }
    if expected == Expected::from(Punct::LParen) && found.is(Punct::LBracket) {
        return element_advice(at, tokens);
    }
    if let Some(help) = header_advice(at, expected, tokens).or_else(|| buffer_advice(at, tokens)) {
        return Some(help.into());
    }
    // `paralel p by 8`: the previous word was intended as a keyword.
    let before = before?;
    let begins = match at.checked_sub(2).and_then(|i| tokens.get(i)) {
        Some(token) => {
            before.starts_line
                || matches!(
                    token.kind,
                    TokenKind::Punct(Punct::Semi | Punct::LBrace | Punct::RBrace)
                )
        }
        None => true,
    };
    if begins && let Some(word) = before.kind.word() {
        let keywords = Keyword::ALL.iter().map(|keyword| keyword.text());
        let types = ElemType::ALL.iter().map(|elem| elem.text());
        if let Some(near) =
            diagnostics::nearest(word, keywords.chain(types).chain(["float", "double"]))
        {
            return Some(format!("`{word}` is no keyword; did you mean `{near}`?"));
        }
    }
    None
}

/// A guess at the word that was meant in place of this one.
fn word_advice(word: &str, expected: Expected, next: Option<&Token>) -> Option<String> {
    if expected.has(Class::Type) {
        return Some(match next {
            Some(next) if next.kind.is(Punct::LParen) => {
                format!("write what it returns before its name: `void {word}`, `auto {word}`")
            }
            _ => format!("write its type before it: `int {word}`, `f32 [N] {word}`"),
        });
    }
    let wanted: &[&str] = if expected.has(Class::Level) {
        &["block", "group", "group-4", "thread", "cluster", "device"]
    } else if expected.has(Class::By) {
        &["by"]
    } else if expected.has(Class::In) {
        &["in"]
    } else if expected.has(Class::LoopHint) {
        &["unroll", "vectorize"]
    } else {
        &[]
    };
    if let Some(near) = diagnostics::nearest(word, wanted.iter().copied()) {
        return Some(format!("write `{near}`"));
    }
    if expected.has(Class::Level) {
        let level = match word {
            "warp" | "wave" | "wavefront" => "write `group`: a group is a warp of 32 threads",
            "warpgroup" => "write `group-4`: four warps",
            "grid" => "write `block`: a grid consists of blocks",
            _ => return None,
        };
        return Some(level.into());
    }
    None
}

/// An operator of another language, in the unexpected token or before it.
fn operator_advice(at: usize, expected: Expected, tokens: &[Token]) -> Option<&'static str> {
    let found = &tokens.get(at)?.kind;
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    if found.is(Punct::Star)
        && expected.has(Class::Expression)
        && before.is_some_and(|before| before.kind.is(Punct::Star))
    {
        return Some("there is no `**`: write `x * x`, or `__pow(x, y)`");
    }
    if !expected.has(Class::Operator) {
        return None;
    }
    if before.and_then(|before| before.kind.word()) == Some("not") {
        return Some("`!` negates a condition: write `!a`");
    }
    match found.word()? {
        "and" => Some("write `&&`"),
        "or" => Some("write `||`"),
        _ => None,
    }
}

/// `y.at[p]`, with the bracket at `at`.
fn element_advice(at: usize, tokens: &[Token]) -> Option<String> {
    let back = |by: usize| at.checked_sub(by).and_then(|at| tokens.get(at));
    let member = back(1).and_then(|token| kind_text(&token.kind))?;
    if !back(2)?.kind.is(Punct::Dot) {
        return None;
    }
    let whole = back(3).and_then(|token| token.kind.word()).unwrap_or("x");
    let index = tokens.get(at + 1).and_then(|token| token.kind.word());
    let closed = tokens
        .get(at + 2)
        .is_some_and(|token| token.kind.is(Punct::RBracket));
    let index = index.filter(|_| closed).unwrap_or("i");
    Some(format!("write `{whole}.{member}({index})`"))
}

/// How a buffer is declared, if the unexpected token stands in CUDA's declaration of one or behind an
/// assignment.
fn buffer_advice(at: usize, tokens: &[Token]) -> Option<&'static str> {
    let before = &tokens.get(at.checked_sub(1)?)?.kind;
    let assigned = before.is(Punct::Eq);
    match kind_text(&tokens.get(at)?.kind) {
        _ if before.word() == Some("__shared__") => {
            Some("a buffer of the block is declared by `shared f32 [64] name;`")
        }
        Some("shared") if assigned => Some("a buffer is declared by `shared f32 [64] name;`"),
        Some("local") if assigned => Some("a thread's array is declared by `local f32 [4] name;`"),
        _ => None,
    }
}

/// How the header of a loop or level is written, if the unexpected token is in one.
fn header_advice(at: usize, expected: Expected, tokens: &[Token]) -> Option<&'static str> {
    /// The most tokens of a header before the unexpected one.
    const HEADER: usize = 32;
    let before = tokens.get(at.saturating_sub(HEADER)..at)?;
    for (back, token) in before.iter().rev().enumerate() {
        match token.kind {
            TokenKind::Punct(Punct::Semi) => return None,
            TokenKind::Keyword(Keyword::Parallel) => {
                return (expected.has(Class::By) || back == 0).then_some(
                    "write `parallel p by N`, one level of several indices `parallel {p, q} by [M, N]`, \
                     levels inside each other `parallel p by M, q by N`",
                );
            }
            TokenKind::Keyword(Keyword::Foreach) => {
                let first = tokens.get(at).map(|token| &token.kind)?;
                let dot = |at: Option<&Token>| at.is_some_and(|token| token.kind.is(Punct::Dot));
                let range = first.is(Punct::Dot) && (dot(before.last()) || dot(tokens.get(at + 1)));
                let parenthesis = back == 0 && first.is(Punct::LParen);
                let assigned = before.iter().rev().take(back).any(|t| t.kind.is(Punct::Eq));
                return (range || parenthesis || assigned).then_some(
                    "write `foreach i in [n]`; from `lo` to before `hi`, `foreach i in [hi - lo]` and `lo + i`",
                );
            }
            _ => {}
        }
    }
    None
}

impl<'t> Error<'t, Tokens<'t>> for Fault {
    fn merge(mut self, other: Self) -> Self {
        if matches!(self.kind, Kind::Known { .. }) {
            return self;
        }
        if matches!(other.kind, Kind::Known { .. }) || other.at > self.at {
            return other;
        }
        if other.at == self.at {
            self.expected.0 |= other.expected.0;
        }
        self
    }
}

impl<'t, L> LabelError<'t, Tokens<'t>, L> for Fault {
    fn expected_found<I: IntoIterator<Item = L>>(
        _expected: I,
        _found: Option<MaybeRef<'t, Token>>,
        span: chumsky::span::SimpleSpan,
    ) -> Self {
        Fault {
            at: span.start as u32,
            expected: Expected::default(),
            kind: Kind::Unexpected,
        }
    }
}
