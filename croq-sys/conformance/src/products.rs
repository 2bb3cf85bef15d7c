//! The elements of a thread's fragments in an `mma`, as defined by the PTX ISA for each shape; and
//! test matrices.

use crate::warpgroups;
use croq_sys::{F8E4M3, F8E5M2};
use half::{bf16, f16};

/// An element type of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    F16,
    Bf16,
    Tf32,
    F32,
    F64,
    S8,
    U8,
    S4,
    U4,
    U1,
    S32,
    E4m3,
    E5m2,
}

impl Kind {
    /// By the name in Croqtile, where `f32` is `single`: for operands the last bits are ignored.
    pub fn of(name: &str, single: Kind) -> Self {
        match name {
            "f16" => Kind::F16,
            "bf16" => Kind::Bf16,
            "f32" => single,
            "f64" => Kind::F64,
            "s8" => Kind::S8,
            "u8" => Kind::U8,
            "s4" => Kind::S4,
            "u4" => Kind::U4,
            "u1" => Kind::U1,
            "s32" => Kind::S32,
            "f8_e4m3" => Kind::E4m3,
            "f8_e5m2" => Kind::E5m2,
            other => panic!("no type of products: {other}"),
        }
    }

    pub fn bytes(self) -> usize {
        match self {
            Kind::F64 => 8,
            Kind::Tf32 | Kind::F32 | Kind::S32 => 4,
            Kind::F16 | Kind::Bf16 => 2,
            Kind::S8 | Kind::U8 | Kind::E4m3 | Kind::E5m2 => 1,
            Kind::S4 | Kind::U4 | Kind::U1 => 1,
        }
    }

    /// The number of elements in a byte of memory.
    pub fn per_byte(self) -> usize {
        match self {
            Kind::S4 | Kind::U4 => 2,
            Kind::U1 => 8,
            _ => 1,
        }
    }

    pub(crate) fn encode(self, value: f64) -> Vec<u8> {
        let single = value as f32;
        match self {
            Kind::F16 => f16::from_f64(value).to_le_bytes().to_vec(),
            Kind::Bf16 => bf16::from_f64(value).to_le_bytes().to_vec(),
            // The bits that tf32 does not have must be ignored.
            Kind::Tf32 => (single.to_bits() | 0x1fff).to_le_bytes().to_vec(),
            Kind::F32 => single.to_le_bytes().to_vec(),
            Kind::F64 => value.to_le_bytes().to_vec(),
            Kind::S8 => (value as i8).to_le_bytes().to_vec(),
            Kind::U8 | Kind::U4 | Kind::U1 => (value as u8).to_le_bytes().to_vec(),
            // In the low bits of a byte of its own.
            Kind::S4 => vec![value as i8 as u8 & 15],
            Kind::S32 => (value as i32).to_le_bytes().to_vec(),
            Kind::E4m3 => vec![F8E4M3::from_f32(single).to_bits()],
            Kind::E5m2 => vec![F8E5M2::from_f32(single).to_bits()],
        }
    }

    pub fn decode(self, bytes: &[u8]) -> f64 {
        let all = |n: usize| {
            bytes[..n]
                .iter()
                .rev()
                .fold(0u64, |v, b| v << 8 | u64::from(*b))
        };
        match self {
            Kind::F16 => f16::from_bits(all(2) as u16).to_f64(),
            Kind::Bf16 => bf16::from_bits(all(2) as u16).to_f64(),
            Kind::Tf32 | Kind::F32 => f64::from(f32::from_bits(all(4) as u32)),
            Kind::F64 => f64::from_bits(all(8)),
            Kind::S8 => f64::from(all(1) as u8 as i8),
            Kind::U8 | Kind::U4 | Kind::U1 => f64::from(all(1) as u8),
            Kind::S4 => f64::from((all(1) as u8 as i8) << 4 >> 4),
            Kind::S32 => f64::from(all(4) as u32 as i32),
            Kind::E4m3 => f64::from(F8E4M3::from_bits(all(1) as u8).to_f32()),
            Kind::E5m2 => f64::from(F8E5M2::from_bits(all(1) as u8).to_f32()),
        }
    }

    /// Small numbers that are exact in every type, with few equal neighbours.
    pub(crate) fn value(self, at: usize) -> f64 {
        let value = (at.wrapping_mul(0x9e37_79b1) >> 7) % 7;
        match self {
            Kind::U8 | Kind::U4 => value as f64,
            Kind::U1 => (value & 1) as f64,
            _ => value as f64 - 3.0,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Product {
    pub m: usize,
    pub k: usize,
    pub a: Kind,
    pub b: Kind,
    pub c: Kind,
}

/// The list of `cpp/mma.cc`.
pub fn all() -> Vec<Product> {
    use Kind::*;
    let of = |m, k, a, b, c| Product { m, k, a, b, c };
    let mut all = vec![
        of(8, 4, F16, F16, F32),
        of(8, 4, F16, F16, F16),
        of(16, 8, F16, F16, F32),
        of(16, 8, F16, F16, F16),
        of(16, 16, F16, F16, F32),
        of(16, 16, F16, F16, F16),
        of(16, 8, Bf16, Bf16, F32),
        of(16, 16, Bf16, Bf16, F32),
        of(16, 4, Tf32, Tf32, F32),
        of(16, 8, Tf32, Tf32, F32),
        of(8, 4, F64, F64, F64),
        of(16, 4, F64, F64, F64),
        of(16, 8, F64, F64, F64),
        of(16, 16, F64, F64, F64),
    ];
    for (a, b) in [(S8, S8), (S8, U8), (U8, S8), (U8, U8)] {
        all.extend([
            of(8, 16, a, b, S32),
            of(16, 16, a, b, S32),
            of(16, 32, a, b, S32),
        ]);
    }
    for (a, b) in [(S4, S4), (S4, U4), (U4, S4), (U4, U4)] {
        all.extend([
            of(8, 32, a, b, S32),
            of(16, 32, a, b, S32),
            of(16, 64, a, b, S32),
        ]);
    }
    all.extend([
        of(8, 128, U1, U1, S32),
        of(16, 128, U1, U1, S32),
        of(16, 256, U1, U1, S32),
    ]);
    for (a, b) in [(E4m3, E4m3), (E4m3, E5m2), (E5m2, E4m3), (E5m2, E5m2)] {
        for k in [16, 32] {
            all.extend([of(16, k, a, b, F32), of(16, k, a, b, F16)]);
        }
    }
    all
}

impl Product {
    /// Row and column of element `i` of A in thread `lane`.
    pub fn place_in_a(&self, lane: usize, i: usize) -> (usize, usize) {
        let (group, thread) = (lane / 4, lane % 4);
        let lower = |yes: bool| if yes { group + 8 } else { group };
        match (self.a.bytes(), self.m, self.k) {
            // Registers of 8 elements.
            (1, 8, 32) => (group, thread * 8 + i),
            (1, 16, 32) if self.a.per_byte() == 2 => (lower(i >= 8), thread * 8 + (i & 7)),
            (1, 16, 64) => (
                lower(!(i < 8 || (16..24).contains(&i))),
                thread * 8 + (i & 7) + if i >= 16 { 32 } else { 0 },
            ),
            // Registers of 32 elements.
            (1, 8, 128) => (group, thread * 32 + i),
            (1, 16, 128) => (lower(i >= 32), thread * 32 + (i & 31)),
            (1, 16, 256) => (
                lower(!(i < 32 || (64..96).contains(&i))),
                thread * 32 + (i & 31) + if i >= 64 { 128 } else { 0 },
            ),
            (2, 8, 4) => (group, thread),
            (2, 16, 8) => (lower(i >= 2), thread * 2 + (i & 1)),
            (2, 16, 16) => (
                lower(!(i < 2 || (4..6).contains(&i))),
                thread * 2 + (i & 1) + if i >= 4 { 8 } else { 0 },
            ),
            (4, 16, 4) => (lower(i == 1), thread),
            (4, 16, 8) => (
                lower(i == 1 || i == 3),
                if i < 2 { thread } else { thread + 4 },
            ),
            (8, 8, 4) => (group, thread),
            (8, 16, 4) => (lower(i == 1), thread),
            (8, 16, 8) => (
                lower(i == 1 || i == 3),
                if i < 2 { thread } else { thread + 4 },
            ),
            (8, 16, 16) if i.is_multiple_of(2) => (group, i * 2 + thread),
            (8, 16, 16) => (group + 8, i * 2 - 2 + thread),
            (1, 8, 16) => (group, thread * 4 + (i & 3)),
            (1, 16, 16) => (lower(i >= 4), thread * 4 + (i & 3)),
            (1, 16, 32) => (
                lower(!(i < 4 || (8..12).contains(&i))),
                thread * 4 + (i & 3) + if i >= 8 { 16 } else { 0 },
            ),
            other => panic!("no such shape: {other:?}"),
        }
    }

    /// Row (along K) and column of element `i` of B.
    pub fn place_in_b(&self, lane: usize, i: usize) -> (usize, usize) {
        let (group, thread) = (lane / 4, lane % 4);
        let row = match (self.b.bytes(), self.k) {
            (2, 4) => thread,
            (2, 8) => thread * 2 + i,
            (2, 16) => thread * 2 + (i & 1) + if i >= 2 { 8 } else { 0 },
            (4, 4) => thread,
            (4, 8) => thread + if i == 1 { 4 } else { 0 },
            (8, _) => thread + i * 4,
            (1, 32) if self.b.per_byte() == 2 => thread * 8 + i,
            (1, 64) => thread * 8 + (i & 7) + if i >= 8 { 32 } else { 0 },
            (1, 128) => thread * 32 + i,
            (1, 256) => thread * 32 + (i & 31) + if i >= 32 { 128 } else { 0 },
            (1, 16) => thread * 4 + i,
            (1, 32) => thread * 4 + (i & 3) + if i >= 4 { 16 } else { 0 },
            other => panic!("no such shape: {other:?}"),
        };
        (row, group)
    }

    /// Row and column of element `i` of C.
    pub fn place_in_c(&self, lane: usize, i: usize) -> (usize, usize) {
        let (group, thread) = (lane / 4, lane % 4);
        (if i < 2 { group } else { group + 8 }, thread * 2 + (i & 1))
    }

    /// The initial elements of the threads of two warps: C, A and B.
    pub fn inputs(&self) -> [Vec<u8>; 3] {
        let per_lane = [self.m * 8 / 32, self.m * self.k / 32, 8 * self.k / 32];
        let mut all = [Vec::new(), Vec::new(), Vec::new()];
        for thread in 0..64 {
            let (warp, lane) = (thread / 32, thread % 32);
            for (which, count) in per_lane.into_iter().enumerate() {
                for i in 0..count {
                    let (kind, row, column) = self.element(which, lane, i);
                    all[which].extend(kind.encode(self.value(warp, which, row, column)));
                }
            }
        }
        let kinds = [self.c, self.a, self.b];
        std::array::from_fn(|which| packed(kinds[which], &all[which]))
    }

    fn element(&self, which: usize, lane: usize, i: usize) -> (Kind, usize, usize) {
        let (kind, (row, column)) = match which {
            0 => (self.c, self.place_in_c(lane, i)),
            1 => (self.a, self.place_in_a(lane, i)),
            _ => (self.b, self.place_in_b(lane, i)),
        };
        (kind, row, column)
    }

    fn value(&self, warp: usize, which: usize, row: usize, column: usize) -> f64 {
        let kind = [self.c, self.a, self.b][which];
        kind.value(((warp * 3 + which) * 64 + row) * 64 + column + 1)
    }

    /// The elements of C afterwards.
    pub fn expected(&self) -> Vec<f64> {
        let mut all = Vec::new();
        for thread in 0..64 {
            let (warp, lane) = (thread / 32, thread % 32);
            for i in 0..self.m * 8 / 32 {
                let (row, column) = self.place_in_c(lane, i);
                let products = (0..self.k)
                    .map(|k| self.value(warp, 1, row, k) * self.value(warp, 2, k, column));
                all.push(self.value(warp, 0, row, column) + products.sum::<f64>());
            }
        }
        all
    }
}

/// Elements that share bytes, from elements in the low bits of bytes; others unchanged.
fn packed(kind: Kind, bytes: &[u8]) -> Vec<u8> {
    let per_byte = kind.per_byte();
    let byte = |elements: &[u8]| {
        let places = elements.iter().enumerate();
        places.fold(0, |byte, (i, e)| byte | e << (i * 8 / per_byte))
    };
    bytes.chunks(per_byte).map(byte).collect()
}

/// An MMA by one warp with a sparse A: 16 x 8 sums.
#[derive(Clone, Copy, Debug)]
pub struct SparseProduct {
    pub k: usize,
    /// The threads of each four that provide the metadata.
    pub selector: usize,
    pub a: Kind,
    pub b: Kind,
    pub c: Kind,
}

/// The list of `cpp/sparse.cc`.
pub fn all_sparse() -> Vec<SparseProduct> {
    use Kind::*;
    let of = |k, selector, a, b, c| SparseProduct {
        k,
        selector,
        a,
        b,
        c,
    };
    let mut all = Vec::new();
    for (a, c) in [(F16, F32), (F16, F16), (Bf16, F32)] {
        all.extend([0, 1, 2, 3].map(|selector| of(16, selector, a, a, c)));
        all.extend([0, 1].map(|selector| of(32, selector, a, a, c)));
    }
    for (a, b) in [(E4m3, E4m3), (E4m3, E5m2), (E5m2, E4m3), (E5m2, E5m2)] {
        all.push(of(64, 0, a, b, F32));
    }
    all
}

impl SparseProduct {
    /// The stored elements of A are in registers like a dense A of that K.
    fn stored(&self) -> Product {
        let (k, c) = (self.k / 2, self.c);
        let (m, a, b) = (16, self.a, self.b);
        Product { m, k, a, b, c }
    }

    /// Row (along K) and column of element `i` of B.
    pub fn place_in_b(&self, lane: usize, i: usize) -> (usize, usize) {
        let (group, thread) = (lane / 4, lane % 4);
        let row = match self.k {
            16 | 32 => thread * 2 + (i & 1) + i / 2 * 8,
            _ => thread * 4 + (i & 3) + i / 4 * 16,
        };
        (row, group)
    }

    /// The initial elements of the threads of two warps: C, A, B and the metadata.
    pub fn inputs(&self) -> Vec<Vec<u8>> {
        let [c, a, _] = self.stored().inputs();
        let (mut b, mut words) = (Vec::new(), Vec::new());
        for thread in 0..64 {
            let (warp, lane) = (thread / 32, thread % 32);
            for i in 0..8 * self.k / 32 {
                let (row, column) = self.place_in_b(lane, i);
                b.extend(self.b.encode(self.stored().value(warp, 2, row, column)));
            }
            let word = warpgroups::metadata(warp * 16, self.k, self.selector, lane);
            words.extend(word.to_le_bytes());
        }
        vec![c, a, b, words]
    }

    /// The elements of C afterwards.
    pub fn expected(&self) -> Vec<f64> {
        let of = self.stored();
        let mut all = Vec::new();
        for thread in 0..64 {
            let (warp, lane) = (thread / 32, thread % 32);
            for i in 0..4 {
                let (row, column) = of.place_in_c(lane, i);
                let products = (0..of.k).map(|i| {
                    let at = warpgroups::positions(warp * 16 + row, i / 2)[i % 2];
                    of.value(warp, 1, row, i) * of.value(warp, 2, i / 2 * 4 + at, column)
                });
                all.push(of.value(warp, 0, row, column) + products.sum::<f64>());
            }
        }
        all
    }
}
