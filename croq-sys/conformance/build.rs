//! Compiles the test kernels like device code of croq: for the simulated GPU, and with nvcc, if
//! there is one, for a GPU.

use std::path::{Path, PathBuf};
use std::process::Command;

use croq_build::toolchain::environment::Environment;
use croq_build::toolchain::nvcc::{self, Toolkit};

const DEVICE: &str = "../../croq-build/device";

fn main() {
    println!("cargo::rerun-if-changed={DEVICE}");
    println!("cargo::rerun-if-changed=cpp");
    println!("cargo::rustc-check-cfg=cfg(with_cuda)");
    println!("cargo::rerun-if-env-changed=DOCS_RS");
    if std::env::var_os("DOCS_RS").is_some() {
        // Lints and documentation read the code; nothing is linked.
        println!("cargo::rustc-cfg=with_cuda");
        return;
    }
    for_sim();

    let environment = Environment::of_process();
    let wanted = environment.text("CROQ_CUDA").unwrap_or_default();
    let archs = environment.text("CROQ_CUDA_ARCH");
    let archs = archs.as_deref().unwrap_or("sm_80,sm_90a");
    let search = nvcc::search(&environment, None);
    for name in environment.asked() {
        println!("cargo::rerun-if-env-changed={name}");
    }
    match search.toolkit {
        _ if wanted == "off" => {}
        Some(toolkit) => for_cuda(&toolkit, archs),
        None => assert_ne!(
            wanted, "required",
            "CROQ_CUDA=required, and there is no nvcc"
        ),
    }
}

fn for_sim() {
    let rest = [
        "conversions",
        "math",
        "layout",
        "everything",
        "wgmma_misuse",
        "loops",
    ];
    // The file has 1300 instantiations of MMAs: compiling with optimisation takes longer than
    // running without.
    for_sim_with("g", &["wgmma"], "croq_conformance_products");
    let level = if optimised() { "2" } else { "g" };
    for_sim_with(level, &rest, "croq_conformance");
}

/// Whether the profile optimises; tests do not, as in `croq_build`, and benchmarks do.
fn optimised() -> bool {
    std::env::var_os("PROFILE").is_some_and(|profile| profile == "release")
}

fn for_sim_with(level: &str, texts: &[&str], archive: &str) {
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++17")
        .opt_level_str(level)
        .debug(false)
        .include(DEVICE)
        .define("CROQ_SIM", "1")
        .extra_warnings(true)
        .flag("-ffp-contract=off")
        .flag("-fwrapv")
        .warnings_into_errors(true);
    for text in texts {
        build.file(format!("cpp/{text}.cc"));
    }
    build.compile(archive);
}

/// Warnings are errors. The output of ptxas for each kernel is kept for a test.
fn for_cuda(toolkit: &Toolkit, archs: &str) {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let report = out.join("ptxas.txt");
    let runtime = format!("{DEVICE}/cuda/runtime.cu");
    let sources = ["cpp/wgmma.cc", "cpp/everything.cc", &runtime];
    let objects = sources.map(|source| {
        let stem = Path::new(source).file_stem().expect("a file");
        out.join(stem).with_extension("cuda.o")
    });
    // The first two take equally long.
    let said: String = std::thread::scope(|scope| {
        let all = sources.iter().zip(&objects);
        let running: Vec<_> = all
            .map(|(source, object)| scope.spawn(move || compile(toolkit, archs, source, object)))
            .collect();
        let said = running.into_iter().map(|one| one.join().expect("compiles"));
        said.collect()
    });
    std::fs::write(&report, said).expect("OUT_DIR can be written");
    let mut archive = cc::Build::new();
    archive.objects(&objects).compile("croq_conformance_cuda");
    println!(
        "cargo::rustc-link-search=native={}",
        toolkit.libraries.display()
    );
    println!("cargo::rustc-link-lib=static=cudart_static");
    println!("cargo::rustc-link-lib=stdc++");
    println!("cargo::rustc-cfg=with_cuda");
    println!("cargo::rustc-env=CROQ_PTXAS_REPORT={}", report.display());
    println!("cargo::rustc-env=CROQ_NVCC={}", toolkit.nvcc.display());
    if let Some(products) = objects.first().filter(|_| archs.contains("90a")) {
        println!("cargo::rustc-env=CROQ_CUDA_PRODUCTS={}", products.display());
    }
    println!("cargo::rerun-if-changed={}", toolkit.nvcc.display());
}

fn compile(toolkit: &Toolkit, archs: &str, source: &str, object: &Path) -> String {
    let mut nvcc = Command::new(&toolkit.nvcc);
    // The level is the host part's, which launches; device code is always optimised in full.
    let level = if optimised() { "-O1" } else { "-O0" };
    nvcc.args(["-x", "cu", "-std=c++17", level, "-lineinfo", "--threads=2"])
        .args(["-DCROQ_CUDA=1", "-DCROQ_CUDA_TABLE=conf_cuda_table"])
        .args(["-Werror", "all-warnings", "-Xptxas=-v"])
        .args(["-Xcompiler=-fPIC,-Wall,-Wextra", "-I", DEVICE]);
    let archs = archs
        .split(',')
        .map(|arch| arch.trim().trim_start_matches("sm_"));
    // On a GPU without WGMMA these kernels are empty, but compile for half a minute.
    let with_products = archs.clone().any(|arch| arch == "90a");
    for arch in archs.filter(|&arch| arch == "90a" || !with_products || !source.contains("wgmma")) {
        nvcc.arg(format!("-gencode=arch=compute_{arch},code=sm_{arch}"));
    }
    let output = nvcc.args(["-c", source, "-o"]).arg(object).output();
    let output = output.expect("nvcc starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{source}:\n{said}");
    said
}
