use std::path::Path;

use croq_build::{Config, Cuda};

/// The files whose kernels `tests/conflicts.rs` calls. The others take minutes to compile.
const FILES: [&str; 15] = [
    "matmul/blocked.co",
    "matmul/epilogues.co",
    "matmul/pipelined.co",
    "matmul/tensor.co",
    "matmul/tma.co",
    "reduction/layer_norm.co",
    "reduction/rows.co",
    "reduction/softmax.co",
    "reduction/streamed.co",
    "scan/prefix_sum.co",
    "stencil/box_blur.co",
    "stencil/convolution.co",
    "tiles/batched_transpose.co",
    "tiles/tiled_add.co",
    "tiles/transpose.co",
];

fn main() {
    let all = Path::new("../../kernels/co");
    let out = std::env::var_os("OUT_DIR").expect("set by cargo");
    let folder = Path::new(&out).join("co");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a writable folder");
    println!("cargo::rerun-if-changed={}", all.display());
    for file in FILES {
        let name = Path::new(file).file_name().expect("a file");
        std::fs::copy(all.join(file), folder.join(name)).expect("a kernel file");
    }
    Config::new()
        .trace_shared_memory(true)
        .cuda(Cuda::Off)
        .compile(folder);
}
