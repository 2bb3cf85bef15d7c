//! Generated files and their dependences: variables, headers, truncated files, interrupted builds.

use croq_downstream::{Package, SCALE};

/// Prints the number that `gain.h` defines, times 3.
fn with_header(name: &str) -> Package {
    let package = Package::new(name);
    package.write(
        "kernels/scale.co",
        "#include \"gain.h\"\n__device__ float gain(float x) { return x * GAIN; }\n\
         __co__ f32 [N] scale(f32 [N] x) {\n  f32 [N] y;\n  \
         parallel p by N { mutable t = 0.0f; t = call gain(x.at(p)); y.at(p) = t; }\n  return y;\n}\n",
    );
    package.write(
        "src/main.rs",
        "#![forbid(unsafe_code)]\ncroq_sys::include_kernels!();\nfn main() {\n    \
         let x = croq_sys::Tensor::<f32, _>::from_fn((1,), |_| 3.0);\n    \
         println!(\"{}\", kernels::scale(&x).unwrap()[[0]]);\n}\n",
    );
    package
}

#[test]
fn another_include_path_makes_another_object() {
    let package = with_header("include-paths");
    for (folder, gain) in [("a", 2), ("b", 5)] {
        package.write(
            &format!("{folder}/gain.h"),
            &format!("#define GAIN {gain}\n"),
        );
    }
    let path = |folder: &str| package.path(folder).display().to_string();
    let (a, b) = (path("a"), path("b"));
    // In cargo's own environment these two would cause a dependency of croq-build, and with it
    // croq-build, to be compiled again for each value.
    package.write(
        "build.rs",
        "fn main() {\n    println!(\"cargo::rerun-if-changed=variable\");\n    \
         if let Ok(text) = std::fs::read_to_string(\"variable\") {\n        \
         let (name, value) = text.split_once('=').unwrap();\n        \
         // SAFETY: this program has one thread.\n        \
         unsafe { std::env::set_var(name, value) };\n    }\n    croq_build::compile(\"kernels/\");\n}\n",
    );
    for name in ["CPATH", "CPLUS_INCLUDE_PATH"] {
        package.write("variable", &format!("{name}={a}"));
        assert_eq!(package.run(&[]).stdout, "6\n", "{name}");
        package.write("variable", &format!("{name}={b}"));
        assert_eq!(package.run(&[]).stdout, "15\n", "{name}");
        let rerun = format!("rerun-if-env-changed={name}\n");
        assert!(package.directives().contains(&rerun), "{name}");
    }
    std::fs::remove_file(package.path("variable")).expect("a file");
    for name in ["CXXFLAGS", "HOST_CXXFLAGS"] {
        assert_eq!(
            package.run(&[(name, &format!("-I{a}"))]).stdout,
            "6\n",
            "{name}"
        );
        assert_eq!(
            package.run(&[(name, &format!("-I{b}"))]).stdout,
            "15\n",
            "{name}"
        );
    }
}

#[test]
fn a_header_that_comes_to_be_found_earlier_counts() {
    let package = with_header("earlier-header");
    package.write(
        "build.rs",
        "fn main() {\n    croq_build::Config::new().include(\"first\").include(\"second\").compile(\"kernels/\");\n}\n",
    );
    package.write("first/other.h", "");
    package.write("second/gain.h", "#define GAIN 2\n");
    assert_eq!(package.run(&[]).stdout, "6\n");
    package.write("first/gain.h", "#define GAIN 5\n");
    assert_eq!(package.run(&[]).stdout, "15\n");
    package.write("first/gain.h", "#define GAIN 7\n");
    assert_eq!(package.run(&[]).stdout, "21\n");
}

const CALLS_SCALE: &str = "\
#![forbid(unsafe_code)]
croq_sys::include_kernels!();
fn main() {
    let x = croq_sys::Tensor::<f32, _>::from_fn((1,), |_| 3.0);
    println!(\"{}\", kernels::scale(&x, 2.0).unwrap()[[0]]);
}
";

#[test]
fn bindings_cut_short_are_made_again() {
    let package = Package::new("cut-short");
    package.write("src/main.rs", CALLS_SCALE);
    assert_eq!(package.run(&[]).stdout, "6\n");
    let files: Vec<_> = package
        .out_dirs()
        .iter()
        .map(|folder| folder.join("scale_ffi.rs"))
        .filter(|path| path.is_file())
        .collect();
    assert!(!files.is_empty());
    for path in &files {
        let text = std::fs::read_to_string(path).expect("bindings");
        let (half, _) = text.split_at(text.len() / 2);
        std::fs::write(path, half).expect("a half");
    }
    package.edit("kernels/scale.co", "return y;", "return y;  // the same");
    assert_eq!(package.run(&[]).stdout, "6\n");
}

/// The compiler writes half of an object, and then kills the build script, as on a machine without
/// free memory.
#[cfg(unix)]
#[test]
fn a_killed_build_leaves_nothing_half() {
    use std::os::unix::fs::PermissionsExt;
    let package = Package::new("killed-build");
    package.write("src/main.rs", CALLS_SCALE);
    let gain = croq_downstream::fresh_name();
    package.write("kernels/scale.co", &SCALE.replace("gain", &gain));
    let mark = package.path("kill").display().to_string();
    package.write(
        "killing-c++",
        &format!(
            "#!/bin/sh\ncase \"$*\" in *\" -c \"*.cc*)\n  if [ -e '{mark}' ]; then\n    rm '{mark}'\n    \
             for last; do :; done\n    echo half > \"$last\"\n    kill -9 $PPID\n    exit 0\n  fi;;\nesac\n\
             exec c++ \"$@\"\n"
        ),
    );
    let compiler = package.path("killing-c++");
    std::fs::set_permissions(&compiler, std::fs::Permissions::from_mode(0o755)).expect("a program");
    let compiler = compiler.display().to_string();
    let vars = [("CXX", compiler.as_str())];
    std::fs::write(&mark, "").expect("a mark");
    assert!(!package.cargo(&["build"], &vars).success);
    assert!(
        !std::path::Path::new(&mark).exists(),
        "the compiler has run"
    );
    assert_eq!(package.run(&vars).stdout, "6\n");
}

/// Blanks, quotes and non-ASCII letters in names of files and folders.
#[test]
fn odd_names_work() {
    let package = Package::new("odd-names");
    std::fs::remove_file(package.path("kernels/scale.co")).expect("removed");
    for (at, name) in [
        "a b/it's.co",
        "\"q\"/x*/größe.co",
        "a#b/$HOME.co",
        "back\\slash.co",
    ]
    .iter()
    .enumerate()
    {
        let text = SCALE.replace("scale", &format!("scale{at}"));
        let text = text.replace(
            "y.at(p) = x.at(p) * gain;",
            "mutable t = 0.0f; t = call own(gain); y.at(p) = x.at(p) * t;",
        );
        package.write(
            &format!("kernels/{name}"),
            &format!(
                "#include \"own.h\"\n__device__ float own(float x) {{ return x * OWN; }}\n{text}"
            ),
        );
        let folder = format!("kernels/{name}");
        let (folder, _) = folder.rsplit_once('/').expect("a folder");
        package.write(&format!("{folder}/own.h"), "#define OWN 1.0f\n");
    }
    package.write(
        "src/main.rs",
        "#![forbid(unsafe_code)]\ncroq_sys::include_kernels!();\nfn main() {\n    \
         let x = croq_sys::Tensor::<f32, _>::from_fn((1,), |_| 3.0);\n    \
         let all = [kernels::scale0(&x, 2.0), kernels::scale1(&x, 3.0), kernels::scale2(&x, 4.0), kernels::scale3(&x, 5.0)];\n    \
         println!(\"{:?}\", all.map(|y| y.unwrap()[[0]]));\n}\n",
    );
    assert_eq!(package.run(&[]).stdout, "[6.0, 9.0, 12.0, 15.0]\n");
    // And nothing is compiled again.
    let seen = package.cargo(&["build", "--verbose"], &[]);
    assert!(seen.stderr.contains("Fresh odd-names"), "{}", seen.stderr);
}

/// Cargo passes the version of the package's croq-sys to the build script.
#[test]
fn versions_meet_when_the_package_is_built() {
    let package = Package::new("other-version");
    package.write(
        "build.rs",
        "fn main() {\n    assert!(std::env::var(\"DEP_CROQ_ABI\").is_ok());\n    \
         let version = std::env::var(\"DEP_CROQ_VERSION\").expect(\"told\");\n    \
         // SAFETY: there is one thread.\n    \
         unsafe { std::env::set_var(\"DEP_CROQ_VERSION\", format!(\"{version}1\")) };\n    \
         croq_build::compile(\"kernels/\");\n}\n",
    );
    let seen = package.cargo(&["build"], &[]);
    assert!(!seen.success);
    assert!(
        seen.stderr.contains("error[E1111]: croq-build") && seen.stderr.contains("croq-sys 0."),
        "{}",
        seen.stderr
    );
}
