//! Attention over the shapes of `shapes.txt`: whether it is right, and how fast.

use croq_sys::half::{bf16, f16};
use croq_sys::{Const, Device, DeviceTensor, Result, Stream};

use crate::kernels as filling;
use crate::numbers::Operand;
use crate::shapes::Shape;
use crate::timing::{Effort, Figure, PLACES, queued};

type Heads<T, const D: usize> = DeviceTensor<T, (usize, usize, Const<D>)>;
type Fill<T, const D: usize> = fn(&mut Heads<T, D>, u32) -> Result<()>;
type Run<T, const D: usize> =
    fn(&Stream, &Heads<T, D>, &Heads<T, D>, &Heads<T, D>, &mut Heads<T, D>) -> Result<()>;

/// The kernels for a shape; none for one that no kernel is for.
pub fn measure(device: &Device, effort: Effort, shape: &Shape) -> Result<Vec<Figure>> {
    let [heads, length, dimension] = shape.sizes[..] else {
        return Ok(Vec::new());
    };
    let causal = shape.kind == "causal";
    macro_rules! kernels {
        ($($T:ty, $d:literal, $fill:ident;)*) => {$(
            if shape.elem == <$T as Operand>::CALLED && dimension == $d {
                let fill: Fill<$T, $d> = |heads, seed| filling::$fill(heads, seed);
                let by_warps: (&str, Run<$T, $d>) = if causal {
                    ("attention_causal", |s, q, k, v, o| croq_kernels::attention_causal_on(s, q, k, v, o))
                } else {
                    ("attention", |s, q, k, v, o| croq_kernels::attention_on(s, q, k, v, o))
                };
                let by_warpgroups: (&str, Run<$T, $d>) = if causal {
                    ("attention_causal_hopper", |s, q, k, v, o| {
                        croq_kernels::attention_causal_hopper_on(s, q, k, v, o)
                    })
                } else {
                    ("attention_hopper", |s, q, k, v, o| {
                        croq_kernels::attention_hopper_on(s, q, k, v, o)
                    })
                };
                let mut figures = Vec::new();
                for (kernel, run) in [by_warps, by_warpgroups] {
                    let call = Call { kernel, causal, run, fill };
                    figures.push(attention((device, effort), [heads, length], call)?);
                }
                return Ok(figures);
            }
        )*};
    }
    kernels! {
        f16, 64, fill_f16_64;
        f16, 128, fill_f16_128;
        bf16, 64, fill_bf16_64;
        bf16, 128, fill_bf16_128;
    }
    Ok(Vec::new())
}

/// A kernel, and how its inputs are made.
struct Call<T, const D: usize> {
    kernel: &'static str,
    causal: bool,
    run: Run<T, D>,
    fill: Fill<T, D>,
}

fn attention<T: Operand, const D: usize>(
    (device, effort): (&Device, Effort),
    [heads, length]: [usize; 2],
    Call {
        kernel,
        causal,
        run,
        fill,
    }: Call<T, D>,
) -> Result<Figure> {
    let stream = Stream::new(device)?;
    let dims = (heads, length, Const::<D>);
    let random = |seed| -> Result<Heads<T, D>> {
        let mut made = Heads::zeros(dims, device)?;
        fill(&mut made, seed)?;
        Ok(made)
    };
    let mut sets = Vec::new();
    for place in 0..PLACES as u32 {
        let [q, k, v] = [0, 1, 2].map(|which| random(3 * place + which));
        sets.push((q?, k?, v?, Heads::zeros(dims, device)?));
    }
    let seconds = queued(effort, &stream, |place| {
        let (q, k, v, out) = &mut sets[place];
        run(&stream, q, k, v, out)
    })?;
    let out = sets[0].3.to_host()?;
    for (head, query) in [(0, 0), (heads - 1, length - 1), (heads / 2, length / 3)] {
        let seen = if causal { query + 1 } else { length };
        let expected = exact::<T, D>([head * length, query], seen);
        for (column, (exact, size)) in expected.into_iter().enumerate() {
            let found = out[[head, query, column]].value();
            // Scores of a few units, exact to a part in thousands as weights; sums in f32.
            let allowed = 4.0 * T::ROUNDING * size;
            let off = (found - exact).abs();
            assert!(
                off <= allowed,
                "{kernel}: {found} at {head}, {query}, {column}, not {exact}"
            );
        }
    }
    let [rows, keys] = [heads * length, length].map(|n| n as f64);
    let pairs = rows * keys * if causal { 0.5 } else { 1.0 };
    Ok(Figure {
        name: format!(
            "{} {} {heads} {length} {D}",
            if causal { "causal" } else { "attention" },
            T::CALLED
        ),
        kernel: kernel.trim_end_matches("_on").to_owned(),
        seconds,
        bytes: 4.0 * rows * (D * size_of::<T>()) as f64,
        operations: 4.0 * pairs * D as f64,
    })
}

/// Each column of one query's result, and the size of what it is a sum of.
fn exact<T: Operand, const D: usize>([head, query]: [usize; 2], seen: usize) -> Vec<(f64, f64)> {
    let of = |row: usize, column: usize, seed| T::element((head + row) * D + column, seed);
    let score = |key| (0..D).map(|c| of(query, c, 0) * of(key, c, 1)).sum::<f64>();
    let scale = 1.0 / (D as f64).sqrt();
    let weights: Vec<f64> = (0..seen).map(|key| (score(key) * scale).exp()).collect();
    let total: f64 = weights.iter().sum();
    let column = |c| {
        let weighted = (0..)
            .zip(&weights)
            .map(|(key, weight)| weight * of(key, c, 2));
        let (sum, size) = weighted.fold((0.0, 0.0), |(s, m), x| (s + x, m + x.abs()));
        (sum / total, size / total)
    };
    (0..D).map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_computes_what_it_is_timed_for() -> Result<()> {
        for (kind, elem, d) in [("attention", "f16", 64), ("causal", "bf16", 128)] {
            let (kind, elem) = (kind.to_owned(), elem.to_owned());
            let sizes = vec![2, 70, d];
            assert_eq!(
                measure(&Device::sim(), Effort::Small, &Shape { kind, elem, sizes })?.len(),
                2
            );
        }
        Ok(())
    }

    #[test]
    #[should_panic(expected = "zeros: 0 at")]
    fn a_wrong_result_is_found() {
        let call = Call::<f16, 64> {
            kernel: "zeros",
            causal: false,
            run: |_, _, _, _, _| Ok(()),
            fill: |heads, seed| filling::fill_f16_64(heads, seed),
        };
        let _ = attention((&Device::sim(), Effort::Small), [1, 20], call);
    }
}
