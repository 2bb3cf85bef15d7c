//! The values that a file declares tunable: `// croq: tune TILE_K in 32, 64, 128` above
//! `#define TILE_K 64`, or above a template with the parameter `int TILE_K = 64`.
//!
//! Choosing other values gives another text, in which they replace the literals of the definitions.
//! Everything after this sees only that text, so that a chosen value means the same as one that the
//! file's author has written.

use std::ops::Range;

use super::Span;
use super::comments::{self, Place, Request};
use super::cursor::{is_word_byte, is_word_start};
use super::directive::{Definition, Line};
use super::raw::{Raw, RawText};
use crate::diagnostics::{Diagnostic, Diagnostics, codes, nearest};

/// One definition with several values to choose from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tunable {
    pub name: String,
    /// The value in the file.
    pub own: i64,
    /// The values of the comment, in its order.
    pub values: Vec<i64>,
    /// The literal in the file.
    pub literal: Range<usize>,
    /// The comment.
    pub span: Span,
}

impl Tunable {
    /// The values to try: the file's own one first, then those of the comment.
    pub fn candidates(&self) -> Vec<i64> {
        let others = self.values.iter().copied();
        let others = others.filter(|value| *value != self.own);
        std::iter::once(self.own).chain(others).collect()
    }
}

/// What the comments of a text make tunable, in the order of the text. Comments without an effect
/// are reported.
pub fn tunables(text: &str, diags: &mut Diagnostics) -> Vec<Tunable> {
    let mut found: Vec<Tunable> = Vec::new();
    for request in comments::requests(text) {
        match tunable(text, &request) {
            None => {}
            Some(Err(report)) => diags.push(*report),
            Some(Ok(new)) => match found.iter().find(|known| known.name == new.name) {
                None => found.push(new),
                Some(first) => diags.push(
                    ineffective(
                        new.span,
                        format!("`{}` is tuned twice in this file", new.name),
                    )
                    .also(first.span, "the first comment")
                    .help("give one of the two another name: a chosen value has the name alone"),
                ),
            },
        }
    }
    found
}

/// The text with other values. A value is ignored if its name is not tunable.
pub fn with_values(text: &str, tunables: &[Tunable], values: &[(String, i64)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let mut replaced: Vec<(&Tunable, i64)> = Vec::new();
    for tunable in tunables {
        let value = values.iter().find(|(name, _)| *name == tunable.name);
        replaced.extend(value.map(|(_, value)| (tunable, *value)));
    }
    // A definition may be above one whose comment comes first.
    replaced.sort_by_key(|(tunable, _)| tunable.literal.start);
    for (tunable, value) in replaced {
        out.push_str(text.get(at..tunable.literal.start).unwrap_or_default());
        out.push_str(&value.to_string());
        at = tunable.literal.end.max(at);
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

const FORM: &str = "write `// croq: tune NAME in 32, 64` above `#define NAME 64`, or above a template with `int NAME = 64`";

fn ineffective(at: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(codes::W0025, at, message).label("tunes nothing")
}

/// `None` for a comment that is no `tune`.
fn tunable(text: &str, request: &Request<'_>) -> Option<Result<Tunable, Box<Diagnostic>>> {
    let mut words = request.text.split_whitespace();
    let word = words.next()?;
    if !request.exact {
        let meant = word == "tune" && words.nth(1) == Some("in");
        return meant.then(|| {
            let report = ineffective(request.span, "a request begins with `croq:`");
            Err(Box::new(report.help(FORM)))
        });
    }
    if word != "tune" {
        let listed = words.nth(1) == Some("in");
        let meant = listed && nearest(word, ["tune"]).is_some();
        return meant.then(|| {
            let report = ineffective(request.span, "the request that croq knows is `tune`");
            Err(Box::new(report.help(FORM)))
        });
    }
    let read = list(request).and_then(|(name, values)| {
        let target = target(text, request, name)?;
        Ok(Tunable {
            name: name.to_owned(),
            own: target.value,
            values,
            literal: target.literal,
            span: request.span,
        })
    });
    Some(read.map_err(Box::new))
}

/// The name and the values of a comment.
fn list<'t>(request: &Request<'t>) -> Result<(&'t str, Vec<i64>), Diagnostic> {
    let malformed = |what: String| ineffective(request.span, what).help(FORM);
    match request.place {
        Place::AfterCode => {
            return Err(malformed(
                "a `tune` behind code concerns nothing".to_owned(),
            ));
        }
        Place::Block => return Err(malformed("a `tune` is a `//` comment".to_owned())),
        Place::Above(_) | Place::HeadOfFile => {}
    }
    if request.text.contains(['\n', '\r']) {
        return Err(malformed("a `tune` is on one line".to_owned()));
    }
    let rest = request.text.trim_start_matches("tune").trim_start();
    let end = rest.find(|c: char| !c.is_ascii() || !is_word_byte(c as u8));
    let (name, rest) = rest.split_at(end.unwrap_or(rest.len()));
    if !name.bytes().next().is_some_and(is_word_start) {
        return Err(malformed("this `tune` has no name".to_owned()));
    }
    let listed = rest.trim_start().strip_prefix("in");
    let listed = listed.filter(|list| list.is_empty() || list.starts_with(char::is_whitespace));
    let Some(listed) = listed else {
        return Err(malformed(format!(
            "after `tune {name}` comes `in` and a list of values"
        )));
    };
    if listed.trim().is_empty() {
        return Err(malformed(format!("this `tune` lists no value of `{name}`")));
    }
    let mut values = Vec::new();
    for item in listed.split(',').map(str::trim) {
        let Some(value) = integer(item) else {
            let what = if item.is_empty() {
                "an empty item"
            } else {
                item
            };
            return Err(malformed(format!(
                "`{what}` in the list of `{name}` is no integer"
            )));
        };
        if values.contains(&value) {
            return Err(malformed(format!("the list of `{name}` has {value} twice")));
        }
        values.push(value);
    }
    Ok((name, values))
}

/// A literal of decimal or hexadecimal digits, perhaps negative.
fn integer(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let hexadecimal = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"));
    let (digits, base) = hexadecimal.map_or((digits, 10), |digits| (digits, 16));
    if !digits.starts_with(|c: char| c.is_digit(base)) {
        return None;
    }
    // `010` is 8 in C++.
    if base == 10 && digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    // Extents and template arguments have 32 bits.
    let value = i64::from(i32::try_from(i64::from_str_radix(digits, base).ok()?).ok()?);
    Some(if negative { -value } else { value })
}

/// The definition below a comment.
struct Target {
    value: i64,
    literal: Range<usize>,
}

fn target(text: &str, request: &Request<'_>, name: &str) -> Result<Target, Diagnostic> {
    let misplaced = |what: String| ineffective(request.span, what).help(FORM);
    let Place::Above(Some(at)) = request.place else {
        return Err(misplaced(format!(
            "no definition of `{name}` follows this `tune`"
        )));
    };
    let at = at as usize;
    let code = text.get(at..).unwrap_or_default();
    if code.starts_with('#') {
        return of_define(text, at, request, name);
    }
    let is_template = code
        .strip_prefix("template")
        .is_some_and(|rest| !rest.bytes().next().is_some_and(is_word_byte));
    if is_template {
        return of_template(text, at, request, name);
    }
    Err(misplaced(format!(
        "neither `#define {name}` nor a template is below this `tune`"
    )))
}

fn other_name(request: &Request<'_>, name: &str, found: &[&str]) -> Diagnostic {
    let listed: Vec<String> = found.iter().map(|found| format!("`{found}`")).collect();
    let what = match listed.as_slice() {
        [] => "nothing".to_owned(),
        listed => listed.join(", "),
    };
    let report = ineffective(
        request.span,
        format!("what is defined below is {what}, not `{name}`"),
    );
    match nearest(name, found.iter().copied()) {
        Some(meant) => report.help(format!("did you mean `{meant}`?")),
        None => report.help(FORM),
    }
}

fn no_literal(at: Range<usize>, request: &Request<'_>, name: &str) -> Diagnostic {
    ineffective(
        request.span,
        format!("the value of `{name}` is no integer literal"),
    )
    .also(Span::new(at.start as u32, at.end as u32), "this value")
    .help("define it as a number, such as 64")
}

fn of_define(
    text: &str,
    at: usize,
    request: &Request<'_>,
    name: &str,
) -> Result<Target, Diagnostic> {
    let line = Line::read(text, at, text.len());
    let definition = (line.name == "define")
        .then(|| Definition::read(&line))
        .flatten();
    let Some(definition) = definition else {
        return Err(other_name(request, name, &[]));
    };
    if definition.name != name {
        return Err(other_name(request, name, &[definition.name]));
    }
    let start = line.rest_start + line.rest.len() - definition.body.len();
    let body = without_comment(definition.body);
    let literal = trimmed(body, start);
    let value = text.get(literal.clone()).and_then(integer);
    match value.filter(|_| definition.params.is_none()) {
        Some(value) => Ok(Target { value, literal }),
        None => Err(no_literal(literal, request, name)),
    }
}

fn without_comment(body: &str) -> &str {
    let end = body.find("//").into_iter().chain(body.find("/*")).min();
    body.get(..end.unwrap_or(body.len())).unwrap_or(body)
}

/// The range of a text without the blanks around it; `start` is where it begins.
fn trimmed(text: &str, start: usize) -> Range<usize> {
    let from = start + text.len() - text.trim_start().len();
    from..from + text.trim().len()
}

fn of_template(
    text: &str,
    at: usize,
    request: &Request<'_>,
    name: &str,
) -> Result<Target, Diagnostic> {
    let params = parameters(text, at + "template".len());
    let mut names = Vec::new();
    for range in params {
        let param = text.get(range.clone()).unwrap_or_default();
        let (declared, default) = match param.split_once('=') {
            Some((declared, default)) => (declared, Some(default)),
            None => (param, None),
        };
        let found = declared.split_whitespace().next_back().unwrap_or_default();
        if found != name {
            names.push(found);
            continue;
        }
        let Some(default) = default else {
            let what = format!("the parameter `{name}` of this template has no default");
            return Err(ineffective(request.span, what).help(format!(
                "write `int {name} = 64`: instances that give no value have the chosen one"
            )));
        };
        let literal = trimmed(default, range.end - default.len());
        return match text.get(literal.clone()).and_then(integer) {
            Some(value) => Ok(Target { value, literal }),
            None => Err(no_literal(literal, request, name)),
        };
    }
    Err(other_name(request, name, &names))
}

/// The ranges of a template's parameters, from the position of its `<`.
fn parameters(text: &str, at: usize) -> Vec<Range<usize>> {
    let mut walk = RawText::new(text, at, text.len());
    let mut found = Vec::new();
    // A `<` or `>` in parentheses compares.
    let (mut start, mut parentheses) = (None, 0usize);
    while let Some(raw) = walk.next_raw() {
        let Raw::Byte(byte, position) = raw else {
            if start.is_none() {
                return Vec::new();
            }
            continue;
        };
        match (byte, start) {
            (b'(', _) => parentheses += 1,
            (b')', _) => parentheses = parentheses.saturating_sub(1),
            (b'<', None) => start = Some(position + 1),
            (_, None) => return Vec::new(),
            (b',', Some(from)) if parentheses == 0 => {
                found.push(from..position);
                start = Some(position + 1);
            }
            (b'>', Some(from)) if parentheses == 0 => {
                found.push(from..position);
                return found;
            }
            // The header ends with `>`; this is something else.
            (b'{' | b'}' | b';', _) => return Vec::new(),
            _ => {}
        }
    }
    Vec::new()
}

#[cfg(test)]
#[path = "tuning_tests.rs"]
mod tests;
