//! `ptx-machine parse FILES…`: reads PTX and says how much of it there is.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut status = ExitCode::SUCCESS;
    for path in std::env::args().skip(2) {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        match croq_ptx::parse::parse(&text) {
            Ok(module) => println!("{path}: {} functions", module.functions.len()),
            Err(error) => {
                println!("{path}: {error}");
                status = ExitCode::FAILURE;
            }
        }
    }
    status
}
