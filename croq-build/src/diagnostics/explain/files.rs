//! The preprocessor and the regions of a file.

explanations! {
    E0001: "macro call without a closing parenthesis",
    E0002: "malformed condition of a preprocessor directive",
    E0003: "preprocessor directive without an open `#if`",
    E0004: "`__co__` function without an end",
    E0005: "C++ region without an end",
    E0006: "`#if` without `#endif`",
    E0007: "function-like macro defined twice",
    E0008: "wrong number of macro arguments",
    E0009: "macro expansion does not end",
    E0010: "`__co__` function inside another region",
    E0011: "C++ region inside a `__co__` function",
    E0012: "malformed `#pragma croq`",
    E0013: "reserved name registered for intrinsics",
    W0014: "intrinsic prefix or namespace registered twice",
    W0015: "blanks after a backslash",
    E0016: "unmatched bracket in a `__device__` function",
    E0017: "`#error` in a live branch",
    E0018: "`#include` inside a `__co__` function",
    W0019: "unknown preprocessor directive",
    E0099: "construct that croq does not compile",
}
