//! The words of a piece of the user's C++.

use std::borrow::Cow;

/// A piece of C++ text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece<'t> {
    /// An identifier or a keyword.
    Word(&'t str),
    /// A string, a character, a comment or a number.
    Opaque(&'t str),
    /// White space or punctuation.
    Other(char),
}

struct Pieces<'t> {
    rest: &'t str,
}

impl<'t> Iterator for Pieces<'t> {
    type Item = Piece<'t>;

    fn next(&mut self) -> Option<Piece<'t>> {
        let first = self.rest.chars().next()?;
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = if self.rest.starts_with("//") {
            self.rest.find('\n').unwrap_or(self.rest.len())
        } else if let Some(comment) = self.rest.strip_prefix("/*") {
            comment.find("*/").map_or(self.rest.len(), |at| at + 4)
        } else if first == '"' || first == '\'' {
            end_of_literal(self.rest, first)
        } else if is_word(first) {
            let end = self.rest.find(|c: char| {
                // `1'000`, `1.5f`
                let in_number = first.is_ascii_digit() && matches!(c, '.' | '\'');
                !is_word(c) && !in_number
            });
            end.unwrap_or(self.rest.len())
        } else {
            self.rest = self.rest.get(first.len_utf8()..).unwrap_or_default();
            return Some(Piece::Other(first));
        };
        let (piece, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        Some(match is_word(first) && !first.is_ascii_digit() {
            true => Piece::Word(piece),
            false => Piece::Opaque(piece),
        })
    }
}

fn end_of_literal(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The text with words replaced. Words after `.`, `->` and `::` are names of members and of
/// namespaces, and stay.
pub fn with_words<'t>(text: &'t str, meaning: impl Fn(&str) -> Option<String>) -> Cow<'t, str> {
    let mut out = String::with_capacity(text.len());
    let mut changed = false;
    let (mut before, mut last) = (' ', ' ');
    for piece in (Pieces { rest: text }) {
        let (was, shown) = match piece {
            Piece::Other(c) => {
                if !c.is_whitespace() {
                    (before, last) = (last, c);
                }
                out.push(c);
                continue;
            }
            Piece::Opaque(shown) => (None, shown),
            Piece::Word(word) => {
                let member = matches!((before, last), (_, '.') | ('-', '>') | (':', ':'));
                (Some(word).filter(|_| !member), word)
            }
        };
        (before, last) = (' ', ' ');
        match was.and_then(&meaning) {
            Some(meant) => {
                changed = true;
                out.push_str(&meant);
            }
            None => out.push_str(shown),
        }
    }
    match changed {
        true => Cow::Owned(out),
        false => Cow::Borrowed(text),
    }
}

/// Whether a word is used otherwise than as a variable: it is called, or a declaration follows.
pub fn is_type_or_function(text: &str, word: &str) -> bool {
    let mut pieces = (Pieces { rest: text }).filter(|piece| match piece {
        Piece::Other(c) => !c.is_whitespace(),
        _ => true,
    });
    while let Some(piece) = pieces.next() {
        if piece == Piece::Word(word) {
            match pieces.next() {
                Some(Piece::Other('(') | Piece::Word(_)) => return true,
                _ => continue,
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(text: &str) -> String {
        with_words(text, |word| (word == "x").then(|| "x_2".to_owned())).into_owned()
    }

    #[test]
    fn words_of_code_are_replaced() {
        assert_eq!(renamed("x[x] = xx + x_ + 1x;"), "x_2[x_2] = xx + x_ + 1x;");
        assert_eq!(renamed("p.x + p->x + n::x - x"), "p.x + p->x + n::x - x_2");
        assert_eq!(
            renamed("a > x, -x, c ? b : x"),
            "a > x_2, -x_2, c ? b : x_2"
        );
        assert_eq!(
            renamed("\"x\" 'x' /* x */ x // x\nx"),
            "\"x\" 'x' /* x */ x_2 // x\nx_2"
        );
        assert_eq!(renamed(r#""\"x" x"#), r#""\"x" x_2"#);
        assert_eq!(renamed("1.x 0x1 1'0 x"), "1.x 0x1 1'0 x_2");
        assert_eq!(renamed("\"x"), "\"x");
    }

    #[test]
    fn functions_and_types_are_no_variables() {
        for text in ["__v(1)", "__v (1)", "__v w;", "a + __v(b)"] {
            assert!(is_type_or_function(text, "__v"), "{text}");
        }
        for text in ["__v[1] = 2;", "a = __v;", "f(__v)", "\"__v(\"", "__vv(1)"] {
            assert!(!is_type_or_function(text, "__v"), "{text}");
        }
    }
}
