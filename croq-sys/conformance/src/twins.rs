//! The two builds of a test kernel, called in the same way.

use std::ffi::{CString, c_char, c_void};

use croq_sys::abi::{croq_env, croq_failure};

use crate::call;

/// An entry of the table of `cpp/everything.cc`: takes addresses of memory, and numbers.
pub type Shim =
    unsafe extern "C" fn(*const croq_env, memory: *const *mut c_void, numbers: *const i64) -> u32;

unsafe extern "C" {
    fn conf_find(name: *const c_char) -> Option<Shim>;
}

/// The result of a call: the buffers afterwards, or the record of its failure.
pub type Outcome = Result<Vec<Vec<u8>>, Box<croq_failure>>;

/// Runs a test kernel on the simulated GPU.
///
/// # Panics
///
/// If there is no kernel of that name.
pub fn on_sim(name: &str, memory: &[Vec<u8>], numbers: &[i64]) -> Outcome {
    let key = CString::new(name).expect("names are plain");
    // SAFETY: compares the name with those of a table.
    let shim = unsafe { conf_find(key.as_ptr()) }.unwrap_or_else(|| panic!("no text {name}"));
    let mut lines: Vec<Vec<Line>> = memory.iter().map(|bytes| lines_of(bytes)).collect();
    let addresses: Vec<*mut c_void> = lines.iter_mut().map(|l| l.as_mut_ptr().cast()).collect();
    // SAFETY: the callers pass the kernel's arguments; the memory outlives the call.
    call(|env| unsafe { shim(env, addresses.as_ptr(), numbers.as_ptr()) })
        .map_err(|failed| failed.record)?;
    Ok(memory
        .iter()
        .zip(&lines)
        .map(|(bytes, lines)| bytes_of(lines, bytes.len()))
        .collect())
}

/// Memory with the alignment of CUDA's allocations.
#[derive(Clone)]
#[repr(align(256))]
struct Line([u8; 256]);

fn lines_of(bytes: &[u8]) -> Vec<Line> {
    let chunks = bytes.chunks(256);
    let lines = chunks.map(|chunk| {
        let mut line = Line([0; 256]);
        line.0[..chunk.len()].copy_from_slice(chunk);
        line
    });
    lines.collect()
}

fn bytes_of(lines: &[Line], count: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(lines.len() * 256);
    for line in lines {
        bytes.extend_from_slice(&line.0);
    }
    bytes.truncate(count);
    bytes
}
