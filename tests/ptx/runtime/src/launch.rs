//! Launches (CUDA runtime API, "Execution Control"; CUDA C++ programming guide).

use std::io::Write;
use std::sync::Arc;

use croq_ptx::machine::{Asynchrony, Checks, EntryCall, Launch};
use croq_ptx::parse::Function;

use crate::code::{Code, Done};
use crate::device::{Device, device};
use crate::limits;
use crate::memory::{Beside, locked};
use crate::occupancy;
use crate::record;
use crate::registry::{Kernel, Settings};
use crate::stream::Stream;

/// The shape of a launch, with its attributes. `libcudart_static.a` fills it.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// 0 without the attribute.
    pub cluster: [u32; 3],
    pub is_cooperative: u32,
    /// In bytes.
    pub dynamic_shared: u64,
    pub stream: usize,
}

/// Enqueues a launch.
///
/// # Safety
///
/// There is an argument for each parameter of the kernel, with its size.
pub unsafe fn launch(kernel: &Arc<Kernel>, shape: &Shape, arguments: *const *const u8) -> Done {
    let device = device();
    let stream = device.streams.get_for_capture(shape.stream)?;
    let settings = *locked(&kernel.settings);
    check(kernel, shape, settings)?;
    let sizes = kernel.resources.parameters.iter().enumerate();
    let values: Vec<Vec<u8>> = sizes
        .map(|(index, bytes)| {
            let mut value = vec![0; *bytes as usize];
            // SAFETY: as the caller promises.
            unsafe {
                let argument = arguments.add(index).read();
                std::ptr::copy_nonoverlapping(argument, value.as_mut_ptr(), value.len());
            }
            value
        })
        .collect();
    enqueue(device, kernel.clone(), *shape, values, &stream);
    Ok(())
}

fn enqueue(
    device: &'static Device,
    kernel: Arc<Kernel>,
    shape: Shape,
    values: Vec<Vec<u8>>,
    stream: &Arc<Stream>,
) {
    let work = move || {
        let launch = Launch {
            grid: shape.grid,
            block: shape.block,
            dynamic_shared: shape.dynamic_shared as u32,
            is_cooperative: shape.is_cooperative != 0,
            cluster: Some(shape.cluster).filter(|cluster| *cluster != [0; 3]),
            asynchrony: mode(),
            seed: seed(),
            checks: checks(),
            ..Launch::default()
        };
        let arguments: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
        let call = EntryCall {
            entry: &kernel.name,
            launch: &launch,
            arguments: &arguments,
        };
        let has_failed = || device.healthy().is_err();
        let mut beside = Beside::new(&device.memory, &has_failed);
        let mut global = device.memory.take();
        let program = &kernel.module.program;
        let done = match record::counts_are_wanted() {
            true => program
                .count(&call, &mut global, &mut beside)
                .map(|counts| record::counts(&counts)),
            false => program.launch(&call, &mut global, &mut beside).map(|_| ()),
        };
        drop(global);
        record::forms(program);
        let mut out = std::io::stdout().lock();
        // As for `printf`, a failure is ignored.
        let _ = out.write_all(&beside.printed).and_then(|()| out.flush());
        done.map_err(|report| {
            if device.healthy().is_ok() {
                eprintln!("PTX machine: {report}");
            }
            Code::LAUNCH_FAILURE
        })
    };
    device.issue_or_capture(stream, Arc::new(work));
}

/// `CROQ_PTX_SEED`: which of several allowed behaviours the machine has.
fn seed() -> u64 {
    let value = std::env::var("CROQ_PTX_SEED").unwrap_or_default();
    value.trim().parse().unwrap_or(0)
}

/// Asynchronous operations happen as late as possible, or with `CROQ_PTX_MODE=at-once` when they are
/// issued, or with a seed in between.
fn mode() -> Asynchrony {
    match std::env::var("CROQ_PTX_MODE") {
        Ok(mode) if mode == "at-once" => Asynchrony::AtOnce,
        _ if seed() != 0 => Asynchrony::Seeded,
        _ => Asynchrony::Late,
    }
}

/// `CROQ_PTX_CHECKS`: `off`, `races`, `unwritten`, or both without it.
pub fn checks() -> Checks {
    let value = std::env::var("CROQ_PTX_CHECKS").unwrap_or_default();
    let both = value.trim().is_empty();
    Checks {
        races: both || value.contains("races"),
        unwritten: both || value.contains("unwritten"),
    }
}

fn product(extents: [u32; 3]) -> u64 {
    extents
        .iter()
        .fold(1, |all, extent| all.saturating_mul(u64::from(*extent)))
}

/// The largest dynamic shared memory of a launch, if the program did not ask for more.
pub fn most_dynamic_shared(kernel: &Kernel, settings: Settings) -> u64 {
    let own = kernel.resources.static_shared;
    let usual = limits::SHARED_BYTES.saturating_sub(own);
    settings.dynamic_shared.unwrap_or(usual)
}

fn check(kernel: &Kernel, shape: &Shape, settings: Settings) -> Done {
    let function = kernel.function()?;
    let threads = product(shape.block);
    check_extents(function, shape, threads)?;
    if shape.dynamic_shared > most_dynamic_shared(kernel, settings) {
        return Err(Code::INVALID_VALUE);
    }
    if shape.is_cooperative != 0 {
        let each = occupancy::blocks(kernel, threads, shape.dynamic_shared)?;
        if product(shape.grid) > each * limits::model().multiprocessors {
            return Err(Code::TOO_MANY_BLOCKS);
        }
    }
    check_cluster(function, shape, settings)
}

fn check_extents(function: &Function, shape: &Shape, threads: u64) -> Done {
    let [x, y, z] = shape.block;
    let [columns, rows, layers] = shape.grid;
    let is_empty = shape.block.contains(&0) || shape.grid.contains(&0);
    let is_large = x > 1024 || y > 1024 || z > 64 || threads > limits::THREADS_OF_BLOCK;
    let is_wide = columns > i32::MAX as u32 || rows > 65535 || layers > 65535;
    if is_empty || is_large || is_wide {
        return Err(Code::INVALID_CONFIGURATION);
    }
    let required = function.limits.required_threads;
    if required.is_some_and(|required| required != shape.block) {
        return Err(Code::INVALID_CONFIGURATION);
    }
    match threads > occupancy::most_threads(function) {
        true => Err(Code::OUT_OF_RESOURCES),
        false => Ok(()),
    }
}

fn check_cluster(function: &Function, shape: &Shape, settings: Settings) -> Done {
    let asked = Some(shape.cluster).filter(|cluster| *cluster != [0; 3]);
    let cluster = match (asked, function.limits.cluster) {
        (Some(asked), Some(required)) if asked != required => return Err(Code::INVALID_CLUSTER),
        (None, None) => return Ok(()),
        (asked, required) => asked.or(required).unwrap_or([1; 3]),
    };
    let most = match settings.allows_any_cluster {
        true => limits::CLUSTER_BLOCKS_OPT_IN,
        false => limits::CLUSTER_BLOCKS,
    };
    if cluster.contains(&0) || product(cluster) > most {
        return Err(Code::INVALID_CLUSTER);
    }
    let mut extents = shape.grid.iter().zip(&cluster);
    if !extents.all(|(grid, cluster)| grid.is_multiple_of(*cluster)) {
        return Err(Code::INVALID_CONFIGURATION);
    }
    Ok(())
}
