//! The compiler frees its memory. This is a program of its own, because other tests' memory would
//! count.

use croq_build::pipeline::{FileNames, Options, compile_text};

/// Pages that the process has in memory, in MiB.
#[cfg(target_os = "linux")]
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    let kilobytes: usize = number.and_then(|n| n.parse().ok()).expect("VmRSS: N kB");
    kilobytes / 1024
}

#[cfg(target_os = "linux")]
#[test]
fn files_leave_nothing_behind() {
    let text =
        "__co__ void f(global s32 [8] y) { parallel i by 8 : thread y.at(i) = |y.span| + 1; }";
    let compile = || {
        let names = FileNames {
            path: "memory.co".into(),
            stem: "memory".into(),
            hash: "00000000".into(),
        };
        assert!(
            compile_text(&names, text, &Options::default())
                .outputs
                .is_some()
        );
    };
    (0..20).for_each(|_| compile());
    let before = resident();
    (0..300).for_each(|_| compile());
    let after = resident();
    // A grammar that owned itself leaked 150 KB each time.
    assert!(after < before + 8, "{before} MiB, then {after} MiB");
}
