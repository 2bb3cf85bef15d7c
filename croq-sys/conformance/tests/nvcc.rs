//! The same texts through nvcc, where there is one: both architecture classes, warnings as errors.

use std::path::{Path, PathBuf};
use std::process::Command;

/// `NVCC`, or the one that `make` puts into the repository, or the one on the path.
fn nvcc() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let own = ".croq/venv/lib/python3.11/site-packages/nvidia/cu13/bin/nvcc";
    let named = std::env::var_os("NVCC").map(PathBuf::from);
    [named, Some(root.join(own)), Some(PathBuf::from("nvcc"))]
        .into_iter()
        .flatten()
        .find(|nvcc| Command::new(nvcc).arg("--version").output().is_ok())
}

fn compile(nvcc: &Path, source: &str, arch: &str) -> String {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("conformance.{arch}.o"));
    let output = Command::new(nvcc)
        .current_dir(here)
        .args([
            "-x",
            "cu",
            "-std=c++17",
            "-O3",
            "-DCROQ_CUDA=1",
            "-Werror",
            "all-warnings",
        ])
        .args([
            "-DCROQ_CUDA_TABLE=croq_cuda_table",
            "-Xptxas=-v",
            "-Xcompiler=-Wall,-Wextra",
        ])
        .arg(format!("-gencode=arch=compute_{arch},code=sm_{arch}"))
        .args(["-I", "../../croq-build/device", "-c", source, "-o"])
        .arg(&object)
        .output()
        .expect("nvcc starts");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{source} for sm_{arch}:\n{text}");
    text
}

#[test]
fn device_text_compiles_for_gpus() {
    let Some(nvcc) = nvcc() else {
        eprintln!("skipped: no nvcc");
        return;
    };
    let runtime = "../../croq-build/device/cuda/runtime.cu";
    for arch in ["80", "90a"] {
        for source in ["cpp/everything.cc", runtime] {
            let report = compile(&nvcc, source, arch);
            for line in report.lines().filter(|line| line.contains("spill")) {
                assert!(
                    line.contains("0 bytes spill stores, 0 bytes spill loads"),
                    "{line}"
                );
            }
        }
    }
}

/// The machine code of one file, as `cuobjdump` beside nvcc shows it.
fn machine_code(nvcc: &Path, source: &str, arch: &str) -> Option<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let name = Path::new(source).file_stem()?.to_string_lossy();
    let cubin = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.{arch}.cubin"));
    let output = Command::new(nvcc)
        .current_dir(here)
        .args(["-x", "cu", "-std=c++17", "-O3", "-DCROQ_CUDA=1", "-cubin"])
        .arg(format!("-arch=sm_{arch}"))
        .args(["-I", "../../croq-build/device", source, "-o"])
        .arg(&cubin)
        .output()
        .expect("nvcc starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{source} for sm_{arch}:\n{text}");
    let output = Command::new(nvcc.with_file_name("cuobjdump"))
        .arg("-sass")
        .arg(&cubin)
        .output()
        .ok()?;
    let found = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then_some(found)
}

#[test]
fn copies_are_the_instructions_they_are_for() {
    let Some(nvcc) = nvcc() else {
        eprintln!("skipped: no nvcc");
        return;
    };
    let Some(code) = machine_code(&nvcc, "cpp/copies.cc", "80") else {
        eprintln!("skipped: no cuobjdump");
        return;
    };
    for instruction in [
        "LDGSTS.E.BYPASS.128",
        "LDGSTS.E.64",
        "LDGSTS.E ",
        "LDGDEPBAR",
        "DEPBAR.LE SB0, 0x3",
        "LDG.E.128.CONSTANT",
        "LDG.E.64.CONSTANT",
        "STG.E.128",
        "STG.E.64",
        "LDS.128",
        "STS.128",
    ] {
        assert!(code.contains(instruction), "{instruction}");
    }
    // A thread's own memory stays in registers.
    assert!(!code.contains("LDL") && !code.contains("STL"));
}
