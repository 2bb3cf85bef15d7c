//! Kernels of language models (`models.co`).

use croq_sys::half::{bf16, f16};
use croq_sys::{Const, Device, DeviceTensor, Dims, Element, Tensor};
use croq_tests::compare::{assert_close, assert_exact, near};
use croq_tests::kernels;

/// Small multiples of 1/4, whose products and sums are exact in f32.
fn quarter(i: usize) -> f32 {
    ((i * 7 + 3) % 17) as f32 / 4.0 - 2.0
}

fn there<T: Element, D: Dims>(x: &Tensor<T, D>) -> DeviceTensor<T, D> {
    x.to_device(&Device::default()).unwrap()
}

fn sigmoid(v: f64) -> f64 {
    1.0 / (1.0 + (-v).exp())
}

#[test]
fn two_products_share_an_operand() {
    for [m, n, k] in [[64, 64, 64], [100, 72, 136]] {
        let values = |dims: (usize, usize), by: usize| {
            Tensor::from_fn(dims, |[i, j]| f16::from_f32(quarter(i * by + j) / 8.0))
        };
        let [x, gate, up] = [((m, k), 31), ((n, k), 5), ((n, k), 13)].map(|(d, by)| values(d, by));
        let mut y = DeviceTensor::<f16, _>::zeros((m, n), &Device::default()).unwrap();
        kernels::modelled_swiglu(&there(&x), &there(&gate), &there(&up), &mut y).unwrap();
        let dot = |w: &Tensor<f16, (usize, usize)>, [i, j]: [usize; 2]| -> f64 {
            (0..k)
                .map(|at| x[[i, at]].to_f64() * w[[j, at]].to_f64())
                .sum()
        };
        assert_close(&y.to_host().unwrap(), |at| {
            let g = dot(&gate, at);
            let value = g * sigmoid(g) * dot(&up, at);
            near(value, value.abs() / 1024.0 + 1e-4)
        });
    }
}

#[test]
fn parts_of_k_meet_by_atomics() {
    for ([m, n, k], splits) in [([16, 8, 16], 1), ([33, 20, 100], 3), ([16, 8, 40], 5)] {
        let a = Tensor::from_fn((m, k), |[i, j]| f16::from_f32(quarter(i * 11 + j)));
        let b = Tensor::from_fn((n, k), |[i, j]| f16::from_f32(quarter(i * 5 + j + 2)));
        let c = kernels::modelled_split_k(&a, &b, splits).unwrap();
        assert_exact(&c, |[i, j]| {
            let terms = (0..k).map(|at| a[[i, at]].to_f32() * b[[j, at]].to_f32());
            terms.sum()
        });
    }
}

#[test]
fn losses_and_gradients_of_rows() {
    for (rows, vocab) in [(1, 5), (3, 128), (2, 300)] {
        let logits = Tensor::from_fn((rows, vocab), |[r, c]| bf16::from_f32(quarter(r * 3 + c)));
        let labels = Tensor::from_fn((rows,), |[r]| (r * 2 % vocab) as i32);
        let (loss, grad) = kernels::modelled_cross_entropy(&logits, &labels, 0.125).unwrap();
        let lse = |r: usize| {
            let terms = (0..vocab).map(|c| logits[[r, c]].to_f64().exp());
            terms.sum::<f64>().ln()
        };
        let label = |r: usize| labels[[r]] as usize;
        assert_close(&loss, |[r]| {
            near(lse(r) - logits[[r, label(r)]].to_f64(), 1e-4)
        });
        assert_close(&grad, |[r, c]| {
            let hot = if c == label(r) { 0.875 } else { 0.0 };
            near((logits[[r, c]].to_f64() - lse(r)).exp() - hot, 1.0 / 256.0)
        });
    }
}

#[test]
fn a_convolution_reads_elements_before_its_tile() {
    for (dims @ (_, d, _), silu) in [((1, 2, 64), false), ((2, 3, 100), true), ((1, 1, 3), true)] {
        let x = Tensor::from_fn(dims, |[b, c, l]| quarter(b * 5 + c * 3 + l));
        let w = Tensor::from_fn((d, Const::<4>), |[c, k]| quarter(c + k * 2));
        let bias = Tensor::from_fn((d,), |[c]| quarter(c));
        let y = kernels::modelled_causal_conv(&x, &w, &bias, silu).unwrap();
        assert_close(&y, |[b, c, l]| {
            let taps = (0..4).filter(|k| l + k >= 3);
            let terms = taps.map(|k| f64::from(x[[b, c, l + k - 3]] * w[[c, k]]));
            let sum = terms.sum::<f64>() + f64::from(bias[[c]]);
            let value = if silu { sum * sigmoid(sum) } else { sum };
            near(value, value.abs() * 1e-5 + 1e-5)
        });
    }
}

#[test]
fn keys_and_values_are_in_pages_of_a_table() {
    let (batch, heads, pages) = (3, 2, 7);
    let q = Tensor::from_fn((batch, heads, Const::<64>), |[b, h, e]| {
        quarter(b + h * 3 + e) / 4.0
    });
    let of_pages = |by: usize| {
        Tensor::from_fn((pages, heads, Const::<16>, Const::<64>), |[p, h, i, e]| {
            quarter(p * by + h * 5 + i * 3 + e)
        })
    };
    let (keys, values) = (of_pages(11), of_pages(4));
    let table = Tensor::from_fn((batch, 3), |[b, i]| ((b * 2 + i * 3) % pages) as i32);
    let lengths = Tensor::from_vec((batch,), vec![1, 20, 48]).unwrap();
    let run = |table: &Tensor<i32, (usize, usize)>| {
        kernels::modelled_paged_decode(&q, &keys, &values, table, &lengths, 0.125)
    };
    let o = run(&table).unwrap();
    assert_close(&o, |[b, h, e]| {
        let at = |i: usize| (table[[b, i / 16]] as usize, i % 16);
        let weight = |i: usize| {
            let (page, row) = at(i);
            let terms = (0..64).map(|d| f64::from(q[[b, h, d]] * keys[[page, h, row, d]]));
            (terms.sum::<f64>() / 8.0).exp()
        };
        let length = lengths[[b]] as usize;
        let total: f64 = (0..length).map(weight).sum();
        let terms = (0..length).map(|i| {
            let (page, row) = at(i);
            weight(i) * f64::from(values[[page, h, row, e]])
        });
        near(terms.sum::<f64>() / total, 1e-4)
    });
    // A page that does not exist stops the call.
    let mut wrong = table.clone();
    wrong[[1, 1]] = pages as i32;
    let error = run(&wrong).unwrap_err().to_string();
    assert!(error.contains("models.co"), "{error}");
}

#[test]
fn rows_are_sorted_with_their_order() {
    let keys = Tensor::from_fn((3, Const::<256>), |[r, i]| {
        ((i * 97 + r * 31) % 257) as f32 - 100.0
    });
    let mut sorted = there(&keys);
    let mut order = DeviceTensor::<i32, _>::zeros((3, Const::<256>), &Device::default()).unwrap();
    kernels::modelled_sorted_rows(&mut sorted, &mut order).unwrap();
    let order = order.to_host().unwrap();
    let expected = |r: usize| {
        let mut all: Vec<usize> = (0..256).collect();
        all.sort_by(|a, b| keys[[r, *a]].total_cmp(&keys[[r, *b]]));
        all
    };
    assert_exact(&order, |[r, i]| expected(r)[i] as i32);
    assert_exact(&sorted.to_host().unwrap(), |[r, i]| {
        keys[[r, expected(r)[i]]]
    });
}

#[test]
fn weights_are_updated_with_their_moments() {
    for n in [1, 128, 300] {
        let before = Tensor::from_fn((n,), |[i]| bf16::from_f32(quarter(i)));
        let g = Tensor::from_fn((n,), |[i]| bf16::from_f32(quarter(i + 4)));
        let m = Tensor::from_fn((n,), |[i]| quarter(i + 1));
        let v = Tensor::from_fn((n,), |[i]| quarter(i + 2).abs());
        let (mut w, mut m1, mut v1) = (before.clone(), m.clone(), v.clone());
        kernels::modelled_adamw(
            &mut w, &g, &mut m1, &mut v1, 0.125, 0.75, 0.5, 1e-3, 0.25, 2,
        )
        .unwrap();
        let new_m = |i: usize| 0.25 * g[[i]].to_f64() + 0.75 * f64::from(m[[i]]);
        let new_v = |i: usize| 0.5 * g[[i]].to_f64().powi(2) + 0.5 * f64::from(v[[i]]);
        assert_close(&m1, |[i]| near(new_m(i), 1e-5));
        assert_close(&v1, |[i]| near(new_v(i), 1e-5));
        assert_close(&w, |[i]| {
            let p = before[[i]].to_f64();
            let update = new_m(i) / 0.4375 / ((new_v(i) / 0.75).sqrt() + 1e-3) + 0.25 * p;
            let value = p - 0.125 * update;
            near(value, value.abs() / 200.0 + 1e-3)
        });
    }
}

#[test]
fn states_are_scanned_in_registers() {
    let (b, l, d) = (2, 5, 40);
    let u = Tensor::from_fn((b, l, d), |[b, l, d]| quarter(b + l * 3 + d));
    let delta = Tensor::from_fn((b, l, d), |[b, l, d]| quarter(b * 2 + l + d * 5));
    let a = Tensor::from_fn((d, Const::<8>), |[d, n]| -quarter(d + n).abs());
    let state =
        |by: usize| Tensor::from_fn((b, l, Const::<8>), |[b, l, n]| quarter(b + l * by + n));
    let (from, to) = (state(3), state(5));
    let skip = Tensor::from_fn((d,), |[d]| quarter(d));
    let y = kernels::modelled_scan(&u, &delta, &a, &from, &to, &skip).unwrap();
    assert_close(&y, |[b, l, d]| {
        let mut h = [0.0f64; 8];
        let mut out = 0.0;
        for at in 0..=l {
            let step = f64::from(delta[[b, at, d]]).exp().ln_1p();
            let x = f64::from(u[[b, at, d]]);
            out = x * f64::from(skip[[d]]);
            for n in 0..8 {
                let [a, from, to] = [a[[d, n]], from[[b, at, n]], to[[b, at, n]]].map(f64::from);
                h[n] = h[n] * (step * a).exp() + step * from * x;
                out += h[n] * to;
            }
        }
        near(out, out.abs() * 1e-4 + 1e-3)
    });
}

#[test]
fn bytes_are_multiplied_and_scaled() {
    for [m, n, k] in [[64, 64, 64], [70, 40, 96], [5, 130, 32]] {
        let a = Tensor::<i8, _>::random((m, k), -20..20, 1);
        let b = Tensor::<i8, _>::random((n, k), -20..20, 2);
        let row = Tensor::from_fn((m,), |[i]| [0.5f32, 1.0, 0.25][i % 3]);
        let column = Tensor::from_fn((n,), |[j]| [0.125f32, 0.0625][j % 2]);
        let c = kernels::modelled_bytes(&a, &b, &row, &column).unwrap();
        assert_exact(&c, |[i, j]| {
            let terms = (0..k).map(|at| i32::from(a[[i, at]]) * i32::from(b[[j, at]]));
            f16::from_f32(terms.sum::<i32>() as f32 * row[[i]] * column[[j]])
        });
    }
}

#[test]
fn turned_keys_are_appended_to_a_cache() {
    let (b, t, h, d, s) = (2, 3, 2, 8, 6);
    let k = Tensor::from_fn((b, t, h, d), |[b, t, h, e]| {
        f16::from_f32(quarter(b + t * 3 + h + e))
    });
    let start = Tensor::from_vec((b,), vec![1, 4]).unwrap();
    let mut cache = DeviceTensor::<f16, _>::zeros((b, s, h, d), &Device::default()).unwrap();
    kernels::modelled_append(&there(&k), &mut cache, &start, 100.0).unwrap();
    assert_close(&cache.to_host().unwrap(), |[b, at, h, e]| {
        let begin = start[[b]] as usize;
        if at < begin || at >= begin + t {
            return near(0.0, 0.0);
        }
        let i = e % (d / 2);
        let angle = at as f64 * 100.0f64.powf(-2.0 * i as f64 / d as f64);
        let x = [i, i + d / 2].map(|e| k[[b, at - begin, h, e]].to_f64());
        let value = match e < d / 2 {
            true => x[0] * angle.cos() - x[1] * angle.sin(),
            false => x[1] * angle.cos() + x[0] * angle.sin(),
        };
        near(value, 4e-3)
    });
}

#[test]
fn blocks_take_tiles_from_a_counter() {
    for (m, n) in [(32, 32), (70, 100), (1, 40)] {
        let x = Tensor::from_fn((m, n), |[i, j]| (i * n + j) as f32);
        let device = Device::default();
        let mut y = DeviceTensor::<f32, _>::zeros((n, m), &device).unwrap();
        let mut counter = DeviceTensor::<i32, _>::zeros((Const::<1>,), &device).unwrap();
        kernels::modelled_queue(&there(&x), &mut y, &mut counter).unwrap();
        assert_exact(&y.to_host().unwrap(), |[j, i]| x[[i, j]]);
        let tiles = m.div_ceil(32) * n.div_ceil(32);
        assert_exact(&counter.to_host().unwrap(), |_| (tiles + 4) as i32);
    }
}

#[test]
fn consumers_take_turns() {
    for [m, n, k] in [[128, 64, 64], [200, 72, 328], [60, 64, 128]] {
        let a = Tensor::from_fn((m, k), |[i, j]| bf16::from_f32(quarter(i * 11 + j)));
        let b = Tensor::from_fn((n, k), |[i, j]| bf16::from_f32(quarter(i * 5 + j + 2)));
        let mut c = DeviceTensor::<bf16, _>::zeros((m, n), &Device::default()).unwrap();
        kernels::modelled_turns(&there(&a), &there(&b), &mut c).unwrap();
        assert_exact(&c.to_host().unwrap(), |[i, j]| {
            let terms = (0..k).map(|at| a[[i, at]].to_f32() * b[[j, at]].to_f32());
            bf16::from_f32(terms.sum())
        });
    }
}
