//! Tests that run on a GPU, too: with `CROQ_DEVICE=cuda`, on one or on the PTX machine.

use croq_sys::Device;

/// Whether nothing can be executed after a kernel has failed: CUDA recovers only in a new process.
pub fn ends_at_failure() -> bool {
    !Device::default().is_sim()
}
