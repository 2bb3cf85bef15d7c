//! Parameters, shapes, element access.

use super::Entry;

pub const TABLE: &[Entry] = &[
    (
        "E0401",
        "`??` says that an extent is not looked at, which only data that stays where it is allows: the parameter must be `global`.",
    ),
    (
        "E0402",
        "The extent of a parameter is a number or one new name, not an expression of names. Introduce another name, and relate the two with an `assert`.",
    ),
    (
        "E0403",
        "Symbolic dimensions come from parameters; this name is none of them.",
    ),
    (
        "E0404",
        "Parameters come from the host and live in device memory: they can't be `shared` or `local`.",
    ),
    ("E0405", "A `&` parameter is written, so it needs a name."),
    (
        "E0406",
        "`&` is for data that is copied back. A scalar's new value is returned instead.",
    ),
    (
        "E0407",
        "A `global` parameter is used in place; it needs no `&`.",
    ),
    (
        "E0408",
        "Scalars are passed by value and can't be `global`.",
    ),
    (
        "E0409",
        "Nothing of this type can be a parameter: scalars, shaped data and streams can.",
    ),
    (
        "E0410",
        "A symbolic dimension and a parameter have the same name. Rename one.",
    ),
    (
        "E0411",
        "The extent of a `??` dimension is not known and can't be calculated with.",
    ),
    ("E0413", "The extent of a parameter is not positive."),
    (
        "E0420",
        "A shape or tuple is indexed with a constant below its rank.",
    ),
    (
        "E0421",
        "Shapes, tuples or bounded values of different ranks can't be combined.",
    ),
    (
        "E0422",
        "Two shapes are divided element by element (`/`, `%`); they are not added or multiplied.",
    ),
    (
        "E0423",
        "An extent comes out as zero or less. Every dimension of a shape is positive.",
    ),
    ("E0424", "The declared rank is not that of the value."),
    (
        "E0425",
        "`cdiv`, `__alignup` and `__aligndown` take two integers, the second not zero.",
    ),
    (
        "E0426",
        "`|x|` is the number of elements of something with a shape; this has none.",
    ),
    ("E0427", "`.span` is the shape of data; this has none."),
    (
        "E0429",
        "A size does not fit in 64 bits: a buffer with too many bytes, or an integer expression that grows beyond what croq keeps exactly; or a shape or an ituple has more than 64 parts. A part of it that a kernel computes into an `s64` variable is a value like any other.",
    ),
    (
        "E0430",
        "An element is named by one index for each dimension.",
    ),
    (
        "E0431",
        "The index leaves the data. The message shows the range it can take and the extent it must stay below; a surrounding condition that the compiler understands narrows the range.",
    ),
    (
        "E0432",
        "A future is not data. Its data is `f.data`, as in `f.data.at(i)`.",
    ),
    (
        "E0433",
        "Whole buffers take part in arithmetic only where their shapes agree, or one has extent 1 where the other has more.",
    ),
    (
        "E0434",
        "An array of buffers has at least one element: its extent is a positive constant.",
    ),
    (
        "E0435",
        "The size of an array must be a compile-time integer.",
    ),
    (
        "E0436",
        "An array is subscripted once for each of its dimensions before it is data.",
    ),
    (
        "E0437",
        "The subscript leaves the array. The message shows its range and the array's size.",
    ),
    (
        "E0438",
        "Only arrays have subscripts; elements of data are `.at(…)`.",
    ),
    (
        "E0439",
        "An index is an integer, a bounded value, or a tuple of them.",
    ),
];
