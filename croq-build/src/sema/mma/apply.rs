//! Work on the elements of fragments: `apply`, reductions of rows, copies.
