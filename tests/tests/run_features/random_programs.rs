//! Random programs, and the same in Rust: `scripts/random_programs.sh` writes and runs others.

use croq_tests::random_programs::Calls;

#[allow(warnings, clippy::all, clippy::pedantic)]
mod generated {
    use croq_tests::kernels;
    use croq_tests::random_programs::Calls;
    use std::ops::{BitAnd, BitOr, BitXor};

    include!("random_programs_cases.rs");
}

#[test]
fn random_programs_compute_what_rust_computes() {
    let mut calls = Calls::default();
    generated::cases(&mut calls);
    assert!(calls.wrong.is_empty(), "{:#?}", calls.wrong);
    assert_eq!(calls.right, 40 * 3);
}
