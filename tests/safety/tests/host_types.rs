//! Calls that must not compile, and what rustc says of them. `TRYBUILD=overwrite` writes the reports
//! anew.

#[test]
fn wrong_calls_do_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/host_types/*.rs");
}
