//! What is compared: each problem is solved by kernels of croq and of other projects.

/// Of the products: rows of both operands, and their columns.
pub const PRODUCT_SIZE: usize = 2048;
pub const PRODUCT_DEPTH: usize = 1024;
pub const ATTENTION_HEADS: usize = 16;
pub const ATTENTION_LENGTH: usize = 1024;
/// Of the matrices of softmax and layer norm.
pub const ROWS: usize = 256;
pub const COLUMNS: usize = 4096;
/// Of the element-wise kernels.
pub const ELEMENTS: usize = 1 << 20;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Loops are normalised to products of 64 × 256 × 16.
    Product,
    /// To 64 × 128 scores of heads with so many elements.
    Attention(u64),
    /// Bound by memory: kernels without products.
    Memory,
}

/// A kernel of croq.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The file's name, without its folder and ending.
    pub stem: &'static str,
    pub text: &'static str,
    /// As machine code has it.
    pub kernel: &'static str,
}

/// A kernel of croq beside one of another project.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    pub croq: &'static str,
    pub source: Source,
    pub peer: &'static str,
    pub project: &'static str,
    /// How many instructions croq may execute for one of the peer's, at most.
    pub budget: f64,
}

#[derive(Clone, Debug)]
pub struct Problem {
    pub title: String,
    pub kind: Kind,
    /// Elements of the result.
    pub results: u64,
    /// Sectors of all operands and results, each of them moved once.
    pub minimum: u64,
    pub pairs: Vec<Pair>,
}

macro_rules! source {
    ($stem:literal, $path:literal, $kernel:literal) => {
        Source {
            stem: $stem,
            text: include_str!(concat!("../../../kernels/co/", $path)),
            kernel: $kernel,
        }
    };
}

const COOPERATIVE: Source = source!(
    "hopper_resident",
    "matmul/hopper_resident.co",
    "matmul_hopper_cooperative_f16_0"
);
const PINGPONG: Source = source!(
    "hopper_resident",
    "matmul/hopper_resident.co",
    "matmul_hopper_pingpong_f16_0"
);
const F8: Source = source!(
    "hopper",
    "matmul/hopper.co",
    "matmul_hopper_two_128_f8_e4m3_f32_128_f32_0"
);

const fn pair(
    croq: &'static str,
    source: Source,
    peer: &'static str,
    project: &'static str,
    budget: f64,
) -> Pair {
    Pair {
        croq,
        source,
        peer,
        project,
        budget,
    }
}

/// With operands and results of so many bytes.
fn product(operand: usize, result: usize, title: &str, pairs: Vec<Pair>) -> Problem {
    let (size, depth) = (PRODUCT_SIZE, PRODUCT_DEPTH);
    Problem {
        title: format!("{title}, {size} × {size} × {depth}"),
        kind: Kind::Product,
        results: (size * size) as u64,
        minimum: ((2 * size * depth * operand + size * size * result) / 32) as u64,
        pairs,
    }
}

fn attention(width: usize, causal: bool, pair: Pair) -> Problem {
    let (heads, length) = (ATTENTION_HEADS, ATTENTION_LENGTH);
    let what = if causal {
        "causal attention"
    } else {
        "attention"
    };
    let results = heads * length * width;
    Problem {
        title: format!("{what} of f16, {heads} heads of {width}, {length} queries and keys"),
        kind: Kind::Attention(width as u64),
        results: results as u64,
        minimum: (4 * results * 2 / 32) as u64,
        pairs: vec![pair],
    }
}

/// `bytes` are moved for each result.
fn memory(title: String, results: usize, bytes: usize, pair: Pair) -> Problem {
    Problem {
        title,
        kind: Kind::Memory,
        results: results as u64,
        minimum: (results * bytes / 32) as u64,
        pairs: vec![pair],
    }
}

/// All of them. The budgets are goals that were set in advance.
pub fn problems() -> Vec<Problem> {
    let triton = |croq, source, peer, budget| pair(croq, source, peer, "Triton", budget);
    let cutlass = |croq, source, peer| pair(croq, source, peer, "CUTLASS", 1.2);
    macro_rules! attention_with {
        ($width:literal, $causal:literal, $croq:literal, $kernel:literal, $peer:literal) => {
            attention(
                $width,
                $causal,
                triton(
                    $croq,
                    source!("hopper", "attention/hopper.co", $kernel),
                    $peer,
                    0.95,
                ),
            )
        };
    }
    let mut all = vec![
        product(
            2,
            2,
            "product of f16",
            vec![
                cutlass("croq_cooperative", COOPERATIVE, "compared_gemm_cooperative"),
                triton("croq_cooperative", COOPERATIVE, "compared_gemm", 0.75),
                cutlass("croq_pingpong", PINGPONG, "compared_gemm_pingpong"),
                triton("croq_pingpong", PINGPONG, "compared_gemm", 0.75),
            ],
        ),
        product(
            1,
            4,
            "product of f8 with results of f32",
            vec![cutlass("croq_f8", F8, "compared_gemm_f8")],
        ),
        attention_with!(
            128,
            false,
            "croq_attention_128",
            "attention_hopper_f16_128_0",
            "compared_attention_128"
        ),
        attention_with!(
            128,
            true,
            "croq_attention_causal_128",
            "attention_causal_hopper_f16_128_0",
            "compared_attention_causal_128"
        ),
        attention_with!(
            64,
            false,
            "croq_attention_64",
            "attention_hopper_f16_64_0",
            "compared_attention_64"
        ),
        attention_with!(
            64,
            true,
            "croq_attention_causal_64",
            "attention_causal_hopper_f16_64_0",
            "compared_attention_causal_64"
        ),
    ];
    let matrix = |what: &str| format!("{what}, {ROWS} × {COLUMNS}");
    let row = |what: &str| format!("{what}, {ELEMENTS} elements");
    macro_rules! memory_with {
        ($title:expr, $results:expr, $bytes:literal, $name:literal, $path:literal, $kernel:literal) => {
            memory(
                $title,
                $results,
                $bytes,
                triton(
                    concat!("croq_", $name),
                    source!($name, $path, $kernel),
                    concat!("compared_", $name),
                    1.0,
                ),
            )
        };
    }
    all.extend([
        memory_with!(
            matrix("softmax of f32"),
            ROWS * COLUMNS,
            8,
            "softmax",
            "reduction/softmax.co",
            "softmax_f32_0"
        ),
        // Each row reads the gain and the shift again.
        memory_with!(
            matrix("layer norm of bf16"),
            ROWS * COLUMNS,
            12,
            "layer_norm",
            "reduction/layer_norm.co",
            "layer_norm_bf16_0"
        ),
        memory_with!(
            row("axpy of f32"),
            ELEMENTS,
            12,
            "axpy",
            "elementwise/axpy.co",
            "axpy_0"
        ),
        memory_with!(
            row("sum of f32"),
            ELEMENTS,
            12,
            "add",
            "elementwise/add.co",
            "add_1d_0"
        ),
        memory_with!(
            row("scale and ReLU of f32"),
            ELEMENTS,
            8,
            "relu_f32",
            "elementwise/activation.co",
            "scale_relu_f32_0"
        ),
        memory_with!(
            row("scale and ReLU of bf16"),
            ELEMENTS,
            4,
            "relu_bf16",
            "elementwise/activation.co",
            "scale_relu_bf16_0"
        ),
    ]);
    all
}

/// How a kernel divides a problem, where its blocks do not say it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tiling {
    /// Parts of the result that blocks compute, one after the other.
    pub tiles: u64,
    /// The largest tile, as a multiple of the mean.
    pub largest: f64,
    /// Bytes of the operands that a block gets for each that it reads: a tile for both blocks of a cluster
    /// is read once.
    pub received: f64,
}

/// Of kernels with products.
pub fn tiling(problem: &Problem, kernel: &str) -> Option<Tiling> {
    let of = |rows: usize, columns: usize, received: f64| Tiling {
        tiles: (PRODUCT_SIZE / rows * (PRODUCT_SIZE / columns)) as u64,
        largest: 1.0,
        received,
    };
    match (problem.kind, kernel) {
        // Of 128 rows and the half of 256 columns that a block reads, it gets 128 and 256.
        (Kind::Product, "croq_cooperative" | "compared_gemm_cooperative") => {
            Some(of(128, 256, 1.5))
        }
        (Kind::Product, "compared_gemm") => Some(of(128, 256, 1.0)),
        (Kind::Product, "croq_pingpong" | "compared_gemm_pingpong") => Some(of(64, 256, 1.0)),
        (Kind::Product, _) => Some(of(128, 128, 1.0)),
        (Kind::Attention(_), name) => {
            let tall = ATTENTION_LENGTH / 128;
            Some(Tiling {
                tiles: (ATTENTION_HEADS * tall) as u64,
                // The last queries use all keys, the mean a little more than half of them.
                largest: match name.contains("causal") {
                    true => 2.0 * tall as f64 / (tall + 1) as f64,
                    false => 1.0,
                },
                received: 1.0,
            })
        }
        (Kind::Memory, _) => None,
    }
}

/// The names of croq's kernels, and those of the others.
pub fn kernels() -> [Vec<&'static str>; 2] {
    let problems = problems();
    let pairs = || problems.iter().flat_map(|problem| &problem.pairs);
    let [mut croq, mut peers] = [
        pairs().map(|pair| pair.croq).collect::<Vec<_>>(),
        pairs().map(|pair| pair.peer).collect(),
    ];
    croq.dedup();
    peers.sort_unstable();
    peers.dedup();
    [croq, peers]
}

#[cfg(test)]
impl Problem {
    /// A problem with 1000 results, of `croq_a` and this peer of a project.
    pub fn of_one_pair(
        kind: Kind,
        (peer, project): (&'static str, &'static str),
        budget: f64,
    ) -> Self {
        let source = Source {
            stem: "",
            text: "",
            kernel: "",
        };
        let pair = Pair {
            croq: "croq_a",
            source,
            peer,
            project,
            budget,
        };
        Self {
            title: "p".to_owned(),
            kind,
            results: 1000,
            minimum: 100,
            pairs: vec![pair],
        }
    }
}
