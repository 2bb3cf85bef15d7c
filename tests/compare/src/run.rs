//! croq's kernels on the problems that are compared, once each, on the device of `CROQ_DEVICE`, with
//! their results against f64.

use croq_kernels as kernels;
use croq_sys::half::{bf16, f16};
use croq_sys::{Const, Device, DeviceTensor, Dims, Element, F8E4M3, Result, Tensor};

use crate::problem::{
    ATTENTION_HEADS, ATTENTION_LENGTH, COLUMNS, ELEMENTS, PRODUCT_DEPTH, PRODUCT_SIZE, ROWS,
};

type Matrix<T> = Tensor<T, (usize, usize)>;
type OnDevice<T> = DeviceTensor<T, (usize, usize)>;

/// Executes a kernel of [`crate::problem::kernels`].
///
/// # Errors
///
/// There is no such kernel, it fails, or a result is wrong.
pub fn run(name: &str) -> std::result::Result<(), String> {
    let right = match name {
        "croq_cooperative" => product(kernels::matmul_hopper_cooperative, f16::from_f32, HALF),
        "croq_pingpong" => product(kernels::matmul_hopper_pingpong, f16::from_f32, HALF),
        "croq_f8" => product(
            kernels::matmul_hopper_two::<128, _, _, _, _, _, _, _, _, _, _>,
            F8E4M3::from_f32,
            0.0,
        ),
        "croq_attention_64" => attention::<64>(kernels::attention_hopper, false),
        "croq_attention_128" => attention::<128>(kernels::attention_hopper, false),
        "croq_attention_causal_64" => attention::<64>(kernels::attention_causal_hopper, true),
        "croq_attention_causal_128" => attention::<128>(kernels::attention_causal_hopper, true),
        "croq_softmax" => softmax(),
        "croq_layer_norm" => layer_norm(),
        "croq_axpy" => axpy(),
        "croq_add" => add(),
        "croq_relu_f32" => relu::<f32>(|value| value, 0.0),
        "croq_relu_bf16" => relu::<bf16>(bf16::from_f32, 0.00390625),
        _ => return Err(format!("there is no kernel {name}")),
    };
    right.map_err(|error| format!("{name}: {error}"))?
}

/// The largest relative error of a rounding to f16.
const HALF: f64 = 0.00048828125;

/// An element that f64 holds exactly.
trait Number: Element {
    fn wide(self) -> f64;
}

macro_rules! numbers {
    ($($ty:ty: $wide:expr;)*) => {$(
        impl Number for $ty {
            fn wide(self) -> f64 {
                let wide: fn($ty) -> f64 = $wide;
                wide(self)
            }
        }
    )*};
}

numbers! {
    f32: f64::from;
    f16: f16::to_f64;
    bf16: bf16::to_f64;
    F8E4M3: F8E4M3::to_f64;
}

/// The result of a comparison.
type Compared = std::result::Result<(), String>;

/// The first element that is further from the exact one than it may be. A NaN is far from all.
fn near<T: Number>(
    found: &[T],
    exact: impl Fn(usize) -> f64,
    allowed: impl Fn(f64) -> f64,
) -> Compared {
    for (at, found) in found.iter().enumerate() {
        let (found, exact) = (found.wide(), exact(at));
        let is_near = (found - exact).abs() <= allowed(exact);
        if !is_near {
            return Err(format!("element {at} is {found:e}, not {exact:e}"));
        }
    }
    Ok(())
}

/// The n-th of a series of multiples of 1/64 from -1 to 1: their products are exact in f32, and so are
/// sums of 1024 of them.
fn number(seed: u32, n: usize) -> f32 {
    let mut bits = (n as u32)
        .wrapping_add(seed.wrapping_mul(7919))
        .wrapping_mul(2_654_435_761);
    bits ^= bits >> 15;
    bits = bits.wrapping_mul(2_246_822_519);
    bits ^= bits >> 13;
    ((bits % 129) as f32 - 64.0) / 64.0
}

fn series<T: Element, D: Dims>(dims: D, seed: u32, of: impl Fn(f32) -> T) -> Tensor<T, D> {
    let mut n = 0;
    Tensor::from_fn(dims, |_| {
        n += 1;
        of(number(seed, n))
    })
}

fn wide<T: Number, D: Dims>(tensor: &Tensor<T, D>) -> Vec<f64> {
    tensor.as_slice().iter().map(|value| value.wide()).collect()
}

fn product<T: Number, C: Number + Default>(
    kernel: impl Fn(&OnDevice<T>, &OnDevice<T>, &mut OnDevice<C>) -> Result<()>,
    of: impl Fn(f32) -> T + Copy,
    rounding: f64,
) -> Result<Compared> {
    let device = Device::default();
    let (size, depth) = (PRODUCT_SIZE, PRODUCT_DEPTH);
    let (lhs, rhs): (Matrix<T>, Matrix<T>) =
        (series((size, depth), 1, of), series((size, depth), 2, of));
    let mut out = Tensor::from_fn((size, size), |_| C::default()).to_device(&device)?;
    kernel(&lhs.to_device(&device)?, &rhs.to_device(&device)?, &mut out)?;
    let (lhs, rhs, out) = (wide(&lhs), wide(&rhs), out.to_host()?);
    let exact = |at: usize| -> f64 {
        let (row, column) = (&lhs[at / size * depth..], &rhs[at % size * depth..]);
        row[..depth].iter().zip(column).map(|(a, b)| a * b).sum()
    };
    Ok(near(out.as_slice(), exact, |exact| rounding * exact.abs()))
}

type Heads<const D: usize> = (usize, usize, Const<D>);
type HeadsOnDevice<const D: usize> = DeviceTensor<f16, Heads<D>>;

fn attention<const D: usize>(
    kernel: impl Fn(
        &HeadsOnDevice<D>,
        &HeadsOnDevice<D>,
        &HeadsOnDevice<D>,
        &mut HeadsOnDevice<D>,
    ) -> Result<()>,
    causal: bool,
) -> Result<Compared> {
    let device = Device::default();
    let dims = (ATTENTION_HEADS, ATTENTION_LENGTH, Const::<D>);
    let tensors = [1, 2, 3].map(|seed| series(dims, seed, f16::from_f32));
    let [q, k, v] = [&tensors[0], &tensors[1], &tensors[2]].map(|t| t.to_device(&device));
    let mut out = Tensor::from_fn(dims, |_| f16::NAN).to_device(&device)?;
    kernel(&q?, &k?, &v?, &mut out)?;
    let [q, k, v] = tensors.map(|tensor| wide(&tensor));
    let mut exact = Vec::with_capacity(q.len());
    for row in 0..ATTENTION_HEADS * ATTENTION_LENGTH {
        let head = row / ATTENTION_LENGTH * ATTENTION_LENGTH;
        let last = if causal {
            row + 1
        } else {
            head + ATTENTION_LENGTH
        };
        exact.extend(attend(
            &q[row * D..][..D],
            &k[head * D..last * D],
            &v[head * D..],
        ));
    }
    // Weights are rounded, relative to the largest of the row, and so is the result; values are at most 1.
    let out = out.to_host()?;
    Ok(near(
        out.as_slice(),
        |at| exact[at],
        |exact| HALF * (exact.abs() + 1.0),
    ))
}

/// One row of the result.
fn attend(query: &[f64], keys: &[f64], values: &[f64]) -> Vec<f64> {
    let width = query.len();
    let scale = 1.0 / (width as f64).sqrt();
    let dot = |key: &[f64]| key.iter().zip(query).map(|(a, b)| a * b).sum::<f64>() * scale;
    let weights: Vec<f64> = keys.chunks(width).map(|key| dot(key).exp()).collect();
    let total: f64 = weights.iter().sum();
    let mut sums = vec![0.0; width];
    for (weight, values) in weights.iter().zip(values.chunks(width)) {
        let weighted = sums.iter_mut().zip(values);
        weighted.for_each(|(sum, value)| *sum += weight / total * value);
    }
    sums
}

fn softmax() -> Result<Compared> {
    let x = series((ROWS, COLUMNS), 4, |value| 8.0 * value);
    let found = kernels::softmax(&x)?;
    let x = wide(&x);
    let rows: Vec<(f64, f64)> = x
        .chunks(COLUMNS)
        .map(|row| {
            let peak = row.iter().copied().fold(f64::MIN, f64::max);
            (peak, row.iter().map(|x| (x - peak).exp()).sum())
        })
        .collect();
    let exact = |at: usize| {
        let (peak, total) = rows[at / COLUMNS];
        (x[at] - peak).exp() / total
    };
    // Exponents up to 24 with two roundings each, sums of 64 terms in a row.
    Ok(near(found.as_slice(), exact, |exact| 150.0 * exact * 6e-8))
}

fn layer_norm() -> Result<Compared> {
    let x = series((ROWS, COLUMNS), 5, |value| bf16::from_f32(3.0 * value));
    let (gain, shift) = (series((COLUMNS,), 6, |v| v), series((COLUMNS,), 7, |v| v));
    let found = kernels::layer_norm(&x, &gain, &shift, 1e-5)?;
    let x = wide(&x);
    let rows: Vec<(f64, f64)> = x
        .chunks(COLUMNS)
        .map(|row| {
            let mean = row.iter().sum::<f64>() / COLUMNS as f64;
            let squares: f64 = row.iter().map(|x| (x - mean).powi(2)).sum();
            (mean, 1.0 / (squares / COLUMNS as f64 + 1e-5).sqrt())
        })
        .collect();
    let exact = |at: usize| {
        let (mean, slope) = rows[at / COLUMNS];
        let (gain, shift) = (gain.as_slice(), shift.as_slice());
        let column = at % COLUMNS;
        (x[at] - mean) * slope * gain[column].wide() + shift[column].wide()
    };
    Ok(near(found.as_slice(), exact, |exact| {
        0.00390625 * exact.abs() * 1.01 + 1e-4
    }))
}

fn axpy() -> Result<Compared> {
    let device = Device::default();
    let (x, y) = (series((ELEMENTS,), 8, |v| v), series((ELEMENTS,), 9, |v| v));
    let mut sum = y.to_device(&device)?;
    kernels::axpy(0.75, &x.to_device(&device)?, &mut sum)?;
    let (x, y) = (wide(&x), wide(&y));
    let exact = |at: usize| 0.75 * x[at] + y[at];
    Ok(near(sum.to_host()?.as_slice(), exact, |_| 3e-7))
}

fn add() -> Result<Compared> {
    let (x, y) = (series((ELEMENTS,), 8, |v| v), series((ELEMENTS,), 9, |v| v));
    let sum = kernels::add_1d(&x, &y)?;
    let (x, y) = (wide(&x), wide(&y));
    Ok(near(sum.as_slice(), |at| x[at] + y[at], |_| 0.0))
}

fn relu<T: Number + kernels::ScaleReluInstance>(
    of: impl Fn(f32) -> T,
    rounding: f64,
) -> Result<Compared> {
    let x = series((ELEMENTS,), 10, of);
    let found = kernels::scale_relu(&x, 1.5, -0.25)?;
    let x = wide(&x);
    let exact = |at: usize| (1.5 * x[at] - 0.25).max(0.0);
    Ok(near(found.as_slice(), exact, |exact| {
        3e-7 + rounding * exact
    }))
}
