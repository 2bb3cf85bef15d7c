//! Random programs with several launches, and the same in Rust: `scripts/random_programs.sh` writes and runs others.

use croq_tests::random_tiles_model::Calls;

#[allow(warnings, clippy::all, clippy::pedantic)]
mod generated {
    use croq_sys::half::{bf16, f16};
    use croq_tests::kernels;
    use croq_tests::random_tiles_model::*;

    include!("random_launches_cases.rs");
}

#[test]
fn random_launches_compute_what_rust_computes() {
    let mut calls = Calls::default();
    generated::cases(&mut calls);
    assert!(calls.wrong.is_empty(), "{:#?}", calls.wrong);
    assert_eq!(calls.right, 14 * 3);
}
