//! Functions of NVIDIA's libdevice, and conversions.

use crate::peer::{Peer, Value};
use crate::values::{Format, Random, compare};

use Format::{Bf16, E4m3, E5m2, F16, F32, F64, I8, I32};

/// What the kernel `functions` computes of a number, each with the error that NVIDIA documents for
/// the function (CUDA programming guide, mathematical functions), in units in the last place of the
/// second number. For f32, then f64.
fn functions(v: f64, format: Format) -> [(f64, f64, [f64; 2]); 14] {
    let positive = format.round(v.abs() + 0.125);
    let with = |exact: f64, units| (exact, exact, units);
    let (floor, ceil) = (v.floor(), positive.ceil());
    let root = v * 32.0 / positive.sqrt();
    let (asinh, power) = (v.asinh(), v.exp_m1());
    [
        with(v.sin(), [2.0, 2.0]),
        with(v.cos(), [2.0, 2.0]),
        with(v.exp(), [2.0, 1.0]),
        with(positive.ln(), [1.0, 1.0]),
        with(positive.powf(v), [4.0, 2.0]),
        with(v.tanh(), [2.0, 2.0]),
        with(v.atan2(positive), [3.0, 2.0]),
        with(v % 0.75, [0.0, 0.0]),
        with(v.cbrt(), [1.0, 1.0]),
        with(v.hypot(positive), [3.0, 2.0]),
        with(v.round_ties_even() + positive.trunc(), [0.0, 0.0]),
        with(floor - ceil, [0.0, 0.0]),
        with(root, [4.0, 2.0]),
        (asinh + power, asinh.abs() + power.abs() + 1.0, [4.0, 4.0]),
    ]
}

fn check_functions(name: &str, format: Format) {
    let precision = usize::from(format == F64);
    let mut x = Random::new(11).numbers(300, 12.0, format);
    x.extend([0.0, 0.5, -0.5, 1.5, 20.0, -20.0]);
    let n = x.len();
    let mut peer = Peer::load(name);
    let bytes = 14 * n * format.bytes();
    let out = peer.poisoned("out", bytes);
    let arguments = [
        ("x", peer.upload("x", &format.to_bytes(&x))),
        ("out", out),
        ("n", Value::Integer(n as i32)),
    ];
    peer.launch([n.div_ceil(peer.constant("BLOCK")), 1], &arguments);
    let found = format.to_values(&peer.download(out, bytes));
    for (at, v) in x.iter().enumerate() {
        for (row, (exact, size, units)) in functions(*v, format).into_iter().enumerate() {
            let found = found[row * n + at];
            // Where more than one operation is rounded, and for the reference itself.
            let slack = if units[precision] == 0.0 { 0.0 } else { 4.0 };
            let allowed = (2.0 * units[precision] + slack) * format.rounding(size);
            let apart = (found - exact).abs();
            let is_close = apart <= allowed;
            assert!(
                is_close,
                "{name}: row {row} of {v:e} is {found:e}, not {exact:e}"
            );
        }
    }
}

#[test]
#[ignore = "run by `make ptx-peers`"]
fn functions_in_single_precision() {
    check_functions("functions_f32", F32);
}

#[test]
#[ignore = "run by `make ptx-peers`"]
fn functions_in_double_precision() {
    check_functions("functions_f64", F64);
}

#[test]
#[ignore = "run by `make ptx-peers`"]
fn conversions() {
    let mut peer = Peer::load("conversions");
    let mut random = Random::new(12);
    // Some that are subnormal in the narrow formats, and ties.
    let mut x: Vec<f64> = [100.0, 0.02, 2e-6, 1e-7]
        .into_iter()
        .flat_map(|size| random.numbers(200, size, F32))
        .collect();
    x.extend([1.0625, 1.1875, -1.125, 1.375, 0.0, 2.5, -3.5, 127.0]);
    x.resize(x.len().next_multiple_of(16), 7.0);
    let n = x.len();
    let formats = [
        ("double", F64),
        ("half", F16),
        ("bfloat", Bf16),
        ("e4m3", E4m3),
        ("e5m2", E5m2),
        ("word", I32),
        ("byte", I8),
    ];
    let mut arguments = vec![
        ("x", peer.upload("x", &F32.to_bytes(&x))),
        ("back", peer.poisoned("back", 8 * n)),
        ("n", Value::Integer(n as i32)),
    ];
    for (name, format) in formats {
        arguments.push((name, peer.poisoned(name, n * format.bytes())));
    }
    peer.launch([n.div_ceil(peer.constant("BLOCK")), 1], &arguments);
    let read = |name: &str, format: Format, rows: usize| {
        let (_, buffer) = *arguments.iter().find(|(known, _)| *known == name).unwrap();
        format.to_values(&peer.download(buffer, rows * n * format.bytes()))
    };
    for (name, format) in formats {
        let convert = |value: &f64| match format {
            F64 => value / 3.0,
            I8 | I32 => value.trunc(),
            _ => format.round(*value),
        };
        let exact: Vec<f64> = x.iter().map(convert).collect();
        compare(name, &read(name, format, 1), &exact, |_, _| 0.0);
    }
    let [narrow, wide] = [E4m3, E5m2].map(|format| x.iter().map(move |x| format.round(*x)));
    let exact: Vec<f64> = narrow.chain(wide).collect();
    compare("back", &read("back", F32, 2), &exact, |_, _| 0.0);
}
