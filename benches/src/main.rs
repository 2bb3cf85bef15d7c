//! Kernels on a GPU, timed: the median of many calls over buffers that take turns, so that none finds
//! its data in a cache. Each is stated as a ratio to a copy from device to device by CUDA itself, or as
//! arithmetic per second, and its result is compared with plain Rust first.
//!
//! `--json FILE` leaves the figures there. Without a GPU it says so and fails.

use std::process::ExitCode;
use std::time::Instant;

use croq_conformance::gpu::Gpu;
use croq_sys::{Device, DeviceTensor, Result, Tensor};

croq_sys::include_kernels!();

const ROUNDS: usize = 50;
/// Sets of buffers: together many times the second-level cache.
const PLACES: usize = 3;

/// One line of the table.
struct Figure {
    name: &'static str,
    seconds: f64,
    bytes: f64,
    operations: f64,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let json = arguments.windows(2).find(|pair| pair[0] == "--json");
    let gpu = match Gpu::open() {
        Ok(gpu) => gpu,
        Err(reason) => {
            eprintln!("no GPU: {reason}; nothing was measured");
            return ExitCode::FAILURE;
        }
    };
    let figures = match measure(&gpu) {
        Ok(figures) => figures,
        Err(reason) => {
            eprintln!("{reason}");
            return ExitCode::FAILURE;
        }
    };
    let copied = figures.first().map_or(1.0, Figure::bandwidth);
    println!("on {}, medians of {ROUNDS} calls", gpu.name());
    for figure in &figures {
        println!(
            "{:<28} {:>9.1} us {:>8.1} GB/s ({:>4.0}% of the copy) {:>9.1} GFLOP/s",
            figure.name,
            figure.seconds * 1e6,
            figure.bandwidth() / 1e9,
            100.0 * figure.bandwidth() / copied,
            figure.operations / figure.seconds / 1e9
        );
    }
    if let Some([_, path]) = json
        && let Err(reason) = std::fs::write(path, as_json(gpu.name(), &figures))
    {
        eprintln!("{path}: {reason}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

impl Figure {
    fn bandwidth(&self) -> f64 {
        self.bytes / self.seconds
    }
}

fn as_json(gpu: &str, figures: &[Figure]) -> String {
    let rows: Vec<String> = figures
        .iter()
        .map(|figure| {
            format!(
                "{{\"name\":\"{}\",\"seconds\":{:e},\"bytes_per_second\":{:e},\"operations_per_second\":{:e}}}",
                figure.name,
                figure.seconds,
                figure.bandwidth(),
                figure.operations / figure.seconds
            )
        })
        .collect();
    format!("{{\"gpu\":\"{gpu}\",\"figures\":[{}]}}\n", rows.join(","))
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The median of `call`, which is given the number of a place and waits for its kernel.
fn timed(mut call: impl FnMut(usize) -> Result<()>) -> Result<f64> {
    for place in 0..PLACES {
        call(place)?;
    }
    let mut seconds = Vec::new();
    for round in 0..ROUNDS {
        let start = Instant::now();
        call(round % PLACES)?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    Ok(median(seconds))
}

fn measure(gpu: &Gpu) -> std::result::Result<Vec<Figure>, String> {
    let bytes = 256u64 << 20;
    let copy = gpu.copy_seconds(bytes, PLACES, ROUNDS)?;
    let mut figures = vec![Figure {
        name: "copy by CUDA, 256 MiB",
        seconds: median(copy),
        bytes: 2.0 * bytes as f64,
        operations: 0.0,
    }];
    let device = Device::cuda(0).map_err(|e| e.to_string())?;
    for kernel in [launch, add, transpose, row_sum, matmul] {
        figures.push(kernel(&device).map_err(|e| e.to_string())?);
    }
    Ok(figures)
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
fn launch(device: &Device) -> Result<Figure> {
    let x = Tensor::<f32, _>::random((1,), -1.0..1.0, 1).to_device(device)?;
    let mut sum = DeviceTensor::<f32, _>::zeros((1,), device)?;
    let seconds = timed(|_| kernels::add_resident(&x, &x, &mut sum))?;
    Ok(Figure {
        name: "one element, for the launch",
        seconds,
        bytes: 12.0,
        operations: 1.0,
    })
}

fn add(device: &Device) -> Result<Figure> {
    let n = 64 << 20;
    let input = |seed| Tensor::<f32, _>::random((n,), -1.0..1.0, seed);
    let mut sets: Vec<(Vector, Vector, Vector)> = places(|seed| {
        Ok((
            input(seed).to_device(device)?,
            input(seed + 10).to_device(device)?,
            DeviceTensor::zeros((n,), device)?,
        ))
    })?;
    let seconds = timed(|place| {
        let (lhs, rhs, sum) = &mut sets[place];
        kernels::add_resident(lhs, rhs, sum)
    })?;
    let (lhs, rhs, sum) = (input(0), input(10), sets[0].2.to_host()?);
    for i in (0..n).step_by(997) {
        assert_eq!(sum[[i]], lhs[[i]] + rhs[[i]]);
    }
    Ok(Figure {
        name: "add, 64 Mi elements",
        seconds,
        bytes: 12.0 * n as f64,
        operations: n as f64,
    })
}

fn transpose(device: &Device) -> Result<Figure> {
    let n = 8192;
    let input = |seed| Tensor::<f32, _>::random((n, n), -1.0..1.0, seed);
    let mut sets: Vec<(Matrix, Matrix)> = places(|seed| {
        Ok((
            input(seed).to_device(device)?,
            DeviceTensor::zeros((n, n), device)?,
        ))
    })?;
    let seconds = timed(|place| {
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
        name: "transpose, 8192 x 8192",
        seconds,
        bytes: 8.0 * (n * n) as f64,
        operations: 0.0,
    })
}

fn row_sum(device: &Device) -> Result<Figure> {
    let n = 8192;
    let input = |seed| Tensor::<f32, _>::random((n, n), -1.0..1.0, seed);
    let mut sets: Vec<(Matrix, Vector)> = places(|seed| {
        Ok((
            input(seed).to_device(device)?,
            DeviceTensor::zeros((n,), device)?,
        ))
    })?;
    let seconds = timed(|place| {
        let (x, sum) = &mut sets[place];
        kernels::row_sum_resident(x, sum)
    })?;
    let (x, sum) = (input(0), sets[0].1.to_host()?);
    for row in (0..n).step_by(501) {
        assert_sum(sum[[row]], (0..n).map(|j| f64::from(x[[row, j]])));
    }
    Ok(Figure {
        name: "row sums, 8192 x 8192",
        seconds,
        bytes: 4.0 * (n * n + n) as f64,
        operations: (n * n) as f64,
    })
}

fn matmul(device: &Device) -> Result<Figure> {
    let n = 4096;
    let input = |seed| Tensor::<f32, _>::random((n, n), -1.0..1.0, seed);
    let mut sets: Vec<(Matrix, Matrix, Matrix)> = places(|seed| {
        Ok((
            input(seed).to_device(device)?,
            input(seed + 10).to_device(device)?,
            DeviceTensor::zeros((n, n), device)?,
        ))
    })?;
    let seconds = timed(|place| {
        let (lhs, rhs, out) = &mut sets[place];
        kernels::matmul_resident(lhs, rhs, out)
    })?;
    let (lhs, rhs, out) = (input(0), input(10), sets[0].2.to_host()?);
    for (i, j) in [(0, 0), (17, 4095), (4095, 31), (1000, 2001)] {
        let products = (0..n).map(|k| f64::from(lhs[[i, k]]) * f64::from(rhs[[k, j]]));
        assert_sum(out[[i, j]], products);
    }
    Ok(Figure {
        name: "matmul f32, 4096 x 4096",
        seconds,
        bytes: 12.0 * (n * n) as f64,
        operations: 2.0 * (n as f64).powi(3),
    })
}
