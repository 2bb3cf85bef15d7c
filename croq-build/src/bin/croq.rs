//! The `croq` command: checks `.co` files and prints the generated code, for users and editors.

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use croq_build::command_line::{self, CANNOT_WRITE};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    let outcome = command_line::run(&args);
    // Where standard error can't be written either, the status is all that is left to say so.
    let reports = write(std::io::stderr(), &outcome.stderr);
    let Err(error) = write(std::io::stdout(), &outcome.stdout).and(reports) else {
        return ExitCode::from(outcome.status);
    };
    let _ = writeln!(std::io::stderr(), "croq: cannot write the output: {error}");
    ExitCode::from(CANNOT_WRITE)
}

/// A closed pipe (`croq emit … | head`) is not an error.
fn write(mut file: impl Write, text: &str) -> std::io::Result<()> {
    match file.write_all(text.as_bytes()).and_then(|()| file.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
