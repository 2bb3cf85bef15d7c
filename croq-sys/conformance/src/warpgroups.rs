//! The elements of a thread's fragments in an MMA by a warpgroup, and the layouts of operands in
//! shared memory, as defined by the PTX ISA ("asynchronous warpgroup level matrix instructions");
//! and test matrices.

use crate::products::Kind;

/// An instruction of `cpp/wgmma.cc`.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    pub columns: usize,
    pub a: Kind,
    pub b: Kind,
    pub c: Kind,
    /// The operand is stored along M or N, not along K.
    pub transposed: [bool; 2],
    /// A is in registers.
    pub registers: bool,
    /// For a sparse A, the threads of each four that provide its metadata.
    pub selector: Option<usize>,
}

/// The list of `cpp/wgmma.cc`: every combination of types, for every number of columns there.
pub fn all() -> Vec<Product> {
    let mut all = Vec::new();
    for columns in (8..=256).step_by(8) {
        let types = to_f32().into_iter().chain(to_f16());
        let integers = columns <= 32 || columns % 16 == 0;
        let types = types.chain(if integers { to_s32() } else { Vec::new() });
        all.extend(types.map(|product| Product { columns, ..product }));
    }
    all
}

/// The numbers of columns in `cpp/sparse.cc`.
pub const SPARSE_COLUMNS: [usize; 4] = [8, 40, 96, 256];

/// The list of `cpp/sparse.cc`.
pub fn all_sparse() -> Vec<Product> {
    let by_selector = |of: Kind, c: Kind| -> Vec<Product> {
        let with = |selector| {
            let all = of_two_bytes(of, c).into_iter();
            all.map(move |product| Product {
                selector,
                ..product
            })
        };
        with(Some(0)).chain(with(Some(1))).collect()
    };
    let eights = |c: Kind| {
        let all = of_others(EIGHTS, c).into_iter();
        all.map(|product| Product {
            selector: Some(0),
            ..product
        })
    };
    let mut all = Vec::new();
    for columns in SPARSE_COLUMNS {
        let mut types = by_selector(Kind::F16, Kind::F32);
        types.extend(by_selector(Kind::Bf16, Kind::F32));
        types.extend(eights(Kind::F32));
        types.extend(by_selector(Kind::F16, Kind::F16));
        types.extend(eights(Kind::F16));
        all.extend(
            types
                .into_iter()
                .map(|product| Product { columns, ..product }),
        );
    }
    all
}

/// The positions of the two stored elements of four: each pair occurs.
pub(crate) fn positions(row: usize, group: usize) -> [usize; 2] {
    let pairs = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
    pairs[(row.wrapping_mul(0x9e37_79b1) >> 5 ^ group.wrapping_mul(0x85eb_ca6b) >> 3) % 6]
}

/// The metadata of a lane for 16 rows and `k` elements along K, as defined by the PTX ISA for
/// 16-bit elements and K 16 and 32 (figures "sparse MMA .m16n8k16 metadata layout" and ".m16n8k32"),
/// and for bytes and K 64.
pub(crate) fn metadata(rows: usize, k: usize, selector: usize, lane: usize) -> u32 {
    let (group, place) = (lane / 4, lane % 4);
    // For each four bits: the row, and the group of four along K.
    let of_bits: Vec<(usize, usize)> = match (k, place) {
        (16, _) if place != selector => return 0,
        (16, _) => (0..8).map(|i| (group + i / 4 * 8, i % 4)).collect(),
        (32, _) if place / 2 != selector => return 0,
        (32, 0 | 2) => (0..8).map(|i| (group + i / 4 * 8, i % 4)).collect(),
        (32, _) => (0..8).map(|i| (group + i / 4 * 8, 4 + i % 4)).collect(),
        (64, 0) => (0..8).map(|i| (group, i)).collect(),
        (64, 1) => (0..8).map(|i| (group + 8, i)).collect(),
        (64, 2) => (0..8).map(|i| (group, 8 + i)).collect(),
        _ => (0..8).map(|i| (group + 8, 8 + i)).collect(),
    };
    let bits = of_bits.into_iter().enumerate().map(|(i, (row, group))| {
        let [first, second] = positions(rows + row, group);
        ((second << 2 | first) as u32) << (4 * i)
    });
    bits.sum()
}

const EIGHTS: [Kind; 2] = [Kind::E4m3, Kind::E5m2];

fn to_f32() -> Vec<Product> {
    let halves = [Kind::F16, Kind::Bf16].map(|t| of_two_bytes(t, Kind::F32));
    let mut all = halves.concat();
    all.extend(of_others([Kind::Tf32; 1], Kind::F32));
    all.extend(of_others(EIGHTS, Kind::F32));
    all
}

fn to_f16() -> Vec<Product> {
    let mut all = of_two_bytes(Kind::F16, Kind::F16);
    all.extend(of_others(EIGHTS, Kind::F16));
    all
}

fn to_s32() -> Vec<Product> {
    of_others([Kind::S8, Kind::U8], Kind::S32)
}

/// Operands that may be transposed, except an A in registers.
fn of_two_bytes(of: Kind, c: Kind) -> Vec<Product> {
    let ways = [
        (false, false, false),
        (false, true, false),
        (true, false, false),
        (true, true, false),
        (false, false, true),
        (false, true, true),
    ];
    let product = |(at, bt, registers)| Product {
        columns: 0,
        a: of,
        b: of,
        c,
        transposed: [at, bt],
        registers,
        selector: None,
    };
    ways.into_iter().map(product).collect()
}

/// All pairs of these types, with A in shared memory and in registers.
fn of_others<const N: usize>(of: [Kind; N], c: Kind) -> Vec<Product> {
    let mut all = Vec::new();
    for (a, b) in of.into_iter().flat_map(|a| of.map(|b| (a, b))) {
        for registers in [false, true] {
            all.push(Product {
                columns: 0,
                a,
                b,
                c,
                transposed: [false, false],
                registers,
                selector: None,
            });
        }
    }
    all
}

/// The layout of both operands in shared memory, and the number of MMAs.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// 0, 32, 64 or 128.
    pub swizzle: usize,
    /// Additional distance in the strides, in patterns.
    pub gap: usize,
    /// Number of consecutive instructions along K.
    pub steps: usize,
    pub accumulate: bool,
}

/// The layout of an operand, in bytes.
#[derive(Clone, Copy)]
struct Place {
    at: usize,
    leading: usize,
    stride: usize,
    step: usize,
}

/// The starts of A and B, which also limit their sizes.
const STARTS: [usize; 2] = [1024, 33 * 1024];
const MOST_BYTES: usize = 160 * 1024;
const ROWS: usize = 64;
const THREADS: usize = 128;

impl Product {
    /// The K of one instruction.
    pub fn k(&self) -> usize {
        self.depth(1)
    }

    /// The stored bytes of an operand's row along K.
    fn depth(&self, operand: usize) -> usize {
        self.pieces(operand) * 16 / self.a.bytes()
    }

    /// Pieces of 16 bytes along K: half of them are stored for a sparse A.
    fn pieces(&self, operand: usize) -> usize {
        match (operand, self.selector) {
            (1, Some(_)) => 4,
            _ => 2,
        }
    }

    fn rows(&self, operand: usize) -> usize {
        [ROWS, self.columns][operand]
    }

    fn kind(&self, operand: usize) -> Kind {
        [self.a, self.b][operand]
    }

    /// The smallest strides of the canonical layouts, plus `gap` patterns.
    fn place(&self, operand: usize, of: &Setting) -> Place {
        let Setting {
            swizzle,
            gap,
            steps,
            ..
        } = *of;
        let at = STARTS[operand];
        let rows = self.rows(operand);
        let pieces = self.pieces(operand);
        let eights = self.depth(operand) / 8;
        match (swizzle, self.transposed[operand]) {
            // Pieces of 8 rows and 16 bytes: along K first, then along the rows.
            (0, false) => {
                let leading = 128 * (1 + gap);
                let stride = pieces * steps * leading;
                let step = pieces * leading;
                Place {
                    at,
                    leading,
                    stride,
                    step,
                }
            }
            // Pieces of 8 elements along K, by 8 rows.
            (0, true) => {
                let stride = 128 * (1 + gap);
                let leading = rows / 8 * stride;
                let step = eights * leading;
                Place {
                    at,
                    leading,
                    stride,
                    step,
                }
            }
            (width, false) => Place {
                at,
                leading: 16,
                stride: 8 * width * (1 + gap),
                step: 16 * pieces,
            },
            (width, true) => {
                let stride = 8 * width * (1 + gap);
                Place {
                    at,
                    leading: eights * steps * stride,
                    stride,
                    step: eights * stride,
                }
            }
        }
    }

    /// The offset of the element in this row and at this position along K.
    fn stored(&self, operand: usize, of: &Setting, row: usize, k: usize) -> usize {
        let place = self.place(operand, of);
        let bytes = self.kind(operand).bytes();
        // Within the pattern or piece: the line, and the byte in that line.
        let (line, byte, before) = match (of.swizzle, self.transposed[operand]) {
            (0, false) => {
                let byte = k * bytes;
                (
                    row % 8,
                    byte % 16,
                    row / 8 * place.stride + byte / 16 * place.leading,
                )
            }
            (0, true) => {
                let byte = row * bytes;
                (
                    k % 8,
                    byte % 16,
                    byte / 16 * place.stride + k / 8 * place.leading,
                )
            }
            (_, false) => (row % 8, k * bytes, row / 8 * place.stride),
            (width, true) => {
                let byte = row * bytes;
                (
                    k % 8,
                    byte % width,
                    byte / width * place.leading + k / 8 * place.stride,
                )
            }
        };
        let (width, unit) = (of.swizzle.max(16), byte / 16);
        // The tables of the PTX ISA: permutation of units of 16 bytes.
        let unit = match of.swizzle {
            128 => unit ^ line,
            64 => unit ^ (line / 2),
            32 => unit ^ (line / 4),
            _ => unit,
        };
        place.at + before + line * width + unit * 16 + byte % 16
    }

    /// The largest number of steps along K that fits.
    pub fn most_steps(&self, swizzle: usize) -> usize {
        let within = match swizzle {
            0 => 2,
            width => width / (16 * self.pieces(1)),
        };
        match (self.registers, self.transposed) {
            (true, _) => 1,
            (_, [true, true]) => 2,
            _ => within,
        }
    }

    fn value(&self, which: usize, row: usize, column: usize) -> f64 {
        let kind = [self.a, self.b, self.c][which];
        kind.value((which * 256 + row) * 256 + column + 1)
    }

    /// Row and column of a thread's element `i` of the accumulators.
    pub fn place_in_c(thread: usize, i: usize) -> (usize, usize) {
        let (warp, lane) = (thread / 32, thread % 32);
        let (group, place) = (lane / 4, lane % 4);
        let row = if i % 4 < 2 { group } else { group + 8 };
        (16 * warp + row, i / 4 * 8 + place * 2 + i % 2)
    }

    /// Row and column of a thread's element `i` of A.
    pub fn place_in_a(&self, thread: usize, i: usize) -> (usize, usize) {
        let (warp, lane) = (thread / 32, thread % 32);
        let (group, place) = (lane / 4, lane % 4);
        let (below, column) = match self.a.bytes() {
            4 => (i == 1 || i == 3, place + if i >= 2 { 4 } else { 0 }),
            2 => (
                matches!(i, 2 | 3 | 6 | 7),
                place * 2 + (i & 1) + if i >= 4 { 8 } else { 0 },
            ),
            _ => (
                matches!(i, 4..8 | 12..16),
                place * 4 + (i & 3) + if i >= 8 { 16 } else { 0 },
            ),
        };
        (16 * warp + group + if below { 8 } else { 0 }, column)
    }

    /// The initial C and shared memory; the end of the latter has the threads' parts of A in
    /// registers.
    pub fn memory(&self, of: &Setting) -> Vec<Vec<u8>> {
        let mut c = Vec::new();
        let mut a = Vec::new();
        // A NaN in every float format: bytes outside of the operands must not be used.
        let mut image = vec![0xffu8; MOST_BYTES];
        for thread in 0..THREADS {
            for i in 0..self.columns / 2 {
                let (row, column) = Self::place_in_c(thread, i);
                c.extend(self.c.encode(self.value(2, row, column)));
            }
            for i in 0..16 / self.a.bytes() {
                let (row, k) = self.place_in_a(thread, i);
                a.extend(self.a.encode(self.value(0, row, k)));
            }
        }
        for operand in 0..2 {
            if operand == 0 && self.registers {
                continue;
            }
            for row in 0..self.rows(operand) {
                for k in 0..self.depth(operand) * of.steps {
                    let bytes = self.kind(operand).encode(self.value(operand, row, k));
                    let at = self.stored(operand, of, row, k);
                    image[at..at + bytes.len()].copy_from_slice(&bytes);
                }
            }
        }
        let used = image.iter().rposition(|byte| *byte != 0xff).unwrap_or(0) + 1;
        image.truncate(used.next_multiple_of(1024));
        image.extend(a);
        let mut all = vec![c, image];
        if let Some(selector) = self.selector {
            let words = (0..THREADS)
                .map(|thread| metadata(thread / 32 * 16, self.k(), selector, thread % 32));
            all.push(words.flat_map(u32::to_le_bytes).collect());
        }
        all
    }

    /// The arguments of the kernel.
    pub fn numbers(&self, which: usize, of: &Setting, memory: &[Vec<u8>]) -> Vec<i64> {
        let mut numbers = vec![which];
        for operand in 0..2 {
            let Place {
                at,
                leading,
                stride,
                step,
            } = self.place(operand, of);
            numbers.extend([at, of.swizzle, leading, stride, step]);
        }
        numbers.extend([memory[1].len(), of.steps, usize::from(of.accumulate)]);
        numbers.into_iter().map(|n| n as i64).collect()
    }

    /// The accumulators afterwards, thread by thread. They are integers.
    pub fn expected(&self, of: &Setting) -> Vec<f64> {
        let [stored, k] = [0, 1].map(|operand| self.depth(operand) * of.steps);
        let factors = |operand: usize, k: usize| -> Vec<i32> {
            let rows = 0..self.rows(operand);
            let all = rows.flat_map(|row| (0..k).map(move |k| self.value(operand, row, k) as i32));
            all.collect()
        };
        let (a, b) = (factors(0, stored), factors(1, k));
        // The positions along K of the stored elements of A: the metadata of each step is the same.
        let place = |row: usize, i: usize| match self.selector {
            None => i,
            Some(_) => {
                let (step, group) = (i / self.depth(0), i % self.depth(0) / 2);
                step * self.k() + 4 * group + positions(row, group)[i % 2]
            }
        };
        let mut all = Vec::new();
        for thread in 0..THREADS {
            for i in 0..self.columns / 2 {
                let (row, column) = Self::place_in_c(thread, i);
                let mut sum = 0;
                for (i, x) in a[row * stored..][..stored].iter().enumerate() {
                    sum += x * b[column * k + place(row, i)];
                }
                if of.accumulate {
                    sum += self.value(2, row, column) as i32;
                }
                all.push(f64::from(sum));
            }
        }
        all
    }

    /// The numbers that the kernel has written.
    pub fn decode(&self, bytes: &[u8]) -> Vec<f64> {
        let elements = bytes.chunks(self.c.bytes());
        elements.map(|element| self.c.decode(element)).collect()
    }
}

/// The layouts with which an instruction is tested. A layout does not depend on the number of
/// columns except for the end of B. So with two numbers of columns, a power of two and another one,
/// all swizzles are tested, with minimal and larger strides, and several steps. With the others one
/// step of the layout that kernels use, which adds to the accumulators, and one without a swizzle,
/// which sets them.
pub fn settings(product: &Product) -> Vec<Setting> {
    let many = matches!(product.columns, 8 | 96);
    let mut all = Vec::new();
    for swizzle in [0, 32, 64, 128] {
        let most = product.most_steps(swizzle);
        // A row of B along K must be in one group of columns.
        if most == 0 || (swizzle == 32 && product.selector.is_some() && !product.transposed[1]) {
            continue;
        }
        for (gap, steps, accumulate) in [(0, most, true), (1, 1, false)] {
            if many {
                all.push(Setting {
                    swizzle,
                    gap,
                    steps,
                    accumulate,
                });
            }
        }
    }
    if !many {
        for (swizzle, gap, accumulate) in [(128, 0, true), (0, 1, false)] {
            all.push(Setting {
                swizzle,
                gap,
                steps: 1,
                accumulate,
            });
        }
    }
    all
}
