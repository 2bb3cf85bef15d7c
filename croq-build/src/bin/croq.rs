//! The `croq` command: checks `.co` files and prints the generated code, for users and editors.

use std::io::Write as _;
use std::process::ExitCode;

use croq_build::command_line;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    let outcome = command_line::run(&args);
    // A closed pipe (`croq emit … | head`) is not an error.
    let _ = std::io::stdout().write_all(outcome.stdout.as_bytes());
    let _ = std::io::stderr().write_all(outcome.stderr.as_bytes());
    ExitCode::from(outcome.status)
}
