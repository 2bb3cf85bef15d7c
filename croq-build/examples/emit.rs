//! Prints the device text of the files given, after the passes; `--out DIR` writes it there.
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
        let stem = std::path::Path::new(&path)
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy();
        let meta = emit::FileMeta {
            stem: stem.to_string(),
            path: path.clone(),
            hash: "00000000".into(),
            cuda: false,
            unchecked: false,
        };
        let text = emit::device_text(&meta, &file, &program);
        match &out {
            None => print!("{text}"),
            Some(folder) => {
                if let Err(error) = std::fs::write(format!("{folder}/{stem}.cc"), text) {
                    eprintln!("{folder}: {error}");
                }
            }
        }
    }
}
