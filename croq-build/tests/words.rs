//! None of the words in `docs/words.txt` is used: neither as an identifier or the name of a file, nor in documents
//! and messages.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

const CODE: [&str; 6] = [
    "croq-build/src",
    "croq-build/device",
    "croq-sys/src",
    "croq-sys/macros",
    "tests/src",
    "croq-build/examples",
];
const DOCUMENTS: [&str; 2] = ["docs", "README.md"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The entries of one section: columns are separated by two spaces.
fn section(list: &str, name: &str) -> Vec<String> {
    let mut lines = list.lines().skip_while(|line| *line != format!("[{name}]"));
    lines.next();
    let entries = lines.take_while(|line| !line.starts_with('['));
    let entries = entries.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let first = entries.map(|line| line.split("  ").next().unwrap_or(line).trim());
    first.map(str::to_owned).collect()
}

fn files(top: &Path, extensions: &[&str], out: &mut Vec<PathBuf>) {
    if top.is_file() {
        out.push(top.to_owned());
        return;
    }
    for entry in fs::read_dir(top).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        let wanted = |e: &std::ffi::OsStr| extensions.iter().any(|wanted| e == *wanted);
        if path.is_dir() {
            if path.file_name().is_none_or(|name| name != "target") {
                files(&path, extensions, out);
            }
        } else if path.extension().is_some_and(wanted) {
            out.push(path);
        }
    }
}

/// Code and the contents of string literals, line by line; comments are in neither.
struct Split {
    code: Vec<String>,
    strings: Vec<String>,
}

/// A scanner for what Rust and C++ have in common, and Rust's raw strings and lifetimes.
fn split(text: &str) -> Split {
    let chars: Vec<char> = text.chars().collect();
    let mut split = Split {
        code: vec![String::new()],
        strings: vec![String::new()],
    };
    let mut at = 0;
    let starts = |at: usize, what: &str| {
        let rest = chars.get(at..).unwrap_or_default();
        what.chars().zip(rest).filter(|(a, b)| a == *b).count() == what.chars().count()
    };
    // How a string, a comment or a character that begins here ends.
    let begins = |at: usize, previous: char| -> Option<(usize, String, bool)> {
        let hashes = chars.iter().skip(at + 1).take_while(|c| **c == '#').count();
        if starts(at, "//") {
            Some((2, "\n".to_owned(), false))
        } else if starts(at, "/*") {
            Some((2, "*/".to_owned(), false))
        } else if starts(at, "\"") {
            Some((1, "\"".to_owned(), true))
        } else if starts(at, "r")
            && !previous.is_alphanumeric()
            && chars.get(at + 1 + hashes) == Some(&'"')
        {
            Some((2 + hashes, format!("\"{}", "#".repeat(hashes)), true))
        } else if starts(at, "'\\") || (starts(at, "'") && chars.get(at + 2) == Some(&'\'')) {
            Some((1, "'".to_owned(), false))
        } else {
            None
        }
    };
    let mut previous = ' ';
    while let Some(c) = chars.get(at).copied() {
        let Some((skip, end, string)) = begins(at, previous) else {
            previous = c;
            push(&mut split, c, true);
            at += 1;
            continue;
        };
        let raw = c == 'r';
        at += skip;
        while at < chars.len() && !starts(at, &end) {
            let c = chars.get(at).copied().unwrap_or(' ');
            let escape = c == '\\' && !raw && end != "\n" && end != "*/";
            // A line that ends in a backslash goes on in the next.
            let shown = if string && !escape { c } else { ' ' };
            push(&mut split, if c == '\n' { '\n' } else { shown }, false);
            at += 1 + usize::from(escape && chars.get(at + 1) != Some(&'\n'));
        }
        if end != "\n" {
            at += end.len();
        }
        previous = ' ';
    }
    split
}

fn push(split: &mut Split, c: char, is_code: bool) {
    if c == '\n' {
        split.code.push(String::new());
        split.strings.push(String::new());
        return;
    }
    let (own, other) = match is_code {
        true => (&mut split.code, &mut split.strings),
        false => (&mut split.strings, &mut split.code),
    };
    own.last_mut().expect("a line").push(c);
    if let Some(line) = other.last_mut()
        && !line.ends_with(' ')
    {
        line.push(' ');
    }
}

/// Whether `word` is in the line, with neither a letter, a digit nor `_` before or after it.
fn has(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let before = line.get(..at).unwrap_or_default().chars().next_back();
        let after = line.get(at + word.len()..).unwrap_or_default();
        !part(before) && !part(after.chars().next())
    })
}

struct Report {
    text: String,
    /// Relative to the repository.
    file: String,
}

impl Report {
    fn search(&mut self, lines: &[String], words: &[String], allowed: &[String]) {
        for (number, line) in lines.iter().enumerate() {
            for word in words.iter().filter(|word| !allowed.contains(word)) {
                if has(line, word) {
                    let _ = writeln!(self.text, "{}:{}: `{word}`", self.file, number + 1);
                }
            }
        }
    }
}

#[test]
fn retired_words_are_not_used() {
    let root = root();
    let list = fs::read_to_string(root.join("docs/words.txt")).expect("the list");
    let identifiers = section(&list, "identifiers");
    let words = section(&list, "words");
    let interface = section(&list, "device interface");
    assert!(identifiers.len() > 50 && words.len() > 10, "{list}");
    let mut report = Report {
        text: String::new(),
        file: String::new(),
    };
    for top in CODE {
        let mut all = Vec::new();
        files(&root.join(top), &["rs", "h", "cpp", "cu"], &mut all);
        for path in all {
            let relative = path.strip_prefix(&root).unwrap_or(&path);
            report.file = relative.display().to_string();
            let parts = split(&fs::read_to_string(&path).expect("UTF-8"));
            let is_header = report.file.ends_with(".h");
            let allowed: &[String] = if is_header { &interface } else { &[] };
            report.search(&parts.code, &identifiers, allowed);
            // Tests have programs in their strings.
            if !report.file.contains("tests") && !report.file.contains("golden") {
                report.search(&parts.strings, &words, &[]);
            }
            let stem = path
                .file_stem()
                .and_then(|s| s.to_str())
                .unwrap_or_default();
            report.search(&[stem.to_owned()], &identifiers, &[]);
        }
    }
    for top in DOCUMENTS {
        let mut all = Vec::new();
        files(&root.join(top), &["md"], &mut all);
        for path in all {
            let relative = path.strip_prefix(&root).unwrap_or(&path);
            report.file = relative.display().to_string();
            let text = fs::read_to_string(&path).expect("UTF-8");
            let lines: Vec<String> = text.lines().map(str::to_lowercase).collect();
            report.search(&lines, &words, &[]);
        }
    }
    assert!(
        report.text.is_empty(),
        "see docs/words.txt\n{}",
        report.text
    );
}

#[test]
fn words_are_found_where_they_count() {
    let text = "let slab = 1; // slab\nf(\"told \\\" so\", 'x', r#\"a \"told\" b\"#); /* told */ fn g<'a>() {}\n";
    let parts = split(text);
    assert!(has(&parts.code[0], "slab") && !has(&parts.code[1], "told"));
    assert!(has(&parts.strings[1], "told") && !has(&parts.strings[0], "slab"));
    assert!(has(&parts.code[1], "g") && !has("a_slab", "slab"));
}
