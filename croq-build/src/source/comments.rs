//! The comments of a file that concern croq itself: `// croq: allow(W0620) reason`.

use super::Span;
use super::raw::{Raw, RawText};

/// A comment that begins with `croq:`, or with what may be meant as that: `Croq:`, `croq :`.
#[derive(Debug, PartialEq, Eq)]
pub struct Request<'t> {
    pub span: Span,
    /// Whether it is `croq:` exactly. Otherwise the comment is no request, and perhaps no attempt at one.
    pub exact: bool,
    /// The text after `croq:`, of a comment of one line without line ends.
    pub text: &'t str,
    pub place: Place,
}

/// Where such a comment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A `//` comment before all code, with an empty line below its block of comments.
    HeadOfFile,
    /// A `//` comment on a line of its own. The next code begins at this offset, unless there is none.
    Above(Option<u32>),
    /// Code precedes it on its line.
    AfterCode,
    /// A `/* */` comment.
    Block,
}

/// The requests of a text, in order.
pub fn requests(text: &str) -> Vec<Request<'_>> {
    let mut words = text.as_bytes().windows(NAME.len());
    if !words.any(|word| word.eq_ignore_ascii_case(NAME.as_bytes())) {
        return Vec::new();
    }
    let mut first_code = RawText::new(text, 0, text.len());
    first_code.skip_blanks();
    let mut found = Vec::new();
    for (start, end) in comments(text) {
        let Some(comment) = text.get(start..end) else {
            continue;
        };
        let block = comment.starts_with("/*");
        let inner = comment.trim_start_matches(['/', '*', '!']).trim_start();
        let Some((exact, request)) = after_mark(inner) else {
            continue;
        };
        let span = Span::new(start as u32, (start + comment.trim_end().len()) as u32);
        let line = text.get(..start).unwrap_or_default();
        let before = line.rsplit('\n').next().unwrap_or_default();
        let place = if block {
            Place::Block
        } else if !before.trim().is_empty() {
            Place::AfterCode
        } else if start < first_code.pos && is_apart(text.get(end..).unwrap_or_default()) {
            Place::HeadOfFile
        } else {
            Place::Above(next_code(text, end))
        };
        found.push(Request {
            span,
            exact,
            text: request.trim(),
            place,
        });
    }
    found
}

const NAME: &str = "croq";

/// What follows `croq:` at the beginning of a comment, and whether the mark is exact.
fn after_mark(comment: &str) -> Option<(bool, &str)> {
    let (name, rest) = comment.split_at_checked(NAME.len())?;
    if !name.eq_ignore_ascii_case(NAME) {
        return None;
    }
    let after = rest.trim_start_matches([' ', '\t', '-', '=']);
    let (colon, request) = match after.strip_prefix(':') {
        Some(request) => (true, request),
        None => (false, after),
    };
    let exact = name == NAME && colon && rest.starts_with(':');
    // `croqtile` is another word.
    let apart = colon || after.len() < rest.len();
    apart.then_some((exact, request))
}

/// The ranges of all comments outside of strings.
fn comments(text: &str) -> Vec<(usize, usize)> {
    let mut walk = RawText::new(text, 0, text.len());
    walk.comments = Some(Vec::new());
    while walk.next_raw().is_some() {}
    walk.comments.unwrap_or_default()
}

/// Whether the lines after a comment are further `//` comments up to an empty line, or to the end.
fn is_apart(rest: &str) -> bool {
    let mut lines = rest.lines().skip(1).map(str::trim);
    lines
        .find(|line| !line.starts_with("//"))
        .is_none_or(str::is_empty)
}

fn next_code(text: &str, after: usize) -> Option<u32> {
    let mut walk = RawText::new(text, after, text.len());
    walk.skip_blanks();
    (walk.pos < walk.limit).then_some(walk.pos as u32)
}

/// The end of the declaration or the C++ statement that begins at `start`: its `;`, or the `}` of its
/// block with those of `else`.
pub fn end_of_item(text: &str, start: u32) -> u32 {
    let mut walk = RawText::new(text, start as usize, text.len());
    let mut depth = 0usize;
    loop {
        let Some(raw) = walk.next_raw() else {
            return text.len() as u32;
        };
        let Raw::Byte(byte, at) = raw else { continue };
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            b'}' if depth == 0 => return at as u32,
            b'}' => depth -= 1,
            b';' if depth == 0 => return at as u32 + 1,
            _ => {}
        }
        if byte == b'}' && depth == 0 {
            let end = walk.pos;
            match walk.next_raw() {
                Some(Raw::Word("else", _)) => {}
                Some(Raw::Byte(b';', at)) => return at as u32 + 1,
                Some(Raw::Byte(b'=' | b',', _)) => {}
                _ => return end as u32,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str) -> Vec<Place> {
        requests(text)
            .into_iter()
            .map(|found| found.place)
            .collect()
    }

    #[test]
    fn only_comments_are_read() {
        let text = "x = \"// croq: a\"; y = '\\''; z = 1'0; // croq: b\n/* // croq: c\n // croq: d */\n\
                    R\"(\n// croq: e\n)\";\n  //croq:f \r\nw;\n// note: croq: g\n";
        let found = requests(text);
        let texts: Vec<&str> = found.iter().map(|found| found.text).collect();
        assert_eq!(texts, ["b", "f"]);
        assert!(found.iter().all(|found| found.exact));
        let next = text.find("w;").map(|at| at as u32);
        assert_eq!(found[0].place, Place::AfterCode);
        assert_eq!(found[1].place, Place::Above(next));
        assert!(text[found[1].span.start as usize..].starts_with("//croq:f"));
        assert_eq!(found[1].span.end - found[1].span.start, 8);
    }

    #[test]
    fn what_resembles_a_request_is_known_as_not_exact() {
        let text = "// Croq: a\n// croq : b\n// CROQ c\n// croqtile: d\n// croq\n// croq: e\n";
        let found = requests(text);
        let found: Vec<(bool, &str)> = found
            .iter()
            .map(|found| (found.exact, found.text))
            .collect();
        assert_eq!(
            found,
            [(false, "a"), (false, "b"), (false, "c"), (true, "e")]
        );
    }

    #[test]
    fn the_head_of_a_file_is_followed_by_an_empty_line() {
        use Place::*;
        assert_eq!(places("// a\n// croq: x\n// b\n\nint y;"), [HeadOfFile]);
        assert_eq!(places("// croq: x\r\n\r\nint y;"), [HeadOfFile]);
        assert_eq!(places("// croq: x\nint y;"), [Above(Some(11))]);
        assert_eq!(places("int y;\n// croq: x\n\n"), [Above(None)]);
        assert_eq!(places("/* croq: x */\n\nint y;"), [Block]);
        assert_eq!(places("// croq: x"), [HeadOfFile]);
    }

    #[test]
    fn items_end_at_their_semicolon_or_brace() {
        let end = |text: &'static str| &text[..end_of_item(text, 0) as usize];
        assert_eq!(end("a(1; 2); b;"), "a(1; 2);");
        assert_eq!(end("f() { a; } b;"), "f() { a; }");
        assert_eq!(
            end("if (a) { b; } else { c; } d;"),
            "if (a) { b; } else { c; }"
        );
        assert_eq!(end("struct s { int x; }; b;"), "struct s { int x; };");
        assert_eq!(end("a"), "a");
        assert_eq!(end("a }"), "a ");
    }
}
