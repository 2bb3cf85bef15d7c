//! The hash function of symbolic expressions.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A multiplicative hash. Expressions are compared in full where hashes agree, so that collisions
/// only cost time; SipHash took a tenth of the time of all passes.
#[derive(Default)]
pub(super) struct TermHasher(u64);

/// A map from expressions.
pub(super) type TermMap<K, V> = HashMap<K, V, BuildHasherDefault<TermHasher>>;

impl Hasher for TermHasher {
    fn finish(&self) -> u64 {
        // Hash tables use the high bits as well as the low ones.
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u64(u64::from(*b)));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn write_i64(&mut self, value: i64) {
        self.write_u64(value.cast_unsigned());
    }

    fn write_isize(&mut self, value: isize) {
        self.write_u64(value as u64);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}
