//! The boxes that a TMA copy consists of: a box has at most 256 elements along an axis, a tile may
//! have more.
//!
//! A box is dense in shared memory and begins at a multiple of what TMA and the swizzle require. So
//! the innermost axis that is longer is divided, and each position along the axes outside of it has
//! boxes of its own.

use super::{Buffer, Swizzle};
use crate::symbolic::{Ctx, Sym};

/// The most elements of a box along one axis.
pub const LONGEST_BOX: i64 = 256;
/// The most boxes of one copy, without those for the groups of swizzled rows.
const MOST_PIECES: i64 = 64;
/// Boxes without a swizzle begin at multiples of so many bytes in shared memory.
pub const BOX_ALIGNMENT: i64 = 128;

/// One box of a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoxPiece {
    /// Its position in the tile.
    pub at: Vec<i64>,
    /// Its first element in shared memory, counted from that of the tile.
    pub offset: Sym,
    pub shape: Vec<Sym>,
}

/// Why a tile cannot be divided into boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indivisible {
    /// It would have more boxes than this.
    Many(i64),
    /// An extent outside of the divided axis is known only at run time.
    Symbolic(usize),
    /// A box would begin between multiples of so many bytes.
    Unaligned(i64),
}

/// The boxes of a tile of this shape in `buffer`, in which the swizzle separates no columns: rows of
/// several groups are as wide as one.
pub fn box_pieces(cx: &Ctx, buffer: &Buffer, shape: &[Sym]) -> Result<Vec<BoxPiece>, Indivisible> {
    let long = |extent: &Sym| extent.as_int().filter(|n| *n > LONGEST_BOX);
    let axis = shape.iter().rposition(|extent| long(extent).is_some());
    let Some((axis, extent)) = axis.and_then(|a| Some((a, long(shape.get(a)?)?))) else {
        let whole = BoxPiece {
            at: vec![0; shape.len()],
            offset: Sym::zero(),
            shape: shape.to_vec(),
        };
        return Ok(vec![whole]);
    };
    let bytes = i64::try_from(buffer.elem.bytes()).unwrap_or(1);
    // Every part of a swizzled tile has the same pattern.
    let period = |swizzle: &Swizzle| 8 * i64::from(swizzle.bytes);
    let alignment = (buffer.swizzle.as_ref()).map_or(BOX_ALIGNMENT, period);
    let row: Sym = shape.iter().skip(axis + 1).product();
    let row = &row * bytes;
    let is_aligned = |rows: i64| {
        let begins = &row * rows;
        cx.divides(&Sym::int(alignment), &begins).is_yes()
    };
    let outer: Vec<i64> = (shape.iter().take(axis).enumerate())
        .map(|(at, extent)| extent.as_int().ok_or(Indivisible::Symbolic(at)))
        .collect::<Result<_, _>>()?;
    let fewest = extent.div_euclid(LONGEST_BOX) + i64::from(extent % LONGEST_BOX != 0);
    let mut counts = outer.iter().chain([&fewest]);
    let count = counts.try_fold(1, |n: i64, more| n.checked_mul(*more));
    let Some(count) = count.filter(|count| *count <= MOST_PIECES) else {
        return Err(Indivisible::Many(MOST_PIECES));
    };
    let equal = extent / fewest;
    // One tensor map is enough for boxes of one length.
    let apart = match equal * fewest == extent && is_aligned(equal) {
        true => equal,
        false => LONGEST_BOX,
    };
    if !is_aligned(apart) || (outer.iter().any(|n| *n > 1) && !is_aligned(extent)) {
        return Err(Indivisible::Unaligned(alignment));
    }
    let piece = |number: i64| {
        let mut at = position(number / fewest, &outer);
        let first = number % fewest * apart;
        at.push(first);
        at.resize(shape.len(), 0);
        let steps = (at.iter().enumerate())
            .map(|(axis, at)| &shape.iter().skip(axis + 1).product::<Sym>() * *at);
        let offset = steps.sum();
        let mut shape = shape.to_vec();
        shape.iter_mut().take(axis).for_each(|n| *n = Sym::one());
        if let Some(along) = shape.get_mut(axis) {
            *along = Sym::int(apart.min(extent - first));
        }
        BoxPiece { at, offset, shape }
    };
    Ok((0..count).map(piece).collect())
}

/// The position of the plane with this number.
fn position(mut plane: i64, extents: &[i64]) -> Vec<i64> {
    let mut at: Vec<i64> = (extents.iter().rev())
        .map(|extent| {
            let along = plane % extent.max(&1);
            plane /= extent.max(&1);
            along
        })
        .collect();
    at.reverse();
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Scalar, Storage};
    use crate::source::Span;

    fn buffer(elem: Scalar, swizzle: Option<u32>) -> Buffer {
        let columns = Sym::int(64);
        Buffer {
            name: "tile".to_owned(),
            elem,
            storage: Storage::Shared,
            shape: Vec::new(),
            count: Sym::one(),
            span: Span::default(),
            read: true,
            written: true,
            swizzle: swizzle.map(|bytes| Swizzle {
                bytes,
                rows: columns.clone(),
                columns,
            }),
            swaps: false,
        }
    }

    /// The boxes of a tile: position, offset and extents of each.
    fn pieces(
        buffer: &Buffer,
        shape: &[i64],
    ) -> Result<Vec<(Vec<i64>, i64, Vec<i64>)>, Indivisible> {
        let shape: Vec<Sym> = shape.iter().map(|n| Sym::int(*n)).collect();
        let found = box_pieces(&Ctx::new(), buffer, &shape)?;
        let numbers = |piece: BoxPiece| {
            let extents = piece.shape.iter().map(|n| n.as_int().unwrap());
            (piece.at, piece.offset.as_int().unwrap(), extents.collect())
        };
        Ok(found.into_iter().map(numbers).collect())
    }

    #[test]
    fn every_element_is_in_one_box_at_its_place() {
        for (elem, swizzle, shape) in [
            (Scalar::F32, None, vec![320, 16]),
            (Scalar::F32, None, vec![300, 12]),
            (Scalar::F32, None, vec![1024]),
            (Scalar::U8, None, vec![2, 3, 384, 16]),
            (Scalar::F16, Some(128), vec![2, 264, 64]),
            (Scalar::F16, Some(64), vec![1016, 32]),
            (Scalar::F32, None, vec![256, 256]),
        ] {
            let buffer = buffer(elem, swizzle);
            let bytes = i64::try_from(elem.bytes()).unwrap();
            let size: i64 = shape.iter().product();
            let mut seen = vec![false; usize::try_from(size).unwrap()];
            for (at, offset, extents) in pieces(&buffer, &shape).unwrap() {
                assert!(extents.iter().all(|n| (1..=LONGEST_BOX).contains(n)));
                let alignment = swizzle.map_or(128, |bytes| 8 * i64::from(bytes));
                assert_eq!(offset * bytes % alignment, 0, "{shape:?}");
                for number in 0..extents.iter().product() {
                    let inside = position(number, &extents);
                    let mut place = 0;
                    for ((first, step), extent) in at.iter().zip(&inside).zip(&shape) {
                        assert!(first + step < *extent);
                        place = place * extent + first + step;
                    }
                    // A box is dense.
                    assert_eq!(place, offset + number, "{shape:?}");
                    let seen = &mut seen[usize::try_from(place).unwrap()];
                    assert!(!std::mem::replace(seen, true));
                }
            }
            assert!(seen.iter().all(|seen| *seen), "{shape:?}");
        }
    }

    #[test]
    fn equal_boxes_where_they_are_aligned() {
        let lengths = |buffer: &Buffer, shape: &[i64]| -> Vec<i64> {
            let pieces = pieces(buffer, shape).unwrap();
            pieces
                .into_iter()
                .map(|(_, _, extents)| extents[0])
                .collect()
        };
        let plain = buffer(Scalar::F32, None);
        assert_eq!(lengths(&plain, &[256, 16]), [256]);
        assert_eq!(lengths(&plain, &[320, 16]), [160, 160]);
        assert_eq!(lengths(&plain, &[300, 12]), [256, 44]);
        assert_eq!(lengths(&plain, &[768, 8]), [256, 256, 256]);
        let swizzled = buffer(Scalar::F16, Some(128));
        assert_eq!(lengths(&swizzled, &[336, 64]), [168, 168]);
        assert_eq!(lengths(&swizzled, &[264, 64]), [256, 8]);
    }

    #[test]
    fn some_tiles_have_no_boxes() {
        let plain = buffer(Scalar::F32, None);
        assert_eq!(pieces(&plain, &[33, 512]), Err(Indivisible::Many(64)));
        assert!(pieces(&plain, &[32, 512]).is_ok());
        assert_eq!(pieces(&plain, &[1 << 40]), Err(Indivisible::Many(64)));
        assert_eq!(
            pieces(&plain, &[i64::MAX, i64::MAX]),
            Err(Indivisible::Many(64))
        );
        // The second row begins at 1040 bytes.
        assert_eq!(pieces(&plain, &[2, 260]), Err(Indivisible::Unaligned(128)));
        assert!(pieces(&plain, &[1, 260]).is_ok());
        let swizzled = buffer(Scalar::F16, Some(128));
        let planes = pieces(&swizzled, &[2, 260, 64]);
        assert_eq!(planes, Err(Indivisible::Unaligned(1024)));
        let mut cx = Ctx::new();
        let n = cx.new_var("n", Some(Sym::one()), None);
        let of_run_time = box_pieces(&cx, &plain, &[Sym::var(n), Sym::int(512), Sym::int(32)]);
        assert_eq!(of_run_time, Err(Indivisible::Symbolic(0)));
        // The rows of a box may have a length of run time if it is a multiple.
        let inner = |by: i64| [Sym::int(512), &Sym::var(n) * by];
        assert!(box_pieces(&cx, &plain, &inner(1)).is_ok());
        let three = box_pieces(&cx, &plain, &[Sym::int(516), &Sym::var(n) * 4]);
        assert!(three.is_ok());
    }
}
