//! How many blocks run at the same time.
//!
//! The number of registers of a kernel is known only after ptxas, which is not used here. It is taken
//! to be the largest that the PTX allows: `.maxnreg`, or what `.maxntid` and `.minnctapersm` leave, or
//! what the block leaves, each at most 255.

use croq_ptx::parse::Function;

use crate::code::Done;
use crate::limits;
use crate::registry::Kernel;

const MOST_REGISTERS: u64 = 255;

/// Registers of a thread, if the kernel runs in blocks of so many threads.
pub fn registers(function: &Function, threads: u64) -> u64 {
    let limits = &function.limits;
    let product = |extents: [u32; 3]| extents.iter().map(|extent| u64::from(*extent)).product();
    let most_threads: u64 = limits.max_threads.map_or(threads, product);
    let blocks = u64::from(limits.min_blocks.unwrap_or(1));
    let left = limits::REGISTERS / (most_threads.next_multiple_of(32) * blocks).max(1);
    let chosen = limits.max_registers.map_or(left / 8 * 8, u64::from);
    chosen.clamp(1, MOST_REGISTERS)
}

/// The most threads of a block.
pub fn most_threads(function: &Function) -> u64 {
    let limits = &function.limits;
    let product = |extents: [u32; 3]| extents.iter().map(|extent| u64::from(*extent)).product();
    let registers = limits.max_registers.map_or(0, u64::from).max(1);
    let by_registers = limits::REGISTERS / registers / 32 * 32;
    let extents = limits.max_threads.or(limits.required_threads);
    let most: u64 = extents.map_or(limits::THREADS_OF_BLOCK, product);
    most.min(limits::THREADS_OF_BLOCK).min(by_registers)
}

/// Blocks of a kernel on one multiprocessor.
pub fn blocks(kernel: &Kernel, threads: u64, dynamic_shared: u64) -> Done<u64> {
    let function = kernel.function()?;
    if threads == 0 || threads > most_threads(function) {
        return Ok(0);
    }
    let whole = threads.next_multiple_of(32);
    let by_threads = limits::THREADS_OF_MULTIPROCESSOR / whole;
    let by_registers = limits::REGISTERS / (registers(function, threads) * whole);
    let own = kernel.resources.static_shared + dynamic_shared;
    if own > limits::model().shared_bytes_opt_in {
        return Ok(0);
    }
    let by_shared =
        limits::model().shared_bytes_of_multiprocessor / (own + limits::SHARED_BYTES_RESERVED);
    Ok(by_threads
        .min(by_registers)
        .min(by_shared)
        .min(limits::BLOCKS_OF_MULTIPROCESSOR))
}

/// Clusters of a kernel on the device. The multiprocessors are in groups of at most 18, of which 16
/// are in use in most; a cluster is in one group.
pub fn clusters(kernel: &Kernel, threads: u64, dynamic_shared: u64, size: u64) -> Done<u64> {
    const GROUPS: u64 = 8;
    let each = blocks(kernel, threads, dynamic_shared)?;
    Ok(GROUPS * (each * (limits::model().multiprocessors / GROUPS) / size.max(1)))
}

#[cfg(test)]
mod tests {
    use super::{most_threads, registers};

    fn function(directives: &str) -> croq_ptx::parse::Function {
        let text = format!(".version 9.0\n.target sm_90a\n.entry k() {directives} {{ ret; }}");
        croq_ptx::parse::parse(&text).unwrap().functions.remove(0)
    }

    #[test]
    fn registers_are_what_the_text_allows() {
        assert_eq!(registers(&function(".maxntid 384,1,1"), 384), 168);
        assert_eq!(
            registers(&function(".maxntid 128,1,1 .minnctapersm 4"), 128),
            128
        );
        assert_eq!(registers(&function(".maxnreg 80"), 32), 80);
        assert_eq!(registers(&function(""), 1024), 64);
        assert_eq!(registers(&function(""), 32), 255);
        assert_eq!(most_threads(&function(".maxntid 384,1,1")), 384);
        assert_eq!(most_threads(&function(".maxnreg 128")), 512);
        assert_eq!(most_threads(&function("")), 1024);
    }
}
