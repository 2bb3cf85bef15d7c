//! Storage and capacity.

use super::Entry;

pub const TABLE: &[Entry] = &[
    (
        "E0610",
        "Device memory is made on the host. Move the declaration out of the `parallel`, or make it `shared` or `local`.",
    ),
    (
        "E0611",
        "`shared` and `local` memory exists in a kernel only. Move the declaration into the `parallel`.",
    ),
    (
        "E0612",
        "A `shared` or `global` scalar can't be given a value where it is declared; assign it afterwards.",
    ),
    (
        "E0613",
        "A buffer is larger than the memory it is in: a block's shared memory, a thread's own, the registers of a fragment; or the shared memory of a block exceeds what the GPU has, although buffers that are not needed at the same time share it. The message names the total, the limit and the largest of the buffers that are; `croq emit --memory` shows which are alive when.",
    ),
    (
        "E0614",
        "Local memory is registers: its extents must be compile-time integers.",
    ),
    (
        "E0618",
        "Shapes, tuples and streams are not stored anywhere, so they take no storage keyword.",
    ),
    (
        "W0620",
        "A by-value parameter is written: the caller does not see it. Declare it `&`, or return it.",
    ),
    (
        "W0621",
        "Shared and local memory starts with arbitrary contents. Something reads this buffer, and nothing in the kernel writes it.",
    ),
    (
        "W0624",
        "A local array this large, or indexed at run time, does not fit a thread's registers and goes through slow memory.",
    ),
    (
        "W0625",
        "Shared memory has 32 banks of four bytes, and threads of a warp that want different words of one bank take turns: eight or more here, in every call. A swizzle on the copy that fills the tile, or one more element in each row, sends neighbouring threads to different banks.",
    ),
    (
        "W0626",
        "Instances of a `parallel` run at once, and these all write one element: the last write stays, and updates such as `+=` get lost. The same goes for updates of an element that data choose (`bins.at(x.at(p)) += 1`), or an index divided alone (`y.at(p / 2) += v`): two instances may find the same one. Index by the parallel variable, let one instance write, or use `__atomic_add` and the like.",
    ),
];
