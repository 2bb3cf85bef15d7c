//! Numeric types, calls, builtins.

use super::Entry;

pub const TABLE: &[Entry] = &[
    (
        "E0701",
        "The element type or conversion does not exist on the GPUs asked for.",
    ),
    (
        "W0702",
        "An implicit conversion changes between signed and unsigned. Write `__to<T>(…)` if that is meant.",
    ),
    (
        "W0703",
        "An implicit conversion may lose digits or range. Write `__to<T>(…)` if that is meant.",
    ),
    (
        "E0704",
        "`f16` and `bf16` have no common type. Convert one of them, or both to `f32`.",
    ),
    (
        "E0705",
        "There is no conversion between these kinds of values.",
    ),
    (
        "W0707",
        "The literal can't be represented in its type; the message shows what it becomes.",
    ),
    (
        "E0760",
        "An `assert` is false for every call, as its own text says.",
    ),
    (
        "E0761",
        "`assert` takes a condition and a string: `assert(n > 0, \"n must be positive\");`.",
    ),
    ("E0770", "The function is one of floating-point numbers."),
    (
        "E0772",
        "Only scalars, tuples, shapes and strings can be printed.",
    ),
    (
        "N0773",
        "The value is not known at compile time; the compile-time print shows its symbols.",
    ),
    (
        "W0773",
        "The value is not known at compile time, so a compile-time print can't show it.",
    ),
    ("E0774", "The builtin has another number of arguments."),
    (
        "E0775",
        "Builtins take no template arguments: their type follows from their operands.",
    ),
    (
        "E0779",
        "`call croq::cuda::setreg_inc(n)` and `setreg_dec(n)` set how many registers each thread has from there on: a constant, a multiple of 8 from 24 to 256, for whole warpgroups (multiples of 128 threads) that come together. Those of all warpgroups must fit into the 65536 of a multiprocessor.",
    ),
    (
        "E0780",
        "`call` runs device code and stands inside a `parallel` only.",
    ),
    (
        "W0781",
        "No device function in this file fits the call. It may come from a header; if not, the C++ compiler will say so.",
    ),
    (
        "E0782",
        "A template argument is not known at compile time, which C++ will not accept.",
    ),
    (
        "E0795",
        "A `__device__` function calls itself, or is called by a function that it calls. A thread of the simulated GPU has a stack of fixed size, so how deep calls go must be known. Write a loop. Functions that can't be read this way (templates, overloads, function pointers) are looked at when they run.",
    ),
    (
        "E0783",
        "A call's result needs a typed or mutable variable, because only C++ knows its type.",
    ),
    (
        "E0784",
        "A value of this kind can't be passed to a C++ function.",
    ),
    (
        "E0785",
        "Template arguments are types and integers that are known at compile time, of the kind that the template has in that place. Anything else is an argument of the function.",
    ),
    (
        "E0786",
        "The call passes fewer arguments than the C++ function of this file takes, and what is missing has no default.",
    ),
    (
        "E0789",
        "The only function of this name in the file is one of the host, which is left out: kernels call functions that are marked `__device__`.",
    ),
    (
        "E0788",
        "A `__co__` function can't call another one. Put what they share into a `__device__` function.",
    ),
    (
        "E0794",
        "The text of a `__cpp__` mentions a variable whose name can't be declared in C++: a keyword such as `and`, or a macro of a system header such as `errno`. Give the variable another name, in the function and in the text.",
    ),
    (
        "E0790",
        "`asm goto` is not supported: control can't leave a statement sideways.",
    ),
];
