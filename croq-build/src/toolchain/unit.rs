//! What is built.

use std::path::PathBuf;

use super::modules::ModulePath;

/// One `.co` file with all that was emitted for it, with [`PLACEHOLDER`](super::symbol::PLACEHOLDER) for its symbol.
#[derive(Debug)]
pub struct Unit {
    /// As `#line` and messages name it.
    pub path: String,
    pub source: String,
    /// The folder that holds the file.
    pub folder: PathBuf,
    pub module: ModulePath,
    pub device: String,
    pub header: String,
    pub wrappers: String,
    /// What the wrappers rest on; stands beside the header's declarations.
    pub shims: String,
    /// The public functions that the wrappers define.
    pub functions: Vec<String>,
}
