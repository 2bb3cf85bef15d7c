//! Proofs for integers, and the places of checks.

use crate::pipeline::{FileNames, Options, compile_text};
use crate::settings::Checks;

fn device_text(text: &str, checks: Checks) -> String {
    let names = FileNames {
        path: "case.co".to_owned(),
        stem: "case".to_owned(),
        hash: "00000000".to_owned(),
    };
    let options = Options {
        checks,
        ..Options::default()
    };
    let compiled = compile_text(&names, text, &options);
    let outputs = compiled.outputs;
    outputs
        .unwrap_or_else(|| panic!("{:?}", compiled.diagnostics))
        .device
}

/// The numbers of integer checks on the host, and in kernels.
fn checks(text: &str) -> (usize, usize) {
    checks_of(&device_text(text, Checks::All))
}

pub fn checks_of(text: &str) -> (usize, usize) {
    const SIGNS: [&str; 3] = ["croq::fits(", ">= -2147483648 &&", ">= -4294967296 &&"];
    let fits = text
        .lines()
        .filter(|line| SIGNS.iter().any(|sign| line.contains(sign)));
    let (host, device): (Vec<&str>, Vec<&str>) = fits.partition(|l| l.contains("CROQ_REQUIRE("));
    (host.len(), device.len())
}

#[test]
fn integers_bounded_by_tensors_need_no_checks() {
    let scale = "__co__ f32 [M, N] scale(f32 [M, N] x, f32 k) {
      f32 [M, N] y;
      parallel {p, q} by [M, N] { y.at(p, q) = x.at(p, q) * k; }
      return y; }";
    assert_eq!(checks(scale), (0, 0));
    let transposed = "__co__ void f(global f32 [M, N] x, global f32 [N, M] y, s32 n) {
      parallel {p, q} by [cdiv(M, 32), cdiv(N, 32)] : block {
        t = dma.copy x.subspan(32, 32).at(p, q) => shared;
        parallel {i, j} by [32, 32] : thread {
          if (q * 32 + i < N && p * 32 + j < M) y.at(q * 32 + i, p * 32 + j) = t.data.at(j, i) * n;
        } } }";
    assert_eq!(checks(transposed).1, 0);
}

/// The `if` of a macro has the same span as the level around it.
#[test]
fn a_condition_of_a_macro_is_no_guard_of_a_level() {
    let text = |body: &str| {
        format!(
            "#define KERNEL {body}\n__co__ void f(global s64 [N] y, s64 m, int flag) {{ KERNEL }}"
        )
    };
    let condition = "parallel b by 1 : block { parallel t by 32 : thread { if (flag > 0) { y.at(t) = m * m; } } }";
    let (_, in_kernel) = checks(&text(condition));
    assert_eq!(in_kernel, 1);
    let guard = "parallel p by N { y.at(p) = m * m; }";
    assert_eq!(checks(&text(guard)), (1, 0));
}

#[test]
fn a_product_of_extents_that_no_tensor_has_is_checked_once() {
    let outer = "__co__ void f(global s8 [M] x, global s8 [N] y, global s64 [1] z) {
      parallel p by 1 { z.at(0) = M * N; z.at(0) = M * N + 1; } }";
    assert_eq!(checks(outer), (1, 0));
}

#[test]
fn a_64_bit_argument_is_checked_where_it_is_used() {
    let always = "__co__ void f(global s64 [N] x, s64 m) { parallel p by N { x.at(p) = m * 3; } }";
    assert_eq!(checks(always), (1, 0));
    let perhaps = "__co__ void f(global s64 [N] x, s64 m) {
      parallel p by N { if (p < 3) x.at(p) = m * 3; } }";
    assert_eq!(checks(perhaps), (0, 1));
    let bounded = "__co__ void f(global s64 [N] x, s64 m) {
      parallel p by N { if (m < 1000 && m > -1000) x.at(p) = m * m; } }";
    assert_eq!(checks(bounded), (0, 0));
    let narrow = "__co__ void f(global s64 [N] x, s32 m) {
      parallel p by N { if (p < 3) x.at(p) = m * 3 + 1000 * m; } }";
    assert_eq!(checks(narrow), (0, 0));
}

#[test]
fn an_element_wraps_in_its_type() {
    let element = "__co__ void f(global s64 [N] x) { parallel p by N { x.at(p) = x.at(p) * 3; } }";
    assert_eq!(checks(element), (0, 0));
    let index = "__co__ void f(global s64 [N] x, global f32 [M, K] y) {
      parallel p by N { y.at(x.at(p), 0) = 1.0f; } }";
    assert_eq!(checks(index), (0, 0));
}

/// In a kernel, with `s32 n, s64 m, u64 u, u32 w` and `s32 [4] y`, `s64 [4] z`, `u32 [4] v`.
fn in_kernel(statement: &str) -> (usize, usize) {
    checks(&format!(
        "__device__ int same(int v) {{ return v; }}
         __co__ void f(global s32 [4] y, global s64 [4] z, global u32 [4] v, s32 n, s64 m, u64 u, u32 w) {{
           parallel p by 4 {{ {statement} }} }}"
    ))
}

#[test]
fn narrowing_is_checked_in_any_statement() {
    for statement in [
        "y.at(p) = n * 2;",
        "y.at(p) += n * 2;",
        "mutable s32 k = n * 2; y.at(p) = k;",
        "mutable s32 k = 0; k = n * 2; y.at(p) = k;",
        "if (y.at(p) < n * 2) y.at(p) = 1;",
        "y.at(p) = __max(y.at(p), n * 2);",
        "y.at(p) = call same(n * 2);",
        "call same(n * 2);",
        "__atomic_add(y.at(p), n * 2);",
        "__atomic_exch(y.at(p), n * 2);",
        "__atomic_cas(y.at(p), n * 2, 0);",
        "__atomic_cas(y.at(p), 0, n * 2);",
        "local s32 [2] k{n * 2}; y.at(p) = k.at(1);",
        "v.at(p) = w * 2;",
    ] {
        assert_eq!(in_kernel(statement), (1, 0), "{statement}");
    }
    let returned = |e: &str| {
        let text = format!("__co__ s32 f(s32 n, s32 m, s8 [N] x) {{ return {e}; }}");
        let text = device_text(&text, Checks::All);
        text.lines().filter(|l| l.contains("CROQ_REQUIRE(")).count()
    };
    // It is also unknown whether it fits 64 bits.
    assert_eq!(returned("N * n"), 2);
    for e in [
        "n * m",
        "n + 1",
        "-n",
        "n > 0 ? n * 2 : 0",
        "n > 0 ? n - 1 : 0",
    ] {
        assert_eq!(returned(e), 1, "{e}");
    }
    for e in ["n", "n / 2", "n % 7", "n > m ? n : m", "n & m"] {
        assert_eq!(returned(e), 0, "{e}");
    }
}

#[test]
fn conditional_expressions_are_checked_in_place() {
    assert_eq!(in_kernel("y.at(p) = n > 0 ? n * 2 : 0;"), (0, 1));
    assert_eq!(in_kernel("y.at(p) = n > 0 ? n : 0;"), (0, 0));
    assert_eq!(in_kernel("if (n > 0) y.at(p) = n * 2;"), (1, 0));
    assert_eq!(in_kernel("z.at(p) = (m > 0 ? m : 0) * 4;"), (0, 1));
    assert_eq!(in_kernel("z.at(p) = (n > 0 ? n : 0) * 4;"), (0, 0));
    assert_eq!(in_kernel("y.at(p) = (n > 0 ? n : 0) * 4;"), (0, 1));
}

#[test]
fn operations_with_bounded_results_need_no_checks() {
    for statement in [
        "y.at(p) = p ^ 1;",
        "y.at(p) = m & 255;",
        "y.at(p) = (n & 3) * 2;",
        "y.at(p) = n >> 2;",
        "y.at(p) = __to<s32>(m);",
        "y.at(p) = __to<s32>(m > 0 ? m : 0);",
        "v.at(p) = n;",
    ] {
        assert_eq!(in_kernel(statement), (0, 0), "{statement}");
    }
    assert_eq!(in_kernel("y.at(p) = m & n;"), (0, 1));
}

#[test]
fn a_u64_is_checked_where_its_bits_would_become_another_number() {
    for statement in [
        "z.at(p) = u;",
        "s64 k = u; z.at(p) = k;",
        "if (u > z.at(p)) y.at(p) = 1;",
        "if (u > y.at(p)) y.at(p) = 1;",
        "z.at(p) = u / z.at(p);",
        "z.at(p) = __max(u, z.at(p));",
    ] {
        assert_eq!(in_kernel(statement), (1, 0), "{statement}");
    }
    for statement in ["z.at(p) = __to<s64>(u);", "y.at(p) = __to<s32>(u);"] {
        assert_eq!(in_kernel(statement), (0, 0), "{statement}");
    }
}

/// With `Checks::Report` the thread goes on: then the position of a tile may not fit, and coordinates
/// of 32 bits are clamped.
#[test]
fn a_check_that_is_only_recorded_proves_nothing() {
    let tile = |number: &str, copy: &str| {
        let text = format!(
            "__co__ void f(global s32 [24, 32] x, global s32 [4, 32] y, global {number} [1] at) {{
               parallel p by 1 : block {{
                 t = {copy}.copy x.subspan(4, 32).at(at.at(0), 0) => shared;
                 {copy}.copy t.data => y;
               }} }}"
        );
        [Checks::All, Checks::Report].map(|checks| device_text(&text, checks))
    };
    let [all, report] = tile("s64", "dma");
    assert_eq!(checks_of(&all).1, 0);
    assert!(checks_of(&report).1 > 0);
    let [all, report] = tile("s32", "tma");
    assert_eq!((checks_of(&all).1, checks_of(&report).1), (0, 0));
    let clamped = |text: &str| text.contains("croq::min(croq::idx(2147483647), at_at * 4)");
    assert_eq!((clamped(&all), clamped(&report)), (false, true));
}
