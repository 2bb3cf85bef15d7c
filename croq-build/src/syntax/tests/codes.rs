//! Every code of the parser, with a text that causes it and the message.

use super::parse_file;

/// Code, statements, text of the primary span, message.
const STATEMENTS: &[(&str, &str, &str, &str)] = &[
    (
        "E0100",
        "x = 1 y = 2;",
        "y",
        "expected `,`, `;` or an operator, found `y`",
    ),
    ("E0100", "x = 1\ny = 2;", "1", "expected `;` after `1`"),
    ("E0100", "foo;", "foo", "`foo` alone does nothing"),
    ("E0100", "x + 1;", "x + 1", "this value is not used"),
    ("E0100", "x.at(1);", "x.at(1)", "this value is not used"),
    (
        "E0100",
        "parallel p 4 { }",
        "4",
        "expected `by` or `=`, found `4`",
    ),
    (
        "E0100",
        "foreach i 4 { }",
        "4",
        "expected `in`, a block, `:`, `=` or `,`, found `4`",
    ),
    (
        "E0100",
        "parallel p by 4 : blok { }",
        "blok",
        "expected a level (`block`, `group`, `group-4`, `thread`), found `blok`",
    ),
    (
        "E0100",
        "x = a.chunkt(1);",
        "chunkt",
        "there is no member `.chunkt`",
    ),
    (
        "E0100",
        "x = (a + b;\ny = 2;",
        ";",
        "expected `)`, `,` or an operator, found `;`",
    ),
    (
        "E0100",
        "x = a + b);\ny = 2;",
        ")",
        "expected `,`, `;` or an operator, found `)`",
    ),
    (
        "E0100",
        "f = dma.cop x => y;",
        ".cop",
        "expected `.copy`, `.transp`, `.pad` or `.any`, found `.cop`",
    ),
    (
        "E0100",
        "sync.block;",
        ".block",
        "expected `.shared`, `.global`, `.local`, `.barrier` or `.fence`, found `.block`",
    ),
    (
        "E0100",
        "mma.rwo.col a, b, c;",
        ".rwo",
        "expected `.fill`, `.load`, `.store`, `.row`, `.col`, `.scale` or `.commit`, found `.rwo`",
    ),
    (
        "E0100",
        "mma.row.row c, a;",
        "c, a",
        "this multiply takes 3 operands, not 2",
    ),
    (
        "E0100",
        "if x < 3 { y = 2; }",
        "x",
        "expected `(`, found `x`",
    ),
    (
        "E0100",
        "if (x = 3) { y = 2; }",
        "=",
        "expected `)` or an operator, found `=`",
    ),
    ("E0100", "if (x) ", "}", "expected a block, found `}`"),
    (
        "E0100",
        "foreach i in 4 : unrol { y = 1; }",
        "unrol",
        "expected `unroll` or `vectorize`, found `unrol`",
    ),
    ("E0100", "x == 3;", "x == 3", "this value is not used"),
    (
        "E0100",
        "dma.copy x = y;",
        "=",
        "expected `=>` or an operator, found `=`",
    ),
    (
        "E0100",
        "dma.any;",
        "dma.any",
        "a placeholder future needs a name",
    ),
    (
        "E0100",
        "x += dma.copy a => b;",
        "x",
        "a copy is bound to a name by `=`",
    ),
    (
        "E0100",
        "paralel p by 4 { x = 1; }",
        "p",
        "expected `=`, `,` or `;`, found `p`",
    ),
    (
        "E0100",
        "stream s;",
        "stream",
        "a stream can't be declared in a function",
    ),
    (
        "E0100",
        "x = a(1)(2, 3);",
        "(2, 3)",
        "one element is picked at a time",
    ),
    (
        "E0100",
        "#define\nx = 1;",
        "#define",
        "this `#define` defines nothing",
    ),
    (
        "E0101",
        "x = 9223372036854775808;",
        "9223372036854775808",
        "the signed integer `9223372036854775808` does not fit in 64 bits",
    ),
    (
        "E0102",
        "x = 18446744073709551616u;",
        "18446744073709551616u",
        "the unsigned integer `18446744073709551616u` does not fit in 64 bits",
    ),
    ("E0103", "x = 0x;", "0x", "malformed number `0x`"),
    ("E0103", "x = 12abc;", "12abc", "malformed number `12abc`"),
    ("E0103", "x = 1.;", "1.", "malformed number `1.`"),
    ("E0103", "x = .5f;", ".5f", "malformed number `.5f`"),
    ("E0103", "x = 007;", "007", "malformed number `007`"),
    ("E0103", "x = 1f;", "1f", "malformed number `1f`"),
    ("E0103", "x = 0b101;", "0b101", "malformed number `0b101`"),
    ("E0103", "x = 1.5h;", "1.5h", "malformed number `1.5h`"),
    ("E0104", "x = 1 @ 2;", "@", "unexpected character `@`"),
    (
        "E0104",
        r#"print("abc);
x = 1;"#,
        r#""abc);"#,
        "this string is never closed",
    ),
    (
        "E0104",
        "x = 'a';",
        "'a'",
        "there are no character literals",
    ),
    (
        "E0104",
        "x = 1; /* never }",
        "/*",
        "this comment is never closed",
    ),
    (
        "E0104",
        r#"__cpp__(R"(abc);
x = 1;"#,
        r#"R"(abc);"#,
        "this raw string is never closed",
    ),
    (
        "E0104",
        "x = a − b;",
        "−",
        "unexpected character `−` (U+2212, minus sign)",
    ),
    (
        "E0104",
        "x = \u{445};",
        "\u{445}",
        "unexpected character `\u{445}` (U+0445, a Cyrillic letter)",
    ),
    (
        "E0104",
        "x =\u{a0}1;\ny =\u{a0}x;",
        "\u{a0}",
        "unexpected character U+00A0, no-break space",
    ),
    (
        "E0104",
        "f32\u{200b} x = 1.0f;",
        "\u{200b}",
        "unexpected character U+200B, zero width space",
    ),
    (
        "E0104",
        "if (a) { __cpp__(\"abc); }",
        "\"abc); }",
        "this string is never closed",
    ),
    (
        "E0100",
        "t = dma.copy x -> shared;",
        "->",
        "expected `=>`, found `->`",
    ),
    (
        "E0100",
        "if (a and b) x = 1; else x = 2;",
        "and",
        "expected `)` or an operator, found `and`",
    ),
    (
        "E0105",
        "x = a[i, j];",
        "[i, j]",
        "an array takes one subscript in each pair of brackets",
    ),
    (
        "E0106",
        "x = a.span[(1), (2)];",
        "[(1), (2)]",
        "a shape is derived only where a shape belongs",
    ),
    (
        "E0107",
        "t = u((0), 5);",
        "((0), 5)",
        "an ituple is derived with braces",
    ),
    (
        "E0107",
        "ituple t = u [(0), 5];",
        "u [(0), 5]",
        "an ituple is derived with braces",
    ),
    (
        "E0108",
        "ituple t = [1, 2];",
        "[1, 2]",
        "an ituple is written with braces",
    ),
    (
        "E0108",
        "t = (1, 2);",
        "(1, 2)",
        "an ituple is written with braces",
    ),
    (
        "E0109",
        "x = __f(a, b).data;",
        "__f(a, b)",
        "the result of a call has no members",
    ),
    ("E0109", "x = a[0].b[1];", "b", "there is no member `.b`"),
    (
        "E0110",
        "f = dma.load x => shared;",
        "load",
        "`.load` is an operation of `tma` only",
    ),
    (
        "E0112",
        "f = tma.load.evict_last.evict_first x => shared;",
        ".evict_first",
        "an eviction hint is given twice",
    ),
    (
        "E0112",
        "f = dma.copy.async.zfill.async x => shared;",
        ".async",
        "`.async` is given twice",
    ),
    (
        "E0112",
        "ma = mma.load.swiz<64>.swiz<64> x;",
        ".swiz<64>",
        "this modifier is given twice",
    ),
    (
        "E0113",
        "parallel p by 2 : block(3) { }",
        "(3)",
        "only the level `device` takes a parameter, a name",
    ),
    (
        "E0113",
        "parallel p by 2 : block<coop> { }",
        "coop",
        "a level takes `<cooperative>` only",
    ),
    (
        "E0114",
        "trigger.block e;",
        "block",
        "a trigger has no scope `block`",
    ),
    (
        "E0115",
        "shared event e = done;",
        "done",
        "an event begins pending or `ready`, nothing else",
    ),
    (
        "E0116",
        "[[unrol(3)]] parallel p by 2 { }",
        "unrol",
        "there is no attribute `unrol`",
    ),
    (
        "E0116",
        "[[launchbounds(3)]] parallel p by 2 { }",
        "launchbounds",
        "there is no attribute `launchbounds`",
    ),
    (
        "E0116",
        "[[schedule(2)]] mma.row.row c, a, b;",
        "[[schedule(2)]]",
        "`schedule` needs `k_tiles`",
    ),
    (
        "E0116",
        "[[maxnreg(3)]] x = 1;",
        "[[maxnreg(3)]]",
        "`maxnreg` is no attribute of this statement",
    ),
    (
        "E0117",
        "[[schedule(k_tiles(1, -1))]] mma.row.row c, a, b;",
        "-1",
        "an entry of `k_tiles` is negative",
    ),
    (
        "E0118",
        "dma.copy.sp<2> x => y;",
        "2",
        "a sparse pattern is written `n:m`",
    ),
    (
        "E0119",
        "mma.order 1;",
        "order",
        "there is no `mma.order` any more",
    ),
    (
        "E0119",
        "stage<2> x;",
        "stage",
        "there is no `stage<…>` any more",
    ),
    (
        "E0119",
        "wait.phase e;",
        "phase",
        "there is no `wait.phase` any more",
    ),
    (
        "E0119",
        "tma.store x => y;",
        "store",
        "there is no `.store` operation any more",
    ),
    (
        "E0119",
        "mma.wait;",
        "wait",
        "there is no `mma.wait` any more",
    ),
    (
        "E0119",
        "tma.load.cache_hint<3> x => y;",
        "cache_hint",
        "there is no modifier `cache_hint` any more",
    ),
    (
        "E0120",
        "x = 1;\nelse { y = 2; }",
        "else",
        "`else` without an `if`",
    ),
    (
        "E0121",
        "asm(x);",
        "x",
        "inline assembly begins with its text",
    ),
    (
        "E0121",
        r#"asm("x" : "=r" x);"#,
        "x",
        "an operand of inline assembly needs a value",
    ),
    (
        "E0122",
        "swap(a, b, c);",
        "(a, b, c)",
        "`swap` takes exactly two futures, not 3",
    ),
    (
        "E0122",
        "rotate a;",
        "a",
        "`rotate` takes at least two futures, not 1",
    ),
    (
        "E0123",
        "dma.copy x => frag;",
        "frag",
        "`frag` is no storage to copy to",
    ),
    (
        "E0123",
        "dma.copy x => registers;",
        "registers",
        "`registers` is no storage to copy to",
    ),
    (
        "E0124",
        "int parallel = 3;",
        "parallel",
        "`parallel` is a keyword and names nothing else",
    ),
    (
        "E0124",
        "x = shared + 1;",
        "shared",
        "`shared` is a keyword and names nothing else",
    ),
    (
        "E0124",
        "x = wait * 3;",
        "wait",
        "`wait` is a keyword and names nothing else",
    ),
    (
        "E0124",
        "foreach int in N { x = int + int; }",
        "int",
        "`int` is a keyword and names nothing else",
    ),
    (
        "E0124",
        "int if = 3;",
        "if",
        "`if` is a keyword and names nothing else",
    ),
    ("E0125", "int __exp = 3;", "__exp", "`__exp` is a builtin"),
    ("E0125", "__exp = 3;", "__exp", "`__exp` is a builtin"),
    (
        "E0125",
        "parallel __min by 3 { }",
        "__min",
        "`__min` is a builtin",
    ),
    (
        "E0126",
        "for (int i = 0; i < 3; ++i) x = i;",
        "for",
        "there is no `for` loop",
    ),
    (
        "E0126",
        "do { x = 1; } while (x < 3);",
        "do",
        "there is no `do` loop",
    ),
    (
        "E0126",
        "switch (x) { case 1: y = 2; break; default: y = 3; }",
        "switch",
        "there is no `switch`",
    ),
    ("E0126", "goto end;", "goto", "there is no `goto`"),
    ("E0126", "x = p->y;", "->", "there is no `->`"),
    (
        "E0126",
        "f32 x[3][4] = {1};",
        "[3][4]",
        "extents are written before the name",
    ),
    (
        "E0126",
        "int x[3];",
        "[3]",
        "extents are written before the name",
    ),
    ("E0126", "const int n = 4;", "const", "there is no `const`"),
    (
        "E0126",
        "auto y = 3;",
        "auto",
        "there is no `auto` variable",
    ),
    ("E0126", "x = (float) y;", "(float)", "there are no C casts"),
    (
        "E0126",
        "x = float(y);",
        "float",
        "a conversion is written with `__to`",
    ),
    ("E0126", "float *p;", "*", "there are no pointers"),
    ("E0126", "*p = 3;", "*", "there are no pointers"),
    (
        "E0126",
        "unsigned n = 3;",
        "unsigned",
        "there is no type `unsigned`",
    ),
    ("E0127", "int _ = 3;", "_", "`_` is no variable"),
    ("E0127", "_ = 3;", "_", "`_` is no variable"),
    ("E0127", "x = _ + 1;", "_", "`_` is no variable"),
    ("E0127", "x.at(_, 1) = 2;", "_", "`_` is no variable"),
    ("W0128", "if (x);", ";", "the body of this `if` is empty"),
    (
        "W0128",
        "while (x);",
        ";",
        "the body of this `while` is empty",
    ),
    (
        "W0128",
        "foreach i in 3;",
        ";",
        "the body of this `foreach` is empty",
    ),
    (
        "E0310",
        "mdspan s = [1, 2];",
        "=",
        "a shape is declared with `:`",
    ),
    (
        "E0311",
        "ituple t : {1, 2};",
        ":",
        "an ituple is initialised with `=`",
    ),
    (
        "E0312",
        "s = [1, 2];",
        "[1, 2]",
        "a shape is declared with `:`",
    ),
    (
        "E0314",
        "ituple t[3];",
        "[3]",
        "there are no arrays of ituples",
    ),
    ("E0315", "ituple t;", "t", "the ituple `t` has no value"),
    (
        "E0316",
        "mutable ituple t = {1};",
        "mutable",
        "an ituple takes no `mutable`",
    ),
    (
        "E0618",
        "shared mdspan s : [1];",
        "shared",
        "a shape takes no storage word",
    ),
    (
        "E0305",
        "mutable mdspan s : [1];",
        "mutable",
        "a shape takes no `mutable`",
    ),
    (
        "E0790",
        r#"asm goto ("x");"#,
        "goto",
        "`asm goto` is not supported",
    ),
    (
        "E0837",
        "dma.pad x => y;",
        "pad",
        "`.pad` needs its configuration",
    ),
    (
        "E0837",
        "dma.copy<1, 0> x => y;",
        "<1, 0>",
        "`.copy` takes no configuration",
    ),
];

/// The same for whole files.
const FILES: &[(&str, &str, &str, &str)] = &[
    (
        "E0100",
        "__co__ f(int a) { x = 1; }",
        "f",
        "expected a type, found `f`",
    ),
    (
        "E0100",
        "__co__ void f(a) { }",
        "a",
        "expected a type or `)`, found `a`",
    ),
    (
        "E0100",
        "__co__ void f(f32 [M N] a) { }",
        "N",
        "expected `]`, `,` or an operator, found `N`",
    ),
    (
        "E0100",
        "__co__ void f(int a,) { }",
        ")",
        "expected a type, found `)`",
    ),
    (
        "E0100",
        "__co__ void (int a) { }",
        "(",
        "expected a name, found `(`",
    ),
    (
        "E0100",
        "__co__ void f(int a { x = 1; }",
        "{",
        "expected `)`, `[` or `,`, found `{`",
    ),
    (
        "E0126",
        "__co__ void f(float* a) { }",
        "*",
        "there are no pointers",
    ),
    (
        "E0126",
        "__co__ void f(int b[3]) { }",
        "[3]",
        "extents are written before the name",
    ),
    (
        "E0126",
        "__co__ void f(const f32 [4] c) { }",
        "const",
        "there is no `const`",
    ),
    (
        "E0124",
        "__co__ void f(f32 [4] while) { }",
        "while",
        "`while` is a keyword and names nothing else",
    ),
    (
        "E0125",
        "__co__ void f(f32 [4] __sin) { }",
        "__sin",
        "`__sin` is a builtin",
    ),
    (
        "E0127",
        "__co__ void f(f32 [4] _) { }",
        "_",
        "`_` is no variable",
    ),
    (
        "E0100",
        "#define OPEN {\n__co__ void f() { if (a) OPEN x = 1; }",
        "{",
        "this `{` is never closed",
    ),
];

#[test]
fn statements() {
    for (code, text, place, message) in STATEMENTS {
        check(
            &format!("__co__ void f() {{\n{text}\n}}\n"),
            code,
            place,
            message,
        );
    }
}

#[test]
fn files() {
    for (code, text, place, message) in FILES {
        check(text, code, place, message);
    }
}

/// Expects exactly this diagnostic.
fn check(text: &str, code: &str, place: &str, message: &str) {
    let (_, diags, file) = parse_file(text);
    let found: Vec<_> = diags
        .iter()
        .map(|d| {
            (
                d.code.text(),
                file.snippet(d.primary.span),
                d.message.as_str(),
            )
        })
        .collect();
    assert_eq!(found, [(code, place, message)], "{text}");
}

#[test]
fn help_can_be_pasted() {
    for (text, help) in [
        ("x = a[i, j];", "`a[i][j]`"),
        ("t = (1, 2);", "`{1, 2}`"),
        ("s = [1, 2];", "`s : […];`"),
        ("x = 1.;", "`1.0`"),
        ("x = .5f;", "`0.5f`"),
        ("x = 0b101;", "`0x5`"),
        ("x = 9223372036854775808;", "`9223372036854775808u`"),
        ("x = a − b;", "`-`"),
        ("t = u((0), 5);", "`u {(0), 5}`"),
        ("f32 x[3][4];", "`local f32 [3, 4] x;`"),
        ("int x[3];", "`local s32 [3] x;`"),
        ("x = (float) y;", "`__to<f32>(value)`"),
        ("f = dma.load x => shared;", "`dma.copy`"),
        ("parallel p by 4 : blok { }", "`block`"),
        ("paralel p by 4 { }", "`parallel`"),
        ("x = a.chunkt(1);", "`.chunkat`"),
        ("dma.copy x = y;", "`source => destination`"),
        ("if (x = 3) { }", "`==`"),
        ("if x < 3 { }", "`if (…)`"),
        ("__exp = 3;", "`exp`"),
        ("if (a and b) { }", "`&&`"),
        ("if (a or b) { }", "`||`"),
        ("if (not a) { }", "`!a`"),
        ("x = a ** 2;", "`x * x`"),
        ("parallel p by 4 : warp { }", "`group`"),
        ("parallel p by 4 : warpgroup { }", "`group-4`"),
        ("y.at[p] = 1;", "`y.at(p)`"),
        ("y.at[p + 1] = 1;", "`y.at(i)`"),
        ("double *p;", "`f64 [N] p`"),
        ("bf16* x;", "`global bf16 [N] x`"),
        ("t = dma.copy x -> shared;", "`source => destination`"),
        ("x =\u{a0}1;", "replace it by a space"),
        ("x =\u{200b}1;", "remove it"),
        ("x = \u{445};", "`x`"),
    ] {
        let (_, diags, _) = parse_file(&format!("__co__ void f() {{\n{text}\n}}\n"));
        let found = diags.first().and_then(|d| d.help.as_deref()).unwrap_or("");
        assert!(found.contains(help), "{text}: {found}");
    }
}
