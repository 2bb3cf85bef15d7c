//! Macro definitions and their scopes.

use std::collections::HashMap;
use std::sync::Arc;

use super::Span;
use super::lexer::{Lexeme, Lexer};
use super::punctuation::invisible;
use super::token::{Punct, Token, TokenKind};
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::sorted::SortedMap;

#[derive(Clone, Debug)]
pub struct Macro {
    pub name: Arc<str>,
    /// `Some` for a function-like macro.
    pub params: Option<Vec<Arc<str>>>,
    pub body: Arc<[TokenKind]>,
    /// The position in the file of each token of the body; zeros for a macro from the command line.
    offsets: Arc<[u32]>,
    /// The span of the name in its `#define`; `None` for a macro from the command line.
    pub span: Option<Span>,
}

impl Macro {
    /// `text` is the replacement, with comments and line continuations.
    pub fn new(name: &str, params: Option<Vec<&str>>, text: &str, span: Option<Span>) -> Self {
        let (mut body, mut offsets) = (Vec::new(), Vec::new());
        let mut add = |token: Token| {
            body.push(token.kind);
            offsets.push(token.span.start);
        };
        let mut lexer = Lexer::new(text, 0);
        loop {
            match lexer.next_lexeme() {
                Lexeme::Token(token) => add(token),
                Lexeme::LineHash => {
                    if let Lexeme::Token(token) = lexer.hash_operator() {
                        add(token);
                    }
                }
                Lexeme::OpenComment(_) | Lexeme::End => break,
            }
        }
        if body.is_empty() && params.is_none() {
            body.push(TokenKind::Int {
                value: 1,
                unsigned: false,
                long: false,
            });
        }
        Self {
            name: Arc::from(name),
            params: params.map(|params| params.into_iter().map(Arc::from).collect()),
            body: body.into(),
            offsets: offsets.into(),
            span,
        }
    }

    /// Sets the position of the replacement's text in the file.
    pub fn written_at(mut self, start: u32) -> Self {
        self.offsets = self.offsets.iter().map(|at| at + start).collect();
        self
    }

    /// Whether `##` is at a position of the replacement, rather than two operators `#`.
    pub(super) fn pastes(&self, at: usize) -> bool {
        let hash = |at: usize| self.body.get(at).is_some_and(|kind| kind.is(Punct::Hash));
        let offset = |at: usize| self.offsets.get(at).copied().unwrap_or_default();
        hash(at) && hash(at + 1) && offset(at) + 1 == offset(at + 1)
    }

    /// A token of the replacement, for a use of the macro at `span`.
    pub(super) fn placed(
        &self,
        at: usize,
        kind: &TokenKind,
        span: Span,
        starts_line: bool,
    ) -> Token {
        // Without a definition in the file, only the use has a position.
        let defined = self.span.and_then(|_| self.offsets.get(at).copied());
        placed(kind, span.defined_at(defined.unwrap_or(0)), starts_line)
    }
}

/// The current macros in two scopes: those of the file, and those of the body of the current
/// function.
#[derive(Default)]
pub struct Macros {
    file: HashMap<Arc<str>, Macro>,
    /// `None` for a name that the body has undefined.
    body: Option<HashMap<Arc<str>, Option<Macro>>>,
}

impl Macros {
    pub fn enter_body(&mut self) {
        self.body = Some(HashMap::new());
    }

    pub fn leave_body(&mut self) {
        self.body = None;
    }

    pub fn get(&self, name: &str) -> Option<&Macro> {
        if let Some(entry) = self.body.as_ref().and_then(|body| body.get(name)) {
            return entry.as_ref();
        }
        self.file.get(name)
    }

    /// Records a definition. Redefining an object-like macro replaces it silently; a function-like
    /// macro keeps its first definition of a scope.
    pub fn define(&mut self, new: Macro, diags: &mut Diagnostics) {
        let earlier = match &self.body {
            Some(body) => body.get(&new.name).and_then(Option::as_ref),
            None => self.file.get(&new.name),
        };
        if let Some(earlier) = earlier
            && new.params.is_some()
            && earlier.params.is_some()
            && (earlier.body != new.body || earlier.params != new.params)
        {
            let name = &new.name;
            let mut diagnostic = Diagnostic::new(
                codes::E0007,
                new.span.unwrap_or_default(),
                format!("the function-like macro `{name}` is defined twice, with different text"),
            )
            .label("defined again here")
            .help(format!(
                "`#undef {name}` first, or give one of them another name"
            ));
            if let Some(span) = earlier.span {
                diagnostic = diagnostic.also(span, "first defined here");
            }
            diags.push(diagnostic);
            return;
        }
        match &mut self.body {
            Some(body) => {
                body.insert(new.name.clone(), Some(new));
            }
            None => {
                self.file.insert(new.name.clone(), new);
            }
        }
    }

    pub fn undefine(&mut self, name: &str) {
        match &mut self.body {
            Some(body) => {
                body.insert(Arc::from(name), None);
            }
            None => {
                self.file.remove(name);
            }
        }
    }
}

pub(super) fn placed(kind: &TokenKind, span: Span, starts_line: bool) -> Token {
    Token {
        kind: kind.clone(),
        span,
        starts_line,
    }
}

/// Reports the unreadable tokens of an expanded function. One without a replacement is kept, so
/// that the parser does not report its location again. Characters that cannot be seen are left out,
/// and those of one kind are reported once.
pub fn report_bad(text: &str, tokens: Vec<Token>, diags: &mut Diagnostics) -> Vec<Token> {
    if !tokens
        .iter()
        .any(|token| matches!(token.kind, TokenKind::Bad(_)))
    {
        return tokens;
    }
    let unseen = |token: &Token| {
        let span = token.span.start as usize..token.span.end as usize;
        let mut written = text.get(span).unwrap_or_default().chars();
        let first = written.next().filter(|c| invisible(*c).is_some());
        first.filter(|_| written.next().is_none())
    };
    let mut times: SortedMap<char, usize> = SortedMap::new();
    for c in tokens.iter().filter_map(unseen) {
        *times.entry(c).or_default() += 1;
    }
    let mut good = Vec::with_capacity(tokens.len());
    for token in tokens {
        let TokenKind::Bad(bad) = &token.kind else {
            good.push(token);
            continue;
        };
        let unseen = unseen(&token);
        let label = match unseen.map(|c| times.remove(&c)) {
            Some(None) => continue,
            Some(Some(times)) if times > 1 => format!("the first of {times} in this function"),
            _ => bad.label.clone(),
        };
        let mut diagnostic =
            Diagnostic::new(bad.code, token.span, bad.message.clone()).label(label);
        diagnostic.help = bad.help.clone();
        diags.push(diagnostic);
        match &bad.stand_in {
            Some(kind) => good.push(Token {
                kind: kind.clone(),
                ..token
            }),
            None if unseen.is_some() => {}
            None => good.push(token),
        }
    }
    good
}
