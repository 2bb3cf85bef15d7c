//! Whether a piece of the user's C++ is whole: what it opens it also closes, so that it cannot
//! change the meaning of the generated text behind it.

use crate::sorted::SortedSet;

/// What a text leaves open, or takes from the text around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Open {
    Bracket,
    /// A bracket that closes nothing.
    Closing,
    /// `/*` without `*/`, or a raw string without its end.
    Comment,
    RawString,
    /// A backslash at the end joins the next line.
    Line,
    /// `#if` without `#endif`, or the other way round.
    Conditional,
    /// `#define` without `#undef`.
    Macro(String),
    /// A macro that generated text needs is defined or undefined, so that it is lost.
    Reserved(String),
    /// A directive whose effect does not end, such as `#pragma GCC poison`.
    Pragma(String),
}

impl Open {
    /// Whether a text behind this one may close it.
    pub fn may_be_closed(&self) -> bool {
        !matches!(self, Self::Closing | Self::Reserved(_) | Self::Pragma(_))
    }
}

/// The first thing that a text leaves open. Of alternatives by `#if`, the brackets of all first
/// ones and those of all last ones are counted.
pub fn left_open(text: &str) -> Option<Open> {
    let plain = match plain(text) {
        Ok(plain) => plain,
        Err(open) => return Some(open),
    };
    let mut state = Directives::default();
    for line in plain.lines() {
        if let Err(open) = state.line(line) {
            return Some(open);
        }
    }
    let operator = plain.split("_Pragma").skip(1);
    if let Some(word) = operator.filter_map(|text| lasting(text)).next() {
        return Some(Open::Pragma(word.to_owned()));
    }
    if !state.alternatives.is_empty() {
        return Some(Open::Conditional);
    }
    if let Some(name) = state.defined.first() {
        return Some(Open::Macro(name.clone()));
    }
    [state.first, state.last].into_iter().find_map(|found| {
        let Brackets { closing, opening } = found;
        match (closing, opening) {
            (0, 0) => None,
            (0, _) => Some(Open::Bracket),
            _ => Some(Open::Closing),
        }
    })
}

/// The brackets that have no partner.
#[derive(Clone, Copy, Debug, Default)]
struct Brackets {
    /// Those that close.
    closing: usize,
    /// Those that open, after them.
    opening: usize,
}

impl Brackets {
    fn add(&mut self, line: &str) {
        // `<%` and `%>` are braces, and a `%>` that is none does not occur in C++.
        for c in line.replace("<%", "{").replace("%>", "}").chars() {
            match c {
                '{' | '(' | '[' => self.opening += 1,
                '}' | ')' | ']' if self.opening > 0 => self.opening -= 1,
                '}' | ')' | ']' => self.closing += 1,
                _ => {}
            }
        }
    }
}

/// One `#if` that is open.
struct Alternative {
    is_first: bool,
    /// The brackets before the alternatives, to count those of the last one.
    before: Brackets,
    seen_else: bool,
}

#[derive(Default)]
struct Directives {
    alternatives: Vec<Alternative>,
    defined: SortedSet<String>,
    /// With all first alternatives.
    first: Brackets,
    /// With all last ones; without `#else` the last one is empty.
    last: Brackets,
}

impl Directives {
    fn line(&mut self, line: &str) -> Result<(), Open> {
        let trimmed = line.trim_start();
        let Some(directive) = ["#", "%:"].iter().find_map(|m| trimmed.strip_prefix(m)) else {
            if self.alternatives.iter().all(|a| a.is_first) {
                self.first.add(line);
            }
            self.last.add(line);
            return Ok(());
        };
        let (name, rest) = word(directive);
        match name {
            "if" | "ifdef" | "ifndef" => self.alternatives.push(Alternative {
                is_first: true,
                before: self.last,
                seen_else: false,
            }),
            "elif" | "elifdef" | "elifndef" | "else" => {
                let innermost = self.alternatives.last_mut().ok_or(Open::Conditional)?;
                innermost.is_first = false;
                innermost.seen_else |= name == "else";
                self.last = innermost.before;
            }
            "endif" => {
                let innermost = self.alternatives.pop().ok_or(Open::Conditional)?;
                if !innermost.seen_else {
                    self.last = innermost.before;
                }
            }
            "define" | "undef" => {
                let (macro_name, _) = word(rest);
                if macro_name.starts_with("CROQ") || macro_name.starts_with("croq") {
                    return Err(Open::Reserved(macro_name.to_owned()));
                }
                if name == "define" {
                    self.defined.insert(macro_name.to_owned());
                } else {
                    self.defined.remove(macro_name);
                }
            }
            "pragma" => {
                if let Some(word) = lasting(rest) {
                    return Err(Open::Pragma(word.to_owned()));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// The word of a pragma that acts on names behind it.
fn lasting(pragma: &str) -> Option<&str> {
    let words = pragma.split(|c: char| !is_word(c));
    let mut words = words.filter(|word| !word.is_empty()).take(2);
    words.find(|word| matches!(*word, "poison" | "push_macro" | "pop_macro"))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The first word of a text, and the text behind it.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// The text without comments and without the contents of literals, except those of `_Pragma`, with
/// continued lines joined.
fn plain(text: &str) -> Result<String, Open> {
    let mut out = String::with_capacity(text.len());
    let mut rest = Rest { text };
    while let Some(c) = rest.next()? {
        match (c, rest.peek()) {
            ('/', Some('/')) => {
                while rest.peek().is_some_and(|c| c != '\n') {
                    rest.next()?;
                }
                // A comment that ends in a backslash takes the line behind the text.
                rest.joined()?;
            }
            ('/', Some('*')) => {
                rest.next()?;
                let mut last = ' ';
                loop {
                    match rest.next()?.ok_or(Open::Comment)? {
                        '/' if last == '*' => break,
                        c => last = c,
                    }
                }
                out.push(' ');
            }
            ('"', _) if is_raw(&out) => {
                let (tag, body) = rest.text.split_once('(').ok_or(Open::RawString)?;
                let close = format!("){tag}\"");
                let (_, behind) = body.split_once(&close).ok_or(Open::RawString)?;
                rest.text = behind;
                out.push_str("\"\"");
            }
            // `1'000`
            ('\'', Some(next)) if is_word(next) && ends_in_number(&out) => {}
            ('"' | '\'', _) => {
                let keeps = out.trim_end().ends_with("_Pragma(");
                while let Some(next) = rest.peek().filter(|next| *next != '\n') {
                    rest.next()?;
                    if next == c {
                        break;
                    }
                    if next == '\\' && rest.peek().is_some_and(|c| c != '\n') {
                        rest.next()?;
                    } else if keeps {
                        out.push(next);
                    }
                }
                out.push_str("\"\"");
            }
            _ => out.push(c),
        }
    }
    Ok(out)
}

/// Whether a quote behind this text begins a raw string.
fn is_raw(before: &str) -> bool {
    let start = before.trim_end_matches(is_word).len();
    let prefix = before.get(start..).unwrap_or_default();
    matches!(prefix, "R" | "LR" | "uR" | "UR" | "u8R")
}

fn ends_in_number(before: &str) -> bool {
    let start = before.trim_end_matches(is_word).len();
    let last = before.get(start..).unwrap_or_default();
    last.starts_with(|c: char| c.is_ascii_digit())
}

/// The text that is not read yet.
struct Rest<'t> {
    text: &'t str,
}

impl Rest<'_> {
    /// Skips continuations of the line.
    fn joined(&mut self) -> Result<(), Open> {
        while let Some(after) = self.text.strip_prefix('\\') {
            // Compilers also accept blanks behind the backslash.
            let after = after.trim_start_matches([' ', '\t', '\x0b', '\x0c']);
            let ends = ["\r\n", "\n", "\r"];
            let Some(next) = ends.iter().find_map(|end| after.strip_prefix(end)) else {
                return match after.is_empty() {
                    true => Err(Open::Line),
                    false => Ok(()),
                };
            };
            if next.is_empty() {
                return Err(Open::Line);
            }
            self.text = next;
        }
        Ok(())
    }

    fn next(&mut self) -> Result<Option<char>, Open> {
        self.joined()?;
        let Some(c) = self.text.chars().next() else {
            return Ok(None);
        };
        self.text = self.text.get(c.len_utf8()..).unwrap_or_default();
        Ok(Some(c))
    }

    /// The next character. A continuation without a next line is reported by `next`.
    fn peek(&mut self) -> Option<char> {
        self.joined().ok()?;
        self.text.chars().next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets() {
        assert_eq!(left_open("for (;;) { x[0] = f(1); }"), None);
        assert_eq!(left_open("for (;;) {"), Some(Open::Bracket));
        assert_eq!(left_open("} else {"), Some(Open::Closing));
        assert_eq!(left_open("}}"), Some(Open::Closing));
        assert_eq!(left_open("f(\"{\", '{'); // {\n/* { */"), None);
        assert_eq!(left_open("x = 1'000 + (0x1'0);"), None);
        assert_eq!(left_open("f(R\"x({ )\" )x\");"), None);
        assert_eq!(left_open("<% %>"), None);
        assert_eq!(left_open("}{"), Some(Open::Closing));
    }

    #[test]
    fn conditionals() {
        for text in [
            "#if 0",
            "x;\n  # ifdef A\n",
            "#endif",
            "#else",
            "#elif A\n#endif",
            "%:if 0",
            "/* */ #if 0",
            "#\\\nif 0",
            "#if A\n#if B\n#endif",
        ] {
            assert_eq!(left_open(text), Some(Open::Conditional), "{text}");
        }
        for text in [
            "#if A\nx;\n#else\ny;\n#endif",
            "#if A\nif (x) {\n#endif\nf();\n#if A\n}\n#endif",
            "#if A\nfor (;;) {\n#else\nwhile (1) {\n#endif\n}",
            "// #if 0",
            "\"\\n#if 0\"",
        ] {
            assert_eq!(left_open(text), None, "{text}");
        }
        assert_eq!(left_open("#if 1\n{\n#endif"), Some(Open::Bracket));
        assert_eq!(left_open("#if 0\n#else\n}\n#endif"), Some(Open::Closing));
    }

    #[test]
    fn macros_and_pragmas() {
        let named = |name: &str| Some(Open::Macro(name.to_owned()));
        assert_eq!(left_open("#define int long"), named("int"));
        assert_eq!(left_open("#define F(x) \\\n  (x)\nF(1);"), named("F"));
        assert_eq!(left_open("#define A 1\nx = A;\n#undef A"), None);
        for text in [
            "#define CROQ_FN 1\n#undef CROQ_FN",
            "#undef CROQ_FN",
            "#\\\n undef CROQ_FN",
        ] {
            let reserved = Some(Open::Reserved("CROQ_FN".to_owned()));
            assert_eq!(left_open(text), reserved, "{text}");
        }
        assert_eq!(left_open("#undef M"), None);
        assert_eq!(left_open("#pragma unroll\nfor (;;) {}"), None);
        let pragma = |word: &str| Some(Open::Pragma(word.to_owned()));
        assert_eq!(left_open("#pragma GCC poison y"), pragma("poison"));
        assert_eq!(left_open("_Pragma(\"GCC poison y\")"), pragma("poison"));
        assert_eq!(left_open("#pragma push_macro(\"y\")"), pragma("push_macro"));
        assert_eq!(left_open("_Pragma(\"unroll\") for (;;) {}"), None);
    }

    #[test]
    fn comments_and_lines() {
        assert_eq!(left_open("/* x"), Some(Open::Comment));
        assert_eq!(left_open("*/ x"), None);
        assert_eq!(left_open("x; // y \\"), Some(Open::Line));
        assert_eq!(left_open("x; // y \\\n"), Some(Open::Line));
        assert_eq!(left_open("x; \\ \r\n"), Some(Open::Line));
        assert_eq!(left_open("x; // y \\\n{"), None);
        assert_eq!(left_open("R\"x( )\""), Some(Open::RawString));
        assert_eq!(left_open("R\"("), Some(Open::RawString));
    }
}
