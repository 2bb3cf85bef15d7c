//! `ptx-machine`: looks at PTX files, and counts what the kernels of a program execute. Tests execute
//! kernels through the library.

use std::path::Path;
use std::process::{Command, ExitCode};

use croq_ptx::census::Census;
use croq_ptx::parse::{Module, parse};

const USAGE: &str = "usage: ptx-machine check FILES…
       ptx-machine census [--peers LIST] [--examples OUT] FILES…
       ptx-machine --count [--json OUT] PROGRAM ARGUMENTS…

check    report text that is not PTX, and instructions that the machine does not execute
census   print a table of all instruction forms of the files; LIST has a line for each form that a
         kernel of another project executes: the form, a colon, names of kernels; OUT becomes a
         module with an instruction of each form
--count  execute a program, whose CUDA runtime is that of the test toolkit, with CROQ_DEVICE=cuda, and
         print a table of what each kernel has executed; OUT gets the same as JSON";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.split_first() {
        Some((command, files)) if command == "check" && !files.is_empty() => check(files),
        Some((command, files)) if command == "census" && !files.is_empty() => census(files),
        Some((command, rest)) if command == "--count" => count(rest),
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

/// The runtime writes the table to the file that `CROQ_PTX_COUNT` names, and the JSON beside it.
fn count(arguments: &[String]) -> Result<(), String> {
    let (json, command) = match arguments {
        [option, path, rest @ ..] if option == "--json" => (Some(path), rest),
        rest => (None, rest),
    };
    let [program, arguments @ ..] = command else {
        return Err(USAGE.to_owned());
    };
    let name = format!("ptx-machine-{}.txt", std::process::id());
    let table = std::env::temp_dir().join(name);
    let mut beside = table.clone().into_os_string();
    beside.push(".json");
    let mut run = Command::new(program);
    run.args(arguments).env("CROQ_PTX_COUNT", &table);
    run.env("CROQ_DEVICE", "cuda");
    // `make test` disables the device for all but a few programs.
    if std::env::var_os("CROQ_PTX_RUNTIME").is_some_and(|library| library == "off") {
        run.env_remove("CROQ_PTX_RUNTIME");
    }
    let status = run.status().map_err(|error| format!("{program}: {error}"));
    let counts = take(&table).and_then(|table| Ok((table, take(Path::new(&beside))?)));
    let status = status?;
    let (table, found) = counts.map_err(|error| {
        format!("{program} has executed no kernel on the PTX machine ({status}): {error}")
    })?;
    print!("{table}");
    if let Some(path) = json {
        std::fs::write(path, found).map_err(|error| format!("{path}: {error}"))?;
    }
    match status.success() {
        true => Ok(()),
        false => Err(format!("{program}: {status}")),
    }
}

/// The text of a file, which is removed.
fn take(path: &Path) -> std::io::Result<String> {
    let text = std::fs::read_to_string(path)?;
    std::fs::remove_file(path)?;
    Ok(text)
}
