//! Function templates and `if constexpr` (`templates.co`): each instance compared with plain Rust.

use croq_sys::half::{bf16, f16};
use croq_sys::{Const, Device, DeviceTensor, Dims, Element, Stream, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

fn on_device<T: Element, D: Dims>(x: &Tensor<T, D>) -> DeviceTensor<T, D> {
    x.to_device(&Device::sim()).unwrap()
}

fn small<D: Dims + Copy>(dims: D, seed: u64) -> Tensor<f32, D> {
    let n = Tensor::<i32, _>::random(dims, -4..5, seed);
    Tensor::from_vec(dims, n.as_slice().iter().map(|v| *v as f32).collect()).unwrap()
}

#[test]
fn arguments_select_the_instance() {
    for n in [1, 31, 64, 200] {
        let x = small((n,), 1);
        let (dims, values) = (x.dims(), x.as_slice());

        let halves = values.iter().map(|v| f16::from_f32(*v)).collect();
        let mut halves = on_device(&Tensor::from_vec(dims, halves).unwrap());
        kernels::templated_scale(&mut halves, 1.5).unwrap();
        assert_exact(&halves.to_host().unwrap(), |i| f16::from_f32(x[i] * 1.5));

        let mut floats = on_device(&x);
        kernels::templated_scale(&mut floats, 1.5).unwrap();
        assert_exact(&floats.to_host().unwrap(), |i| x[i] * 1.5);

        let integers = values.iter().map(|v| *v as i32).collect();
        let mut integers = on_device(&Tensor::from_vec(dims, integers).unwrap());
        kernels::templated_scale(&mut integers, 3.0).unwrap();
        assert_exact(&integers.to_host().unwrap(), |i| x[i] as i32 * 3);

        // The specialisation adds 1. A turbofish has the type and the dimension.
        let brains = values.iter().map(|v| bf16::from_f32(*v)).collect();
        let mut brains = on_device(&Tensor::from_vec(dims, brains).unwrap());
        kernels::templated_scale::<bf16, usize>(&mut brains, 1.5).unwrap();
        assert_exact(&brains.to_host().unwrap(), |i| {
            bf16::from_f32(x[i] * 1.5 + 1.0)
        });
    }
}

#[test]
fn other_code_is_generic_over_instances() {
    fn halve<T: kernels::TemplatedScaleInstance>(x: &mut DeviceTensor<T, (usize,)>) {
        kernels::templated_scale(x, 0.5).unwrap();
    }
    let x = small((40,), 2);
    let mut device = on_device(&x);
    halve(&mut device);
    assert_exact(&device.to_host().unwrap(), |i| x[i] * 0.5);
}

#[test]
fn what_arguments_do_not_decide_comes_first() {
    for n in [1, 7, 100] {
        let offset = Tensor::<i32, _>::random((n,), -9..10, 3);
        let wide = small((n, 10), 4);
        let x = on_device(&wide);
        let sums = kernels::templated_pairs::<5, f32, _, _, _, _, _>(&x, 2.0, &offset).unwrap();
        assert_eq!(sums.shape(), [n, 5]);
        assert_exact(&sums, |[i, j]| {
            2.0 * (wide[[i, 2 * j]] + wide[[i, 2 * j + 1]]) + offset[[i]] as f32
        });

        let narrow = Tensor::<i32, _>::random((n, Const::<6>), -9..10, 5);
        let x = on_device(&narrow);
        let expected =
            |[i, j]: [usize; 2]| 3 * (narrow[[i, 2 * j]] + narrow[[i, 2 * j + 1]]) + offset[[i]];
        let sums = kernels::templated_pairs::<3, i32, _, _, _, _, _>(&x, 3, &offset).unwrap();
        assert_exact(&sums, expected);
        let sums = kernels::templated_pairs::<3, f64, _, _, _, _, _>(&x, 3, &offset).unwrap();
        assert_exact(&sums, |i| f64::from(expected(i)));

        let stream = Stream::new(&Device::sim()).unwrap();
        let sums =
            kernels::templated_pairs_on::<3, i32, _, _, _, _, _>(&stream, &x, 3, &offset).unwrap();
        stream.synchronize().unwrap();
        assert_exact(&sums.to_host().unwrap(), expected);
    }
}

#[test]
fn constant_extents_select_the_instance() {
    let sum =
        |x: &Tensor<f32, (usize, Const<24>)>, i: usize| -> f32 { (0..24).map(|d| x[[i, d]]).sum() };
    let x = small((9, Const::<24>), 6);
    // All template arguments are inferred.
    let y = kernels::templated_rows::<_, false, _, _>(&on_device(&x)).unwrap();
    assert_exact(&y, |[i]| sum(&x, i));

    // The extent of the instance is only named, since the tensor's is known at run time; it is
    // checked.
    let x = small((9, 40), 7);
    let y = kernels::templated_rows::<40, true, _, _>(&on_device(&x)).unwrap();
    assert_exact(&y, |[i]| (0..40).map(|d| x[[i, d]]).sum::<f32>() / 40.0);
    assert!(kernels::templated_rows::<24, false, _, _>(&on_device(&x)).is_err());
}

#[test]
fn parameters_are_constants_everywhere() {
    for m in [1, 5, 6, 13] {
        let x = Tensor::<i32, _>::random((m, Const::<128>), -99..100, 8);
        let mut device = on_device(&x);
        kernels::templated_groups(&mut device).unwrap();
        assert_exact(&device.to_host().unwrap(), |i| x[i] * 7);
    }
    let x = Tensor::<i32, _>::random((77,), -99..100, 9);
    let y = kernels::templated_shift::<-3, -6, _, _>(&x).unwrap();
    assert_exact(&y, |i| x[i] + 3 - 6);
    let y = kernels::templated_shift::<5, -7, _, _>(&x).unwrap();
    assert_exact(&y, |i| x[i] - 5 - 7);
}

/// Small integers, so that sums are exact in every order.
#[test]
fn products_of_several_types_and_tiles() {
    fn product<T: Element>(
        round: impl Fn(f32) -> T,
        call: impl Fn(
            &DeviceTensor<T, (usize, usize)>,
            &DeviceTensor<T, (usize, usize)>,
            &mut DeviceTensor<f32, (usize, usize)>,
        ) -> croq_sys::Result<()>,
    ) {
        for (m, n, k) in [(16, 8, 64), (33, 23, 100), (64, 40, 7)] {
            let (a, b) = (small((m, k), 10), small((n, k), 11));
            let rounded = |x: &Tensor<f32, (usize, usize)>| {
                let values = x.as_slice().iter().map(|v| round(*v)).collect();
                on_device(&Tensor::from_vec(x.dims(), values).unwrap())
            };
            let mut out = DeviceTensor::zeros((m, n), &Device::sim()).unwrap();
            call(&rounded(&a), &rounded(&b), &mut out).unwrap();
            assert_exact(&out.to_host().unwrap(), |[i, j]| {
                (0..k).map(|k| a[[i, k]] * b[[j, k]]).sum()
            });
        }
    }
    product(f16::from_f32, |a, b, out| {
        kernels::templated_product::<16, 8, 128, _, _, _, _, _, _, _, _>(a, b, out)
    });
    product(f16::from_f32, |a, b, out| {
        kernels::templated_product::<32, 16, 64, _, _, _, _, _, _, _, _>(a, b, out)
    });
    product(bf16::from_f32, |a, b, out| {
        kernels::templated_product::<32, 16, 128, _, _, _, _, _, _, _, _>(a, b, out)
    });
}

#[test]
fn conditions_are_decided_outside_of_templates() {
    let x = Tensor::<i32, _>::random((50,), -99..100, 12);
    let y = kernels::decided_before(&x).unwrap();
    assert_exact(&y, |i| (x[i] + 1) * 9);
}

#[test]
fn build_rs_asks_for_instances() {
    let x = Tensor::<i32, _>::random((131,), -99..100, 13);
    for y in [
        kernels::templated_reverse::<96, _, _, _>(&x).unwrap(),
        kernels::templated_reverse::<32, _, _, _>(&x).unwrap(),
    ] {
        assert_exact(&y, |[i]| x[[130 - i]]);
    }
    let x = Tensor::<f64, _>::random((131,), -1.0..1.0, 14);
    let y = kernels::templated_reverse::<64, _, _, _>(&x).unwrap();
    assert_exact(&y, |[i]| x[[130 - i]]);
}

#[test]
fn templates_give_local_arrays_a_size() {
    for (m, n) in [(1usize, 5usize), (7, 9), (40, 33)] {
        let x = Tensor::<f32, _>::random((m, n), -99.0..99.0, 15);
        let narrow = Tensor::<bf16, _>::from_fn((m, n), |at| bf16::from_f32(x[at]));
        // The places of a row, the largest value first; equal values in the order of the row.
        let order = |value: &dyn Fn([usize; 2]) -> f32, r: usize| {
            let mut places: Vec<usize> = (0..n).collect();
            places.sort_by(|a, b| value([r, *b]).total_cmp(&value([r, *a])));
            places
        };
        let (values, places) = kernels::owned_largest(&x).unwrap();
        assert_eq!(values.shape(), [m, 2]);
        assert_exact(&values, |[r, k]| x[[r, order(&|at| x[at], r)[k]]]);
        assert_exact(&places, |[r, k]| order(&|at| x[at], r)[k] as i32);
        let (values, places) = kernels::owned_largest(&narrow).unwrap();
        assert_eq!(values.shape(), [m, 5]);
        let wide = |at: [usize; 2]| narrow[at].to_f32();
        assert_exact(&values, |[r, k]| narrow[[r, order(&wide, r)[k]]]);
        assert_exact(&places, |[r, k]| order(&wide, r)[k] as i32);
    }
    for (t, c) in [(1, 1), (5, 40), (9, 7)] {
        let x = small((t, c), 16);
        let filter = small((Const::<3>, c), 17);
        let y = kernels::owned_history(&x, &on_device(&filter)).unwrap();
        assert_exact(&y, |[t, c]| {
            let terms = (0..3.min(t + 1)).map(|k| filter[[k, c]] * x[[t - k, c]]);
            terms.sum()
        });
        let filter = small((Const::<4>, c), 18);
        let y = kernels::owned_history(&x, &on_device(&filter)).unwrap();
        assert_exact(&y, |[t, c]| {
            let terms = (0..4.min(t + 1)).map(|k| filter[[k, c]] * x[[t - k, c]]);
            terms.sum()
        });
    }
}

#[test]
fn functions_call_instances() {
    for n in [1, 65, 200] {
        let x = small((n,), 3);
        let halves = x.as_slice().iter().map(|v| f16::from_f32(*v)).collect();
        let halves = Tensor::from_vec(x.dims(), halves).unwrap();
        // By 2, then by 6 and one half.
        let y = kernels::calls_instances(&halves).unwrap();
        assert_exact(&y, |i| f16::from_f32(x[i] * 6.0));
        // The instance exists, although only a call asks for it.
        let y = kernels::templated_factor::<2, _, _, _>(&halves, 0.5).unwrap();
        assert_exact(&y, |i| halves[i]);
        let mut y = x.clone();
        kernels::templated_in_place(&mut y).unwrap();
        assert_exact(&y, |i| x[i] * 2.0);
    }
}
