//! Symbolic integers in a normal form, and the prover that answers questions about them.
//!
//! Every extent, stride, bound and offset of the compiler is a [`Sym`]: a polynomial with integer
//! coefficients over [`Atom`]s (variables, and truncating quotients, remainders, minima and maxima
//! that could not be folded). A [`Ctx`] has the facts about the variables: bounds, and a scoped
//! stack of assumptions. Its questions return [`Truth::Yes`] or [`Truth::No`] only if the answer
//! holds for *every* assignment of the variables within bounds and assumptions; otherwise they
//! return [`Truth::Unknown`]. Assignments that divide by zero are excluded.
//!
//! Values are exact mathematical integers. A result that would exceed the range of the
//! coefficients, or the size limits, becomes *poison*: an expression about which nothing is known.
//!
//! The method of proof: to show `e >= 0`, the variable introduced last is replaced by the end of
//! its range at which `e` is least, then the next, until a constant is left; a quotient or
//! remainder is replaced by its defining inequality, and assumptions are added in non-negative
//! multiples. Depth and work of one question are limited, so the time is linear in the number of
//! questions.

mod answers;
mod bound;
mod congruence;
mod construct;
mod ctx;
mod division;
mod factors;
mod facts;
mod hash;
mod interval;
mod model;
mod ops;
mod prove;
mod search;
mod show;
mod split;
mod sym;
mod truth;
mod var_set;
mod variable;

#[cfg(test)]
mod against_brute_force;
#[cfg(test)]
mod claims;

pub use ctx::Ctx;
#[cfg(test)]
pub use prove::work;
pub use show::show;
pub use split::split_index;
pub use sym::{Atom, Sym, Var};
pub use truth::Truth;
