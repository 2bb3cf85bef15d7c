//! Hashes of all inputs of a result.

/// Collects all inputs of a result.
#[derive(Clone)]
pub struct Key(blake3::Hasher);

impl Key {
    pub fn new(kind: &str) -> Self {
        let key = Self(blake3::Hasher::new());
        key.with("kind", kind)
            .with("croq-build", env!("CARGO_PKG_VERSION"))
    }

    /// Each part is hashed with its length, so that different lists of parts never have the same
    /// bytes.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        for part in [name, value] {
            self.0.update(&(part.len() as u64).to_le_bytes());
            self.0.update(part.as_bytes());
        }
        self
    }

    pub fn finish(&self) -> String {
        self.0.finalize().to_hex().to_string()
    }
}
