//! `croq fix`: applies the corrections that are certain.
//!
//! A file is replaced as a whole, by renaming a complete one, and only if the corrected text has no
//! error that the file did not have.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use super::arguments::Arguments;
use super::input;
use super::outcome::{DIAGNOSTICS, Outcome};
use crate::diagnostics::{Diagnostic, Severity, Suggestion, apply, render};
use crate::pipeline;
use crate::source::SourceFile;

/// Prints the corrections, and changes no file.
pub(super) const DRY_RUN: &str = "--dry-run";

pub(super) fn fix(args: &Arguments) -> Outcome {
    let dry_run = args.switches.iter().any(|switch| switch == DRY_RUN);
    let options = pipeline::Options {
        texts: false,
        ..args.options.clone()
    };
    let mut outcome = Outcome::default();
    for path in input::files(args) {
        let read = path.and_then(|path| Ok((input::read(&path)?, path)));
        let fixed = read
            .map_err(|why| input::shown(&why))
            .and_then(|(text, path)| of_file(&path, &text, args, &options, dry_run));
        match fixed {
            Ok(Fixed { shown, clean }) => {
                outcome.stdout.push_str(&shown);
                if !clean {
                    outcome.status = DIAGNOSTICS;
                }
            }
            Err(why) => {
                outcome.stderr.push_str(&why);
                outcome.status = DIAGNOSTICS;
            }
        }
    }
    outcome
}

struct Fixed {
    shown: String,
    /// Whether the file has no error any more.
    clean: bool,
}

/// Corrects one file. An error says why it is unchanged.
fn of_file(
    path: &str,
    text: &str,
    args: &Arguments,
    options: &pipeline::Options,
    dry_run: bool,
) -> Result<Fixed, String> {
    let (before, _) = input::compile_text(path, text, args, options);
    let with_suggestion = before.diagnostics.iter().filter_map(|diagnostic| {
        let suggestion = diagnostic.suggestion.as_deref()?;
        Some((diagnostic, suggestion.clone()))
    });
    let (reports, suggestions): (Vec<&Diagnostic>, Vec<Suggestion>) = with_suggestion.unzip();
    let applied = apply(text, &suggestions);
    if applied.applied.is_empty() {
        return Ok(Fixed {
            shown: format!("{path}: nothing to correct\n"),
            clean: errors(&before.diagnostics).next().is_none(),
        });
    }
    let (after, _) = input::compile_text(path, &applied.text, args, options);
    let new = new_errors(&before.diagnostics, &after.diagnostics);
    if !new.is_empty() {
        let report = render::report(&after.file, &new, render::color_wanted());
        return Err(format!(
            "{path}: unchanged, because the corrected text has new errors:\n{report}"
        ));
    }
    let mut shown = String::new();
    if dry_run {
        let chosen = applied.applied.iter().filter_map(|at| suggestions.get(*at));
        diff(&mut shown, &before.file, text, &chosen.collect::<Vec<_>>());
    } else {
        replace(Path::new(path), text, &applied.text)
            .map_err(|why| format!("{path}: unchanged: {why}\n"))?;
        for report in applied.applied.iter().filter_map(|at| reports.get(*at)) {
            let (line, column) = before.file.line_col(report.primary.span.start);
            let _ = writeln!(shown, "{path}:{line}:{column}: corrected {}", report.code);
        }
    }
    if applied.overlapping > 0 {
        let _ = writeln!(
            shown,
            "{path}: {} more overlap with these: run `croq fix` again",
            applied.overlapping
        );
    }
    let clean = errors(&after.diagnostics).next().is_none();
    Ok(Fixed { shown, clean })
}

fn errors(diagnostics: &[Diagnostic]) -> impl Iterator<Item = &Diagnostic> {
    let all = diagnostics.iter();
    all.filter(|diagnostic| diagnostic.severity() == Severity::Error)
}

/// The errors that are not among the earlier ones, wherever they are.
fn new_errors(before: &[Diagnostic], after: &[Diagnostic]) -> Vec<Diagnostic> {
    let key = |diagnostic: &Diagnostic| (diagnostic.code, diagnostic.message.clone());
    let mut known: Vec<_> = errors(before).map(key).collect();
    let mut new = Vec::new();
    for error in errors(after) {
        match known.iter().position(|known| *known == key(error)) {
            Some(at) => {
                known.swap_remove(at);
            }
            None => new.push(error.clone()),
        }
    }
    new
}

/// Replaces the contents of a file, if they are still `old`.
fn replace(path: &Path, old: &str, new: &str) -> io::Result<()> {
    // The target of a link is replaced, not the link.
    let path = fs::canonicalize(path)?;
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.croq-fix", std::process::id()));
    let part = path.with_file_name(name);
    let written = write_beside(&path, &part, new).and_then(|()| {
        if fs::read(&path)? != old.as_bytes() {
            return Err(io::Error::other("it has changed meanwhile"));
        }
        fs::rename(&part, &path)
    });
    if written.is_err() {
        // There is nothing more to do about a file that cannot be removed.
        let _ = fs::remove_file(&part);
    }
    written
}

fn write_beside(path: &Path, part: &Path, text: &str) -> io::Result<()> {
    let permissions = fs::metadata(path)?.permissions();
    let mut file = fs::File::create_new(part)?;
    file.write_all(text.as_bytes())?;
    file.set_permissions(permissions)?;
    file.sync_all()
}

/// A unified diff without context. The suggestions are in the order of the text.
fn diff(out: &mut String, file: &SourceFile, text: &str, suggestions: &[&Suggestion]) {
    let _ = writeln!(out, "--- {0}\n+++ {0}", file.path);
    let mut rest = suggestions;
    let mut moved = 0i64;
    while let Some((first, _)) = rest.split_first() {
        // The suggestions that concern the same lines.
        let start = line_start(text, first.span.start as usize);
        let mut end = line_end(text, first);
        let mut count = 1;
        for next in rest.iter().skip(1) {
            if next.span.start as usize >= end {
                break;
            }
            end = end.max(line_end(text, next));
            count += 1;
        }
        let (these, later) = rest.split_at(count);
        rest = later;
        let old = text.get(start..end).unwrap_or_default();
        let inside = these.iter().map(|suggestion| Suggestion {
            span: crate::source::Span::new(
                suggestion.span.start - start as u32,
                suggestion.span.end - start as u32,
            ),
            replacement: suggestion.replacement.clone(),
        });
        let new = apply(old, &inside.collect::<Vec<_>>()).text;
        let (line, _) = file.line_col(start as u32);
        let (removed, added) = (old.lines().count() as i64, new.lines().count() as i64);
        let to = i64::from(line) + moved - i64::from(added == 0);
        let _ = writeln!(out, "@@ -{line},{removed} +{to},{added} @@");
        for line in old.lines() {
            let _ = writeln!(out, "-{line}");
        }
        for line in new.lines() {
            let _ = writeln!(out, "+{line}");
        }
        moved += added - removed;
    }
}

fn line_start(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.rfind('\n').map_or(0, |newline| newline + 1)
}

/// The end of the last line that a suggestion changes.
fn line_end(text: &str, suggestion: &Suggestion) -> usize {
    let (start, end) = (suggestion.span.start as usize, suggestion.span.end as usize);
    if end > start && text.get(..end).is_some_and(|before| before.ends_with('\n')) {
        return end;
    }
    let rest = text.get(end..).unwrap_or_default();
    rest.find('\n')
        .map_or(text.len(), |newline| end + newline + 1)
}

#[cfg(test)]
mod tests {
    use crate::command_line::{Outcome, run};

    fn croq(args: &[&str]) -> Outcome {
        run(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>())
    }

    /// A file with this text, and its path.
    fn file(text: &str) -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("k.co");
        std::fs::write(&path, text).expect("written");
        let path = path.display().to_string();
        (folder, path)
    }

    /// The text after `croq fix`, and its output.
    fn fixed(text: &str) -> (String, Outcome) {
        let (_folder, path) = file(text);
        let outcome = croq(&["fix", &path]);
        (std::fs::read_to_string(&path).expect("the file"), outcome)
    }

    const HEAD: &str = "__co__ void f(global f32 [64] y) {\n";

    /// The code, the statements before, and those after.
    const CASES: &[(&str, &str, &str)] = &[
        (
            "W0359",
            "parallel i by 64 { y.at(i) = __to<f32>((i + 6 & 3) % 2); }",
            "parallel i by 64 { y.at(i) = __to<f32>((i + (6 & 3)) % 2); }",
        ),
        (
            "W0703",
            "parallel i by 64 { y.at(i) = y.at(i) * 0.5; }",
            "parallel i by 64 { y.at(i) = y.at(i) * 0.5f; }",
        ),
        (
            "W0520",
            "parallel b by 2 { parallel t by 32 : thread y.at(b * 32 + t) = 1.0f; }",
            "parallel b by 2 : block { parallel t by 32 : thread y.at(b * 32 + t) = 1.0f; }",
        ),
        (
            "W0850",
            "parallel b by 2 : block { t = dma.copy.zfill y.chunkat(b) => shared; parallel i by 32 : thread y.at(b * 32 + i) = t.data.at(31 - i); }",
            "parallel b by 2 : block { t = dma.copy y.chunkat(b) => shared; parallel i by 32 : thread y.at(b * 32 + i) = t.data.at(31 - i); }",
        ),
        (
            "E0100",
            "parallel i by 64 { y.at(i) = 1.0f }",
            "parallel i by 64 { y.at(i) = 1.0f; }",
        ),
        (
            "E0126",
            "parallel i by 64 { mutable unsigned int v = 1u; v += 1u; y.at(i) = __to<f32>(v); }",
            "parallel i by 64 { mutable u32 v = 1u; v += 1u; y.at(i) = __to<f32>(v); }",
        ),
        (
            "E0108",
            "ituple t = (1, 2); parallel i by 64 { y.at(i) = 1.0f * t(0); }",
            "ituple t = {1, 2}; parallel i by 64 { y.at(i) = 1.0f * t(0); }",
        ),
        (
            "E0107",
            "ituple t = {1, 2}; ituple u = t ((0), 4); parallel i by 64 { y.at(i) = 1.0f * u(0); }",
            "ituple t = {1, 2}; ituple u = t {(0), 4}; parallel i by 64 { y.at(i) = 1.0f * u(0); }",
        ),
        (
            "E0110",
            "parallel b by 2 : block { t = dma.load y.chunkat(b) => shared; parallel i by 32 : thread y.at(b * 32 + i) = t.data.at(31 - i); }",
            "parallel b by 2 : block { t = dma.copy y.chunkat(b) => shared; parallel i by 32 : thread y.at(b * 32 + i) = t.data.at(31 - i); }",
        ),
        (
            "E0119",
            "parallel b by 2 : block { shared f32 [32] t; parallel i by 32 : thread t.at(i) = 1.0f; dma.store t => y.chunkat(b); }",
            "parallel b by 2 : block { shared f32 [32] t; parallel i by 32 : thread t.at(i) = 1.0f; dma.copy t => y.chunkat(b); }",
        ),
        (
            "W0024",
            "// croq: allow(W0620) nothing is lost\n  parallel i by 64 { y.at(i) = 1.0f; }",
            "  parallel i by 64 { y.at(i) = 1.0f; }",
        ),
    ];

    #[test]
    fn certain_corrections_are_applied() {
        for (code, before, after) in CASES {
            for line_end in ["\n", "\r\n"] {
                let text = |statements: &str| {
                    let text = format!("{HEAD}{statements}\n}}\n");
                    text.replace('\n', line_end)
                };
                let (found, outcome) = fixed(&text(before));
                assert_eq!(found, text(after), "{code}: {outcome:?}");
                let said = format!("corrected {code}\n");
                assert!(outcome.stdout.contains(&said), "{code}: {outcome:?}");
                assert_eq!((outcome.status, &*outcome.stderr), (0, ""), "{code}");
            }
        }
    }

    #[test]
    fn the_page_lists_the_corrections() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/checks.md");
        let page = std::fs::read_to_string(page).expect("docs/checks.md");
        let items = page.lines().filter_map(|line| line.strip_prefix("* "));
        let codes = items.filter_map(|item| item.split_once(": "));
        let mut listed: Vec<&str> = codes.flat_map(|(codes, _)| codes.split(", ")).collect();
        let mut tested: Vec<&str> = CASES.iter().map(|(code, ..)| *code).collect();
        // `a_continued_line_keeps_its_line_end`
        tested.push("W0015");
        listed.sort_unstable();
        tested.sort_unstable();
        assert_eq!(listed, tested);
    }

    #[test]
    fn a_continued_line_keeps_its_line_end() {
        let text = |blanks: &str| {
            format!(
                "#define ONE(a) \\{blanks}\r\n  (a)\r\n{HEAD}  parallel i by 64 {{ y.at(i) = 1.0f; }}\r\n}}\r\n"
            )
        };
        assert_eq!(fixed(&text("  ")).0, text(""));
    }

    #[test]
    fn a_dry_run_prints_a_diff() {
        let text = format!(
            "{HEAD}  // croq: allow(W0620) none\n  parallel i by 64 {{\n    y.at(i) = y.at(i) * 0.5;\n  }}\n}}\n"
        );
        let (_folder, path) = file(&text);
        let outcome = croq(&["fix", "--dry-run", &path]);
        assert_eq!(
            outcome.stdout.replace(&path, "PATH"),
            "--- PATH\n+++ PATH\n@@ -2,1 +1,0 @@\n-  // croq: allow(W0620) none\n@@ -4,1 +3,1 @@\n\
             -    y.at(i) = y.at(i) * 0.5;\n+    y.at(i) = y.at(i) * 0.5f;\n"
        );
        assert_eq!(std::fs::read_to_string(&path).expect("the file"), text);
    }

    #[test]
    fn a_file_is_unchanged_if_the_correction_has_new_errors() {
        // What is written to `x` is only reported for a complete function.
        let text = "__co__ void f(s32 [8] x) {\n  parallel i by 8 { x.at(i) = 1 }\n}\n";
        let (_folder, path) = file(text);
        let outcome = croq(&["fix", "--deny", "W0620", &path]);
        assert_eq!(outcome.status, 1, "{outcome:?}");
        for part in ["k.co: unchanged", "new errors", "error[W0620]"] {
            assert!(outcome.stderr.contains(part), "{outcome:?}");
        }
        assert_eq!(std::fs::read_to_string(&path).expect("the file"), text);
        let outcome = croq(&["fix", &path]);
        assert_eq!((outcome.status, &*outcome.stderr), (0, ""));
        let corrected = std::fs::read_to_string(&path).expect("the file");
        assert_eq!(corrected, text.replace("= 1 ", "= 1; "));
    }

    #[test]
    fn of_two_that_overlap_the_first_is_applied() {
        let text = |operands: &str| {
            format!(
                "{HEAD}  parallel i by 64 {{ s32 n = i; y.at(i) = __to<f32>({operands}); }}\n}}\n"
            )
        };
        let (_folder, path) = file(&text("n & 3 | 4 ^ 1"));
        let mut texts = Vec::new();
        for _ in 0..3 {
            let outcome = croq(&["fix", &path]);
            texts.push((
                std::fs::read_to_string(&path).expect("the file"),
                outcome
                    .stdout
                    .contains("1 more overlap with these: run `croq fix` again"),
            ));
        }
        assert_eq!(
            texts,
            [
                (text("(n & 3) | 4 ^ 1"), true),
                (text("((n & 3) | 4) ^ 1"), false),
                (text("((n & 3) | 4) ^ 1"), false),
            ]
        );
    }

    #[test]
    fn macros_and_templates_are_not_corrected() {
        let of_macro = format!(
            "#define HALF 0.5\n{HEAD}  parallel i by 64 {{ y.at(i) = y.at(i) * HALF; }}\n}}\n"
        );
        let mixed = of_macro.replace("0.5", "__to<f32>(4 & 3 | 1)");
        for text in [of_macro, mixed] {
            let (_folder, path) = file(&text);
            assert!(croq(&["check", &path]).stderr.contains("macro `HALF`"));
            let (found, outcome) = fixed(&text);
            assert_eq!(found, text, "{outcome:?}");
            assert!(outcome.stdout.contains("nothing to correct"), "{outcome:?}");
        }
        // For f64 the literal is right.
        let of_template = "template <typename T>\n__co__ void f(global T [64] y) {\n  parallel i by 64 { y.at(i) = y.at(i) * 0.5; }\n}\n\
                           template __co__ f<f32>;\ntemplate __co__ f<f64>;\n";
        assert_eq!(fixed(of_template).0, of_template);
    }

    #[test]
    fn nothing_is_left_beside_the_file() {
        let (folder, path) = file(&format!(
            "{HEAD}  parallel i by 64 {{ y.at(i) = 1.0f }}\n}}\n"
        ));
        assert_eq!(croq(&["fix", &path]).status, 0);
        let left = std::fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(left, 1);
        let missing = croq(&["fix", "missing.co"]);
        assert_eq!(missing.status, 1);
        assert!(
            missing.stderr.contains("can't read missing.co"),
            "{missing:?}"
        );
        assert_eq!(croq(&["fix"]).status, 2);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_remain() {
        use std::os::unix::fs::PermissionsExt as _;
        let (folder, path) = file(&format!(
            "{HEAD}  parallel i by 64 {{ y.at(i) = 1.0f }}\n}}\n"
        ));
        let mode = std::fs::Permissions::from_mode(0o640);
        std::fs::set_permissions(&path, mode).expect("permissions");
        let link = folder.path().join("link.co");
        std::os::unix::fs::symlink(&path, &link).expect("a link");
        assert_eq!(croq(&["fix", &link.display().to_string()]).status, 0);
        assert!(link.is_symlink());
        let metadata = std::fs::metadata(&path).expect("the file");
        assert_eq!(metadata.permissions().mode() & 0o777, 0o640);
        let text = std::fs::read_to_string(&path).expect("the file");
        assert!(text.contains("1.0f; }"), "{text}");
    }
}
