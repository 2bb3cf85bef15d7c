//! Checks every kernel of `co/wrong.co` by itself. Those that the compiler rejects are left out of what is
//! built, and their diagnostics are kept for the tests; line numbers stay as they are.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use croq_build::diagnostics::{Label, Severity};
use croq_build::pipeline::{FileNames, Options, compile_text};

/// A kernel of a file: its lines, counted from 0, with the `//@` line in front.
struct Kernel {
    name: String,
    indices: String,
    number: i32,
    first: usize,
    last: usize,
}

fn kernels(lines: &[&str]) -> Vec<Kernel> {
    let mut found: Vec<Kernel> = Vec::new();
    let mut open: Option<(usize, String, i32)> = None;
    for (at, line) in lines.iter().enumerate() {
        if let Some(directive) = line.strip_prefix("//@ ") {
            let (indices, number) = directive.split_once(' ').expect("`//@ indices n`");
            open = Some((at, indices.to_owned(), number.parse().expect("a number")));
        } else if let Some(rest) = line.strip_prefix("__co__ void ") {
            let (first, indices, number) = open.take().expect("`//@` in front of a kernel");
            let name = rest.split('(').next().unwrap_or_default().to_owned();
            let end = lines.iter().skip(at).position(|line| *line == "}");
            found.push(Kernel {
                name,
                indices,
                number,
                first,
                last: at + end.expect("a closing brace in the first column"),
            });
        }
    }
    found
}

/// The text with the lines of some kernels empty.
fn without<'a>(lines: &[&str], left_out: impl Iterator<Item = &'a Kernel>) -> String {
    let mut lines = lines.to_vec();
    for kernel in left_out {
        lines[kernel.first..=kernel.last].fill("");
    }
    lines.join("\n") + "\n"
}

/// The lines, counted from 1, of which one has to be in the report on a kernel.
fn marked(lines: &[&str], kernel: &Kernel) -> Vec<usize> {
    let marks = lines.iter().enumerate().filter(|(at, line)| {
        line.split_once("//!").is_some_and(|(_, of)| {
            of.trim() == kernel.name
                || (of.trim().is_empty() && (kernel.first..=kernel.last).contains(at))
        })
    });
    marks.map(|(at, _)| at + 1).collect()
}

/// Code and lines of each error.
fn errors(text: &str) -> Vec<(String, Vec<usize>)> {
    let names = FileNames {
        path: "wrong.co".to_owned(),
        stem: "wrong".to_owned(),
        hash: "00000000".to_owned(),
    };
    let compiled = compile_text(&names, text, &Options::default());
    let errors = compiled.diagnostics.iter();
    let errors = errors.filter(|d| d.severity() == Severity::Error);
    let line = |label: &Label| {
        let before = text.get(..label.span.start as usize).unwrap_or(text);
        before.matches('\n').count() + 1
    };
    errors
        .map(|d| {
            let labels = std::iter::once(&d.primary).chain(&d.secondary);
            (d.code.to_string(), labels.map(line).collect())
        })
        .collect()
}

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    let folder = out.join("co");
    fs::create_dir_all(&folder).expect("a writable folder");
    let mut table = String::from("pub const CASES: &[Case] = &[\n");
    for file in ["wrong", "right"] {
        let path = here.join("co").join(file).with_extension("co");
        println!("cargo::rerun-if-changed={}", path.display());
        let text = fs::read_to_string(&path).expect("UTF-8");
        let lines: Vec<&str> = text.lines().collect();
        let all = kernels(&lines);
        let mut rejected = Vec::new();
        for kernel in &all {
            let alone = without(&lines, all.iter().filter(|k| k.name != kernel.name));
            let errors = match file {
                "wrong" => errors(&alone),
                _ => Vec::new(),
            };
            let runs = match errors.is_empty() {
                true => format!(
                    "Some(|a, b, c, n| crate::kernels::{}(a, b, c, n))",
                    kernel.name
                ),
                false => "None".to_owned(),
            };
            let _ = writeln!(
                table,
                "    Case {{ name: {:?}, indices: {:?}, number: {}, marked: &{:?}, errors: &{}, runs: {runs} }},",
                kernel.name,
                kernel.indices,
                kernel.number,
                marked(&lines, kernel),
                list(&errors),
            );
            if !errors.is_empty() {
                rejected.push(kernel);
            }
        }
        write_if_changed(
            &folder.join(file).with_extension("co"),
            &without(&lines, rejected.into_iter()),
        );
    }
    table.push_str("];\n");
    fs::write(out.join("cases.rs"), table).expect("a writable folder");
    // The simulated GPU is what these tests are about; where nvcc is found, it compiles them for one architecture.
    // The programs are wrong.
    croq_build::Config::new()
        .arch("sm_90a")
        .allow("correctness")
        .allow("W0523")
        .compile(folder);
}

fn list(errors: &[(String, Vec<usize>)]) -> String {
    let errors = errors
        .iter()
        .map(|(code, lines)| format!("({code:?}, &{lines:?})"));
    format!("[{}]", errors.collect::<Vec<_>>().join(", "))
}

fn write_if_changed(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return;
    }
    fs::write(path, text).expect("a writable folder");
}
