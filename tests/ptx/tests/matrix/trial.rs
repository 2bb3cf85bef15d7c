//! A product by a warpgroup, with random matrices.

use croq_ptx::machine::{Launch, Report};

use super::harness::{
    Matrix, Random, entry, fill_tile, launch, list, load, packed, product, store, threads,
    unpacked, width, zeros,
};
use super::layouts::{accumulator, left};
use super::placed::{Layout, PLAIN, Placed};
use super::sparse::{Sparse, stored_place};

/// A product, and where its operands are.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    pub n: usize,
    pub types: [&'a str; 3],
    pub a: Layout,
    pub b: Layout,
    pub a_in_registers: bool,
    pub is_sparse: bool,
    pub steps: usize,
    /// The operands after the descriptors; scale-d of all but the first step is 1.
    pub first_scale: &'a str,
    pub scales: [i64; 2],
    pub saturates: bool,
}

impl<'a> Case<'a> {
    pub fn new(n: usize, types: [&'a str; 3]) -> Case<'a> {
        Case {
            n,
            types,
            a: PLAIN,
            b: PLAIN,
            a_in_registers: false,
            is_sparse: false,
            steps: 2,
            first_scale: "1",
            scales: [1, 1],
            saturates: false,
        }
    }

    pub fn k(&self) -> usize {
        256 / width(self.types[0]) * if self.is_sparse { 2 } else { 1 }
    }

    pub fn mnemonic(&self) -> String {
        let [a, b, sum] = self.types;
        let sparse = if self.is_sparse { ".sp" } else { "" };
        let saturates = if self.saturates { ".satfinite" } else { "" };
        let operation = if a == "b1" { ".and.popc" } else { "" };
        let (n, k) = (self.n, self.k());
        format!(
            "wgmma.mma_async{sparse}.sync.aligned.m64n{n}k{k}{saturates}.{sum}.{a}.{b}{operation}"
        )
    }

    /// What follows scale-d.
    fn modes(&self) -> String {
        let mut text = String::new();
        if !matches!(self.types[0], "s8" | "u8" | "b1") {
            self.scales
                .iter()
                .for_each(|scale| text += &format!(", {scale}"));
        }
        if width(self.types[0]) == 16 {
            if !self.a_in_registers {
                text += &format!(", {}", u8::from(self.a.is_transposed));
            }
            text += &format!(", {}", u8::from(self.b.is_transposed));
        }
        text
    }
}

/// Matrices, and a launch of the case with them.
pub struct Trial<'a> {
    pub case: Case<'a>,
    a: Matrix,
    sparse: Option<Sparse>,
    b: Matrix,
    c: Matrix,
    pub launch: Launch,
    /// Changes the text before it is loaded.
    pub edit: fn(String) -> String,
    pub descriptors: fn([u64; 2]) -> [u64; 2],
}

impl<'a> Trial<'a> {
    pub fn new(case: Case<'a>) -> Trial<'a> {
        let mut random = Random(0x1234_5678 + case.n as u64);
        let k = case.k() * case.steps;
        let ty = case.types[0];
        let sparse = case
            .is_sparse
            .then(|| Sparse::random(&mut random, ty, 64, k));
        let a = match &sparse {
            Some(sparse) => sparse.whole.clone(),
            None => random.matrix(ty, 64, k),
        };
        Trial {
            case,
            a,
            sparse,
            b: random.matrix(case.types[1], k, case.n),
            c: random.matrix(case.types[2], 64, case.n),
            launch: threads(128),
            edit: |text| text,
            descriptors: |both| both,
        }
    }

    pub fn expected(&self) -> Matrix {
        self.expected_of(self.case.steps)
    }

    /// Of the first `steps` products.
    pub fn expected_of(&self, steps: usize) -> Matrix {
        let none = zeros(64, self.case.n);
        let keeps = self.case.first_scale != "0";
        let sign = self.case.scales.iter().product::<i64>();
        let a: Matrix = self
            .a
            .iter()
            .map(|row| row.iter().map(|v| v * sign).collect())
            .collect();
        let b = &self.b[..steps * self.case.k()];
        product(&a, b, if keeps { &self.c } else { &none })
    }

    /// Elements of D of a thread.
    fn of_thread(&self) -> usize {
        self.case.n / 2
    }

    fn each(count: usize) -> impl Iterator<Item = (usize, usize)> {
        (0..128).flat_map(move |thread| (0..count).map(move |i| (thread, i)))
    }

    /// Of a step: A as it is stored, in the registers of each thread.
    fn fragments(&self, step: usize) -> Vec<u8> {
        let (case, k) = (&self.case, self.case.k());
        let ty = case.types[0];
        let per_thread = 128 / width(ty);
        let shape = format!("m16n8k{k}");
        let element = |(thread, i): (usize, usize)| {
            let (top, lane) = (thread / 32 * 16, thread % 32);
            match &self.sparse {
                Some(sparse) => {
                    let (row, column) = stored_place(ty, k, lane, i);
                    sparse.stored[top + row][step * k / 2 + column]
                }
                None => {
                    let (row, column) = left(&shape, ty, lane, i);
                    self.a[top + row][step * k + column]
                }
            }
        };
        packed(ty, Trial::each(per_thread).map(element))
    }

    fn metadata(&self, step: usize) -> Vec<u8> {
        let k = self.case.k();
        let Some(sparse) = &self.sparse else {
            return Vec::new();
        };
        let words =
            (0..128).map(|thread| sparse.word((thread / 32 * 16, step * k), k, 0, thread % 32));
        words.flat_map(u32::to_le_bytes).collect()
    }

    pub fn run(&self) -> Result<Matrix, Report> {
        let (case, k) = (&self.case, self.case.k());
        let stored = self
            .sparse
            .as_ref()
            .map_or(&self.a, |sparse| &sparse.stored);
        let stored_k = if case.is_sparse { k / 2 } else { k };
        let a = Placed::new(stored, case.types[0], case.a, stored_k);
        let columns = (0..case.n).map(|column| self.b.iter().map(|row| row[column]).collect());
        let b = Placed::new(&columns.collect(), case.types[1], case.b, k);
        let mut input = [a.bytes.as_slice(), &b.bytes].concat();
        let mut text = fill_tile(input.len());
        let registers = self.of_thread() * width(case.types[2]) / 32;
        let values = Trial::each(self.of_thread()).map(|(thread, i)| {
            let (row, column) = accumulator(16, thread % 32, i);
            self.c[thread / 32 * 16 + row][column]
        });
        text += &load("d", registers, false, input.len());
        input.extend(packed(case.types[2], values));
        let mut issue = String::new();
        for step in 0..case.steps {
            let both = [
                a.descriptor(1024, step),
                b.descriptor(1024 + a.bytes.len(), step),
            ];
            let [first, second] = (self.descriptors)(both);
            text += &format!("mov.u64 %da{step}, {first:#x}; mov.u64 %db{step}, {second:#x};\n");
            let mut left = format!("%da{step}");
            if case.a_in_registers {
                let names: Vec<String> = (0..4).map(|i| format!("%a{}", 4 * step + i)).collect();
                left = format!("{{{}}}", names.join(", "));
                let loads = load("r", 4, false, input.len());
                let moves: String = (0..4)
                    .map(|i| format!("mov.b32 %a{}, %r{i};\n", 4 * step + i))
                    .collect();
                text += &format!("{loads}{moves}");
                input.extend(self.fragments(step));
            }
            let mut metadata = String::new();
            if case.is_sparse {
                text += &load("r", 1, false, input.len());
                text += &format!("mov.b32 %e{step}, %r0;\n");
                input.extend(self.metadata(step));
                metadata = format!(", %e{step}, 0");
            }
            let scale = if step == 0 { case.first_scale } else { "1" };
            let (mnemonic, d, modes) = (case.mnemonic(), list("d", registers), case.modes());
            issue += &format!("{mnemonic} {d}, {left}, %db{step}{metadata}, {scale}{modes};\n");
        }
        text +=
            "setp.ne.u32 %p5, %t, 9999; setp.eq.u32 %p6, %t, 9999;\nwgmma.fence.sync.aligned;\n";
        text += &issue;
        text += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
        text += &store("d", registers, false);
        let text = (self.edit)(entry(&format!("{text}ret;")));
        let bytes = 128 * registers * 4;
        let out = launch(&text, self.launch, &input, bytes)?;
        let mut found = zeros(64, case.n);
        for (index, value) in unpacked(case.types[2], &out).into_iter().enumerate() {
            let (thread, i) = (index / self.of_thread(), index % self.of_thread());
            let (row, column) = accumulator(16, thread % 32, i);
            found[thread / 32 * 16 + row][column] = value;
        }
        Ok(found)
    }

    pub fn check(&self) {
        let found = self.run();
        let found = found.unwrap_or_else(|report| panic!("{:?}: {report}", self.case));
        assert_eq!(found, self.expected(), "{:?}", self.case);
    }
}
