//! Warnings and notes in builds: what cargo shows, and which of them fail the build.

use croq_downstream::{Package, SCALE};

/// Reports W0620.
const LOSES: &str = "\
__co__ void loses(s32 [N] x) {
  parallel p by N { x.at(p) = 1; }
}
";

#[test]
fn warnings_of_the_compiler_are_shown_or_denied() {
    let package = Package::new("warned-cpp");
    package.write(
        "kernels/scale.co",
        &format!("__device__ float twice(float x) {{\n  int unused;\n  return x + x;\n}}\n{SCALE}"),
    );
    let seen = package.cargo(&["build"], &[]);
    assert!(seen.success, "{}", seen.stderr);
    assert!(
        seen.stderr.contains("kernels/scale.co:2:3: [W1112]"),
        "{}",
        seen.stderr
    );
    let seen = package.cargo(&["build"], &[("CROQ_WARNINGS", "deny")]);
    assert!(
        !seen.success && seen.stderr.contains("error[W1112]"),
        "{}",
        seen.stderr
    );
}

/// Cargo shows the report of `croq check` for names that hide others (W11).
#[test]
fn notes_and_warnings_of_croq_are_shown() {
    let package = Package::new("shows-notes");
    package.write(
        "kernels/hides.co",
        "__co__ void f(global s32 [N] y, int step) {\n  k = 1;\n  parallel p by N {\n    k = p * 2;\n    \
         step = 3;\n    y.at(p) = k + step;\n  }\n}\n",
    );
    let seen = package.cargo(&["build"], &[]);
    assert!(seen.success, "{}", seen.stderr);
    for line in [
        "kernels/hides.co:4:5: [N0321] note: this declares a new `k` that hides the outer one",
        "kernels/hides.co:5:5: [W0321] this declares a new `step` that hides the outer one",
    ] {
        assert!(
            seen.stderr.contains(line),
            "no {line:?} in\n{}",
            seen.stderr
        );
    }
}

#[test]
fn warnings_of_croq_are_denied_by_the_environment() {
    let package = Package::new("denied-by-environment");
    package.write("kernels/loses.co", LOSES);
    let seen = package.cargo(&["build"], &[]);
    assert!(seen.success, "{}", seen.stderr);
    let line = "kernels/loses.co:2:21: [W0620]";
    assert!(seen.stderr.contains(line), "{}", seen.stderr);
    let seen = package.cargo(&["build"], &[("CROQ_WARNINGS", "deny")]);
    assert!(!seen.success);
    for part in ["error[W0620]", "an error because of CROQ_WARNINGS=deny"] {
        assert!(seen.stderr.contains(part), "no {part} in\n{}", seen.stderr);
    }
    let seen = package.cargo(&["build"], &[("CROQ_WARNINGS", "fail")]);
    assert!(!seen.success);
    let part = "CROQ_WARNINGS=fail is no choice";
    assert!(seen.stderr.contains(part), "{}", seen.stderr);
    package.edit(
        "kernels/loses.co",
        "  parallel",
        "  // croq: allow(W0620) x is scratch\n  parallel",
    );
    let seen = package.cargo(&["build"], &[("CROQ_WARNINGS", "deny")]);
    assert!(seen.success, "{}", seen.stderr);
}

#[test]
fn the_build_script_sets_levels() {
    let package = Package::new("sets-levels");
    package.write("kernels/loses.co", LOSES);
    let with = |calls: &str| {
        let text =
            format!("fn main() {{ croq_build::Config::new(){calls}.compile(\"kernels/\"); }}\n");
        package.write("build.rs", &text);
    };
    with(".deny(\"correctness\")");
    let seen = package.cargo(&["build"], &[]);
    assert!(!seen.success);
    let part = "an error because of `Config::deny(\"correctness\")`";
    assert!(seen.stderr.contains(part), "{}", seen.stderr);
    let seen = package.cargo(&["build"], &[("CROQ_WARNINGS", "warn")]);
    assert!(
        seen.success && seen.stderr.contains("[W0620]"),
        "{}",
        seen.stderr
    );
    // The last one counts.
    with(".deny(\"all\").allow(\"W0620\")");
    let seen = package.cargo(&["build"], &[("CROQ_WARNINGS", "deny")]);
    assert!(
        seen.success && !seen.stderr.contains("W0620"),
        "{}",
        seen.stderr
    );
    with(".allow(\"corectness\")");
    let seen = package.cargo(&["build"], &[]);
    assert!(!seen.success);
    for part in [
        "there is no warning, note or group `corectness`",
        "from `Config::allow(\"corectness\")` in build.rs",
        "did you mean `correctness`?",
    ] {
        assert!(seen.stderr.contains(part), "no {part} in\n{}", seen.stderr);
    }
}

#[test]
fn a_comment_allows_what_the_compiler_warns_of() {
    let package = Package::new("allows-warned-cpp");
    package.write(
        "kernels/scale.co",
        &format!(
            "// croq: allow(W1112) filled in later\n__device__ float twice(float x) {{\n  int unused;\n  \
             return x + x;\n}}\n{SCALE}"
        ),
    );
    let seen = package.cargo(&["build"], &[("CROQ_WARNINGS", "deny")]);
    assert!(seen.success, "{}", seen.stderr);
    assert!(!seen.stderr.contains("W1112"), "{}", seen.stderr);
}
