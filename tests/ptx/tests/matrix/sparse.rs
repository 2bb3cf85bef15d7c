//! `mma.sp`, and sparse matrices for `wgmma.mma_async.sp`.

use croq_ptx::machine::Report;

use super::harness::{
    Matrix, Random, entry, launch, list, load, packed, product, store, threads, unpacked, width,
    zeros,
};
use super::layouts::{accumulator, extents};

/// A matrix of which half of each chunk is zero.
pub struct Sparse {
    pub whole: Matrix,
    pub stored: Matrix,
    /// Of each row and chunk: the four bits.
    pub metadata: Vec<Vec<u32>>,
    chunk: usize,
}

impl Sparse {
    pub fn random(random: &mut Random, ty: &str, rows: usize, k: usize) -> Sparse {
        let chunk = if ty == "tf32" { 2 } else { 4 };
        let stored = random.matrix(ty, rows, k / 2);
        let mut sparse = Sparse {
            whole: zeros(rows, k),
            metadata: vec![vec![0; k / chunk]; rows],
            stored,
            chunk,
        };
        for row in 0..rows {
            for index in 0..k / chunk {
                if chunk == 2 {
                    let column = random.within(0, 1) as usize;
                    sparse.metadata[row][index] = [0b0100, 0b1110][column];
                    sparse.whole[row][index * 2 + column] = sparse.stored[row][index];
                    continue;
                }
                let first = random.within(0, 2) as usize;
                let second = random.within(first as i64 + 1, 3) as usize;
                sparse.metadata[row][index] = (second << 2 | first) as u32;
                for (nth, column) in [first, second].into_iter().enumerate() {
                    let value = sparse.stored[row][index * 2 + nth];
                    sparse.whole[row][index * 4 + column] = value;
                }
            }
        }
        sparse
    }

    /// The metadata of `count` columns from `first` on.
    fn bits(&self, row: usize, first: usize, count: usize) -> u32 {
        let chunks = &self.metadata[row][first / self.chunk..][..count / self.chunk];
        chunks.iter().rev().fold(0, |bits, chunk| bits << 4 | chunk)
    }

    /// The word of a lane, for 16 rows from `top` and `k` columns from `left` on. Lanes that hold
    /// nothing have bits that are not valid.
    pub fn word(&self, (top, left): (usize, usize), k: usize, selector: usize, lane: usize) -> u32 {
        const NOTHING: u32 = 0xffff_ffff;
        let (group, member) = (lane >> 2, lane % 4);
        let words_of_16_bits = |first: usize, count: usize| {
            let upper = self.bits(top + group + 8, left + first, count);
            self.bits(top + group, left + first, count) | upper << 16
        };
        match 4 * k / self.chunk {
            // Columns of a row × rows = 16 bits: one lane of four.
            16 if member == selector => words_of_16_bits(0, k),
            // A pair of lanes, each with half of k.
            32 if member / 2 == selector => words_of_16_bits(member % 2 * k / 2, k / 2),
            // All: rows by the lowest bit, halves of k by the next.
            64 => self.bits(
                top + group + 8 * (member & 1),
                left + 32 * (member >> 1),
                32,
            ),
            _ => NOTHING,
        }
    }
}

/// Of a stored element: row and column of A as it is stored, from the formulas for the whole A.
pub fn stored_place(ty: &str, k: usize, lane: usize, i: usize) -> (usize, usize) {
    let (g, t) = (lane >> 2, lane % 4);
    let low = |first: bool| if first { g } else { g + 8 };
    let (row, first, nth) = match (ty, k) {
        ("tf32", 8) => (low(i == 0), t * 2, 0),
        ("tf32", 16) => (low(i == 0 || i == 2), t * 2 + if i < 2 { 0 } else { 8 }, 0),
        ("f16" | "bf16", 16) => (low(i < 2), t * 4, i & 1),
        ("f16" | "bf16", 32) => {
            let first = i < 2 || (4..6).contains(&i);
            (low(first), t * 4 + if i < 4 { 0 } else { 16 }, i & 1)
        }
        _ => {
            let first = i < 4 || (8..12).contains(&i);
            (low(first), t * 8 + if i < 8 { 0 } else { 32 }, i & 3)
        }
    };
    (row, first / 2 + nth)
}

struct Form<'a> {
    mnemonic: String,
    shape: &'a str,
    types: [&'a str; 3],
    selector: usize,
}

fn run(form: &Form<'_>, a: &Sparse, words: &[u32], b: &Matrix) -> Result<Matrix, Report> {
    let [m, n, k] = extents(form.shape);
    let [left, right, sum] = form.types;
    let each = |count: usize| (0..32).flat_map(move |lane| (0..count).map(move |i| (lane, i)));
    let (na, nb, nc) = (m * k / 64, n * k / 32, m * n / 32);
    let mut input = packed(
        left,
        each(na).map(|(lane, i)| {
            let (row, column) = stored_place(left, k, lane, i);
            a.stored[row][column]
        }),
    );
    let offset_b = input.len();
    // A register has consecutive rows of B; four lanes follow each other, then registers.
    let per = 32 / width(right);
    let place = |lane: usize, i: usize| i / per * 4 * per + lane % 4 * per + i % per;
    input.extend(packed(
        right,
        each(nb).map(|(lane, i)| b[place(lane, i)][lane >> 2]),
    ));
    let offset_e = input.len();
    input.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    let registers = |count: usize, ty: &str| count * width(ty) / 32;
    let (ra, rb, rc) = (
        registers(na, left),
        registers(nb, right),
        registers(nc, sum),
    );
    let clear: String = (0..rc).map(|i| format!("mov.b32 %c{i}, 0;\n")).collect();
    let text = entry(&format!(
        "{}{}{}{clear}{} {}, {}, {}, {}, %e0, {};\n{}ret;",
        load("a", ra, false, 0),
        load("b", rb, false, offset_b),
        load("e", 1, false, offset_e),
        form.mnemonic,
        list("d", rc),
        list("a", ra),
        list("b", rb),
        list("c", rc),
        form.selector,
        store("d", rc, false),
    ));
    let out = launch(&text, threads(32), &input, nc * 4 * width(sum))?;
    let mut found = zeros(m, n);
    for (index, value) in unpacked(sum, &out).into_iter().enumerate() {
        let (row, column) = accumulator(m, index / nc, index % nc);
        found[row][column] = value;
    }
    Ok(found)
}

fn form<'a>(variant: &str, shape: &'a str, types: [&'a str; 3], selector: usize) -> Form<'a> {
    let [a, b, sum] = types;
    Form {
        mnemonic: format!("mma.{variant}.sync.aligned.{shape}.row.col.{sum}.{a}.{b}.{sum}"),
        shape,
        types,
        selector,
    }
}

fn check(variant: &str, shape: &str, types: [&str; 3], selector: usize) {
    let [m, n, k] = extents(shape);
    let mut random = Random(3 + k as u64);
    let a = Sparse::random(&mut random, types[0], m, k);
    let b = random.matrix(types[1], k, n);
    let words: Vec<u32> = (0..32)
        .map(|lane| a.word((0, 0), k, selector, lane))
        .collect();
    let form = form(variant, shape, types, selector);
    let found = run(&form, &a, &words, &b);
    let found = found.unwrap_or_else(|report| panic!("{}: {report}", form.mnemonic));
    assert_eq!(
        found,
        product(&a.whole, &b, &zeros(m, n)),
        "{}",
        form.mnemonic
    );
}

const VARIANTS: [&str; 2] = ["sp", "sp::ordered_metadata"];

#[test]
fn floats_of_16_bits() {
    for variant in VARIANTS {
        for types in [
            ["f16", "f16", "f32"],
            ["f16", "f16", "f16"],
            ["bf16", "bf16", "f32"],
        ] {
            (0..4).for_each(|selector| check(variant, "m16n8k16", types, selector));
            (0..2).for_each(|selector| check(variant, "m16n8k32", types, selector));
        }
    }
}

#[test]
fn tf32_and_types_of_8_bits() {
    for variant in VARIANTS {
        (0..4).for_each(|selector| check(variant, "m16n8k8", ["tf32", "tf32", "f32"], selector));
        (0..2).for_each(|selector| check(variant, "m16n8k16", ["tf32", "tf32", "f32"], selector));
        for (a, b) in [
            ("e4m3", "e4m3"),
            ("e4m3", "e5m2"),
            ("e5m2", "e4m3"),
            ("e5m2", "e5m2"),
        ] {
            check(variant, "m16n8k64", [a, b, "f32"], 0);
        }
        for (a, b) in [("s8", "s8"), ("s8", "u8"), ("u8", "s8"), ("u8", "u8")] {
            check(variant, "m16n8k64", [a, b, "s32"], 0);
        }
    }
}

/// Indices that do not ascend are for `.sp` only, equal ones for neither.
#[test]
fn metadata_without_a_meaning_is_reported() {
    let mut random = Random(9);
    let mut a = Sparse::random(&mut random, "f16", 16, 32);
    let b = random.matrix("f16", 32, 8);
    let (mut swapped, mut equal) = (a.metadata[9][5], 0b1010);
    swapped = swapped >> 2 | (swapped & 3) << 2;
    for (bits, fails) in [(swapped, [false, true]), (equal, [true, true])] {
        a.metadata[9][5] = bits;
        let words: Vec<u32> = (0..32).map(|lane| a.word((0, 0), 32, 1, lane)).collect();
        for (variant, fails) in VARIANTS.into_iter().zip(fails) {
            let form = form(variant, "m16n8k32", ["f16", "f16", "f32"], 1);
            match run(&form, &a, &words, &b) {
                Ok(_) => assert!(!fails, "{variant} {bits:#06b}"),
                Err(report) => {
                    assert!(fails, "{variant}: {report}");
                    let message = format!(
                        "the metadata {bits:#06b} of row 9, columns 20 to 23, is not valid"
                    );
                    assert_eq!(report.message, message);
                    // The second of the lanes 2 and 3 of row 1.
                    assert_eq!(report.thread, Some([7, 0, 0]));
                }
            }
        }
    }
    equal = 0b0001;
    let mut a = Sparse::random(&mut random, "tf32", 16, 16);
    a.metadata[0][0] = equal;
    let words: Vec<u32> = (0..32).map(|lane| a.word((0, 0), 16, 0, lane)).collect();
    let form = form("sp", "m16n8k16", ["tf32", "tf32", "f32"], 0);
    let report = run(&form, &a, &words, &random.matrix("tf32", 16, 8)).unwrap_err();
    assert!(report.message.starts_with("the metadata 0b0001 of row 0"));
}

#[test]
fn other_forms_and_selectors_are_refused() {
    let mut random = Random(1);
    for (shape, types, selector, reason) in [
        (
            "m16n8k64",
            ["s8", "s8", "s32"],
            1,
            "the sparsity selector 1, which is undefined",
        ),
        (
            "m16n8k32",
            ["s8", "s8", "s32"],
            0,
            "its shape with this type",
        ),
        (
            "m16n8k64",
            ["e4m3", "e4m3", "f16"],
            0,
            "an f16 accumulator of sparse 8-bit floats",
        ),
    ] {
        let k = extents(shape)[2];
        let a = Sparse::random(&mut random, types[0], 16, k);
        let b = random.matrix(types[1], k, 8);
        let form = form("sp", shape, types, selector);
        let report = run(&form, &a, &[0; 32], &b).unwrap_err();
        let expected = format!("`{}` is not implemented: {reason}", form.mnemonic);
        assert_eq!(report.message, expected);
    }
}
