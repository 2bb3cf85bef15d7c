//! Products of matrices.
//!
//! Choices where the ISA leaves one ("Precision and rounding" of `mma` and `wgmma.mma_async`):
//! products of f16, bf16, tf32 and 8-bit floats are exact, they are added in f64 to the accumulator,
//! in ascending order of k, and the sum is rounded once, to the nearest even number of the
//! accumulator's type. Sums of f64 are fused multiply-adds in ascending order of k, each rounded.
//! Sums of integers are exact until the end, where they wrap around or are clamped.

use super::element::ElementType;

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

    fn map<U>(&self, f: impl Fn(T) -> U) -> Grid<U> {
        Grid {
            columns: self.columns,
            elements: self.elements.iter().map(|element| f(*element)).collect(),
        }
    }
}

/// The elements of a multiplicand.
pub enum Values {
    Floats(Grid<f64>),
    Integers(Grid<i32>),
}

impl Values {
    /// Of the elements' bits.
    pub fn of(ty: ElementType, bits: &Grid<u64>) -> Values {
        match ty.is_integer() {
            true => Values::Integers(bits.map(|bits| ty.integer(bits))),
            false => Values::Floats(bits.map(|bits| ty.float(bits))),
        }
    }

    pub fn negated(self) -> Values {
        match self {
            Values::Floats(grid) => Values::Floats(grid.map(|value| -value)),
            Values::Integers(grid) => Values::Integers(grid.map(|value| -value)),
        }
    }
}

/// The elements of an accumulator.
pub enum Sums {
    Floats(Grid<f64>),
    Integers(Grid<i64>),
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
    a: &Values,
    places: Option<&Grid<usize>>,
    b: &Values,
    combination: Combination,
    sums: &mut Sums,
) {
    match (a, b, sums) {
        (Values::Floats(a), Values::Floats(b), Sums::Floats(sums)) => {
            let fused = combination == Combination::Fused;
            each_product(a, places, b, |row, a, b| {
                for (sum, b) in row_of(sums, row).iter_mut().zip(b) {
                    *sum = if fused {
                        a.mul_add(*b, *sum)
                    } else {
                        a * b + *sum
                    };
                }
            });
        }
        (Values::Integers(a), Values::Integers(b), Sums::Integers(sums)) => {
            let xor = combination == Combination::Xor;
            each_product(a, places, b, |row, a, b| {
                for (sum, b) in row_of(sums, row).iter_mut().zip(b) {
                    *sum += i64::from(if xor { a ^ b } else { a * b });
                }
            });
        }
        // The decoder gives no mixture.
        _ => {}
    }
}

fn row_of<T>(grid: &mut Grid<T>, row: usize) -> &mut [T] {
    &mut grid.elements[row * grid.columns..][..grid.columns]
}

/// Calls `f` with a row's index, an element of A, and the row of B that it is multiplied with.
fn each_product<T: Copy + Default>(
    a: &Grid<T>,
    places: Option<&Grid<usize>>,
    b: &Grid<T>,
    mut f: impl FnMut(usize, T, &[T]),
) {
    for row in 0..a.rows() {
        for (column, element) in a.row(row).iter().enumerate() {
            let k = places.map_or(column, |places| places.get(row, column));
            f(row, *element, b.row(k));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Combination, Grid, Sums, Values, accumulate};

    fn grid<T: Copy + Default>(rows: &[&[T]]) -> Grid<T> {
        Grid {
            columns: rows[0].len(),
            elements: rows.concat(),
        }
    }

    #[test]
    fn products_are_added_to_the_accumulator() {
        let a = Values::Floats(grid(&[&[1.0, 2.0], &[3.0, 4.0]]));
        let b = Values::Floats(grid(&[&[5.0, 6.0, 7.0], &[8.0, 9.0, 10.0]]));
        let mut sums = Sums::Floats(grid(&[&[100.0, 0.0, 0.0], &[0.0; 3]]));
        accumulate(&a, None, &b, Combination::Multiply, &mut sums);
        let Sums::Floats(found) = sums else {
            panic!("integers");
        };
        assert_eq!(found, grid(&[&[121.0, 24.0, 27.0], &[47.0, 54.0, 61.0]]));
    }

    /// Zeros that are not stored do not meet the infinities of B.
    #[test]
    fn sparse_elements_meet_their_rows_only() {
        let a = Values::Floats(grid(&[&[2.0, 3.0]]));
        let places = grid(&[&[1_usize, 3]]);
        let b = Values::Floats(grid(&[&[f64::INFINITY], &[10.0], &[f64::NAN], &[1.0]]));
        let mut sums = Sums::Floats(grid(&[&[0.0]]));
        accumulate(&a, Some(&places), &b, Combination::Multiply, &mut sums);
        assert!(matches!(sums, Sums::Floats(found) if found.get(0, 0) == 23.0));
    }

    /// The product has digits that a rounded one does not have.
    #[test]
    fn products_of_f64_are_not_rounded() {
        let (one, small) = (1.0 + 2_f64.powi(-30), 2_f64.powi(-29));
        let (a, b) = (
            Values::Floats(grid(&[&[one]])),
            Values::Floats(grid(&[&[one]])),
        );
        for (combination, expected) in [
            (Combination::Fused, 2_f64.powi(-60)),
            (Combination::Multiply, 0.0),
        ] {
            let mut sums = Sums::Floats(grid(&[&[-1.0 - small]]));
            accumulate(&a, None, &b, combination, &mut sums);
            assert!(matches!(sums, Sums::Floats(found) if found.get(0, 0) == expected));
        }
    }

    #[test]
    fn single_bits_are_combined_by_and_or_xor() {
        let a = Values::Integers(grid(&[&[1, 1, 0, 0]]));
        let b = Values::Integers(grid(&[&[1], &[0], &[1], &[0]]));
        for (combination, expected) in [(Combination::Multiply, 1), (Combination::Xor, 2)] {
            let mut sums = Sums::Integers(grid(&[&[0]]));
            accumulate(&a, None, &b, combination, &mut sums);
            assert!(matches!(sums, Sums::Integers(found) if found.get(0, 0) == expected));
        }
    }
}
