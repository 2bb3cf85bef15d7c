//! Kernels that move bytes, and a product without tensor cores.

use croq_sys::{Device, DeviceTensor, Result, Tensor};

use crate::kernels;
use crate::timing::{Effort, Figure, PLACES, timed};

/// All of them.
pub fn measure(device: &Device, effort: Effort) -> Result<Vec<Figure>> {
    let kernels = [launch, add, transpose, row_sum, matmul];
    kernels
        .iter()
        .map(|kernel| kernel(device, effort))
        .collect()
}

type Vector = DeviceTensor<f32, (usize,)>;
type Matrix = DeviceTensor<f32, (usize, usize)>;

/// A set of buffers for each place.
fn places<T>(mut make: impl FnMut(u64) -> Result<T>) -> Result<Vec<T>> {
    (0..PLACES as u64).map(&mut make).collect()
}

/// A sum in f32 is off by less than half a unit of its terms' sizes for each addition, in any order.
#[track_caller]
fn assert_sum(found: f32, terms: impl Iterator<Item = f64>) {
    let (mut exact, mut size, mut count) = (0.0, 0.0, 0.0);
    for term in terms {
        exact += term;
        size += term.abs();
        count += 1.0;
    }
    let allowed = count * size * f64::from(f32::EPSILON) / 2.0;
    let off = (f64::from(found) - exact).abs();
    assert!(off <= allowed, "{found}, not {exact}");
}

/// What every call costs, whatever it does.
fn launch(device: &Device, effort: Effort) -> Result<Figure> {
    let x = Tensor::<f32, _>::random((1,), -1.0..1.0, 1).to_device(device)?;
    let mut sum = DeviceTensor::<f32, _>::zeros((1,), device)?;
    let seconds = timed(effort, |_| kernels::add_resident(&x, &x, &mut sum))?;
    Ok(Figure {
        name: "one element, for the launch".to_owned(),
        kernel: String::new(),
        seconds,
        bytes: 12.0,
        operations: 1.0,
    })
}

fn add(device: &Device, effort: Effort) -> Result<Figure> {
    let n = effort.choose(64 << 20, 1 << 12);
    let input = |seed| Tensor::<f32, _>::random((n,), -1.0..1.0, seed);
    let mut sets: Vec<(Vector, Vector, Vector)> = places(|seed| {
        Ok((
            input(seed).to_device(device)?,
            input(seed + 10).to_device(device)?,
            DeviceTensor::zeros((n,), device)?,
        ))
    })?;
    let seconds = timed(effort, |place| {
        let (lhs, rhs, sum) = &mut sets[place];
        kernels::add_resident(lhs, rhs, sum)
    })?;
    let (lhs, rhs, sum) = (input(0), input(10), sets[0].2.to_host()?);
    for i in (0..n).step_by(997) {
        assert_eq!(sum[[i]], lhs[[i]] + rhs[[i]]);
    }
    Ok(Figure {
        name: format!("add, {} Mi elements", n as f64 / f64::from(1 << 20)),
        kernel: String::new(),
        seconds,
        bytes: 12.0 * n as f64,
        operations: n as f64,
    })
}

fn transpose(device: &Device, effort: Effort) -> Result<Figure> {
    let n = effort.choose(8192, 96);
    let input = |seed| Tensor::<f32, _>::random((n, n), -1.0..1.0, seed);
    let mut sets: Vec<(Matrix, Matrix)> = places(|seed| {
        Ok((
            input(seed).to_device(device)?,
            DeviceTensor::zeros((n, n), device)?,
        ))
    })?;
    let seconds = timed(effort, |place| {
        let (src, dst) = &mut sets[place];
        kernels::transpose_resident(src, dst)
    })?;
    let (src, dst) = (input(0), sets[0].1.to_host()?);
    for i in (0..n).step_by(61) {
        for j in (0..n).step_by(67) {
            assert_eq!(dst[[j, i]], src[[i, j]]);
        }
    }
    Ok(Figure {
        name: format!("transpose, {n} x {n}"),
        kernel: String::new(),
        seconds,
        bytes: 8.0 * (n * n) as f64,
        operations: 0.0,
    })
}

fn row_sum(device: &Device, effort: Effort) -> Result<Figure> {
    let n = effort.choose(8192, 96);
    let input = |seed| Tensor::<f32, _>::random((n, n), -1.0..1.0, seed);
    let mut sets: Vec<(Matrix, Vector)> = places(|seed| {
        Ok((
            input(seed).to_device(device)?,
            DeviceTensor::zeros((n,), device)?,
        ))
    })?;
    let seconds = timed(effort, |place| {
        let (x, sum) = &mut sets[place];
        kernels::row_sum_resident(x, sum)
    })?;
    let (x, sum) = (input(0), sets[0].1.to_host()?);
    for row in (0..n).step_by(501) {
        assert_sum(sum[[row]], (0..n).map(|j| f64::from(x[[row, j]])));
    }
    Ok(Figure {
        name: format!("row sums, {n} x {n}"),
        kernel: String::new(),
        seconds,
        bytes: 4.0 * (n * n + n) as f64,
        operations: (n * n) as f64,
    })
}

fn matmul(device: &Device, effort: Effort) -> Result<Figure> {
    let n = effort.choose(4096, 80);
    let input = |seed| Tensor::<f32, _>::random((n, n), -1.0..1.0, seed);
    let mut sets: Vec<(Matrix, Matrix, Matrix)> = places(|seed| {
        Ok((
            input(seed).to_device(device)?,
            input(seed + 10).to_device(device)?,
            DeviceTensor::zeros((n, n), device)?,
        ))
    })?;
    let seconds = timed(effort, |place| {
        let (lhs, rhs, out) = &mut sets[place];
        kernels::matmul_resident(lhs, rhs, out)
    })?;
    let (lhs, rhs, out) = (input(0), input(10), sets[0].2.to_host()?);
    for (i, j) in [(0, 0), (17, n - 1), (n - 1, 31), (n / 4, n / 2 + 1)] {
        let products = (0..n).map(|k| f64::from(lhs[[i, k]]) * f64::from(rhs[[k, j]]));
        assert_sum(out[[i, j]], products);
    }
    Ok(Figure {
        name: format!("matmul f32, {n} x {n}"),
        kernel: String::new(),
        seconds,
        bytes: 12.0 * (n * n) as f64,
        operations: 2.0 * (n as f64).powi(3),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_computes_what_it_is_timed_for() -> Result<()> {
        assert_eq!(measure(&Device::sim(), Effort::Small)?.len(), 5);
        Ok(())
    }
}
