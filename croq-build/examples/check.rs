//! Prints every diagnostic of the files given, and the IR with `--ir`.
use croq_build::{diagnostics::Diagnostics, sema, source, syntax};

fn main() {
    let ir = std::env::args().any(|a| a == "--ir");
    for path in std::env::args().skip(1).filter(|a| a != "--ir") {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let mut diags = Diagnostics::new();
        let file = source::load(&path, &text, &[], &mut diags);
        let functions = syntax::parse(&file, &mut diags);
        let program = sema::check(&file, &functions, &sema::Options::default(), 1, &mut diags);
        let all = diags.into_sorted();
        println!(
            "== {path}: {} of {} functions, {} diagnostics",
            program.len(),
            functions.len(),
            all.len()
        );
        for d in &all {
            let (l, c) = file.line_col(d.primary.span.start);
            println!(
                "[{}] {}:{}:{} {} -- {}",
                d.code, path, l, c, d.message, d.primary.text
            );
        }
        if ir {
            for checked in &program {
                println!("{:#?}", checked.function);
            }
        }
    }
}
