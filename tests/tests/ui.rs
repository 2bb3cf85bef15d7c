//! The reports for wrong programs: each `.co` file under `tests/ui` with its exact report beside
//! it. `CROQ_BLESS=1 cargo test --test ui` writes the reports again; review them as a diff.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use croq_build::diagnostics::{Diagnostic, Severity, render};
use croq_build::pipeline::{FileNames, Options, compile_text};
use croq_build::source::SourceFile;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn ui() -> PathBuf {
    workspace().join("tests/ui")
}

/// Files below `dir` with this extension, in order.
fn files(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).expect("a readable folder") {
            let path = entry.expect("a readable entry").path();
            if path.is_dir() {
                if path.file_name().is_none_or(|name| name != "target") {
                    open.push(path);
                }
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn check(shown: &str, text: &str) -> (SourceFile, Vec<Diagnostic>) {
    let of_build = Options {
        archs_asked: true,
        ..Options::default()
    };
    compiled(shown, text, &of_build)
}

fn compiled(shown: &str, text: &str, options: &Options) -> (SourceFile, Vec<Diagnostic>) {
    let names = FileNames {
        path: shown.to_owned(),
        stem: "case".to_owned(),
        hash: "00000000".to_owned(),
    };
    let compiled = compile_text(&names, text, options);
    (compiled.file, compiled.diagnostics)
}

fn shown(path: &Path) -> String {
    let inner = path.strip_prefix(ui()).unwrap_or(path);
    inner.to_string_lossy().replace('\\', "/")
}

#[test]
fn reports() {
    let bless = std::env::var_os("CROQ_BLESS").is_some_and(|v| v == "1");
    let mut wrong = String::new();
    let cases = files(&ui(), "co");
    assert!(cases.len() >= 690, "only {} cases", cases.len());
    for path in &cases {
        let text = fs::read_to_string(path).expect("UTF-8");
        let (file, diags) = check(&shown(path), &text);
        let report = render::report(&file, &diags, false);
        let expected_at = path.with_extension("stderr");
        if bless {
            fs::write(&expected_at, &report).expect("a writable folder");
            continue;
        }
        match fs::read_to_string(&expected_at) {
            Ok(expected) if expected == report => {}
            Ok(expected) => {
                let _ = writeln!(
                    wrong,
                    "{}\n--- expected\n{expected}--- found\n{report}",
                    shown(path)
                );
            }
            Err(_) => {
                let _ = writeln!(wrong, "{} has no report; found\n{report}", shown(path));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}CROQ_BLESS=1 rewrites the reports");
}

/// `croq check` generates no text and leaves out what only text needs, but reports what a build reports.
#[test]
fn reports_do_not_depend_on_texts() {
    let of_check = Options {
        archs_asked: true,
        texts: false,
        verify: false,
        ..Options::default()
    };
    let mut wrong = String::new();
    for path in files(&ui(), "co") {
        let text = fs::read_to_string(&path).expect("UTF-8");
        let expected = fs::read_to_string(path.with_extension("stderr")).expect("a report");
        let (file, diags) = compiled(&shown(&path), &text, &of_check);
        let report = render::report(&file, &diags, false);
        if report != expected {
            let shown = shown(&path);
            let _ = writeln!(
                wrong,
                "{shown}\n--- of a build\n{expected}--- without texts\n{report}"
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn no_report_without_a_program() {
    for report in files(&ui(), "stderr") {
        assert!(
            report.with_extension("co").exists(),
            "{} belongs to nothing",
            shown(&report)
        );
    }
}

/// Codes in the sources that no program of `tests/ui` can cause, each with the reason.
const ELSEWHERE: &[(&str, &str)] = &[
    (
        "E1199",
        "an error of croq: unit tests of sema and of the passes",
    ),
    (
        "N1117",
        "more than 100 reports; unit tests of `diagnostics::quota` and tests/bounds.rs",
    ),
    (
        "E1114",
        "depends on the version of nvcc; a test of `sema::tensor_cores::multiply` has an old one",
    ),
    (
        "E0510",
        "depends on the architectures that are asked for; a test of `sema::levels::clusters` asks for old ones",
    ),
    (
        "E0860",
        "depends on the architectures that are asked for; a test of `sema::copies::tma` asks for old ones",
    ),
    (
        "E0905",
        "depends on the architectures that are asked for; a test of `sema::tensor_cores::warpgroup` asks for others",
    ),
];

/// Programs that are examples of warnings.
const ON_PURPOSE: &[(&str, &str)] = &[
    ("tests/run/features/shapes.co", "W0822"),
    // Stores within bytes are what it tests.
    ("tests/run/as_written/packed.co", "W0870"),
    ("tests/run/as_written/packed.co", "W0867"),
    ("tests/run/features/arithmetic.co", "W0348"),
    ("tests/run/features/arithmetic.co", "W0359"),
    ("tests/run/features/device_races.co", "W0523"),
    ("tests/run/features/device_races.co", "W0626"),
    ("tests/run/features/divergence.co", "W0565"),
    ("tests/run/features/levels.co", "W0520"),
    ("tests/run/features/mistakes.co", "W0553"),
    ("tests/run/features/own_memory.co", "W0624"),
    ("tests/run/features/params.co", "W0620"),
    ("tests/run/features/random_tiles.co", "W0348"),
    ("tests/run/features/stops.co", "W0879"),
    ("tests/run/features/stops.co", "W1003"),
    ("tests/run/features/tma.co", "W0867"),
    ("tests/run/features/unwritten.co", "W0621"),
    ("tests/run/as_written/copies.co", "W0549"),
    ("tests/run/as_written/various.co", "W0549"),
];

/// Builds with `CROQ_WARNINGS=deny` allow these codes, and no others.
#[test]
fn the_build_allows_what_is_on_purpose() {
    let script = fs::read_to_string(workspace().join("tests/build.rs")).expect("the build script");
    let allowed: BTreeSet<&str> = script
        .split('"')
        .filter(|word| word.len() == 5 && word.starts_with('W'))
        .collect();
    let listed: BTreeSet<&str> = ON_PURPOSE.iter().map(|(_, code)| *code).collect();
    assert_eq!(allowed, listed);
}

/// The constants of `diagnostics::codes` that a source uses.
fn codes_of_source(text: &str) -> BTreeSet<String> {
    text.split("codes::")
        .skip(1)
        .filter_map(|rest| rest.get(..5))
        .filter(|code| {
            code.starts_with(['E', 'W', 'N']) && code.bytes().skip(1).all(|b| b.is_ascii_digit())
        })
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_code_has_a_case() {
    let mut reported = BTreeSet::new();
    for path in files(&ui(), "stderr") {
        let text = fs::read_to_string(path).expect("UTF-8");
        for line in text.lines() {
            for word in ["error[", "warning[", "note["] {
                if let Some(code) = line.strip_prefix(word).and_then(|rest| rest.get(..5)) {
                    reported.insert(code.to_owned());
                }
            }
        }
    }
    let mut sources: BTreeMap<String, String> = BTreeMap::new();
    for stage in ["diagnostics", "source", "syntax", "sema", "passes"] {
        for path in files(&workspace().join("croq-build/src").join(stage), "rs") {
            if path.file_name().is_some_and(|name| name == "tests.rs") {
                continue;
            }
            let text = fs::read_to_string(&path).expect("UTF-8");
            // Unit tests name codes that they never report.
            let code = text
                .split("#[cfg(test)]\nmod tests {")
                .next()
                .unwrap_or(&text);
            for id in codes_of_source(code) {
                sources.insert(id, path.display().to_string());
            }
        }
    }
    assert!(sources.len() > 400, "found only {} codes", sources.len());
    let missing: Vec<String> = sources
        .iter()
        .filter(|(code, _)| !reported.contains(*code))
        .filter(|(code, _)| !ELSEWHERE.iter().any(|(e, _)| e == code))
        .map(|(code, path)| format!("{code} of {path}"))
        .collect();
    assert!(
        missing.is_empty(),
        "no case in tests/ui for\n{}",
        missing.join("\n")
    );
    for (code, _) in ELSEWHERE {
        assert!(
            sources.contains_key(*code),
            "{code} is gone: drop it from the list"
        );
        assert!(
            !reported.contains(*code),
            "{code} has a case: drop it from the list"
        );
    }
}

/// The README's wrong program gives the report printed below it, and its correction the result that
/// the text states.
#[test]
fn the_report_of_the_readme() {
    let readme = fs::read_to_string(workspace().join("README.md")).expect("README");
    let program = readme
        .split("```croqtile\n")
        .filter_map(|part| part.split("```").next())
        .find(|text| text.contains("smooth"))
        .expect("the wrong program");
    let (file, diags) = check("kernels/smooth.co", program);
    let report = render::report(&file, &diags, false);
    let shown = readme.split("```text\n").nth(1).expect("a report");
    let shown = shown.split("```").next().expect("its end");
    assert_eq!(report.trim(), shown.trim());
    let (_, diags) = check("kernels/smooth.co", &program.replace("j + 1", "j"));
    let codes: Vec<&str> = diags.iter().map(|d| d.code.text()).collect();
    assert_eq!(codes, ["W0879"]);
}

/// The file of this name in `docs/tutorial.md`.
fn of_the_tutorial<'a>(page: &'a str, name: &str) -> &'a str {
    let (_, rest) = page
        .split_once(&format!("**`{name}`**\n\n```croqtile\n"))
        .expect(name);
    rest.split("```").next().unwrap_or_default()
}

/// Each mistake of the tutorial, made in the program that it shows, has the report whose first lines it
/// shows.
#[test]
fn the_mistakes_of_the_tutorial() {
    let page = fs::read_to_string(workspace().join("docs/tutorial.md")).expect("the tutorial");
    let sm_80 = Options {
        archs: vec!["sm_80".parse().expect("an architecture")],
        archs_asked: true,
        ..Options::default()
    };
    let edits = [
        ("blend", "b.at(i, j) -", "b[i, j] -"),
        ("brighter", "cdiv(N, 256)", "N / 256"),
        ("blurred", "(near.data.at(t) ", "(near.at(t) "),
        ("row_sums", "if (t == 0) part", "part"),
        ("times_vector", "swap(now, next);", ""),
        ("product", "mma.row.col", "mma.row.row"),
        ("turned", "turned<f16>", "turned<f16, 64>"),
        ("swing", "(global f32 [N] place", "(f32 [N] place"),
        ("product", "dma.copy a", "tma.copy a"),
    ];
    let mut mistakes = page.split("**A mistake.**").skip(1);
    for (name, from, to) in edits {
        let file = format!("kernels/{name}.co");
        let right = of_the_tutorial(&page, &file);
        let (_, diags) = check(&file, right);
        assert!(diags.is_empty(), "{name} has reports");
        let wrong = right.replacen(from, to, 1);
        assert_ne!(wrong, right, "{name} has no {from}");
        let options = if to.starts_with("tma") {
            &sm_80
        } else {
            &Options::default()
        };
        let (source, diags) = compiled(&file, &wrong, options);
        let report = render::report(&source, &diags, false);
        let shown = mistakes.next().expect("a mistake").split("```text\n");
        let shown = shown.skip(1).find_map(|text| text.split("```").next());
        let shown = shown.expect("a report").trim();
        assert!(report.contains(shown), "{name}:\n{report}");
    }
    assert_eq!(mistakes.count(), 0, "a mistake that nothing checks");
}

/// Whole functions in the README and in `docs` are programs that croq accepts, except the wrong
/// one.
#[test]
fn programs_of_the_documentation() {
    let mut programs = 0;
    let pages = files(&workspace().join("docs"), "md");
    for page in pages.into_iter().chain([workspace().join("README.md")]) {
        let text = fs::read_to_string(&page).expect("UTF-8");
        for block in text.split("```croqtile\n").skip(1) {
            let program = block.split("```").next().unwrap_or_default();
            if !program.contains("__co__") || program.contains('…') || program.contains("smooth")
            {
                continue;
            }
            let (file, diags) = check("page.co", program);
            let report = render::report(&file, &diags, false);
            assert!(!report.contains("error["), "{}:\n{report}", page.display());
            programs += 1;
        }
    }
    assert!(programs >= 6, "{programs} programs");
}

#[test]
fn five_mistakes_five_reports() {
    let text = "\
__co__ f32 [M] f(f32 [M] x, f32 gain, int n) {
  f32 [M] y;
  n = 4;
  parallel p by cdiv(M, 8) : block {
    strip = dma.copy x.subspan(8).at(p) => shared;
    parallel i by 8 : thread {
      mutable f32 v = strip.at(i) * gian;
      if (i) v = 0.0f;
      y.at(p # i, 0) = v + gain;
    }
  }
  return y;
}
";
    let (file, diags) = check("five.co", text);
    let codes: Vec<&str> = diags.iter().map(|d| d.code.text()).collect();
    assert_eq!(
        codes,
        ["E0320", "E0432", "E0201", "E0340", "E0430"],
        "{}",
        render::report(&file, &diags, false)
    );
}

#[test]
fn every_report_is_complete() {
    let mut wrong = String::new();
    for path in files(&ui(), "co") {
        let text = fs::read_to_string(&path).expect("UTF-8");
        let (_, diags) = check(&shown(&path), &text);
        for d in diags {
            let mut complain = |what: &str| {
                let _ = writeln!(wrong, "{}: {} {what}: {}", shown(&path), d.code, d.message);
            };
            if d.primary.text.is_empty() {
                complain("has no text at its place");
            }
            if d.message.ends_with('.') || d.message.starts_with(char::is_uppercase) {
                complain("is no plain sentence");
            }
            if d.primary.span.end as usize > text.len() {
                complain("points outside the text");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn json_lines() {
    let text =
        "__co__ void f(global f32 [8] y) {\n  parallel i by 8 : thread\n    y.at(i) = gain;\n}\n";
    let (file, diags) = check("kernels/a.co", text);
    assert_eq!(
        render::json_lines(&file, &diags),
        "{\"code\":\"E0201\",\"severity\":\"error\",\"message\":\"`gain` is not declared\",\
         \"spans\":[{\"file\":\"kernels/a.co\",\"line\":3,\"column\":15,\"end_line\":3,\
         \"end_column\":19,\"label\":\"nothing of this name is visible here\",\"primary\":true}],\
         \"notes\":[],\"help\":null,\"suggestion\":null}\n"
    );
}

#[test]
fn macros_are_reported_where_they_are_used() {
    let text = "#define SCALED(v) ((v) * gain)\n__co__ void f(global f32 [8] y) {\n  parallel i by 8 : thread\n    y.at(i) = SCALED(y.at(i));\n}\n";
    let (file, diags) = check("a.co", text);
    let [d] = diags.as_slice() else {
        panic!("{}", render::report(&file, &diags, false));
    };
    assert_eq!(file.line(d.primary.span), 4, "{d:?}");
    assert!(file.snippet(d.primary.span).starts_with("SCALED"), "{d:?}");
    let report = render::report(&file, &diags, false);
    assert!(
        report.contains("in the expansion of macro `SCALED`"),
        "{report}"
    );
    assert_eq!(report.matches("SCALED`").count(), 1, "{report}");
}

/// The programs in the repository have no diagnostics.
#[test]
fn programs_we_ship_are_clean() {
    let mut wrong = String::new();
    for dir in ["kernels", "tests/run", "examples"] {
        for path in files(&workspace().join(dir), "co") {
            let text = fs::read_to_string(&path).expect("UTF-8");
            let (file, diags) = check(&path.to_string_lossy(), &text);
            let meant = |d: &Diagnostic| {
                ON_PURPOSE
                    .iter()
                    .any(|(file, code)| path.ends_with(file) && d.code.text() == *code)
            };
            if diags
                .iter()
                .any(|d| d.severity() != Severity::Note && !meant(d))
            {
                wrong.push_str(&render::report(&file, &diags, false));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// A file beside a `main.rs` that is not a module of it would never run.
#[test]
fn every_file_of_tests_is_a_module() {
    for program in [
        "tests/run_features",
        "kernels/tests/run_kernels",
        "tests/machine_code",
        "downstream/tests/packages",
    ] {
        let folder = workspace().join("tests").join(program);
        let all = files(&folder, "rs");
        assert!(all.len() > 2, "{program}");
        let texts = all
            .iter()
            .map(|path| fs::read_to_string(path).expect("UTF-8"));
        let texts: String = texts.collect();
        for path in &all {
            let name = path.file_stem().and_then(|s| s.to_str()).expect("a name");
            let is_named =
                texts.contains(&format!("mod {name};")) || texts.contains(&format!("{name}.rs"));
            assert!(
                name == "main" || is_named,
                "{} is no module",
                path.display()
            );
        }
    }
}

/// The names of the functions of a program that begin with `__co__` and have a body.
fn kernels_of(text: &str) -> BTreeSet<String> {
    let code: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or(line).to_owned() + "\n")
        .collect();
    let headers = code.split("__co__").skip(1);
    let heads = headers.filter_map(|rest| rest.split_once('{').map(|(head, _)| head));
    let named = heads.filter(|head| !head.contains(';'));
    named
        .filter_map(|head| {
            let mut depth = 0;
            let end = head.find(|c| {
                depth += i32::from(c == '[') - i32::from(c == ']');
                c == '(' && depth == 0
            })?;
            let before = &head[..end];
            let of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            // Of a specialisation, the name is before its arguments.
            let before = before.split('<').next()?.trim_end();
            let start = before.rfind(|c| !of_name(c)).map_or(0, |at| at + 1);
            Some(before[start..].to_owned())
        })
        .collect()
}

fn cells(row: &str) -> Vec<&str> {
    row.trim_matches('|').split(" | ").map(str::trim).collect()
}

/// The rows of each table of a text, without its head.
fn tables(text: &str) -> Vec<Vec<Vec<&str>>> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with('|') {
            let rows = lines.by_ref().take_while(|line| line.starts_with('|'));
            found.push(rows.skip(1).map(cells).collect());
        }
    }
    found
}

/// The names in backticks in a cell.
fn names_of(cell: &str) -> BTreeSet<String> {
    let names = cell.split(", ").map(|name| name.trim_matches('`'));
    names.map(str::to_owned).collect()
}

/// The rules of the language's page on programs as people write them, and T, its page on templates.
fn rules() -> BTreeSet<String> {
    let numbered = (1..=35).map(|n| format!("W{n}"));
    numbered.chain(["T".to_owned()]).collect()
}

/// Each kernel in the style of users is in the table of its folder, and each form has two.
#[test]
fn the_table_of_forms_is_complete() {
    let folder = workspace().join("tests/run/as_written");
    let kernels: BTreeSet<String> = files(&folder, "co")
        .iter()
        .flat_map(|path| kernels_of(&fs::read_to_string(path).expect("UTF-8")))
        .collect();
    assert!(kernels.len() > 240, "{}", kernels.len());
    let text = fs::read_to_string(folder.join("README.md")).expect("UTF-8");

    let mut wrong = String::new();
    let mut of_rules = BTreeSet::new();
    let mut named = BTreeSet::new();
    for row in &tables(&text)[0] {
        let [rule, form, list] = row[..] else {
            panic!("three cells: {row:?}");
        };
        of_rules.insert(rule.to_owned());
        let names = names_of(list);
        if names.len() < 2 {
            let _ = writeln!(wrong, "{form} has one example");
        }
        for name in names.difference(&kernels) {
            let _ = writeln!(wrong, "{form} names `{name}`, which is no kernel");
        }
        named.extend(names);
    }
    for kernel in kernels.difference(&named) {
        let _ = writeln!(wrong, "`{kernel}` is in no row");
    }
    // Some forms belong to no rule.
    of_rules.remove("–");
    for rule in rules().symmetric_difference(&of_rules) {
        let _ = writeln!(wrong, "the rule {rule} is in only one of both");
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Each rule that a program can break has one here that does.
#[test]
fn the_table_of_broken_rules_is_complete() {
    let table = workspace().join("tests/run/as_written/README.md");
    let text = fs::read_to_string(table).expect("UTF-8");
    let mut of_rules = BTreeSet::new();
    for row in &tables(&text)[1] {
        let [rule, list] = row[..] else {
            panic!("two cells: {row:?}");
        };
        assert!(of_rules.insert(rule.to_owned()), "{rule} has two rows");
        for name in names_of(list) {
            let case = ui().join(&name).with_extension("co");
            assert!(name == "–" || case.exists(), "{rule}: there is no {name}");
        }
    }
    assert_eq!(of_rules, rules());
}
