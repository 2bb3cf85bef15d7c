//! For every input, the front end neither panics nor hangs, and its time is linear.

use proptest::prelude::*;

use super::{FORMS, parse_file};
use crate::diagnostics::render;
use crate::source::steps::during;

const WORDS: &[&str] = &[
    "__co__",
    "void",
    "f32",
    "int",
    "shared",
    "local",
    "mutable",
    "mdspan",
    "ituple",
    "event",
    "frag",
    "parallel",
    "by",
    "with",
    "in",
    "where",
    "foreach",
    "if",
    "else",
    "while",
    "break",
    "yield",
    "return",
    "inthreads",
    "dma",
    "tma",
    ".copy",
    ".pad",
    ".async",
    ".swiz",
    ".any",
    "swap",
    "rotate",
    "select",
    "wait",
    "trigger",
    "after",
    "sync",
    ".barrier",
    "mma",
    ".fill",
    ".row",
    ".col",
    ".load",
    ".store",
    "apply",
    "call",
    "assert",
    "print",
    "true",
    "inf",
    "__to",
    "__cpp__",
    "__asm__",
    "volatile",
    "group-4",
    "block",
    "a",
    "b",
    "_",
    "__x",
    "1",
    "2.5f",
    "0x",
    "\"s\"",
    "R\"(r)\"",
    ".at",
    ".data",
    ".span",
    ".chunkat",
    ".subspan",
    ".view",
    ".from",
    "+",
    "-",
    "*",
    "/",
    "%",
    "++",
    "--",
    "<<",
    ">>",
    "&",
    "|",
    "^",
    "~",
    "&&",
    "||",
    "!",
    "<",
    ">",
    "<=",
    "==",
    "?",
    "??",
    ":",
    "::",
    "=",
    "+=",
    "#",
    "#+",
    "=>",
    "<->",
    "->",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "[[",
    "]]",
    ",",
    ";",
    ".",
    "\n",
    "\n#define A (",
    "\n#define F(x) x x A",
    "\n#if",
    "\n#else",
    "\n#endif",
    "A",
    "F(",
    "for",
    "do",
    "switch",
    "goto",
    "const",
    "@",
    "'",
    "/*",
    "*/",
    "//",
    "__device__",
    "__cok__",
];

/// Scans, parses and renders; spans must be inside the text.
fn survive(text: &str) {
    let (_, diags, file) = parse_file(text);
    for d in &diags {
        for label in std::iter::once(&d.primary).chain(&d.secondary) {
            assert!(
                label.span.start <= label.span.end && label.span.end as usize <= text.len(),
                "{d:?}"
            );
        }
    }
    let few = &diags[..diags.len().min(20)];
    render::report(&file, few, true);
    render::json_lines(&file, few);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn token_soup(words in proptest::collection::vec(proptest::sample::select(WORDS), 0..200)) {
        survive(&format!("__co__ void f() {{ {} }}", words.join(" ")));
    }

    #[test]
    fn file_soup(words in proptest::collection::vec(proptest::sample::select(WORDS), 0..200)) {
        survive(&words.join(" "));
    }

    #[test]
    fn byte_soup(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let text = String::from_utf8_lossy(&bytes);
        survive(&text);
        survive(&format!("__co__ void f() {{ {text} }}"));
    }

    #[test]
    fn mutilated_program(cut in 0usize..6000, len in 0usize..40, paste in proptest::sample::select(WORDS)) {
        let mut text = format!("__co__ void f() {{{FORMS}}}");
        let at = cut % text.len();
        let end = (at + len).min(text.len());
        if text.is_char_boundary(at) && text.is_char_boundary(end) {
            text.replace_range(at..end, paste);
        }
        survive(&text);
    }
}

/// The work of the front end: bytes, tokens and rules.
fn steps(text: &str) -> u64 {
    during(|| drop(parse_file(text)))
}

/// The number of steps is linear in the length of the text, for every kind of error.
#[test]
fn linear() {
    let good = format!("__co__ void f() {{{FORMS}}}\n");
    let body = |unit: &str, n: usize| format!("__co__ void f() {{ {} }}", unit.repeat(n));
    let kinds: Vec<(&str, Box<dyn Fn(usize) -> String>)> = vec![
        ("functions", Box::new(move |n| good.repeat(n.div_ceil(100)))),
        (
            "statements",
            Box::new(move |n| body("x = a.at(i) + 1;\n", n)),
        ),
        ("errors", Box::new(move |n| body("x = ;\n", n))),
        ("open parentheses", Box::new(move |n| body("f(1;\n", n))),
        (
            "macro calls never closed",
            Box::new(move |n| format!("#define F(x) x\n{}", body("F( ", n))),
        ),
        (
            "statements with such a call",
            Box::new(move |n| format!("#define F(x) x\n{}", body("F(1;\n", n))),
        ),
        (
            "macro uses",
            Box::new(move |n| format!("#define F(x) x\n#define G 1\n{}", body("y = F(G);\n", n))),
        ),
        ("closing braces", Box::new(move |n| "} ".repeat(n))),
        ("open blocks", Box::new(move |n| body("if (a) { x = ", n))),
        ("unknown characters", Box::new(move |n| body("@ ", n))),
        (
            "open device functions",
            Box::new(move |n| "__device__ void g() {\n__co__ void f() {}\n".repeat(n)),
        ),
        (
            "dead branches",
            Box::new(move |n| "#if 0\nint f() {\n#endif\n".repeat(n)),
        ),
        ("open conditionals", Box::new(move |n| "#if 0\n".repeat(n))),
        ("hashes", Box::new(move |n| body("\n# ", n))),
        ("quotes", Box::new(move |n| body("\" ' ", n))),
        (
            "long list",
            Box::new(move |n| format!("__co__ void f() {{ x = {{{}1}}; }}", "1, ".repeat(n))),
        ),
    ];
    for (name, make) in kinds {
        let (small, large) = (steps(&make(200)), steps(&make(3200)));
        // Sixteen times the text, plus a constant; quadratic work would take 256 times as many.
        // many.
        assert!(large > 200, "{name}: {large} steps, which can't be all");
        assert!(
            large <= small * 17 + 1000,
            "{name}: {small} steps for 200, {large} for 3200"
        );
    }
}
