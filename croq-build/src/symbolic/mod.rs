//! Symbolic integers in a normal form, and the prover that answers questions about them.
//!
//! Every extent, stride, bound and offset of the compiler is a [`Sym`]: a polynomial with integer
//! coefficients over [`Atom`]s (variables, and truncating quotients, remainders, minima and maxima
//! that could not be folded). A [`Ctx`] holds what is known of the variables: bounds, and a scoped
//! stack of assumptions. Its questions answer [`Truth::Yes`] or [`Truth::No`] only when the answer
//! holds for *every* assignment of the variables within bounds and assumptions; otherwise they say
//! [`Truth::Unknown`]. Assignments that divide by zero somewhere do not count.
//!
//! Values are exact mathematical integers. Whatever would leave the range of the coefficients, or
//! grow beyond the size limits, becomes *poison*: an expression of which nothing is known.
//!
//! How it proves. To show `e >= 0`, the variable introduced last is replaced by the end of its
//! range at which `e` is least, then the next, until a constant is left; a quotient or remainder is
//! replaced by its defining inequality, and assumptions are added in non-negative multiples. Depth
//! and work of one question are bounded, so a file's worth of questions takes linear time.

mod bound;
mod congruence;
mod construct;
mod ctx;
mod division;
mod facts;
mod interval;
mod model;
mod ops;
mod prove;
mod search;
mod show;
mod split;
mod sym;
mod truth;
mod variable;

#[cfg(test)]
mod against_brute_force;
#[cfg(test)]
mod claims;

pub use ctx::Ctx;
pub use show::show;
pub use split::split_index;
pub use sym::{Atom, Sym, Var};
pub use truth::Truth;
