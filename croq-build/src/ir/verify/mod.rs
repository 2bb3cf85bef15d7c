//! The verifier: invariants of every function between any two passes. A violation is an error of
//! the compiler, never of the program; the driver reports it as such (E1199).
//!
//! * Ids are in range, and statements of the host and of kernels are where they are allowed.
//! * A local is declared before it is used, in a block around the use. Symbolic variables have a
//!   home, and one whose home is a local is subject to the same rule.
//! * A view has as many strides and bounds as axes; an access as many indices as its view has axes.
//! * Conditions are `bool`; both sides of an assignment, a store or an operator have one type.
//! * A nested level is not coarser than the level around it; `break` and `continue` are in a loop.
//! * Where one thread acts for its unit there is no barrier, copy, fill, wait for copies or
//!   operation on fragments by several threads. Operations on fragments are at no finer level than
//!   the fragments' unit.
//! * Memory of kernels is not used on the host. What a statement allocates is used in the block
//!   around that statement alone.
//! * A future is waited for, or its data used, after its copy or in a loop with it.
//! * A copy's future, an event or a fragment belongs to the function, and an event to the kernel
//!   that uses it.

use super::*;
use crate::sorted::SortedSet;

mod expr;
mod fragments;
mod stmt;
#[cfg(test)]
mod tests;
mod verifier;

use verifier::Verifier;
pub use verifier::Violation;

/// Checks the whole function.
///
/// # Errors
///
/// Returns the first violation.
pub fn function<P: Phase>(function: &Function<P>) -> Result<(), Violation> {
    let mut verifier = Verifier::new(function);
    verifier.declarations();
    stmt::block(&mut verifier, &function.body);
    verifier.found.map_or(Ok(()), Err)?;
    let host = host_locals(function);
    (0..function.kernels.len()).try_for_each(|at| {
        kernel(
            function,
            KernelId(u32::try_from(at).unwrap_or(u32::MAX)),
            &host,
        )
    })
}

/// The locals of the host, all of which kernels may use.
pub fn host_locals<P: Phase>(function: &Function<P>) -> SortedSet<LocalId> {
    let mut locals = SortedSet::new();
    declared_locals(&function.body, &mut locals);
    locals
}

/// Checks one kernel after a pass over it; `host` are the [`host_locals`], which such passes do not
/// change.
///
/// # Errors
///
/// Returns the first violation.
pub fn kernel<P: Phase>(
    function: &Function<P>,
    id: KernelId,
    host: &SortedSet<LocalId>,
) -> Result<(), Violation> {
    let mut verifier = Verifier::new(function);
    verifier.of_host = Some(host);
    stmt::kernel(&mut verifier, id);
    verifier.found.map_or(Ok(()), Err)
}
