//! A CUDA runtime whose only device is the PTX machine.
//!
//! A program that is linked with the test toolkit's `libcudart_static.a` opens this library, and its
//! calls of the CUDA runtime arrive here. Kernels are executed by `croq-ptx`, from the PTX in the
//! program's own fat binaries. The device has the limits of an H100.
//!
//! | module | contents |
//! |---|---|
//! | `code`, `limits` | error codes with their names, the properties of the device |
//! | `fat_binary` | PTX texts in the containers that nvcc embeds |
//! | `registry` | what programs register before `main`; modules are loaded at their first use |
//! | `memory`, `mirror` | global memory that one thread uses at a time, host memory that kernels access |
//! | `stream` | queues of work, and points in them |
//! | `device` | the device: its allocations, streams and its failure |
//! | `copy`, `launch`, `occupancy`, `tensor_map` | what the functions of the same names do |
//! | `record` | files with what the program has executed, if the environment asks for them |
//! | `calls` | the numbers of calls |
//! | `api` | the functions that `libcudart_static.a` calls |
//!
//! # Order of work
//!
//! Every stream has a thread, which executes the stream's work in order. While it executes
//! instructions it has the device's memory for itself; between time slices of a kernel other streams
//! continue, and values that the host stores to mapped memory become visible. So a kernel may wait
//! for the host, and kernels of different streams may wait for each other.
//!
//! # Errors
//!
//! Where the CUDA documents name the error of a call it is returned; a failing call sets the last
//! error of its thread. A kernel that fails prints the machine's report to standard error, and
//! every later call returns that error (`cudaErrorLaunchFailure`).

mod api;
mod calls;
mod code;
mod copy;
mod device;
mod fat_binary;
mod handles;
mod launch;
mod limits;
mod memory;
mod mirror;
mod occupancy;
mod record;
mod registry;
mod stream;
mod tensor_map;
