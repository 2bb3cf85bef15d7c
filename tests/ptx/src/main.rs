use std::process::ExitCode;
fn main() -> ExitCode {
    let mut census = croq_ptx::census::Census::default();
    for path in std::env::args().skip(2) {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        if let Ok(module) = croq_ptx::parse::parse(&text) {
            census.add(&module);
        }
    }
    for (f, n) in census.forms() {
        println!("{f} {n}");
    }
    ExitCode::SUCCESS
}
