use croq_kernel_tests::compare::{Float, assert_close, assert_exact, dot};
use croq_kernels as kernels;
use croq_sys::Tensor;

/// Parts of a tile of `inclusive_scan`, whole ones, and more tiles than it collects at once.
const TILES: [usize; 8] = [1, 3, 255, 4095, 4096, 4097, 3 * 4096, 40 * 4096 + 5];

#[test]
fn inclusive_scan() {
    for n in TILES {
        let x = Tensor::<i32, _>::random((n,), i32::MIN..i32::MAX, 3);
        let mut running = 0i32;
        assert_exact(&kernels::inclusive_scan(&x).unwrap(), |i| {
            running = running.wrapping_add(x[i]);
            running
        });
        let x = Tensor::<i64, _>::from_fn((n,), |i| i64::from(x[i]) << 20);
        let mut running = 0i64;
        assert_exact(&kernels::inclusive_scan(&x).unwrap(), |i| {
            running += x[i];
            running
        });
    }
}

/// No term is in more than 100 additions: those of a thread, a warp, a block, and one for each tile.
#[test]
fn inclusive_scan_of_floats() {
    fn check<T: Float<Bound = T> + kernels::InclusiveScanInstance>(range: std::ops::Range<T>) {
        for n in TILES {
            let x = Tensor::<T, _>::random((n,), range.clone(), 4);
            let (mut sum, mut size) = (0.0, 0.0);
            assert_close(&kernels::inclusive_scan(&x).unwrap(), |i| {
                sum += x[i].wide();
                size += x[i].wide().abs();
                // The reference is a sum in f64 itself.
                let exact = dot::<f64>(sum, size, n).tolerance;
                let mut sum = dot::<T>(sum, size, 100);
                sum.tolerance += exact;
                sum
            });
        }
    }
    check::<f32>(-1.0..1.0);
    check::<f64>(-1.0..1.0);
}

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
