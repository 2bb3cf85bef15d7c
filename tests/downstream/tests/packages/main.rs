//! The output for users of croq in their own crates: real `cargo build`s of small packages outside
//! of the workspace.

mod debugger;
mod documentation;
mod files;
mod new_package;
mod private_side;
mod ptx_machine;
mod symbols;
mod templates;
mod tune;
mod tutorial;
mod warnings;

use croq_downstream::{BUILD_RS, Package, SCALE, fresh_name, manifest, workspace};

const BAD: &str = "\
__co__ f32 [N] scale(f32 [N] x, f32 gain) {
  f32 [N] y;
  parallel p by N { y.at(p) = x.at(p) * gian; }
  return y;
}
";

#[test]
fn a_failing_build_shows_the_report_once() {
    let package = Package::new("shows-report");
    package.write("kernels/scale.co", BAD);
    let seen = package.cargo(&["build"], &[]);
    assert!(!seen.success);
    let message = seen
        .stderr
        .lines()
        .filter(|line| line.contains("gian"))
        .collect::<Vec<_>>();
    assert!(
        seen.stderr.contains("kernels/scale.co:3:41"),
        "{}",
        seen.stderr
    );
    assert_eq!(seen.stderr.matches("error[E").count(), 1, "{}", seen.stderr);
    // The message and the line of the program, once each.
    assert!((2..=3).contains(&message.len()), "{}", seen.stderr);
    for noise in ["cargo::", "panicked", "--- stdout", "\\n"] {
        assert!(!seen.stderr.contains(noise), "{noise} in\n{}", seen.stderr);
    }
}

#[test]
fn every_file_with_errors_is_reported_in_one_build() {
    let package = Package::new("shows-all-reports");
    package.write("kernels/deep/other.co", &BAD.replace("scale", "other"));
    package.write("kernels/scale.co", BAD);
    let seen = package.cargo(&["build"], &[]);
    assert!(
        seen.stderr.contains("kernels/scale.co:3"),
        "{}",
        seen.stderr
    );
    assert!(
        seen.stderr.contains("kernels/deep/other.co:3"),
        "{}",
        seen.stderr
    );
}

#[test]
fn tools_get_json() {
    let package = Package::new("speaks-json");
    package.write("kernels/scale.co", BAD);
    let seen = package.cargo(&["build"], &[("CROQ_MESSAGE_FORMAT", "json")]);
    assert!(!seen.success);
    let objects: Vec<&str> = seen
        .stderr
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with('{') && line.ends_with('}'))
        .collect();
    assert_eq!(objects.len(), 1, "{}", seen.stderr);
    for part in [
        "\"code\":\"E",
        "\"severity\":\"error\"",
        "\"line\":3",
        "\"column\":41",
        "\"help\":",
    ] {
        assert!(objects[0].contains(part), "no {part} in {}", objects[0]);
    }
}

#[test]
fn an_error_returned_from_main_reads_as_well() {
    let package = Package::new("returns-error");
    package.write(
        "build.rs",
        "fn main() -> Result<(), croq_build::Error> {\n    \
         croq_build::Config::new().define(\"TILE\", 8).try_compile(\"kernels/\")\n}\n",
    );
    package.write("kernels/scale.co", BAD);
    let seen = package.cargo(&["build"], &[]);
    assert!(
        seen.stderr.contains("kernels/scale.co:3:41"),
        "{}",
        seen.stderr
    );
    assert!(!seen.stderr.contains("\\n"), "{}", seen.stderr);
}

#[test]
fn cpp_that_the_compiler_rejects_is_shown_on_its_line() {
    let package = Package::new("rejected-cpp");
    package.write(
        "kernels/scale.co",
        "__device__ float twice(float x) {\n  return x * tow;\n}\n\n\
         __co__ void f(f32 [N] &x) {\n  parallel p by N { mutable y = 0.0f; y = call twice(x.at(p)); x.at(p) = y; }\n}\n",
    );
    let seen = package.cargo(&["build"], &[]);
    assert!(!seen.success);
    assert!(seen.stderr.contains("error[E1112]"), "{}", seen.stderr);
    assert!(
        seen.stderr.contains("kernels/scale.co:2:3"),
        "{}",
        seen.stderr
    );
    assert!(seen.stderr.contains("tow"), "{}", seen.stderr);
}

#[test]
fn what_is_missing_is_named_with_the_way_to_get_it() {
    let package = Package::new("missing-things");
    // A new name, so that no binding or object of an earlier run can be used.
    package.write("kernels/scale.co", &SCALE.replace("gain", &fresh_name()));
    // Set by the build script: bindgen's own build script depends on LIBCLANG_PATH, so in cargo's
    // environment another value would compile bindgen and croq-build again.
    let without_libclang = BUILD_RS.replace(
        "croq_build",
        "unsafe { std::env::set_var(\"LIBCLANG_PATH\", \"/nowhere\") };\n    croq_build",
    );
    for (build_script, vars, parts) in [
        (
            &*without_libclang,
            None,
            ["LIBCLANG_PATH=/nowhere", "libclang-dev"],
        ),
        (
            BUILD_RS,
            Some(("CXX", "no-such-compiler")),
            ["no-such-compiler", "build-essential"],
        ),
        (
            BUILD_RS,
            Some(("CROQ_CUDA", "maybe")),
            ["CROQ_CUDA=maybe", "auto, required, off"],
        ),
        (
            BUILD_RS,
            Some(("CROQ_CUDA_ARCH", "sm_9")),
            ["unknown architecture `sm_9`", "from CROQ_CUDA_ARCH"],
        ),
    ] {
        package.write("build.rs", build_script);
        let seen = package.cargo(&["build"], vars.as_slice());
        assert!(!seen.success, "{vars:?}");
        for part in parts {
            assert!(seen.stderr.contains(part), "no {part} in\n{}", seen.stderr);
        }
        assert!(!seen.stderr.contains("panicked"), "{}", seen.stderr);
    }
}

#[test]
fn a_build_writes_the_ir_that_it_is_asked_for() {
    let package = Package::new("dumps-ir");
    let dump = ("CROQ_DUMP_IR", "barriers, exact-integers");
    let seen = package.cargo(&["build"], &[dump]);
    assert!(seen.success, "{}", seen.stderr);
    assert!(
        seen.stderr.contains("kernels/scale.co: IR in "),
        "{}",
        seen.stderr
    );
    let texts = || -> String {
        let files = package.out_dirs();
        let files = files.iter().map(|out| out.join("../croq-ir/scale.ir"));
        files
            .filter_map(|path| std::fs::read_to_string(path).ok())
            .collect()
    };
    let text = texts();
    for part in [
        "// scale_0 after barriers\n",
        "// scale after exact-integers\n",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    let of = ("CROQ_DUMP_KERNEL", "other_0");
    package.edit("kernels/scale.co", "f32 gain", "f32  gain");
    assert!(package.cargo(&["build"], &[dump, of]).success);
    assert_eq!(texts(), text, "nothing of another kernel is written");
    let seen = package.cargo(&["build"], &[("CROQ_DUMP_IR", "barrier")]);
    assert!(
        !seen.success && seen.stderr.contains("CROQ_DUMP_IR=barrier is no pass"),
        "{}",
        seen.stderr
    );
}

#[test]
fn touching_nothing_reruns_nothing() {
    let package = Package::new("stays-fresh");
    assert!(package.cargo(&["build"], &[]).success);
    let seen = package.cargo(&["build", "--verbose"], &[]);
    assert!(seen.stderr.contains("Fresh stays-fresh"), "{}", seen.stderr);
    // A new file in the folder is detected.
    package.write("kernels/more.co", &SCALE.replace("scale", "more"));
    let seen = package.cargo(&["build", "--verbose"], &[]);
    assert!(seen.stderr.contains("Dirty stays-fresh"), "{}", seen.stderr);
}

/// A kernel whose check fails at run time, at the reported line.
const FAILS: &str = "\
__co__ void pick(s32 [N] x, s32 WHICH, s32 [1] &y) {
  parallel p by 1 {
    y.at(0) = x.at(WHICH);
  }
}
";

const CALLS_PICK: &str = "\
#![forbid(unsafe_code)]
croq_sys::include_kernels!();
fn main() {
    let x = croq_sys::Tensor::from_fn((4,), |[i]| i as i32);
    let mut y = croq_sys::Tensor::<i32, _>::zeros((croq_sys::Const::<1>,));
    kernels::pick(&x, 2, &mut y).unwrap();
    assert_eq!(y.as_slice(), [2]);
    println!(\"{}\", kernels::pick(&x, 9, &mut y).unwrap_err());
}
";

#[cfg(unix)]
#[test]
fn editing_a_comment_runs_no_compiler_and_keeps_lines_right() {
    let package = Package::new("edits-comment");
    std::fs::remove_file(package.path("kernels/scale.co")).expect("removed");
    package.write("kernels/pick.co", &FAILS.replace("WHICH", &fresh_name()));
    package.write("src/main.rs", CALLS_PICK);
    let log = package.path("compiler.log");
    let compiler = logging_compiler(&package);
    let vars = [("CXX", compiler.as_str())];
    let runs = || std::fs::read_to_string(&log).map_or(0, |text| text.lines().count());

    let first = package.run(&vars);
    assert!(
        first.stdout.contains("kernels/pick.co:3"),
        "{}",
        first.stdout
    );
    let before = runs();
    assert!(before > 0, "the logging compiler is used");

    package.edit(
        "kernels/pick.co",
        "parallel p by 1 {",
        "parallel p by 1 {  // one thread",
    );
    let second = package.run(&vars);
    assert_eq!(second.stdout, first.stdout);
    package.edit(
        "kernels/pick.co",
        "  parallel",
        "  // Picks one.\n\n  parallel",
    );
    let third = package.run(&vars);
    assert_eq!(
        runs(),
        before,
        "{}",
        std::fs::read_to_string(&log).unwrap_or_default()
    );
    assert!(
        third.stdout.contains("kernels/pick.co:5"),
        "{}",
        third.stdout
    );

    package.edit("kernels/pick.co", "y.at(0) = ", "y.at(0) = 0 + ");
    package.run(&vars);
    assert!(runs() > before);
}

/// A C++ compiler that logs each of its runs.
#[cfg(unix)]
fn logging_compiler(package: &Package) -> String {
    use std::os::unix::fs::PermissionsExt;
    let log = package.path("compiler.log");
    package.write(
        "logging-c++",
        &format!(
            "#!/bin/sh\necho \"$@\" >> '{}'\nexec c++ \"$@\"\n",
            log.display()
        ),
    );
    let path = package.path("logging-c++");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a program");
    path.display().to_string()
}

/// croq's headers are parsed once for many files, unless headers of the package could replace
/// others.
#[cfg(unix)]
#[test]
fn many_files_share_one_precompiled_header() {
    let package = Package::new("precompiles");
    let log = package.path("compiler.log");
    let compiler = logging_compiler(&package);
    let vars = [("CXX", compiler.as_str())];
    let kernels = |names: [&str; 4]| {
        for name in names {
            let text = SCALE.replace("scale", name).replace("gain", &fresh_name());
            package.write(&format!("kernels/{name}.co"), &text);
        }
    };
    let count = |part: &str| {
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        text.lines().filter(|line| line.contains(part)).count()
    };
    kernels(["a", "b", "c", "d"]);
    assert!(package.cargo(&["build"], &vars).success);
    let (made, used) = (count("-x c++-header"), count("build/first "));
    assert!(made == 1 && used >= 4, "{made} made, used {used} times");
    let left = package.out_dirs();
    assert!(
        left.iter()
            .all(|out| !out.join("build/first/croq.h.gch").exists())
    );
    // `cstdio` in the folder of the kernels is found before the system's, and is an error here.
    package.write("kernels/cstdio", "#error not the system's\n");
    kernels(["e", "f", "g", "h"]);
    let seen = package.cargo(&["build"], &vars);
    assert!(seen.stderr.contains("not the system's"), "{}", seen.stderr);
    assert_eq!(count("build/first "), used);
}

/// A `.co` file whose `add` also adds `constant`.
fn file_that_adds(constant: i32) -> String {
    format!(
        "__device__ int more(int x) {{ return x + {constant}; }}\n\
         __co__ s32 [N] add(s32 [N] x, s32 [N] y) {{\n  s32 [N] z;\n  \
         parallel p by N {{ mutable t = 0; t = call more(y.at(p)); z.at(p) = x.at(p) + t; }}\n  return z;\n}}\n"
    )
}

/// A library with `kernels/basic.co`, whose `add` also adds `constant`.
fn library(package: &Package, name: &str, constant: i32) {
    package.write(
        &format!("{name}/Cargo.toml"),
        &manifest(name, "").replace("[workspace]\n", ""),
    );
    package.write(&format!("{name}/build.rs"), BUILD_RS);
    package.write(
        &format!("{name}/kernels/basic.co"),
        &file_that_adds(constant),
    );
    package.write(
        &format!("{name}/src/lib.rs"),
        "croq_sys::include_kernels!();\npub use kernels::add;\n",
    );
}

/// Two crates with a `basic.co` with `add` each, and the program's own one.
fn with_two_libraries(name: &str) -> Package {
    let package = Package::new(name);
    let (left, right) = (format!("{name}-left"), format!("{name}-right"));
    library(&package, &left, 100);
    library(&package, &right, 200);
    std::fs::remove_file(package.path("kernels/scale.co")).expect("removed");
    std::fs::copy(
        package.path(&format!("{left}/kernels/basic.co")),
        package.path("kernels/basic.co"),
    )
    .expect("the same file");
    let dependencies = format!(
        "left = {{ path = \"{left}\", package = \"{left}\" }}\nright = {{ path = \"{right}\", package = \"{right}\" }}\n"
    );
    let text = manifest(name, &dependencies);
    package.write(
        "Cargo.toml",
        &text.replace(
            "[workspace]\n",
            &format!("[workspace]\nmembers = [\"{left}\", \"{right}\"]\n"),
        ),
    );
    package.write(
        "src/main.rs",
        "croq_sys::include_kernels!();\nfn main() -> croq_sys::Result<()> {\n    \
         let x = croq_sys::Tensor::<i32, _>::from_fn((3,), |[i]| i as i32);\n    \
         println!(\"{:?}\", left::add(&x, &x)?.as_slice());\n    \
         println!(\"{:?}\", right::add(&x, &x)?.as_slice());\n    \
         println!(\"{:?}\", kernels::basic::add(&x, &x)?.as_slice());\n    Ok(())\n}\n",
    );
    package
}

const SUMS: &str = "[100, 102, 104]\n[200, 202, 204]\n[100, 102, 104]\n";

#[test]
fn crates_with_files_and_functions_of_one_name_meet_in_a_program() {
    assert_eq!(with_two_libraries("same-names").run(&[]).stdout, SUMS);
}

/// On a machine with nvcc: the CUDA halves link, and without a GPU the program runs on the
/// simulated one.
#[test]
fn programs_built_with_cuda_link_and_run_anywhere() {
    let package = with_two_libraries("same-names-cuda");
    let vars = [
        ("CROQ_CUDA", "required"),
        ("CROQ_CUDA_ARCH", "sm_80"),
        ("CROQ_DEVICE", "sim"),
    ];
    let seen = package.cargo(&["build"], &vars);
    if !seen.success && seen.stderr.contains("there is no nvcc") {
        assert!(seen.stderr.contains("looked at NVCC"), "{}", seen.stderr);
        let required = std::env::var_os("CROQ_TEST_NVCC").is_some_and(|value| value == "required");
        assert!(!required, "{}", seen.stderr);
        return;
    }
    assert_eq!(package.run(&vars).stdout, SUMS);
}

#[test]
fn documentation_is_made_without_a_compiler() {
    let package = Package::new("documents");
    package.write("src/main.rs", "");
    package.write("src/lib.rs", "croq_sys::include_kernels!();\n");
    let seen = package.cargo(
        &["doc", "--no-deps", "--lib"],
        &[("DOCS_RS", "1"), ("CXX", "no-such-compiler")],
    );
    assert!(seen.success, "{}", seen.stderr);
}

/// The quick start of the README, unchanged.
#[test]
fn the_quick_start_works_as_written() {
    let readme = std::fs::read_to_string(workspace().join("README.md")).expect("a README");
    let package = Package::new("hello-croq");
    for name in ["Cargo.toml", "build.rs", "kernels/scale.co", "src/main.rs"] {
        let (_, rest) = readme.split_once(&format!("**`{name}`**")).expect(name);
        let (_, rest) = rest.split_once("```").expect("a block");
        let (_, rest) = rest.split_once('\n').expect("its text");
        let (text, _) = rest.split_once("```").expect("its end");
        let root = workspace().display().to_string();
        let mut text = text.replace("../croq/", &format!("{root}/"));
        if name == "Cargo.toml" {
            text = text.replace("[profile.dev]\n", "[profile.dev]\ndebug = false\n");
            text.push_str("\n[workspace]\n");
        }
        package.write(name, &text);
    }
    let seen = package.run(&[]);
    assert!(
        readme.contains(&format!("// {}", seen.stdout.trim())),
        "{}",
        seen.stdout
    );
}
