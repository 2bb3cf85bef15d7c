//! What a program that was built with CUDA says where no GPU can be used. Each case is a process of its
//! own, because the choice is made once and the message goes to standard error.

use std::ffi::{c_char, c_int, c_void};
use std::process::{Command, Output};

use croq_sys::__private::abi::{CROQ_ABI_VERSION, croq_cuda_api, croq_cuda_device_info};
use croq_sys::{Device, DeviceTensor};

/// A runtime that finds no driver.
mod without_driver {
    use super::*;

    const NO_DRIVER: c_int = 35;

    pub unsafe extern "C" fn of_a_number(_: *mut c_int) -> c_int {
        NO_DRIVER
    }
    pub unsafe extern "C" fn info(_: c_int, _: *mut croq_cuda_device_info) -> c_int {
        NO_DRIVER
    }
    pub unsafe extern "C" fn set(_: c_int) -> c_int {
        NO_DRIVER
    }
    pub unsafe extern "C" fn make(_: *mut *mut c_void) -> c_int {
        NO_DRIVER
    }
    pub unsafe extern "C" fn of_one(_: *mut c_void) -> c_int {
        NO_DRIVER
    }
    pub unsafe extern "C" fn of_two(_: *mut c_void, _: *mut c_void) -> c_int {
        NO_DRIVER
    }
    pub unsafe extern "C" fn record(_: *mut *mut c_void, _: *mut c_void) -> c_int {
        NO_DRIVER
    }
    pub unsafe extern "C" fn graph_end(_: *mut c_void, _: *mut *mut c_void) -> c_int {
        NO_DRIVER
    }
    pub unsafe extern "C" fn copy_to_peer(
        _: *mut c_void,
        _: c_int,
        _: *const c_void,
        _: c_int,
        _: u64,
        _: *mut c_void,
    ) -> c_int {
        NO_DRIVER
    }
    pub unsafe extern "C" fn query(_: *mut c_void, _: *mut u32) -> c_int {
        NO_DRIVER
    }
    pub unsafe extern "C" fn add_callback(
        _: *mut c_void,
        _: unsafe extern "C" fn(*mut c_void, c_int, *mut c_void),
        _: *mut c_void,
    ) -> c_int {
        NO_DRIVER
    }
    pub unsafe extern "C" fn elapsed(_: *mut f32, _: *mut c_void, _: *mut c_void) -> c_int {
        NO_DRIVER
    }
    pub unsafe extern "C" fn copy_rows(
        _: *mut c_void,
        _: u64,
        _: *const c_void,
        _: u64,
        _: u64,
        _: u64,
        _: *mut c_void,
    ) -> c_int {
        NO_DRIVER
    }
    pub unsafe extern "C" fn malloc(_: *mut *mut c_void, _: u64, _: *mut c_void) -> c_int {
        NO_DRIVER
    }
    pub unsafe extern "C" fn copy(
        _: *mut c_void,
        _: *const c_void,
        _: u64,
        _: *mut c_void,
    ) -> c_int {
        NO_DRIVER
    }
    pub unsafe extern "C" fn memset(_: *mut c_void, _: c_int, _: u64, _: *mut c_void) -> c_int {
        NO_DRIVER
    }
    pub unsafe extern "C" fn mapped(_: *mut *mut c_void, _: *mut *mut c_void, _: u64) -> c_int {
        NO_DRIVER
    }
    pub unsafe extern "C" fn text(_: c_int) -> *const c_char {
        c"CUDA driver version is insufficient for CUDA runtime version".as_ptr()
    }
}

static API: croq_cuda_api = croq_cuda_api {
    abi_version: CROQ_ABI_VERSION,
    runtime_version: 13000,
    device_count: without_driver::of_a_number,
    device_info: without_driver::info,
    set_device: without_driver::set,
    stream_create: without_driver::make,
    stream_destroy: without_driver::of_one,
    stream_synchronize: without_driver::of_one,
    stream_query: without_driver::query,
    stream_add_callback: without_driver::add_callback,
    stream_wait_event: without_driver::of_two,
    event_record: without_driver::record,
    event_record_timed: without_driver::record,
    event_elapsed: without_driver::elapsed,
    event_query: without_driver::query,
    event_synchronize: without_driver::of_one,
    event_destroy: without_driver::of_one,
    malloc_async: without_driver::malloc,
    free_async: without_driver::of_two,
    copy_to_device: without_driver::copy,
    copy_to_host: without_driver::copy,
    copy_on_device: without_driver::copy,
    copy_rows_on_device: without_driver::copy_rows,
    copy_to_peer: without_driver::copy_to_peer,
    memset_async: without_driver::memset,
    host_alloc_mapped: without_driver::mapped,
    host_free: without_driver::of_one,
    graph_begin: without_driver::of_one,
    graph_end: without_driver::graph_end,
    graph_launch: without_driver::of_two,
    graph_destroy: without_driver::of_one,
    error_string: without_driver::text,
};

unsafe extern "C" {
    fn croq_register_cuda(api: *const croq_cuda_api);
}

/// The program: takes the default device from several threads, and says what came of it.
#[test]
#[ignore = "run by the other tests, as a process of its own"]
fn program() {
    // SAFETY: the table lives for ever, and its functions only return errors.
    unsafe { croq_register_cuda(&API) };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(Device::default);
        }
    });
    match DeviceTensor::<f32, _>::zeros((4,), &Device::default()) {
        Ok(tensor) => println!("on {}", tensor.device()),
        Err(error) => println!("error: {error}"),
    }
}

fn run(croq_device: Option<&str>) -> (String, String) {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.args(["--ignored", "--exact", "program", "--nocapture"]);
    command.env_remove("CROQ_DEVICE");
    if let Some(value) = croq_device {
        command.env("CROQ_DEVICE", value);
    }
    let Output { stdout, stderr, .. } = command.output().expect("runs");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text(stdout), text(stderr))
}

#[test]
fn the_simulated_gpu_in_place_of_a_gpu_is_said_once() {
    let (out, err) = run(None);
    assert!(out.contains("on sim"), "{out}{err}");
    assert_eq!(
        err,
        "croq: this program was built with CUDA, but its kernels run on the simulated GPU: there is no \
         CUDA device 0: CUDA error 35 while looking for GPUs: CUDA driver version is insufficient for \
         CUDA runtime version\n\
         help: the NVIDIA driver is missing or older than the CUDA runtime this program was built with: \
         install a newer driver, or use `CROQ_DEVICE=sim`\n\
         help: `CROQ_DEVICE=sim` chooses the simulated GPU without this message, `CROQ_DEVICE=cuda` \
         makes the missing GPU an error\n"
    );
}

#[test]
fn the_simulated_gpu_that_was_asked_for_is_not_mentioned() {
    let (out, err) = run(Some("sim"));
    assert!(out.contains("on sim") && err.is_empty(), "{out}{err}");
}

#[test]
fn a_gpu_that_was_asked_for_and_is_missing_is_an_error() {
    for value in ["cuda", "cuda:1"] {
        let (out, err) = run(Some(value));
        assert!(out.contains("error: there is no CUDA device"), "{out}{err}");
        assert!(err.is_empty(), "{err}");
    }
}
