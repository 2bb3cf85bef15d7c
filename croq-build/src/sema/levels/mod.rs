//! Levels of parallelism: the level of each `parallel`, and the mapping of threads to it.

pub(crate) mod barriers;
pub(crate) mod blocks;
pub(crate) mod cluster_legality;
pub(crate) mod clusters;
pub(crate) mod devices;
pub(crate) mod extents;
pub(crate) mod host_kernels;
pub(crate) mod indices;
pub(crate) mod instances;
pub(crate) mod launch_attributes;
pub(crate) mod nest;
pub(crate) mod parallel;
pub(crate) mod regions;
pub(crate) mod registers;
pub(crate) mod thread_mapping;
pub(crate) mod uniformity;
