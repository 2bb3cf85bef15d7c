//! Matrices in shared memory.
//!
//! They are put there as a copy by TMA would: rows of 32, 64 or 128 bytes, whose chunks of 16 bytes
//! are permuted by the index of the 128 bytes that they are in.

use super::harness::{Matrix, packed, width};

/// How a matrix is in shared memory. `swizzle` is 16 (none), 32, 64 or 128 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    pub swizzle: usize,
    pub is_transposed: bool,
}

pub const PLAIN: Layout = Layout {
    swizzle: 128,
    is_transposed: false,
};

/// A matrix in shared memory.
pub struct Placed {
    pub bytes: Vec<u8>,
    pub leading: usize,
    pub stride: usize,
    /// Of each step in k: how far it is from the start.
    starts: Vec<usize>,
    swizzle: usize,
}

impl Placed {
    /// `lines` are rows of A or columns of B; `k` is what one instruction has of it.
    pub fn new(lines: &Matrix, ty: &str, layout: Layout, k: usize) -> Placed {
        match layout.is_transposed {
            true => Placed::line_major(lines, ty, layout.swizzle, k),
            false => Placed::k_major(lines, ty, layout.swizzle, k),
        }
    }

    fn empty(bytes: usize, swizzle: usize) -> Placed {
        Placed {
            bytes: vec![0xff; bytes.next_multiple_of(1024)],
            leading: 16,
            stride: 0,
            starts: Vec::new(),
            swizzle,
        }
    }

    fn put(&mut self, start: usize, row: usize, chunk: usize, bytes: &[u8]) {
        let width = self.swizzle;
        let permuted = match width {
            16 => chunk,
            _ => chunk ^ (row * width / 128 % (width / 16)),
        };
        let at = start + row * width + permuted * 16;
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn k_major(lines: &Matrix, ty: &str, swizzle: usize, k: usize) -> Placed {
        let rows: Vec<Vec<u8>> = lines
            .iter()
            .map(|line| packed(ty, line.iter().copied()))
            .collect();
        let (count, length) = (rows.len(), rows[0].len());
        let step = k * width(ty) / 8;
        if swizzle == 16 {
            // Core matrices of 8 rows × 16 bytes, with gaps between them.
            let mut placed = Placed::empty(length / 16 * count / 8 * 144, swizzle);
            (placed.stride, placed.leading) = (144, count / 8 * 144);
            for (row, bytes) in rows.iter().enumerate() {
                for (chunk, bytes) in bytes.chunks(16).enumerate() {
                    placed.put(chunk * placed.leading + row / 8 * 144, row % 8, 0, bytes);
                }
            }
            let starts = (0..length).step_by(step);
            placed.starts = starts.map(|at| at / 16 * placed.leading).collect();
            return placed;
        }
        let block = (count * swizzle).next_multiple_of(1024);
        let mut placed = Placed::empty(length.div_ceil(swizzle) * block, swizzle);
        placed.stride = 8 * swizzle;
        for (row, bytes) in rows.iter().enumerate() {
            for (chunk, bytes) in bytes.chunks(16).enumerate() {
                let (outer, inner) = (chunk * 16 / swizzle, chunk % (swizzle / 16));
                placed.put(outer * block, row, inner, bytes);
            }
        }
        let starts = (0..length).step_by(step);
        placed.starts = starts
            .map(|at| at / swizzle * block + at % swizzle)
            .collect();
        placed
    }

    /// Of types of 16 bits.
    fn line_major(lines: &Matrix, ty: &str, swizzle: usize, k: usize) -> Placed {
        let (count, columns) = (lines.len(), lines[0].len());
        let atom = 8 * swizzle;
        let across = (count * 2).div_ceil(swizzle);
        let mut placed = Placed::empty(across * columns / 8 * atom, swizzle);
        // Of lines, and of k.
        let (next_lines, next_columns) = (columns / 8 * atom, atom);
        (placed.leading, placed.stride) = match swizzle {
            16 => (next_columns, next_lines),
            _ => (next_lines, next_columns),
        };
        for (index, group) in lines.chunks(8).enumerate() {
            let (outer, inner) = (index * 16 / swizzle, index * 16 % swizzle / 16);
            for column in 0..columns {
                let start = outer * next_lines + column / 8 * next_columns;
                let bytes = packed(ty, group.iter().map(|line| line[column]));
                placed.put(start, column % 8, inner, &bytes);
            }
        }
        let starts = (0..columns).step_by(k);
        placed.starts = starts.map(|column| column / 8 * next_columns).collect();
        placed
    }

    /// The descriptor of a step, for a matrix that begins at `base`.
    pub fn descriptor(&self, base: usize, step: usize) -> u64 {
        let mode: u64 = match self.swizzle {
            128 => 1,
            64 => 2,
            32 => 3,
            _ => 0,
        };
        let field = |value: usize| (value as u64 & 0x3ffff) >> 4;
        let start = field(base + self.starts[step]);
        start | field(self.leading) << 16 | field(self.stride) << 32 | mode << 62
    }
}
