//! Packages under gdb: it stops on lines of `.co` files, and knows the variables of kernels.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use croq_downstream::{Package, manifest};

const ROWS: &str = "\
__co__ f32 [M] row_energy(f32 [M, N] x, f32 weight) {
  f32 [M] y;
  parallel row by M : block {
    shared f32 [32] part;
    parallel lane by 32 : thread {
      mutable sum = 0.0f;
      foreach step in cdiv(N, 32) {
        if (step * 32 + lane < N) {
          value = x.at(row, step * 32 + lane);
          sum = sum + value * value;
        }
      }
      part.at(lane) = sum * weight;
    }
    parallel lane by 32 : thread {
      if (lane == 0) {
        mutable total = 0.0f;
        foreach i in 32 { total = total + part.at(i); }
        y.at(row) = total;
      }
    }
  }
  return y;
}
";

const MAIN: &str = "\
croq_sys::include_kernels!();

#[inline(never)]
fn weighted(weight: f32) -> f32 {
    let x = croq_sys::Tensor::from_fn((2, 40), |[i, j]| (i * 40 + j) as f32);
    kernels::row_energy(&x, weight).unwrap()[[1]]
}

#[inline(never)]
fn refuse(sum: f32) {
    panic!(\"the sum is {sum}\");
}

fn main() {
    let sum = weighted(0.5);
    let graph = croq_sys::Graph::capture(&croq_sys::Device::sim(), |_| {
        if std::env::args().count() > 1 {
            refuse(sum);
        }
        Ok(())
    });
    assert!(graph.is_ok());
}
";

/// A package with debug information of its own alone: its dependences are those of other tests.
fn package(name: &str) -> Package {
    let package = Package::new(name);
    let debug = format!("\n[profile.dev.package.{name}]\ndebug = true\n");
    package.write("Cargo.toml", &manifest(name, &debug));
    std::fs::remove_file(package.path("kernels/scale.co")).expect("a file");
    package.write("kernels/rows.co", ROWS);
    package.write("src/main.rs", MAIN);
    let seen = package.cargo(&["build"], &[]);
    assert!(seen.success, "{}", seen.stderr);
    package
}

/// The program; one thread executes everything.
fn program(name: &str) -> Command {
    let exe = std::env::current_exe().expect("a path");
    let debug = exe.ancestors().nth(2).map(PathBuf::from);
    let mut command = Command::new(debug.expect("the folder of the profile").join(name));
    command
        .env("CROQ_SIM_THREADS", "1")
        .env_remove("RUST_BACKTRACE");
    command
}

/// Whether a debugger runs here; `make debug-test` requires gdb.
fn has(debugger: &str) -> bool {
    let version = Command::new(debugger).arg("--version").output();
    let is_there = version.is_ok_and(|output| output.status.success());
    if !is_there {
        let variable = format!("CROQ_TEST_{}", debugger.to_uppercase());
        let required = std::env::var_os(variable).is_some_and(|value| value == "required");
        assert!(
            !required,
            "there is no {debugger}: apt-get install {debugger}"
        );
        // Not by `eprintln!`, whose output `cargo test` captures.
        let _ = writeln!(std::io::stderr(), "skipped: there is no {debugger}");
    }
    is_there
}

fn gdb(name: &str, commands: &[&str]) -> String {
    let program = program(name);
    let mut gdb = Command::new("gdb");
    gdb.args(["-nx", "-batch"]);
    gdb.args([
        "-ex",
        "set auto-load no",
        "-ex",
        "set breakpoint pending off",
    ]);
    for command in commands {
        gdb.args(["-ex", command]);
    }
    gdb.arg(program.get_program()).env("CROQ_SIM_THREADS", "1");
    // Other tests change it.
    gdb.env_remove("CROQ_DEVICE").env("LC_ALL", "C");
    let output = gdb.output().expect("gdb runs");
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    text
}

/// The backtrace behind `start` has these frames, in this order.
fn assert_frames(text: &str, start: &str, frames: &[&str]) {
    let backtrace = text.split_once(start).expect("a backtrace").1;
    let at: Vec<_> = frames.iter().map(|frame| backtrace.find(frame)).collect();
    assert!(
        at.is_sorted() && at.iter().all(Option::is_some),
        "{at:?} in\n{text}"
    );
}

#[track_caller]
fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn gdb_stops_in_a_kernel_and_shows_its_variables() {
    if !has("gdb") {
        return;
    }
    package("under-gdb");
    let text = gdb(
        "under-gdb",
        &[
            "break kernels/rows.co:10 if row == 1 && lane == 3 && step == 1",
            "run",
            "info locals",
            "print weight * 2",
            "print x.first[row * N + 3]",
            "list 10,10",
            "bt",
            "next",
            "print sum",
            "break kernels/rows.co:19",
            "delete 1",
            "continue",
            "print total",
            "print part.first[3]",
        ],
    );
    assert_has(
        &text,
        &[
            // In row 1 the elements are 40, 41 and so on; lane 3 has those at 3 and 35.
            "row_energy_0 (x=..., y=..., weight=0.5, N=40) at kernels/rows.co:10",
            "value = 75\n",
            "step = 1\n",
            "sum = 1849\n",
            "lane = 3\n",
            "row = 1\n",
            "$1 = 1\n",
            "$2 = 43\n",
            "10\t          sum = sum + value * value;",
            // The threads of a block with barriers have stacks of their own; the callers follow.
            "under_gdb::weighted (weight=0.5) at src/main.rs:6",
            "under_gdb::main () at src/main.rs:",
            "$3 = 7474\n",
            "$4 = 73470\n",
            "$5 = 3737\n",
        ],
    );
    let frames = [
        "row_energy_0",
        "croq_sys::sim",
        "under_gdb::weighted",
        "under_gdb::main ()",
    ];
    assert_frames(&text, "#0 ", &frames);
}

#[test]
fn lldb_stops_in_a_kernel_and_shows_its_variables() {
    if !has("lldb") {
        return;
    }
    package("under-lldb");
    let program = program("under-lldb");
    let mut lldb = Command::new("lldb");
    lldb.args(["-x", "-b"]);
    for command in [
        "breakpoint set -f rows.co -l 10",
        "run",
        "frame variable",
        "p x.first[N + 3]",
        "bt",
    ] {
        lldb.args(["-o", command]);
    }
    lldb.arg(program.get_program()).env("CROQ_SIM_THREADS", "1");
    lldb.env_remove("CROQ_DEVICE").env("LC_ALL", "C");
    let output = lldb.output().expect("lldb runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_has(
        &text,
        &[
            "rows.co:10",
            "lane = 0\n",
            "sum = 0\n",
            "weight = 0.5\n",
            "$0 = 43\n",
            "main.rs:6",
            "under_lldb::main",
        ],
    );
}

#[test]
fn a_panic_beside_kernels_has_the_whole_backtrace() {
    package("panics");
    let mut command = program("panics");
    let output = command.arg("panic").env("RUST_BACKTRACE", "1").output();
    let output = output.expect("the program runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(101), "{text}");
    assert_has(&text, &["the sum is 73470", "src/main.rs:11"]);
    let frames = [
        "panics::refuse",
        "panics::main::{{closure}}",
        "Graph<T>::capture",
        "panics::main\n",
    ];
    assert_frames(&text, "stack backtrace:", &frames);
}
