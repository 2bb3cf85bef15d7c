//! The comment above a `__co__` function as documentation of its Rust functions.
//!
//! Comments are written for readers of the `.co` file, not as Markdown: what rustdoc would read as a
//! link, as HTML or as a program is escaped. Paragraphs, lists, emphasis and code between backticks
//! remain; fenced and indented blocks are text, so that no test is made of them.

use std::fmt::Write as _;

/// What a Markdown code block is indented by.
const CODE: &str = "    ";

/// The documentation lines for the declaration at `start`, with an empty one below; empty if no
/// comment is directly above it.
pub fn of(start: u32, source: &str) -> String {
    let comment = comment_above(start, source);
    let mut text = String::new();
    for line in markdown(&comment) {
        let _ = writeln!(text, "{}", format!("/// {line}").trim_end());
    }
    if !text.is_empty() {
        text.push_str("///\n");
    }
    text
}

/// The `//` comment directly above the declaration at `start`, line by line, without what it requests
/// of croq.
fn comment_above(start: u32, source: &str) -> Vec<String> {
    let before = source.get(..start as usize).unwrap_or_default();
    // Without the part of the function's own line.
    let Some((above, indent)) = before.rsplit_once('\n') else {
        return Vec::new();
    };
    if !indent.trim().is_empty() {
        return Vec::new();
    }
    let comments = above.split('\n').rev().map(str::trim);
    let comments = comments.map_while(|line| line.strip_prefix("//"));
    let is_request = |line: &&str| {
        let text = line.trim_start_matches('/').trim_start();
        let request = text.strip_prefix("croq:");
        request.is_some_and(|text| text.trim_start().starts_with("allow"))
    };
    let mut lines: Vec<String> = comments
        .filter(|line| !is_request(line))
        .map(|line| {
            let line = line.trim_start_matches(['/', '!']);
            let text = line.strip_prefix(' ').unwrap_or(line);
            text.replace(unfit_for_comments, "\u{fffd}")
        })
        .collect();
    lines.reverse();
    let empty = |line: &String| line.trim().is_empty();
    if lines.iter().all(empty) {
        lines.clear();
    }
    lines
}

/// Rust rejects comments with a `\r` or with characters that change the direction of text.
fn unfit_for_comments(c: char) -> bool {
    c.is_control() && c != '\t' || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The kind of block that a line is in.
enum Block {
    Text,
    /// Between fences of the comment, of which this is the first.
    Fenced(String),
    /// Indented lines.
    Indented,
}

/// Markdown that rustdoc shows as the lines are.
fn markdown(lines: &[String]) -> Vec<String> {
    // Longer than all fences inside.
    let own = "`".repeat(longest_run(lines).max(2) + 1);
    let mut out = Vec::new();
    let mut block = Block::Text;
    let mut after_empty = true;
    for line in lines {
        let line = line.replace('\t', CODE);
        if let Block::Indented = block
            && !line.trim().is_empty()
            && !line.starts_with(CODE)
        {
            out.push(own.clone());
            block = Block::Text;
        }
        match &block {
            Block::Fenced(opened) => {
                if closes(&line, opened) {
                    out.push(own.clone());
                    block = Block::Text;
                } else {
                    out.push(line);
                }
            }
            Block::Indented => out.push(line.strip_prefix(CODE).unwrap_or_default().to_owned()),
            Block::Text => {
                let code = line.strip_prefix(CODE).filter(|_| after_empty);
                if let Some(code) = code.filter(|code| !code.trim().is_empty()) {
                    out.extend([format!("{own}text"), code.to_owned()]);
                    block = Block::Indented;
                } else if let Some(fence) = fence(&line) {
                    out.push(format!("{own}text"));
                    block = Block::Fenced(fence);
                } else {
                    out.push(prose(&line));
                }
            }
        }
        after_empty = out.last().is_some_and(|line| line.trim().is_empty());
    }
    if !matches!(block, Block::Text) {
        out.push(own);
    }
    out
}

/// The fence with which a line begins a block of code, in a paragraph or in a list or a quotation.
fn fence(line: &str) -> Option<String> {
    let markers = |c: char| c.is_ascii_digit() || " -+*>.)".contains(c);
    let text = line.trim_start_matches(markers);
    let fence = |mark: char| {
        let length = text.len() - text.trim_start_matches(mark).len();
        let info = text.get(length..)?;
        // A backtick in the rest of the line makes it code within a line.
        let is_fence = length >= 3 && !(mark == '`' && info.contains('`'));
        is_fence.then(|| mark.to_string().repeat(length))
    };
    fence('`').or_else(|| fence('~'))
}

fn closes(line: &str, opened: &str) -> bool {
    let text = line.trim();
    text.starts_with(opened) && text.chars().all(|c| opened.starts_with(c))
}

fn longest_run(lines: &[String]) -> usize {
    let runs = lines.iter().flat_map(|line| line.split(|c| c != '`'));
    runs.map(str::len).max().unwrap_or(0)
}

/// A line of a paragraph: without links, HTML and indentation that makes it code.
fn prose(line: &str) -> String {
    let indent = line.len() - line.trim_start().len();
    let mut rest = line.trim();
    let mut out = " ".repeat(indent.min(CODE.len() - 1));
    while let Some(c) = rest.chars().next() {
        let length = rest.len() - rest.trim_start_matches('`').len();
        let (run, after) = rest.split_at(length.max(c.len_utf8()));
        if length > 0 {
            // The code ends at a run of the same length.
            if let Some(end) = run_of(after, length) {
                let (code, behind) = after.split_at(end);
                out.extend([run, code]);
                rest = behind;
                continue;
            }
            out.extend(std::iter::repeat_n("\\`", length));
        } else if c == ' ' && out.ends_with("   ") {
            // After the mark of a list more blanks begin code.
        } else if "[]<>\\~".contains(c) {
            out.extend(['\\', c]);
        } else {
            out.push(c);
        }
        rest = after;
    }
    out
}

/// The end of the first run of exactly this many backticks.
fn run_of(text: &str, length: usize) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        let start = at + rest.find('`')?;
        let found = text.get(start..)?;
        let run = found.len() - found.trim_start_matches('`').len();
        if run == length {
            return Some(start + run);
        }
        at = start + run;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documented(source: &str) -> String {
        let start = source.find("__co__").expect("a function");
        of(start as u32, source)
    }

    #[test]
    fn the_comment_directly_above_is_taken() {
        assert_eq!(
            documented("// far\n\n// one\n///two\r\n__co__"),
            "/// one\n/// two\n///\n"
        );
        assert_eq!(documented("// far\n\n__co__"), "");
        assert_eq!(documented("int x; // no\n__co__"), "");
        assert_eq!(documented("//\n__co__"), "");
        assert_eq!(documented("// a\u{202e}b\n__co__"), "/// a\u{fffd}b\n///\n");
    }

    #[test]
    fn requests_are_no_documentation() {
        let source = "// scales\n// croq: allow(W0620) x is scratch\n__co__";
        assert_eq!(documented(source), "/// scales\n///\n");
        assert_eq!(documented("// croq: allow(W0620) x\n__co__"), "");
    }

    #[test]
    fn links_and_html_are_text() {
        let source = "// x [i] <T> `y[i]` ``c`d[`` \\ z`w\n__co__";
        assert_eq!(
            documented(source),
            "/// x \\[i\\] \\<T\\> `y[i]` ``c`d[`` \\\\ z\\`w\n///\n"
        );
    }

    #[test]
    fn blocks_of_code_are_text() {
        let fenced = "// one\n// ```rust\n// panic!()\n// ```\n// two [\n__co__";
        assert_eq!(
            documented(fenced),
            "/// one\n/// ````text\n/// panic!()\n/// ````\n/// two \\[\n///\n"
        );
        let open = "// - ~~~\n// panic!()\n__co__";
        assert_eq!(
            documented(open),
            "/// ```text\n/// panic!()\n/// ```\n///\n"
        );
        let indented = "// one\n//\n//     a [b]\n//       c\n//\n// two\n//      three\n__co__";
        assert_eq!(
            documented(indented),
            "/// one\n///\n/// ```text\n/// a [b]\n///   c\n///\n/// ```\n/// two\n///    three\n///\n"
        );
        let first = "//     ```\n//\tx\n__co__";
        assert_eq!(
            documented(first),
            "/// ````text\n/// ```\n/// x\n/// ````\n///\n"
        );
        let item = "// -      x = 1\n__co__";
        assert_eq!(documented(item), "/// -   x = 1\n///\n");
    }
}
