//! The reading of whole files.

mod codes;
mod expansion;
mod islands;
