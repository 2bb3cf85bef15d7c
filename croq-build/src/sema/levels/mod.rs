//! Levels of parallelism: which level each `parallel` has, and how threads are mapped to it.

pub(crate) mod clusters;
pub(crate) mod extents;
pub(crate) mod instances;
pub(crate) mod nest;
pub(crate) mod parallel;
pub(crate) mod registers;
pub(crate) mod thread_mapping;
