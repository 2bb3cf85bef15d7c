//! Tests every code of the macro pass and of the island finder: its location and its message.

use crate::diagnostics::Diagnostics;
use crate::source::load;

/// Code, file, text of the primary span, message.
const FILES: &[(&str, &str, &str, &str)] = &[
    (
        "E0001",
        "#define F(a, b) a + b\n__co__ void f() {\nx = F(1, 2;\n}\n",
        "F",
        "the call of the macro `F` has no closing `)`",
    ),
    (
        "E0002",
        "#if 1 +\n#endif\n",
        "",
        "malformed `#if` condition",
    ),
    (
        "E0002",
        "#if 1.5\n#endif\n",
        "1.5",
        "malformed `#if` condition",
    ),
    (
        "E0002",
        "#if (1\n#elif 2\n#endif\n",
        "",
        "malformed `#if` condition",
    ),
    (
        "E0002",
        "#if 2 * / 3\n#endif\n",
        "/",
        "malformed `#if` condition",
    ),
    (
        "E0002",
        "#ifdef\n#endif\n",
        "#ifdef",
        "`#ifdef` needs a name",
    ),
    (
        "E0003",
        "#endif\n",
        "#endif",
        "`#endif` without an open `#if`",
    ),
    ("E0003", "#else\n", "#else", "`#else` without an open `#if`"),
    (
        "E0003",
        "#if 1\n#else\n#else\n#endif\n",
        "#else",
        "`#else` after the `#else` of its `#if`",
    ),
    (
        "E0003",
        "__co__ void f() {\n#elif 1\nx = 1;\n}\n",
        "#elif 1",
        "`#elif` without an open `#if`",
    ),
    (
        "E0004",
        "__co__ void f() {\n if (a) {\n}\n",
        "__co__",
        "the file ends inside this `__co__` function",
    ),
    (
        "E0104",
        "__co__ void f() {\n if (a) { __cpp__(\"abc); }\n}\n",
        "\"abc); }",
        "this string is never closed",
    ),
    (
        "E0104",
        "__co__ void f() {\n if (a) { __cpp__(\"abc); }\n}\n__co__ void g() {}\n",
        "\"abc); }",
        "this string is never closed",
    ),
    (
        "W0021",
        "// in C:\\\nint x;\n__co__ void f() {}\n",
        "\\",
        "this comment continues on the next line",
    ),
    (
        "E0005",
        "__device__ int f(int a) {\n if (a) {\n}\n",
        "__device__",
        "this device function never ends: 1 brace still open",
    ),
    (
        "E0005",
        "__cok__ {\n int f() {\n}\n",
        "__cok__",
        "this `__cok__` block never ends: 1 brace still open",
    ),
    (
        "E0005",
        "__device__ int f(int a) {\n\n__co__ void g() {}\n",
        "__device__",
        "this device function never ends: 1 brace still open",
    ),
    (
        "E0006",
        "#if 1\n__co__ void f() {\n\n}\n",
        "#if 1",
        "this conditional is never closed",
    ),
    (
        "E0006",
        "__co__ void f() {\n#ifdef X\n x = 1;\n}\n",
        "#ifdef X",
        "this conditional is never closed",
    ),
    (
        "E0007",
        "#define F(a) a\n#define F(a) a\n#define F(a) (a)\n",
        "F",
        "the function-like macro `F` is defined twice, with different text",
    ),
    (
        "E0008",
        "#define F(a, b) a + b\n__co__ void f() {\nx = F(1);\n}\n",
        "F(1)",
        "the macro `F` takes 2 arguments, but 1 given",
    ),
    (
        "E0008",
        "#define F() 1\n__co__ void f() {\nx = F(1) + F();\n}\n",
        "F(1)",
        "the macro `F` takes 0 arguments, but 1 given",
    ),
    (
        "E0009",
        "#define A B B\n#define B C C\n#define C D D\n#define D E E\n#define E F F\n#define F G G\n#define G H H\n#define H I I\n#define I J J\n#define J K K\n#define K L L\n#define L M M\n#define M N N\n#define N O O\n#define O P P\n#define P Q Q\n#define Q R R\n#define R S S\n#define S T T\n#define T U U\n#define U V V\n#define V W W\n#define W 1 +\n__co__ void f() {\nx = A 1;\n}\n",
        "A",
        "the macros used here expand to too much text",
    ),
    (
        "E0010",
        "__cok__ {\n __co__ void g() {}\n}\n",
        "__co__",
        "`__co__` inside a `__cok__` block",
    ),
    (
        "E0010",
        "__co__ void f() {\n x = 1;\n\n__co__ void g() { y = 2; }\n",
        "__co__",
        "`__co__` inside another `__co__` function",
    ),
    (
        "E0010",
        "namespace a {\n__co__ void g() { y = 2; }\n}\n",
        "__co__",
        "`__co__` counts only at file scope",
    ),
    (
        "E0010",
        "int main() {\n__co__ void g() { y = 2; }\n",
        "__co__",
        "`__co__` counts only at file scope",
    ),
    (
        "E0100",
        "__co_ f32 [N] s(f32 [N] x) { return x; }\n__co__ void f() {}\n",
        "__co_",
        "unknown word `__co_`",
    ),
    (
        "E0100",
        "template __co_ s<f32>;\n__co__ void f() {}\n",
        "__co_",
        "unknown word `__co_`",
    ),
    (
        "E0100",
        "_device_ float g(float x) { return x; }\n__co__ void f() {}\n",
        "_device_",
        "unknown word `_device_`",
    ),
    (
        "E0100",
        "f32 [N] s(f32 [N] x) { return x; }\n__co__ void f() {}\n",
        "f32 [N] s(f32 [N] x)",
        "the function `s` has no `__co__`, so it is read as C++",
    ),
    (
        "E0100",
        "void s(int n, global f32 [N] x) { }\n__co__ void f() {}\n",
        "void s(int n, global f32 [N] x)",
        "the function `s` has no `__co__`, so it is read as C++",
    ),
    (
        "E0100",
        "some words\n__co__ void f() {}\n",
        "some words",
        "this text belongs to no declaration",
    ),
    (
        "E0100",
        "__co__ void f() {}\nsome words\n",
        "some words",
        "this text belongs to no declaration",
    ),
    (
        "E0011",
        "__co__ void f() {\n__device__ int g(int a) { return a; }\n x = 2;\n}\n",
        "__device__",
        "`__device__` inside a `__co__` function",
    ),
    (
        "E0011",
        "__co__ void f() {\n__cok__ { int g(); }\n x = 2;\n}\n",
        "__cok__",
        "`__cok__` inside a `__co__` function",
    ),
    (
        "E0012",
        "#pragma croq\n",
        "#pragma croq",
        "`#pragma croq` says nothing",
    ),
    (
        "E0012",
        "#pragma croq intrinsics prefix a\n",
        "#pragma croq intrinsics prefix a",
        "unknown `#pragma croq intrinsics`",
    ),
    (
        "E0012",
        "#pragma croq intrinsic prefix\n",
        "#pragma croq intrinsic prefix",
        "the name of the intrinsics is missing",
    ),
    (
        "E0012",
        "#pragma choreo intrinsic fast 2a\n",
        "#pragma choreo intrinsic fast 2a",
        "`2a` is no name",
    ),
    (
        "E0012",
        "#pragma croq intrinsic prefix 1a\n",
        "#pragma croq intrinsic prefix 1a",
        "`1a` is no name",
    ),
    (
        "E0012",
        "#pragma croq intrinsic prefix a b\n",
        "#pragma croq intrinsic prefix a b",
        "unexpected `b` after the name",
    ),
    (
        "E0013",
        "#pragma croq intrinsic namespace croq::cuda\n",
        "#pragma croq intrinsic namespace croq::cuda",
        "`croq::cuda` is reserved and registers no intrinsics",
    ),
    (
        "W0014",
        "#pragma croq intrinsic prefix fast_\n#pragma croq intrinsic prefix fast_\n",
        "#pragma croq intrinsic prefix fast_",
        "the intrinsics `fast_` are already registered",
    ),
    (
        "W0015",
        "#define A 1 + \\ \n",
        "\\ ",
        "blanks after this backslash keep it from continuing the line",
    ),
    (
        "E0016",
        "__device__ int f(int a {\n return a;\n}\n",
        "(",
        "unmatched `(` in a device function",
    ),
    (
        "E0016",
        "__device__ int f(int a) {\n return a);\n}\n",
        ")",
        "unmatched `)` in a device function",
    ),
    (
        "E0016",
        "template <int N>\n__device__ A<N f(int a) {\n return a;\n}\n",
        "<",
        "unmatched `<` in a device function",
    ),
    (
        "E0016",
        "__device__ int f(int a;\n",
        "(",
        "unmatched `(` in a device function",
    ),
    (
        "E0017",
        "__co__ void f() {\n#if 1\n#error no luck\n#endif\n}\n",
        "#error no luck",
        "#error: no luck",
    ),
    (
        "E0018",
        "__co__ void f() {\n#include <cmath>\nx = 1;\n}\n",
        "#include <cmath>",
        "`#include` inside a `__co__` function",
    ),
    (
        "W0019",
        "__co__ void f() {\nx = 1;\n#defne Y 2\ny = 2;\n}\n",
        "defne",
        "`#defne` is no directive",
    ),
    (
        "W0019",
        "__co__ void f() {\n#iff X\ny = 2;\n}\n",
        "iff",
        "`#iff` is no directive",
    ),
    (
        "E0100",
        "__co__ void f(int a);\n__co__ void g() { }\n",
        ";",
        "a `__co__` function can't be declared without a body",
    ),
    (
        "E0100",
        "inline __co__ void g() { }\n",
        "inline",
        "a `__co__` function can't be `inline`",
    ),
    (
        "E0100",
        "static\n__co__ void g() { }\n",
        "static",
        "a `__co__` function can't be `static`",
    ),
    (
        "E0100",
        "__co__ void f() { x = 1; } }\n",
        "}",
        "this `}` closes nothing",
    ),
    (
        "E0100",
        "__cok__ int f();\n",
        "__cok__",
        "`__cok__` begins a block of device text",
    ),
    (
        "E0104",
        "int a; /* open\n__co__ void f() { }\n",
        "/*",
        "this comment is never closed",
    ),
];

#[test]
fn files() {
    for (code, text, place, message) in FILES {
        let mut diags = Diagnostics::new();
        let file = load("test.co", text, &[], &mut diags);
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
        assert_eq!(found, [(*code, *place, *message)], "{text}");
    }
}

#[test]
fn dead_text_is_not_judged() {
    for text in [
        "#if 0\n__device__ int f( {\n#endif\n",
        "#if 0\n__co__ void f() { @ \n#endif\n",
        "#if 0\n#pragma croq nonsense\n#endif\n",
        "#if 0\nit's prose }}} with # signs\n#endif\n",
        "#if 0\n#if\n#elif (\n#else\n#else\n#endif\n#endif\n",
        "#ifdef NO\n}\n#endif\n",
        "#if 1\n#else\n#error no\n#endif\n__co__ void f() {\n#if 0\n#error no\n#include <x>\n#defne Y\n } } {\n#endif\n}\n",
        "/* #if 1 */ // #if 1\nconst char *s = \"#if\";\n",
    ] {
        let mut diags = Diagnostics::new();
        load("test.co", text, &[], &mut diags);
        assert!(diags.is_empty(), "{text}: {diags:#?}");
    }
}

/// C++ beside kernels, which is left out or kept.
#[test]
fn cpp_at_file_scope_is_no_lost_text() {
    for text in [
        "#define EXPORT\nEXPORT __co__ void f() {}\n",
        "#define __co_ static\n__co_ int n = 1;\n__co__ void f() {}\n",
        "MODULE(kernels)\n__co__ void f() {}\n",
        "int n;\nfloat x[4];\nvoid g(int [4], float x[4]);\n__co__ void f() {}\n",
        "extern \"C\" int g(float (&x)[4]);\n__co__ void f() {}\n",
        "auto g = [](int n) { return n; };\n__co__ void f() {}\n",
        "struct f32x { float v[4]; };\ntemplate <typename T> T g(T x) { return x; }\n__co__ void f() {}\n",
        "__global__ void g(float *x) {}\n__host__ __device__ int h(int n) { return n; }\n__co__ void f() {}\n",
        "__co__ void f() {}\nint main() { f(); return 0; }\n",
        "#if 0\nsome words\n#endif\n__co__ void f() {}\n",
    ] {
        let mut diags = Diagnostics::new();
        load("test.co", text, &[], &mut diags);
        assert!(!diags.has_errors(), "{text}: {:?}", diags.into_sorted());
    }
}
