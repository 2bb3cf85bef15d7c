//! Tests which text is device code, which is kept, and which is left out.

use crate::diagnostics::Diagnostics;
use crate::source::{DeviceTextKind, IntrinsicKind, SourceFile, load};

fn read(text: &str) -> SourceFile {
    let mut diags = Diagnostics::new();
    let file = load("test.co", text, &[], &mut diags);
    assert!(diags.is_empty(), "{text}: {diags:#?}");
    for piece in &file.device {
        assert_eq!(file.snippet(piece.span), piece.text);
    }
    file
}

fn pieces(text: &str) -> Vec<(DeviceTextKind, String, Vec<String>)> {
    let file = read(text);
    file.device
        .into_iter()
        .map(|piece| (piece.kind, piece.text, piece.names))
        .collect()
}

fn kept(text: &str) -> Vec<String> {
    pieces(text).into_iter().map(|(_, text, _)| text).collect()
}

#[test]
fn device_functions() {
    use DeviceTextKind::Device;
    for (text, name) in [
        (
            "__device__ int f(int a) { return a > 1 ? \"}\"[0] : '}'; /* } */ }",
            "f",
        ),
        ("__device__ int f(int a, vec<4> b);", "f"),
        (
            "template <typename T, int N = (3 > 2)>\n__device__ T f(T a) { if (a < 1) { return a; } return 1; }",
            "f",
        ),
        (
            "static inline __device__ __forceinline__ float f() { return 1.0f; }",
            "f",
        ),
        ("__co_device__ void f(int *p) { *p = 1; }", "f"),
        (
            "__host__ __device__ auto f(int a) -> int { return a; }",
            "f",
        ),
        ("__device__ void f() { call<1>(a < b, c > d); }", "f"),
        ("extern \"C\" __device__ void f();", "f"),
        (
            "__device__ int f(int a) {\n#if X\n return 1; }\n#else\n return 2;\n}\n#endif",
            "f",
        ),
    ] {
        let found = pieces(text);
        assert!(
            found.iter().any(|(kind, piece, names)| *kind == Device
                && names == &[name]
                && text.starts_with(piece)),
            "{text}: {found:#?}"
        );
    }
    assert_eq!(
        kept("__device__ int table[2] = {1, 2};\nint host;"),
        ["__device__ int table[2] = {1, 2};"]
    );
}

#[test]
fn kernel_blocks() {
    let found = pieces("__cok__ {\n__device__ int g(int a) { return h(a); }\nstruct S { };\n}\n");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, DeviceTextKind::Kernel);
    assert_eq!(found[0].2, ["g"]);
}

#[test]
fn macros_that_cpp_would_reject_are_not_given_to_it() {
    // A C++ compiler checks macros with parameters even if they are not used.
    let text = "#define AT(buffer, p) buffer.at(p # i)
#define BOUND(p, n) (p #- n)
#define NAME(p) #p
#define JOIN(a, b) a##b
#define PLAIN p # i
";
    let cpp = [
        "#define NAME(p) #p",
        "#define JOIN(a, b) a##b",
        "#define PLAIN p # i",
    ];
    assert_eq!(kept(text), cpp);
}

#[test]
fn declarations_that_device_code_may_need_are_kept_in_order() {
    let text = "#include <vector>
#define N 4
using T = float;
typedef int I;
struct S { int a; __device__ int get() { return a; } };
enum class E { A, B };
template <typename T> struct V { T x; };
constexpr int twice(int x) { return 2 * x; }
static const int M = 4, K = {3};
static_assert(sizeof(int) == 4, \"\");
namespace ops {
__device__ int f();
int host() { return 1; }
}
";
    assert_eq!(
        kept(text),
        [
            "#include <vector>",
            "#define N 4",
            "using T = float;",
            "typedef int I;",
            "struct S { int a; __device__ int get() { return a; } };",
            "enum class E { A, B };",
            "template <typename T> struct V { T x; };",
            "constexpr int twice(int x) { return 2 * x; }",
            "static const int M = 4, K = {3};",
            "static_assert(sizeof(int) == 4, \"\");",
            "namespace ops {",
            "__device__ int f();",
            "}",
        ]
    );
}

#[test]
fn host_functions_and_objects_are_left_out_with_one_note() {
    let text = "std::vector<int> v = {1, 2};
int main(int argc, char **argv) {
  auto x = f<int>(3);
  if (argc < 1) { return '}'; }
#define INNER 1
  return 0;
}
template <class T> T host(T a) { return a; }
struct S make() { return {}; }
";
    let file = read(text);
    assert_eq!(
        file.device
            .iter()
            .map(|piece| piece.text.as_str())
            .collect::<Vec<_>>(),
        ["#define INNER 1"]
    );
    assert_eq!(file.notes.len(), 1);
    assert!(read("using T = int;\n").notes.is_empty());
}

#[test]
fn dead_device_text_is_kept_for_the_compiler_that_knows_better() {
    let text = "#if __CUDA_ARCH__ >= 900\n__device__ int f() { return 1; }\nint host() { return 0; }\n__co__ void k() { }\n#else\n__device__ int f() { return 2; }\n#endif\n";
    let file = read(text);
    let found: Vec<&str> = file
        .device
        .iter()
        .map(|piece| piece.text.as_str())
        .collect();
    assert_eq!(
        found,
        [
            "#if __CUDA_ARCH__ >= 900",
            "__device__ int f() { return 1; }",
            "#else",
            "__device__ int f() { return 2; }",
            "#endif",
        ]
    );
    assert!(file.functions.is_empty());
}

#[test]
fn functions_are_found_at_file_scope_only() {
    let text = "const char *s = \"__co__ void no() {}\"; // __co__ void no() {}
int x; __co__ void yes() { print(\"}\"); /* } */ }
/* __co__ void no() {} */
__co__ void also() { }
";
    let file = read(text);
    let names: Vec<&str> = file
        .functions
        .iter()
        .map(|f| file.snippet(f.span))
        .collect();
    assert_eq!(
        names,
        [
            "__co__ void yes() { print(\"}\"); /* } */ }",
            "__co__ void also() { }"
        ]
    );
}

#[test]
fn intrinsics_reach_as_far_as_they_are_registered() {
    let text = "__co__ void before() { }
#pragma croq intrinsic prefix fast_
#pragma choreo intrinsic namespace ops::math
__co__ void f() {
  if (a) {
#pragma croq intrinsic prefix local_
    x = 1;
  }
  y = 2;
}
__co__ void after() { }
";
    let file = read(text);
    let [before, f, after] = file.functions.as_slice() else {
        panic!();
    };
    let at = |needle: &str| {
        let start = text.find(needle).expect("there") as u32;
        crate::source::Span::new(start, start + 1)
    };
    assert!(before.intrinsics.is_empty());
    assert!(f.is_intrinsic("fast_sum", at("y = 2")));
    assert!(f.is_intrinsic("ops::math::sum", at("y = 2")));
    assert!(!f.is_intrinsic("ops::sum", at("y = 2")));
    assert!(f.is_intrinsic("local_sum", at("x = 1")));
    assert!(!f.is_intrinsic("local_sum", at("y = 2")));
    assert_eq!(after.intrinsics.len(), 2);
    assert_eq!(after.intrinsics[1].kind, IntrinsicKind::Namespace);
    // A pragma of croq's has no meaning in C++.
    assert!(file.device.is_empty());
}
