//! The command line, the build and the tools below it.

explanations! {
    E1102: "invalid value of a setting",
    E1103: "unknown GPU architecture",
    E1104: "unreadable input file",
    E1105: "kernels compiled twice by one build script",
    E1106: "impossible request",
    E1107: "output cannot be written",
    E1108: "file without a `__co__` function",
    W1108: "file without a `__co__` function in a crate",
    W1110: "request without effect",
    E1111: "tool missing or too old",
    E1112: "C++ compiler rejects generated code",
    W1112: "C++ compiler warns about generated code",
    E1113: "nvcc rejects generated code",
    W1113: "nvcc warns about generated code",
    E1114: "instruction that nvcc is too old for",
    E1116: "two files become one module",
    N1117: "further reports counted only",
    E1199: "internal error",
}
