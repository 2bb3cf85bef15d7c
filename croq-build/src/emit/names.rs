//! Renaming: what a name of a `.co` file is called in generated C, C++ and Rust.
//!
//! The rule. A name stays as it is unless it means something else in the language: a keyword, a macro
//! of a system header, a name that generated code uses itself. Then it gets a trailing underscore, and
//! where the result is taken too, another one. (Files become modules in `toolchain::modules`.)

use std::collections::BTreeSet;

/// A name in generated C and C++.
pub fn cpp(name: &str) -> String {
    renamed(name, means_something_in_cpp)
}

/// A function, parameter or variable in generated Rust.
pub fn rust_value(name: &str) -> String {
    renamed(name, |n| {
        RUST_KEYWORDS.contains(&n) || RUST_VALUES.contains(&n)
    })
}

/// A generic parameter in generated Rust.
pub fn rust_type(name: &str) -> String {
    renamed(name, |n| {
        RUST_KEYWORDS.contains(&n) || RUST_TYPES.contains(&n)
    })
}

/// A field of the argument struct, which C++ and Rust both see.
pub fn field(name: &str) -> String {
    renamed(name, |n| {
        means_something_in_cpp(n) || RUST_KEYWORDS.contains(&n)
    })
}

fn renamed(name: &str, means_something: impl Fn(&str) -> bool) -> String {
    let mut name = name.to_owned();
    if means_something(&name) {
        name.push('_');
    }
    name
}

/// Names that must be told apart.
#[derive(Default)]
pub struct Scope {
    taken: BTreeSet<String>,
}

impl Scope {
    /// `wanted` itself when it is free, else with as many underscores as it takes.
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

fn means_something_in_cpp(name: &str) -> bool {
    CPP_KEYWORDS.contains(&name)
        || CPP_NAMES.contains(&name)
        || is_limit_macro(name)
        || is_error_macro(name)
}

/// `INT_MAX`, `FLT_EPSILON`, `UINT8_MAX` …
fn is_limit_macro(name: &str) -> bool {
    const ENDS: [&str; 12] = [
        "_MAX",
        "_MIN",
        "_WIDTH",
        "_BIT",
        "_EPSILON",
        "_DIG",
        "_MANT_DIG",
        "_MAX_EXP",
        "_MIN_EXP",
        "_MAX_10_EXP",
        "_MIN_10_EXP",
        "_C",
    ];
    const STARTS: [&str; 16] = [
        "CHAR", "SCHAR", "UCHAR", "SHRT", "USHRT", "INT", "UINT", "LONG", "ULONG", "LLONG",
        "ULLONG", "FLT", "DBL", "LDBL", "SIZE", "PTRDIFF",
    ];
    ENDS.iter()
        .filter_map(|end| name.strip_suffix(end))
        .any(|start| STARTS.contains(&start.trim_end_matches(|c: char| c.is_ascii_digit())))
}

/// `EDOM`, `ERANGE` … of <errno.h>.
fn is_error_macro(name: &str) -> bool {
    matches!(
        name,
        "EDOM"
            | "ERANGE"
            | "EILSEQ"
            | "EINVAL"
            | "ENOMEM"
            | "EAGAIN"
            | "EINTR"
            | "EIO"
            | "EBUSY"
            | "EPERM"
            | "EPIPE"
            | "EOF"
            | "EBADF"
            | "EEXIST"
            | "EFAULT"
            | "ENOENT"
            | "ENOSYS"
    )
}

#[rustfmt::skip]
const CPP_KEYWORDS: &[&str] = &[
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case",
    "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield",
    "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit", "continue",
    "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit",
    "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int", "long",
    "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq",
    "private", "protected", "public", "register", "reinterpret_cast", "requires", "restrict", "return",
    "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch",
    "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename",
    "typeof", "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor",
    "xor_eq",
];

/// Macros of system headers, what the CUDA language declares everywhere, and what generated text says
/// itself.
#[rustfmt::skip]
const CPP_NAMES: &[&str] = &[
    "BUFSIZ", "CLOCKS_PER_SEC", "EXIT_FAILURE", "EXIT_SUCCESS", "FILENAME_MAX", "FP_INFINITE", "FP_NAN",
    "FP_NORMAL", "FP_SUBNORMAL", "FP_ZERO", "HUGE_VAL", "HUGE_VALF", "HUGE_VALL", "I", "INFINITY",
    "M_1_PI", "M_2_PI", "M_2_SQRTPI", "M_E", "M_LN10", "M_LN2", "M_LOG10E", "M_LOG2E", "M_PI", "M_PI_2",
    "M_PI_4", "M_SQRT1_2", "M_SQRT2", "NAN", "NULL", "RAND_MAX", "SEEK_CUR", "SEEK_END", "SEEK_SET",
    "SIGABRT", "SIGFPE", "SIGILL", "SIGINT", "SIGSEGV", "SIGTERM", "TMP_MAX", "alloca", "assert", "errno",
    "linux", "major", "makedev", "math_errhandling", "minor", "offsetof", "setjmp", "stderr", "stdin",
    "stdout", "unix", "va_arg", "va_copy", "va_end", "va_list", "va_start",
    "blockDim", "blockIdx", "gridDim", "threadIdx", "warpSize",
    "croq", "croq_env", "croq_i64", "croq_u32", "croq_u64", "main", "std",
];

#[rustfmt::skip]
const RUST_KEYWORDS: &[&str] = &[
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in",
    "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized",
    "use", "virtual", "where", "while", "yield", "_",
];

/// What a Rust pattern would take for a constant, and what wrappers import.
const RUST_VALUES: &[&str] = &[
    "Const",
    "Err",
    "F8E4M3",
    "F8E5M2",
    "MOVED_LINES",
    "None",
    "Ok",
    "Some",
    "null_mut",
];

/// Types and modules that wrappers mention.
#[rustfmt::skip]
const RUST_TYPES: &[&str] = &[
    "About", "Check", "Const", "DeviceTensor", "Dim", "F8E4M3", "F8E5M2", "HostData", "HostDataMut", "Kernel",
    "Option", "Result", "Same", "Stream", "Tensor", "bf16", "bool", "croq_sys", "f16", "f32", "f64",
    "ffi", "i16", "i32", "i64", "i8", "kernels", "std", "u16", "u32", "u64", "u8", "usize",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_names_stay() {
        for name in ["src", "M", "K_rhs", "INT", "C_MAX", "tile", "e"] {
            assert_eq!(
                [cpp(name), rust_value(name), rust_type(name), field(name)],
                [name; 4]
            );
        }
    }

    #[test]
    fn keywords_and_macros_get_an_underscore() {
        assert_eq!(cpp("int"), "int_");
        assert_eq!(cpp("match"), "match");
        assert_eq!(rust_value("match"), "match_");
        assert_eq!(rust_value("None"), "None_");
        assert_eq!(rust_type("Tensor"), "Tensor_");
        assert_eq!(rust_type("f32"), "f32_");
        assert_eq!(field("match"), "match_");
        for name in [
            "NULL",
            "INT_MAX",
            "UINT64_MAX",
            "FLT_EPSILON",
            "EDOM",
            "M_PI",
            "threadIdx",
        ] {
            assert_eq!(cpp(name), format!("{name}_"));
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
