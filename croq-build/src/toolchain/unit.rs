//! The input of a build.

use std::path::PathBuf;

use super::modules::ModulePath;

/// One `.co` file with all its emitted texts, which have
/// [`PLACEHOLDER`](super::symbol::PLACEHOLDER) for the symbol.
#[derive(Debug)]
pub struct Unit {
    /// The path in `#line` and in messages.
    pub path: String,
    pub source: String,
    /// The folder of the file.
    pub folder: PathBuf,
    pub module: ModulePath,
    pub device: String,
    pub header: String,
    pub wrappers: String,
    /// The shims that the wrappers call; placed beside the header's declarations.
    pub shims: String,
    /// The public functions that the wrappers define.
    pub functions: Vec<String>,
}
