//! Buffers, views of them, and access to their elements.

pub(crate) mod access;
pub(crate) mod arrays;
pub(crate) mod atomics;
pub(crate) mod bounds;
pub(crate) mod buffer_pools;
pub(crate) mod buffers;
pub(crate) mod choices;
pub(crate) mod chunks;
pub(crate) mod cut;
pub(crate) mod data;
pub(crate) mod guards;
pub(crate) mod host_elements;
pub(crate) mod local_sizes;
pub(crate) mod origins;
pub(crate) mod packed;
pub(crate) mod reshaped;
pub(crate) mod select;
pub(crate) mod strides;
pub(crate) mod swizzles;
pub(crate) mod tile_operands;
pub(crate) mod tiles;
pub(crate) mod view;
pub(crate) mod whole;
pub(crate) mod windows;
