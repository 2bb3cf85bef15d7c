//! Tensors of `bool` (`booleans.co`).

use croq_sys::{Const, Device, DeviceTensor, Error, Stream, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

fn mask<D: croq_sys::Dims>(dims: D, seed: u64) -> Tensor<bool, D> {
    Tensor::random(dims, false..true, seed)
}

#[test]
fn conditions_are_elements() {
    for n in [1usize, 31, 300] {
        let x = Tensor::<f32, _>::random((n,), -1.0..1.0, 1);
        let larger: Tensor<bool, (usize,)> = kernels::larger(&x, 0.25).unwrap();
        assert_exact(&larger, |i| x[i] > 0.25);
        for inverted in [false, true] {
            let y = kernels::chosen(&larger, &x, inverted).unwrap();
            assert_exact(&y, |i| match (larger[i] != inverted, larger[i]) {
                (true, _) => x[i],
                (false, true) => 1.0,
                (false, false) => 2.0,
            });
        }
    }
}

#[test]
fn masks_move_through_shared_and_local_memory() {
    for (m, n) in [(1usize, 1usize), (33, 40), (64, 96)] {
        let x = mask((m, n), 2);
        let mut y = mask((n, m), 3);
        let mut counts = Tensor::<i32, _>::zeros((n,));
        kernels::turned_mask(&x, &mut y, &mut counts).unwrap();
        assert_exact(&y, |[i, j]| x[[j, i]]);
        assert_exact(&counts, |[i]| (0..m).filter(|j| x[[*j, i]]).count() as i32);
    }
}

#[test]
fn padded_and_copied() {
    for m in [1usize, 7] {
        let x = mask((m, Const::<64>), 4);
        let y = kernels::padded_mask(&x).unwrap();
        assert_exact(&y, |[r, t]| match t {
            2..66 => x[[r, t - 2]],
            _ => true,
        });
        let mut y = mask((m, Const::<64>), 5);
        kernels::copied_mask(&x, &mut y).unwrap();
        assert_exact(&y, |i| !x[i]);
        let y = kernels::boxed_mask(&x).unwrap();
        assert_exact(&y, |i| x[i]);
    }
}

#[test]
fn a_buffer_with_an_initial_value() {
    for n in [1usize, 50] {
        let none = Tensor::from_vec((n,), vec![false; n]).unwrap();
        assert_eq!(kernels::any_set(&none).unwrap().as_slice(), [false]);
        let mut one = none;
        one[[n - 1]] = true;
        assert_eq!(kernels::any_set(&one).unwrap().as_slice(), [true]);
    }
}

#[test]
fn a_byte_that_is_neither_is_an_error_where_it_leaves_the_device() {
    let x = mask((6,), 6);
    for (what, expected) in [(0, false), (1, true)] {
        let y = kernels::written_raw(&x, what).unwrap();
        assert_exact(&y, |[i]| if i == 5 { expected } else { x[[i]] });
    }
    let failed = kernels::written_raw(&x, 2);
    assert_eq!(failed.unwrap_err(), Error::NotBool { index: 5, byte: 2 });
    // The same with tensors that stay on the device.
    let device = Device::sim();
    let stream = Stream::new(&device).unwrap();
    let y = kernels::written_raw_on(&stream, &x, 255).unwrap();
    let failed = y.to_host();
    assert_eq!(
        failed.unwrap_err(),
        Error::NotBool {
            index: 5,
            byte: 255
        }
    );
    let zeros = DeviceTensor::<bool, _>::zeros((3,), &device).unwrap();
    assert_eq!(zeros.to_host().unwrap().as_slice(), [false; 3]);
}

#[test]
fn bytes_of_masks_that_foreign_code_unpacks() {
    for (m, n) in [(1usize, 1usize), (5, 64), (3, 77)] {
        let words = Tensor::<u32, _>::random((m, n.div_ceil(32)), 0..u32::MAX, 7);
        let bit = |[i, j]: [usize; 2]| words[[i, j / 32]] >> (j % 32) & 1 == 1;
        let mut y = mask((m, n), 8);
        kernels::written_unpacked(&words, &mut y, 1).unwrap();
        assert_exact(&y, bit);
        let first = (0..m * n).find(|at| bit([at / n, at % n]));
        let outcome = kernels::written_unpacked(&words, &mut y, 0xff);
        let expected = first.map(|index| Error::NotBool { index, byte: 0xff });
        assert_eq!(outcome.err(), expected);
    }
}
