//! Kernels: launches, attributes, occupancy, tensor maps.

use std::cell::RefCell;
use std::ffi::c_void;
use std::slice;

use super::{answer, give, on_device};
use crate::calls;
use crate::code::{Code, Done};
use crate::launch::{self, Shape};
use crate::limits;
use crate::memory::locked;
use crate::occupancy;
use crate::registry::Kernel;
use crate::tensor_map::{self, Request};

thread_local! {
    /// Configurations of `<<<>>>` whose stubs have not been called.
    static CONFIGURATIONS: RefCell<Vec<Shape>> = const { RefCell::new(Vec::new()) };
}

/// # Safety
///
/// There is a shape, and there are the arguments of the kernel.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptxrt_launch(
    stub: *const c_void,
    shape: *const Shape,
    arguments: *const *const u8,
) -> i32 {
    calls::count("launch");
    on_device(|_| {
        // SAFETY: as the caller promises.
        let shape = unsafe { shape.as_ref() }.ok_or(Code::INVALID_VALUE)?;
        let kernel = Kernel::of_stub(stub.addr())?;
        // SAFETY: as the caller promises.
        unsafe { launch::launch(&kernel, shape, arguments) }
    })
}

/// # Safety
///
/// There is a shape.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptxrt_push_configuration(shape: *const Shape) -> i32 {
    // SAFETY: as the caller promises.
    if let Some(shape) = unsafe { shape.as_ref() } {
        CONFIGURATIONS.with_borrow_mut(|all| all.push(*shape));
    }
    0
}

/// # Safety
///
/// There is room for a shape.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptxrt_pop_configuration(shape: *mut Shape) -> i32 {
    let last = CONFIGURATIONS.with_borrow_mut(Vec::pop);
    // SAFETY: as the caller promises.
    answer(
        last.map_or(Err(Code::MISSING_CONFIGURATION), |last| unsafe {
            give(shape, last)
        }),
    )
}

/// Whether there is such a kernel.
#[unsafe(no_mangle)]
extern "C" fn ptxrt_kernel(stub: *const c_void) -> i32 {
    on_device(|_| Kernel::of_stub(stub.addr()).map(|_| ()))
}

/// What `cudaFuncAttributes` has.
#[repr(C)]
struct Attributes {
    static_shared: u64,
    local: u64,
    most_threads: i32,
    registers: i32,
    ptx_version: i32,
    binary_version: i32,
    most_dynamic_shared: i32,
    carveout: i32,
    allows_any_cluster: i32,
    cluster: [i32; 3],
}

/// # Safety
///
/// There is room for the attributes.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptxrt_attributes(to: *mut Attributes, stub: *const c_void) -> i32 {
    calls::count("cudaFuncGetAttributes");
    on_device(|_| {
        let kernel = Kernel::of_stub(stub.addr())?;
        let function = kernel.function()?;
        let settings = *locked(&kernel.settings);
        let most_threads = occupancy::most_threads(function);
        let found = Attributes {
            static_shared: kernel.resources.static_shared,
            local: kernel.resources.local,
            most_threads: most_threads as i32,
            registers: occupancy::registers(function, most_threads) as i32,
            ptx_version: kernel.module.architecture as i32,
            binary_version: limits::model().architecture as i32,
            most_dynamic_shared: launch::most_dynamic_shared(&kernel, settings) as i32,
            carveout: settings.carveout.unwrap_or(-1),
            allows_any_cluster: settings.allows_any_cluster.into(),
            cluster: function.limits.cluster.unwrap_or([0; 3]).map(|n| n as i32),
        };
        // SAFETY: as the caller promises.
        unsafe { give(to, found) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn ptxrt_cudaFuncSetAttribute(stub: *const c_void, attribute: i32, value: i32) -> i32 {
    calls::count("cudaFuncSetAttribute");
    on_device(|_| {
        let kernel = Kernel::of_stub(stub.addr())?;
        let mut settings = locked(&kernel.settings);
        match attribute {
            8 => {
                let most = limits::model().shared_bytes_opt_in - kernel.resources.static_shared;
                let wanted = u64::try_from(value).map_err(|_| Code::INVALID_VALUE)?;
                if wanted > most {
                    return Err(Code::INVALID_VALUE);
                }
                settings.dynamic_shared = Some(wanted);
            }
            9 if (-1..=100).contains(&value) => settings.carveout = Some(value),
            14 if (0..=1).contains(&value) => settings.allows_any_cluster = value == 1,
            _ => return Err(Code::INVALID_VALUE),
        }
        Ok(())
    })
}

/// # Safety
///
/// There is room for a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptxrt_cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    to: *mut i32,
    stub: *const c_void,
    threads: i32,
    dynamic_shared: usize,
) -> i32 {
    on_device(|_| {
        let kernel = Kernel::of_stub(stub.addr())?;
        let threads = u64::try_from(threads).map_err(|_| Code::INVALID_VALUE)?;
        let found = occupancy::blocks(&kernel, threads, dynamic_shared as u64)?;
        // SAFETY: as the caller promises.
        unsafe { give(to, found as i32) }
    })
}

/// # Safety
///
/// There is room for a number, and there is a shape.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptxrt_clusters(to: *mut i32, stub: *const c_void, shape: *const Shape) -> i32 {
    on_device(|_| {
        // SAFETY: as the caller promises.
        let shape = unsafe { shape.as_ref() }.ok_or(Code::INVALID_VALUE)?;
        let kernel = Kernel::of_stub(stub.addr())?;
        let product = |extents: [u32; 3]| extents.iter().map(|n| u64::from(*n)).product();
        let threads: u64 = product(shape.block);
        let size: u64 = product(shape.cluster.map(|extent| extent.max(1)));
        let found = occupancy::clusters(&kernel, threads, shape.dynamic_shared, size)?;
        // SAFETY: as the caller promises.
        unsafe { give(to, found as i32) }
    })
}

/// `cuTensorMapEncodeTiled`: 0, or `CUDA_ERROR_INVALID_VALUE`.
///
/// # Safety
///
/// The map has 128 bytes, and the arrays as many elements as the rank says, strides one less.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn ptxrt_cuTensorMapEncodeTiled(
    map: *mut [u8; tensor_map_bytes()],
    data_type: u32,
    rank: u32,
    address: *const c_void,
    extents: *const u64,
    strides: *const u64,
    box_extents: *const u32,
    element_strides: *const u32,
    interleave: u32,
    swizzle: u32,
    promotion: u32,
    fill: u32,
) -> u32 {
    calls::count("cuTensorMapEncodeTiled");
    let make = || {
        tensor_map::check_rank(rank)?;
        let missing = map.is_null() || extents.is_null() || box_extents.is_null();
        if missing || element_strides.is_null() || (rank > 1 && strides.is_null()) {
            return Err("an argument is null".to_owned());
        }
        if !map.addr().is_multiple_of(64) {
            return Err("the address of the map is no multiple of 64".to_owned());
        }
        let count = rank as usize;
        let strides = match rank {
            1 => Vec::new(),
            // SAFETY: as the caller promises.
            _ => unsafe { slice::from_raw_parts(strides, count - 1) }.to_vec(),
        };
        // SAFETY: as the caller promises.
        let arrays = unsafe {
            (
                slice::from_raw_parts(extents, count),
                slice::from_raw_parts(box_extents, count),
                slice::from_raw_parts(element_strides, count),
            )
        };
        tensor_map::make(&Request {
            data_type,
            rank,
            address: address.addr() as u64,
            extents: arrays.0.to_vec(),
            strides,
            box_extents: arrays.1.to_vec(),
            element_strides: arrays.2.to_vec(),
            interleave,
            swizzle,
            promotion,
            fill,
        })
    };
    match make() {
        Ok(made) => {
            // SAFETY: as the caller promises, and not null.
            unsafe { map.write(made.encode()) };
            0
        }
        Err(message) => {
            eprintln!("PTX machine: cuTensorMapEncodeTiled: {message}");
            Code::INVALID_VALUE.0 as u32
        }
    }
}

const fn tensor_map_bytes() -> usize {
    croq_ptx::machine::tensor_map::BYTES
}

/// A function of the host, called in the order of the stream.
/// Unlike `cudaLaunchHostFunc`, it calls the function also after a failure, with its error.
#[unsafe(no_mangle)]
extern "C" fn ptxrt_cudaStreamAddCallback(
    stream: usize,
    function: Option<extern "C" fn(usize, i32, *mut c_void)>,
    data: *mut c_void,
    flags: u32,
) -> i32 {
    on_device(|device| -> Done {
        let function = function.filter(|_| flags == 0).ok_or(Code::INVALID_VALUE)?;
        let handle = stream;
        let stream = device.streams.get(stream)?;
        let data = data.expose_provenance();
        let work = move || {
            let code = device.healthy().err().map_or(0, |Code(code)| code);
            function(handle, code, std::ptr::with_exposed_provenance_mut(data));
        };
        stream.push(device.streams.before(&stream), Box::new(work));
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn ptxrt_cudaLaunchHostFunc(
    stream: usize,
    function: Option<extern "C" fn(*mut c_void)>,
    data: *mut c_void,
) -> i32 {
    on_device(|device| -> Done {
        let function = function.ok_or(Code::INVALID_VALUE)?;
        let stream = device.streams.get(stream)?;
        let data = data.expose_provenance();
        device.issue(&stream, Vec::new(), move || {
            function(std::ptr::with_exposed_provenance_mut(data));
            Ok(())
        });
        Ok(())
    })
}
