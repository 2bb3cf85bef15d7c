//! `croq-compare`: what `make compare` runs.

use std::path::Path;
use std::process::ExitCode;

use croq_compare::counts::Counts;
use croq_compare::estimate;
use croq_compare::problem::{PRODUCT_DEPTH, PRODUCT_SIZE, kernels, problems};
use croq_compare::sass::{Code, kernels_of, parse};
use croq_compare::table::{self, All, Measured};

const USAGE: &str = "usage: croq-compare list croq|peers|sizes
       croq-compare run KERNEL
       croq-compare tables FOLDER
       croq-compare estimate FOLDER

list      print the names of the compared kernels, or the sizes of products
run       execute a kernel of croq on its problem, and compare its results with f64
tables    print the tables; FOLDER has NAME.counts.json of each kernel, and NAME.sass of each peer
estimate  print how many clocks each kernel would take on an H100, from the same files";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments.as_slice() {
        ["list", "croq"] => Ok(kernels()[0].join("\n")),
        ["list", "peers"] => Ok(kernels()[1].join("\n")),
        ["list", "sizes"] => Ok(format!("{PRODUCT_SIZE} {PRODUCT_SIZE} {PRODUCT_DEPTH}")),
        ["run", name] => croq_compare::run::run(name).map(|()| format!("{name}: right")),
        ["tables", folder] => {
            measured(Path::new(folder)).and_then(|all| table::all(&problems(), &all))
        }
        ["estimate", folder] => {
            let all = measured(Path::new(folder));
            all.and_then(|all| estimate::table(&problems(), &all))
        }
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn read(folder: &Path, name: &str, ending: &str) -> Result<String, String> {
    let path = folder.join(format!("{name}.{ending}"));
    std::fs::read_to_string(&path).map_err(|error| {
        let path = path.display();
        format!("{path}: {error}; `make compare` writes this file")
    })
}

fn measured(folder: &Path) -> Result<All, String> {
    let mut all = All::new();
    let mut add = |name: &str, code: Code| -> Result<(), String> {
        let counts = Counts::parse(&read(folder, name, "counts.json")?);
        let counts = counts.map_err(|error| format!("{name}: {error}"))?;
        all.insert(name.to_owned(), Measured { code, counts });
        Ok(())
    };
    for pair in problems().iter().flat_map(|problem| &problem.pairs) {
        let source = pair.source;
        let kernels = kernels_of(source.stem, source.text, "sm_90a");
        let mut kernels = kernels.ok_or("machine code needs nvcc and cuobjdump")?;
        let code = kernels.remove(source.kernel);
        add(
            pair.croq,
            code.ok_or_else(|| format!("no {}", source.kernel))?,
        )?;
        let code = parse(&read(folder, pair.peer, "sass")?)
            .into_values()
            .next();
        add(
            pair.peer,
            code.ok_or_else(|| format!("no kernel in {}", pair.peer))?,
        )?;
    }
    Ok(all)
}
