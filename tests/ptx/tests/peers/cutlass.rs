//! Programs with CUTLASS's own host code, which run with the CUDA runtime of the PTX machine and
//! compare their results themselves.

use std::process::Command;

use crate::peer::folder;

/// A seed also decides which lane `elect.sync` elects. The ISA leaves that open, but CUTLASS needs the
/// first one: the elected thread issues copies, and the first one of its warpgroup arrives for them.
/// With these seeds it is elected.
const SEEDS: [&str; 2] = ["14", "17"];

fn check(name: &str) {
    for (variable, value) in [
        ("CROQ_PTX_SEED", "0"),
        ("CROQ_PTX_MODE", "at-once"),
        ("CROQ_PTX_SEED", SEEDS[0]),
        ("CROQ_PTX_SEED", SEEDS[1]),
    ] {
        let mut program = Command::new(folder().join(name));
        program
            .env(variable, value)
            .env("CROQ_PTX_FORMS", folder().join(format!("{name}.forms")));
        let output = program
            .output()
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let [out, errors] =
            [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
        assert!(
            output.status.success(),
            "{variable}={value} {name}\n{out}{errors}"
        );
        assert_eq!(out.matches(": right\n").count(), 6, "{out}");
    }
}

#[test]
#[ignore = "run by `make ptx-peers`"]
fn ping_pong_product() {
    check("gemm_pingpong");
}

#[test]
#[ignore = "run by `make ptx-peers`"]
fn multicast_product() {
    check("gemm_multicast");
}
