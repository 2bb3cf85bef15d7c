//! Renaming: converts names of a `.co` file to names of generated C, C++ and Rust.
//!
//! A name is unchanged if it cannot have another meaning in the language. Otherwise an underscore
//! is appended, leading underscores are removed, and two in a row are merged; if the result is
//! taken too, it gets another one. In C and C++ a name may be taken if it looks like a macro, is
//! reserved, or is one of a list of words ([`cpp_names`]); in Rust if it is a keyword, in the
//! prelude, or imported by the wrappers. (Files become modules in `toolchain::modules`.)

use crate::ir::cpp_names;
use crate::sorted::SortedSet;

/// A name in generated C and C++. Every printed name of the user's is converted by this.
pub fn cpp(name: &str) -> String {
    cpp_names::spelt(name)
}

/// A function, parameter or variable in generated Rust.
pub fn rust_value(name: &str) -> String {
    if RUST_KEYWORDS.contains(&name) || is_a_rust_value(name) {
        return format!("{name}_");
    }
    name.to_owned()
}

/// A generic parameter in generated Rust.
pub fn rust_type(name: &str) -> String {
    if RUST_KEYWORDS.contains(&name) || is_a_rust_value(name) || RUST_TYPES.contains(&name) {
        return format!("{name}_");
    }
    name.to_owned()
}

/// A field of the argument struct, a name in C, C++, bindgen's output and Rust.
pub fn field(name: &str) -> String {
    let name = cpp(name);
    if RUST_KEYWORDS.contains(&name.as_str()) || RUST_TYPES.contains(&name.as_str()) {
        return format!("{name}_");
    }
    name
}

/// Whether a name is in the prelude, imported, or a constant of the module, for which a pattern
/// would stand.
fn is_a_rust_value(name: &str) -> bool {
    let mut imported = IMPORTS.iter().flat_map(|(_, items)| items.iter());
    PRELUDE.contains(&name) || name == MOVED_LINES || imported.any(|item| *item == name)
}

/// The constant of the module that contains the wrappers.
pub const MOVED_LINES: &str = "MOVED_LINES";

/// The imports of wrappers.
pub(super) const IMPORTS: [(&str, &[&str]); 3] = [
    (
        "::croq_sys::__private",
        &["About", "Check", "Kernel", "null_mut"],
    ),
    ("::croq_sys::half", &["bf16", "f16"]),
    (
        "::croq_sys",
        &[
            "Const",
            "DeviceData",
            "DeviceDataMut",
            "DeviceTensor",
            "Dim",
            "Element",
            "F4E2M1x2",
            "F6E2M3",
            "F6E3M2",
            "F8E4M3",
            "F8E5M2",
            "HostData",
            "HostDataMut",
            "Input",
            "Result",
            "S2x4",
            "S4x2",
            "S6",
            "Same",
            "Stream",
            "Tensor",
            "U1x8",
            "U2x4",
            "U4x2",
            "U6",
        ],
    ),
];

/// Names that must be distinct.
#[derive(Default)]
pub struct Scope {
    taken: SortedSet<String>,
}

impl Scope {
    /// `wanted` itself if it is free, otherwise with appended underscores.
    pub fn fresh(&mut self, wanted: String) -> String {
        let mut name = wanted;
        while !self.taken.insert(name.clone()) {
            name.push('_');
        }
        name
    }

    pub fn contains(&self, name: &str) -> bool {
        self.taken.contains(name)
    }
}

#[rustfmt::skip]
const RUST_KEYWORDS: &[&str] = &[
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in",
    "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized",
    "use", "virtual", "where", "while", "yield", "_",
];

/// The prelude of Rust, in all editions.
#[rustfmt::skip]
const PRELUDE: &[&str] = &[
    "AsMut", "AsRef", "AsyncFn", "AsyncFnMut", "AsyncFnOnce", "Box", "Clone", "Copy", "Debug", "Default",
    "DoubleEndedIterator", "Drop", "Eq", "Err", "ExactSizeIterator", "Extend", "Fn", "FnMut", "FnOnce",
    "From", "FromIterator", "Future", "Hash", "Into", "IntoFuture", "IntoIterator", "Iterator", "None",
    "Ok", "Option", "Ord", "PartialEq", "PartialOrd", "Result", "Send", "Sized", "Some", "String", "Sync",
    "ToOwned", "ToString", "TryFrom", "TryInto", "Unpin", "Vec",
];

/// Primitive types, and modules that wrappers use.
#[rustfmt::skip]
const RUST_TYPES: &[&str] = &[
    "alloc", "bool", "char", "core", "croq_sys", "f128", "f16", "f32", "f64", "ffi", "i128", "i16", "i32",
    "i64", "i8", "isize", "kernels", "std", "str", "u128", "u16", "u32", "u64", "u8", "usize",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_names_stay() {
        for name in ["src", "M", "K_rhs", "tile", "e"] {
            assert_eq!(
                [cpp(name), rust_value(name), rust_type(name), field(name)],
                [name; 4]
            );
        }
    }

    #[test]
    fn what_may_be_taken_ends_in_an_underscore() {
        assert_eq!(cpp("and"), "and_");
        assert_eq!(cpp("match"), "match");
        assert_eq!(cpp("_Complex"), "Complex_");
        assert_eq!(cpp("_4"), "v4_");
        assert_eq!(cpp("_"), "v_");
        assert_eq!(cpp("a__b___c"), "a_b_c_");
        assert_eq!(cpp("CROQ_FN"), "CROQ_FN_");
        assert_eq!(rust_value("match"), "match_");
        assert_eq!(rust_value("None"), "None_");
        assert_eq!(rust_value("MOVED_LINES"), "MOVED_LINES_");
        assert_eq!(rust_value("usize"), "usize");
        assert_eq!(rust_type("Tensor"), "Tensor_");
        assert_eq!(rust_type("f32"), "f32_");
        assert_eq!(rust_type("str"), "str_");
        assert_eq!(field("match"), "match_");
        assert_eq!(field("i32"), "i32_");
    }

    /// The results are not keywords: one application of the rules suffices.
    #[test]
    fn results_are_no_keywords() {
        for name in RUST_KEYWORDS.iter().chain(PRELUDE).chain(RUST_TYPES) {
            for result in [cpp(name), rust_value(name), rust_type(name), field(name)] {
                assert!(
                    !cpp_names::is_taken(&result) || result == rust_value(name),
                    "{name}: {result}"
                );
            }
            assert!(!cpp_names::is_taken(&field(name)), "{name}");
            assert!(!RUST_KEYWORDS.contains(&field(name).as_str()), "{name}");
        }
    }

    #[test]
    fn taken_names_get_more_underscores() {
        let mut scope = Scope::default();
        assert_eq!(scope.fresh("a".into()), "a");
        assert_eq!(scope.fresh("a_".into()), "a_");
        assert_eq!(scope.fresh("a".into()), "a__");
        assert!(scope.contains("a__"));
    }
}
