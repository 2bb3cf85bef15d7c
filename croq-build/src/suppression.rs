//! Comments that allow a warning or a note in a part of a file:
//! `// croq: allow(W0620, W0209) reason`.
//!
//! Such a comment concerns the statement or the function that begins at the next code, and all of the
//! file if it is at its head, with an empty line below. Everything of these codes that is reported
//! there is left out. What a comment lists is *judged*, that is, reported if it suppresses nothing,
//! unless that depends on more than the file: its code may not be compiled, or the warning may come
//! from nvcc.

use std::collections::{HashMap, HashSet};

use crate::diagnostics::levels::{NoSelection, Selection};
use crate::diagnostics::{Diagnostic, Diagnostics, codes, nearest};
use crate::source::comments::{self, Place, Request};
use crate::source::{SourceFile, Span};
use crate::syntax::ast::{Function, Stmt};

/// Codes whose reports depend on the target architectures or on a C++ compiler.
const OF_THE_BUILD: [&str; 6] = ["N0510", "N0860", "N0904", "N0905", "W1112", "W1113"];

/// What the comments of a file allow.
#[derive(Default)]
pub struct Allowed(Vec<Entry>);

/// One code or group of a comment.
struct Entry {
    name: String,
    /// The name in the comment.
    span: Span,
    /// The comment's line, if this is the only entry.
    line: Option<Span>,
    selects: Selection,
    /// `None`: what follows is not compiled.
    scope: Option<Span>,
    used: bool,
}

impl std::fmt::Debug for Allowed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let entries = self.0.iter().map(|entry| (&entry.name, entry.scope));
        f.debug_list().entries(entries).finish()
    }
}

impl Allowed {
    /// Reads the comments of a file, and reports those that are malformed or at a wrong place.
    pub fn of(file: &SourceFile, tree: &[Function], diags: &mut Diagnostics) -> Self {
        let requests = comments::requests(&file.text);
        if requests.is_empty() {
            return Self::default();
        }
        let items = Items::of(file, tree);
        let mut entries = Vec::new();
        for request in &requests {
            let Some(list) = list(request, diags) else {
                continue;
            };
            let scope = match items.scope(request.place) {
                Ok(scope) => scope,
                Err(why) => {
                    diags.push(why.report(request.span));
                    continue;
                }
            };
            let before = entries.len();
            for (name, span) in list {
                match Selection::of(name) {
                    Ok(selects) => entries.push(Entry {
                        name: name.to_owned(),
                        span,
                        line: None,
                        selects,
                        scope,
                        used: false,
                    }),
                    Err(why) => diags.push(nothing_selected(why, name, span)),
                }
            }
            if let [only] = entries.get_mut(before..).unwrap_or_default() {
                only.line = Some(whole_line(&file.text, request.span));
            }
        }
        Self(entries)
    }

    /// Removes what the comments allow.
    pub fn suppress(&mut self, diagnostics: &mut Vec<Diagnostic>) {
        if self.0.is_empty() {
            return;
        }
        diagnostics.retain(|diagnostic| {
            let at = diagnostic.primary.span.start;
            let mut allowed = false;
            for entry in &mut self.0 {
                let inside = |scope: Span| scope.start <= at && at < scope.end;
                if entry.scope.is_some_and(inside) && entry.selects.has(diagnostic.code.text()) {
                    entry.used = true;
                    allowed = true;
                }
            }
            !allowed
        });
    }

    /// Reports the entries that have suppressed nothing.
    pub fn unused(&mut self) -> Vec<Diagnostic> {
        let unused = self
            .0
            .iter()
            .filter(|entry| !entry.used && entry.is_judged());
        let mut reports: Vec<Diagnostic> = unused.map(Entry::suppresses_nothing).collect();
        self.suppress(&mut reports);
        reports
    }
}

impl Entry {
    fn is_judged(&self) -> bool {
        let own = self.selects.has(codes::W0024.text());
        let of_the_build = OF_THE_BUILD.iter().any(|code| self.selects.has(code));
        self.scope.is_some() && !own && !of_the_build
    }

    fn suppresses_nothing(&self) -> Diagnostic {
        let name = &self.name;
        let report = Diagnostic::new(
            codes::W0024,
            self.span,
            format!("`{name}` is allowed here, but nothing reports it"),
        )
        .label("suppresses nothing")
        .help("remove it");
        match self.line {
            Some(line) => report.suggest(line, ""),
            None => report,
        }
    }
}

/// The codes and groups that a comment lists; `None`, perhaps with a report, if it lists none.
fn list<'t>(request: &Request<'t>, diags: &mut Diagnostics) -> Option<Vec<(&'t str, Span)>> {
    const FORM: &str = "write `// croq: allow(CODE) reason`";
    let malformed = |what: &str| {
        Diagnostic::new(codes::W0023, request.span, what)
            .label("has no effect")
            .help(FORM)
    };
    let text = request.text;
    let word_end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let (word, rest) = text.split_at(word_end.unwrap_or(text.len()));
    let rest = rest.trim_start();
    if !request.exact {
        if word == "allow" && rest.starts_with('(') {
            diags.push(malformed("a request begins with `croq:`"));
        }
        return None;
    }
    if word != "allow" {
        // Anything else may be a remark about croq.
        if nearest(word, ["allow"]).is_some() && rest.starts_with('(') {
            diags.push(malformed("the request that croq knows is `allow`"));
        }
        return None;
    }
    let inside = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    let Some((names, reason)) = inside else {
        diags.push(malformed("this `allow` has no codes in parentheses"));
        return None;
    };
    if names.contains(['\n', '\r']) {
        diags.push(malformed("an `allow` is on one line"));
        return None;
    }
    // Where the list is in the file.
    let start = request.span.end as usize - (text.len() - offset(text, names));
    let entries: Vec<(&str, Span)> = names
        .split(',')
        .map(|name| (name.trim(), start + offset(names, name.trim_start())))
        .map(|(name, at)| (name, Span::new(at as u32, (at + name.len()) as u32)))
        .collect();
    if entries.iter().any(|(name, _)| name.is_empty()) {
        diags.push(malformed("this `allow` lists no code"));
        return None;
    }
    if reason
        .trim_matches(|c: char| !c.is_alphanumeric())
        .is_empty()
    {
        let named = names.trim();
        diags.push(
            Diagnostic::new(codes::W0022, request.span, "this `allow` gives no reason")
                .label("why is the warning wrong here?")
                .help(format!(
                    "write it after the codes: `// croq: allow({named}) …`"
                )),
        );
    }
    Some(entries)
}

/// The position of a part of a text in it.
fn offset(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

fn nothing_selected(why: NoSelection, name: &str, span: Span) -> Diagnostic {
    let label = match why {
        NoSelection::OfError => "cannot be allowed",
        NoSelection::Unknown { .. } => "allows nothing",
    };
    Diagnostic::new(codes::W0023, span, why.message(name))
        .label(label)
        .help(why.help())
}

/// From the beginning of the comment's line to that of the next one.
fn whole_line(text: &str, comment: Span) -> Span {
    let (start, end) = (comment.start as usize, comment.end as usize);
    let before = text.get(..start).unwrap_or_default();
    let rest = text.get(end..).unwrap_or_default();
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let next = rest.find('\n').map_or(text.len(), |at| end + at + 1);
    Span::new(line as u32, next as u32)
}

/// Why a comment concerns nothing.
enum Misplaced {
    NothingFollows,
    AfterCode,
    Block,
}

impl Misplaced {
    fn report(&self, at: Span) -> Diagnostic {
        let (message, help) = match self {
            Self::NothingFollows => (
                "no statement and no function begins below this `allow`",
                "put it directly above one; for the whole file, at its head with an empty line below",
            ),
            Self::AfterCode => (
                "an `allow` behind code concerns nothing",
                "put it on a line of its own, above the statement",
            ),
            Self::Block => (
                "an `allow` is a `//` comment",
                "write `// croq: allow(CODE) reason` on a line of its own, above the statement",
            ),
        };
        Diagnostic::new(codes::W0024, at, message)
            .label("suppresses nothing")
            .help(help)
    }
}

/// The statements and functions of a file.
struct Items<'f> {
    file: &'f SourceFile,
    /// The end of the longest statement that begins at an offset.
    statements: HashMap<u32, u32>,
    /// Where the tokens of functions begin.
    tokens: HashSet<u32>,
}

impl<'f> Items<'f> {
    fn of(file: &'f SourceFile, tree: &[Function]) -> Self {
        let mut items = Self {
            file,
            statements: HashMap::new(),
            tokens: HashSet::new(),
        };
        for function in tree {
            items.statements_of(&function.body);
        }
        for function in &file.functions {
            let starts = function.tokens.iter().map(|token| token.span.start);
            items.tokens.extend(starts);
        }
        items
    }

    fn statements_of(&mut self, statements: &[Stmt]) {
        for statement in statements {
            let Span { start, end, .. } = statement.span;
            let longest = self.statements.entry(start).or_insert(end);
            *longest = end.max(*longest);
            for block in statement.kind.blocks() {
                self.statements_of(&block.stmts);
            }
        }
    }

    /// The part of the file that a comment concerns; `None` if that is not compiled.
    fn scope(&self, place: Place) -> Result<Option<Span>, Misplaced> {
        let at = match place {
            // A report on the file as a whole is at its first byte, even if there is none.
            Place::HeadOfFile => return Ok(Some(Span::new(0, u32::MAX))),
            Place::Above(None) => return Err(Misplaced::NothingFollows),
            Place::Above(Some(at)) => at,
            Place::AfterCode => return Err(Misplaced::AfterCode),
            Place::Block => return Err(Misplaced::Block),
        };
        let inside = |span: &Span| span.start <= at && at < span.end;
        if self.file.dead_branches.iter().any(inside) {
            return Ok(None);
        }
        let functions = self.file.functions.iter().map(|function| function.span);
        let templates = self.file.templates.iter().map(|t| t.function.span);
        let within = |span: Span| span.start < at && at < span.end;
        if functions.chain(templates).any(within) {
            return match self.statements.get(&at) {
                Some(end) => Ok(Some(Span::new(at, *end))),
                None if self.tokens.contains(&at) => Err(Misplaced::NothingFollows),
                None => Ok(None),
            };
        }
        let code = self.file.text.get(at as usize..).unwrap_or_default();
        match code.chars().next() {
            None | Some('#' | '}' | ')') => Err(Misplaced::NothingFollows),
            Some(_) => Ok(Some(Span::new(
                at,
                comments::end_of_item(&self.file.text, at),
            ))),
        }
    }
}
