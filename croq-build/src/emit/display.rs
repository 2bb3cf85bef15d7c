//! Generated text for display: C++ without `#line` directives, and lines of at most 120 columns.
//! The version for compilers keeps each statement on one line, so that `__LINE__` is the `.co`
//! line.

const COLUMNS: usize = 120;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    Cpp,
    Rust,
}

/// The device code or the header for display.
pub fn for_people(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut blank = false;
    for line in text.lines().filter(|line| !is_directive(line)) {
        // There is often an empty line before and after a directive.
        let empty = line.trim().is_empty();
        if !(empty && blank) {
            wrap(line, Language::Cpp, &mut out);
        }
        blank = empty;
    }
    out
}

/// The Rust wrappers for display.
pub fn rust_for_people(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        wrap(line, Language::Rust, &mut out);
    }
    out
}

/// `#line 12 "kernels/scale.co"`
fn is_directive(line: &str) -> bool {
    let number = line
        .strip_prefix("#line ")
        .and_then(|rest| rest.split_once(' '));
    number.is_some_and(|(number, file)| {
        number.bytes().all(|b| b.is_ascii_digit()) && file.starts_with('"')
    })
}

fn columns(text: &str) -> usize {
    text.chars().count()
}

/// The line, broken where it is too long.
fn wrap(line: &str, language: Language, out: &mut String) {
    let text = line.trim_start();
    let indent = line.len() - text.len();
    if columns(line) <= COLUMNS {
        push(line, out);
    } else if let Some(comment) = text.strip_prefix("//") {
        let marks = comment.trim_start_matches(['/', '!']);
        let mark = text.strip_suffix(marks).unwrap_or("//");
        wrap_words(marks.trim_start(), indent, &format!("{mark} "), "", out);
    } else if text.starts_with("/*") {
        wrap_words(text, indent, "", "", out);
    } else if text.starts_with('#') || text.ends_with('\\') {
        // A preprocessor line, or a line of a macro: continued by a backslash.
        wrap_words(text, indent, "", " \\", out);
    } else if let Some(at) = trailing_comment(text, language) {
        let (code, comment) = text.split_at(at);
        let spaces = " ".repeat(indent);
        wrap(&format!("{spaces}{comment}"), language, out);
        wrap(&format!("{spaces}{}", code.trim_end()), language, out);
    } else {
        wrap_code(line, indent, language, out);
    }
}

fn push(line: &str, out: &mut String) {
    out.push_str(line);
    out.push('\n');
}

/// Wraps at spaces: `before` is the prefix of each line, and `behind` the suffix of all but the
/// last.
fn wrap_words(text: &str, indent: usize, before: &str, behind: &str, out: &mut String) {
    let mut line = format!("{}{before}", " ".repeat(indent));
    let mut is_empty = true;
    for word in text.split(' ') {
        let further = columns(word) + columns(behind);
        if !is_empty && columns(&line) + 1 + further > COLUMNS {
            push(&format!("{line}{behind}"), out);
            // Comments continue at the same column, other text is indented.
            let deeper = if before.is_empty() {
                indent + 4
            } else {
                indent
            };
            line = format!("{}{before}", " ".repeat(deeper));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    push(&line, out);
}

/// Wraps after commas and before operators, otherwise in a string or at a space. A line without
/// such a position remains long.
fn wrap_code(line: &str, indent: usize, language: Language, out: &mut String) {
    let mut rest = line.to_owned();
    while columns(&rest) > COLUMNS {
        let places = Places::of(&rest, indent, language);
        let Some(at) = places.between.or(places.in_string).or(places.space) else {
            break;
        };
        let (head, tail) = rest.split_at(at);
        let deeper = " ".repeat(indent + 4);
        rest = if places.between.is_some() || places.in_string.is_none() {
            push(head.trim_end(), out);
            format!("{deeper}{}", tail.trim_start())
        } else if language == Language::Rust {
            push(&format!("{head}\\"), out);
            format!("{deeper}{tail}")
        } else {
            push(&format!("{head}\""), out);
            format!("{deeper}\"{tail}")
        };
    }
    push(&rest, out);
}

/// The position of a comment after code.
fn trailing_comment(text: &str, language: Language) -> Option<usize> {
    let mut quotes = Quotes::new(language);
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        if !quotes.inside(c) && (before, c) == ('/', '/') {
            return at.checked_sub(1);
        }
        before = c;
    }
    None
}

/// Tracks whether a position is inside a string or character literal.
struct Quotes {
    language: Language,
    quoted: Option<char>,
    escaped: bool,
}

impl Quotes {
    fn new(language: Language) -> Self {
        Self {
            language,
            quoted: None,
            escaped: false,
        }
    }

    /// Whether the next character, which is `c`, is quoted or a quote.
    fn inside(&mut self, c: char) -> bool {
        if let Some(quote) = self.quoted {
            self.quoted = (self.escaped || c != quote).then_some(quote);
            self.escaped = c == '\\' && !self.escaped;
            return true;
        }
        // In Rust, `'` begins a lifetime, not a character literal.
        let begins = c == '"' || c == '\'' && self.language == Language::Cpp;
        self.quoted = begins.then_some(c);
        begins
    }
}

/// Positions at which a line of code can be wrapped within the columns.
#[derive(Default)]
struct Places {
    /// The last one at the lowest depth of parentheses: after a comma if there is one, else before
    /// the operator with the lowest precedence.
    between: Option<usize>,
    /// The last one after a space in a string.
    in_string: Option<usize>,
    /// The last other space.
    space: Option<usize>,
}

impl Places {
    fn of(line: &str, indent: usize, language: Language) -> Places {
        let mut places = Places::default();
        let mut least = (usize::MAX, usize::MAX);
        let mut depth = 0_usize;
        let mut quotes = Quotes::new(language);
        for (column, (at, c)) in line.char_indices().enumerate() {
            if column >= COLUMNS {
                break;
            }
            let far = column > indent + 8;
            if quotes.inside(c) {
                // The suffix of the line must fit as well.
                if c == ' ' && far && column + 2 < COLUMNS {
                    places.in_string = Some(at + 1);
                }
                continue;
            }
            let before = line.get(..at).unwrap_or_default();
            match c {
                '(' | '{' | '[' => depth += 1,
                // Template arguments; comparison operators have spaces around them.
                '<' if ends_in_name(before) => depth += 1,
                '>' if !before.ends_with([' ', '-']) => depth = depth.saturating_sub(1),
                ')' | '}' | ']' => depth = depth.saturating_sub(1),
                ' ' if far => {
                    let after = line.get(at..).unwrap_or_default().trim_start();
                    match class(before, after, language) {
                        Some(class) if (depth, class) <= least => {
                            least = (depth, class);
                            places.between = Some(at);
                        }
                        Some(_) => {}
                        None => places.space = Some(at),
                    }
                }
                _ => {}
            }
        }
        places
    }
}

/// The rank of a position between two texts; 0 is the best.
fn class(before: &str, after: &str, language: Language) -> Option<usize> {
    if before.ends_with([',', ';']) {
        return Some(0);
    }
    if language == Language::Rust && before.ends_with(" =") {
        return Some(1);
    }
    // By increasing precedence.
    let operators: [&[&str]; 4] = [
        &["&& ", "|| "],
        &["? ", ": "],
        &["+ ", "- "],
        &["* ", "/ ", "% "],
    ];
    let begins = |of: &&[&str]| of.iter().any(|o| after.starts_with(o));
    operators.iter().position(begins).map(|class| class + 1)
}

fn ends_in_name(text: &str) -> bool {
    text.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::{for_people, rust_for_people};

    #[test]
    fn directives_go_and_long_lines_break_at_the_least_depth() {
        let argument = "f(alpha, beta) + gamma";
        let call = format!("  launch({}, \"a, b\");", [argument; 8].join(", "));
        let text = format!("#line 3 \"a.co\"\nint x;\n\n#line 9 \"a.cc\"\n\n{call}\n");
        let shown = for_people(&text);
        assert!(!shown.contains("#line"), "{shown}");
        assert!(shown.starts_with("int x;\n\n  launch("), "{shown}");
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines.iter().all(|line| line.len() <= 120), "{shown}");
        assert!(
            lines[3].starts_with("      f(alpha, beta) + gamma"),
            "{shown}"
        );
        let joined: Vec<&str> = lines[2..].iter().map(|line| line.trim()).collect();
        assert_eq!(joined.join(" "), call.trim());
    }

    #[test]
    fn every_operator_is_a_place_to_break() {
        for operator in ["-", "/", "%", "&&", "?"] {
            let term = "unsigned(alpha)";
            let line = format!("  y = {};", [term; 12].join(&format!(" {operator} ")));
            let shown = for_people(&line);
            let lines: Vec<&str> = shown.lines().collect();
            assert!(
                lines.len() > 1 && lines.iter().all(|l| l.len() <= 120),
                "{shown}"
            );
            assert!(lines[1].trim_start().starts_with(operator), "{shown}");
        }
    }

    #[test]
    fn comments_macros_and_strings_are_broken_at_spaces() {
        let words = "word, ".repeat(40);
        let words = words.trim();
        for (line, begins) in [
            (format!("  // {words}"), "  // word,"),
            (format!("/* {words} */"), "    word,"),
            (format!("#define M {words}"), "    word,"),
            (format!("  const char *s = \"{words}\";"), "      \"word,"),
            (format!("  f(x);  // {words}"), "  // word,"),
        ] {
            let shown = for_people(&line);
            let lines: Vec<&str> = shown.lines().collect();
            assert!(lines.iter().all(|l| l.len() <= 120), "{shown}");
            assert!(lines[1].starts_with(begins), "{shown}");
        }
        assert!(for_people(&format!("#define M {words}")).contains(", \\\n"));
        let shown = for_people(&format!("f(x);  // {words}"));
        assert!(shown.ends_with("word,\nf(x);\n"), "{shown}");
        let shown = rust_for_people(&format!(
            "  static X: Y<'static> = Check {{ line: 3, message: \"{words}\" }};"
        ));
        assert!(shown.contains("word, \\\n      word,"), "{shown}");
        assert!(shown.lines().all(|l| l.len() <= 120), "{shown}");
    }

    #[test]
    fn what_cannot_be_broken_stays() {
        let line = format!("f(\"{}\");", "a".repeat(130));
        assert_eq!(for_people(&line), format!("{line}\n"));
        assert_eq!(for_people(""), "");
        assert_eq!(for_people("#line\n#line x \"\"\n"), "#line\n#line x \"\"\n");
    }
}
