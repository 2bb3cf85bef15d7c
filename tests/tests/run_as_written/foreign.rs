//! Headers of CUDA and of the reference, CUDA's intrinsics (`foreign_text.co`), macros of any name
//! (`foreign_macros.co`).

use croq_sys::half::{bf16, f16};
use croq_sys::{Const, Device, DeviceTensor, Tensor};
use croq_tests::compare::{assert_close, assert_exact, near};
use croq_tests::kernels;

fn brain(n: usize, seed: u64) -> Tensor<bf16, (usize,)> {
    let values = Tensor::<f32, _>::random((n,), -4.0..4.0, seed);
    let values = values.as_slice().iter().map(|v| bf16::from_f32(*v));
    Tensor::from_vec((n,), values.collect()).unwrap()
}

#[test]
fn types_of_the_reference_are_in_device_text() {
    for n in [1, 33, 200] {
        let x = brain(n, 1);
        let more = Tensor::from_vec((Const::<4>,), brain(4, 2).into_vec()).unwrap();
        let y = kernels::foreign_types(&x, &more).unwrap();
        assert_exact(&y, |[i]| {
            let more = more.as_slice().iter();
            more.fold(x[[i]].to_f32(), |sum, v| sum + v.to_f32())
        });
    }
}

#[test]
fn lanes_exchange_narrow_floats() {
    let values = (0..32).map(|t| f16::from_f32(t as f32 * 0.5 - 5.0));
    let x = Tensor::from_vec((Const::<32>,), values.collect()).unwrap();
    let mut sums = Tensor::<f32, _>::zeros((Const::<3>,));
    let mut y = Tensor::<f16, _>::zeros((Const::<32>,));
    kernels::foreign_lanes(&x, &mut sums, &mut y).unwrap();
    let relu = |t: usize| x[[t]].to_f32().max(0.0);
    assert_exact(&y, |[t]| f16::from_f32(relu(t)));
    let total: f32 = (0..32).map(relu).sum();
    assert_eq!(sums.as_slice(), [total, total, relu(31)]);
}

/// `a * b + c` has one rounding.
#[test]
fn halves_of_a_word_are_computed_together() {
    let narrow = |seed| {
        let values = Tensor::<f32, _>::random((64,), -3.0..3.0, seed);
        let values = values.as_slice().iter().map(|v| f16::from_f32(*v));
        Tensor::from_vec((Const::<64>,), values.collect()).unwrap()
    };
    let (x, before) = (narrow(3), narrow(4));
    let a = f16::from_f32(1.37);
    let mut y = before.clone();
    kernels::foreign_pairs(&x, &mut y, a).unwrap();
    assert_exact(&y, |i| {
        let wide = |v: f16| f64::from(v.to_f32());
        let fused = f16::from_f64(wide(a) * wide(x[i]) + wide(before[i]));
        let square = f16::from_f32(a.to_f32() * a.to_f32());
        f16::from_f32(fused.to_f32() - square.to_f32())
    });
}

#[test]
fn atomics_have_all_their_forms() {
    for n in [1usize, 37, 300] {
        let x = Tensor::<i32, _>::random((n,), -40..60, 5);
        let device = Device::default();
        let bins = DeviceTensor::zeros((Const::<9>,), &device).unwrap();
        let sum = DeviceTensor::zeros((Const::<1>,), &device).unwrap();
        let narrow = DeviceTensor::zeros((Const::<1>,), &device).unwrap();
        let brain = DeviceTensor::zeros((Const::<1>,), &device).unwrap();
        let wrapped = DeviceTensor::zeros((Const::<1>,), &device).unwrap();
        let (mut bins, mut sum, mut narrow, mut brain, mut wrapped) =
            (bins, sum, narrow, brain, wrapped);
        kernels::foreign_atomics(
            &x,
            &mut bins,
            &mut sum,
            &mut narrow,
            &mut brain,
            &mut wrapped,
        )
        .unwrap();
        let values = x.as_slice();
        let mut expected = [0; 9];
        for v in values {
            expected[(v & 3) as usize] += 1;
            expected[6] |= 1 << (v & 15);
        }
        expected[4] = values.iter().copied().fold(0, i32::max);
        expected[5] = values.iter().copied().fold(0, i32::min);
        expected[7] = 7;
        expected[8] = 2 * n as i32;
        assert_eq!(bins.to_host().unwrap().as_slice(), expected);
        assert_eq!(sum.to_host().unwrap().as_slice(), [0.5 * n as f32]);
        assert_eq!(
            narrow.to_host().unwrap().as_slice(),
            [f16::from_f32(n as f32)]
        );
        // Above 512 the sum in bf16 does not change any more, because each addition is rounded.
        let rounded = (0..n).fold(bf16::ZERO, |sum, _| bf16::from_f32(sum.to_f32() + 2.0));
        assert_eq!(brain.to_host().unwrap().as_slice(), [rounded]);
        assert_eq!(wrapped.to_host().unwrap().as_slice(), [n as u32 % 10]);
    }
}

#[test]
fn integer_intrinsics_are_those_of_cuda() {
    let x = Tensor::<u32, _>::from_fn((100,), |[i]| {
        (i as u32).wrapping_mul(0x9e37_79b9) ^ i as u32
    });
    assert_exact(&kernels::foreign_bits(&x).unwrap(), |i| {
        let v = x[i];
        let bytes = [v, !v].map(u32::to_le_bytes).concat();
        let chosen = u32::from_le_bytes([bytes[0], bytes[4], bytes[1], bytes[5]]);
        let mut r = v.reverse_bits() ^ v.count_ones() ^ v.leading_zeros() ^ chosen;
        let high = ((u64::from(v) * 0x9e37_79b9) >> 32) as u32;
        let first = if v == 0 { 0 } else { v.trailing_zeros() + 1 };
        r = r
            .wrapping_add(high)
            .wrapping_add(!v << 7 | v >> 25)
            .wrapping_add(first);
        let signed = v.to_le_bytes().map(|b| b as i8 as i32);
        let dot = signed[0] * 4 + signed[1] * 3 + signed[2] * 2 + signed[3] + 5;
        r ^= (dot as u32)
            .wrapping_add(-3i32 as u32)
            .wrapping_add(1.5f32.to_bits());
        r.wrapping_add((v as i32).abs_diff(3).wrapping_add(1))
    });
}

#[test]
fn vectors_are_those_of_cuda() {
    let x = Tensor::<f32, _>::random((17, Const::<4>), -2.0..2.0, 6);
    assert_exact(&kernels::foreign_vectors(&x).unwrap(), |[i]| {
        let at = |k| x[[i, k]];
        let (left, right) = (at(0) + at(1), at(2) + at(3));
        at(0) * 0.0 + left + right + 1.0 + 0.5 + 2.0 + 1.0
    });
}

#[test]
fn votes_are_counted() {
    let x = Tensor::from_fn((Const::<64>,), |[t]| (t as i32 * 7) % 45);
    let (mut y, mut counts) = (x.clone(), x.clone());
    kernels::foreign_votes(&mut y, &mut counts).unwrap();
    let odd = x.as_slice().iter().filter(|v| *v & 1 == 1).count() as i32;
    let warp = |t: usize| &x.as_slice()[t / 32 * 32..t / 32 * 32 + 32];
    assert_exact(&y, |[t]| {
        let same = warp(t).iter().filter(|v| *v / 4 == x[[t]] / 4).count() as i32;
        odd * 100 + same
    });
    assert_exact(&counts, |[t]| {
        let most = *warp(t).iter().max().unwrap();
        let any = if warp(t).contains(&40) { 1000 } else { 0 };
        let all = if warp(t).iter().all(|v| *v < 40) {
            2000
        } else {
            0
        };
        most + any + all
    });
}

#[test]
fn macros_of_any_name_stay_the_users() {
    let x = Tensor::<i32, _>::random((Const::<48>,), -9..10, 7);
    let y = kernels::foreign_macros(&x).unwrap();
    assert_exact(&y, |[at]| {
        let t = 47 - at;
        let v = x[[t]];
        let sum = 5 * (2 * v.min(3) + 2 + 14 + 15);
        sum + 49 + 2 + t as i32 + 3 + 16 + 1
    });
}

/// Calls as operands, conditions and arguments of calls; each has the type of its declaration.
#[test]
fn calls_are_expressions() {
    let curve = |v: f32| if v < 0.0 { 0.125 * v } else { v };
    let nearest = |v: f32| v.round_ties_even() as i32;
    for (n, limit) in [(1, 0), (65, 3), (200, -4)] {
        let x = Tensor::<f32, _>::random((n,), -8.0..8.0, 8);
        let y = kernels::called_inside(&x, limit).unwrap();
        assert_exact(&y, |i| {
            let v = nearest((curve(x[i]) + 1.0) * 4.0);
            let mut sum = curve(-1.0) * 2.0 - curve(x[i] - curve(2.0));
            if v % 2 == 0 && v > limit {
                sum += nearest(x[i]) as f32;
            }
            sum += if v > 3 { curve(sum) } else { 0.5 };
            while nearest(sum) > 9 {
                sum -= 1.0;
            }
            sum + f16::from_f32(x[i]).to_f32().min(1.5)
        });
    }
}

#[test]
fn names_begin_with_underscores() {
    for n in [1, 40] {
        let x = Tensor::<i32, _>::random((n, Const::<4>), -5..6, 9);
        let y = kernels::underscores_first(&x, 2).unwrap();
        assert_exact(&y, |[p, column]| {
            let sum = x[[p, 0]] + 2;
            let v = (0..4).map(|i| if x[[p, i]] < sum { 1 } else { i as i32 });
            [v.sum::<i32>(), sum, p as i32, 3][column]
        });
    }
}

/// A loop of C++ that is written in several `__cpp__` statements is one loop.
#[test]
fn lines_of_cpp_are_one_text() {
    for n in [1usize, 127, 128, 300] {
        let ids = Tensor::<i32, _>::random((n,), -5..40, 7);
        let mut out = Tensor::<i32, _>::zeros((n,));
        kernels::foreign_lines(&ids, &mut out, 100).unwrap();
        assert_exact(&out, |[i]| match (i, ids[[i]]) {
            (0, _) => n.div_ceil(128) as i32,
            (_, id) if id < 0 => -1,
            (_, id) => id + 100,
        });
    }
}

#[test]
fn cpp_sees_names_of_the_program_and_of_earlier_texts() {
    for n in [1usize, 5] {
        let x = Tensor::<f32, _>::random((n, 32), -2.0..2.0, 8);
        let mut y = Tensor::<f32, _>::zeros((n, 32));
        kernels::foreign_names(&x, &mut y).unwrap();
        // Compilers may fuse the product and the sum: at most a rounding of values below 130 per step.
        assert_close(&y, |[i, t]| {
            let scaled = |step: i32| f64::from(x[[i, t]]) * (f64::from(step) + 1.0) + t as f64;
            near(
                (0..4).map(scaled).sum(),
                8.0 * 130.0 * f64::from(f32::EPSILON),
            )
        });
    }
}

#[test]
fn integers_of_stdint() {
    let x = Tensor::<u32, _>::random((100,), 0..u32::MAX, 40);
    let by = -0x1234_5678_9abc_i64;
    let y = kernels::called_widths(&x, by).unwrap();
    assert_exact(&y, |[i]| {
        (x[[i]] ^ ((by >> 8) as u32)).wrapping_mul(2_654_435_761)
    });
}
