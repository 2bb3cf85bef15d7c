//! Errors of a call, from the records that shims and kernels leave.

use crate::abi::{
    CROQ_ABI_VERSION, CROQ_CHECK, CROQ_CUDA_ERROR, CROQ_DEADLOCK, CROQ_ENDLESS, CROQ_HAZARD,
    CROQ_MISALIGNED, CROQ_NEEDS_CUDA, CROQ_NOT_RECORDED, CROQ_OUT_OF_BOUNDS, CROQ_WAIT_GRID,
    CROQ_WAIT_HOST, croq_failure,
};
use crate::error::{Error, fill};

use super::kernel::AnyKernel;

/// Converts a failure record to an error of `kernel`; `cuda` converts an error of CUDA's.
pub(super) fn error(
    of: &AnyKernel,
    kind: u32,
    failure: &croq_failure,
    cuda: &dyn Fn(i32) -> Error,
) -> Error {
    let (kernel, file) = (of.about.name, of.about.file);
    let (block, thread) = (failure.block, failure.thread);
    let line = of.line_now(failure.line);
    let value = |i: usize| failure.values().get(i).copied().unwrap_or(0);
    let what = failure.what().to_owned();
    match kind {
        CROQ_CHECK => {
            let row = of.about.checks.get(failure.check as usize);
            let (code, message) = match row {
                Some(check) => (check.code, fill(check.message, failure.values())),
                None if what.is_empty() => ("R21", "a check failed".to_owned()),
                // The device API's own checks.
                None => (code_of(&what), fill(&what, failure.values())),
            };
            let line = row.map_or(line, |check| check.line);
            Error::Check {
                kernel,
                code,
                message,
                file,
                line,
                values: failure.values().to_vec(),
            }
        }
        CROQ_OUT_OF_BOUNDS => {
            let (index, extent) = (value(0), value(1));
            Error::OutOfBounds {
                kernel,
                file,
                line,
                what,
                index,
                extent,
                block,
                thread,
            }
        }
        CROQ_MISALIGNED => Error::Misaligned {
            kernel,
            file,
            line,
            what,
            block,
            thread,
        },
        CROQ_DEADLOCK => Error::Deadlock {
            kernel,
            report: String::new(),
        },
        CROQ_HAZARD => Error::Hazard {
            kernel,
            report: String::new(),
        },
        CROQ_ENDLESS => Error::Endless {
            kernel,
            report: endless(of, failure),
        },
        CROQ_NEEDS_CUDA => Error::NeedsCuda { kernel },
        CROQ_NOT_RECORDED => Error::Capture {
            reason: format!("{kernel}: its host code waits for the device, which no graph can do"),
            help: "host code that reads elements, or has events, cannot be a part of a graph",
        },
        CROQ_CUDA_ERROR => cuda(i32::try_from(value(0)).unwrap_or(-1)),
        _ => Error::AbiMismatch {
            expected: CROQ_ABI_VERSION,
            found: value(0) as u32,
        },
    }
}

/// The message for an endless loop on the host, or for a wait on a GPU.
fn endless(of: &AnyKernel, failure: &croq_failure) -> String {
    let (kernel, file, line) = (of.about.name, of.about.file, of.line_now(failure.line));
    if failure.what() == "host" {
        let limit = failure.values().first().copied().unwrap_or(0);
        return format!(
            "no end in {kernel}: a loop of the host has iterated {limit} times, {file}:{line}\n\
             help: CROQ_SIM_STEPS sets how often loops may iterate in a call"
        );
    }
    let what = match failure.check {
        CROQ_WAIT_GRID => "the other blocks of the grid",
        CROQ_WAIT_HOST => "an event of the host",
        _ => "an event or a copy",
    };
    let ([x, y, z], thread) = (failure.block, failure.thread);
    let seconds = crate::cuda::wait_limit() as f64 / 1e9;
    format!(
        "no end in {kernel}: block ({x}, {y}, {z}), thread {thread} has waited for {what} for {seconds} s, {file}:{line}\n\
         help: the simulated GPU reports which thread waits where; CROQ_GPU_TIMEOUT sets how many seconds a wait may take"
    )
}

/// The code in the catalogue, for a check that is not in the kernel's table.
fn code_of(what: &str) -> &'static str {
    match what.split(':').next() {
        Some("grid" | "threads" | "cluster" | "cooperative grid") => "R05",
        Some("division by zero") => "R06",
        Some("shared memory") => "R09",
        Some("tensor map") => "R10",
        Some("GPU") => "R15",
        Some("event") => "R18",
        Some("shuffle" | "warp") => "R22",
        Some("assembly") => "R24",
        _ => "R21",
    }
}

#[cfg(test)]
mod tests {
    use super::code_of;

    #[test]
    fn what_the_device_api_checks_has_codes() {
        let newer = "GPU: the kernel needs sm_{0}, its text here is for sm_{1}";
        assert_eq!(code_of(newer), "R15");
        assert_eq!(code_of("tensor map: box not in 1..256"), "R10");
        assert_eq!(code_of("grid: {0} x {1} x {2} blocks do not fit"), "R05");
        assert_eq!(code_of("division by zero"), "R06");
        assert_eq!(code_of("something else"), "R21");
        let shared = "shared memory: {0} bytes a block, of at most {1}";
        assert_eq!(code_of(shared), "R09");
        let many = "cooperative grid: {0} blocks, this GPU holds {1} at once";
        assert_eq!(code_of(many), "R05");
        let event = "event: `go` is waited for {0} times, triggered {1}";
        assert_eq!(code_of(event), "R18");
    }
}
