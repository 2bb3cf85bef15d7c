//! The environment variables that change the result of compiling the same text with the same flags.

use super::environment::Environment;

/// The variables of gcc, clang and nvcc. `CXX`, `CXXFLAGS` and their forms for a target are in
/// [`super::host_compiler`], those of bindgen in [`super::bindings`].
const NAMES: [&str; 17] = [
    "NVCC_CCBIN",
    "NVCC_PREPEND_FLAGS",
    "NVCC_APPEND_FLAGS",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "C_INCLUDE_PATH",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "CCC_OVERRIDE_OPTIONS",
    "CRATE_CC_NO_DEFAULTS",
    "CC_ENABLE_DEBUG_OUTPUT",
    "SDKROOT",
    "MACOSX_DEPLOYMENT_TARGET",
    "SOURCE_DATE_EPOCH",
    "ICPPCFLAGS",
    "GCC_COMPARE_DEBUG",
    "CICC_PATH",
];

/// Lists of folders in which compilers search for headers, in order.
const INCLUDE_PATHS: [&str; 3] = ["CPATH", "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH"];

/// All variables with their values, for a key.
pub fn of_compilers(env: &Environment) -> String {
    NAMES
        .iter()
        .map(|name| format!("{name}={}\n", env.text(name).unwrap_or_default()))
        .collect()
}

/// The folders of headers that the environment adds.
pub fn include_folders(env: &Environment) -> Vec<std::path::PathBuf> {
    INCLUDE_PATHS
        .iter()
        .filter_map(|name| env.get(name))
        .flat_map(|list| std::env::split_paths(&list).collect::<Vec<_>>())
        .collect()
}
