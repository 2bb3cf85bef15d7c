//! The replacement for a GPU in a build without nvcc: there is none.

use std::convert::Infallible;

use crate::twins::Outcome;

/// Cannot be constructed.
pub struct Gpu(Infallible);

impl Gpu {
    /// # Errors
    ///
    /// Always.
    pub fn open() -> Result<Self, String> {
        Err("built without nvcc".to_owned())
    }

    pub fn name(&self) -> &str {
        match self.0 {}
    }

    /// # Errors
    ///
    /// None: there is no such machine.
    pub fn run(&self, _: &str, _: &[Vec<u8>], _: &[i64]) -> Result<Outcome, String> {
        match self.0 {}
    }

    /// # Errors
    ///
    /// None: there is no such machine.
    pub fn copy_seconds(&self, _: u64, _: usize, _: usize) -> Result<Vec<f64>, String> {
        match self.0 {}
    }
}
