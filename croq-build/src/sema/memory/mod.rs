//! Buffers, views of them, and access to their elements.

pub(crate) mod access;
pub(crate) mod atomics;
pub(crate) mod buffer_pools;
pub(crate) mod buffers;
pub(crate) mod data;
pub(crate) mod guards;
pub(crate) mod overlap;
pub(crate) mod swizzles;
pub(crate) mod tiles;
pub(crate) mod view;
pub(crate) mod windows;
