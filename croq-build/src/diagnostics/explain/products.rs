//! Products of matrices and fragments.

use super::Entry;

pub const TABLE: &[Entry] = &[
    (
        "E0901",
        "What a warp multiplies are matrices whose extents are known when the kernel is compiled: registers are given out then. Cut a tile of constant extents out of a larger tensor.",
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
        "E0906",
        "A fragment lies in the registers of the 32 threads of a warp, which load, multiply and store it together: such statements stand inside `parallel … : group`.",
    ),
    (
        "E0907",
        "A warp multiplies what is in its registers. Load the tile first, `x = mma.load view;`.",
    ),
    (
        "E0911",
        "The order of the parts of K is chosen only in products by a warpgroup; those by a warp add in ascending order.",
    ),
    (
        "E0913",
        "How a fragment is spread over the threads of a warp follows from the product that it takes part in, and so do the extents of sums that were declared without. This one takes part in none.",
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
        "The destination has fewer rows or columns than the fragment, so that only part of it is stored.",
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
        "W0936",
        "The tile reaches beyond the data that it is cut from; zeros are multiplied there, which adds nothing. `.zfill` says that this is meant.",
    ),
    (
        "W0937",
        "Whether the tile reaches beyond the data that it is cut from is known only at run time; zeros are multiplied there, which adds nothing. `.zfill` says that this is meant.",
    ),
];
