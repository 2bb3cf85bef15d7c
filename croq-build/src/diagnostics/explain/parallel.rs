//! `parallel`, levels and launches.

use super::Entry;

pub const TABLE: &[Entry] = &[
    (
        "E0501",
        "A variable stands twice in the head of a `parallel`.",
    ),
    (
        "E0502",
        "One name runs over one bound. For several bounds write braces: `parallel {a, b} by [A, B]`.",
    ),
    (
        "E0503",
        "A bound is an integer or a list of integers in brackets.",
    ),
    (
        "E0504",
        "A level has at most three parts, the x, y and z of a grid or block.",
    ),
    (
        "E0505",
        "There are more variables than bounds in the header of a `parallel`; each variable has one bound.",
    ),
    (
        "E0506",
        "There are fewer variables than bounds in the header of a `parallel`; each bound has one variable.",
    ),
    (
        "E0507",
        "A `parallel` of no instances: its bound is not positive.",
    ),
    (
        "E0508",
        "The host must know the bound before the launch, so it can't depend on mutable values, elements or loop variables.",
    ),
    (
        "E0509",
        "The number of instances must be known here, because the size of the block depends on it.",
    ),
    (
        "E0510",
        "None of the architectures that this is built for has clusters of blocks; those from sm_90 on do.",
    ),
    (
        "N0510",
        "Only some of the architectures that this is built for have clusters of blocks (sm_90 and newer). For the others the kernel is left out, and calling it there is an error of the call.",
    ),
    (
        "E0511",
        "The level can't be told from the levels around it. Annotate it with `: cluster`, `: block`, `: group`, `: group-4` or `: thread`.",
    ),
    (
        "E0512",
        "An inner level must be finer than the one around it: cluster, block, group-4, group, thread.",
    ),
    ("E0513", "There are more nested levels than a GPU has."),
    (
        "E0514",
        "A `group` (warp) inside a `group-4` (warpgroup) leaves out the four warps between; write threads, or one of the two.",
    ),
    (
        "E0515",
        "An explicit `group` is 32 threads and a `group-4` is 128: the threads inside must come out at just that.",
    ),
    (
        "E0516",
        "A block has at most 1024 threads. The message shows the product.",
    ),
    (
        "E0518",
        "Two inner `parallel`s of one block ask for different numbers of threads.",
    ),
    (
        "W0520",
        "Some of the nested levels are annotated and others are not; the message says what the others are taken for.",
    ),
    (
        "W0521",
        "`cooperative` has an effect on a block level only.",
    ),
    (
        "E0522",
        "A grid has at most 2147483647 blocks along x and 65535 along y and z.",
    ),
    (
        "W0523",
        "A `block` without an inner level runs one thread per block, which leaves most of a GPU idle. Write `: thread`, or add an inner `parallel`.",
    ),
    (
        "W0524",
        "A single level that uses shared memory: each instance becomes a block of its own. Copies, and loops whose turns provably touch elements of their own, are shared out among threads that the compiler adds; where a loop that stores something can't be told to be such, or text can't be seen into, the block keeps one thread, and a label says what is in the way.",
    ),
    (
        "E0525",
        "A cluster is some of the blocks of a grid that are resident together: `parallel c by 2 : cluster parallel b by N : block …`. Its bounds are constants, 16 at most together, and divide the blocks along each axis; nothing but definitions stands between the two.",
    ),
    (
        "W0525",
        "Clusters of more than 8 blocks fit some GPUs only; on others the launch fails.",
    ),
    (
        "E0530",
        "`launch_bounds` takes one to three positive compile-time integers, on a block level, and not fewer threads than the block really has.",
    ),
    (
        "E0531",
        "`maxnreg` takes one positive compile-time integer, on a block level.",
    ),
    (
        "E0532",
        "Only an outermost `parallel` can be `.async`: it is a launch that the host does not wait for.",
    ),
    (
        "E0533",
        "A stream belongs to a launch, so to a block level.",
    ),
    (
        "E0534",
        "`parallel … stream s` launches on a stream that the caller passes: `s` is a parameter of type `stream`.",
    ),
    (
        "E0570",
        "`#x` is the bound of a bounded value; this has none.",
    ),
    (
        "E0571",
        "`a # b` combines two bounded values into one over the product of their bounds.",
    ),
    (
        "E0572",
        "`#*`, `#/` and `#%` are reserved and mean nothing yet.",
    ),
    (
        "E0573",
        "Give the selected component a name before calculating with it.",
    ),
    (
        "E0574",
        "`#+` and `#-` widen or narrow a bound by an integer.",
    ),
    ("E0575", "The resulting bound would not be positive."),
    (
        "E0576",
        "One bounded integer is needed here. Select a component, as in `x(0)`.",
    ),
    ("E0577", "The value selected lies outside of the bound."),
    (
        "E0580",
        "Blocks can wait for each other only in a cooperative launch, `parallel … : block<cooperative>`: elsewhere some may begin only when others have ended.",
    ),
    (
        "E0582",
        "A barrier of the whole block stands where only some of its threads come by. The others would never arrive: move it out, or wait for fewer threads.",
    ),
    (
        "E0588",
        "A barrier of the grid waits for every thread of every block, so all of them must come to it, and equally often. What decides about that must be the same for all: parameters, dimensions, what is read from one element of device memory, and what is calculated from those; not an index, nor what a thread or a block found by itself. Threads that `yield` before never come.",
    ),
    (
        "W0589",
        "`block<cooperative>` has all blocks resident at the same time, which bounds their number, and nothing in the kernel makes use of it.",
    ),
    (
        "E0585",
        "This kind of synchronisation does not exist here, or not yet.",
    ),
];
