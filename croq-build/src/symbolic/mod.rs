//! Symbolic integers in a normal form, and the prover that answers questions about them.
