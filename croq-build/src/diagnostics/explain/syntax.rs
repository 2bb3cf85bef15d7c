//! Tokens and grammar.

use super::Entry;

pub const TABLE: &[Entry] = &[
    (
        "E0100",
        "Something stands where the grammar has no place for it. The message names what was found and what could follow.",
    ),
    ("E0101", "An integer literal does not fit 64 signed bits."),
    ("E0102", "An unsigned integer literal does not fit 64 bits."),
    (
        "E0103",
        "A number is malformed: digits or a suffix that its kind of literal can't have.",
    ),
    (
        "E0104",
        "A character that means nothing here, or a string or comment without an end.",
    ),
    (
        "E0105",
        "An array is subscripted once per dimension: `a[i][j]`, not `a[i, j]`.",
    ),
    (
        "E0106",
        "A shape derived from another one is misspelled. Elements of the other shape are written `(0)`, `(1)` inside the brackets.",
    ),
    (
        "E0107",
        "A tuple derived from another one is misspelled. The form is `t {(0), …}`.",
    ),
    (
        "E0108",
        "A tuple of integers is written in braces, not in brackets: `{a, b}`.",
    ),
    (
        "E0109",
        "A chain of members stands where a name or a subscript is needed. Give the intermediate value a name.",
    ),
    (
        "E0110",
        "`.load` belongs to `tma` and `mma`, `.transp` and `.pad` to `dma`. A plain copy is `dma.copy`.",
    ),
    (
        "E0112",
        "A modifier of a copy is given twice. Each one may be written once, in any order.",
    ),
    (
        "E0113",
        "Only the level `device` takes a parameter, as in `device(\"name\")`.",
    ),
    (
        "E0114",
        "A trigger reaches a block or, with `.cluster`, the cluster; there is no other scope.",
    ),
    (
        "E0115",
        "The only initial state that an event can be given is `ready`.",
    ),
    (
        "E0116",
        "An attribute that does not exist, or one that this statement can't carry.",
    ),
    (
        "E0117",
        "The tiles of a `k_tiles` schedule are counted from 0.",
    ),
    (
        "E0118",
        "A sparsity pattern is written `n:m`, such as `2:4`.",
    ),
    (
        "E0119",
        "This spelling is one of older versions of the language. The help names what replaces it.",
    ),
    (
        "E0120",
        "An `else` stands without an `if` before it. It belongs to the nearest `if` of the same block.",
    ),
    (
        "E0121",
        "Inline assembly needs a string, and each operand the form `\"constraint\"(expression)`.",
    ),
    ("E0122", "`swap` takes two futures, `rotate` two or more."),
    (
        "E0123",
        "A copy's destination is a buffer, or one of `global`, `shared` and `local`.",
    ),
    (
        "E0124",
        "A keyword stands where a name is needed. Choose another name; keywords can't be escaped.",
    ),
    (
        "E0125",
        "Names that begin with two underscores are reserved for the compiler.",
    ),
    (
        "E0126",
        "This is C++, not Croqtile. The help shows how the language says it: loops are `foreach`, members have no `->`, arrays are shaped types.",
    ),
    (
        "E0127",
        "`_` means \"all of it\" among tiling arguments and can't be a variable.",
    ),
    (
        "E0129",
        "A name has more than 255 characters. Generated text repeats names, so they have a limit.",
    ),
    (
        "W0128",
        "The body of an `if` or a loop is an empty statement. Probably there is a semicolon too many.",
    ),
];
