//! The expansion of macros on tokens.
//!
//! Every token of an expansion has the span of the macro *use*, and the arguments of a call have
//! their own; [`Expansions`] maps uses to macros. Expansion follows the C rules: the result is
//! scanned again, a macro is not expanded inside its own expansion, strings are not changed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::Span;
use super::directive::VARIADIC;
use super::macros::{Macro, Macros, placed};
use super::pasting::Pasting;
use super::steps::step;
use super::token::{Keyword, Punct, Token, TokenKind};
use crate::diagnostics::{Diagnostic, Diagnostics, codes};

/// The most tokens that the macros of one file may become; more are treated as an endless expansion.
/// As many as 64 KB of text have at the most: the later stages take as long as for a file of that size.
const TOKEN_BUDGET: usize = 1 << 16;
/// The most macros of a chain that a report names.
const CHAIN: usize = 8;
/// The most nested macro calls in arguments of macro calls.
const ARGUMENT_DEPTH: usize = 64;

/// The macro of each use, by the span of the use in the unexpanded text.
#[derive(Debug, Default)]
pub struct Expansions {
    uses: HashMap<Span, Arc<str>>,
}

impl Expansions {
    pub fn macro_at(&self, span: Span) -> Option<&str> {
        self.uses.get(&span).map(|name| &**name)
    }

    fn record(&mut self, span: Span, name: &Arc<str>) {
        self.uses.entry(span).or_insert_with(|| name.clone());
    }
}

/// A token during expansion.
#[derive(Clone)]
enum Item {
    Token {
        token: Token,
        painted: bool,
    },
    /// The end of a macro's expansion, after which the macro may be expanded again.
    End(Arc<str>),
}

pub struct Expander<'a> {
    pub macros: &'a Macros,
    pub expansions: &'a mut Expansions,
    pub diags: &'a mut Diagnostics,
    pub budget: &'a mut Budget,
}

/// What the macros of one file may still become. It is for the whole file: functions that each reach
/// a limit of their own would take as long as there are functions.
pub struct Budget {
    tokens: usize,
    exceeded: bool,
    /// Whether the excess is reported as E0009; that of a condition is reported there.
    reported: bool,
    /// Whether text that was read is incomplete, because its macros exceeded the limit.
    pub incomplete: bool,
}

impl Budget {
    pub fn of_a_file() -> Self {
        Self {
            tokens: TOKEN_BUDGET,
            exceeded: false,
            reported: false,
            incomplete: false,
        }
    }

    /// Whether an expansion to `tokens` more is within the limit. If it isn't, no later one is, and
    /// the caller reports it.
    pub fn take(&mut self, tokens: usize) -> bool {
        match self.tokens.checked_sub(tokens) {
            Some(left) => self.tokens = left,
            None => (self.tokens, self.exceeded) = (0, true),
        }
        !self.exceeded
    }
}

impl Expander<'_> {
    /// Expands a sequence of tokens without directives, appending to `out`.
    pub fn expand(&mut self, tokens: Vec<Token>, out: &mut Vec<Token>) {
        // Most text has no macro.
        let any = tokens.iter().any(|token| {
            macro_name(&token.kind).is_some_and(|name| self.macros.get(name).is_some())
        });
        if !any {
            out.extend(tokens);
            return;
        }
        if self.budget.exceeded {
            self.budget.incomplete = true;
            return;
        }
        let items = tokens
            .into_iter()
            .map(|token| Item::Token {
                token,
                painted: false,
            })
            .collect();
        let expanded = self.run(items, &HashSet::new(), 0);
        out.extend(expanded.into_iter().map(|(token, _)| token));
    }

    fn run(
        &mut self,
        items: Vec<Item>,
        outer: &HashSet<Arc<str>>,
        depth: usize,
    ) -> Vec<(Token, bool)> {
        let mut active: HashSet<Arc<str>> = outer.clone();
        let mut chain: Vec<Arc<str>> = Vec::new();
        let mut work = items;
        work.reverse();
        let mut out = Vec::new();
        // After a call that is never closed, every later `(` would search to the end again.
        let mut calls_expand = true;
        while let Some(item) = work.pop() {
            step();
            let (token, painted) = match item {
                Item::End(name) => {
                    active.remove(&name);
                    chain.pop();
                    continue;
                }
                Item::Token { token, painted } => (token, painted),
            };
            let Some(found) = macro_name(&token.kind).and_then(|name| self.macros.get(name)) else {
                out.push((token, painted));
                continue;
            };
            if painted || active.contains(&found.name) {
                out.push((token, true));
                continue;
            }
            let (use_span, body) = match &found.params {
                None => {
                    let found = found.clone();
                    let Some(body) =
                        self.substitute(&found, &[], &[], token.span, token.starts_line)
                    else {
                        self.runaway(token.span, &chain, &found.name);
                        break;
                    };
                    (token.span, body)
                }
                Some(params) => {
                    // `call` of a variadic macro is left to C++, whose macro need not be in the
                    // language.
                    let of_cpp = is_variadic(params) && after_call(&out);
                    if !calls_expand || of_cpp || !next_is_open(&work) {
                        out.push((token, painted));
                        continue;
                    }
                    let (found, params) = (found.clone(), params.clone());
                    let params = &*params;
                    let Some((args, close)) = self.arguments(&mut work, &mut active, &mut chain)
                    else {
                        calls_expand = false;
                        self.unbalanced(&found, &token);
                        // The tokens that follow would be misread.
                        while work.last().is_some_and(|item| !ends_statement(item)) {
                            work.pop();
                        }
                        out.push((stand_in(token.span, token.starts_line), painted));
                        continue;
                    };
                    let use_span = token.span.to(close);
                    let Some(args) = self.fit_arguments(&found, params, args, use_span) else {
                        out.push((stand_in(use_span, token.starts_line), painted));
                        continue;
                    };
                    if depth >= ARGUMENT_DEPTH {
                        self.runaway(use_span, &chain, &found.name);
                        out.push((stand_in(use_span, token.starts_line), painted));
                        continue;
                    }
                    let args = self.expand_arguments(args, &active, depth);
                    let Some(body) =
                        self.substitute(&found, params, &args, use_span, token.starts_line)
                    else {
                        self.runaway(use_span, &chain, &found.name);
                        break;
                    };
                    (use_span, body)
                }
            };
            let name = found.name.clone();
            if !self.budget.take(body.len()) {
                self.runaway(use_span, &chain, &name);
                break;
            }
            self.expansions.record(use_span, &name);
            work.push(Item::End(name.clone()));
            chain.push(name.clone());
            active.insert(name);
            work.extend(body.into_iter().rev());
        }
        out
    }

    /// The arguments of a call whose `(` is next, and the span of its `)`; `None`, with no token
    /// consumed, if it is never closed.
    #[allow(clippy::type_complexity)]
    fn arguments(
        &mut self,
        work: &mut Vec<Item>,
        active: &mut HashSet<Arc<str>>,
        chain: &mut Vec<Arc<str>>,
    ) -> Option<(Vec<Vec<Item>>, Span)> {
        let mut depth = 0usize;
        let close = work.iter().rev().position(|item| {
            step();
            let Item::Token { token, .. } = item else {
                return false;
            };
            match token.kind {
                TokenKind::Punct(Punct::LParen) => depth += 1,
                TokenKind::Punct(Punct::RParen) => depth -= 1,
                _ => {}
            }
            depth == 0
        })?;
        let mut taken = work.split_off(work.len() - close - 1);
        taken.reverse();
        let mut args: Vec<Vec<Item>> = vec![Vec::new()];
        let mut nesting = 0usize;
        let mut opened = false;
        let mut close_span = Span::default();
        let last = taken.len() - 1;
        for (i, item) in taken.into_iter().enumerate() {
            let token = match item {
                // The call extends beyond the end of an expansion that its name is part of.
                Item::End(name) => {
                    active.remove(&name);
                    chain.pop();
                    continue;
                }
                Item::Token { token, painted } => {
                    match token.kind {
                        TokenKind::Punct(Punct::LParen | Punct::LBracket | Punct::LBrace) => {
                            nesting += 1;
                            if nesting == 1 && !std::mem::replace(&mut opened, true) {
                                continue;
                            }
                        }
                        TokenKind::Punct(Punct::RParen | Punct::RBracket | Punct::RBrace) => {
                            nesting = nesting.saturating_sub(1);
                            if i == last {
                                close_span = token.span;
                                continue;
                            }
                        }
                        // C++ splits at every comma outside parentheses; here commas inside
                        // brackets and braces do not separate, because these are values of the
                        // language.
                        TokenKind::Punct(Punct::Comma) if nesting == 1 => {
                            args.push(Vec::new());
                            continue;
                        }
                        _ => {}
                    }
                    Item::Token { token, painted }
                }
            };
            if let Some(arg) = args.last_mut() {
                arg.push(token);
            }
        }
        Some((args, close_span))
    }

    fn expand_arguments(
        &mut self,
        args: Vec<Vec<Item>>,
        active: &HashSet<Arc<str>>,
        depth: usize,
    ) -> Vec<Argument> {
        args.into_iter()
            .map(|arg| Argument {
                unexpanded: arg.clone(),
                expanded: self.run(arg, active, depth + 1),
            })
            .collect()
    }

    /// Checks the number of arguments.
    fn fit_arguments(
        &mut self,
        found: &Macro,
        params: &[Arc<str>],
        mut args: Vec<Vec<Item>>,
        use_span: Span,
    ) -> Option<Vec<Vec<Item>>> {
        let expected = params.len();
        let variadic = is_variadic(params);
        if variadic {
            join_further(&mut args, expected, use_span);
        }
        if expected == 0 && args.len() == 1 && args.first().is_some_and(Vec::is_empty) {
            args.clear();
        }
        if args.len() == expected {
            return Some(args);
        }
        let name = &found.name;
        let given = args.len();
        let (least, expected) = match variadic {
            true => ("at least ", expected - 1),
            false => ("", expected),
        };
        let s = if expected == 1 { "" } else { "s" };
        let mut diagnostic = Diagnostic::new(
            codes::E0008,
            use_span,
            format!("the macro `{name}` takes {least}{expected} argument{s}, but {given} given"),
        )
        .label(format!("{given} here"));
        if let Some(span) = found.span {
            diagnostic = diagnostic.also(span, "defined here");
        }
        self.diags.push(diagnostic);
        None
    }

    fn substitute(
        &mut self,
        found: &Macro,
        params: &[Arc<str>],
        args: &[Argument],
        use_span: Span,
        starts_line: bool,
    ) -> Option<Vec<Item>> {
        let mut body: Vec<Item> = Vec::new();
        // The beginning of what the previous token has become.
        let mut start = 0;
        let mut skipped = 0;
        for (at, kind) in found.body.iter().enumerate() {
            let operator = found.pastes(at) && at > 0 && at + 2 < found.body.len();
            if operator || skipped > 0 {
                skipped = if operator { 1 } else { skipped - 1 };
                continue;
            }
            let pasted = at > 2 && found.pastes(at - 2);
            let name = macro_name(kind);
            let arg = name
                .and_then(|name| params.iter().position(|param| &**param == name))
                .and_then(|i| args.get(i));
            let items: Vec<Item> = match arg {
                Some(arg) if pasted || found.pastes(at + 1) => arg.unexpanded.clone(),
                Some(arg) => arg.items(),
                None => vec![Item::Token {
                    token: found.placed(at, kind, use_span, false),
                    painted: false,
                }],
            };
            if pasted {
                paste(&mut body, start, items, name == Some(VARIADIC));
            } else {
                start = body.len();
                body.extend(items);
            }
            if body.len() > self.budget.tokens {
                return None;
            }
        }
        if let Some(Item::Token { token, .. }) = body.first_mut() {
            token.starts_line = starts_line;
        }
        Some(body)
    }

    fn unbalanced(&mut self, found: &Macro, token: &Token) {
        let name = &found.name;
        self.diags.push(
            Diagnostic::new(
                codes::E0001,
                token.span,
                format!("the call of the macro `{name}` has no closing `)`"),
            )
            .label("its arguments begin here")
            .help(format!("close the arguments: `{name}(…)`")),
        );
    }

    fn runaway(&mut self, use_span: Span, chain: &[Arc<str>], name: &Arc<str>) {
        (self.budget.tokens, self.budget.exceeded) = (0, true);
        self.budget.incomplete = true;
        // Only the first is reported.
        if std::mem::replace(&mut self.budget.reported, true) {
            return;
        }
        let mut names: Vec<&str> = chain.iter().map(|name| &**name).take(CHAIN).collect();
        if chain.len() > CHAIN {
            names.push("…");
        }
        names.push(name);
        self.diags.push(
            Diagnostic::new(
                codes::E0009,
                use_span,
                "the macros used here expand to too much text",
            )
            .label(format!("expanding `{name}`"))
            .note(format!("the chain of macros is {}", names.join(" → "))),
        );
    }
}

fn is_variadic(params: &[Arc<str>]) -> bool {
    params.last().is_some_and(|last| &**last == VARIADIC)
}

fn after_call(before: &[(Token, bool)]) -> bool {
    let last = before.last();
    last.is_some_and(|(token, _)| token.kind.is_keyword(Keyword::Call))
}

/// An argument of a macro call: as it is in the call, for `##`, and expanded.
struct Argument {
    unexpanded: Vec<Item>,
    expanded: Vec<(Token, bool)>,
}

impl Argument {
    fn items(&self) -> Vec<Item> {
        let item = |(token, painted): &(Token, bool)| Item::Token {
            token: token.clone(),
            painted: *painted,
        };
        self.expanded.iter().map(item).collect()
    }
}

/// Makes one argument, with commas, of those for `...`, the last of the parameters.
fn join_further(args: &mut Vec<Vec<Item>>, params: usize, use_span: Span) {
    if args.len() + 1 == params {
        args.push(Vec::new());
    }
    for more in args.split_off(params.min(args.len())) {
        let Some(last) = args.last_mut() else { return };
        last.push(Item::Token {
            token: placed(&TokenKind::Punct(Punct::Comma), use_span, false),
            painted: false,
        });
        last.extend(more);
    }
}

/// `##`: joins the end of `body`, whose left operand begins at `start`, and the items of the right
/// one. An operand without tokens changes nothing.
fn paste(body: &mut Vec<Item>, start: usize, items: Vec<Item>, variadic: bool) {
    let mut items = items.into_iter();
    let left = match body.last() {
        Some(Item::Token { token, .. }) if body.len() > start => token.clone(),
        _ => return body.extend(items),
    };
    // `, ## __VA_ARGS__`: a comma only before arguments, as compilers do.
    let comma = variadic && left.kind.is(Punct::Comma);
    match items.next() {
        None if comma => {
            body.pop();
        }
        Some(Item::Token { token, .. }) if !comma => {
            body.pop();
            body.push(Item::Token {
                token: Token {
                    kind: left.pasted(&token),
                    ..left
                },
                painted: false,
            });
        }
        first => body.extend(first),
    }
    body.extend(items);
}

/// The text of a token that may be the name of a macro: any word, reserved or not.
fn macro_name(kind: &TokenKind) -> Option<&str> {
    match kind {
        TokenKind::Word(text) => Some(text),
        TokenKind::Keyword(keyword) => Some(keyword.text()),
        TokenKind::Type(elem) => Some(elem.text()),
        _ => None,
    }
}

/// The token that replaces a macro call that could not be expanded.
fn stand_in(span: Span, starts_line: bool) -> Token {
    placed(
        &TokenKind::Int {
            value: 1,
            unsigned: false,
            long: false,
        },
        span,
        starts_line,
    )
}

fn ends_statement(item: &Item) -> bool {
    match item {
        Item::Token { token, .. } => matches!(
            token.kind,
            TokenKind::Punct(Punct::Semi | Punct::LBrace | Punct::RBrace)
        ),
        Item::End(_) => false,
    }
}

fn next_is_open(work: &[Item]) -> bool {
    work.iter()
        .rev()
        .find_map(|item| match item {
            Item::Token { token, .. } => Some(token.kind.is(Punct::LParen)),
            Item::End(_) => None,
        })
        .unwrap_or(false)
}
