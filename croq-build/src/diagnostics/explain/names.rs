//! Names and scopes.

use super::Entry;

pub const TABLE: &[Entry] = &[
    (
        "E0201",
        "The name is not declared here. Names are looked up in the enclosing scopes, then among parameters and symbolic dimensions; the help names the closest one visible.",
    ),
    (
        "E0202",
        "The name is declared, but only further down. A declaration holds from its own line on.",
    ),
    (
        "E0203",
        "The name is known, but as another kind of thing: a shape where data is needed, for example.",
    ),
    (
        "E0204",
        "A compound assignment or `++` needs a variable that exists. Declare it `mutable` first.",
    ),
    (
        "E0205",
        "A name is given to a second thing of another kind in one scope. Choose another name for it.",
    ),
    (
        "E0208",
        "A function with two leading underscores is no builtin and is not registered as an intrinsic. Register its prefix with `#pragma croq intrinsic`, or `call` it.",
    ),
    (
        "W0209",
        "A variable is declared and never read. Remove it, or start its name with `_`.",
    ),
    (
        "W0210",
        "A buffer or event is declared and never used; it still takes its memory.",
    ),
    (
        "E0211",
        "What is declared inside a `parallel` (shared and local buffers, futures) ends with it and can't be used after it.",
    ),
    (
        "E0212",
        "Kernels get a copy of the host's variables. One that is assigned in a kernel would lose the assignment: keep the result in a buffer.",
    ),
    (
        "E0213",
        "Two functions of one file have the same name. Rust has no overloads: give one of them another name.",
    ),
    (
        "W0214",
        "A parameter is never used. Remove it, or start its name with `_`.",
    ),
];
