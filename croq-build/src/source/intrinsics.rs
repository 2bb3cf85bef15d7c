//! `#pragma croq intrinsic prefix P` and `#pragma croq intrinsic namespace N`.

use super::Span;
use super::directive::Line;
use crate::diagnostics::{Diagnostic, Diagnostics, codes};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntrinsicKind {
    /// Identifiers that start with the name.
    Prefix,
    /// Identifiers qualified by the name.
    Namespace,
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
        }
    }
}

/// Reads a `#pragma`. The outer `None`: it is not croq's. The inner `None`: it is malformed and was
/// reported.
pub fn read_pragma(
    line: &Line,
    diags: &mut Diagnostics,
) -> Option<Option<(IntrinsicKind, String)>> {
    let text = line.rest.split("//").next().unwrap_or("");
    let text = text.split("/*").next().unwrap_or("");
    let mut words = text.split_whitespace();
    let owner = words.next()?;
    if owner != "croq" && owner != "choreo" {
        return None;
    }
    let accepted = format!(
        "the spellings are `#pragma {owner} intrinsic prefix NAME` and `#pragma {owner} intrinsic namespace NAME`"
    );
    let mut malformed = |message: String, label: &str| {
        diags.push(
            Diagnostic::new(codes::E0012, line.span, message)
                .label(label)
                .help(accepted.clone()),
        );
        Some(None)
    };
    match words.next() {
        Some("intrinsic") => {}
        Some(other) => {
            return malformed(
                format!("unknown `#pragma {owner} {other}`"),
                "no such pragma",
            );
        }
        None => {
            return malformed(
                format!("`#pragma {owner}` says nothing"),
                "a keyword is missing",
            );
        }
    }
    let kind = match words.next() {
        Some("prefix") => IntrinsicKind::Prefix,
        Some("namespace") => IntrinsicKind::Namespace,
        Some(other) => {
            return malformed(
                format!("intrinsics are registered by `prefix` or `namespace`, not by `{other}`"),
                "unknown keyword",
            );
        }
        None => {
            return malformed(
                "intrinsics are registered by `prefix` or `namespace`".into(),
                "neither is here",
            );
        }
    };
    let Some(name) = words.next() else {
        return malformed(
            "the name of the intrinsics is missing".into(),
            "a name belongs here",
        );
    };
    let is_name = |part: &str| {
        part.bytes()
            .next()
            .is_some_and(super::cursor::is_word_start)
            && part.bytes().all(super::cursor::is_word_byte)
    };
    let well_formed = match kind {
        IntrinsicKind::Prefix => is_name(name),
        IntrinsicKind::Namespace => name.split("::").all(is_name),
    };
    if !well_formed {
        return malformed(format!("`{name}` is no name"), "not an identifier");
    }
    if let Some(extra) = words.next() {
        return malformed(
            format!("unexpected `{extra}` after the name"),
            "one name per pragma",
        );
    }
    let root = name.split("::").next().unwrap_or(name);
    if root == "croq" || root == "choreo" {
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
        return Some(None);
    }
    Some(Some((kind, name.to_string())))
}
