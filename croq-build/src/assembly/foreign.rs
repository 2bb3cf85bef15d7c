//! `asm` statements in C++ of the user's.

use std::ops::Range;

use super::Value;
use super::template::Template;

/// An `asm` statement of a C++ text, without its `;`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// Its bytes in the text.
    pub range: Range<usize>,
    /// `None` if it is not made of string literals.
    template: Option<String>,
    /// The names of the operands in brackets: outputs, then inputs.
    names: Vec<Option<String>>,
    operands: Vec<Value>,
}

impl Foreign {
    /// The C++ expression that does the same on the simulated GPU, or ends the call there.
    pub fn simulated(&self) -> String {
        self.translated()
            .unwrap_or_else(|what| super::unknown(&what, &self.operands))
    }

    fn translated(&self) -> Result<String, String> {
        let unknown = || "text that is not a literal".to_owned();
        let text = self.template.as_deref().ok_or_else(unknown)?;
        let names: Vec<Option<&str>> = self.names.iter().map(Option::as_deref).collect();
        let template = Template::parse(text, &names).map_err(|_| text.trim().to_owned())?;
        super::translated(&template, &self.operands)
    }
}

/// The `asm` statements of a C++ text, in order.
pub fn statements(text: &str) -> Vec<Foreign> {
    let mut found = Vec::new();
    let mut walk = Walk { text, at: 0 };
    while let Some(piece) = walk.next() {
        if let Piece::Word("asm" | "__asm__" | "__asm") = piece.0
            && let Some(statement) = statement(&mut walk, piece.1)
        {
            found.push(statement);
        }
    }
    found
}

fn statement(walk: &mut Walk<'_>, start: usize) -> Option<Foreign> {
    loop {
        match walk.next()?.0 {
            Piece::Word("volatile" | "__volatile__" | "inline" | "__inline__") => {}
            Piece::Sign('(') => break,
            _ => return None,
        }
    }
    // The sections, in pieces with their depths.
    let mut sections: Vec<Vec<(Piece<'_>, Range<usize>, usize)>> = vec![Vec::new()];
    let mut depth = 0usize;
    loop {
        let (piece, from) = walk.next()?;
        match piece {
            Piece::Sign(')') if depth == 0 => break,
            Piece::Sign(')' | ']' | '}') => depth = depth.saturating_sub(1),
            Piece::Sign(':') if depth == 0 => {
                sections.push(Vec::new());
                continue;
            }
            _ => {}
        }
        let item = (piece, from..walk.at, depth);
        if let Piece::Sign('(' | '[' | '{') = piece {
            depth += 1;
        }
        sections.last_mut()?.push(item);
    }
    let mut sections = sections.into_iter();
    let mut template = Some(String::new());
    for (piece, ..) in sections.next()? {
        match (piece, &mut template) {
            (Piece::Text(part), Some(text)) => text.push_str(&unescaped(part)),
            _ => template = None,
        }
    }
    let (mut names, mut operands) = (Vec::new(), Vec::new());
    for section in sections.take(2) {
        for operand in section.split(|(piece, _, depth)| *depth == 0 && *piece == Piece::Sign(','))
        {
            if operand.is_empty() {
                continue;
            }
            let name = match operand {
                [(Piece::Sign('['), ..), (Piece::Word(name), ..), ..] => Some((*name).to_owned()),
                _ => None,
            };
            let mut signs = operand.iter().filter(|(_, _, depth)| *depth == 0);
            let open = signs.find(|(piece, ..)| *piece == Piece::Sign('('))?;
            let last = operand.last()?;
            let text = walk.text.get(open.1.start..last.1.end)?.to_owned();
            let is_constant = operand.iter().any(|(piece, ..)| *piece == Piece::Text("n"));
            names.push(name);
            operands.push(Value { text, is_constant });
        }
    }
    Some(Foreign {
        range: start..walk.at,
        template,
        names,
        operands,
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece<'t> {
    Word(&'t str),
    /// What stands between the quotes of a string.
    Text(&'t str),
    /// Anything else, without blanks and comments.
    Sign(char),
}

struct Walk<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Walk<'t> {
    /// The next piece and where it begins.
    fn next(&mut self) -> Option<(Piece<'t>, usize)> {
        loop {
            let rest = self.text.get(self.at..)?;
            let first = rest.chars().next()?;
            let start = self.at;
            if first.is_whitespace() || first == '\\' {
                self.at += first.len_utf8();
            } else if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                self.at += rest.find("*/").map_or(rest.len(), |end| end + 2);
            } else if first == '"' {
                let body = rest.get(1..)?;
                let length = quoted(body, '"');
                self.at += (length + 2).min(rest.len());
                return Some((Piece::Text(body.get(..length)?), start));
            } else if first == '\'' {
                let body = rest.get(1..)?;
                self.at += (quoted(body, '\'') + 2).min(rest.len());
                return Some((Piece::Sign('\''), start));
            } else if let Some(raw) = rest.strip_prefix("R\"") {
                let (delimiter, body) = raw.split_once('(')?;
                let end = format!("){delimiter}\"");
                let length = body.find(&end)?;
                self.at += 2 + delimiter.len() + 1 + length + end.len();
                // Not unescaped; PTX has no backslashes.
                return Some((Piece::Text(body.get(..length)?), start));
            } else if first.is_alphanumeric() || first == '_' {
                let word = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
                let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
                self.at += end;
                return Some((Piece::Word(rest.get(..end)?), start));
            } else {
                self.at += first.len_utf8();
                return Some((Piece::Sign(first), start));
            }
        }
    }
}

/// The length of a literal up to its closing quote.
fn quoted(body: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        if !escaped && c == quote {
            return at;
        }
        escaped = !escaped && c == '\\';
    }
    body.len()
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some('\n') | None => {}
                Some(other) => out.push(other),
            },
            (c, false) => out.push(c),
        }
    }
    out
}
