//! Checks made when a kernel is called or runs: what the compiler could not prove.

use super::Entry;

pub const TABLE: &[Entry] = &[
    (
        "R01",
        "The extent of a parameter is not the number that the signature asks for.",
    ),
    (
        "R02",
        "Two extents that the signature calls by one name differ in this call.",
    ),
    (
        "R03",
        "A symbolic extent is zero. Every dimension of a tensor given to a kernel has at least one element.",
    ),
    (
        "R04",
        "An extent declared `??` has a value where none may be given.",
    ),
    (
        "R05",
        "The launch is not possible: no blocks, more blocks than a grid can have, more threads than a block can, or, where blocks wait for each other, more than the GPU holds at once. Let such blocks share the work out in loops, by `parallel b by 128 : block<cooperative>` and the like.",
    ),
    (
        "R06",
        "A size calculated from the arguments is out of its range: an extent below 1, a factor above the extent, a divisor of 0.",
    ),
    (
        "R07",
        "The two ends of a copy have different shapes in this call.",
    ),
    (
        "R08",
        "A new shape does not hold as many elements as the data has in this call.",
    ),
    (
        "R09",
        "A block needs more shared memory than the device has. The message has both numbers of bytes.",
    ),
    (
        "R10",
        "A tensor can't be reached by TMA: its address or strides are not aligned, or a box is too large.",
    ),
    (
        "R11",
        "A subscript or selector calculated from the arguments is out of its range.",
    ),
    (
        "R12",
        "An element index left its buffer. The message has the buffer, the index and the extent.",
    ),
    ("R13", "A subscript or selector left its range in a kernel."),
    (
        "R14",
        "An `assert` of the `.co` file failed at run time; the message is the text of the `assert`.",
    ),
    ("R15", "There is no device that can run the kernel."),
    (
        "R16",
        "A parameter has no memory behind it although it has elements.",
    ),
    (
        "R17",
        "The device can't reach the memory of a `global` parameter.",
    ),
    (
        "R18",
        "An event is waited for that has not been triggered, by somebody who alone could do so: the host, which waits for a launch that waits for the host, or a thread that waits for an event of its own. Triggers and waits must be as many, and in that order.",
    ),
    (
        "R19",
        "An integer that must be exact does not fit 64 bits in this call: one made of literals, dimensions, scalar parameters, loop and parallel variables alone. The message has the expression and the values. What an element, a `call` or a variable that changes goes into wraps in its type instead.",
    ),
    (
        "R21",
        "A check of the device API that has no code of its own; its message says what was wrong.",
    ),
    (
        "R23",
        "The tiles that a copy within one buffer reads and writes overlap, and are not the same. The message has where they begin.",
    ),
];
