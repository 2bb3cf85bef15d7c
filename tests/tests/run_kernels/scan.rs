use croq_kernels as kernels;
use croq_sys::Tensor;
use croq_tests::compare::assert_exact;

#[test]
fn prefix_sum() {
    for n in [1, 2, 255, 256, 257, 1500] {
        let x = Tensor::<i32, _>::random((n,), -1000..1000, 1);
        let y = kernels::prefix_sum(&x).unwrap();
        let mut running = 0;
        assert_exact(&y, |i| {
            running += x[i];
            running
        });
    }
}

#[test]
fn histogram() {
    for n in [1, 100, 512, 513, 4000] {
        let x = Tensor::<u8, _>::random((n,), 0..255, 2);
        let total = kernels::histogram(&x).unwrap();
        assert_exact(&total, |[bin]| {
            x.as_slice()
                .iter()
                .filter(|&&v| usize::from(v) / 16 == bin)
                .count() as i32
        });
    }
}
