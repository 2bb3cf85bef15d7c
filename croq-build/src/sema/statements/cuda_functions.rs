//! The functions of CUDA C++ that device text has without a declaration of the file's own.

/// The headers that give the simulated GPU these functions.
const HEADERS: [&str; 6] = [
    include_str!("../../../device/croq_half.h"),
    include_str!("../../../device/sim/cuda_atomics.h"),
    include_str!("../../../device/sim/cuda_lanes.h"),
    include_str!("../../../device/sim/cuda_names.h"),
    include_str!("../../../device/sim/cuda_numbers.h"),
    include_str!("../../../device/sim/cuda_vectors.h"),
];

/// Functions of `<math.h>`, each with a form for `float` that ends in `f`.
const MATH: [&str; 50] = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "cospi",
    "erf",
    "erfc",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fabs",
    "fdim",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "hypot",
    "ldexp",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "nearbyint",
    "normcdf",
    "pow",
    "rcbrt",
    "remainder",
    "rint",
    "round",
    "rsqrt",
    "sin",
    "sinh",
    "sinpi",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
];
const OTHERS: [&str; 6] = ["abs", "clock", "clock64", "fdividef", "max", "min"];

pub(super) fn is_known(callee: &str) -> bool {
    let is_math = |name: &str| MATH.contains(&name);
    if OTHERS.contains(&callee) || is_math(callee) || callee.strip_suffix('f').is_some_and(is_math)
    {
        return true;
    }
    // Other words of the headers are their own.
    let is_of_cuda = callee.starts_with("__") || callee.starts_with("atomic");
    // Atomic functions have forms for other scopes.
    let scopes = ["_block", "_system"];
    let callee = scopes
        .iter()
        .find_map(|end| callee.strip_suffix(end))
        .unwrap_or(callee);
    // The headers make these names of parts.
    let made =
        callee.starts_with("__reduce_") || ["half", "bfloat16"].iter().any(|t| callee.contains(t));
    is_of_cuda && (made || HEADERS.iter().any(|text| has_word(text, callee)))
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|t| t.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::is_known;

    #[test]
    fn cuda_and_c_functions_are_known() {
        for name in [
            "__shfl_xor_sync",
            "__ldg",
            "__expf",
            "__syncwarp",
            "__syncthreads",
            "atomicAdd",
            "atomicMax_block",
            "clock64",
            "sqrtf",
            "sqrt",
            "fmaxf",
            "min",
            "__popc",
            "__reduce_add_sync",
            "__float_as_int",
            "__threadfence",
        ] {
            assert!(is_known(name), "{name}");
        }
        for name in [
            "__nosuchfn",
            "lanes",
            "value",
            "atomicNothing",
            "__ld",
            "square",
            "sqrtff",
        ] {
            assert!(!is_known(name), "{name}");
        }
    }
}
