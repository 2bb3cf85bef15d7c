//! The command line, build scripts, and the compilers below.

use super::Entry;

pub const TABLE: &[Entry] = &[
    (
        "E1102",
        "A setting has a value that it can't have. The message lists those it can.",
    ),
    (
        "E1103",
        "There is no such GPU architecture. They are named like `sm_80` and `sm_90a`.",
    ),
    (
        "E1104",
        "An input file is missing, can't be read, is no regular file, is too large, or is not UTF-8 text; or its name can't be shown on one line.",
    ),
    (
        "E1105",
        "A build script compiles kernels once. Put all `.co` files below one folder; subfolders become modules.",
    ),
    (
        "E1106",
        "Something is asked for that can't be had together or in this place, such as `croq_build::compile` outside of a build script, or a path with a line break, which cargo can't be told.",
    ),
    (
        "E1107",
        "A generated file can't be written. The message has the path and the system's reason.",
    ),
    (
        "E1108",
        "The file has no `__co__` function, so nothing is generated from it.",
    ),
    (
        "W1108",
        "The file has no `__co__` function, so nothing is generated from it.",
    ),
    (
        "W1110",
        "Something that was asked for has no effect on this machine: without nvcc, for example, kernels are built for the simulated GPU only.",
    ),
    (
        "E1199",
        "An error in croq, not in the program: a stage of the compiler left its intermediate representation in a state that no later stage can read. The message names the stage and the statement. Please report it with the file. `croq emit --ir=all` shows the representation after each stage.",
    ),
    (
        "E1111",
        "A tool that the build needs is missing or too old, or croq-build and croq-sys are of two versions. The message says which, where it was looked for, and how to get it.",
    ),
    (
        "E1112",
        "The C++ compiler rejects the text made of this line. If the line holds C++ of yours (`__device__`, `__cok__`, `__cpp__`), mend that; if not, it is a fault of croq.",
    ),
    (
        "W1112",
        "The C++ compiler warns about the text made of this line.",
    ),
    (
        "E1113",
        "nvcc rejects the text made of this line. If the line holds C++ of yours (`__device__`, `__cok__`, `__cpp__`), mend that; if not, it is a fault of croq.",
    ),
    (
        "W1113",
        "nvcc or ptxas warns about the text made of this line: register spills, for example, which make a kernel slow.",
    ),
    (
        "E1116",
        "Two `.co` files would become the same Rust module. Rename one.",
    ),
    (
        "N1117",
        "A run shows at most 100 reports, errors before warnings. Mend those first; the rest is counted.",
    ),
];
