//! Any bytes at all go through every pure stage: no panic, no hang, no memory blow-up.
#![no_main]

use croq_build::diagnostics::render;
use croq_build::pipeline::{FileNames, Options, compile_text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let names = FileNames {
        path: "fuzz.co".to_owned(),
        stem: "fuzz".to_owned(),
        hash: "00000000".to_owned(),
    };
    let compiled = compile_text(&names, &text, &Options::default());
    // Reports must render, wherever their spans fell.
    let _ = render::report(&compiled.file, &compiled.diagnostics, false);
    let _ = render::json_lines(&compiled.file, &compiled.diagnostics);
});
