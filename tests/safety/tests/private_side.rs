//! What safe code tries in order to have a function called with a wrong type: none of it compiles.
//! `TRYBUILD=overwrite` writes the reports anew.

#[test]
fn safe_code_calls_no_function_with_a_wrong_type() {
    trybuild::TestCases::new().compile_fail("tests/private_side/*.rs");
}
