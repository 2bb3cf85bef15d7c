//! What holds for any text. A broken promise is a panic, which the fuzzer reports.

use croq_build::diagnostics::{Severity, render};
use croq_build::pipeline::{Compiled, FileNames, Options, compile_text};

fn compile(text: &str) -> Compiled {
    let names = FileNames {
        path: "fuzz.co".to_owned(),
        stem: "fuzz".to_owned(),
        hash: "00000000".to_owned(),
    };
    compile_text(&names, text, &Options::default())
}

/// Sends the text through every pure stage. A report must render, wherever its spans fell; nothing
/// is generated from a wrong program; a second run says and makes the same.
pub fn check(text: &str) {
    let compiled = compile(text);
    let report = render::report(&compiled.file, &compiled.diagnostics, false);
    let json = render::json_lines(&compiled.file, &compiled.diagnostics);
    let wrong = compiled
        .diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity() == Severity::Error);
    assert!(
        !wrong || compiled.outputs.is_none(),
        "text is generated from a wrong program:\n{report}"
    );
    for diagnostic in &compiled.diagnostics {
        let span = diagnostic.primary.span;
        assert!(
            span.start <= span.end && span.end as usize <= text.len(),
            "a report outside of the text: {diagnostic:?}"
        );
    }
    // Every text once more would halve the speed.
    if text.len() % 8 == 0 {
        let again = compile(text);
        assert_eq!(again.outputs, compiled.outputs, "two runs differ");
        assert_eq!(
            render::json_lines(&again.file, &again.diagnostics),
            json,
            "the reports of two runs differ"
        );
    }
}
