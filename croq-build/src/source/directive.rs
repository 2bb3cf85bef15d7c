//! Preprocessor lines: their syntax, and the state of nested `#if`s.

use super::Span;
use super::raw::RawText;

/// The directives that are recognised inside a function.
pub const KNOWN: [&str; 11] = [
    "define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "error", "include",
    "pragma",
];

/// One logical line that begins with `#`.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// `define`, `if`, …; empty for a lone `#`.
    pub name: &'a str,
    pub name_span: Span,
    /// The text after the name, with comments and line continuations.
    pub rest: &'a str,
    pub rest_start: usize,
    /// From the `#` to the end of the line, without the newline.
    pub span: Span,
    /// A backslash that does not continue the line because blanks follow it.
    pub broken_continuation: Option<Span>,
}

impl<'a> Line<'a> {
    /// Reads the line whose `#` is at `hash`.
    pub fn read(text: &'a str, hash: usize, limit: usize) -> Line<'a> {
        let mut walk = RawText::new(text, hash + 1, limit);
        while matches!(walk.byte(walk.pos), b' ' | b'\t') {
            walk.pos += 1;
        }
        let name_start = walk.pos;
        while super::cursor::is_word_byte(walk.byte(walk.pos)) {
            walk.pos += 1;
        }
        let name_end = walk.pos;
        let mut broken_continuation = None;
        loop {
            match walk.byte(walk.pos) {
                _ if walk.pos >= limit => break,
                b'\n' => break,
                b'/' if walk.byte(walk.pos + 1) == b'/' => {
                    walk.skip_line();
                    break;
                }
                b'/' if walk.byte(walk.pos + 1) == b'*' => {
                    walk.pos = super::lexer::block_comment_end(text.as_bytes(), walk.pos)
                        .unwrap_or(limit)
                        .min(limit);
                }
                quote @ (b'"' | b'\'') => {
                    // A single apostrophe as in `#error don't` does not begin a literal.
                    let mut end = walk.pos + 1;
                    while end < limit && !matches!(walk.byte(end), b'\n') && walk.byte(end) != quote
                    {
                        end += if walk.byte(end) == b'\\' && walk.byte(end + 1) == quote {
                            2
                        } else {
                            1
                        };
                    }
                    walk.pos = if walk.byte(end) == quote {
                        end + 1
                    } else {
                        walk.pos + 1
                    };
                }
                b'\\' => {
                    let mut after = walk.pos + 1;
                    while matches!(walk.byte(after), b' ' | b'\t' | b'\r') {
                        after += 1;
                    }
                    if walk.byte(after) == b'\n' && after < limit {
                        let blanks = text.get(walk.pos + 1..after).unwrap_or("");
                        if blanks.is_empty() || blanks == "\r" {
                            walk.pos = after + 1;
                            continue;
                        }
                        broken_continuation = Some(Span::new(walk.pos as u32, after as u32));
                    }
                    walk.pos += 1;
                }
                _ => walk.pos += 1,
            }
        }
        let end = walk.pos;
        Line {
            name: text.get(name_start..name_end).unwrap_or(""),
            name_span: Span::new(name_start as u32, name_end as u32),
            rest: text.get(name_end..end).unwrap_or(""),
            rest_start: name_end,
            span: Span::new(hash as u32, end as u32),
            broken_continuation,
        }
    }
}

/// The name of the parameter `...`, which has all further arguments.
pub const VARIADIC: &str = "__VA_ARGS__";

/// The parts of `#define`: the name, its parameters, the replacement.
pub struct Definition<'a> {
    pub name: &'a str,
    pub name_span: Span,
    pub params: Option<Vec<&'a str>>,
    pub body: &'a str,
}

impl<'a> Definition<'a> {
    /// `None` if the line has no definition that can be expanded on tokens (a missing name, or a
    /// malformed parameter list).
    pub fn read(line: &Line<'a>) -> Option<Definition<'a>> {
        let rest = line.rest;
        let trimmed = rest.trim_start_matches([' ', '\t']);
        let name_at = rest.len() - trimmed.len();
        let name_len = trimmed
            .bytes()
            .take_while(|b| super::cursor::is_word_byte(*b))
            .count();
        let name = trimmed.get(..name_len)?;
        if !name
            .bytes()
            .next()
            .is_some_and(super::cursor::is_word_start)
        {
            return None;
        }
        let start = (line.rest_start + name_at) as u32;
        let name_span = Span::new(start, start + name_len as u32);
        let after = trimmed.get(name_len..)?;
        let Some(list) = after.strip_prefix('(') else {
            return Some(Definition {
                name,
                name_span,
                params: None,
                body: after,
            });
        };
        let close = list.find(')')?;
        let inner = list.get(..close)?;
        let mut params = Vec::new();
        if !inner.trim().is_empty() {
            for param in inner.split(',') {
                let mut param = param.trim_matches([' ', '\t', '\n', '\r', '\\']);
                if param == "..." {
                    param = VARIADIC;
                }
                // Nothing follows the parameter for all further arguments.
                if params.last() == Some(&VARIADIC) {
                    return None;
                }
                let is_name = param
                    .bytes()
                    .next()
                    .is_some_and(super::cursor::is_word_start)
                    && param.bytes().all(super::cursor::is_word_byte);
                if !is_name {
                    return None;
                }
                params.push(param);
            }
        }
        Some(Definition {
            name,
            name_span,
            params: Some(params),
            body: list.get(close + 1..)?,
        })
    }
}

/// One open `#if`.
#[derive(Clone, Copy, Debug)]
pub struct Branch {
    pub span: Span,
    /// Whether one of its branches was live.
    pub taken: bool,
    pub live: bool,
    pub seen_else: Option<Span>,
}

/// The directive in [`KNOWN`] of which `name` is probably a misspelling.
pub fn nearest(name: &str) -> Option<&'static str> {
    if name.len() < 3 {
        return None;
    }
    KNOWN
        .into_iter()
        .map(|known| (crate::diagnostics::edit_distance(name, known), known))
        .filter(|(distance, known)| *distance > 0 && *distance <= (known.len() / 3).max(1))
        .min()
        .map(|(_, known)| known)
}
