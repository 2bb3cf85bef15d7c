//! Tests the tokens of instances.

use crate::diagnostics::Diagnostics;
use crate::source::{SourceFile, load_with_instances};

fn read(text: &str, instances: &[&str]) -> (SourceFile, Vec<String>) {
    let mut diags = Diagnostics::new();
    let instances: Vec<String> = instances.iter().map(|text| (*text).to_owned()).collect();
    let file = load_with_instances("test.co", text, &[], &instances, &mut diags);
    let reports = diags.into_sorted();
    let reports = reports.iter().map(|d| format!("{} {}", d.code, d.message));
    (file, reports.collect())
}

/// The functions of a file without reports.
#[track_caller]
fn functions(text: &str, instances: &[&str]) -> Vec<String> {
    let (file, reports) = read(text, instances);
    assert!(reports.is_empty(), "{reports:?}");
    let shown = |tokens: &[crate::source::token::Token]| {
        let words = tokens.iter().map(|token| token.kind.to_string());
        let words: Vec<String> = words
            .map(|word| word.trim_matches('`').to_owned())
            .collect();
        words.join(" ")
    };
    file.functions.iter().map(|f| shown(&f.tokens)).collect()
}

#[test]
fn parameters_are_replaced() {
    let text = "\
template <typename T, int N, bool B = false>
__co__ T [N] f(global T [N] x) { c = mma.fill.T N; y = x.N; call g<T, N, B>(x); }
template __co__ f<half, 0x10>;
template __co__ f<int, -2, 1>;
";
    assert_eq!(
        functions(text, &[]),
        [
            "__co__ f16 [ 16 ] f_f16_16_false ( global f16 [ 16 ] x ) { c = mma . fill . f16 16 ; \
             y = x . N ; call g < f16 , 16 , false > ( x ) ; }",
            "__co__ s32 [ -2 ] f_s32_m2_true ( global s32 [ -2 ] x ) { c = mma . fill . s32 -2 ; \
             y = x . N ; call g < s32 , -2 , true > ( x ) ; }",
        ]
    );
}

#[test]
fn a_count_of_warps_is_part_of_its_level() {
    let text = "\
template <int N> __co__ void f() { parallel g by 2 : group-N, h by N - N { } }
template __co__ f<4>;
";
    assert_eq!(
        functions(text, &[]),
        ["__co__ void f_4 ( ) { parallel g by 2 : group-4 , h by 4 - 4 { } }"]
    );
}

#[test]
fn branches_that_are_not_taken_go() {
    let text = "\
#define THREE 3
__co__ void f() {
  static_assert(THREE == 3, \"three\");
  if constexpr (THREE > 3) { a; } else if constexpr (THREE == 3) {
    if constexpr (false) { b $ } else { c; }
  } else { d; }
  foreach k in 2 if constexpr (0) { e; }
  if (x) static_assert(true); else if constexpr (1) { g; }
}
";
    assert_eq!(
        functions(text, &[]),
        ["__co__ void f ( ) { { { c ; } } foreach k in 2 ; if ( x ) ; else { g ; } }"]
    );
}

#[test]
fn an_instance_is_one_function_with_one_name() {
    let text = "\
__co__ void f_64() { }
template <int N, int M = N / 2> __co__ void f() { return M; }
template __co__ f<64>;
template __co__ f<64, 32>;
template __co__ f<(2 > 1 ? 6 : 8)>;
template <> __co__ void f<64>() { return; }
template <int N> __co__ void g() { return N; }
";
    assert_eq!(
        functions(text, &["f<8>", "g<1>", "h<1>", "f<8, 4>"]),
        [
            "__co__ void f_64 ( ) { }",
            "__co__ void f_6_3 ( ) { return 3 ; }",
            "__co__ void f_8_4 ( ) { return 4 ; }",
            "__co__ void f_64_32 ( ) { return ; }",
            "__co__ void g_1 ( ) { return 1 ; }",
        ]
    );
    let clash = "\
__co__ void f_6() { }
template <int N> __co__ void f() { }
template __co__ f<6>;
";
    assert_eq!(
        functions(clash, &[]),
        ["__co__ void f_6 ( ) { }", "__co__ void f_6_2 ( ) { }"]
    );
}

#[test]
fn element_types_of_parameters_are_known() {
    let text = "\
template <int N, typename T, typename U>
__co__ U [N] f(global const T [N] x, s32 n, U & u, N [2] v) { }
";
    let (file, _) = read(text, &[]);
    let [template] = file.templates.as_slice() else {
        panic!("{:?}", file.templates);
    };
    assert_eq!(template.decided, [Some(1), None, Some(2), None]);
    assert_eq!(template.returned, Some(2));
}

#[test]
fn requests_of_the_build_script_are_reported_with_its_name() {
    let text = "template <int N> __co__ void f() { }\n";
    let mut diags = Diagnostics::new();
    load_with_instances("test.co", text, &[], &["f<f16>".to_owned()], &mut diags);
    let reports = diags.into_sorted();
    let [report] = reports.as_slice() else {
        panic!("{reports:?}");
    };
    assert_eq!(report.code, "E1213");
    let notes = report.notes.join("\n");
    assert!(notes.contains("build.rs asks for `f<f16>`"), "{notes}");
}
