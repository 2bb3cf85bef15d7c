//! What a run of the command gives.

/// The output and exit status of the process.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub stdout: String,
    pub stderr: String,
    pub status: u8,
}

pub(super) const CLEAN: u8 = 0;
pub(super) const DIAGNOSTICS: u8 = 1;
pub(super) const BAD_USAGE: u8 = 2;
/// Of the process, where standard output or standard error can't be written.
pub const CANNOT_WRITE: u8 = 3;
