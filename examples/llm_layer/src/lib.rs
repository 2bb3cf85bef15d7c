//! One layer of a language model in bf16, from tokens to the likeliest next ones, on tensors that stay
//! on the device: see README.md.

croq_sys::include_kernels!();

pub mod layer;
pub mod near;
pub mod reference;
pub mod trace;
pub mod weights;

use croq_sys::Const;

/// The width of a head. The attention kernels are compiled for it.
pub const WIDTH: usize = 64;
pub type Width = Const<WIDTH>;

/// The largest scores that a step returns.
pub const BEST: usize = 5;
/// In the mean squares of the norms.
pub const EPSILON: f32 = 1e-5;
/// The base of the angles of the rotary embedding.
pub const BASE: f32 = 10_000.0;

/// The sizes of a model.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub model: usize,
    /// Heads of queries, and of the keys and values that they share.
    pub heads: usize,
    pub groups: usize,
    /// The width of the feed-forward part.
    pub hidden: usize,
    pub vocabulary: usize,
    /// Neighbouring 8-bit weights that share a scale: a multiple of 64, or at least `model`.
    pub scaled: usize,
    /// The tokens that the cache has place for.
    pub cache: usize,
}

impl Sizes {
    pub const SMALL: Self = Self {
        model: 256,
        heads: 4,
        groups: 2,
        hidden: 512,
        vocabulary: 500,
        scaled: 64,
        cache: 48,
    };

    /// The width of a row of queries, and of keys or values.
    pub fn query(self) -> usize {
        self.heads * WIDTH
    }

    pub fn key(self) -> usize {
        self.groups * WIDTH
    }
}
