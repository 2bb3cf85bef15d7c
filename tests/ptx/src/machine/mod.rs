//! Execution of PTX.

pub mod alu;
pub mod decode;
pub mod lanewise;
pub mod registers;
