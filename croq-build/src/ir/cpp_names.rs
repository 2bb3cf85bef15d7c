//! Names that already have a meaning in C and C++, so that a variable cannot have them: keywords,
//! macros of system headers, and the names that CUDA declares in every translation unit.
//!
//! Macros cannot be listed in full, since any header may define some. So the rule is by form: a
//! name that looks like a macro or is reserved for the implementation counts as taken, and a list
//! has the remaining words that look like ordinary names.

/// The name in generated text. `_Complex` becomes `Complex_`, and `a__b` becomes `a_b_`: no keyword
/// and no macro of a system header has this form.
pub fn spelt(name: &str) -> String {
    if !may_be_taken(name) {
        return name.to_owned();
    }
    let mut out = String::with_capacity(name.len() + 1);
    for c in name.trim_matches('_').chars() {
        if c != '_' || !out.ends_with('_') {
            out.push(c);
        }
    }
    if !out.starts_with(|c: char| c.is_ascii_alphabetic()) {
        out.insert(0, 'v');
    }
    out.push('_');
    out
}

/// Whether a variable, parameter or function with this name may have another meaning in C++ text.
pub fn may_be_taken(name: &str) -> bool {
    name.starts_with('_') || name.contains("__") || looks_like_a_macro(name) || is_taken(name)
}

/// Whether C++ text can never declare this name: it is a keyword, reserved for the implementation,
/// or a macro of croq's, CUDA's or the system's headers.
pub fn is_taken(name: &str) -> bool {
    let capital = |at: usize| name.as_bytes().get(at).is_some_and(u8::is_ascii_uppercase);
    let reserved = name.starts_with("__") || name.starts_with('_') && capital(1);
    let shouts = capital(0) && !name.bytes().any(|b| b.is_ascii_lowercase());
    reserved
        || KEYWORDS.contains(&name)
        || WORDS.contains(&name)
        || is_byte_order(name)
        || is_classification(name)
        || name.starts_with("M_") && name.len() > 2
        || STARTS.iter().any(|start| name.starts_with(start))
        || shouts && ENDS.iter().any(|end| name.ends_with(end))
        || CAPITALS.contains(&name)
        || shouts && is_error_number(name)
}

/// Whether this is a keyword or an operator of C++, which no macro should be called.
pub fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

/// Two capitals in a row, as in `INT_MAX` or `M_PIf`, or the prefix of CUDA's own names.
fn looks_like_a_macro(name: &str) -> bool {
    let letters: Vec<u8> = name.bytes().filter(u8::is_ascii_alphabetic).collect();
    let capitals = letters
        .windows(2)
        .any(|pair| pair.iter().all(u8::is_ascii_uppercase));
    capitals
        || name.starts_with("cuda")
        || name.starts_with("CROQ")
        || name.starts_with("croq")
        || is_classification(name)
}

/// `isnan`, `isalpha_l`, `toupper`: functions that some headers define as macros.
fn is_classification(name: &str) -> bool {
    let rest = name.strip_prefix("is").or_else(|| name.strip_prefix("to"));
    let plain = rest.map(|rest| rest.strip_suffix("_l").unwrap_or(rest));
    plain.is_some_and(|rest| {
        !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_lowercase()) && CLASSES.contains(&rest)
    })
}

/// `htobe16`, `le64toh` …
fn is_byte_order(name: &str) -> bool {
    let middle = name
        .strip_prefix("hto")
        .or_else(|| name.strip_suffix("toh"));
    middle.is_some_and(|order| {
        let size = order
            .strip_prefix("be")
            .or_else(|| order.strip_prefix("le"));
        matches!(size, Some("16" | "32" | "64"))
    })
}

/// `EDOM`, `ERANGE`, `E2BIG` … of <errno.h>, and signals: the exact set depends on the system.
fn is_error_number(name: &str) -> bool {
    let plain = |rest: &str| rest.len() > 1 && !rest.contains('_');
    let rest = name.strip_prefix("SIG").or_else(|| name.strip_prefix('E'));
    rest.is_some_and(plain)
}

/// Prefixes of families of macros.
const STARTS: &[&str] = &[
    "ADJ_", "CLOCK", "CROQ", "CUDA", "CU_", "EXIT_", "FD_", "FE_", "FP_", "HUGE_VAL", "MATH_",
    "MOD_", "NL_", "PTHREAD_", "RENAME_", "SEEK_", "SNAN", "STA_", "TIMER_", "cuda",
];

/// Suffixes of families of macros.
const ENDS: &[&str] = &[
    "_MAX", "_MIN", "_WIDTH", "_BIT", "_EPSILON", "_DIG", "_EXP", "_C", "_ENDIAN",
];

/// Keywords of C and C++ and their alternative tokens, those of GNU C++ too.
#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case",
    "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield",
    "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit", "continue",
    "contract_assert", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum",
    "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int",
    "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or",
    "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires", "restrict",
    "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch",
    "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename",
    "typeof", "typeof_unqual", "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t",
    "while", "xor", "xor_eq",
];

/// Macros, and names of the CUDA language, that look like any other name.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "I", "_tolower", "_toupper", "L_ctermid", "L_cuserid", "L_tmpnam", "P_tmpdir", "alloca", "assert", "assert_perror", "complex",
    "errno", "fpclassify", "h_addr", "h_errno", "i386", "imaginary", "linux", "main", "major", "makedev",
    "math_errhandling", "minor", "noreturn", "offsetof", "sa_handler", "sa_sigaction", "setjmp",
    "sigsetjmp", "signbit", "st_atime", "st_ctime", "st_mtime", "std", "stderr", "stdin", "stdout",
    "strdupa", "strndupa", "unix", "va_arg", "va_copy", "va_end", "va_list", "va_start",
    "blockDim", "blockIdx", "gridDim", "threadIdx", "warpSize", "croq",
];

/// Other macros of the system's headers.
#[rustfmt::skip]
const CAPITALS: &[&str] = &[
    "BUFSIZ", "BYTE_ORDER", "INFINITY", "MAXFLOAT", "MAX_CANON", "MAX_INPUT", "NAN", "NFDBITS", "NULL",
    "NZERO", "PIPE_BUF", "TIME_UTC", "WCONTINUED", "WEXITED", "WEXITSTATUS", "WIFCONTINUED", "WIFEXITED",
    "WIFSIGNALED", "WIFSTOPPED", "WNOHANG", "WNOWAIT", "WSTOPPED", "WSTOPSIG", "WTERMSIG", "WUNTRACED",
];

/// The suffixes of the `is…` and `to…` functions of the C library.
#[rustfmt::skip]
const CLASSES: &[&str] = &[
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "eqsig", "finite", "graph", "greater",
    "greaterequal", "inf", "less", "lessequal", "lessgreater", "lower", "nan", "normal", "print", "punct",
    "signaling", "space", "subnormal", "unordered", "upper", "xdigit", "zero",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_names_are_free() {
        for name in [
            "src", "gain", "M", "K2", "K_rhs", "Kc", "HeadDim", "x_", "tile", "e", "island",
            "total", "half", "exp", "y0", "idx", "shared", "status", "launch",
        ] {
            assert!(!may_be_taken(name), "{name}");
        }
    }

    #[test]
    fn keywords_macros_and_reserved_names_are_not() {
        for name in [
            "and",
            "NULL",
            "INT_MAX",
            "UINT64_MAX",
            "FLT_EPSILON",
            "EDOM",
            "M_PI",
            "threadIdx",
            "linux",
            "_Complex",
            "_x",
            "a__b",
            "CROQ_FN",
            "M_PIf",
            "cudaEventDefault",
            "isnan",
            "le32toh",
            "ROWS",
        ] {
            assert!(may_be_taken(name), "{name}");
        }
        // These are not taken: generated text can use them as they are, and a `__cpp__` statement
        // can mention them under another name.
        for name in ["ROWS", "_x", "BM", "M", "M_", "KV_LEN", "HeadDim"] {
            assert!(!is_taken(name), "{name}");
        }
        for name in [
            "errno", "_Complex", "CROQ_FN", "ENOTBLK", "SIGUSR1", "LONG_MAX", "M_PI",
        ] {
            assert!(is_taken(name), "{name}");
        }
    }
}
