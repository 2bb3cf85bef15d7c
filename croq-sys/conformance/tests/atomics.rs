//! Atomic operations on the simulated GPU, whose blocks run on several cores.

use croq_conformance::{atomics, twins};
use croq_sys::abi::{CROQ_MISALIGNED, CROQ_OUT_OF_BOUNDS};

#[test]
fn no_operation_is_lost() {
    let all = atomics::all();
    assert_eq!(all.len(), 36);
    for atomic in all {
        for _ in 0..20 {
            let memory = twins::on_sim("atomics", &atomic.memory(), &atomic.numbers());
            atomic.check(&memory.expect("runs"));
        }
    }
}

/// PTX ISA, `atom`: sums of f32 flush subnormal numbers in global memory, but not in shared memory.
#[test]
fn sums_in_global_memory_have_no_subnormals() {
    let all = atomics::all();
    let of_f32 = all.iter().find(|a| a.op.0 == "add" && a.ty.0 == "f32");
    let numbers = of_f32.expect("there is one").numbers();
    let bytes = |v: f32, n: usize| v.to_le_bytes().repeat(n);
    let tiny = f32::from_bits(3);
    let memory = [bytes(tiny, 256), bytes(0.0, 5), bytes(1.0, 512)];
    let memory = twins::on_sim("atomics", &memory, &numbers).expect("runs");
    let ends: Vec<f32> = memory[1]
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect();
    let of_block = f32::from_bits(3 * 64);
    assert_eq!(ends, [0.0, of_block, of_block, of_block, of_block]);
}

#[test]
fn no_element_of_a_vector_is_lost() {
    for sums in atomics::vectors() {
        for _ in 0..20 {
            let memory = twins::on_sim("vector_sums", &sums.memory(), &sums.numbers());
            sums.check(&memory.expect("runs"));
        }
    }
}

/// The instruction needs the alignment of its vector, and all elements.
#[test]
fn vectors_of_sums_are_whole_and_aligned() {
    let ends = [vec![0; 32]];
    for (at, kind) in [
        (0, None),
        (4, None),
        (2, Some(CROQ_MISALIGNED)),
        (8, Some(CROQ_OUT_OF_BOUNDS)),
    ] {
        let outcome = twins::on_sim("misplaced_sums", &ends, &[at]);
        assert_eq!(outcome.err().map(|record| record.kind), kind, "{at}");
    }
}
