//! What the `croq` program does when its output can't be written: a script must not take an empty or cut file
//! for generated code.
#![cfg(target_os = "linux")]

use std::fs::OpenOptions;
use std::process::{Command, Output, Stdio};

fn croq(args: &[&str], stdout: Stdio) -> Output {
    Command::new(env!("CARGO_BIN_EXE_croq"))
        .args(args)
        .stdout(stdout)
        .output()
        .expect("croq runs")
}

/// A device that is always full.
fn full() -> Stdio {
    let file = OpenOptions::new().write(true).open("/dev/full");
    file.expect("Linux has it").into()
}

#[test]
fn a_full_disk_is_an_error() {
    let out = croq(&["help"], full());
    assert_eq!(out.status.code(), Some(3));
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(text.contains("cannot write the output"), "{text}");
}

#[test]
fn a_closed_pipe_is_none() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let out = croq(&["help"], writer.into());
    assert_eq!(out.status.code(), Some(0));
    assert!(out.stderr.is_empty());
}
