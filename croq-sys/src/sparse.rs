//! Operands of sparse MMAs: matrices with at most two nonzero values in every four elements of a
//! row.
//!
//! `mma.row.row.sp` takes such a matrix in compressed form: the two stored elements of every four,
//! and metadata with their positions. [`encode`] computes both, and [`decode`] the matrix.
//!
//! The metadata of a matrix `[M, K]` is `u32 [M, K/32]`, row by row. Word `(m, j)` is for the
//! elements `32 j` and up of row `m`: eight groups of four bits, the lowest bits first, with two
//! positions of two bits each, the lower one first. In bytes it is the same data as `u8 [M, K/8]`
//! and `u16 [M, K/16]`, which kernels accept as well.
//!
//! Kernels that multiply tiles of 16-bit elements with K 16 take metadata `u32 [M, K/16]`: word
//! `(m, j)` is for the elements `16 j` and up, and has their positions in its lower half.
//! [`encode_by_16`] computes it.
//!
//! ```
//! use croq_sys::{Const, Tensor, sparse};
//!
//! // Columns 1 and 3 of every four.
//! let dense = Tensor::<f32, _>::from_fn((Const::<2>, Const::<32>), |[i, k]| {
//!     if k % 2 == 1 { (i * 32 + k) as f32 } else { 0.0 }
//! });
//! let encoded = sparse::encode(&dense)?;
//! assert_eq!(encoded.packed.shape(), [2, 16]);
//! assert_eq!(encoded.packed[[1, 2]], 32.0 + 5.0);
//! assert_eq!(encoded.metadata.as_slice(), [0xdddd_dddd; 2]);
//! assert_eq!(sparse::decode(&encoded.packed, &encoded.metadata)?, dense);
//! # Ok::<(), sparse::Error>(())
//! ```

use std::fmt;

use crate::dims::Dims;
use crate::element::Element;
use crate::tensor::{HostData, Tensor};

/// The elements of a row for which a word of metadata has positions.
const WORD: usize = 32;
/// The elements of a row for which half a word of metadata has positions.
const HALF: usize = 16;
/// The size of a group of elements, two of which are stored.
const GROUP: usize = 4;

/// The compressed form of a matrix `[M, K]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoded<T: Element> {
    /// `[M, K/2]`
    pub packed: Tensor<T, (usize, usize)>,
    /// `[M, K/32]`
    pub metadata: Tensor<u32, (usize, usize)>,
}

impl<T: Element> Encoded<T> {
    /// The metadata as `u8 [M, K/8]`.
    pub fn metadata_bytes(&self) -> Tensor<u8, (usize, usize)> {
        let words = &self.metadata;
        let [rows, columns] = words.shape();
        Tensor::from_fn((rows, columns * 4), |[i, j]| {
            words[[i, j / 4]].to_le_bytes()[j % 4]
        })
    }

    /// The metadata as `u16 [M, K/16]`.
    pub fn metadata_halves(&self) -> Tensor<u16, (usize, usize)> {
        let words = &self.metadata;
        let [rows, columns] = words.shape();
        Tensor::from_fn((rows, columns * 2), |[i, j]| {
            (words[[i, j / 2]] >> (16 * (j % 2))) as u16
        })
    }
}

/// The compressed form of a matrix `[M, K]`, with a word of metadata for each 16 elements.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodedBy16<T: Element> {
    /// `[M, K/2]`
    pub packed: Tensor<T, (usize, usize)>,
    /// `[M, K/16]`; the upper halves of the words are zero.
    pub metadata: Tensor<u32, (usize, usize)>,
}

/// The reason why a matrix cannot be encoded or decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A group of four elements of a row, from column `k` on, has more than two nonzero values. It
    /// is the first such group, row by row.
    NotSparse {
        /// The row of the group.
        row: usize,
        /// The first column of the group.
        k: usize,
        /// The number of nonzero values.
        found: usize,
    },
    /// The length of the rows is not a multiple of 32 elements.
    Columns {
        /// The length.
        k: usize,
    },
    /// The length of the rows is not a multiple of 16 elements.
    ColumnsBy16 {
        /// The length.
        k: usize,
    },
    /// The shapes of the packed matrix and of the metadata do not match.
    Shapes {
        /// The shape of the packed matrix.
        packed: [usize; 2],
        /// The shape of the metadata.
        metadata: [usize; 2],
    },
    /// Several elements are one value in Rust: only types with one are encoded.
    PackedElements {
        /// The type in the language.
        element: &'static str,
    },
    /// The positions of the stored elements of the group at column `k` do not ascend.
    Positions {
        /// The row of the group.
        row: usize,
        /// The first column of the group.
        k: usize,
        /// The positions, from 0 to 3.
        positions: [u8; 2],
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotSparse { row, k, found } => write!(
                f,
                "row {row} has {found} values that are not zero among the four from column {k} on; \
                 two are allowed"
            ),
            Error::Columns { k } => columns(f, k, WORD),
            Error::ColumnsBy16 { k } => columns(f, k, HALF),
            Error::Shapes { packed, metadata } => write!(
                f,
                "{packed:?} packed elements have metadata of [{}, {}], this has {metadata:?}",
                packed[0],
                packed[1].saturating_mul(2) / WORD
            ),
            Error::PackedElements { element } => write!(
                f,
                "matrices of packed elements, such as `{element}`, are not encoded here"
            ),
            Error::Positions { row, k, positions } => write!(
                f,
                "the metadata of row {row} has the positions {positions:?} for the four elements \
                 from column {k} on; they must ascend"
            ),
        }
    }
}

fn columns(f: &mut fmt::Formatter<'_>, k: &usize, of: usize) -> fmt::Result {
    write!(
        f,
        "a sparse matrix has rows of a multiple of {of} elements, this one has {k}"
    )
}

impl std::error::Error for Error {}

/// Compresses a matrix: stores two of every four elements of each row. A negative zero counts as
/// zero.
///
/// # Errors
/// [`Error::NotSparse`] if a group of four has more than two nonzero values,
/// [`Error::Columns`] if the length of the rows is not a multiple of 32 elements, and
/// [`Error::PackedElements`] for packed types.
pub fn encode<T, D, S>(dense: &Tensor<T, D, S>) -> Result<Encoded<T>, Error>
where
    T: Element,
    D: Dims<Index = [usize; 2]>,
    S: HostData<T>,
{
    let [_, k] = dense.shape();
    if k % WORD != 0 {
        return Err(Error::Columns { k });
    }
    let (packed, metadata) = compress(dense, WORD)?;
    Ok(Encoded { packed, metadata })
}

/// Compresses a matrix as [`encode`] does, with a word of metadata for each 16 elements of a row.
///
/// ```
/// use croq_sys::{Tensor, sparse};
///
/// // Columns 1 and 3 of every four.
/// let dense = Tensor::<f32, _>::from_fn((1, 48), |[_, k]| (k % 2) as f32);
/// let encoded = sparse::encode_by_16(&dense)?;
/// assert_eq!(encoded.metadata.as_slice(), [0xdddd; 3]);
/// # Ok::<(), sparse::Error>(())
/// ```
///
/// # Errors
/// [`Error::NotSparse`] if a group of four has more than two nonzero values, and
/// [`Error::ColumnsBy16`] if the length of the rows is not a multiple of 16 elements.
pub fn encode_by_16<T, D, S>(dense: &Tensor<T, D, S>) -> Result<EncodedBy16<T>, Error>
where
    T: Element,
    D: Dims<Index = [usize; 2]>,
    S: HostData<T>,
{
    let [_, k] = dense.shape();
    if k % HALF != 0 {
        return Err(Error::ColumnsBy16 { k });
    }
    let (packed, metadata) = compress(dense, HALF)?;
    Ok(EncodedBy16 { packed, metadata })
}

/// The stored elements of a matrix, and metadata with a word for each `word` elements of a row.
#[expect(clippy::type_complexity, reason = "a pair of matrices")]
fn compress<T, D, S>(
    dense: &Tensor<T, D, S>,
    word: usize,
) -> Result<(Tensor<T, (usize, usize)>, Tensor<u32, (usize, usize)>), Error>
where
    T: Element,
    D: Dims<Index = [usize; 2]>,
    S: HostData<T>,
{
    let [rows, k] = dense.shape();
    has_single_elements::<T>()?;
    let mut packed = Tensor::zeros((rows, k / 2));
    let mut metadata = Tensor::zeros((rows, k / word));
    for (number, group) in dense.as_slice().chunks(GROUP).enumerate() {
        let (row, group_of_row) = (number / (k / GROUP), number % (k / GROUP));
        let at = group_of_row * GROUP;
        let is_zero = |i: &usize| group[*i] == T::default();
        let stored: Vec<usize> = (0..GROUP).filter(|i| !is_zero(i)).collect();
        let found = stored.len();
        if found > 2 {
            return Err(Error::NotSparse { row, k: at, found });
        }
        // The remaining slots store zeros.
        let zeros = (0..GROUP).filter(is_zero).take(2 - found);
        let mut positions: Vec<usize> = stored.into_iter().chain(zeros).collect();
        positions.sort_unstable();
        for (i, position) in positions.into_iter().enumerate() {
            packed[[row, at / 2 + i]] = group[position];
            metadata[[row, at / word]] |= (position as u32) << (at % word + 2 * i);
        }
    }
    Ok((packed, metadata))
}

fn has_single_elements<T: Element>() -> Result<(), Error> {
    match T::COUNT {
        1 => Ok(()),
        _ => Err(Error::PackedElements { element: T::NAME }),
    }
}

/// Expands a compressed matrix.
///
/// # Errors
/// [`Error::Shapes`] if the shapes of the two do not match, [`Error::Positions`] if two
/// positions of a group are equal or descend, and [`Error::PackedElements`] for packed types.
pub fn decode<T, D, E, S, R>(
    packed: &Tensor<T, D, S>,
    metadata: &Tensor<u32, E, R>,
) -> Result<Tensor<T, (usize, usize)>, Error>
where
    T: Element,
    D: Dims<Index = [usize; 2]>,
    E: Dims<Index = [usize; 2]>,
    S: HostData<T>,
    R: HostData<u32>,
{
    let shapes = [packed.shape(), metadata.shape()];
    let [[rows, half], [words_down, words]] = shapes;
    has_single_elements::<T>()?;
    // Of no rows, any number of columns is a shape.
    let (columns, described) = (half.checked_mul(2), words.checked_mul(WORD));
    let columns = columns.filter(|_| rows == words_down && columns == described);
    let Some(columns) = columns else {
        let [packed, metadata] = shapes;
        return Err(Error::Shapes { packed, metadata });
    };
    let mut dense = Tensor::zeros((rows, columns));
    for row in 0..rows {
        for at in (0..columns).step_by(GROUP) {
            let bits = metadata[[row, at / WORD]] >> (at % WORD);
            let positions = [bits & 3, bits >> 2 & 3];
            if positions[0] >= positions[1] {
                let positions = positions.map(|position| position as u8);
                let k = at;
                return Err(Error::Positions { row, k, positions });
            }
            for (i, position) in positions.into_iter().enumerate() {
                dense[[row, at + position as usize]] = packed[[row, at / 2 + i]];
            }
        }
    }
    Ok(dense)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dims::Const;

    /// A row of groups with every choice of at most two nonzero values of four.
    fn all_groups() -> Tensor<i32, (Const<11>, Const<32>)> {
        let sets = (0u32..16).filter(|set| set.count_ones() <= 2);
        let sets: Vec<u32> = sets.collect();
        Tensor::from_fn((Const, Const), |[row, k]| {
            let set = sets[(row + k / 4) % sets.len()];
            let value = (row * 32 + k) as i32 + 1;
            if set >> (k % 4) & 1 == 1 { value } else { 0 }
        })
    }

    #[test]
    fn packed_elements_and_shapes_beyond_numbers_are_errors() {
        let packed = Tensor::<crate::S4x2, _>::pack((2, 32), |[_, k]| (k % 4 == 0) as i8);
        let element = "s4";
        let found = encode(&packed.unwrap());
        assert_eq!(found, Err(Error::PackedElements { element }));
        let bits = Tensor::<crate::U1x8, _>::zeros((2, 32));
        let element = "u1";
        assert_eq!(encode_by_16(&bits), Err(Error::PackedElements { element }));
        let words = Tensor::<u32, _>::zeros((2, 1));
        assert_eq!(
            decode(&bits, &words),
            Err(Error::PackedElements { element })
        );
        let none = Tensor::<f32, _>::zeros((0, usize::MAX));
        let words = Tensor::<u32, _>::zeros((0, usize::MAX));
        assert!(matches!(decode(&none, &words), Err(Error::Shapes { .. })));
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        let dense = all_groups();
        let encoded = encode(&dense).expect("sparse");
        let decoded = decode(&encoded.packed, &encoded.metadata).expect("valid");
        assert_eq!(decoded, dense);
    }

    #[test]
    fn words_bytes_and_halves() {
        let mut dense = Tensor::<u8, _>::zeros((1, 64));
        dense[[0, 3]] = 7;
        dense[[0, 37]] = 8;
        dense[[0, 38]] = 9;
        let encoded = encode(&dense).expect("sparse");
        // Positions 0 and 3; positions 1 and 2 of the second group; else 0 and 1.
        assert_eq!(encoded.metadata.as_slice(), [0x4444_444c, 0x4444_4494]);
        let packed: Vec<usize> = (0..32).filter(|i| encoded.packed[[0, *i]] != 0).collect();
        assert_eq!(packed, [1, 18, 19]);
        let bytes = encoded.metadata_bytes();
        assert_eq!(
            bytes.as_slice(),
            [0x4c, 0x44, 0x44, 0x44, 0x94, 0x44, 0x44, 0x44]
        );
        let halves = encoded.metadata_halves();
        assert_eq!(halves.as_slice(), [0x444c, 0x4444, 0x4494, 0x4444]);
    }

    #[test]
    fn a_word_for_each_16_elements() {
        let dense = all_groups();
        let (encoded, by_16) = (encode(&dense), encode_by_16(&dense));
        let (encoded, by_16) = (encoded.expect("sparse"), by_16.expect("sparse"));
        assert_eq!(by_16.packed, encoded.packed);
        let halves = encoded.metadata_halves();
        assert_eq!(by_16.metadata.shape(), [11, 2]);
        let words = halves.as_slice().iter().map(|half| u32::from(*half));
        assert!(words.eq(by_16.metadata.as_slice().iter().copied()));
        let error = encode_by_16(&Tensor::<f32, _>::zeros((2, 24))).expect_err("no words");
        assert_eq!(error, Error::ColumnsBy16 { k: 24 });
        assert_eq!(
            error.to_string(),
            "a sparse matrix has rows of a multiple of 16 elements, this one has 24"
        );
    }

    #[test]
    fn the_first_group_with_too_many_values_is_named() {
        let mut dense = Tensor::<f32, _>::zeros((Const::<3>, Const::<64>));
        for at in [[2, 0], [2, 1], [2, 2], [1, 44], [1, 45], [1, 46], [1, 47]] {
            dense[at] = 1.0;
        }
        dense[[0, 5]] = -0.0;
        let error = encode(&dense).expect_err("too many");
        let (row, k, found) = (1, 44, 4);
        assert_eq!(error, Error::NotSparse { row, k, found });
        assert_eq!(
            error.to_string(),
            "row 1 has 4 values that are not zero among the four from column 44 on; two are allowed"
        );
        let error = encode(&Tensor::<f32, _>::zeros((2, 48))).expect_err("no words");
        assert_eq!(error, Error::Columns { k: 48 });
    }

    #[test]
    fn metadata_that_is_not_valid() {
        let packed = Tensor::<i32, _>::zeros((2, 16));
        let mut metadata = Tensor::<u32, _>::zeros((2, 1));
        metadata[[0, 0]] = 0x4444_4444;
        metadata[[1, 0]] = 0x4944_1444;
        let (row, k, positions) = (1, 12, [1, 0]);
        let expected = Error::Positions { row, k, positions };
        assert_eq!(decode(&packed, &metadata), Err(expected));
        metadata[[1, 0]] = 0x4944_4f44;
        let (k, positions) = (8, [3, 3]);
        let expected = Error::Positions { row, k, positions };
        assert_eq!(decode(&packed, &metadata), Err(expected));
        let metadata = Tensor::<u32, _>::zeros((2, 2));
        assert!(matches!(
            decode(&packed, &metadata),
            Err(Error::Shapes { .. })
        ));
    }
}
