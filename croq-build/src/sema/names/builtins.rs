//! Functions of the language by name, and their names in other languages.

use crate::ir::MathFn;

/// The Croqtile name of a function that other languages call `name`.
pub(crate) fn intended_function(name: &str) -> Option<&'static str> {
    let plain = name.strip_prefix("atomic").map(str::to_lowercase);
    Some(match (name, plain.as_deref()) {
        ("fabs" | "fabsf", _) => "__fabs",
        ("fma" | "fmaf", _) => "__fmaf",
        ("fmax" | "fmaxf", _) => "__max",
        ("fmin" | "fminf", _) => "__min",
        ("exp2" | "exp2f", _) => "__exp2f",
        ("ceildiv" | "ceil_div" | "div_ceil" | "divup" | "div_up" | "CEIL_DIV" | "CEILDIV", _) => {
            "cdiv"
        }
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
                let all = MathFn::ALL
                    .iter()
                    .map(|(known, _)| *known)
                    .chain(OTHERS.iter().copied());
                all.into_iter()
                    .find(|known| known.strip_prefix("__") == Some(name))
            };
            return named(name).or_else(|| named(name.strip_suffix('f')?));
        }
    })
}

/// What to write for a function that other languages have, and Croqtile only in another form.
pub(crate) fn other_form(name: &str) -> Option<&'static str> {
    Some(match name {
        "abs" | "__abs" => "`__fabs(x)` is for floats; of an integer it is `x < 0 ? -x : x`",
        "INFINITY" | "infinity" => "infinity is `inf`, of type `f32`",
        "NAN" => "`inf - inf` is not a number",
        "isnan" | "__isnan" => "`x != x` holds for what is not a number",
        "barrier" | "__sync" | "__barrier" => "`sync.shared;` is a barrier of the block",
        _ => return None,
    })
}

/// Other builtins whose names can be mistyped.
pub(crate) const OTHERS: &[&str] = &[
    "__alignup",
    "__aligndown",
    "__bar_sync",
    "__bar_arrive",
    "assert",
    "print",
    "println",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sema::memory::atomics;
    use crate::syntax::builtin_names::BUILTINS;

    #[test]
    fn the_parser_knows_the_names_of_all_builtins() {
        let math = MathFn::ALL.iter().map(|(name, _)| *name);
        let others = OTHERS.iter().copied().filter(|name| name.starts_with("__"));
        let mut all: Vec<&str> = math
            .chain(others)
            .chain(atomics::NAMES.iter().copied())
            .collect();
        all.sort_unstable();
        assert_eq!(all, BUILTINS);
    }
}
