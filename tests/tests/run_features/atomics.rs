use croq_sys::half::f16;
use croq_sys::{Const, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

const SIZES: [usize; 3] = [1, 65, 3000];

macro_rules! every_operation {
    ($name:ident, $kernel:ident, $ty:ty, $sums:expr, $differences:expr) => {
        #[test]
        fn $name() {
            for n in SIZES {
                let x = Tensor::<$ty, _>::random((n,), <$ty>::MIN / 2..<$ty>::MAX / 2, 1);
                let start: [$ty; 7] = [3, 4, <$ty>::MAX, <$ty>::MIN, !0, 5, 6];
                let mut r = Tensor::<$ty, _>::from_vec((Const::<7>,), start.to_vec()).unwrap();
                kernels::$kernel(&x, &mut r).unwrap();
                let fold = |at: usize, f: fn($ty, $ty) -> $ty| {
                    x.as_slice().iter().fold(start[at], |a, b| f(a, *b))
                };
                let add = |sums: bool| if sums { <$ty>::wrapping_add } else { |a, _| a };
                let sub = |sums: bool| if sums { <$ty>::wrapping_sub } else { |a, _| a };
                let expected = [
                    fold(0, add($sums)),
                    fold(1, sub($differences)),
                    fold(2, <$ty>::min),
                    fold(3, <$ty>::max),
                    fold(4, |a, b| a & b),
                    fold(5, |a, b| a | b),
                    fold(6, |a, b| a ^ b),
                ];
                assert_exact(&r, |[i]| expected[i]);
            }
        }
    };
}

every_operation!(on_s32, atomic_s32, i32, true, true);
every_operation!(on_u32, atomic_u32, u32, true, true);
every_operation!(on_s64, atomic_s64, i64, false, false);
every_operation!(on_u64, atomic_u64, u64, true, false);

/// Of small integers, which every type adds exactly.
#[test]
fn sums_of_floats() {
    for n in [1, 64, 300] {
        let x = Tensor::<i32, _>::random((n,), -3..4, 2);
        let of = |f: fn(i32) -> f32| x.as_slice().iter().map(move |v| f(*v));
        let h = of(|v| v as f32).map(f16::from_f32).collect();
        let s = of(|v| v as f32).collect();
        let d = of(|v| v as f32).map(f64::from).collect();
        let (mut hs, mut ss, mut ds) = (
            Tensor::from_vec((Const::<1>,), vec![f16::from_f32(1.0)]).unwrap(),
            Tensor::from_vec((Const::<1>,), vec![2.0f32]).unwrap(),
            Tensor::from_vec((Const::<1>,), vec![3.0f64]).unwrap(),
        );
        kernels::atomic_sums(
            &Tensor::from_vec((n,), h).unwrap(),
            &Tensor::from_vec((n,), s).unwrap(),
            &Tensor::from_vec((n,), d).unwrap(),
            &mut hs,
            &mut ss,
            &mut ds,
        )
        .unwrap();
        let sum: i32 = x.as_slice().iter().sum();
        assert_eq!(hs[[0]].to_f32(), (1 + sum) as f32);
        assert_eq!(ss[[0]], (2 + sum) as f32);
        assert_eq!(ds[[0]], f64::from(3 + sum));
    }
}

/// All added values are returned, and so is the initial one.
fn assert_exchanged<T: Copy + PartialOrd + std::fmt::Debug>(put: &[T], first: T, found: &[T]) {
    let sorted = |mut all: Vec<T>| {
        all.sort_by(|a, b| a.partial_cmp(b).unwrap());
        all
    };
    let mut all = put.to_vec();
    all.push(first);
    assert_eq!(sorted(found.to_vec()), sorted(all));
}

#[test]
fn exchanges() {
    for n in SIZES {
        let a = Tensor::from_fn((n,), |[i]| 10 + i as i32);
        let b = Tensor::from_fn((n,), |[i]| 10 + i as u32);
        let c = Tensor::from_fn((n,), |[i]| u64::MAX - i as u64);
        let d = Tensor::from_fn((n,), |[i]| 0.5 + i as f32);
        let mut ao = Tensor::<i32, _>::zeros((n + 1,));
        let mut bo = Tensor::<u32, _>::zeros((n + 1,));
        let mut co = Tensor::<u64, _>::zeros((n + 1,));
        let mut do_ = Tensor::<f32, _>::zeros((n + 1,));
        kernels::atomic_exchanges(&a, &b, &c, &d, &mut ao, &mut bo, &mut co, &mut do_).unwrap();
        assert_exchanged(a.as_slice(), 0, ao.as_slice());
        assert_exchanged(b.as_slice(), 0, bo.as_slice());
        assert_exchanged(c.as_slice(), 0, co.as_slice());
        assert_exchanged(d.as_slice(), 0.0, do_.as_slice());
    }
}

#[test]
fn comparisons() {
    for n in SIZES {
        let a = Tensor::<u16, _>::random((n,), 1..u16::MAX, 3);
        let b = Tensor::<i32, _>::random((n,), -1000..1000, 4);
        let c = Tensor::<u64, _>::random((n,), 1..1 << 50, 5);
        let (mut ao, mut bo, mut co) = (
            Tensor::<u16, _>::zeros((Const::<1>,)),
            Tensor::<i32, _>::zeros((Const::<1>,)),
            Tensor::<u64, _>::zeros((Const::<1>,)),
        );
        kernels::atomic_comparisons(&a, &b, &c, &mut ao, &mut bo, &mut co).unwrap();
        let sum = a.as_slice().iter().fold(0u16, |s, v| s.wrapping_add(*v));
        assert_eq!(ao[[0]], sum);
        assert_eq!(bo[[0]], b.as_slice().iter().sum::<i32>());
        assert_eq!(co[[0]], c.as_slice().iter().sum::<u64>());
    }
}

#[test]
fn argmax() {
    for n in SIZES {
        let x = Tensor::<f32, _>::random((n,), -1.0..1.0, 6);
        let best = kernels::atomic_argmax(&x).unwrap();
        let top = x
            .as_slice()
            .iter()
            .copied()
            .fold(f32::NEG_INFINITY, f32::max);
        assert_eq!(x[[best[[0]] as usize]], top);
    }
}

#[test]
fn tickets() {
    let blocks = 6;
    let mut next = Tensor::<i32, _>::zeros((Const::<2>,));
    let y = kernels::atomic_tickets(blocks, &mut next).unwrap();
    assert_eq!(next.as_slice(), [6, 24]);
    let (mut of_blocks, mut of_warps) = (Vec::new(), Vec::new());
    for b in 0..blocks as usize {
        of_blocks.push(y[[b, 0]] / 1000);
        for w in 0..4 {
            of_warps.push(y[[b, w * 32]] % 1000);
            for t in 0..32 {
                assert_eq!(y[[b, w * 32 + t]], y[[b, w * 32]]);
            }
            assert_eq!(y[[b, w * 32]] / 1000, y[[b, 0]] / 1000);
        }
    }
    of_blocks.sort_unstable();
    of_warps.sort_unstable();
    assert_eq!(of_blocks, (0..6).collect::<Vec<_>>());
    assert_eq!(of_warps, (0..24).collect::<Vec<_>>());
}

#[test]
fn a_queue() {
    for n in [1, 2, 50] {
        let x = Tensor::<i32, _>::random((n,), -1000..1000, 7);
        let mut next = Tensor::<i32, _>::zeros((Const::<1>,));
        let y = kernels::atomic_queue(&x, &mut next).unwrap();
        assert_exact(&y, |i| x[i] * 2);
        assert_eq!(next[[0]], n as i32 + 3);
    }
}

#[test]
fn bins_of_a_single_level() {
    let x = Tensor::<i32, _>::random((5, Const::<64>), 0..4, 8);
    let y = kernels::atomic_bins(&x).unwrap();
    assert_exact(&y, |[i, bin]| {
        (0..64).filter(|j| x[[i, *j]] == bin as i32).count() as i32
    });
}

#[test]
fn beside_copies() {
    let x = Tensor::<i32, _>::random((Const::<64>, Const::<32>), -1000..1000, 9);
    let y = kernels::atomic_beside_copies(&x).unwrap();
    assert_exact(&y, |[j]| match j {
        32 => 63 * 64 / 2,
        _ => (0..64).map(|i| x[[i, j]]).sum(),
    });
}
