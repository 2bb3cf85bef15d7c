//! Reads and compiles the files of the command line.

use std::path::Path;

use super::arguments::Arguments;
use crate::diagnostics::{Diagnostic, codes};
use crate::pipeline::{self, Compiled, FileNames};
use crate::toolchain::directives::shown;
use crate::toolchain::problem::Problem;
use crate::toolchain::{headers, inputs};

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
    let unreadable = |problem: Problem| {
        let mut diagnostic = Diagnostic::new(
            problem.code,
            crate::source::Span::default(),
            problem.message,
        );
        diagnostic.help = problem.help;
        diagnostic
    };
    if path.contains(char::is_control) {
        let name = shown(Path::new(path));
        let problem = Problem::new(
            codes::E1104,
            format!("the name {name} has a control character"),
        );
        return Err(unreadable(problem));
    }
    inputs::read(Path::new(path)).map_err(unreadable)
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
