//! Islands, macros and conditionals.

use super::Entry;

pub const TABLE: &[Entry] = &[
    (
        "E0001",
        "A call of a function-like macro has no closing parenthesis. Close it before the end of the `__co__` function.",
    ),
    (
        "W0001",
        "A function-like macro is named without arguments, so it is not expanded. Write the parentheses if a call was meant.",
    ),
    (
        "E0002",
        "The condition of an `#if` or `#elif` can't be read. It is an integer expression of literals, macros, `defined NAME` and the C operators.",
    ),
    (
        "E0003",
        "An `#else`, `#elif` or `#endif` has no open `#if`, or an `#if` has a second `#else`.",
    ),
    (
        "E0004",
        "The file ends inside a `__co__` function. The braces of its body do not balance: look at the line it begins on.",
    ),
    (
        "E0005",
        "The file ends inside a `__cok__` block or a `__device__` function whose braces are still open.",
    ),
    (
        "E0006",
        "The file ends with an `#if` still open. Add the missing `#endif`.",
    ),
    (
        "E0007",
        "A function-like macro is defined a second time with another body. `#undef` it first, or choose another name.",
    ),
    (
        "E0008",
        "A function-like macro is called with a number of arguments that it does not have.",
    ),
    (
        "E0009",
        "Expanding macros did not come to an end. Some macro leads back to itself; the note shows the chain.",
    ),
    (
        "E0010",
        "A `__co__` function begins inside another function or a `__cok__` block. They stand at file scope only.",
    ),
    (
        "E0011",
        "`__cok__` and `__device__` begin regions of the file and can't stand inside a `__co__` function. Move the text to file scope.",
    ),
    (
        "E0012",
        "A `#pragma croq` is not one of those that exist. The message lists the accepted spellings.",
    ),
    (
        "E0013",
        "`croq` and `choreo` are reserved and can't be registered as the prefix of intrinsics.",
    ),
    (
        "W0014",
        "The same prefix or namespace of intrinsics is registered a second time, which has no effect.",
    ),
    (
        "W0015",
        "A backslash is followed by blanks before the end of the line. Compilers disagree on whether that continues the line; croq does not.",
    ),
    (
        "E0016",
        "A bracket in a device function's header or body has no partner.",
    ),
    (
        "E0017",
        "An `#error` in a live branch of a `__co__` function: the file itself says that this configuration is wrong.",
    ),
    (
        "E0018",
        "`#include` stands at file scope only; the text of a `__co__` function is one file's.",
    ),
    (
        "W0019",
        "A line in a `__co__` function begins like a preprocessor directive that does not exist. If a directive was meant, correct its name.",
    ),
    (
        "E0099",
        "Reading the function was given up, because too much of it could not be understood. Mend the errors reported before it first.",
    ),
];
