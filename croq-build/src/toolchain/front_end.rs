//! `croq check --build`: checks the text for the simulated GPU with the host's C++ compiler,
//! without building anything. An error is either in the user's own C++ or a fault of croq.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::compile::{Twin, own_folders};
use super::environment::Environment;
use super::headers::HEADERS;
use super::host_compiler::HostCompiler;
use super::messages::{self, Origin, Severity};
use super::outputs::{Outputs, unwritable};
use super::problem::Problem;
use crate::diagnostics::{self, Diagnostic, codes};
use crate::source::{SourceFile, Span};

/// The emitted texts of a file.
pub struct Texts<'a> {
    /// The stem of the generated files' names.
    pub stem: &'a str,
    pub device: &'a str,
    pub header: &'a str,
    /// The folder of the `.co` file, for its `#include "…"`.
    pub folder: &'a Path,
    /// The folders of the user's headers.
    pub includes: &'a [PathBuf],
}

/// The compiler's diagnostics, on lines of the `.co` file.
pub fn check(file: &SourceFile, texts: &Texts<'_>) -> Result<Vec<Diagnostic>, Problem> {
    let env = Environment::of_process();
    let machine = machine();
    let compiler = HostCompiler::of(&env, &machine, &machine);
    let mut command = compiler.command()?;
    let folder = Folder::new()?;
    let include = folder.0.join("include");
    let mut outputs = Outputs::in_folder(folder.0.clone());
    for (name, text) in HEADERS {
        outputs.write(&format!("include/{name}"), text)?;
    }
    outputs.write(&format!("{}.h", texts.stem), texts.header)?;
    let path = outputs.write(&format!("{}.cc", texts.stem), texts.device)?;
    command.args(["-fsyntax-only", "-DCROQ_SIM=1"]);
    let own = own_folders(&include, Twin::Sim);
    let folders = own.iter().chain(texts.includes).map(PathBuf::as_path);
    for folder in folders.chain([texts.folder]) {
        command.arg("-I").arg(folder);
    }
    command.arg(&path);
    let output = command.output().map_err(|error| {
        let program = command.get_program().to_string_lossy();
        Problem::new(codes::E1111, format!("can't run {program}: {error}"))
    })?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let origin = Origin {
        path: &file.path,
        source: &file.text,
        device_text: texts.device,
    };
    let codes = Twin::Sim.codes();
    let mut found: Vec<Diagnostic> = Vec::new();
    for message in messages::parse(&text) {
        let diagnostic = origin.diagnostic(&message, &codes).unwrap_or_else(|| {
            let code = match message.severity {
                Severity::Error => codes.error,
                _ => codes.warning,
            };
            let place = message.file.as_deref().unwrap_or("");
            let text = format!("{place}:{}: {}", message.line, message.text);
            Diagnostic::new(code, Span::default(), text)
        });
        if !found
            .iter()
            .any(|d| d.primary.span == diagnostic.primary.span)
        {
            found.push(diagnostic);
        }
    }
    let rejected = found
        .iter()
        .any(|d| d.severity() == diagnostics::Severity::Error);
    if !output.status.success() && !rejected {
        let text = "the C++ compiler rejects the generated text";
        let shown = text.to_owned() + ": " + output_head(&output.stderr).trim();
        found.push(Diagnostic::new(codes.error, Span::default(), shown));
    }
    Ok(found)
}

fn output_head(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.get(..400).unwrap_or(bytes)).into_owned()
}

/// The target triple of the machine that this runs on, as compilers spell it.
fn machine() -> String {
    let arch = std::env::consts::ARCH;
    match std::env::consts::OS {
        "macos" => format!("{arch}-apple-darwin"),
        "linux" => format!("{arch}-unknown-linux-gnu"),
        other => format!("{arch}-unknown-{other}"),
    }
}

/// A temporary folder, removed when the run ends.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, Problem> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("croq-check-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).map_err(|error| unwritable(&path, &error))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that cannot be removed is left to the system's cleaning of temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
