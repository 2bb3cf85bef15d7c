//! What happens in memory beside the instructions of threads: asynchronous copies, the mbarriers
//! with which threads wait for them, and tensor maps; and what the blocks of a cluster do together.
//!
//! | module | contents |
//! |---|---|
//! | [`tensor_map`], [`tensor`] | the object that describes a tensor, and the bytes of a box of it |
//! | [`mbarrier`] | counts and phases |
//! | [`transfer`], [`engine`] | what an operation reads and writes, and when |
//! | [`decode`], [`copies`], [`fields`] | instructions |
//! | [`execute`], [`objects`], [`issue`], [`addresses`], [`maps`] | their execution by the lanes of a warp |

pub mod addresses;
pub mod copies;
pub mod decode;
pub mod engine;
pub mod execute;
pub mod fields;
pub mod issue;
pub mod maps;
pub mod mbarrier;
pub mod objects;
mod source;
pub mod tensor;
pub mod tensor_map;
pub mod transfer;
