//! Properties of the code that nvcc generates: no kernel keeps registers in memory, and copies are
//! the expected instructions.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

/// Skips a test that needs a missing tool; `make test` requires all tools, unless CUDA is off.
fn skipped(reason: &str) {
    assert!(
        std::env::var_os("CROQ_TEST_NVCC").is_none_or(|value| value != "required"),
        "{reason}"
    );
    // Not `eprintln!`, whose output `cargo test` captures.
    let _ = writeln!(std::io::stderr(), "skipped: {reason}");
}

#[test]
fn no_kernel_spills() {
    let Some(path) = option_env!("CROQ_PTXAS_REPORT") else {
        skipped("built without nvcc");
        return;
    };
    let report = std::fs::read_to_string(path).expect("the build script wrote it");
    let mut kernels = 0;
    for line in report.lines().filter(|line| line.contains("spill")) {
        kernels += 1;
        assert!(
            line.contains("0 bytes spill stores, 0 bytes spill loads"),
            "{line}"
        );
    }
    assert!(kernels > 100, "ptxas tells of {kernels} kernels");
}

/// ptxas reports nothing about a WGMMA kernel except its number of registers.
#[test]
fn no_product_waits_for_another() {
    let Some(path) = option_env!("CROQ_PTXAS_REPORT") else {
        skipped("built without nvcc");
        return;
    };
    let report = std::fs::read_to_string(path).expect("the build script wrote it");
    assert!(report.contains("warpgroup_0"));
    // Kernels' names contain the name of the file.
    let warnings = report.replace("wgmma_cc", "");
    let warnings: Vec<&str> = warnings
        .lines()
        .filter(|line| line.contains("wgmma"))
        .collect();
    assert!(warnings.is_empty(), "{warnings:?}");
}

/// The machine code of one file, by the `cuobjdump` next to nvcc.
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
    shown(nvcc, &cubin, arch)
}

fn shown(nvcc: &Path, object: &Path, arch: &str) -> Option<String> {
    let output = Command::new(nvcc.with_file_name("cuobjdump"))
        .arg("-sass")
        .arg(format!("-arch=sm_{arch}"))
        .arg(object)
        .output()
        .ok()?;
    let found = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then_some(found)
}

#[test]
fn mbarriers_are_the_instructions_they_are_for() {
    let Some(nvcc) = option_env!("CROQ_NVCC").map(Path::new) else {
        skipped("built without nvcc");
        return;
    };
    for (arch, instructions) in [
        ("80", &["ATOMS.ARRIVE.64"][..]),
        (
            "90a",
            &[
                "SYNCS.EXCH.64",
                "SYNCS.ARRIVE.TRANS64.A1T0",
                "SYNCS.PHASECHK.TRANS64.TRYWAIT",
                "FENCE.VIEW.ASYNC",
            ],
        ),
    ] {
        let Some(code) = machine_code(nvcc, "cpp/mbarriers.cc", arch) else {
            skipped("no cuobjdump");
            return;
        };
        for instruction in instructions {
            assert!(code.contains(instruction), "{instruction} for sm_{arch}");
        }
    }
}

#[test]
fn copies_are_the_instructions_they_are_for() {
    let Some(nvcc) = option_env!("CROQ_NVCC").map(Path::new) else {
        skipped("built without nvcc");
        return;
    };
    let Some(code) = machine_code(nvcc, "cpp/copies.cc", "80") else {
        skipped("no cuobjdump");
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

#[test]
fn boxes_are_the_instructions_they_are_for() {
    let Some(nvcc) = option_env!("CROQ_NVCC").map(Path::new) else {
        skipped("built without nvcc");
        return;
    };
    let Some(code) = machine_code(nvcc, "cpp/tma.cc", "90a") else {
        skipped("no cuobjdump");
        return;
    };
    for rank in 1..=5 {
        assert!(code.contains(&format!("UTMALDG.{rank}D")), "load, {rank}");
        assert!(code.contains(&format!("UTMASTG.{rank}D")), "store, {rank}");
    }
    assert!(code.contains("UTMACMDFLUSH") && code.contains("FENCE.VIEW.ASYNC"));
}

#[test]
fn clusters_are_the_instructions_they_are_for() {
    let Some(nvcc) = option_env!("CROQ_NVCC").map(Path::new) else {
        skipped("built without nvcc");
        return;
    };
    let Some(code) = machine_code(nvcc, "cpp/clusters.cc", "90a") else {
        skipped("no cuobjdump");
        return;
    };
    for rank in 1..=5 {
        let load = format!("UTMALDG.{rank}D.MULTICAST");
        assert!(code.contains(&load), "{load}");
    }
    for instruction in ["UCGABAR_ARV", "UCGABAR_WAIT"] {
        assert!(code.contains(instruction), "{instruction}");
    }
}

#[test]
fn matrices_are_the_instructions_they_are_for() {
    let Some(nvcc) = option_env!("CROQ_NVCC").map(Path::new) else {
        skipped("built without nvcc");
        return;
    };
    let Some(code) = machine_code(nvcc, "cpp/matrices.cc", "90a") else {
        skipped("no cuobjdump");
        return;
    };
    for form in ["M88 ", "M88.2", "M88.4", "MT88 ", "MT88.2", "MT88.4"] {
        for instruction in [format!("LDSM.16.{form}"), format!("STSM.16.{form}")] {
            assert!(code.contains(&instruction), "{instruction}");
        }
    }
}

#[test]
fn products_are_the_instructions_they_are_for() {
    let Some(nvcc) = option_env!("CROQ_NVCC").map(Path::new) else {
        skipped("built without nvcc");
        return;
    };
    let Some(code) = machine_code(nvcc, "cpp/mma.cc", "90a") else {
        skipped("no cuobjdump");
        return;
    };
    let mut expected: Vec<String> = [
        "HMMA.1688.F16 ",
        "HMMA.1688.F32 ",
        "HMMA.16816.F16 ",
        "HMMA.16816.F32 ",
        "HMMA.1688.F32.BF16 ",
        "HMMA.16816.F32.BF16 ",
        "HMMA.1684.F32.TF32 ",
        "HMMA.1688.F32.TF32 ",
        "DMMA.8x8x4 ",
        "DMMA.16x8x4 ",
        "DMMA.16x8x8 ",
        "DMMA.16x8x16 ",
    ]
    .map(str::to_owned)
    .to_vec();
    for types in ["S8.S8", "S8.U8", "U8.S8", "U8.U8"] {
        expected.extend(["8816", "16816", "16832"].map(|shape| format!("IMMA.{shape}.{types} ")));
    }
    for instruction in expected {
        assert!(code.contains(&instruction), "{instruction}");
    }
}

#[test]
fn products_of_warpgroups_are_the_instructions_they_are_for() {
    let Some(nvcc) = option_env!("CROQ_NVCC").map(Path::new) else {
        skipped("built without nvcc");
        return;
    };
    // The object of the build, because compiling it takes long.
    let Some(object) = option_env!("CROQ_CUDA_PRODUCTS") else {
        skipped("built without sm_90a");
        return;
    };
    let Some(code) = shown(nvcc, Path::new(object), "90a") else {
        skipped("no cuobjdump");
        return;
    };
    let mut expected = vec!["WARPGROUP.ARRIVE".to_owned(), "WARPGROUP.DEPBAR".to_owned()];
    for n in (8..=256).step_by(8) {
        expected.push(format!("HGMMA.64x{n}x16.F32 "));
        expected.push(format!("HGMMA.64x{n}x16.F16 "));
        expected.push(format!("HGMMA.64x{n}x16.F32.BF16 "));
        expected.push(format!("HGMMA.64x{n}x8.F32.TF32 "));
        for types in ["E4M3.E4M3", "E4M3.E5M2", "E5M2.E4M3", "E5M2.E5M2"] {
            expected.push(format!("QGMMA.64x{n}x32.F16.{types} "));
            expected.push(format!("QGMMA.64x{n}x32.F32.{types} "));
        }
        if n <= 32 || n % 16 == 0 {
            for types in ["S8.S8", "S8.U8", "U8.S8", "U8.U8"] {
                expected.push(format!("IGMMA.64x{n}x32.{types} "));
            }
        }
    }
    for instruction in expected {
        assert!(code.contains(&instruction), "{instruction}");
    }
    assert!(!code.contains("LDL") && !code.contains("STL"));
}
