//! Products of matrices by tensor cores, over the shapes of `shapes.txt`: which kernels compute them, whether
//! rightly, and how fast.

use croq_sys::half::{bf16, f16};
use croq_sys::{Device, F8E4M3, Result, Stream};

use crate::numbers::{Matrix, Number, Operand};
use crate::timing::{Effort, Figure, PLACES, queued};

/// `M`, `N` and `K` of `lhs [M, K]` times the transpose of `rhs [N, K]`.
type Sizes = [usize; 3];

type Run<T, C> = fn(&Stream, &Matrix<T>, &Matrix<T>, &mut Matrix<C>) -> Result<()>;

/// Sizes at which each step of the ladder is timed.
const LADDER: Sizes = [4096; 3];

/// The kernels that have something to say to a product of `elem` operands.
pub fn measure(device: &Device, effort: Effort, elem: &str, sizes: Sizes) -> Result<Vec<Figure>> {
    macro_rules! kernels {
        ($($T:ty, $C:ty: $($kernel:ident $(<$wide:literal>)? if $at:expr),*;)*) => {$(
            if elem == <$T as Operand>::CALLED {
                let mut figures = Vec::new();
                $(if $at {
                    let run: Run<$T, $C> = |s, lhs, rhs, out| {
                        croq_kernels::$kernel$(::<$wide, _, _, _, _, _, _, _, _, _, _>)?(s, lhs, rhs, out)
                    };
                    let name = concat!(stringify!($kernel) $(, "<", $wide, ">")?);
                    figures.push(product((device, effort), name, sizes, run)?);
                })*
                return Ok(figures);
            }
        )*};
    }
    let ladder = sizes == LADDER || effort == Effort::Small;
    kernels! {
        f16, f16: matmul_hopper_on if ladder, matmul_hopper_persistent_on if ladder,
            matmul_hopper_two_on<128> if true, matmul_hopper_two_on<256> if true;
        bf16, bf16: matmul_hopper_two_on<128> if true;
        F8E4M3, f32: matmul_hopper_two_on<128> if true;
    }
    Ok(Vec::new())
}

/// Runs a kernel, holds what it computed to the exact sums at some places, and times it.
fn product<T: Operand, C: Number>(
    (device, effort): (&Device, Effort),
    kernel: &str,
    [m, n, k]: Sizes,
    run: Run<T, C>,
) -> Result<Figure> {
    let stream = Stream::new(device)?;
    let mut sets = Vec::new();
    for place in 0..PLACES as u32 {
        sets.push((
            T::filled([m, k], 2 * place, device)?,
            T::filled([n, k], 2 * place + 1, device)?,
            Matrix::<C>::zeros((m, n), device)?,
        ));
    }
    let seconds = queued(effort, &stream, |place| {
        let (lhs, rhs, out) = &mut sets[place];
        run(&stream, lhs, rhs, out)
    })?;
    let out = sets[0].2.to_host()?;
    // Corners, edges and what lies between, all in different tiles.
    for i in [0, m / 3, m / 2 + 1, m - 1] {
        for j in [0, n / 5, n / 2 + 3, n - 1] {
            let terms = (0..k).map(|e| T::element(i * k + e, 0) * T::element(j * k + e, 1));
            // An instruction's terms are less than one each.
            let (mut exact, mut reach) = (0.0_f64, T::DEPTH as f64);
            for term in terms {
                exact += term;
                reach = reach.max(exact.abs() + T::DEPTH as f64);
            }
            let found = out[[i, j]].value();
            let off = (found - exact).abs();
            let lost = (k / T::DEPTH + 1) as f64 * T::PLACE * reach;
            let allowed = lost + C::ROUNDING * exact.abs();
            assert!(off <= allowed, "{kernel}: {found} at {i}, {j}, not {exact}");
        }
    }
    let [rows, columns, depth] = [m, n, k].map(|x| x as f64);
    let operands = (rows + columns) * depth * size_of::<T>() as f64;
    Ok(Figure {
        name: format!("gemm {} {m} {n} {k}", T::CALLED),
        kernel: kernel.replacen("_on", "", 1),
        seconds,
        bytes: operands + rows * columns * size_of::<C>() as f64,
        operations: 2.0 * rows * columns * depth,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check of results, on tiny products: all kernels pass it, and a wrong one does not.
    #[test]
    fn every_kernel_computes_what_it_is_timed_for() -> Result<()> {
        for elem in ["f16", "bf16", "f8"] {
            for figure in measure(&Device::sim(), Effort::Small, elem, [80, 72, 64])? {
                assert!(figure.seconds > 0.0, "{}", figure.name);
            }
        }
        Ok(())
    }

    #[test]
    #[should_panic(expected = "zeros: 0 at")]
    fn a_wrong_product_is_found() {
        let zeros: Run<f16, f32> = |_, _, _, _| Ok(());
        let _ = product(
            (&Device::sim(), Effort::Small),
            "zeros",
            [80, 72, 64],
            zeros,
        );
    }
}
