//! Kernels of Triton on the problems of `make compare`, once each: what they execute is written beside
//! their PTX. The problems are those of `tests/compare/src/problem.rs`.

use croq_ptx::machine::Asynchrony;

use crate::matrix::{check_attention, product};
use crate::peer::{Peer, Value};
use crate::scalar::{check_layer_norm, check_softmax};
use crate::values::{Format, Random, compare};

use Format::{Bf16, F16, F32};

#[test]
#[ignore = "run by `make compare`"]
fn gemm() {
    let product = product("compared_gemm", F16, F16, true);
    product.check_in(Asynchrony::Late, [2048, 2048, 1024]);
}

#[test]
#[ignore = "run by `make compare`"]
fn attention() {
    for width in [64, 128] {
        for (name, causal) in [("attention", false), ("attention_causal", true)] {
            let name = format!("compared_{name}_{width}");
            check_attention(&name, causal, [1024, 16], Asynchrony::Late);
        }
    }
}

#[test]
#[ignore = "run by `make compare`"]
fn rows() {
    check_softmax("compared_softmax", 256, [256, 4096]);
    check_layer_norm("compared_layer_norm", [256, 4096]);
}

const ELEMENTS: usize = 1 << 20;

/// Of the elements of `x`, and of another operand that may be the result as well.
fn check_elements(
    name: &str,
    format: Format,
    buffers: [&str; 2],
    numbers: &[(&str, f32)],
    exact: fn(f64, f64) -> f64,
) {
    let mut peer = Peer::load(name);
    let mut random = Random::new(10);
    let [x, y] = [(); 2].map(|()| random.multiples(ELEMENTS, 1.0 / 64.0, 1.0));
    let [of_y, result] = buffers;
    let bytes = ELEMENTS * format.bytes();
    let mut arguments = vec![
        ("x", peer.upload("x", &format.to_bytes(&x))),
        ("out", peer.poisoned("out", bytes)),
        ("n", Value::Integer(ELEMENTS as i32)),
    ];
    arguments.push((of_y, peer.upload(of_y, &format.to_bytes(&y))));
    arguments.extend(
        numbers
            .iter()
            .map(|(name, value)| (*name, Value::Float(*value))),
    );
    peer.launch([ELEMENTS.div_ceil(peer.constant("BLOCK")), 1], &arguments);
    let (_, result) = *arguments
        .iter()
        .find(|(known, _)| *known == result)
        .unwrap();
    let found = format.to_values(&peer.download(result, bytes));
    let exact: Vec<f64> = x.iter().zip(&y).map(|(x, y)| exact(*x, *y)).collect();
    compare(name, &found, &exact, |_, exact| {
        format.rounding(exact) * 1.01 + F32.rounding(2.0)
    });
}

#[test]
#[ignore = "run by `make compare`"]
fn elements() {
    let scales = [("gain", 1.5), ("shift", -0.25)];
    check_elements("compared_axpy", F32, ["y", "y"], &[("a", 0.75)], |x, y| {
        0.75 * x + y
    });
    check_elements("compared_add", F32, ["y", "out"], &[], |x, y| x + y);
    for (name, format) in [("compared_relu_f32", F32), ("compared_relu_bf16", Bf16)] {
        check_elements(name, format, ["y", "out"], &scales, |x, _| {
            (1.5 * x - 0.25).max(0.0)
        });
    }
}
