//! Some of the kernels of `kernels/co`, compiled so that they record every access of shared memory.

croq_sys::include_kernels!();
