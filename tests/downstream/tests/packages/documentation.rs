//! What users see of kernels in editors, and in the documentation of their crates.

use croq_downstream::{Package, SCALE};

#[test]
fn what_a_package_without_a_build_script_needs_is_named() {
    let package = Package::new("no-build-script");
    std::fs::remove_file(package.path("build.rs")).expect("the build script");
    let seen = package.cargo(&["build"], &[]);
    assert!(!seen.success);
    for part in [
        "this package has no build script",
        "croq_build::compile",
        "[build-dependencies]",
    ] {
        assert!(seen.stderr.contains(part), "no {part} in\n{}", seen.stderr);
    }
    assert!(!seen.stderr.contains("OUT_DIR"), "{}", seen.stderr);
}

/// Links, HTML and code in the comment of a kernel neither break `cargo doc` nor become tests.
#[test]
fn the_comment_of_a_kernel_is_its_documentation() {
    let package = Package::new("documents-kernels");
    package.write(
        "kernels/scale.co",
        &format!(
            "// Scales [x] by <gain>, see `y[i]`.\n// ```\n// panic!();\n// ```\n//\n//     \
             panic!(\"indented\");\n// croq: allow(W1112) only for the C++ compiler\n{SCALE}"
        ),
    );
    package.write("src/lib.rs", "croq_sys::include_kernels!();\n");
    std::fs::remove_file(package.path("src/main.rs")).expect("the program");
    let strict = [("RUSTDOCFLAGS", "-Dwarnings")];
    let seen = package.cargo(&["doc", "--no-deps"], &strict);
    assert!(seen.success, "{}", seen.stderr);
    let files = package.out_dirs();
    let wrappers = files
        .iter()
        .map(|out| std::fs::read_to_string(out.join("scale.rs")));
    let text: String = wrappers.map(|text| text.expect("wrappers")).collect();
    let part = "/// Scales \\[x\\] by \\<gain\\>, see `y[i]`.\n";
    assert!(text.contains(part), "{text}");
    assert!(!text.contains("only for the C++ compiler"), "{text}");
    let seen = package.cargo(&["test", "--doc"], &[]);
    assert!(seen.success, "{}\n{}", seen.stdout, seen.stderr);
    let none = "0 passed; 0 failed";
    assert!(seen.stdout.contains(none), "{}", seen.stdout);
}
