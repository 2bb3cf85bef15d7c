//! Events, and threads that run different code.

use super::Entry;

pub const TABLE: &[Entry] = &[
    (
        "E0565",
        "Threads must wait for each other inside an `inthreads`, and the hardware has no barrier for just these threads. It has barriers for whole warps (multiples of 32 threads) and for lanes of one warp.",
    ),
    (
        "W0565",
        "The threads of an `inthreads` share a copy that is written inside. If they are not whole warps, the other lanes of their warps idle until it is done.",
    ),
    (
        "W0568",
        "Two regions of `inthreads.async` use the same shared memory, one of them writes it, and neither waits for an event that the other triggers. They run at the same time, so what is read may be there or not.",
    ),
    (
        "E0566",
        "The regions of `inthreads.async` run at the same time, so croq must know which threads are in which: the predicate has to compare variables of inner `parallel`s of constant size with constants.",
    ),
    (
        "E1001",
        "A `global` event is for signals between host and device, and the host declares it. Threads of one block use `shared` events.",
    ),
    (
        "E1007",
        "An event of the host is triggered by the host, and waited for by launches. The host waits for launches with `sync.global`.",
    ),
    (
        "E1046",
        "Each `wait` of a launch is for one `trigger` of the host, which counts both. So all threads come to it, and once: it is in no loop, under no condition and in no `inthreads`.",
    ),
    (
        "E1047",
        "The host waits for a launch at `sync.global`, at a launch that is not `.async`, and at the end of the call. A launch that waits in turn for what the host triggers only later, or not often enough, never ends. Launch it by `parallel.async`, and trigger before the host waits.",
    ),
    (
        "E1002",
        "`shared` and `local` events live in a block or a thread of a kernel.",
    ),
    (
        "W1003",
        "`event<n>` says how many threads arrive before a generation is published. With another number than the threads that trigger it, waiters hang or go on too early.",
    ),
    (
        "E1004",
        "A generation of an event is published when a fixed number of threads have arrived. The places that trigger one event must be reached by equally many threads: either the same threads at each, or each time others. With `trigger.cluster` threads of every block of the cluster arrive, so it stands at each of the places or at none.",
    ),
    (
        "W1005",
        "Outside `inthreads` all threads of the block wait. An event tells threads that run one piece of code about those that run another; among all threads a barrier is meant.",
    ),
    (
        "W1006",
        "Outside `inthreads` all threads of the block arrive. An event tells threads that run one piece of code about those that run another; among all threads a barrier is meant.",
    ),
    (
        "E1010",
        "A product that is written with `.async` has a name, and is waited for exactly once: `q = mma.row.row.async c, a, b; … wait q;`.",
    ),
    (
        "E1014",
        "`wait` takes copies and events, `trigger` takes events, and `.async<e>` names an event.",
    ),
    (
        "E1015",
        "A copy arrives on its own; there is nothing to trigger about it. `wait` for it, or let it complete an event with `trigger e after f;`.",
    ),
    (
        "E1016",
        "croq counts the threads that trigger an event, and here a condition that differs between threads decides. Choose the threads with `inthreads`, or say their number: `event<n> e`.",
    ),
    (
        "E1020",
        "`e.at(order)` goes through the slots of an array: slot `order % N`, generation `order / N`. A single event has no slots.",
    ),
    (
        "E1021",
        "`e.at(order)` goes through the slots of an array of one dimension.",
    ),
    (
        "E1022",
        "Only the order as a whole may be counted up where it is used: `e.at(n++)`.",
    ),
    (
        "E1023",
        "The order of an event is an integer that grows by one with each use.",
    ),
    (
        "E1030",
        "Copies complete one slot of one event: their bytes are counted by one mbarrier.",
    ),
    (
        "E1031",
        "The copy engine arrives at an event when its bytes have landed; threads that copy with `dma` can't. `wait` for the copy, then `trigger` the event.",
    ),
    (
        "E1032",
        "A store by the copy engine completes no event: nobody could tell when it has been carried out. It is over when the statement is, so a plain `trigger` after it is enough.",
    ),
    (
        "E1033",
        "Copies into shared memory complete events, products don't: wait for the product, and trigger the event then.",
    ),
    (
        "E1034",
        "A copy that was waited for has arrived already: it can't complete an event any more.",
    ),
    (
        "E1035",
        "A copy arrives in one place: at one event, or where it is waited for by name.",
    ),
    (
        "E1036",
        "With several copies the order of the event is used more than once; count it up in a statement of its own.",
    ),
    (
        "E1037",
        "`trigger e after f` needs the name of an asynchronous copy by the copy engine, begun in the same block.",
    ),
    (
        "E1008",
        "Threads wait for an event that nothing triggers: they wait for ever. Copies that name an event bring its bytes, but one `trigger` has to say that these are all.",
    ),
    (
        "W1009",
        "An event that nobody waits for tells nobody anything.",
    ),
    (
        "E1011",
        "Regions wait for each other in a circle, so that none can begin. In a ring of buffers the slots are free at first, and somebody has to say so: the consumer triggers every slot once before its loop, or the event is declared `= ready`.",
    ),
    (
        "W1012",
        "The slots of this event are free from the start (`= ready`), and a `trigger` before the first wait frees them again: a producer may then be a whole round ahead, and overwrite what is still read.",
    ),
    (
        "E1013",
        "The threads wait for an event that only they trigger, and only after the wait.",
    ),
    (
        "E1038",
        "An mbarrier counts at most 1048575 bytes (2^20 - 1) for one generation of an event.",
    ),
    (
        "E1045",
        "One side of a pipeline waits more often than the other side triggers, so it never ends. Loops that hand tiles to each other have the same number of turns.",
    ),
    (
        "E0587",
        "`__bar_sync(id, threads)` waits at one of the block's 16 barriers until so many threads have come, and `__bar_arrive(id, threads)` counts as having come without waiting. Both take constants: 0 to 15 (1 to 15 for arrivals, 0 being the barrier of the whole block), and no more threads than the block has.",
    ),
    (
        "W0583",
        "Barrier 15 is used by code that other compilers generate. croq leaves every number alone that the program names.",
    ),
    (
        "W0584",
        "Named barriers count warps: the number of threads is a multiple of 32.",
    ),
];
