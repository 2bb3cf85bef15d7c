//! Reads and compiles the files of the command line.

use std::fmt::Write as _;
use std::path::Path;

use super::arguments::Arguments;
use crate::diagnostics::{Diagnostic, codes};
use crate::pipeline::{self, Compiled, FileNames};
use crate::toolchain::directives;
use crate::toolchain::problem::Problem;
use crate::toolchain::{headers, inputs};

/// The files of the command line, with those below folders in place of these.
pub(super) fn files(args: &Arguments) -> Vec<Result<String, Diagnostic>> {
    let mut files = Vec::new();
    for given in &args.files {
        let path = Path::new(given);
        if !path.is_dir() {
            files.push(Ok(given.clone()));
            continue;
        }
        match inputs::below(path) {
            Ok(below) => files.extend(below.iter().map(|file| {
                let name = inputs::printable(file).map_err(diagnostic)?;
                Ok(name.to_owned())
            })),
            Err(problem) => files.push(Err(diagnostic(problem))),
        }
    }
    files
}

/// A report about a file that cannot be read.
pub(super) fn shown(why: &Diagnostic) -> String {
    let advice = advice(&why.notes, why.help.as_deref());
    format!("error[{}]: {}\n{advice}", why.code, why.message)
}

/// The lines below a message.
pub(super) fn advice(notes: &[String], help: Option<&str>) -> String {
    let notes = notes.iter().map(|note| ("note", note.as_str()));
    let mut text = String::new();
    for (kind, lines) in notes.chain(help.map(|help| ("help", help))) {
        let _ = writeln!(text, "  {kind}: {}", lines.replace('\n', "\n        "));
    }
    text
}

pub(super) fn diagnostic(problem: Problem) -> Diagnostic {
    let nowhere = crate::source::Span::default();
    let mut diagnostic = Diagnostic::new(problem.code, nowhere, problem.message);
    diagnostic.notes = problem.notes;
    diagnostic.help = problem.help;
    diagnostic
}

/// Reads and compiles a file.
pub(super) fn compile(
    path: &str,
    args: &Arguments,
    options: &pipeline::Options,
) -> Result<(Compiled, String), Diagnostic> {
    Ok(compile_text(path, &read(path)?, args, options))
}

/// The text of a file.
pub(super) fn read(path: &str) -> Result<String, Diagnostic> {
    if path.contains(char::is_control) {
        let name = directives::shown(Path::new(path));
        let problem = Problem::new(
            codes::E1104,
            format!("the name {name} has a control character"),
        );
        return Err(diagnostic(problem));
    }
    inputs::read(Path::new(path)).map_err(diagnostic)
}

/// Compiles the text of a file.
pub(super) fn compile_text(
    path: &str,
    text: &str,
    args: &Arguments,
    options: &pipeline::Options,
) -> (Compiled, String) {
    let stem = stem(Path::new(path));
    let hash = blake3::hash(format!("{path}\n{}", headers::abi_version()).as_bytes()).to_hex();
    let names = FileNames {
        path: path.to_owned(),
        stem,
        hash: hash.chars().take(8).collect(),
    };
    pipeline::compile_and_dump(&names, text, options, &args.dump)
}

/// The folder of a file.
pub(super) fn folder(path: &str) -> &Path {
    let parent = Path::new(path).parent();
    parent
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(".".as_ref())
}

/// The stem of the generated files' names.
pub(super) fn stem(path: &Path) -> String {
    path.file_stem()
        .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}
