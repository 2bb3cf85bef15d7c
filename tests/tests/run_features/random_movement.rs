//! Random programs that move tiles, and the same in Rust: `scripts/random_programs.sh` writes and runs others.

use croq_tests::random_tiles_model::Calls;

#[allow(warnings, clippy::all, clippy::pedantic)]
mod generated {
    use croq_sys::Const;
    use croq_sys::half::{bf16, f16};
    use croq_tests::kernels;
    use croq_tests::random_tiles_model::*;

    include!("random_movement_cases.rs");
}

#[test]
fn random_movement_brings_what_rust_brings() {
    let mut calls = Calls::default();
    generated::cases(&mut calls);
    assert!(calls.wrong.is_empty(), "{:#?}", calls.wrong);
    assert_eq!(calls.right, 40 * 3);
}
