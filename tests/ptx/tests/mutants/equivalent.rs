//! Mutants that do the same as the kernel, each with the reason.

use crate::edits::Mutant;

struct Equivalent {
    kernel: &'static str,
    line: usize,
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

const NONE_PENDING: &str = "no group is pending: each iteration waits for the group that it uses, and \
     the last ones commit none";

const EQUIVALENT: &[Equivalent] = &[
    same("row_sum", 313, "limit", CHECK),
    same("softmax", 373, "limit", CHECK),
    same("matmul_f32", 513, "limit", PATHS),
    same("matmul_hopper", 40, "another lane", UNIFORM),
    same("matmul_hopper_persistent", 41, "another lane", UNIFORM),
    same("multicast_pairs", 40, "another lane", UNIFORM),
    same("tma_there_and_back", 36, "another lane", UNIFORM),
    same("matmul_hopper", 430, "leading offset", LEADING),
    same("matmul_hopper", 102, "deleted", INITIALISED),
    same("matmul_hopper_persistent", 65, "deleted", INITIALISED),
    same("tma_there_and_back", 65, "deleted", INITIALISED),
    same(
        "multicast_pairs",
        75,
        "deleted",
        "the barrier of the cluster, which releases and acquires, orders the initialisation as well",
    ),
    same(
        "multicast_pairs",
        83,
        "relaxed",
        "before it is fence.mbarrier_init.release.cluster, and nothing else is read behind it",
    ),
    same(
        "matmul_hopper_persistent",
        70,
        "deleted",
        "each iteration begins with the same barrier, before it uses the mbarrier",
    ),
    same(
        "row_sum",
        352,
        "deleted",
        "the thread that reads the sum behind this barrier is the one that wrote it",
    ),
    same("linear_relu", 1351, "deleted", NONE_PENDING),
    same("column_sum_streamed", 924, "deleted", NONE_PENDING),
    same(
        "column_sum_streamed",
        924,
        "one more in flight",
        NONE_PENDING,
    ),
    same(
        "column_sum_streamed",
        549,
        "limit",
        "differs for no rows only, where the one iteration adds a tile of zeros",
    ),
    same("race_look_back", 36, "negated guard", IDEMPOTENT),
    same("race_look_back", 35, "negated comparison", IDEMPOTENT),
    same("race_look_back", 33, "another axis", IDEMPOTENT),
];

const IDEMPOTENT: &str = "31 or 32 lanes do what one did: they store the same values, and exchange a 1 \
     for a 1";

const fn same(
    kernel: &'static str,
    line: usize,
    edit: &'static str,
    argument: &'static str,
) -> Equivalent {
    Equivalent {
        kernel,
        line,
        edit,
        argument,
    }
}
