//! `#pragma croq intrinsic NAME…`, `… intrinsic prefix P` and `… intrinsic namespace N`.

use super::Span;
use super::directive::Line;
use crate::diagnostics::{Diagnostic, Diagnostics, codes};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntrinsicKind {
    /// Identifiers that start with the name.
    Prefix,
    /// Identifiers qualified by the name.
    Namespace,
    /// The name itself.
    Name,
}

/// One registration, and the range of the file in which it applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intrinsic {
    pub kind: IntrinsicKind,
    pub name: String,
    pub span: Span,
    pub scope: Span,
}

impl Intrinsic {
    /// Whether this registration allows a call of `callee` at byte `at`.
    pub fn covers(&self, callee: &str, at: u32) -> bool {
        if at < self.scope.start || at >= self.scope.end {
            return false;
        }
        match self.kind {
            IntrinsicKind::Prefix => callee.starts_with(&self.name),
            IntrinsicKind::Namespace => callee
                .strip_prefix(&self.name)
                .is_some_and(|rest| rest.starts_with("::")),
            IntrinsicKind::Name => callee == self.name,
        }
    }
}

/// Reads a `#pragma`. `None`: it is not croq's. What is malformed is reported, and registers nothing.
pub fn read_pragma(line: &Line, diags: &mut Diagnostics) -> Option<Vec<(IntrinsicKind, String)>> {
    let text = line.rest.split("//").next().unwrap_or("");
    let text = text.split("/*").next().unwrap_or("");
    let mut words = text.split([' ', '\t', ',']).filter(|word| !word.is_empty());
    let owner = words.next()?;
    if owner != "croq" && owner != "choreo" {
        return None;
    }
    let fault = match words.next() {
        Some("intrinsic") => None,
        Some(other) => Some((
            format!("unknown `#pragma {owner} {other}`"),
            "no such pragma",
        )),
        None => Some((
            format!("`#pragma {owner}` says nothing"),
            "a keyword is missing",
        )),
    };
    let registered = match fault {
        Some(fault) => Err(fault),
        None => registered(words),
    };
    match registered {
        Ok(names) => Some(
            names
                .into_iter()
                .filter(|(_, name)| !report_reserved(name, line, diags))
                .collect(),
        ),
        Err((message, label)) => {
            diags.push(
                Diagnostic::new(codes::E0012, line.span, message)
                    .label(label)
                    .help(format!(
                        "the spellings are `#pragma {owner} intrinsic NAME …`, `… intrinsic prefix NAME` and `… intrinsic namespace NAME`"
                    )),
            );
            Some(Vec::new())
        }
    }
}

/// What the words after `intrinsic` register; an error is a message and a label.
fn registered<'t>(
    mut words: impl Iterator<Item = &'t str>,
) -> Result<Vec<(IntrinsicKind, String)>, (String, &'static str)> {
    let kind = match words.next() {
        Some("prefix") => IntrinsicKind::Prefix,
        Some("namespace") => IntrinsicKind::Namespace,
        Some(first) => {
            let names: Vec<&str> = std::iter::once(first).chain(words).collect();
            return match names.iter().find(|name| !is_qualified(name)) {
                Some(wrong) => Err((format!("`{wrong}` is no name"), "not an identifier")),
                None => {
                    let named = |name: &&str| (IntrinsicKind::Name, (*name).to_owned());
                    Ok(names.iter().map(named).collect())
                }
            };
        }
        None => {
            let message = "the names of the intrinsics are missing".to_owned();
            return Err((message, "names belong here"));
        }
    };
    let Some(name) = words.next() else {
        let message = "the name of the intrinsics is missing".to_owned();
        return Err((message, "a name belongs here"));
    };
    let well_formed = match kind {
        IntrinsicKind::Prefix => is_name(name),
        _ => is_qualified(name),
    };
    if !well_formed {
        return Err((format!("`{name}` is no name"), "not an identifier"));
    }
    match words.next() {
        Some(extra) => Err((
            format!("unexpected `{extra}` after the name"),
            "one name per pragma",
        )),
        None => Ok(vec![(kind, name.to_owned())]),
    }
}

fn is_name(part: &str) -> bool {
    let mut bytes = part.bytes();
    bytes.next().is_some_and(super::cursor::is_word_start) && bytes.all(super::cursor::is_word_byte)
}

/// Whether a text is an identifier, or several with `::` between them.
pub fn is_qualified(name: &str) -> bool {
    name.split("::").all(is_name)
}

/// Reports names that are croq's own. Whether it is one.
fn report_reserved(name: &str, line: &Line, diags: &mut Diagnostics) -> bool {
    let root = name.split("::").next().unwrap_or(name);
    if root != "croq" && root != "choreo" {
        return false;
    }
    diags.push(
        Diagnostic::new(
            codes::E0013,
            line.span,
            format!("`{name}` is reserved and registers no intrinsics"),
        )
        .label("reserved")
        .help(format!(
            "functions of `{root}::` are called with `call {root}::…`"
        )),
    );
    true
}
