//! Values of expressions: symbolic integers, scalars, shapes.

pub(crate) mod arith;
pub(crate) mod conditionals;
pub(crate) mod constants;
pub(crate) mod convert;
pub(crate) mod cpp_types;
pub(crate) mod expr;
pub(crate) mod integers;
pub(crate) mod operator_names;
pub(crate) mod operators;
pub(crate) mod precision;
pub(crate) mod predicates;
pub(crate) mod scalars;
pub(crate) mod shape;
pub(crate) mod shifts;
pub(crate) mod tuples;
pub(crate) mod widths;
