//! The part of an emitted text that its object file depends on, without the parts that only shift
//! lines.
//!
//! Every emitted statement has a `#line` above it and a comment beside it that quotes the source,
//! so an edit of a comment in the `.co` file changes the emitted text without changing its meaning.
//! The cache therefore compares *canonical* texts, which have neither. An object that is reused
//! although lines have moved still contains the old line numbers; [`moved_lines`] maps them to the
//! new ones.

use crate::sorted::SortedMap;

/// A text without comments, `#line` directives, blank lines and trailing blanks, and for each
/// remaining line the line of the `.co` file that compilers attribute it to.
#[derive(Debug, PartialEq, Eq)]
pub struct Canonical {
    pub text: String,
    presumed: Vec<Option<u32>>,
}

impl Canonical {
    pub fn of(text: &str) -> Self {
        let mut out = String::with_capacity(text.len());
        let mut presumed = Vec::new();
        let bare = without_comments(text);
        for (line, row) in PresumedLines::of(&bare) {
            let row = row.trim_end();
            if !row.is_empty() {
                out.push_str(row);
                out.push('\n');
                presumed.push(line);
            }
        }
        Self {
            text: out,
            presumed,
        }
    }

    /// For each line of the text, the line of the `.co` file that it is attributed to.
    pub fn presumed(&self) -> &[Option<u32>] {
        &self.presumed
    }
}

/// The lines of a text other than `#line`s, each with the line of the `.co` file that compilers
/// attribute it to: `None` if it belongs to the generated file alone.
pub struct PresumedLines<'a> {
    rows: std::str::Lines<'a>,
    line: Option<u32>,
}

impl<'a> PresumedLines<'a> {
    pub fn of(text: &'a str) -> Self {
        Self {
            rows: text.lines(),
            line: None,
        }
    }
}

impl<'a> Iterator for PresumedLines<'a> {
    type Item = (Option<u32>, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let row = self.rows.next()?;
            if let Some((number, file)) = line_directive(row) {
                // The printers switch back to their own `.cc` where a line has no `.co` line.
                self.line = (!file.ends_with(".cc\"")).then_some(number);
                continue;
            }
            let line = self.line;
            self.line = line.map(|number| number.saturating_add(1));
            return Some((line, row));
        }
    }
}

/// `#line 12 "kernels/scale.co"` → 12 and the quoted name.
fn line_directive(row: &str) -> Option<(u32, &str)> {
    let rest = row
        .trim_start()
        .strip_prefix('#')?
        .trim_start()
        .strip_prefix("line")?
        .trim();
    let (number, file) = rest.split_once(' ').unwrap_or((rest, ""));
    Some((number.parse().ok()?, file.trim()))
}

/// Pairs of line numbers: an object built from `old` contains the left one where the `.co` file now
/// has the right one. `None` if one old line corresponds to several new ones, because then no table
/// is correct.
///
/// Both texts must have the same canonical text.
pub fn moved_lines(old: &Canonical, new: &Canonical) -> Option<Vec<(u32, u32)>> {
    let mut moved = SortedMap::new();
    for pair in old.presumed.iter().zip(&new.presumed) {
        let (Some(from), Some(to)) = pair else {
            if pair.0 == pair.1 {
                continue;
            }
            return None;
        };
        if *moved.entry(*from).or_insert(*to) != *to {
            return None;
        }
    }
    Some(moved.into_iter().filter(|(from, to)| from != to).collect())
}

/// Replaces each comment by one blank, and keeps the line breaks inside it, so that lines are
/// numbered as by the compiler.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // `R"…` starts a raw string only where it does not end a longer identifier.
    let mut after_identifier = false;
    while let Some(c) = rest.chars().next() {
        let taken = if rest.starts_with("//") {
            out.push(' ');
            line_comment(rest)
        } else if rest.starts_with("/*") {
            let len = rest
                .get(2..)
                .and_then(|r| r.find("*/"))
                .map_or(rest.len(), |at| at + 4);
            let comment = rest.get(..len).unwrap_or(rest);
            out.push(' ');
            out.extend(comment.chars().filter(|c| *c == '\n'));
            len
        } else if !after_identifier && rest.starts_with("R\"") {
            let len = raw_string(rest);
            out.push_str(rest.get(..len).unwrap_or(rest));
            len
        } else if c == '"' || (c == '\'' && !after_identifier) {
            // A quote after an identifier character is a digit separator: 1'000.
            let len = quoted(rest, c);
            out.push_str(rest.get(..len).unwrap_or(rest));
            len
        } else {
            out.push(c);
            c.len_utf8()
        };
        after_identifier = c.is_alphanumeric() || c == '_';
        rest = rest.get(taken..).unwrap_or("");
    }
    out
}

/// The length in bytes of a `//` comment without its line break; a backslash continues it on the
/// next line.
fn line_comment(text: &str) -> usize {
    let mut len = 0;
    for row in text.split_inclusive('\n') {
        let body = row.trim_end_matches(['\n', '\r']);
        len += body.len();
        if !body.ends_with('\\') || body.len() == row.len() {
            break;
        }
        len += row.len() - body.len();
    }
    len
}

/// The length in bytes of a string or character literal; an unterminated one ends with its line.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' if !escaped => return at,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length in bytes of `R"tag(…)tag"`.
fn raw_string(text: &str) -> usize {
    let Some(open) = text.find('(') else {
        return text.len();
    };
    let tag = text.get(2..open).unwrap_or("");
    let close = format!("){tag}\"");
    text.get(open..)
        .and_then(|body| body.find(&close))
        .map_or(text.len(), |at| open + at + close.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "\
#include \"croq.h\"
#line 4 \"k/scale.co\"
void scale_0() { // the kernel
#line 6 \"k/scale.co\"
  // strip = dma.copy src
  f(\"// not a comment\");   /* but
  this is */
}
";

    #[test]
    fn comments_and_line_directives_are_left_out() {
        let canonical = Canonical::of(OLD);
        assert_eq!(
            canonical.text,
            "#include \"croq.h\"\nvoid scale_0() {\n  f(\"// not a comment\");\n}\n"
        );
        assert_eq!(canonical.presumed, [None, Some(4), Some(7), Some(9)]);
    }

    #[test]
    fn a_comment_more_moves_lines_and_nothing_else() {
        let new = OLD
            .replace("#line 4", "#line 5")
            .replace("#line 6", "#line 8")
            .replace("the kernel", "a kernel");
        let (old, new) = (Canonical::of(OLD), Canonical::of(&new));
        assert_eq!(old.text, new.text);
        assert_eq!(moved_lines(&old, &new), Some(vec![(4, 5), (7, 9), (9, 11)]));
        assert_eq!(moved_lines(&old, &old), Some(vec![]));
    }

    #[test]
    fn lines_of_the_generated_file_itself_do_not_count() {
        let old = Canonical::of("#line 3 \"k/a.co\"\nf();\n#line 3 \"a.cc\"\ng();\n");
        let new = Canonical::of("#line 9 \"k/a.co\"\nf();\n#line 4 \"a.cc\"\ng();\n");
        assert_eq!(moved_lines(&old, &new), Some(vec![(3, 9)]));
    }

    #[test]
    fn one_line_that_became_two_has_no_table() {
        let old = Canonical::of("#line 3 \"a\"\nf();\n#line 3 \"a\"\ng();\n");
        let new = Canonical::of("#line 3 \"a\"\nf();\n#line 4 \"a\"\ng();\n");
        assert_eq!(moved_lines(&old, &new), None);
    }

    #[test]
    fn literals_keep_what_looks_like_a_comment() {
        for text in [
            "a = \"/*\"; b = '\"'; c = \"\\\"//\";\n",
            "R\"x(// \" /* )x\"; d = 1'000 / 2;\n",
            "LR'a' //\n",
        ] {
            let canonical = Canonical::of(text).text;
            assert_eq!(
                canonical.trim_end(),
                text.trim_end().trim_end_matches("//").trim_end()
            );
        }
        // A comment that a backslash continues includes the next line.
        assert_eq!(Canonical::of("a; // x \\\n hidden\nb;\n").text, "a;\nb;\n");
        // Unterminated text ends the scan without a panic.
        for text in ["\"abc", "/*", "R\"(", "R\"", "'", "// \\"] {
            let _ = Canonical::of(text);
        }
    }
}
