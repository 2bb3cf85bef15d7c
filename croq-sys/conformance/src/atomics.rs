//! The expected results of atomic operations, for any order of the threads.

use half::f16;

const BLOCKS: usize = 4;
const THREADS: usize = 64;

/// One operation on elements of one type.
#[derive(Clone, Copy, Debug)]
pub struct Atomic {
    /// The name in CUDA, and the number in `cpp/atomics.cc`.
    pub op: (&'static str, i64),
    pub ty: (&'static str, i64),
}

/// All operations.
pub fn all() -> Vec<Atomic> {
    let table: [(&str, &[&str]); 9] = [
        ("add", &["s32", "u32", "u64", "f16", "f32", "f64"]),
        ("sub", &["s32", "u32"]),
        ("exch", &["s32", "u32", "u64", "f32"]),
        ("min", &["s32", "u32", "s64", "u64"]),
        ("max", &["s32", "u32", "s64", "u64"]),
        ("and", &["s32", "u32", "s64", "u64"]),
        ("or", &["s32", "u32", "s64", "u64"]),
        ("xor", &["s32", "u32", "s64", "u64"]),
        ("cas", &["s32", "u32", "u64", "u16"]),
    ];
    let types = ["f64", "f32", "f16", "s64", "s32", "u64", "u32", "u16"];
    let mut all = Vec::new();
    for (op, (name, wanted)) in (0..).zip(table) {
        for (number, ty) in (0..).zip(types) {
            if wanted.contains(&ty) {
                all.push(Atomic {
                    op: (name, op),
                    ty: (ty, number),
                });
            }
        }
    }
    all
}

impl Atomic {
    /// The operands, the initial values of the elements, and memory for the returned values.
    pub fn memory(&self) -> Vec<Vec<u8>> {
        let start = vec![self.start(); 1 + BLOCKS];
        [
            self.operands(),
            start,
            vec![self.start(); 2 * BLOCKS * THREADS],
        ]
        .iter()
        .map(|values| values.iter().flat_map(|v| self.encode(*v)).collect())
        .collect()
    }

    pub fn numbers(&self) -> [i64; 2] {
        [self.ty.1, self.op.1]
    }

    /// # Panics
    ///
    /// If no order of the threads gives this result.
    pub fn check(&self, memory: &[Vec<u8>]) {
        let [_, ends, before] = memory else {
            panic!("three buffers")
        };
        let (ends, before) = (self.decode(ends), self.decode(before));
        let operands = self.operands();
        let of_all: Vec<usize> = (0..BLOCKS * THREADS).collect();
        self.check_one(&operands, &of_all, ends[0], |i| before[2 * i]);
        for block in 0..BLOCKS {
            let own: Vec<usize> = (block * THREADS..(block + 1) * THREADS).collect();
            self.check_one(&operands, &own, ends[1 + block], |i| before[2 * i + 1]);
        }
    }

    /// The returned value of each operation must be the result of another one.
    fn check_one(
        &self,
        operands: &[i128],
        threads: &[usize],
        end: i128,
        before: impl Fn(usize) -> i128,
    ) {
        let mut begun: Vec<i128> = threads.iter().map(|i| before(*i)).collect();
        let results = threads.iter().map(|i| self.apply(before(*i), operands[*i]));
        let mut left: Vec<i128> = results.collect();
        begun.push(end);
        left.push(self.start());
        begun.sort_unstable();
        left.sort_unstable();
        assert_eq!(begun, left, "{self:?}");
        if self.op.0 != "exch" {
            let folded = threads.iter().map(|i| operands[*i]);
            let folded = folded.fold(self.start(), |old, v| self.apply(old, v));
            assert_eq!(end, folded, "{self:?}");
        }
    }

    fn start(&self) -> i128 {
        match self.op.0 {
            "min" | "and" => 0x7f,
            "cas" => 0,
            _ => 5,
        }
    }

    /// Small numbers, whose sums are exact in every type.
    fn operands(&self) -> Vec<i128> {
        let of = |i: usize| match self.op.0 {
            "and" => 0x7f ^ (1 << (i % 5)),
            "add" | "cas" => 1 + i as i128 % 7,
            _ => (i as i128 * 37 + 11) % 101,
        };
        let signed = self.ty.0.starts_with('s') && matches!(self.op.0, "add" | "min" | "max");
        let values = (0..BLOCKS * THREADS).map(of);
        values
            .map(|v| if signed && v % 3 == 0 { -v } else { v })
            .collect()
    }

    fn apply(&self, old: i128, v: i128) -> i128 {
        let new = match self.op.0 {
            "add" | "cas" => old + v,
            "sub" => old - v,
            "min" => old.min(v),
            "max" => old.max(v),
            "and" => old & v,
            "or" => old | v,
            "xor" => old ^ v,
            _ => v,
        };
        // Wraps like the type.
        self.decode(&self.encode(new))[0]
    }

    fn encode(&self, v: i128) -> Vec<u8> {
        match self.ty.0 {
            "f64" => (v as f64).to_le_bytes().to_vec(),
            "f32" => (v as f32).to_le_bytes().to_vec(),
            "f16" => f16::from_f32(v as f32).to_le_bytes().to_vec(),
            "s64" | "u64" => (v as i64).to_le_bytes().to_vec(),
            "s32" | "u32" => (v as i32).to_le_bytes().to_vec(),
            _ => (v as i16).to_le_bytes().to_vec(),
        }
    }

    fn decode(&self, bytes: &[u8]) -> Vec<i128> {
        let size = self.encode(0).len();
        let one = |bytes: &[u8]| {
            let raw = bytes.iter().rev().fold(0u64, |v, b| v << 8 | u64::from(*b));
            match self.ty.0 {
                "f64" => f64::from_bits(raw) as i128,
                "f32" => f32::from_bits(raw as u32) as i128,
                "f16" => f16::from_bits(raw as u16).to_f32() as i128,
                "s64" => i128::from(raw as i64),
                "s32" => i128::from(raw as u32 as i32),
                _ => i128::from(raw),
            }
        };
        bytes.chunks(size).map(one).collect()
    }
}

/// Sums of several elements by one instruction.
#[derive(Clone, Copy, Debug)]
pub struct VectorSums {
    width: usize,
    is_half: bool,
    /// The number in `cpp/atomics.cc`.
    number: i64,
}

/// All sums that there are instructions for.
pub fn vectors() -> Vec<VectorSums> {
    let all = [(2, false), (4, false), (2, true), (4, true), (8, true)];
    (0..)
        .zip(all)
        .map(|(number, (width, is_half))| VectorSums {
            width,
            is_half,
            number,
        })
        .collect()
}

impl VectorSums {
    fn encode(self, v: i32) -> Vec<u8> {
        match self.is_half {
            true => f16::from_f32(v as f32).to_le_bytes().to_vec(),
            false => (v as f32).to_le_bytes().to_vec(),
        }
    }

    /// The addend of a thread, and the sums' first values.
    fn addend(i: usize) -> i32 {
        (i as i32 * 5 + 3) % 11 - 5
    }

    fn start(at: usize) -> i32 {
        at as i32 - 3
    }

    pub fn memory(self) -> Vec<Vec<u8>> {
        let addends = (0..BLOCKS * THREADS).flat_map(|i| self.encode(Self::addend(i)));
        let starts = (0..4 * self.width).flat_map(|at| self.encode(Self::start(at)));
        vec![addends.collect(), starts.collect()]
    }

    pub fn numbers(self) -> [i64; 1] {
        [self.number]
    }

    /// # Panics
    ///
    /// If a sum is another one. All are exact.
    pub fn check(self, memory: &[Vec<u8>]) {
        let all = BLOCKS * THREADS;
        let expected = (0..4 * self.width).flat_map(|at| {
            let (group, element) = (at / self.width, at % self.width);
            let threads = (0..all).filter(|i| i % 4 == group);
            let sum: i32 = threads.map(|i| Self::addend((i + element) % all)).sum();
            self.encode(Self::start(at) + sum)
        });
        let expected: Vec<u8> = expected.collect();
        assert_eq!(memory.last(), Some(&expected), "{self:?}");
    }
}
