//! Tiling, views, copies, futures.

use super::Entry;

pub const TABLE: &[Entry] = &[
    (
        "E0801",
        "A copy moves elements as they are: both ends have one element type.",
    ),
    ("E0802", "The two ends of a copy have different ranks."),
    (
        "E0803",
        "`=> shared` and `=> local` name memory of a kernel, `=> global` memory of the host's side.",
    ),
    (
        "E0804",
        "The two ends of a copy have different shapes. The message names the first dimension that differs.",
    ),
    (
        "E0805",
        "The destination holds fewer elements than are copied.",
    ),
    (
        "E0806",
        "The axes of a transposition are a permutation: each exactly once.",
    ),
    (
        "E0807",
        "A transposition names every axis of the data once: its list is as long as the rank.",
    ),
    (
        "E0808",
        "Padding between elements is not supported; padding before and after is.",
    ),
    (
        "E0809",
        "A padding has an integer for each dimension, and one scalar to pad with.",
    ),
    (
        "E0810",
        "A tiling has one argument for each dimension; `_` leaves a dimension whole.",
    ),
    (
        "E0811",
        "A tiling factor is zero. An axis is split into at least one tile.",
    ),
    (
        "E0812",
        "The tiling factor exceeds the extent, so a tile would be empty.",
    ),
    ("N0813", "A tiling of wildcards alone is the whole data."),
    (
        "W0814",
        "The factor does not divide the extent: elements at the end belong to no tile. `subspan` with `cdiv` reaches them.",
    ),
    (
        "E0815",
        "`chunkat` takes bounded values, whose bound says how many chunks there are. With a plain integer write `chunk(k).at(i)` or `subspan`.",
    ),
    (
        "E0816",
        "The tile is larger than the data it is cut from, along the axis that is named.",
    ),
    (
        "E0817",
        "A tile has at least one element along each dimension.",
    ),
    (
        "E0818",
        "There is no tile of that number: it would lie outside of the data altogether.",
    ),
    (
        "E0819",
        "The view lies outside of the data altogether. It may cross an edge, but must overlap the data.",
    ),
    (
        "E0820",
        "A new shape must hold as many elements as the old one.",
    ),
    (
        "E0821",
        "Data can be given a new shape only where it lies without gaps; a tile of rows does not.",
    ),
    (
        "W0822",
        "Whether the data lies without gaps depends on run-time sizes, and a new shape needs that.",
    ),
    (
        "E0823",
        "`sqz` drops dimensions of extent 1 from a view; there is none to drop.",
    ),
    (
        "E0824",
        "There is one offset, step or stride for each dimension.",
    ),
    (
        "N0825",
        "A step or stride of zero visits the same elements again.",
    ),
    (
        "E0826",
        "`span_as` gives the elements of contiguous data another shape, and what it is applied to has no elements in memory. It never changes their type.",
    ),
    (
        "E0829",
        "`=> shared` makes a buffer of the tile's shape, and buffers of a kernel are sized before it starts. An extent that the kernel itself computes can't be one: declare a buffer of the largest size, and copy into it with `.zfill`.",
    ),
    (
        "E0830",
        "A copy inside a kernel begins or ends in the kernel's own memory.",
    ),
    (
        "E0831",
        "No hardware copies this pair of memories in the background: asynchronous copies go from global to shared memory.",
    ),
    (
        "E0832",
        "The copy engine moves tiles between global and shared memory, in kernels, and with `.multicast` only to shared memory. Other pairs are for `dma`.",
    ),
    (
        "E0833",
        "A copy is between data, views, futures' data, and storage names.",
    ),
    (
        "E0835",
        "A placeholder (`f = dma.any;`) has one type, that of its first copy: shape, element type and storage.",
    ),
    (
        "E0837",
        "`dma.pad` and `dma.transp` need their argument; `dma.copy` takes none.",
    ),
    ("E0838", "Data has between one and five dimensions here."),
    (
        "E0839",
        "A limit of copies is exceeded; the message names it.",
    ),
    (
        "E0840",
        "Only a named copy can be waited for: `f = dma.copy.async …;` and later `wait f;`.",
    ),
    (
        "W0841",
        "Several instances copy different data into one shared buffer. Give each its own, or move the copy out.",
    ),
    (
        "E0842",
        "On some way through the kernel an asynchronous copy is never waited for, or is begun again before it has arrived. Every way needs its `wait`.",
    ),
    (
        "E0843",
        "A copy without `.async` has arrived when its statement is done: there is nothing to wait for.",
    ),
    (
        "E0844",
        "A future is bound once. Declare it with `dma.any` to bind it again.",
    ),
    (
        "E0845",
        "A placeholder (`f = dma.any;`) that nothing is ever copied into has no type. Remove it or bind it.",
    ),
    (
        "E0846",
        "`swap` and `rotate` exchange what data futures stand for. The futures are different ones, of the same shape, element type, storage and manner (`.async` or not).",
    ),
    (
        "E0847",
        "Exchanged futures live equally long: declare them in one scope. One that is copied into later is declared with `f = dma.any;`.",
    ),
    (
        "E0848",
        "`select(i, x0, x1, …)` takes an integer and operands of one type: all futures or all buffers, of the same shape, element type and storage.",
    ),
    (
        "E0849",
        "The number that `select` chooses by is at least 0 and below the number of operands.",
    ),
    (
        "W0850",
        "`.zfill` has no effect: the tile never reaches beyond the data.",
    ),
    (
        "W0851",
        "The shapes differ and nothing fills the rest: those elements keep what they had. Add `.zfill` if they are read.",
    ),
    (
        "E0852",
        "A swizzle is 32, 64 or 128 bytes wide, written as `.swiz<128>`.",
    ),
    (
        "E0853",
        "A swizzle moves data within groups of 32, 64 or 128 bytes, so that rows of the shared buffer are a whole number of groups long.",
    ),
    (
        "W0854",
        "A buffer has one swizzle, whichever copy says so; the first that is said counts, and others should say the same.",
    ),
    (
        "E0855",
        "The pattern of a swizzle repeats every 8 rows and moves units of 16 bytes. A tile that is copied to or from swizzled memory begins where the pattern does: at a multiple of 8 rows, and of 16 bytes within a row. What a warpgroup multiplies begins there as well, or along K at a multiple of 32 bytes.",
    ),
    (
        "N0856",
        "The width of a swizzle was not written, or follows from another use of the buffer.",
    ),
    (
        "E0857",
        "Only shared memory is swizzled. Say it on the copy that fills the shared buffer; whatever reads that buffer goes by it.",
    ),
    (
        "E0858",
        "`.promote<N>` says how many bytes a copy by `tma` brings into L2 at a time: 64, 128 or 256.",
    ),
    (
        "E0859",
        "An eviction hint belongs to `tma.load`; software copies have none.",
    ),
    (
        "E0860",
        "GPUs before sm_90 have no copy engine for tiles. Kernels with `tma` are left out of the text for those; some other architecture must be asked for.",
    ),
    (
        "N0860",
        "GPUs before sm_90 have no copy engine for tiles, so a kernel with `tma` has no text for them. Calling it on one is an error that the wrapper returns.",
    ),
    (
        "E0861",
        "The host describes the tensor and the box to the copy engine before the launch. Only where the box is in the tensor may come from inside the kernel.",
    ),
    (
        "E0862",
        "One thread issues the copy for all of a block, warpgroup or warp, so all of them must mean the same tile; and for all blocks of a cluster with `.multicast`, so all of those must mean the same tile, and come by equally often.",
    ),
    (
        "E0863",
        "The copy engine moves boxes of at most 256 elements along each axis.",
    ),
    (
        "E0864",
        "The copy engine moves rows of multiples of 16 bytes.",
    ),
    (
        "E0865",
        "The copy engine knows tensors of up to five dimensions. Axes that follow one another without gaps can be joined with `span_as`.",
    ),
    (
        "E0866",
        "The copy engine reads and writes device memory at multiples of 16 bytes: where the tensor begins, and from each row, plane and so on to the next.",
    ),
    (
        "W0867",
        "In shared memory a box lies densely, from a multiple of 128 bytes on. Where a tile does not, threads copy it, as `dma` would.",
    ),
    (
        "E0868",
        "The copy engine knows tensors as the host describes them before the launch, a parameter or buffer or a reshaped one. It stops at the ends of those, and knows of no others.",
    ),
    (
        "W0834",
        "A copy at the edge of the data leaves the rest of its tile as it was, and a product takes in all of the tile. With `.zfill` the rest is zero.",
    ),
    (
        "W0870",
        "Elements of less than four bytes move fast when several of them make one access. Here none do: rows have an odd number of elements, or begin at one, or neighbours in the tile are no neighbours in memory. Said only where it is so in every call.",
    ),
    (
        "E0871",
        "This transformation of a copy is not supported, or not for such data.",
    ),
    (
        "E0872",
        "Only a plain `copy` can be sparse, not a transposition or a padding.",
    ),
    (
        "E0873",
        "A sparse copy takes whole buffers: its metadata belong to all of the data, not to a tile.",
    ),
    (
        "E0874",
        "A sparse copy takes two or three dimensions whose extents are numbers.",
    ),
    (
        "E0875",
        "The hardware knows one sparse pattern: of four neighbours at most two are not zero, `2:4`.",
    ),
    (
        "E0876",
        "`after g` delays a copy until the asynchronous copy `g` has arrived; `g` is one that was begun before.",
    ),
    (
        "E0877",
        "A placeholder stands for nothing before the first copy into it.",
    ),
    (
        "W0879",
        "The data of an asynchronous copy is used before a `wait` for it. The simulated GPU lets its bytes land as late as the `wait` allows, so the mistake shows there.",
    ),
    (
        "E0880",
        "What an asynchronous copy reads is overwritten before a `wait` for the copy: it may read the old values, or the new ones. Wait first, or write somewhere else.",
    ),
    (
        "W0881",
        "C++ text is given swizzled memory, where the units of a row have changed places and rows may be cut into groups. It has to know the layout, or should see single elements or other memory only.",
    ),
    (
        "W0882",
        "Two instances of one level use the same element of shared memory, at least one of them writes it, and no barrier stands between. The instances run in any order, so what is read is the old value or the new one. A `sync.shared;` between the two accesses orders them.",
    ),
    (
        "E0883",
        "A copy moves its elements in no order. Within one buffer the two tiles are therefore the same elements, or have none in common; otherwise elements are overwritten before they are read, or after. Copy to another buffer first. Where it depends on the arguments, the call finds out (R23).",
    ),
    (
        "W1044",
        "What is for all blocks of a cluster stands in a kernel without clusters, where a block is on its own.",
    ),
];
