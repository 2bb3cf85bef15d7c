//! Copies between memories: shapes, storages, and the legality of TMA.

pub(crate) mod cache_hints;
pub(crate) mod copy;
pub(crate) mod destination;
pub(crate) mod legality;
pub(crate) mod overlap;
pub(crate) mod shapes;
pub(crate) mod sparse;
pub(crate) mod tma;
pub(crate) mod tma_legality;
