//! A GPU, through the table of functions in the nvcc-built half. The code of croq-sys for it is not
//! used, so that an error there does not hide one here.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::time::Instant;

use croq_sys::abi::{
    CROQ_ABI_VERSION, CROQ_OK, croq_cuda_api, croq_cuda_device_info, croq_env, croq_failure,
};

use crate::twins::{Outcome, Shim};

unsafe extern "C" {
    fn conf_cuda_table() -> *const croq_cuda_api;
    fn conf_cuda_find(name: *const c_char) -> Option<Shim>;
}

/// The first GPU of the machine.
pub struct Gpu {
    api: &'static croq_cuda_api,
    stream: *mut c_void,
    /// One failure record: its host address and its device address.
    record: (*mut croq_failure, *mut croq_failure),
    name: String,
}

impl Gpu {
    /// # Errors
    ///
    /// The reason why there is none.
    pub fn open() -> Result<Self, String> {
        // SAFETY: the function gives a static table.
        let api = unsafe { &*conf_cuda_table() };
        let mut count = 0;
        // SAFETY: `count` outlives the call.
        check(api, unsafe { (api.device_count)(&mut count) })?;
        if count == 0 {
            return Err("CUDA sees none".to_owned());
        }
        let mut info = croq_cuda_device_info {
            name: [0; 256],
            major: 0,
            minor: 0,
            memory_bytes: 0,
            shared_bytes_per_block: 0,
            multiprocessors: 0,
        };
        let mut stream = ptr::null_mut();
        let (mut host, mut device) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the targets of the calls outlive them.
        unsafe {
            check(api, (api.device_info)(0, &mut info))?;
            check(api, (api.set_device)(0))?;
            check(api, (api.stream_create)(&mut stream))?;
            let bytes = size_of::<croq_failure>() as u64;
            check(api, (api.host_alloc_mapped)(&mut host, &mut device, bytes))?;
        }
        // SAFETY: the table gives NUL-terminated text.
        let name = unsafe { CStr::from_ptr(info.name.as_ptr()) };
        Ok(Self {
            api,
            stream,
            record: (host.cast(), device.cast()),
            name: format!(
                "{}, compute capability {}.{}",
                name.to_string_lossy(),
                info.major,
                info.minor
            ),
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs a test kernel. The device memory of a call is not freed, because the process is short.
    ///
    /// # Errors
    ///
    /// Errors of CUDA other than a failure of the kernel.
    ///
    /// # Panics
    ///
    /// If there is no kernel of that name.
    pub fn run(&self, name: &str, memory: &[Vec<u8>], numbers: &[i64]) -> Result<Outcome, String> {
        let api = self.api;
        let key = CString::new(name).expect("names are plain");
        // SAFETY: compares the name with those of a table.
        let shim =
            unsafe { conf_cuda_find(key.as_ptr()) }.unwrap_or_else(|| panic!("no text {name}"));
        let mut addresses = Vec::new();
        for bytes in memory {
            let mut address = ptr::null_mut();
            let count = bytes.len() as u64;
            // SAFETY: `address` outlives the call, and `bytes` the copy, which is waited for below.
            unsafe {
                check(
                    api,
                    (api.malloc_async)(&mut address, count.max(1), self.stream),
                )?;
                let from = bytes.as_ptr().cast();
                check(api, (api.copy_to_device)(address, from, count, self.stream))?;
            }
            addresses.push(address);
        }
        self.wait()?;
        let mut failure = croq_failure::default();
        let env = croq_env {
            abi_version: CROQ_ABI_VERSION,
            device: ptr::null_mut(),
            stream: self.stream,
            sim: ptr::null(),
            failure: &raw mut failure,
            device_failure: self.record.1,
            alloc: Some(alloc),
            steps: 1 << 34,
            wait_limit: 10_000_000_000,
            mode: croq_sys::abi::CROQ_MODE_RUN,
        };
        // SAFETY: the callers pass the kernel's arguments; device memory is as large as the host's.
        // The record is live, and no kernel that could write it is running.
        let status = unsafe {
            self.record.0.write_volatile(croq_failure::default());
            shim(&env, addresses.as_ptr(), numbers.as_ptr())
        };
        if status != CROQ_OK {
            return Ok(Err(Box::new(failure)));
        }
        if let Err(reason) = self.wait() {
            // SAFETY: the device has stopped.
            let record = unsafe { self.record.0.read_volatile() };
            return if record.kind == CROQ_OK {
                Err(reason)
            } else {
                Ok(Err(Box::new(record)))
            };
        }
        let mut results: Vec<Vec<u8>> = memory.iter().map(|bytes| vec![0; bytes.len()]).collect();
        for (bytes, &address) in results.iter_mut().zip(&addresses) {
            let count = bytes.len() as u64;
            let to = bytes.as_mut_ptr().cast();
            // SAFETY: both are of that size, and live until they are waited for.
            check(api, unsafe {
                (api.copy_to_host)(to, address, count, self.stream)
            })?;
        }
        self.wait()?;
        Ok(Ok(results))
    }

    /// Seconds of each of `rounds` copies of `bytes` bytes within device memory, including the
    /// wait: the reference for kernels that only move data. The copies alternate between `places`
    /// pairs of buffers, so that no copy finds its data in a cache.
    ///
    /// # Errors
    ///
    /// Errors of CUDA.
    pub fn copy_seconds(
        &self,
        bytes: u64,
        places: usize,
        rounds: usize,
    ) -> Result<Vec<f64>, String> {
        let api = self.api;
        let mut pairs = Vec::new();
        for _ in 0..places.max(1) {
            let (mut from, mut to) = (ptr::null_mut(), ptr::null_mut());
            // SAFETY: both addresses outlive the calls; the memory is as large as what is set.
            unsafe {
                check(api, (api.malloc_async)(&mut from, bytes, self.stream))?;
                check(api, (api.malloc_async)(&mut to, bytes, self.stream))?;
                check(api, (api.memset_async)(from, 1, bytes, self.stream))?;
            }
            pairs.push((from, to));
        }
        self.wait()?;
        let mut seconds = Vec::new();
        for (from, to) in pairs.iter().cycle().take(rounds) {
            let start = Instant::now();
            // SAFETY: two pieces of device memory of that size.
            check(api, unsafe {
                (api.copy_on_device)(*to, *from, bytes, self.stream)
            })?;
            self.wait()?;
            seconds.push(start.elapsed().as_secs_f64());
        }
        for (from, to) in pairs {
            // SAFETY: allocated above; all work on them is complete.
            unsafe {
                check(api, (api.free_async)(from, self.stream))?;
                check(api, (api.free_async)(to, self.stream))?;
            }
        }
        self.wait()?;
        Ok(seconds)
    }

    fn wait(&self) -> Result<(), String> {
        // SAFETY: a stream of ours.
        check(self.api, unsafe {
            (self.api.stream_synchronize)(self.stream)
        })
    }
}

/// Device memory for a kernel, all bits zero; not freed.
///
/// # Safety
///
/// `env` is that of a running call.
unsafe extern "C" fn alloc(env: *const croq_env, bytes: u64, _zero: u32) -> *mut c_void {
    let mut address = ptr::null_mut();
    // SAFETY: the function gives a static table; `address` and the stream of the call outlive its
    // calls.
    let code = unsafe {
        let (api, stream) = (&*conf_cuda_table(), (*env).stream);
        match (api.malloc_async)(&mut address, bytes.max(1), stream) {
            0 => (api.memset_async)(address, 0, bytes, stream),
            code => code,
        }
    };
    if code == 0 { address } else { ptr::null_mut() }
}

fn check(api: &croq_cuda_api, code: c_int) -> Result<(), String> {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: the table gives a static NUL-terminated text for any code.
    let text = unsafe { CStr::from_ptr((api.error_string)(code)) };
    Err(format!("{} (CUDA error {code})", text.to_string_lossy()))
}
