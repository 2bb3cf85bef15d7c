//! Prints the device text of the files given, after the passes; `--out DIR` writes it there, with
//! its header.
use croq_build::{diagnostics::Diagnostics, emit, passes, sema, source, syntax};

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let out = args.iter().position(|a| a == "--out").map(|at| {
        args.remove(at);
        args.remove(at)
    });
    for path in args {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let mut diags = Diagnostics::new();
        let file = source::load(&path, &text, &[], &mut diags);
        let functions = syntax::parse(&file, &mut diags);
        let mut program = sema::check(&file, &functions, &sema::Options::default(), &mut diags);
        program.iter_mut().for_each(passes::run);
        let stem = path.trim_end_matches(".co").replace('/', "_");
        let meta = emit::FileMeta {
            stem: stem.clone(),
            path: path.clone(),
            hash: "00000000".into(),
            cuda: true,
            unchecked: false,
        };
        let text = emit::device_text(&meta, &file, &program);
        let header = emit::header(&meta, &program, &file.text);
        match &out {
            None => print!("{text}"),
            Some(folder) => {
                for (text, end) in [(text, "cc"), (header, "h")] {
                    if let Err(error) = std::fs::write(format!("{folder}/{stem}.{end}"), text) {
                        eprintln!("{folder}: {error}");
                    }
                }
            }
        }
    }
}
