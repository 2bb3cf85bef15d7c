//! croq-sys links nothing itself; the script exists because `links = "croq"` requires one, so that
//! only one version of the runtime can be in a program. It also passes the version to the build
//! scripts of packages that depend on croq-sys: croq-build compares it with its own.
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/abi.rs");
    println!("cargo::metadata=version={}", env!("CARGO_PKG_VERSION"));
    let abi = include_str!("src/abi.rs");
    let abi = abi
        .split_once("pub const CROQ_ABI_VERSION: u32 = ")
        .and_then(|(_, rest)| rest.split_once(';'));
    if let Some((version, _)) = abi {
        println!("cargo::metadata=abi={version}");
    }
}
