//! Functions of the language by name, and what other languages call them.

use crate::ir::MathFn;

/// What other languages' functions are called here.
pub(crate) fn intended_function(name: &str) -> Option<&'static str> {
    let plain = name.strip_prefix("atomic").map(str::to_lowercase);
    Some(match (name, plain.as_deref()) {
        ("abs" | "fabs" | "fabsf", _) => "__fabs",
        ("fma" | "fmaf", _) => "__fmaf",
        ("fmax" | "fmaxf", _) => "__max",
        ("fmin" | "fminf", _) => "__min",
        ("exp2" | "exp2f", _) => "__exp2f",
        ("__syncthreads" | "syncthreads", _) => "sync.shared",
        (_, Some("add")) => "__atomic_add",
        (_, Some("sub")) => "__atomic_sub",
        (_, Some("exch")) => "__atomic_exch",
        (_, Some("min")) => "__atomic_min",
        (_, Some("max")) => "__atomic_max",
        (_, Some("and")) => "__atomic_and",
        (_, Some("or")) => "__atomic_or",
        (_, Some("xor")) => "__atomic_xor",
        (_, Some("cas")) => "__atomic_cas",
        _ => {
            let named = |name: &str| {
                let all = MATH
                    .iter()
                    .map(|(known, ..)| *known)
                    .chain(OTHERS.iter().copied());
                all.into_iter()
                    .find(|known| known.strip_prefix("__") == Some(name))
            };
            return named(name).or_else(|| named(name.strip_suffix('f')?));
        }
    })
}

/// The math builtins: name, function, number of arguments.
#[rustfmt::skip]
pub(crate) const MATH: &[(&str, MathFn, usize)] = &[
    ("__acos", MathFn::Acos, 1),
    ("__asin", MathFn::Asin, 1),
    ("__atan", MathFn::Atan, 1),
    ("__ceil", MathFn::Ceil, 1),
    ("__cos", MathFn::Cos, 1),
    ("__cosh", MathFn::Cosh, 1),
    ("__exp", MathFn::Exp, 1),
    ("__exp2f", MathFn::Exp2, 1),
    ("__expm1", MathFn::Expm1, 1),
    ("__fabs", MathFn::Fabs, 1),
    ("__floor", MathFn::Floor, 1),
    ("__frcp_rn", MathFn::Recip, 1),
    ("__gelu", MathFn::Gelu, 1),
    ("__isfinite", MathFn::IsFinite, 1),
    ("__log", MathFn::Log, 1),
    ("__log1p", MathFn::Log1p, 1),
    ("__round", MathFn::Round, 1),
    ("__rsqrt", MathFn::Rsqrt, 1),
    ("__sigmoid", MathFn::Sigmoid, 1),
    ("__sign", MathFn::Sign, 1),
    ("__sin", MathFn::Sin, 1),
    ("__sinh", MathFn::Sinh, 1),
    ("__softplus", MathFn::Softplus, 1),
    ("__sqrt", MathFn::Sqrt, 1),
    ("__tan", MathFn::Tan, 1),
    ("__tanh", MathFn::Tanh, 1),
    ("__atan2", MathFn::Atan2, 2),
    ("__pow", MathFn::Pow, 2),
    ("__fmaf", MathFn::Fma, 3),
];

/// Other builtins whose names can be mistyped.
pub(crate) const OTHERS: &[&str] = &[
    "__min",
    "__max",
    "__alignup",
    "__aligndown",
    "__bar_sync",
    "__bar_arrive",
    "assert",
    "print",
    "println",
];

pub(crate) fn math(name: &str) -> Option<(MathFn, usize)> {
    MATH.iter()
        .find(|(known, ..)| *known == name)
        .map(|(_, function, arity)| (*function, *arity))
}
