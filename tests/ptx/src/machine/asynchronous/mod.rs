//! What happens in memory beside the instructions of threads: asynchronous copies, the mbarriers
//! with which threads wait for them, and tensor maps.

pub mod tensor_map;
