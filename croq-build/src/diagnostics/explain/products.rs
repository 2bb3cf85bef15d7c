//! Products of matrices and fragments.

use super::Entry;

pub const TABLE: &[Entry] = &[
    (
        "E0901",
        "What is multiplied are matrices whose extents are known when the kernel is compiled: registers are given out then. Cut a tile of constant extents out of a larger tensor. A warpgroup reads tiles of shared memory whole: they may not reach beyond their buffer.",
    ),
    (
        "E0902",
        "Extents of the operands, or of the product and the sums, disagree. A `row` operand has K last, a `col` operand first: `row.row` takes [M, K] and [N, K], `row.col` [M, K] and [K, N].",
    ),
    (
        "E0903",
        "A fragment is filled with one scalar, and only sums and declared fragments are filled; operands come from memory.",
    ),
    (
        "E0904",
        "The GPU has no instruction of which this product could be made. The message says which types go together, or which extents M, N and K must be multiples of.",
    ),
    (
        "N0904",
        "Only the newer of the architectures that are built for have instructions for these types. On the others the kernel stops.",
    ),
    (
        "E0905",
        "Products by a warpgroup (WGMMA) exist on sm_90a alone. One warp, `: group`, multiplies everywhere.",
    ),
    (
        "N0905",
        "A kernel in which warpgroups multiply (WGMMA) runs on sm_90a alone. On the other architectures that are built for it stops.",
    ),
    (
        "E0906",
        "A fragment lies in the registers of the 32 threads of a warp, which load, multiply and store it together: such statements stand inside `parallel … : group`.",
    ),
    (
        "E0907",
        "A warp multiplies what is in its registers: load the tile first, `x = mma.load view;`. A warpgroup takes B from shared memory where it lies, and A from there or from registers; what is in device memory is copied to shared memory first.",
    ),
    (
        "E0908",
        "Which two of four elements of a sparse A are there is told by metadata, which `mma.load` brings into registers before the product.",
    ),
    (
        "E0909",
        "A warpgroup takes operands whose rows run across K (`col`) only of f16 and bf16. For other types K is the last dimension of both: `row.row`.",
    ),
    (
        "E0910",
        "`k_tiles` names each part of K once, by numbers from 0 on: a product of K = 64 in f16 has four parts of 16.",
    ),
    (
        "E0911",
        "The order of the parts of K is chosen only in products by a warpgroup that have more than one; those by a warp add in ascending order.",
    ),
    (
        "E0912",
        "A warpgroup reads its operands from swizzled tiles in shared memory, whose rows are whole groups of 32, 64 or 128 bytes. Rows of other lengths can't be swizzled: make the tile wider.",
    ),
    (
        "E0913",
        "How a fragment is spread over the threads of a warp or a warpgroup follows from the product that it takes part in, and so do the extents of sums that were declared without. This one takes part in none.",
    ),
    (
        "E0914",
        "Products are scaled by a number for each of their rows, in a tile of [64, 1] or [1, 64] elements of f32 in shared or device memory, and by a scalar. Sums are floats.",
    ),
    (
        "E0915",
        "`mma.scale` scales the products into the sums that stand in front of it in its block, in loops there as well, since the sums were filled or scaled last. There are none.",
    ),
    (
        "E0916",
        "Only products by a warpgroup are scaled as they are added. Scale sums with `apply`.",
    ),
    (
        "E0917",
        "Reductions go over the columns of each row, which is dimension 1; what would go down columns is spread over all lanes.",
    ),
    (
        "E0918",
        "What rows are reduced into, and what is added up over the owners of rows, has one value for each row: a fragment of rank 1.",
    ),
    (
        "E0919",
        "Which threads have a row's value follows from the matrix that the rows belong to. Nothing brings this column together with one.",
    ),
    (
        "E0921",
        "Elements of a fragment belong to different threads, and have no address. `apply` goes through all of them, `mma.store` writes them to memory.",
    ),
    (
        "E0922",
        "A sparse A has two of every four elements along K, so K is a multiple of 4; what is stored of A has half of it.",
    ),
    (
        "E0923",
        "One fragment of an array takes part in a product or a store: say which.",
    ),
    (
        "E0924",
        "Fragments are loaded from and stored to tiles of shared or global memory.",
    ),
    (
        "E0925",
        "A warp's loads make a new fragment; loads into one that exists are a warpgroup's.",
    ),
    (
        "E0927",
        "Each place in a product wants its elements with other threads: what is A in one product can't be B in another, and sums of narrow types can't become each other's operands. Load or copy it a second time.",
    ),
    (
        "E0928",
        "A product, an `apply` or a reduction takes fragments: sums from `mma.fill`, operands from `mma.load`. An `apply` names an index for each extent.",
    ),
    (
        "W0929",
        "The destination has fewer rows or columns than the fragment, so that only part of it is stored. Or products are scaled row by row, and how many scales there are is known at run time only: rows without one count as scaled by zero.",
    ),
    (
        "N0930",
        "With an explicit mask nothing is left out at the edge of the data but what the mask leaves out.",
    ),
    (
        "W0933",
        "A thread has at most 255 registers. Sums that take most of them leave none for operands, and end up in slow memory.",
    ),
    (
        "E0934",
        "Sums are registers of the threads that multiply into them. A fill in front of several regions gives the threads of each sums of their own, so what one warpgroup has multiplied another can't store.",
    ),
    (
        "W0935",
        "An `f16` has 11 binary places: a sum of more than 2048 products of ones is not exact any more, and small products beside a large sum are lost altogether. Sums in `f32` cost twice the registers.",
    ),
    (
        "W0936",
        "The tile reaches beyond the data that it is cut from; zeros are multiplied there, which adds nothing. `.zfill` says that this is meant.",
    ),
    (
        "W0937",
        "Whether the tile reaches beyond the data that it is cut from is known only at run time; zeros are multiplied there, which adds nothing. `.zfill` says that this is meant.",
    ),
];
