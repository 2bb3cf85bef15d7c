//! Prints diagnostics as reports for people and as JSON lines for tools.
//!
//! Both are deterministic functions of the file and the diagnostics. A location that was expanded
//! from a macro is shown at the use of the macro, with a note that names it.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::ops::Range;

use ariadne::{Color, Config, IndexType, Report, ReportKind, Source};

use super::excerpt::Excerpt;
pub use super::excerpt::short;
use super::quoted::{Nothing, Quoted};
use super::{Diagnostic, Quota, Severity, Suggestion};
use crate::span::Span;

/// If a label covers more lines than this, only the first is marked, since a longer gutter is not
/// useful.
const LABEL_LINES: u32 = 4;

/// The most secondary labels, and the most notes, of one report.
const DETAILS: usize = 12;

/// The diagnostics of one file as text, in the given order, separated by blank lines; at most
/// [`REPORTS`](super::REPORTS).
pub fn report(file: &dyn Quoted, diags: &[Diagnostic], color: bool) -> String {
    let mut quota = Quota::of([diags]);
    let mut out = report_within(file, diags, color, &mut quota);
    out.push_str(&rest(&quota, color));
    out
}

/// The text at the end of a run that left reports out.
pub fn rest(quota: &Quota, color: bool) -> String {
    let mut out = String::new();
    if let Some(rest) = quota.rest() {
        out.push('\n');
        header(&mut out, &rest, color);
    }
    out
}

/// The diagnostics within the run's quota.
pub fn report_within(
    file: &dyn Quoted,
    diags: &[Diagnostic],
    color: bool,
    quota: &mut Quota,
) -> String {
    let text = one_kind_of_line_end(file.text());
    let mut sources = (file.path(), Source::from(text.as_ref()));
    let mut out = String::new();
    for diagnostic in quota.take(diags) {
        if !out.is_empty() {
            out.push('\n');
        }
        header(&mut out, diagnostic, color);
        let details = diagnostic.secondary.iter().take(DETAILS);
        let mut marks: Vec<Range<usize>> = std::iter::once(&diagnostic.primary)
            .chain(details.clone())
            .map(|label| marked(file, label.span))
            .collect();
        let excerpt = Excerpt::of(&text, file.line_starts(), &mut marks);
        let primary = marks.first().map_or(0, |mark| mark.start);
        if let Some(excerpt) = &excerpt {
            for mark in &mut marks {
                *mark = excerpt.place(mark.start)..excerpt.place(mark.end);
            }
        }
        let config = Config::new()
            .with_index_type(IndexType::Byte)
            .with_color(color);
        let place = marks.first().cloned().unwrap_or_default();
        let mut builder =
            Report::build(ReportKind::Error, (file.path(), place.clone())).with_config(config);
        // Ariadne requires labels in the order of their lines.
        let mut labels: Vec<(Range<usize>, &str, Color, i32)> = Vec::new();
        let main = (
            diagnostic.primary.text.as_str(),
            color_of(diagnostic.severity()),
            1,
        );
        let others = details.map(|label| (label.text.as_str(), Color::Cyan, 0));
        let mut texts: Vec<_> = std::iter::once(main).chain(others).zip(marks).collect();
        // The primary label is printed after the others of its line.
        let first = 1.min(texts.len());
        texts.rotate_left(first);
        for ((text, color, priority), mark) in texts {
            labels.push((mark, text, color, priority));
        }
        labels.sort_by_key(|(range, ..)| (range.end, range.start));
        for (range, text, color, priority) in labels {
            let label = ariadne::Label::new((file.path(), range))
                .with_color(color)
                .with_priority(priority);
            builder.add_label(if text.is_empty() {
                label
            } else {
                label.with_message(short(text))
            });
        }
        for note in notes(file, diagnostic) {
            builder.add_note(note);
        }
        if let Some(help) = &diagnostic.help {
            builder.add_help(short(help));
        }
        let report = builder.finish();
        let mut bytes = Vec::new();
        // Writing to memory only fails for a file that is not in the cache.
        let written = match &excerpt {
            Some(excerpt) => {
                let clipped = (file.path(), Source::from(excerpt.text.as_str()));
                report.write(clipped, &mut bytes)
            }
            None => report.write(&mut sources, &mut bytes),
        };
        if written.is_err() {
            continue;
        }
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some(excerpt) = &excerpt {
            // Columns refer to the file.
            let (line, column) = file.line_col(u32::try_from(primary).unwrap_or(u32::MAX));
            let clipped = excerpt.column(place.start);
            let at = |column: u64| format!("{}:{line}:{column} ", file.path());
            text = text.replacen(&at(clipped as u64), &at(u64::from(column)), 1);
        }
        // The first line is ariadne's own header.
        let rest = text.split_once('\n').map_or("", |(_, rest)| rest);
        out.extend(rest.lines().flat_map(|line| [line.trim_end(), "\n"]));
    }
    out
}

/// `error[E0431]: message`, in the form of rustc and cargo.
fn header(out: &mut String, diagnostic: &Diagnostic, color: bool) {
    let word = word_of(diagnostic.severity());
    let code = diagnostic.code;
    let message = short(&diagnostic.message);
    if color {
        let ansi = match diagnostic.severity() {
            Severity::Error => 31,
            Severity::Warning => 33,
            Severity::Note => 36,
        };
        let _ = writeln!(
            out,
            "\x1b[1;{ansi}m{word}[{code}]\x1b[0m\x1b[1m: {message}\x1b[0m"
        );
    } else {
        let _ = writeln!(out, "{word}[{code}]: {message}");
    }
}

fn word_of(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn color_of(severity: Severity) -> Color {
    match severity {
        Severity::Error => Color::Red,
        Severity::Warning => Color::Yellow,
        Severity::Note => Color::Cyan,
    }
}

/// The notes of a diagnostic, and the macros that its locations were expanded from.
fn notes(file: &dyn Quoted, diagnostic: &Diagnostic) -> Vec<String> {
    let first = diagnostic.notes.iter().take(DETAILS);
    let mut notes: Vec<String> = first.map(|note| short(note).into_owned()).collect();
    if diagnostic.notes.len() > DETAILS {
        notes.push(format!("… {} more", diagnostic.notes.len() - DETAILS));
    }
    let spans = std::iter::once(&diagnostic.primary)
        .chain(diagnostic.secondary.iter().take(DETAILS))
        .map(|label| label.span);
    for name in spans.filter_map(|span| file.macro_at(span)) {
        let note = format!("in the expansion of macro `{name}`");
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

/// The bytes to mark for `span`: inside the text, on character boundaries, and of a limited number
/// of lines.
fn marked(file: &dyn Quoted, span: Span) -> Range<usize> {
    let text = file.text();
    let mut start = (span.start as usize).min(text.len());
    let mut end = (span.end as usize).clamp(start, text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    let (first, _) = file.line_col(start as u32);
    let (last, _) = file.line_col(end as u32);
    if last - first >= LABEL_LINES {
        let rest = text.get(start..end).unwrap_or("");
        end = start + rest.find(['\n', '\r']).unwrap_or(rest.len());
    }
    // A mark must not end in a line end.
    end = start + text.get(start..end).unwrap_or("").trim_end().len();
    start..end
}

/// Ariadne ends lines at several characters, compilers and editors only at `\n`: the others are
/// replaced by blanks of the same length.
fn one_kind_of_line_end(text: &str) -> Cow<'_, str> {
    let others = ['\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
    if !text.contains(others) && !text.contains('\r') {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\r' || others.contains(&c) {
            out.extend(std::iter::repeat_n(' ', c.len_utf8()));
        } else {
            out.push(c);
        }
    }
    out.into()
}

/// One JSON object per line for each diagnostic of a file; at most [`REPORTS`](super::REPORTS).
pub fn json_lines(file: &dyn Quoted, diags: &[Diagnostic]) -> String {
    let mut quota = Quota::of([diags]);
    let mut out = json_within(file, diags, &mut quota);
    out.push_str(&json_rest(&quota));
    out
}

/// The object at the end of a run that left reports out.
pub fn json_rest(quota: &Quota) -> String {
    let mut out = String::new();
    if let Some(rest) = quota.rest() {
        json_line(&mut out, &Nothing, &rest);
    }
    out
}

/// The diagnostics within the run's quota.
pub fn json_within(file: &dyn Quoted, diags: &[Diagnostic], quota: &mut Quota) -> String {
    let mut out = String::new();
    for diagnostic in quota.take(diags) {
        json_line(&mut out, file, diagnostic);
    }
    out
}

fn json_line(out: &mut String, file: &dyn Quoted, diagnostic: &Diagnostic) {
    out.push_str("{\"code\":");
    quote(out, diagnostic.code.text());
    out.push_str(",\"severity\":");
    quote(out, word_of(diagnostic.severity()));
    out.push_str(",\"message\":");
    quote(out, &short(&diagnostic.message));
    out.push_str(",\"spans\":[");
    let labels = std::iter::once((&diagnostic.primary, true)).chain(
        diagnostic
            .secondary
            .iter()
            .take(DETAILS)
            .map(|label| (label, false)),
    );
    for (i, (label, primary)) in labels.enumerate() {
        if i > 0 {
            out.push(',');
        }
        let (line, column) = file.line_col(label.span.start);
        let (end_line, end_column) = file.line_col(label.span.end.max(label.span.start));
        out.push_str("{\"file\":");
        quote(out, file.path());
        let _ = write!(
            out,
            ",\"line\":{line},\"column\":{column},\"end_line\":{end_line},\"end_column\":{end_column},\"label\":"
        );
        quote(out, &short(&label.text));
        let _ = write!(out, ",\"primary\":{primary}}}");
    }
    out.push_str("],\"notes\":[");
    for (i, note) in notes(file, diagnostic).iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        quote(out, note);
    }
    out.push_str("],\"help\":");
    match &diagnostic.help {
        Some(help) => quote(out, &short(help)),
        None => out.push_str("null"),
    }
    out.push_str(",\"suggestion\":");
    match &diagnostic.suggestion {
        Some(suggestion) => json_suggestion(out, file, suggestion),
        None => out.push_str("null"),
    }
    out.push_str("}\n");
}

/// `start` and `end` count bytes from the beginning of the file, lines and columns from 1.
fn json_suggestion(out: &mut String, file: &dyn Quoted, suggestion: &Suggestion) {
    let Span { start, end, .. } = suggestion.span;
    let (line, column) = file.line_col(start);
    let (end_line, end_column) = file.line_col(end);
    out.push_str("{\"file\":");
    quote(out, file.path());
    let _ = write!(
        out,
        ",\"start\":{start},\"end\":{end},\"line\":{line},\"column\":{column},\"end_line\":{end_line},\"end_column\":{end_column},\"replacement\":"
    );
    quote(out, &suggestion.replacement);
    out.push('}');
}

/// Appends a JSON string.
pub(crate) fn quote(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Whether reports should be coloured: according to cargo's settings, else if stderr is a terminal.
///
/// In a build script stderr is a pipe to cargo, so the variables decide there.
pub fn color_wanted() -> bool {
    let cargo = std::env::var("CARGO_TERM_COLOR").ok();
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    choose_color(cargo.as_deref(), no_color, std::io::stderr().is_terminal())
}

fn choose_color(cargo: Option<&str>, no_color: bool, terminal: bool) -> bool {
    match cargo {
        Some("always") => true,
        Some("never") => false,
        _ => terminal && !no_color,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::Diagnostics;
    use crate::diagnostics::codes;
    use crate::source::SourceFile;

    fn file(text: &str) -> SourceFile {
        crate::source::load("kernels/a.co", text, &[], &mut Diagnostics::new())
    }

    #[test]
    fn plain_report() {
        let file = file("__co__ void f() {\n  x = y;\n}\n");
        let diagnostic = Diagnostic::new(codes::E0201, Span::new(24, 25), "`y` is not declared")
            .label("unknown name")
            .also(Span::new(14, 15), "in this function")
            .note("names are looked up outwards")
            .help("declare it");
        let expected = "\
error[E0201]: `y` is not declared
   ╭─[ kernels/a.co:2:7 ]
   │
 1 │ __co__ void f() {
   │               ┬
   │               ╰── in this function
 2 │   x = y;
   │       ┬
   │       ╰── unknown name
   │
   │ Help: declare it
   │
   │ Note: names are looked up outwards
───╯
";
        let text = report(&file, &[diagnostic], false);
        assert_eq!(text, expected, "{text}");
    }

    #[test]
    fn columns_count_characters() {
        let file = file("// ä€𝄞\n/* ö */ __co__ void f() { x = 1 $ }\n");
        let at = file.text.find('$').expect("there") as u32;
        let diagnostic = Diagnostic::new(codes::E0104, Span::new(at, at + 1), "unexpected");
        let text = report(&file, std::slice::from_ref(&diagnostic), false);
        assert!(text.contains("kernels/a.co:2:33"), "{text}");
        assert_eq!(file.line_col(at), (2, 33));
        let json = json_lines(&file, &[diagnostic]);
        assert!(
            json.contains("\"line\":2,\"column\":33,\"end_line\":2,\"end_column\":34"),
            "{json}"
        );
    }

    #[test]
    fn odd_line_ends_keep_the_numbers() {
        let file = file("// a\u{c}b\r\n// \u{2028}\n__co__ void f() { $ }\n");
        let at = file.text.find('$').expect("there") as u32;
        let diagnostic = Diagnostic::new(codes::E0104, Span::new(at, at + 1), "unexpected");
        let text = report(&file, &[diagnostic], false);
        assert!(text.contains("kernels/a.co:3:19"), "{text}");
    }

    #[test]
    fn a_long_label_marks_its_first_line() {
        let text = "__co__ void f() {\n a = 1;\n b = 1;\n c = 1;\n d = 1;\n}\n";
        let file = file(text);
        let diagnostic =
            Diagnostic::new(codes::E0350, Span::new(0, text.len() as u32), "no return")
                .label("here");
        let shown = report(&file, &[diagnostic], false);
        assert!(!shown.contains("d = 1"), "{shown}");
    }

    #[test]
    fn macros_are_named() {
        let file = file("#define TWO 2\n__co__ void f() { x = TWO; }\n");
        let at = file.text.rfind("TWO").expect("there") as u32;
        let diagnostic = Diagnostic::new(codes::E0201, Span::new(at, at + 3), "two").label("here");
        assert!(report(&file, std::slice::from_ref(&diagnostic), false).contains("macro `TWO`"));
        assert!(json_lines(&file, &[diagnostic]).contains("\"in the expansion of macro `TWO`\""));
    }

    #[test]
    fn json_is_escaped() {
        let file = file("a\n");
        let diagnostic = Diagnostic::new(codes::W0209, Span::new(0, 1), "a \"b\" \\ \n\u{1}");
        let json = json_lines(&file, &[diagnostic]);
        assert_eq!(
            json,
            "{\"code\":\"W0209\",\"severity\":\"warning\",\"message\":\"a \\\"b\\\" \\\\ \\n\\u0001\",\"spans\":[{\"file\":\"kernels/a.co\",\"line\":1,\"column\":1,\"end_line\":1,\"end_column\":2,\"label\":\"\",\"primary\":true}],\"notes\":[],\"help\":null,\"suggestion\":null}\n"
        );
    }

    #[test]
    fn suggestions_have_bytes_lines_and_columns() {
        let file = file("// é\n// ü x\n");
        let at = Span::new(12, 13);
        let diagnostic = Diagnostic::new(codes::W0209, at, "m").suggest(at, "\"y\"");
        let json = json_lines(&file, &[diagnostic]);
        let part = "\"help\":null,\"suggestion\":{\"file\":\"kernels/a.co\",\"start\":12,\"end\":13,\
                    \"line\":2,\"column\":6,\"end_line\":2,\"end_column\":7,\
                    \"replacement\":\"\\\"y\\\"\"}}\n";
        assert!(json.ends_with(part), "{json}");
    }

    #[test]
    fn spans_outside_the_text_are_harmless() {
        let file = file("");
        let diagnostic = Diagnostic::new(codes::E1104, Span::new(7, 3), "nothing here").label("x");
        assert!(report(&file, std::slice::from_ref(&diagnostic), true).contains("E1104"));
        json_lines(&file, &[diagnostic]);
    }

    #[test]
    fn color() {
        assert!(choose_color(Some("always"), true, false));
        assert!(!choose_color(Some("never"), false, true));
        assert!(!choose_color(Some("auto"), true, true));
        assert!(choose_color(None, false, true));
        let file = file("a\n");
        let diagnostic = Diagnostic::new(codes::E0001, Span::new(0, 1), "m").label("l");
        assert!(report(&file, std::slice::from_ref(&diagnostic), true).contains("\u{1b}["));
        assert!(!report(&file, &[diagnostic], false).contains('\u{1b}'));
    }
}
