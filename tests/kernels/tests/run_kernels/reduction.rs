use croq_kernel_tests::compare::{Float, assert_close, assert_exact, dot, growth, near, rounded};
use croq_kernels as kernels;
use croq_sys::half::{bf16, f16};
use croq_sys::{Const, Error, Tensor};

const SIZES: [(usize, usize); 6] = [(1, 1), (3, 64), (2, 128), (4, 129), (5, 300), (3, 1000)];

/// For kernels that have a row in registers: ends of vectors and of blocks, rows of which every
/// fourth is aligned, and rows that are too long.
const LONG: [(usize, usize); 7] = [
    (9, 3),
    (4, 127),
    (2, 512),
    (2, 4096),
    (5, 2050),
    (2, 16384),
    (3, 16387),
];

#[test]
fn row_reduce_sum() {
    for (m, n) in SIZES.into_iter().chain(LONG) {
        let x = Tensor::<f32, _>::random((m, n), -1.0..1.0, 1);
        let sum = kernels::row_reduce::<false, _, _, _>(&x).unwrap();
        assert_close(&sum, |[i]| {
            let row = (0..n).map(|j| x[[i, j]].wide());
            dot::<f32>(row.clone().sum(), row.map(f64::abs).sum(), n)
        });
    }
}

#[test]
fn row_reduce_largest() {
    for (m, n) in SIZES.into_iter().chain(LONG) {
        let x = Tensor::<f32, _>::random((m, n), -5.0..-1.0, 2);
        let top = kernels::row_reduce::<true, _, _, _>(&x).unwrap();
        assert_exact(&top, |[i]| {
            (0..n).map(|j| x[[i, j]]).fold(f32::NEG_INFINITY, f32::max)
        });
    }
}

#[test]
fn column_sum() {
    for (m, n) in [(1, 1), (300, 7), (33, 150)] {
        let x = Tensor::<i32, _>::random((m, n), i32::MIN..i32::MAX, 3);
        let sum = kernels::column_sum(&x).unwrap();
        assert_exact(&sum, |[j]| (0..m).map(|i| i64::from(x[[i, j]])).sum());
    }
}

#[test]
fn column_sum_streamed() {
    // One tile, two, three, many, and edges in both directions.
    for (m, n) in [(1, 1), (16, 64), (20, 65), (48, 64), (100, 130), (33, 7)] {
        let x = Tensor::<f32, _>::random((m, n), -1.0..1.0, 31);
        let sum = kernels::column_sum_streamed(&x).unwrap();
        assert_close(&sum, |[j]| {
            let column = (0..m).map(|i| x[[i, j]].wide());
            dot::<f32>(column.clone().sum(), column.map(f64::abs).sum(), m)
        });
    }
}

/// exp(x - max) / sum of row `i`, and its relative error in f32: the argument of the exponential has
/// two roundings of its size and the error of log2(e), the sum one rounding per term.
fn softmax_of(row: &[f64], j: usize) -> (f64, f64) {
    let (peak, weight, error) = weights_of(row);
    ((row[j] - peak).exp() / weight, error)
}

/// The maximum, the sum of the weights, and the relative error.
fn weights_of(row: &[f64]) -> (f64, f64, f64) {
    let peak = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weight: f64 = row.iter().map(|v| (v - peak).exp()).sum();
    let reach = row.iter().map(|v| (v - peak).abs()).fold(0.0, f64::max);
    let error = growth::<f32>(row.len() + 8) + 2.5 * reach * f32::ROUNDOFF;
    (peak, weight, error)
}

#[test]
fn softmax() {
    fn check<T: Float<Bound = f32> + kernels::SoftmaxInstance>() {
        for (m, n) in SIZES.into_iter().chain(LONG) {
            let x = Tensor::<T, _>::random((m, n), -8.0..8.0, 4);
            let y = kernels::softmax(&x).unwrap();
            let rows: Vec<Vec<f64>> = (0..m).map(|i| row_of(&x, i, n)).collect();
            let sums: Vec<(f64, f64, f64)> = rows.iter().map(|row| weights_of(row)).collect();
            assert_close(&y, |[i, j]| {
                let (peak, weight, error) = sums[i];
                let value = (rows[i][j] - peak).exp() / weight;
                near(value, value * error + rounded::<T>(value, 1).tolerance)
            });
        }
    }
    check::<f32>();
    check::<f16>();
    check::<bf16>();
}

fn row_of<T: Float>(x: &Tensor<T, (usize, usize)>, i: usize, n: usize) -> Vec<f64> {
    (0..n).map(|j| x[[i, j]].wide()).collect()
}

/// A weight of nothing is zero; a row with a NaN, with +inf or of nothing has no weights.
#[test]
fn softmax_of_special_values() {
    for n in [1, 5, 1000, 16384, 16385] {
        let mut x = Tensor::<f32, _>::random((5, n), -8.0..8.0, 5);
        for j in 0..n {
            if j % 3 != 2 {
                x[[0, j]] = f32::NEG_INFINITY;
            }
            x[[1, j]] = f32::NEG_INFINITY;
        }
        x[[0, n - 1]] = 1.0;
        x[[2, n / 2]] = f32::NAN;
        x[[3, n - 1]] = f32::INFINITY;
        let y = kernels::softmax(&x).unwrap();
        let weights: f32 = (0..n).map(|j| (x[[0, j]] - 1.0).exp()).sum();
        for j in 0..n {
            let expected = (x[[0, j]] - 1.0).exp() / weights;
            assert!((y[[0, j]] - expected).abs() <= 1e-4 * expected, "{n}: {j}");
            for row in [1, 2] {
                assert!(y[[row, j]].is_nan(), "{n}: {row} {j}: {}", y[[row, j]]);
            }
            // Beside +inf all others have no weight, or the row is no number.
            assert!(y[[3, j]].is_nan() || y[[3, j]] == 0.0, "{n}: {j}");
            assert!(y[[4, j]].is_finite(), "{n}: {j}");
        }
    }
}

/// Masks use the smallest number, also for whole rows.
#[test]
fn rows_of_the_smallest_number() {
    for n in [1, 1000, 16384, 16385] {
        let x = Tensor::from_fn((2, n), |[i, j]| match (i, j) {
            (1, 0) => f32::NEG_INFINITY,
            _ => f32::MIN,
        });
        let y = kernels::softmax(&x).unwrap();
        let equal = |[i, j]: [usize; 2]| match (i, j) {
            (1, 0) if n > 1 => 0.0,
            (1, 0) => f64::NAN,
            _ => 1.0 / (n - i) as f64,
        };
        for (at, value) in y.as_slice().iter().enumerate() {
            let (value, expected) = (f64::from(*value), equal([at / n, at % n]));
            let near = (value - expected).abs() <= 1e-5 * expected;
            assert!(
                near || value.is_nan() && expected.is_nan(),
                "{n}: {at}: {value}"
            );
        }
        let labels = Tensor::from_vec((2,), vec![0, IGNORED]).unwrap();
        let (loss, log_sum) = kernels::cross_entropy(&x, &labels, IGNORED).unwrap();
        // The logarithm of the number of elements is less than an ulp.
        assert_eq!((loss[[0]], log_sum[[0]]), (0.0, f32::MIN), "{n}");
    }
}

#[test]
fn softmax_16() {
    for m in [1, 64, 100] {
        let x = Tensor::<f16, _>::random((m, Const::<16>), -8.0..8.0, 5);
        let y = kernels::softmax_16(&x).unwrap();
        assert_close(&y, |[i, j]| {
            let row: Vec<f64> = (0..16).map(|j| x[[i, j]].wide()).collect();
            let (value, error) = softmax_of(&row, j);
            near(value, value * error + rounded::<f16>(value, 1).tolerance)
        });
    }
}

#[test]
fn layer_norm() {
    fn check<T: Float<Bound = f32> + kernels::LayerNormInstance>() {
        let sizes = [(1, 1), (3, 64), (4, 65), (2, 300), (5, 17), (3, 1000)];
        for (m, n) in sizes.into_iter().chain(LONG) {
            let x = Tensor::<T, _>::random((m, n), -3.0..5.0, 6);
            let gain = Tensor::<f32, _>::random((n,), 0.5..1.5, 7);
            let shift = Tensor::<f32, _>::random((n,), -1.0..1.0, 8);
            let epsilon = 1e-2f32;
            let y = kernels::layer_norm(&x, &gain, &shift, epsilon).unwrap();
            let of_row = |i| {
                let row = row_of(&x, i, n);
                let mean = row.iter().sum::<f64>() / n as f64;
                let variance = row.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64;
                (mean, 1.0 / (variance + epsilon.wide()).sqrt())
            };
            let rows: Vec<(f64, f64)> = (0..m).map(of_row).collect();
            assert_close(&y, |[i, j]| {
                let (mean, slope) = rows[i];
                let scaled = (x[[i, j]].wide() - mean) * slope * gain[[j]].wide();
                // The mean has one rounding per term of values up to 5, and everything after it is
                // scaled by the slope; the rest is a few roundings of the terms themselves.
                let mean_error = 5.0 * growth::<f32>(n + 64) * slope * gain[[j]].wide();
                let rest = (scaled.abs() + shift[[j]].wide().abs()) * growth::<f32>(n + 72);
                let value = scaled + shift[[j]].wide();
                near(value, mean_error + rest + rounded::<T>(value, 1).tolerance)
            });
        }
    }
    check::<f32>();
    check::<f16>();
    check::<bf16>();
}

#[test]
fn rms_norm() {
    fn check<T: Float<Bound = f32> + kernels::RmsNormInstance>() {
        let sizes = [(1, 1), (3, 64), (4, 65), (2, 300), (5, 17), (3, 1000)];
        for (m, n) in sizes.into_iter().chain(LONG) {
            let x = Tensor::<T, _>::random((m, n), -3.0..5.0, 9);
            let weight = Tensor::<T, _>::random((n,), -1.5..1.5, 10);
            let epsilon = 1e-2f32;
            let y = kernels::rms_norm(&x, &weight, epsilon).unwrap();
            let slope = |i| {
                let square = row_of(&x, i, n).iter().map(|v| v * v).sum::<f64>() / n as f64;
                1.0 / (square + epsilon.wide()).sqrt()
            };
            let slopes: Vec<f64> = (0..m).map(slope).collect();
            assert_close(&y, |[i, j]| {
                let value = x[[i, j]].wide() * slopes[i] * weight[[j]].wide();
                let error = value.abs() * growth::<f32>(n + 16);
                near(value, error + rounded::<T>(value, 1).tolerance)
            });
        }
    }
    check::<f32>();
    check::<f16>();
    check::<bf16>();
}

const IGNORED: i32 = -100;

/// Labels of the first and the last column and others; every third row is ignored.
fn labels_of(m: usize, n: usize) -> Tensor<i32, (usize,)> {
    Tensor::from_fn((m,), |[i]| match i % 3 {
        _ if i == 1 => n as i32 - 1,
        2 => IGNORED,
        _ => ((i * 37) % n) as i32,
    })
}

#[test]
fn cross_entropy() {
    fn check<T>()
    where
        T: Float<Bound = f32>
            + kernels::CrossEntropyInstance
            + kernels::CrossEntropyGradientInstance,
    {
        for (m, n) in SIZES.into_iter().chain(LONG) {
            let x = Tensor::<T, _>::random((m, n), -8.0..8.0, 11);
            let labels = labels_of(m, n);
            let (loss, log_sum) = kernels::cross_entropy(&x, &labels, IGNORED).unwrap();
            let rows: Vec<Vec<f64>> = (0..m).map(|i| row_of(&x, i, n)).collect();
            let near_sum = |i: usize| {
                let (peak, weight, error) = weights_of(&rows[i]);
                let value = peak + weight.ln();
                // The weights are relative to several maxima before the last one.
                let error = 3.0 * error + growth::<f32>(64) + 8.0 * value.abs() * f32::ROUNDOFF;
                near(value, error)
            };
            assert_close(&log_sum, |[i]| near_sum(i));
            assert_close(&loss, |[i]| {
                if labels[[i]] == IGNORED {
                    return near(0.0, 0.0);
                }
                let sum = near_sum(i);
                let value = sum.value - rows[i][labels[[i]] as usize];
                near(value, sum.tolerance + value.abs() * f32::ROUNDOFF)
            });

            let factor = Tensor::<f32, _>::random((m,), -2.0..2.0, 12);
            let gradient =
                kernels::cross_entropy_gradient(&x, &labels, &log_sum, &factor, IGNORED).unwrap();
            assert_close(&gradient, |[i, j]| {
                if labels[[i]] == IGNORED {
                    return near(0.0, 0.0);
                }
                let away = rows[i][j] - log_sum[[i]].wide();
                let share = away.exp();
                let hit = f64::from(u8::from(labels[[i]] == j as i32));
                let value = (share - hit) * factor[[i]].wide();
                let error = share * (8.0 + 4.0 * away.abs()) + (share - hit).abs();
                let error = error * f32::ROUNDOFF * factor[[i]].wide().abs();
                near(value, error + rounded::<T>(value, 1).tolerance)
            });
        }
    }
    check::<f32>();
    check::<f16>();
    check::<bf16>();
}

#[test]
fn a_label_outside_of_the_row_is_an_error() {
    let x = Tensor::<f32, _>::random((3, 50), -1.0..1.0, 13);
    for wrong in [-1, 50, i32::MIN] {
        let labels = Tensor::from_vec((3,), vec![4, wrong, IGNORED]).unwrap();
        match kernels::cross_entropy(&x, &labels, IGNORED).unwrap_err() {
            Error::Check { .. } | Error::OutOfBounds { .. } => {}
            other => panic!("{other}"),
        }
        if croq_kernel_tests::gpu::ends_at_failure() {
            break;
        }
    }
}

/// Columns in descending order of their elements: a NaN first, equal ones from left to right.
fn largest<T: Float>(row: &[T], k: usize) -> Vec<usize> {
    let mut columns: Vec<usize> = (0..row.len()).collect();
    columns.sort_by(|a, b| {
        let (a, b) = (row[*a].wide(), row[*b].wide());
        let nan = b.is_nan().cmp(&a.is_nan());
        nan.then(b.partial_cmp(&a).unwrap_or(std::cmp::Ordering::Equal))
    });
    columns.truncate(k);
    columns
}

#[test]
fn top_k() {
    fn check<T: Float<Bound = f32> + kernels::TopKInstance>(narrow: fn(f32) -> T) {
        let sizes = SIZES.into_iter().chain(LONG).filter(|(_, n)| *n <= 4096);
        for ((m, n), k) in sizes.zip([1, 5, 32, 7, 32, 16].into_iter().cycle()) {
            let k = k.min(n);
            // In a narrow range many elements of 16 bits are equal.
            for range in [-4.0..4.0, -1.0..-0.96] {
                let x = Tensor::<T, _>::random((m, n), range, 14);
                check_top_k(&x, k);
            }
        }
        // Elements that come in ascending order change the list with every step.
        let line = Tensor::<T, _>::random((2000,), -3.0..3.0, 15);
        let mut order = largest(line.as_slice(), 2000);
        order.reverse();
        check_top_k(&Tensor::from_fn((1, 2000), |[_, j]| line[[order[j]]]), 32);
        let special = |[_, j]: [usize; 2]| match j {
            500 => f32::NAN,
            990 => f32::INFINITY,
            3 => -0.0,
            4 => 0.0,
            _ => f32::NEG_INFINITY,
        };
        check_top_k(&Tensor::from_fn((1, 1000), |i| narrow(special(i))), 6);
    }
    check::<f32>(|v| v);
    check::<f16>(f16::from_f32);
    check::<bf16>(bf16::from_f32);
}

fn check_top_k<T: Float + kernels::TopKInstance>(x: &Tensor<T, (usize, usize)>, k: usize) {
    let [m, n] = x.shape();
    let (values, columns) = kernels::top_k(x, k as i32).unwrap();
    assert_eq!((values.shape(), columns.shape()), ([m, k], [m, k]));
    for i in 0..m {
        let row: Vec<T> = (0..n).map(|j| x[[i, j]]).collect();
        let expected = largest(&row, k);
        let found: Vec<usize> = (0..k).map(|j| columns[[i, j]] as usize).collect();
        assert_eq!(found, expected, "row {i} of {m} x {n}");
        for (j, column) in found.into_iter().enumerate() {
            let (found, exact) = (values[[i, j]].wide(), row[column].wide());
            let same = found == exact || (found.is_nan() && exact.is_nan());
            assert!(same, "row {i}, column {column}: {found} instead of {exact}");
        }
    }
}

#[test]
fn top_k_of_no_elements_or_too_many_is_an_error() {
    let x = Tensor::<f32, _>::random((2, 40), -1.0..1.0, 16);
    for k in [i32::MIN, -1, 0, 33] {
        let error = kernels::top_k(&x, k).unwrap_err().to_string();
        assert!(error.contains("one to 32"), "{k}: {error}");
    }
    let x = Tensor::<f32, _>::random((2, 5), -1.0..1.0, 16);
    let error = kernels::top_k(&x, 6).unwrap_err().to_string();
    assert!(error.contains("than a row has"), "{error}");
}

#[test]
fn total_sum() {
    for n in [1, 255, 4096, 4097, 50_000] {
        let x = Tensor::<f32, _>::random((n,), -1.0..1.0, 41);
        let total = kernels::total_sum(&x).unwrap();
        assert_close(&total, |_| {
            let all = (0..n).map(|i| x[[i]].wide());
            dot::<f32>(all.clone().sum(), all.map(f64::abs).sum(), n)
        });
        // On the simulated GPU the order of the blocks is fixed.
        assert_eq!(kernels::total_sum(&x).unwrap()[[0]], total[[0]]);
    }
}

#[test]
fn clip_by_norm() {
    for (n, blocks) in [(1, 1), (255, 3), (4096, 4), (4097, 16), (20_000, 7)] {
        let x = Tensor::<f32, _>::random((n,), -1.0..1.0, 43);
        let square: f64 = (0..n).map(|i| x[[i]].wide().powi(2)).sum();
        for limit in [0.5f32, 1e9] {
            let y = kernels::clip_by_norm(&x, limit, blocks).unwrap();
            let scale = (limit.wide() / square.sqrt()).min(1.0);
            assert_close(&y, |i| {
                let value = x[i].wide() * scale;
                near(value, value.abs() * growth::<f32>(n + 8))
            });
        }
    }
    let zeros = Tensor::<f32, _>::zeros((100,));
    assert_exact(&kernels::clip_by_norm(&zeros, 1.0, 2).unwrap(), |_| 0.0);
}

#[test]
fn byte_counts() {
    for n in [1, 4096, 30_001] {
        let x = Tensor::<u8, _>::random((n,), 0..255, 42);
        let total = kernels::byte_counts(&x).unwrap();
        assert_exact(&total, |[byte]| {
            x.as_slice()
                .iter()
                .filter(|v| usize::from(**v) == byte)
                .count() as u32
        });
    }
}
