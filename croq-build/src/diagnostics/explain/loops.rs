//! Loops, masks and control flow.

use super::Entry;

pub const TABLE: &[Entry] = &[
    (
        "E0540",
        "Braces take a shape apart, and this is an integer.",
    ),
    (
        "E0541",
        "There is one name for each dimension of the range.",
    ),
    ("E0542", "The range is empty: one of its extents is zero."),
    (
        "E0543",
        "A range of several dimensions is not sliced as a whole. Slice its components.",
    ),
    (
        "E0544",
        "The name of a loop variable is already one of this loop.",
    ),
    (
        "E0545",
        "A variable of `parallel` has one value per instance and is no range. To run over its bound use `with`.",
    ),
    (
        "E0546",
        "`foreach` runs over a range variable or an inline range; this is neither.",
    ),
    (
        "E0547",
        "An unroll factor is positive, at most the extent, and names a variable of the loop.",
    ),
    (
        "E0548",
        "Slice bounds are integers and the step is a literal of at least 1.",
    ),
    (
        "E0549",
        "The slice holds nothing: its lower end is not below its upper one.",
    ),
    (
        "E0550",
        "`break` and `continue` stand in loops only, and leave no `parallel` or `inthreads`: other threads run the loop around it too.",
    ),
    (
        "W0551",
        "Something that several threads do together stands under a condition that only some of them meet. Use `inthreads`, or move it out.",
    ),
    (
        "E0552",
        "`yield` leaves a kernel and stands inside a `parallel` only.",
    ),
    (
        "W0553",
        "A thread that leaves with `yield` may be missed at a barrier after it.",
    ),
    (
        "E0554",
        "`with … in` takes an integer or a shape: `with i in 8`, `with {r, c} in x.span`.",
    ),
    (
        "E0555",
        "`where a <-> b` ties two variables of this `with` that have equal extents.",
    ),
    (
        "E0556",
        "The condition of a `while` is a boolean or an event.",
    ),
    (
        "N0557",
        "A variable of `with` hides a name that was visible.",
    ),
    (
        "W0558",
        "The condition of the `while` holds only immutable values, and nothing leaves the loop: it runs never or for ever.",
    ),
    (
        "E0560",
        "`inthreads` chooses some threads of the unit, so its condition must differ between them.",
    ),
    (
        "W0567",
        "With the number of threads of this block, the predicate of the `inthreads` holds for all threads or for none, so it divides nothing.",
    ),
    ("E0561", "`inthreads` stands inside a `parallel` only."),
    ("E0562", "One `inthreads.async` can't stand in another."),
    (
        "E0563",
        "A `parallel` needs every thread and can't stand in an `inthreads`.",
    ),
    (
        "E0564",
        "An event must be visible to all threads that use it: declare it before the `inthreads`.",
    ),
];
