//! croq-sys links nothing itself; the script exists because `links = "croq"` needs one, so that
//! only one version of the runtime can be in a program.
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
