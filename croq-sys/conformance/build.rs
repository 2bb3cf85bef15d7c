//! Compiles the test kernels as croq compiles device text.

const DEVICE: &str = "../../croq-build/device";

fn main() {
    println!("cargo::rerun-if-changed={DEVICE}");
    println!("cargo::rerun-if-changed=cpp");
    let kernels = [
        "conversions",
        "math",
        "handles",
        "barriers",
        "copies",
        "launches",
        "speed",
        "layout",
    ];
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++17")
        .opt_level(2)
        .debug(false)
        .include(DEVICE)
        .define("CROQ_SIM", "1")
        .extra_warnings(true)
        .flag("-ffp-contract=off")
        .flag("-fwrapv")
        .warnings_into_errors(true);
    for kernel in kernels {
        build.file(format!("cpp/{kernel}.cc"));
    }
    build.compile("croq_conformance");
}
