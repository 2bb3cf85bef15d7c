//! An error does not hide other errors, and other statements are still parsed.

use super::super::ast::*;
use super::{parse_file, show};

#[test]
fn five_errors_are_five_reports() {
    let (functions, diags, file) = parse_file(
        "__co__ void f(f32 [64] a) {
  f32 [64] out;
  parallel p by 8 : blok {
    x = a.at(p) + ;
    for (int i = 0; i < 4; ++i) { y = 1 2; }
    z = 3;
  }
  shared f32 [4 tile;
  out.at(0) = 1;
}
__co__ void g() { ok = 1; }
",
    );
    let found: Vec<_> = diags
        .iter()
        .map(|d| (d.code.text(), file.line(d.primary.span)))
        .collect();
    assert_eq!(
        found,
        [
            ("E0100", 3),
            ("E0100", 4),
            ("E0126", 5),
            ("E0100", 5),
            ("E0100", 8)
        ]
    );
    let [f, g] = functions.as_slice() else {
        panic!("{functions:#?}");
    };
    assert!(matches!(
        f.body
            .iter()
            .map(|stmt| &stmt.kind)
            .collect::<Vec<_>>()
            .as_slice(),
        [
            StmtKind::Buffer { .. },
            StmtKind::Error,
            StmtKind::Error,
            StmtKind::Assign { .. }
        ]
    ));
    assert_eq!(g.body.len(), 1);
}

#[test]
fn a_missing_semicolon_costs_no_statement() {
    let (functions, diags, _) = parse_file("__co__ void f() {\n a = 1\n b = 2\n return\n}");
    assert_eq!(diags.len(), 3);
    assert_eq!(functions[0].body.len(), 3);
}

#[test]
fn names_stay_declared() {
    for text in [
        "x = ;",
        "int x = 1 2;",
        "x = dma.copy a;",
        "x = dma.pad a => b;",
        "const int x = 3;",
        "int x[3];",
        "ituple x;",
    ] {
        let (functions, diags, _) = parse_file(&format!("__co__ void f() {{ {text} }}"));
        assert_eq!(diags.len(), 1, "{text}");
        match &functions[0].body[0].kind {
            StmtKind::Assign { target, value, .. } => {
                assert_eq!(show(target), "x", "{text}");
                assert!(matches!(*value.kind, ExprKind::Error), "{text}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn a_bad_header_still_shows_the_errors_of_its_body() {
    let (functions, diags, file) =
        parse_file("__co__ void f(f32 [4 a) {\n x = ;\n y = ;\n}\n__co__ void g() { }");
    let lines: Vec<_> = diags.iter().map(|d| file.line(d.primary.span)).collect();
    assert_eq!(lines, [1, 2, 3]);
    assert_eq!(functions.len(), 1);
}

#[test]
fn unbalanced_parentheses_end_with_their_statement() {
    for text in [
        "x = (a + b;\ny = ;",
        "x = a.at(1;\ny = ;",
        "foo(a, [b;\ny = ;",
        "if (a { x = 1; }\ny = ;",
    ] {
        let (_, diags, file) = parse_file(&format!("__co__ void f() {{\n{text}\n}}"));
        let lines: Vec<_> = diags.iter().map(|d| file.line(d.primary.span)).collect();
        assert_eq!(lines, [2, 3], "{text}: {diags:#?}");
    }
}

#[test]
fn an_error_in_a_loop_header_keeps_the_loop_body_checked() {
    let (_, diags, file) =
        parse_file("__co__ void f() {\nforeach i on N {\n x = ;\n}\nparallel p 4 {\n y = ;\n}\n}");
    let lines: Vec<_> = diags.iter().map(|d| file.line(d.primary.span)).collect();
    assert_eq!(lines, [2, 3, 5, 6]);
}

#[test]
fn a_keyword_as_a_name_is_reported_once() {
    let (_, diags, _) = parse_file("__co__ void f() { int if = 1; x = if + if; y = if * 2; }");
    assert_eq!(diags.len(), 1);
}

#[test]
fn deep_nesting_is_an_error_not_a_crash() {
    let nest =
        |open: &str, close: &str, n: usize| format!("x = {}1{};", open.repeat(n), close.repeat(n));
    let n = 100_000;
    for text in [
        nest("(", ")", n),
        nest("-", "", n),
        nest("a[", "]", n),
        nest("f(", ")", n),
        nest("|", "|", n),
        nest("{", "}", n),
        nest("1 + ", "", n),
        nest("1 ? 2 : ", "", n),
        format!("x = a{};", ".chunkat(1)".repeat(n)),
        format!("x = a{};", "[1]".repeat(n)),
        format!("x = a{};", "++".repeat(n)),
        format!("{} x = 1;", "if (a) ".repeat(n)),
        format!("{} {{ }}", "if (a) { } else ".repeat(n)),
        format!("{} x = 1;", "parallel by 2 ".repeat(n)),
        format!("{} {}", "{ ".repeat(n), "}".repeat(n)),
    ] {
        let (_, diags, _) = parse_file(&format!("__co__ void f() {{\n{text}\n}}"));
        assert!(
            diags.iter().any(|d| d.message.contains("too deeply")),
            "{}",
            &text[..40]
        );
    }
}

#[test]
fn what_people_write_is_not_too_deep() {
    let sum: Vec<String> = (0..120).map(|i| format!("a.at({i}, k # j)")).collect();
    let list: Vec<String> = (0..5000).map(|i| format!("{i} + 1")).collect();
    let text = format!("x = {};\nt = {{{}}};", sum.join(" + "), list.join(", "));
    let (_, diags, _) = parse_file(&format!("__co__ void f() {{\n{text}\n}}"));
    assert!(diags.is_empty(), "{diags:#?}");
}

#[test]
fn a_name_declared_as_in_another_language_is_declared() {
    for text in [
        "__shared__ float t[128];",
        "extern __shared__ f32 t[];",
        "constexpr int t = 4;",
        "retrun f32 t;",
    ] {
        let (functions, diags, _) = parse_file(&format!("__co__ void f() {{\n{text}\n}}\n"));
        assert_eq!(diags.len(), 1, "{text}: {diags:#?}");
        let [stmt] = functions[0].body.as_slice() else {
            panic!("{text}: {:#?}", functions[0].body);
        };
        let StmtKind::Assign { target, .. } = &stmt.kind else {
            panic!("{text}: {stmt:#?}");
        };
        assert_eq!(show(target), "t", "{text}");
    }
}

#[test]
fn invisible_characters_of_one_kind_are_one_report_and_cost_no_statement() {
    let text = "__co__ void f() {\n\u{a0}a = 1;\n\u{a0}b =\u{a0}2;\n\u{200b}c = 3;\n}\n";
    let (functions, diags, _) = parse_file(text);
    let labels: Vec<&str> = diags.iter().map(|d| &*d.primary.text).collect();
    assert_eq!(
        labels,
        [
            "the first of 3 in this function",
            "not part of the language"
        ]
    );
    assert_eq!(functions[0].body.len(), 3);
}
