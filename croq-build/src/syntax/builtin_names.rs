//! Names with two leading underscores that are builtins. All other such names are the user's.

/// In alphabetical order. A test of `sema` compares the list with the functions that exist.
#[rustfmt::skip]
pub(crate) const BUILTINS: &[&str] = &[
    "__acos", "__aligndown", "__alignup", "__asin", "__atan", "__atan2", "__atomic_add", "__atomic_and",
    "__atomic_cas", "__atomic_exch", "__atomic_max", "__atomic_min", "__atomic_or", "__atomic_sub",
    "__atomic_xor", "__bar_arrive", "__bar_sync", "__bitcast", "__ceil", "__cos", "__cosh", "__erf", "__erfc", "__exp", "__exp2f",
    "__expm1", "__fabs", "__floor", "__fmaf", "__frcp_rn", "__gelu", "__isfinite", "__log", "__log1p",
    "__max", "__min", "__pow", "__round", "__rsqrt", "__sigmoid", "__sign", "__sin", "__sinh",
    "__softplus", "__sqrt", "__tan", "__tanh",
];

pub(crate) fn is_builtin(name: &str) -> bool {
    BUILTINS.binary_search(&name).is_ok()
}
