//! What is proved, and where checks stand.

use std::fs;
use std::path::{Path, PathBuf};

use crate::pipeline::{FileNames, Options, compile_text};

fn device_text(text: &str) -> String {
    let names = FileNames {
        path: "case.co".to_owned(),
        stem: "case".to_owned(),
        hash: "00000000".to_owned(),
    };
    let compiled = compile_text(&names, text, &Options::default());
    let outputs = compiled.outputs;
    outputs
        .unwrap_or_else(|| panic!("{:?}", compiled.diagnostics))
        .device
}

/// Checks of sizes on the host, and in kernels.
fn checks(text: &str) -> (usize, usize) {
    let text = device_text(text);
    let fits = text.lines().filter(|line| line.contains("croq::fits("));
    let (host, device): (Vec<&str>, Vec<&str>) = fits.partition(|l| l.contains("CROQ_REQUIRE("));
    (host.len(), device.len())
}

#[test]
fn what_tensors_bound_costs_nothing() {
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

#[test]
fn a_product_of_extents_that_no_tensor_has_is_checked_once() {
    let outer = "__co__ void f(global s8 [M] x, global s8 [N] y, global s64 [1] z) {
      parallel p by 1 { z.at(0) = M * N; z.at(0) = M * N + 1; } }";
    assert_eq!(checks(outer), (1, 0));
}

#[test]
fn an_argument_of_64_bits_is_looked_at_where_it_matters() {
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

fn kernels(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            kernels(&path, found);
        } else if path.extension().is_some_and(|e| e == "co") {
            found.push(path);
        }
    }
}

/// Not one of our own kernels pays for it on the device.
#[test]
fn kernels_pay_nothing() {
    let mut found = Vec::new();
    kernels(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels/co"),
        &mut found,
    );
    assert!(found.len() > 30);
    for path in found {
        let text = fs::read_to_string(&path).expect("a kernel");
        assert_eq!(checks(&text).1, 0, "{}", path.display());
    }
}
