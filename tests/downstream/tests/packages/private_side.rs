//! Generated code in crates that forbid unsafe code.

use croq_downstream::Package;

const PROGRAM: &str = "\
croq_sys::include_kernels!();
fn main() {
    let x = croq_sys::Tensor::<f32, _>::from_fn((3,), |[i]| i as f32);
    std::println!(\"{:?}\", kernels::scale(&x, 2.0).unwrap().as_slice());
}
";

/// Macros in scope with names that generated code might use.
#[test]
fn macros_of_the_program_do_not_reach_generated_code() {
    let package = Package::new("hostile-macros");
    let mut text = "#![forbid(unsafe_code)]\n#![deny(warnings)]\n".to_owned();
    for name in [
        "include",
        "include_str",
        "concat",
        "env",
        "assert",
        "vec",
        "format",
        "matches",
        "offset_of",
    ] {
        text.push_str(&format!(
            "#[allow(unused_macros)]\nmacro_rules! {name} {{ ($($t:tt)*) => \
             {{ compile_error!(\"expanded among private items\"); }} }}\n"
        ));
    }
    package.write("src/main.rs", &(text + PROGRAM));
    assert_eq!(package.run(&[]).stdout, "[0.0, 2.0, 4.0]\n");
}

#[test]
fn generated_code_is_not_taken_in_by_another_way() {
    let package = Package::new("other-ways");
    for (text, part) in [
        (
            "mod mine { include!(concat!(env!(\"OUT_DIR\"), \"/croq/kernels.rs\")); }",
            "couldn't read",
        ),
        (
            "mod mine { include!(concat!(env!(\"OUT_DIR\"), \"/croq/scale_ffi.rs\")); }",
            "usage of an `unsafe extern` block",
        ),
        (
            "croq_sys::__private::extern_c! { pub safe fn abort(); }",
            "extern_c",
        ),
        (
            "croq_sys::include_kernels!();\nfn f() { let _ = kernels::scale::ffi::shims_of_scale; }",
            "module `ffi` is private",
        ),
    ] {
        package.write(
            "src/main.rs",
            &format!("#![forbid(unsafe_code)]\n{text}\nfn main() {{}}\n"),
        );
        let seen = package.cargo(&["build"], &[]);
        assert!(!seen.success, "{text}");
        assert!(seen.stderr.contains(part), "{text}: {}", seen.stderr);
    }
}
