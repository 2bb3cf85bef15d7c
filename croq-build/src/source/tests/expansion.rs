//! Tests macros, conditionals, and the locations of their tokens.

use crate::diagnostics::Diagnostics;
use crate::source::token::{Token, TokenKind};
use crate::source::{SourceFile, load};

fn read(text: &str, defines: &[(&str, &str)]) -> SourceFile {
    let mut diags = Diagnostics::new();
    let defines: Vec<(String, String)> = defines
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect();
    let file = load("test.co", text, &defines, &mut diags);
    assert!(diags.is_empty(), "{text}: {diags:#?}");
    file
}

/// The body of the only function, as text.
fn expanded(text: &str) -> String {
    let file = read(text, &[]);
    show(&file.functions[0].tokens)
}

fn show(tokens: &[Token]) -> String {
    let shown: Vec<String> = tokens
        .iter()
        .map(|token| match &token.kind {
            TokenKind::Str(text) => format!("{text:?}"),
            kind => kind.to_string().trim_matches('`').to_string(),
        })
        .skip_while(|text| text != "{")
        .collect();
    shown.join(" ")
}

fn body(prelude: &str, body: &str) -> String {
    expanded(&format!("{prelude}\n__co__ void f() {{\n{body}\n}}\n"))
}

#[test]
fn object_like() {
    assert_eq!(body("#define N 4", "x = N;"), "{ x = 4 ; }");
    assert_eq!(body("#define N", "x = N;"), "{ x = 1 ; }");
    assert_eq!(
        body(
            "#define N 4 // four\n#define M /* no */ N /* four */",
            "x = M;"
        ),
        "{ x = 4 ; }"
    );
    assert_eq!(body("#define N 4\n#define N 5", "x = N;"), "{ x = 5 ; }");
    assert_eq!(body("#define N 4\n#undef N", "x = N;"), "{ x = N ; }");
    assert_eq!(
        body("#define N (1 + \\\n 2)", "x = N;"),
        "{ x = ( 1 + 2 ) ; }"
    );
    assert_eq!(
        body("#define ELEM f16", "shared ELEM x;"),
        "{ shared f16 x ; }"
    );
    assert_eq!(body("#define wait hold", "wait e;"), "{ hold e ; }");
}

#[test]
fn variadic_macros() {
    assert_eq!(
        body("#define F(...) __VA_ARGS__", "f(F(1, 2));"),
        "{ f ( 1 , 2 ) ; }"
    );
    assert_eq!(body("#define F(...) __VA_ARGS__", "f(F());"), "{ f ( ) ; }");
    let prelude = "#define G(a, ...) a(3, ##__VA_ARGS__)";
    assert_eq!(
        body(prelude, "G(f); G(f, x, y);"),
        "{ f ( 3 ) ; f ( 3 , x , y ) ; }"
    );
    // The macro of a `call` is one of C++.
    assert_eq!(body(prelude, "call G(f);"), "{ call G ( f ) ; }");
    let prelude = "#define N 4\n#define F(a, ...) f(__VA_ARGS__, a)";
    assert_eq!(
        body(prelude, "F(1, N, g(2, N));"),
        "{ f ( 4 , g ( 2 , 4 ) , 1 ) ; }"
    );
}

#[test]
fn joined_tokens() {
    let prelude = "#define CAT(a, b) a##b\n#define XCAT(a, b) CAT(a, b)\n#define N 4";
    assert_eq!(body(prelude, "CAT(x, y) = 1;"), "{ xy = 1 ; }");
    assert_eq!(body(prelude, "CAT(x, 1) = CAT(1, 2);"), "{ x1 = 12 ; }");
    assert_eq!(body(prelude, "CAT(x, N) = XCAT(x, N);"), "{ xN = x4 ; }");
    assert_eq!(body(prelude, "CAT(f, 32) CAT(, x);"), "{ f32 x ; }");
    assert_eq!(body(prelude, "x = CAT(N, );"), "{ x = 4 ; }");
    assert_eq!(
        body(prelude, "x = CAT(1 + a, b + 2);"),
        "{ x = 1 + ab + 2 ; }"
    );
    let prelude = "#define F(a) v_ ## a ## _t\n#define W p##q";
    assert_eq!(body(prelude, "F(x) = W;"), "{ v_x_t = pq ; }");
    // Two operators of the language.
    assert_eq!(
        body("#define F(a, b) a # #b", "x = F(p, q);"),
        "{ x = p # # q ; }"
    );
}

#[test]
fn continued_comments() {
    for end in ["\n", "\r\n", "\r"] {
        let text = format!("__co__ void f() {{{end}a; // b \\{end}c;{end}d;{end}}}{end}");
        let mut diags = Diagnostics::new();
        let file = load("test.co", &text, &[], &mut diags);
        assert_eq!(show(&file.functions[0].tokens), "{ a ; d ; }", "{end:?}");
        let codes: Vec<_> = diags.iter().map(|d| d.code.text()).collect();
        assert_eq!(codes, ["W0021"], "{end:?}");
    }
}

#[test]
fn continued_comments_at_file_scope() {
    let reported = |text: &str| -> Vec<u32> {
        let mut diags = Diagnostics::new();
        load("test.co", text, &[], &mut diags);
        let found = diags.iter().filter(|d| d.code.text() == "W0021");
        let starts = found.map(|d| d.primary.span.start);
        starts
            .inspect(|start| assert!(text[*start as usize..].starts_with("\\")))
            .collect()
    };
    for end in ["\n", "\r\n"] {
        let file = |lines: &[&str]| -> String {
            lines.iter().map(|line| format!("{line}{end}")).collect()
        };
        // The next line has text, also behind a line without.
        let lost = file(&["// in C:\\", "int x;"]);
        assert_eq!(reported(&lost), [8], "{end:?}");
        let later = file(&["// in C:\\", "\\", "// b \\", "int x;"]);
        assert_eq!(reported(&later).len(), 1, "{end:?}");
        let device = file(&["__device__ int f() { // C:\\", "return 1;", "return 2; }"]);
        assert_eq!(reported(&device).len(), 1, "{end:?}");
        // Nothing is lost.
        for lines in [
            &["// a \\", "// b", "int x;"][..],
            &["// a \\", "", "int x;"],
            &["/* a \\", "*/ int x;"],
            &["#if 0", "// a \\", "int x;", "#endif"],
            &["// a \\"],
        ] {
            assert_eq!(reported(&file(lines)), [0; 0], "{lines:?}");
        }
    }
}

#[test]
fn function_like() {
    assert_eq!(
        body("#define F(a, b) a * b", "x = F(1 + 2, g(3, 4));"),
        "{ x = 1 + 2 * g ( 3 , 4 ) ; }"
    );
    assert_eq!(
        body("#define F(a) {a}", "x = F([1, 2]);"),
        "{ x = { [ 1 , 2 ] } ; }"
    );
    assert_eq!(
        body("#define F(a) a", "x = F; y = F (\n3\n);"),
        "{ x = F ; y = 3 ; }"
    );
    assert_eq!(body("#define F() 7", "x = F();"), "{ x = 7 ; }");
    assert_eq!(
        body("#define F(a) (a + 1)", "x = F(F(F(0)));"),
        "{ x = ( ( ( 0 + 1 ) + 1 ) + 1 ) ; }"
    );
    assert_eq!(
        body("#define F(a) a\n#define G F", "x = G(3);"),
        "{ x = 3 ; }"
    );
    assert_eq!(body("#define F (3)", "x = F;"), "{ x = ( 3 ) ; }");
    assert_eq!(body("#define EXT(p) #p", "x = EXT(q);"), "{ x = # q ; }");
}

#[test]
fn a_macro_does_not_expand_in_itself() {
    assert_eq!(body("#define N N + 1", "x = N;"), "{ x = N + 1 ; }");
    assert_eq!(
        body("#define A B\n#define B A", "x = A + B;"),
        "{ x = A + B ; }"
    );
    assert_eq!(
        body("#define F(a) F(a) + 1", "x = F(2);"),
        "{ x = F ( 2 ) + 1 ; }"
    );
    assert_eq!(
        body("#define F(a) a\n#define N N + 1", "x = F(N);"),
        "{ x = N + 1 ; }"
    );
}

#[test]
fn strings_and_comments_keep_their_text() {
    assert_eq!(
        body(
            "#define N 4",
            "__cpp__(\"N\" R\"(N)\"); // N\n/* N */ y = N;"
        ),
        "{ __cpp__ ( \"N\" \"N\" ) ; y = 4 ; }"
    );
}

#[test]
fn definitions_of_a_body_end_with_it() {
    let file = read(
        "#define N 1
__co__ void f() {
  a = N;
#define N 2
#define M 3
  b = N + M;
#undef N
  c = N;
}
__co__ void g() { d = N + M; }
",
        &[],
    );
    assert_eq!(
        show(&file.functions[0].tokens),
        "{ a = 1 ; b = 2 + 3 ; c = N ; }"
    );
    assert_eq!(show(&file.functions[1].tokens), "{ d = 1 + M ; }");
}

#[test]
fn conditionals_choose() {
    let text =
        "#if WIDE\n#define W 8\n#elif defined NARROW\n#define W 2\n#else\n#define W 4\n#endif
__co__ void f() {
#ifdef NARROW
  x = 1 + W;
#else
  x = 2 + W;
#endif
}
#ifndef WIDE
__co__ void g() { }
#endif
";
    let cases: [(&[(&str, &str)], &str, usize); 3] = [
        (&[], "{ x = 2 + 4 ; }", 2),
        (&[("WIDE", "")], "{ x = 2 + 8 ; }", 1),
        (&[("NARROW", "1")], "{ x = 1 + 2 ; }", 2),
    ];
    for (defines, expected, functions) in cases {
        let file = read(text, defines);
        assert_eq!(show(&file.functions[0].tokens), expected);
        assert_eq!(file.functions.len(), functions);
    }
}

#[test]
fn a_hash_is_a_directive_only_before_a_known_name() {
    assert_eq!(body("", "x = a\n# i\n#p + 1;"), "{ x = a # i # p + 1 ; }");
    assert_eq!(body("", "#  define N 3\nx = N;"), "{ x = 3 ; }");
}

#[test]
fn spans_are_those_of_the_use() {
    let text = "#define TWO (1 + 1)\n#define ADD(a, b) a + b + TWO\n__co__ void f() { x = TWO; y = ADD(p, TWO); }\n";
    let file = read(text, &[]);
    let places: Vec<(String, &str, Option<&str>)> = file.functions[0]
        .tokens
        .iter()
        .map(|token| {
            (
                token.kind.to_string(),
                file.snippet(token.span),
                file.macro_at(token.span),
            )
        })
        .collect();
    for (kind, snippet, name) in places {
        match name {
            None => assert_eq!(kind.trim_matches('`'), snippet),
            Some("TWO") => assert_eq!(snippet, "TWO"),
            Some("ADD") => assert_eq!(snippet, "ADD(p, TWO)"),
            Some(other) => panic!("{other}"),
        }
    }
    assert_eq!(
        show(&file.functions[0].tokens),
        "{ x = ( 1 + 1 ) ; y = p + ( 1 + 1 ) + ( 1 + 1 ) ; }"
    );
}

#[test]
fn an_unreadable_macro_is_no_error_until_it_is_used() {
    let text = "#define CHECK(x) do { if (!(x)) fail('x', @); } while (0)\n__co__ void f() { }\n__co__ void g() { y = OTHER; }\n";
    read(text, &[]);
    let mut diags = Diagnostics::new();
    let file = load(
        "test.co",
        &text.replace("OTHER", "CHECK(1)"),
        &[],
        &mut diags,
    );
    let found: Vec<_> = diags
        .iter()
        .map(|d| (d.code.text(), file.snippet(d.primary.span)))
        .collect();
    assert_eq!(found, [("E0104", "CHECK(1)")]);
}

#[test]
fn lines_and_columns() {
    let file = read("ab\n\u{e4}x\r\n\ny;", &[]);
    for (byte, expected) in [
        (0, (1, 1)),
        (2, (1, 3)),
        (3, (2, 1)),
        (5, (2, 2)),
        (8, (3, 1)),
        (9, (4, 1)),
        (99, (4, 3)),
    ] {
        assert_eq!(file.line_col(byte), expected, "{byte}");
    }
}
