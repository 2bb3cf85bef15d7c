//! Mutants that do the same as the kernel, each with the reason.

use crate::edits::Mutant;

pub struct Equivalent {
    pub kernel: &'static str,
    pub line: usize,
    /// The opcode there.
    pub opcode: &'static str,
    edit: &'static str,
    argument: &'static str,
}

/// Why a mutant is equivalent, if it is.
pub fn argument(kernel: &str, mutant: &Mutant) -> Option<&'static str> {
    let found = EQUIVALENT
        .iter()
        .find(|known| (known.kernel, known.line, known.edit) == (kernel, mutant.line, mutant.edit));
    found.map(|known| known.argument)
}

/// ISA, "shfl.sync": the result is that of the source lane, and all lanes have the same source.
const UNIFORM: &str =
    "the shuffle only tells ptxas that the warp's number is the same in all lanes";

/// ISA, "wgmma.mma_async", strides: "leading dimension byte offset" of swizzled K-major layouts.
const LEADING: &str =
    "the leading offset is not used for a swizzled K-major tile of one swizzle width";

const INITIALISED: &str = "the barrier that follows orders the initialisation before its use by the block; \
     only other blocks would need the fence";

/// The compiler's check of an index.
const CHECK: &str = "no thread has the index 128: those that get here are below half of it";

const PATHS: &str = "a tile that ends at the edge is copied by the path for tiles that extend beyond it, \
     which copies the same elements";

/// CUDA C++ programming guide, "Negative indices and out of bounds": elements outside of a tensor are
/// loaded as zeros, and not stored.
const OUTSIDE: &str =
    "it is one tile more behind the last: all of its elements are outside of the tensor";

const NONE_PENDING: &str = "no group is pending: each iteration waits for the group that it uses, and \
     the last ones commit none";

pub const EQUIVALENT: &[Equivalent] = &[
    same(("row_sum", 320, "setp.lt.u32"), "limit", CHECK),
    same(
        ("row_sum", 361, "bar.sync"),
        "deleted",
        "the thread that reads the sum behind this barrier is the one that wrote it",
    ),
    same(("softmax", 383, "setp.lt.u32"), "limit", CHECK),
    same(("matmul_f32", 537, "setp.le.s64"), "limit", PATHS),
    same(
        ("linear_relu", 1558, "cp.async.wait_group"),
        "deleted",
        NONE_PENDING,
    ),
    same(
        ("matmul_hopper", 40, "shfl.sync.idx.b32"),
        "another lane",
        UNIFORM,
    ),
    same(
        ("matmul_hopper", 102, "fence.mbarrier_init"),
        "deleted",
        INITIALISED,
    ),
    same(
        ("matmul_hopper", 433, "wgmma.mma_async"),
        "leading offset",
        LEADING,
    ),
    same(
        ("matmul_hopper_persistent", 42, "shfl.sync.idx.b32"),
        "another lane",
        UNIFORM,
    ),
    same(
        ("matmul_hopper_persistent", 71, "fence.mbarrier_init"),
        "deleted",
        INITIALISED,
    ),
    same(
        ("matmul_hopper_persistent", 77, "bar.sync"),
        "deleted",
        "each iteration begins with the same barrier, before it uses the mbarrier",
    ),
    same(
        ("matmul_hopper_persistent", 105, "setp.ge.u64"),
        "limit",
        OUTSIDE,
    ),
    same(
        ("multicast_pairs", 40, "shfl.sync.idx.b32"),
        "another lane",
        UNIFORM,
    ),
    same(
        ("multicast_pairs", 75, "fence.mbarrier_init"),
        "deleted",
        "the barrier of the cluster, which releases and acquires, orders the initialisation as well",
    ),
    same(
        ("multicast_pairs", 83, "barrier.cluster.arrive"),
        "relaxed",
        "before it is fence.mbarrier_init.release.cluster, and nothing else is read behind it",
    ),
    same(
        ("tma_there_and_back", 36, "shfl.sync.idx.b32"),
        "another lane",
        UNIFORM,
    ),
    same(
        ("tma_there_and_back", 65, "fence.mbarrier_init"),
        "deleted",
        INITIALISED,
    ),
    same(
        ("column_sum_streamed", 549, "setp.gt.s64"),
        "limit",
        "differs for no rows only, where the one iteration adds a tile of zeros",
    ),
    same(
        ("column_sum_streamed", 924, "cp.async.wait_group"),
        "deleted",
        NONE_PENDING,
    ),
    same(
        ("column_sum_streamed", 924, "cp.async.wait_group"),
        "one more in flight",
        NONE_PENDING,
    ),
    same(
        ("race_look_back", 33, "mov.u32"),
        "another axis",
        IDEMPOTENT,
    ),
    same(
        ("race_look_back", 35, "setp.ne.s32"),
        "negated comparison",
        IDEMPOTENT,
    ),
    same(("race_look_back", 36, "bra"), "negated guard", IDEMPOTENT),
];

const IDEMPOTENT: &str = "31 or 32 lanes do what one did: they store the same values, and exchange a 1 \
     for a 1";

const fn same(
    (kernel, line, opcode): (&'static str, usize, &'static str),
    edit: &'static str,
    argument: &'static str,
) -> Equivalent {
    Equivalent {
        kernel,
        line,
        opcode,
        edit,
        argument,
    }
}
