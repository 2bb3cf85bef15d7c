//! Products of matrices.
//!
//! Choices where the ISA leaves one ("Precision and rounding" of `mma` and `wgmma.mma_async`):
//! products of f16, bf16, tf32 and 8-bit floats are exact, they are added in f64 to the accumulator,
//! in ascending order of k, and the sum is rounded once, to the nearest even number of the
//! accumulator's type. Sums of f64 are fused multiply-adds in ascending order of k, each rounded.
//! Sums of integers, which f64 has exactly, wrap around or are clamped at the end.

/// A matrix by rows.
#[derive(Clone, PartialEq, Debug)]
pub struct Grid<T> {
    columns: usize,
    elements: Vec<T>,
}

impl<T: Copy + Default> Grid<T> {
    pub fn new(rows: usize, columns: usize) -> Grid<T> {
        Grid {
            columns,
            elements: vec![T::default(); rows * columns],
        }
    }

    pub fn row(&self, row: usize) -> &[T] {
        &self.elements[row * self.columns..][..self.columns]
    }

    pub fn get(&self, row: usize, column: usize) -> T {
        self.row(row)[column]
    }

    pub fn set(&mut self, row: usize, column: usize, value: T) {
        self.elements[row * self.columns + column] = value;
    }

    pub fn rows(&self) -> usize {
        self.elements.len() / self.columns.max(1)
    }

    fn row_mut(&mut self, row: usize) -> &mut [T] {
        &mut self.elements[row * self.columns..][..self.columns]
    }
}

impl Grid<f64> {
    pub fn negate(&mut self) {
        self.elements
            .iter_mut()
            .for_each(|element| *element = -*element);
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Combination {
    Multiply,
    /// Of f64: each sum is rounded.
    Fused,
    /// `.xor.popc`
    Xor,
}

/// Adds A·B. `places` says for each element of a sparse A which column of the whole A it is from.
pub fn accumulate(
    a: &Grid<f64>,
    places: Option<&Grid<usize>>,
    b: &Grid<f64>,
    combination: Combination,
    sums: &mut Grid<f64>,
) {
    for row in 0..a.rows() {
        let sums = sums.row_mut(row);
        let line = |column: usize| b.row(places.map_or(column, |places| places.get(row, column)));
        let elements = a.row(row);
        match combination {
            Combination::Multiply => add_products(elements, line, sums),
            Combination::Fused => add(elements, line, sums, |a, b, sum| a.mul_add(b, sum)),
            // Of bits: the square of the difference.
            Combination::Xor => add(elements, line, sums, |a, b, sum| sum + (a - b) * (a - b)),
        }
    }
}

fn add<'b>(
    elements: &[f64],
    line: impl Fn(usize) -> &'b [f64],
    sums: &mut [f64],
    f: impl Fn(f64, f64, f64) -> f64,
) {
    for (column, a) in elements.iter().enumerate() {
        for (sum, b) in sums.iter_mut().zip(line(column)) {
            *sum = f(*a, *b, *sum);
        }
    }
}

/// Four elements at a time, in the same order: a quarter of the loads and stores.
fn add_products<'b>(elements: &[f64], line: impl Fn(usize) -> &'b [f64], sums: &mut [f64]) {
    let (fours, rest) = elements.as_chunks::<4>();
    for (index, [a, b, c, d]) in fours.iter().enumerate() {
        let [p, q, r, s] = [0, 1, 2, 3].map(|offset| line(index * 4 + offset));
        for ((((sum, p), q), r), s) in sums.iter_mut().zip(p).zip(q).zip(r).zip(s) {
            *sum = *sum + a * p + b * q + c * r + d * s;
        }
    }
    let first = elements.len() - rest.len();
    add(
        rest,
        |column| line(first + column),
        sums,
        |a, b, sum| sum + a * b,
    );
}

#[cfg(test)]
mod tests {
    use super::{Combination, Grid, accumulate};

    fn grid<T: Copy + Default>(rows: &[&[T]]) -> Grid<T> {
        Grid {
            columns: rows[0].len(),
            elements: rows.concat(),
        }
    }

    #[test]
    fn products_are_added_to_the_accumulator() {
        // Five columns: four at a time, and one more.
        let a = grid(&[&[1.0, 2.0, 0.0, 1.0, 3.0], &[3.0, 4.0, 1.0, 0.0, -1.0]]);
        let b = grid(&[
            &[5.0, 6.0],
            &[8.0, 9.0],
            &[1.0, 0.0],
            &[0.0, 2.0],
            &[1.0, 1.0],
        ]);
        let mut sums = grid(&[&[100.0, 0.0], &[0.0; 2]]);
        accumulate(&a, None, &b, Combination::Multiply, &mut sums);
        assert_eq!(sums, grid(&[&[124.0, 29.0], &[47.0, 53.0]]));
    }

    /// Zeros that are not stored do not meet the infinities of B.
    #[test]
    fn sparse_elements_meet_their_rows_only() {
        let a = grid(&[&[2.0, 3.0]]);
        let places = grid(&[&[1_usize, 3]]);
        let b = grid(&[&[f64::INFINITY], &[10.0], &[f64::NAN], &[1.0]]);
        let mut sums = grid(&[&[0.0]]);
        accumulate(&a, Some(&places), &b, Combination::Multiply, &mut sums);
        assert_eq!(sums.get(0, 0), 23.0);
    }

    /// The product has digits that a rounded one does not have.
    #[test]
    fn products_of_f64_are_not_rounded() {
        let (one, small) = (1.0 + 2_f64.powi(-30), 2_f64.powi(-29));
        for (combination, expected) in [
            (Combination::Fused, 2_f64.powi(-60)),
            (Combination::Multiply, 0.0),
        ] {
            let mut sums = grid(&[&[-1.0 - small]]);
            let factor = grid(&[&[one]]);
            accumulate(&factor, None, &factor, combination, &mut sums);
            assert_eq!(sums.get(0, 0), expected);
        }
    }

    #[test]
    fn single_bits_are_combined_by_and_or_xor() {
        let a = grid(&[&[1.0, 1.0, 0.0, 0.0]]);
        let b = grid(&[&[1.0], &[0.0], &[1.0], &[0.0]]);
        for (combination, expected) in [(Combination::Multiply, 1.0), (Combination::Xor, 2.0)] {
            let mut sums = grid(&[&[0.0]]);
            accumulate(&a, None, &b, combination, &mut sums);
            assert_eq!(sums.get(0, 0), expected);
        }
    }
}
