use croq_sys::Tensor;
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

/// Whole numbers, so that every order of additions gives the same.
fn whole(shape: (usize, usize), seed: u64) -> Tensor<f32, (usize, usize)> {
    let n = Tensor::<i32, _>::random(shape, -100..100, seed);
    let values = n.as_slice().iter().map(|v| *v as f32).collect();
    Tensor::from_vec(shape, values).unwrap()
}

#[test]
fn loads_and_stores() {
    for shape in [(1, 4), (16, 32), (17, 36), (40, 96), (5, 100)] {
        let x = whole(shape, 1);
        assert_exact(&kernels::tma_load(&x).unwrap(), |i| x[i] + 1.0);
        assert_exact(&kernels::tma_there_and_back(&x).unwrap(), |i| x[i] * 2.0);
    }
}

#[test]
fn a_ring() {
    for n in [64, 100, 640, 1000] {
        let x = Tensor::<i32, _>::random((n,), -1000..1000, 2);
        let y = kernels::tma_ring(&x).unwrap();
        let at = |i: usize| if i < n { x[[i]] } else { 0 };
        assert_exact(&y, |[i]| {
            let (p, back) = (i / 64, 63 - i % 64);
            let first = at(p * 64 + back);
            (1..9).fold(first, |sum, k| {
                sum + at((p * 64 + k * 32) % n / 4 * 4 + back)
            })
        });
    }
}
