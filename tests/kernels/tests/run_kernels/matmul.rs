use croq_kernel_tests::compare::{
    Float, Near, assert_close, assert_exact, dot, inner, near, rounded, wide,
};
use croq_kernels as kernels;
use croq_sys::half::{bf16, f16};
use croq_sys::{Const, Device, DeviceTensor, Element, F8E4M3, Tensor};

const SIZES: [(usize, usize, usize); 5] = [
    (1, 1, 1),
    (32, 16, 32),
    (64, 48, 96),
    (37, 19, 45),
    (33, 50, 31),
];

#[test]
fn matmul_scalar() {
    for (m, k, n) in SIZES {
        let lhs = Tensor::<f32, _>::random((m, k), -1.0..1.0, 1);
        let rhs = Tensor::<f32, _>::random((k, n), -1.0..1.0, 2);
        let out = kernels::matmul_scalar(&lhs, &rhs).unwrap();
        check_product(&out, &lhs, &rhs);
    }
}

#[test]
fn matmul_f32() {
    for (m, k, n) in SIZES {
        let lhs = Tensor::<f32, _>::random((m, k), -1.0..1.0, 3);
        let rhs = Tensor::<f32, _>::random((k, n), -1.0..1.0, 4);
        let out = kernels::matmul_f32(&lhs, &rhs).unwrap();
        check_product(&out, &lhs, &rhs);
    }
}

fn check_product(
    out: &Tensor<f32, (usize, usize)>,
    lhs: &Tensor<f32, (usize, usize)>,
    rhs: &Tensor<f32, (usize, usize)>,
) {
    let [m, depth] = lhs.shape();
    let [_, n] = rhs.shape();
    assert_eq!(out.shape(), [m, n]);
    assert_close(out, |[i, j]| {
        let (mut sum, mut magnitude) = (0.0, 0.0);
        for k in 0..depth {
            let product = lhs[[i, k]].wide() * rhs[[k, j]].wide();
            sum += product;
            magnitude += product.abs();
        }
        dot::<f32>(sum, magnitude, depth)
    });
}

#[test]
fn matmul_pipelined() {
    // K shorter than a step, one step, two, many, and one that ends inside a step.
    for (m, k, n) in [
        (1, 1, 1),
        (64, 32, 64),
        (70, 64, 33),
        (64, 160, 128),
        (37, 75, 90),
    ] {
        let lhs = Tensor::<f16, _>::random((m, k), -1.0..1.0, 21);
        let rhs = Tensor::<f16, _>::random((k, n), -1.0..1.0, 22);
        let out = kernels::matmul_pipelined(&lhs, &rhs).unwrap();
        assert_close(&out, |[i, j]| {
            let (mut sum, mut magnitude) = (0.0, 0.0);
            for k in 0..k {
                let product = lhs[[i, k]].to_f64() * rhs[[k, j]].to_f64();
                sum += product;
                magnitude += product.abs();
            }
            dot::<f32>(sum, magnitude, k)
        });
    }
}

#[test]
fn matmul_s32() {
    let lhs = Tensor::<i32, _>::random((Const::<64>, Const::<96>), -1000..1000, 5);
    let rhs = Tensor::<i32, _>::random((Const::<96>, Const::<128>), -1000..1000, 6);
    let out = kernels::matmul_s32(&lhs, &rhs).unwrap();
    assert_exact(&out, |[i, j]| {
        (0..96).map(|k| lhs[[i, k]] * rhs[[k, j]]).sum()
    });
}

#[test]
fn matmul_s8() {
    for (m, k, n) in SIZES {
        let lhs = Tensor::<i8, _>::random((m, k), -128..127, 7);
        let rhs = Tensor::<i8, _>::random((k, n), -128..127, 8);
        let out = kernels::matmul_s8(&lhs, &rhs).unwrap();
        assert_exact(&out, |[i, j]| {
            (0..k)
                .map(|k| i32::from(lhs[[i, k]]) * i32::from(rhs[[k, j]]))
                .sum()
        });
    }
}

#[test]
fn matvec() {
    for (m, k) in [(1, 1), (20, 30), (45, 77)] {
        let lhs = Tensor::<f64, _>::random((m, k), -1.0..1.0, 9);
        let rhs = Tensor::<f64, _>::random((k,), -1.0..1.0, 10);
        let out = kernels::matvec(&lhs, &rhs).unwrap();
        assert_close(&out, |[i]| {
            let products = (0..k).map(|k| lhs[[i, k]] * rhs[[k]]);
            let magnitude = products.clone().map(f64::abs).sum();
            // The reference rounds as often as the kernel does.
            let mut bound = dot::<f64>(products.sum(), magnitude, k);
            bound.tolerance *= 2.0;
            bound
        });
    }
}

#[test]
fn matmul_tma() {
    // One step, two, three, many, and ones that end inside a step.
    for (m, k, n) in [
        (1, 8, 4),
        (64, 64, 64),
        (70, 128, 36),
        (65, 192, 128),
        (37, 200, 92),
        (64, 520, 64),
    ] {
        let lhs = Tensor::<f16, _>::random((m, k), -1.0..1.0, 23);
        let rhs = Tensor::<f16, _>::random((n, k), -1.0..1.0, 24);
        let out = kernels::matmul_tma(&lhs, &rhs).unwrap();
        assert_product(&out, &lhs, &rhs, k);
    }
}

/// `lhs · rhsᵀ`, accumulated in f32.
fn assert_product(
    out: &Tensor<f32, (usize, usize)>,
    lhs: &Tensor<f16, (usize, usize)>,
    rhs: &Tensor<f16, (usize, usize)>,
    k: usize,
) {
    assert_close(out, |[i, j]| {
        let (mut sum, mut magnitude) = (0.0, 0.0);
        for k in 0..k {
            let product = lhs[[i, k]].to_f64() * rhs[[j, k]].to_f64();
            sum += product;
            magnitude += product.abs();
        }
        dot::<f32>(sum, magnitude, k)
    });
}

#[test]
fn matmul_cluster() {
    for (m, k, n) in [
        (65, 8, 4),
        (128, 64, 64),
        (100, 128, 36),
        (201, 192, 128),
        (128, 200, 92),
        (256, 520, 64),
    ] {
        let lhs = Tensor::<f16, _>::random((m, k), -1.0..1.0, 25);
        let rhs = Tensor::<f16, _>::random((n, k), -1.0..1.0, 26);
        let out = kernels::matmul_cluster(&lhs, &rhs).unwrap();
        assert_product(&out, &lhs, &rhs, k);
        let out = kernels::matmul_cluster_regions(&lhs, &rhs).unwrap();
        assert_product(&out, &lhs, &rhs, k);
    }
    let lhs = Tensor::<f16, _>::random((64, 64), -1.0..1.0, 25);
    let rhs = Tensor::<f16, _>::random((64, 64), -1.0..1.0, 26);
    let error = kernels::matmul_cluster(&lhs, &rhs).unwrap_err();
    assert!(error.to_string().contains("R05"), "{error}");
}

#[test]
fn matmul_s8_tensor() {
    for (m, k, n) in SIZES {
        let lhs = Tensor::<i8, _>::random((m, k), -128..127, 34);
        let rhs = Tensor::<i8, _>::random((k, n), -128..127, 35);
        let out = kernels::matmul_s8_tensor(&lhs, &rhs).unwrap();
        assert_exact(&out, |[i, j]| {
            (0..k)
                .map(|k| i32::from(lhs[[i, k]]) * i32::from(rhs[[k, j]]))
                .sum()
        });
    }
}

/// `lhs · rhsᵀ`, for fewer and more steps than the ring has slots, and fewer and more tiles than
/// blocks.
#[test]
fn matmul_by_regions() {
    for (m, k, n) in [
        (1, 8, 4),
        (64, 64, 64),
        (70, 128, 36),
        (37, 200, 92),
        (64, 520, 64),
        (200, 72, 330),
    ] {
        let lhs = Tensor::<f16, _>::random((m, k), -1.0..1.0, 25);
        let rhs = Tensor::<f16, _>::random((n, k), -1.0..1.0, 26);
        let turned = Tensor::from_fn((k, n), |[e, j]| rhs[[j, e]]);
        let products = [
            kernels::matmul_regions(&lhs, &turned).unwrap(),
            kernels::matmul_regions_tma(&lhs, &rhs).unwrap(),
            kernels::matmul_persistent(&lhs, &rhs).unwrap(),
        ];
        for out in products {
            assert_product(&out, &lhs, &rhs, k);
        }
    }
}

/// The result of a kernel for device tensors with two operands; the output is poisoned before.
fn resident<T: Element, C: Element>(
    lhs: &Matrix<T>,
    rhs: &Matrix<T>,
    poison: C,
    kernel: impl Fn(&OnDevice<T>, &OnDevice<T>, &mut OnDevice<C>) -> croq_sys::Result<()>,
) -> Matrix<C> {
    let device = Device::default();
    let dims = (lhs.shape()[0], rhs.shape()[0]);
    let mut out = Tensor::from_fn(dims, |_| poison)
        .to_device(&device)
        .unwrap();
    let [lhs, rhs] = [lhs, rhs].map(|t| t.to_device(&device).unwrap());
    kernel(&lhs, &rhs, &mut out).unwrap();
    out.to_host().unwrap()
}

type Matrix<T> = Tensor<T, (usize, usize)>;
type OnDevice<T> = DeviceTensor<T, (usize, usize)>;

/// Fewer rows than a tile, one tile; fewer iterations than slots, as many, and more; edges
/// everywhere.
const HOPPER: [(usize, usize, usize); 4] =
    [(1, 8, 8), (64, 64, 128), (65, 256, 136), (70, 456, 72)];

/// The instances for tiles of so many columns.
macro_rules! two {
    ($wide:literal) => {
        kernels::matmul_hopper_two::<$wide, _, _, _, _, _, _, _, _, _, _>
    };
}

#[test]
fn matmul_hopper() {
    let kernels = [
        kernels::matmul_hopper,
        two!(128),
        two!(256),
        kernels::matmul_hopper_persistent,
    ];
    for (m, k, n) in HOPPER {
        let lhs = Tensor::<f16, _>::random((m, k), -1.0..1.0, 41);
        let rhs = Tensor::<f16, _>::random((n, k), -1.0..1.0, 42);
        for kernel in kernels {
            let out = resident(&lhs, &rhs, f16::NAN, kernel);
            assert_halves(&out, &lhs, &rhs);
        }
    }
}

/// `lhs · rhsᵀ`, accumulated in f32 and rounded to f16 once.
fn assert_halves(out: &Matrix<f16>, lhs: &Matrix<f16>, rhs: &Matrix<f16>) {
    let depth = lhs.shape()[1];
    assert_eq!(out.shape(), [lhs.shape()[0], rhs.shape()[0]]);
    let (lhs, rhs) = (wide(lhs), wide(rhs));
    assert_close(out, |[i, j]| {
        let (a, b) = (&lhs[i * depth..][..depth], &rhs[j * depth..][..depth]);
        let (sum, magnitude) = inner(a, b);
        let tolerance = dot::<f32>(sum, magnitude, depth).tolerance;
        near(sum, tolerance + sum.abs() * f16::ROUNDOFF + f16::SMALLEST)
    });
}

/// Rows of tiles are processed in pairs: two, and four.
#[test]
fn matmul_hopper_cluster() {
    for (m, k, n) in [(129, 8, 8), (256, 64, 128), (200, 456, 136), (400, 264, 72)] {
        let lhs = Tensor::<f16, _>::random((m, k), -1.0..1.0, 47);
        let rhs = Tensor::<f16, _>::random((n, k), -1.0..1.0, 48);
        let out = resident(&lhs, &rhs, f16::NAN, kernels::matmul_hopper_cluster);
        assert_halves(&out, &lhs, &rhs);
    }
    let device = Device::default();
    let there = Tensor::<f16, _>::random((128, 128), -1.0..1.0, 47)
        .to_device(&device)
        .unwrap();
    let mut out = Tensor::zeros((128, 128)).to_device(&device).unwrap();
    let error = kernels::matmul_hopper_cluster(&there, &there, &mut out).unwrap_err();
    assert!(error.to_string().contains("R05"), "{error}");
}

/// Tiles that are partly or wholly outside, and more tiles than blocks: most of them take a second one, with the
/// ring where the first one left it.
fn assert_resident(half: Halves<f16>, brain: Halves<bf16>) {
    for (m, k, n) in [(1, 8, 8), (65, 264, 264), (300, 328, 136), (8600, 8, 264)] {
        let lhs = Tensor::<f16, _>::random((m, k), -1.0..1.0, 43);
        let rhs = Tensor::<f16, _>::random((n, k), -1.0..1.0, 44);
        let out = resident(&lhs, &rhs, f16::NAN, half);
        assert_halves(&out, &lhs, &rhs);
    }
    let lhs = Tensor::<bf16, _>::random((200, 136), -1.0..1.0, 45);
    let rhs = Tensor::<bf16, _>::random((72, 136), -1.0..1.0, 46);
    let out = resident(&lhs, &rhs, bf16::NAN, brain);
    assert_close(&out, |[i, j]| {
        let products = (0..136).map(|e| lhs[[i, e]].wide() * rhs[[j, e]].wide());
        let sum: f64 = products.clone().sum();
        let magnitude: f64 = products.map(f64::abs).sum();
        let tolerance = dot::<f32>(sum, magnitude, 136).tolerance;
        near(sum, tolerance + sum.abs() * bf16::ROUNDOFF)
    });
}

type Halves<T> = fn(&OnDevice<T>, &OnDevice<T>, &mut OnDevice<T>) -> croq_sys::Result<()>;

#[test]
fn matmul_hopper_cooperative() {
    assert_resident(
        kernels::matmul_hopper_cooperative,
        kernels::matmul_hopper_cooperative,
    );
}

#[test]
fn matmul_hopper_pingpong() {
    assert_resident(
        kernels::matmul_hopper_pingpong,
        kernels::matmul_hopper_pingpong,
    );
}

#[test]
fn matmul_hopper_batched() {
    for (seed, (m, k, n)) in (49..).zip(HOPPER) {
        let random = |rows, seed| Tensor::<f16, _>::random((3, rows, k), -1.0..1.0, seed);
        let (lhs, rhs) = (random(m, seed), random(n, seed + 10));
        let device = Device::default();
        let poisoned = Tensor::from_fn((3, m, n), |_: [usize; 3]| f16::NAN);
        let mut out = poisoned.to_device(&device).unwrap();
        let [a, b] = [&lhs, &rhs].map(|t| t.to_device(&device).unwrap());
        kernels::matmul_hopper_batched(&a, &b, &mut out).unwrap();
        let out = out.to_host().unwrap();
        for h in 0..3 {
            let one = |t: &Tensor<f16, (usize, usize, usize)>| {
                let [_, rows, columns] = t.shape();
                Tensor::from_fn((rows, columns), |[i, j]| t[[h, i, j]])
            };
            assert_halves(&one(&out), &one(&lhs), &one(&rhs));
        }
    }
}

/// Parts of K that are empty for some blocks, that end inside a step, and whole ones; added to the
/// previous contents. Rows of the result that are multiples of 16 bytes, and others.
#[test]
fn matmul_hopper_split_k() {
    let sizes = [(1, 8, 8), (64, 256, 128), (65, 584, 136), (70, 1040, 33)];
    let narrow = (1..=9).map(|n| (66, 72, n));
    let wide = [129, 130, 131, 132, 252].map(|n| (3, 16, n));
    for (m, k, n) in sizes.into_iter().chain(narrow).chain(wide) {
        // Small integers: their sums are exact in any order.
        let whole = |rows, seed| Tensor::<i32, _>::random((rows, k), -4..5, seed);
        let (a, b) = (whole(m, 53), whole(n, 54));
        let [x, y] = [&a, &b].map(|t| Tensor::from_fn(t.dims(), |at| f16::from_f32(t[at] as f32)));
        let out = resident(&x, &y, 0.5, kernels::matmul_hopper_split_k);
        assert_exact(&out, |[i, j]| {
            let sum: i32 = (0..k).map(|e| a[[i, e]] * b[[j, e]]).sum();
            0.5 + sum as f32
        });
    }
}

/// Rows of K elements that are no multiple of 16 bytes cannot be loaded by TMA.
#[test]
fn rows_that_tma_cannot_load_are_an_error() {
    for k in [1, 12] {
        let device = Device::default();
        let [lhs, rhs] = [5, 9].map(|rows| {
            let ones = Tensor::from_fn((rows, k), |_| f16::ONE);
            ones.to_device(&device).unwrap()
        });
        let mut out = Tensor::<f32, _>::zeros((5, 9)).to_device(&device).unwrap();
        let error = kernels::matmul_hopper_split_k(&lhs, &rhs, &mut out).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("needs steps of multiples of 16 bytes"),
            "{text}"
        );
    }
}

#[test]
fn matmul_hopper_bf16() {
    for (m, k, n) in HOPPER {
        // Small integers: their sums are exact, and rounded once.
        let whole = |rows, seed| Tensor::<i32, _>::random((rows, k), -4..5, seed);
        let (a, b) = (whole(m, 45), whole(n, 46));
        let [x, y] = [&a, &b].map(|t| Tensor::from_fn(t.dims(), |at| bf16::from_f32(t[at] as f32)));
        let out = resident(&x, &y, bf16::NAN, two!(128));
        assert_exact(&out, |[i, j]| {
            let sum: i32 = (0..k).map(|e| a[[i, e]] * b[[j, e]]).sum();
            bf16::from_f32(sum as f32)
        });
    }
}

#[test]
fn matmul_hopper_of_other_types() {
    for (m, k, n) in [
        (1, 16, 1),
        (128, 128, 128),
        (130, 272, 137),
        (70, 1040, 131),
    ] {
        // Small integers: their sums are exact.
        let whole = |rows, seed| Tensor::<i32, _>::random((rows, k), -4..5, seed);
        let (a, b) = (whole(m, 43), whole(n, 44));
        let expected = |[i, j]: [usize; 2]| (0..k).map(|e| a[[i, e]] * b[[j, e]]).sum::<i32>();
        let floats = |[i, j]: [usize; 2]| expected([i, j]) as f32;

        let [x, y] = [&a, &b].map(|t| Tensor::from_fn(t.dims(), |at| t[at] as f32));
        assert_exact(&resident(&x, &y, f32::NAN, two!(128)), floats);
        let [x, y] =
            [&a, &b].map(|t| Tensor::from_fn(t.dims(), |at| F8E4M3::from_f32(t[at] as f32)));
        assert_exact(&resident(&x, &y, f32::NAN, two!(128)), floats);
        let [x, y] = [&a, &b].map(|t| Tensor::from_fn(t.dims(), |at| t[at] as i8));
        assert_exact(&resident(&x, &y, i32::MIN, two!(128)), expected);
    }
}

/// A scale for each row of lhs and 128 of K, and for each 128 x 128 of rhs.
struct Scaled {
    lhs: Matrix<F8E4M3>,
    of_lhs: Matrix<f32>,
    rhs: Matrix<F8E4M3>,
    of_rhs: Matrix<f32>,
}

impl Scaled {
    fn random(m: usize, k: usize, n: usize) -> Self {
        let blocks = |n: usize| n.div_ceil(128);
        let eights = |rows, seed| {
            let whole = Tensor::<i32, _>::random((rows, k), -4..5, seed);
            Tensor::from_fn((rows, k), |at| F8E4M3::from_f32(whole[at] as f32))
        };
        Self {
            lhs: eights(m, 47),
            of_lhs: Tensor::random((blocks(k), m), 0.25..4.0, 49),
            rhs: eights(n, 48),
            of_rhs: Tensor::random((blocks(n), blocks(k)), 0.25..4.0, 50),
        }
    }

    fn product<C: Element>(&self, poison: C, kernel: ScaledKernel<C>) -> Matrix<C> {
        let device = Device::default();
        resident(&self.lhs, &self.rhs, poison, |lhs, rhs, out| {
            let [of_lhs, of_rhs] =
                [&self.of_lhs, &self.of_rhs].map(|t| t.to_device(&device).unwrap());
            kernel(lhs, &of_lhs, rhs, &of_rhs, out)
        })
    }

    fn expected(&self, [i, j]: [usize; 2]) -> Near {
        let (mut sum, mut magnitude) = (0.0, 0.0);
        let [blocks, _] = self.of_lhs.shape();
        let [_, k] = self.lhs.shape();
        for block in 0..blocks {
            let within = block * 128..k.min(block * 128 + 128);
            let products = within.map(|e| self.lhs[[i, e]].wide() * self.rhs[[j, e]].wide());
            let scale = self.of_lhs[[block, i]].wide() * self.of_rhs[[j / 128, block]].wide();
            // Small integers, whose sum is exact, times a product that is rounded, added with
            // one rounding.
            let term = products.sum::<f64>() * scale;
            sum += term;
            magnitude += term.abs();
        }
        dot::<f32>(sum, magnitude, blocks + 1)
    }
}

type ScaledKernel<C> = fn(
    &OnDevice<F8E4M3>,
    &OnDevice<f32>,
    &OnDevice<F8E4M3>,
    &OnDevice<f32>,
    &mut OnDevice<C>,
) -> croq_sys::Result<()>;

#[test]
fn matmul_hopper_scaled() {
    for (m, k, n) in [
        (1, 16, 1),
        (128, 128, 128),
        (130, 272, 137),
        (70, 1040, 131),
    ] {
        let scaled = Scaled::random(m, k, n);
        let out = scaled.product(f32::NAN, kernels::matmul_hopper_scaled);
        assert_close(&out, |at| scaled.expected(at));
    }
}

/// One block of K, two, and odd numbers; tiles that are partly or wholly outside.
#[test]
fn matmul_scaled_resident() {
    for (m, k, n) in [
        (1, 16, 4),
        (256, 256, 128),
        (130, 272, 136),
        (70, 1040, 132),
    ] {
        let scaled = Scaled::random(m, k, n);
        let out = scaled.product(f32::NAN, kernels::matmul_scaled_resident);
        assert_close(&out, |at| scaled.expected(at));
    }
}

/// More tiles than clusters: some take a second one, with the ring where the first one left it.
#[test]
fn matmul_scaled_resident_of_many_tiles() {
    for (m, k, n) in [(300, 144, 264), (8600, 16, 136)] {
        let scaled = Scaled::random(m, k, n);
        let out = scaled.product(bf16::NAN, kernels::matmul_scaled_resident);
        assert_close(&out, |at| {
            let near = scaled.expected(at);
            let tolerance = near.tolerance + rounded::<bf16>(near.value, 1).tolerance;
            Near { tolerance, ..near }
        });
    }
}
