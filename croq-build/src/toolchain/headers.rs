//! The device headers, embedded in croq-build so that a user's build needs no files of croq's.

macro_rules! headers {
    ($($path:literal),* $(,)?) => {
        /// The path below `include/`, and the text.
        pub const HEADERS: &[(&str, &str)] =
            &[$(($path, include_str!(concat!("../../device/", $path)))),*];
    };
}

headers![
    "croq.h",
    "croq_abi.h",
    "croq_exact.h",
    "croq_half.h",
    "croq_loops_counted.h",
    "croq_loops_plain.h",
    "croq_math.h",
    "croq_swizzle.h",
    "croq_tensor_map.h",
    "croq_types.h",
    "croq_user.h",
    "croq_wgmma.h",
    "cuda/atomics.h",
    "cuda/clusters.h",
    "cuda/copies.h",
    "cuda/grid.h",
    "cuda/handles.h",
    "cuda/host.h",
    "cuda/loops.h",
    "cuda/matrices.h",
    "cuda/mbarriers.h",
    "cuda/mma.h",
    "cuda/narrow.h",
    "cuda/print.h",
    "cuda/thread.h",
    "cuda/tma.h",
    "cuda/wgmma.h",
    "cuda/wgmma_n.h",
    "cuda/wgmma_registers.h",
    "cuda/wgmma_sp_n.h",
    "foreign/choreo.h",
    "foreign/cooperative_groups.h",
    "foreign/cooperative_groups/reduce.h",
    "foreign/croqtile.h",
    "foreign/cuda_bf16.h",
    "foreign/cuda_fp16.h",
    "foreign/cuda_fp8.h",
    "foreign_sim/assert.h",
    "foreign_sim/cuda.h",
    "foreign_sim/cuda_runtime.h",
    "foreign_sim/cuda_runtime_api.h",
    "foreign_sim/device_functions.h",
    "foreign_sim/device_launch_parameters.h",
    "foreign_sim/math_constants.h",
    "foreign_sim/math_functions.h",
    "foreign_sim/vector_functions.h",
    "foreign_sim/vector_types.h",
    "sim/atomics.h",
    "sim/clusters.h",
    "sim/copies.h",
    "sim/assembly.h",
    "sim/cuda_atomics.h",
    "sim/cuda_lanes.h",
    "sim/cuda_names.h",
    "sim/cuda_numbers.h",
    "sim/cuda_vectors.h",
    "sim/grid.h",
    "sim/handles.h",
    "sim/host.h",
    "sim/loops.h",
    "sim/matrices.h",
    "sim/mbarriers.h",
    "sim/mma.h",
    "sim/print.h",
    "sim/sparse.h",
    "sim/thread.h",
    "sim/tma.h",
    "sim/order.h",
    "sim/unwritten.h",
    "sim/contended.h",
    "sim/watched.h",
    "sim/wgmma.h",
];

/// The text that passes the CUDA runtime to croq-sys; compiled once for each package that is built
/// for CUDA.
pub const CUDA_RUNTIME: &str = include_str!("../../device/cuda/runtime.cu");

/// The value of `CROQ_ABI_VERSION` in the header; part of every symbol name.
pub fn abi_version() -> &'static str {
    HEADERS
        .iter()
        .find(|(name, _)| *name == "croq_abi.h")
        .and_then(|(_, text)| text.split_once("#define CROQ_ABI_VERSION "))
        .map_or("", |(_, rest)| rest.split_whitespace().next().unwrap_or(""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_abi_version_is_read_from_the_header() {
        assert!(abi_version().parse::<u32>().is_ok(), "{:?}", abi_version());
    }

    /// A header that is not in the table would be missing from every user's build.
    #[test]
    fn every_device_header_is_in_the_table() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("device");
        let mut folders = vec![root.clone()];
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).expect("device/").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == "h") {
                    let name = path.strip_prefix(&root).expect("below device/");
                    found.push(name.to_string_lossy().into_owned());
                }
            }
        }
        found.sort();
        let mut listed: Vec<&str> = HEADERS.iter().map(|(name, _)| *name).collect();
        listed.sort_unstable();
        assert_eq!(listed, found);
    }
}
