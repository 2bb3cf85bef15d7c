//! Tests of reading whole files.

mod codes;
mod expansion;
mod islands;
