//! `croq tune`, and a build that applies what it has chosen.

use std::process::Command;

use crate::ptx_machine::toolkit;
use croq_downstream::{Package, UNITS, target_folder, workspace};

/// Without padding the threads of a warp read one bank. `SHIFT` changes the result, and the largest
/// padding exceeds shared memory.
const TURNED: &str = "\
// croq: tune PAD in 0, 1, 2000
#define PAD 0
// croq: tune SHIFT in 0, 1
#define SHIFT 0

__co__ f32 [N, M] turned(f32 [M, N] x) {
  f32 [N, M] y;
  parallel {c, r} by [cdiv(N, 32), cdiv(M, 32)] : block {
    shared f32 [32, 32 + PAD] tile;
    parallel {j, i} by [32, 32] : thread
      if (r # i < M && c # j < N) tile.at(i, j) = x.at(r # i, c # j);
    parallel {j, i} by [32, 32] : thread
      if (c # i < N && r # j < M) y.at(c # i, r # j) = tile.at(j, i) + __to<f32>(SHIFT);
  }
  return y;
}
";

const RAISED: &str = "\
// croq: tune TILE in 64, 128
template <typename T, int TILE = 64>
__co__ void raised(global T [N] x, T value) {
  parallel b by cdiv(N, TILE) : block
    parallel t by TILE : thread
      if (b # t < N) { x.at(b # t) = x.at(b # t) + value; }
}
template __co__ raised<f32>;
template __co__ raised<s32>;
";

const MAIN: &str = "\
croq_sys::include_kernels!();
fn main() -> croq_sys::Result<()> {
    let x = croq_sys::Tensor::from_fn((2, 3), |[i, j]| (3 * i + j) as f32);
    println!(\"{:?}\", kernels::turned(&x)?.as_slice());
    Ok(())
}
";

fn package(name: &str) -> Package {
    let package = Package::new(name);
    std::fs::remove_file(package.path("kernels/scale.co")).expect("removed");
    package.write("kernels/turned.co", TURNED);
    package.write("kernels/raised.co", RAISED);
    package.write("src/main.rs", MAIN);
    let lock = package.path("Cargo.lock");
    std::fs::copy(workspace().join("Cargo.lock"), lock).expect("the workspace's versions");
    package
}

/// The target folder of this test.
/// Runs `croq tune` in the folder of a package.
fn tune(package: &Package, args: &[&str], variables: &[(&str, &str)]) -> (bool, String, String) {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--offline", "-p", "croq-build"]);
    // With the features of `make test`, which has built it.
    build.args(["--bin", "croq", "--features", "tracing"]);
    build.current_dir(workspace());
    build.env("CARGO_TARGET_DIR", target_folder());
    assert!(build.status().expect("cargo runs").success());
    let mut command = Command::new(target_folder().join("debug/croq"));
    command.arg("tune");
    command.args(args).current_dir(package.path(""));
    command.env("CARGO_TARGET_DIR", target_folder());
    command.env("CARGO_NET_OFFLINE", "true");
    command.env(UNITS.0, UNITS.1);
    command.env("CROQ_CUDA", "off");
    command
        .env_remove("CROQ_DEVICE")
        .env_remove("CROQ_MESSAGE_FORMAT");
    command.envs(variables.iter().copied());
    let output = command.output().expect("cargo runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.success(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// A generated text of the last build that has a part.
fn generated(package: &Package, part: &str) -> bool {
    let texts = package.out_dirs();
    let texts = texts
        .iter()
        .filter_map(|out| std::fs::read_to_string(out.join("turned.cc")).ok());
    texts.into_iter().any(|text| text.contains(part))
}

#[test]
fn the_best_values_are_chosen_and_applied() {
    let package = package("tuned-package");
    let args = ["--size", "M=64,N=96", "kernels"];
    let (success, stdout, stderr) = tune(&package, &args, &[]);
    assert!(success, "{stdout}{stderr}");
    for part in [
        "kernels/raised.co: 2 of 2 candidates",
        "no candidate is better than another; the first one is kept",
        "kernels/turned.co: 6 of 6 candidates",
        "by wavefronts of shared memory on the simulated GPU, a weak proxy and not a time",
        "wavefronts, chosen\n",
        "WRONG: `turned`[0] is ",
    ] {
        assert!(stdout.contains(part), "no {part:?} in\n{stdout}{stderr}");
    }
    // Three pairs with another result or too much memory, and the two right ones with the conflicts last.
    assert_eq!(stdout.matches("WRONG").count(), 2, "{stdout}");
    assert_eq!(stdout.matches("2000  ").count(), 2, "{stdout}");
    assert_eq!(stdout.matches("  E0").count(), 2, "{stdout}");
    let values = std::fs::read_to_string(package.path("croq-tuned.txt")).expect("a file of values");
    assert!(
        values.contains("kernels/raised.co ") && values.contains(": TILE = 64\n"),
        "{values}"
    );
    assert!(values.contains(": PAD = 1, SHIFT = 0\n"), "{values}");

    // Without `Config::tuned` the file's own values are in the build.
    let expected = "[0.0, 3.0, 1.0, 4.0, 2.0, 5.0]\n";
    assert_eq!(package.run(&[]).stdout, expected);
    assert!(!generated(&package, "[1056]") && !generated(&package, "33"));
    let build = "fn main() { croq_build::Config::new().tuned(\"croq-tuned.txt\").compile(\"kernels/\"); }\n";
    package.write("build.rs", build);
    let seen = package.run(&[]);
    assert_eq!(seen.stdout, expected);
    assert!(!seen.stderr.contains("W111"), "{}", seen.stderr);
    assert!(generated(&package, "33"));
    // The file is declared to cargo.
    assert!(
        package.directives().contains("croq-tuned.txt"),
        "{}",
        package.directives()
    );
    package.write("croq-tuned.txt", &values.replace("PAD = 1", "PAD = 0"));
    package.run(&[]);
    assert!(!generated(&package, "33"));

    // Another text, a value of nothing, and a file that is no file of values.
    package.write("croq-tuned.txt", &values);
    package.edit("kernels/turned.co", "f32 [N, M] y;", "f32  [N, M] y;");
    package.edit("kernels/raised.co", "// croq: tune", "// not tuned:");
    let seen = package.cargo(&["build"], &[]);
    assert!(seen.success, "{}", seen.stderr);
    for part in [
        "the values for kernels/turned.co (PAD = 1, SHIFT = 0) were chosen for another text of it",
        "kernels/raised.co: no `tune` comment of the file is about `TILE`",
    ] {
        assert!(
            seen.stderr.contains(part),
            "no {part:?} in\n{}",
            seen.stderr
        );
    }
    let denied = package.cargo(&["build"], &[("CROQ_WARNINGS", "deny")]);
    assert!(
        !denied.success && denied.stderr.contains("error[W111"),
        "{}",
        denied.stderr
    );
    package.write("croq-tuned.txt", "nonsense\n");
    let seen = package.cargo(&["build"], &[]);
    assert!(
        !seen.success && seen.stderr.contains("error[E1118]"),
        "{}",
        seen.stderr
    );
}

/// On a machine with nvcc: the PTX machine counts what the candidates execute.
#[test]
fn the_ptx_machine_ranks_candidates() {
    let Some(toolkit) = toolkit() else { return };
    let package = package("tuned-on-ptx-machine");
    let variables = [
        ("CUDA_HOME", toolkit),
        ("CROQ_CUDA", "required"),
        ("CROQ_DEVICE", "cuda"),
        ("CROQ_PTX_RUNTIME", ""),
    ];
    let args = [
        "--json",
        "--arch=sm_90a",
        "--size",
        "M=64,N=96",
        "kernels/turned.co",
    ];
    let (success, stdout, stderr) = tune(&package, &args, &variables);
    assert!(success, "{stdout}{stderr}");
    for part in [
        "\"basis\":\"by counts of the PTX machine, a proxy and not a time:",
        "\"is_time\":false",
        "\"chosen\":{\"PAD\":1,\"SHIFT\":0}",
        "\"status\":\"wrong\"",
        "\"status\":\"rejected\",\"code\":\"E0",
        ",\"instructions\":",
    ] {
        assert!(stdout.contains(part), "no {part} in\n{stdout}{stderr}");
    }
}
