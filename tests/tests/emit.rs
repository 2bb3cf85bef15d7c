//! Golden files: each `.co` file of `tests/emit` with the compiler's output beside it.
//! `CROQ_BLESS=1 cargo test --test emit` writes them again; review them as a diff.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use croq_build::diagnostics::{Severity, render};
use croq_build::emit;
use croq_build::pipeline::{Dump, FileNames, Options, SEMA, compile_and_dump, compile_text};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("emit")
}

/// The stems of the files with this extension, in order.
fn stems(extension: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder()).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .expect("UTF-8");
        if let Some(stem) = name.strip_suffix(extension) {
            found.push(stem.to_owned());
        }
    }
    found.sort();
    found
}

/// The texts that are compared, by the end of the file's name.
fn outputs(stem: &str) -> [(&'static str, String); 6] {
    let text = fs::read_to_string(folder().join(format!("{stem}.co"))).expect("UTF-8");
    let names = FileNames {
        path: format!("{stem}.co"),
        stem: stem.to_owned(),
        hash: "0badf00d".to_owned(),
    };
    let dump = |stage: &str| {
        let mut dump = Dump::default();
        dump.add(stage).expect("a stage");
        compile_and_dump(&names, &text, &Options::default(), &dump)
    };
    let (compiled, sema) = dump(SEMA);
    let errors: Vec<_> = compiled
        .diagnostics
        .iter()
        .filter(|d| d.severity() == Severity::Error)
        .cloned()
        .collect();
    let report = render::report(&compiled.file, &errors, false);
    let outputs = compiled.outputs.unwrap_or_else(|| panic!("{report}"));
    let last = croq_build::passes::table::all().last().expect("passes");
    [
        (".sema.ir", sema),
        (".final.ir", dump(last.name).1),
        (".cc", emit::for_people(&outputs.device)),
        (".h", emit::for_people(&outputs.header)),
        (".shims.rs", outputs.shims),
        (".wrappers.rs", emit::rust_for_people(&outputs.wrappers)),
    ]
}

/// The first lines that differ.
fn difference(expected: &str, found: &str) -> String {
    let expected: Vec<&str> = expected.lines().collect();
    let found: Vec<&str> = found.lines().collect();
    let same = expected
        .iter()
        .zip(&found)
        .take_while(|(a, b)| a == b)
        .count();
    let part = |lines: &[&str]| {
        lines
            .iter()
            .skip(same)
            .take(8)
            .fold(String::new(), |text, line| text + line + "\n")
    };
    format!(
        "line {}\n--- expected\n{}--- found\n{}",
        same + 1,
        part(&expected),
        part(&found)
    )
}

#[test]
fn what_is_made_of_programs() {
    let bless = std::env::var_os("CROQ_BLESS").is_some_and(|v| v == "1");
    let stems = stems(".co");
    assert_eq!(stems.len(), 13, "{stems:?}");
    let mut wrong = String::new();
    for stem in &stems {
        for (end, found) in outputs(stem) {
            let at = folder().join(format!("{stem}{end}"));
            if bless {
                fs::write(&at, &found).expect("a writable folder");
                continue;
            }
            let expected = fs::read_to_string(&at).unwrap_or_default();
            if expected != found {
                let _ = writeln!(wrong, "{stem}{end}: {}", difference(&expected, &found));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}CROQ_BLESS=1 rewrites the files");
}

#[test]
fn no_golden_file_without_a_program() {
    let sources = stems(".co");
    for end in [".ir", ".cc", ".h", ".rs"] {
        for stem in stems(end) {
            let source = stem.split('.').next().unwrap_or_default().to_owned();
            assert!(
                sources.contains(&source),
                "{stem}{end} belongs to no program"
            );
        }
    }
}

/// The output of `croq emit` for the kernels in the repository has at most 120 columns.
#[test]
fn lines_that_people_read_are_short() {
    let mut folders = vec![
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../kernels/co")
            .canonicalize()
            .expect("a folder"),
    ];
    let mut files = 0;
    let mut long = String::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a readable folder") {
            let path = entry.expect("a readable entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).expect("UTF-8");
            let names = FileNames {
                path: path.display().to_string(),
                stem: "kernel".to_owned(),
                hash: "0badf00d".to_owned(),
            };
            let compiled = compile_text(&names, &text, &Options::default());
            let outputs = compiled.outputs.expect("a program that is right");
            let shown = [
                emit::for_people(&outputs.device),
                emit::for_people(&outputs.header),
                emit::rust_for_people(&outputs.wrappers),
            ];
            for line in shown.iter().flat_map(|text| text.lines()) {
                if line.chars().count() > 120 {
                    let _ = writeln!(long, "{}: {line}", path.display());
                }
            }
            files += 1;
        }
    }
    assert!(files >= 30, "{files} kernels");
    assert!(long.is_empty(), "{long}");
}
