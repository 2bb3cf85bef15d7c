//! `ptx-machine`: looks at PTX files. Programs are executed by tests, through the library.

use std::process::ExitCode;

use croq_ptx::census::Census;
use croq_ptx::parse::{Module, parse};

const USAGE: &str = "usage: ptx-machine check FILES…
       ptx-machine census [--peers LIST] [--examples OUT] FILES…

check    report text that is not PTX, and instructions that the machine does not execute
census   print a table of all instruction forms of the files; LIST has a line for each form that a
         kernel of another project executes: the form, a colon, names of kernels; OUT becomes a
         module with an instruction of each form";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.split_first() {
        Some((command, files)) if command == "check" && !files.is_empty() => check(files),
        Some((command, files)) if command == "census" && !files.is_empty() => census(files),
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn read(path: &str) -> Result<Module, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    parse(&text).map_err(|error| format!("{path}: {error}"))
}

fn check(files: &[String]) -> Result<(), String> {
    let mut refused = 0;
    for path in files {
        let module = read(path)?;
        for (instruction, refusal) in croq_ptx::machine::unsupported(&module) {
            if let Some(refusal) = refusal {
                refused += 1;
                println!("{path}:{}: {refusal}", instruction.line);
            }
        }
    }
    match refused {
        0 => Ok(()),
        count => Err(format!("{count} instructions are not implemented")),
    }
}

fn census(arguments: &[String]) -> Result<(), String> {
    let mut census = Census::default();
    let mut examples = None;
    let mut files = arguments;
    loop {
        files = match files {
            [option, list, rest @ ..] if option == "--peers" => {
                let text = std::fs::read_to_string(list);
                census.add_witnesses(&text.map_err(|error| format!("{list}: {error}"))?);
                rest
            }
            [option, path, rest @ ..] if option == "--examples" => {
                examples = Some(path);
                rest
            }
            _ => break,
        };
    }
    for path in files {
        census.add(&read(path)?);
    }
    print!("{census}");
    match examples {
        Some(path) => std::fs::write(path, census.examples().to_string())
            .map_err(|error| format!("{path}: {error}")),
        None => Ok(()),
    }
}
