//! The places of a tensor's elements in device memory, and copies between two of them as rows of
//! bytes.

/// The most axes of a tensor.
pub(crate) const MOST_AXES: usize = 8;

/// The most bytes between two rows of one copy (`cudaDevAttrMaxPitch`).
const MOST_PITCH: usize = i32::MAX as usize;

/// Elements at equal distances along each axis. An element here is one Rust value: a byte of packed
/// elements is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The distance of the first element from the start of the memory, in bytes.
    pub(crate) offset: usize,
    /// The size of an element in bytes.
    unit: usize,
    axes: [Axis; MOST_AXES],
    rank: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Axis {
    pub(crate) extent: usize,
    /// The distance between neighbours, in bytes.
    pub(crate) stride: usize,
}

/// Rows of equal length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    /// The distance of the first row from the start of the memory, and of neighbours, in bytes.
    pub(crate) to: (usize, usize),
    pub(crate) from: (usize, usize),
    /// The bytes of a row, at most all distances of neighbours.
    pub(crate) width: usize,
    pub(crate) height: usize,
}

impl Region {
    /// Row-major elements without gaps from `offset` on.
    pub(crate) fn dense(offset: usize, unit: usize, shape: &[usize]) -> Self {
        let mut stride = unit;
        let mut axes = [Axis::default(); MOST_AXES];
        let rank = shape.len().min(MOST_AXES);
        for (axis, &extent) in axes.iter_mut().zip(shape).take(rank).rev() {
            *axis = Axis { extent, stride };
            stride = stride.saturating_mul(extent.max(1));
        }
        Self {
            offset,
            unit,
            axes,
            rank,
        }
    }

    pub(crate) fn axes(&self) -> &[Axis] {
        &self.axes[..self.rank]
    }

    pub(crate) fn axes_mut(&mut self) -> &mut [Axis] {
        &mut self.axes[..self.rank]
    }

    /// The number of bytes of all elements.
    pub(crate) fn bytes(&self) -> usize {
        if self.axes().iter().any(|axis| axis.extent == 0) {
            return 0;
        }
        let extents = self.axes().iter().map(|axis| axis.extent);
        extents.product::<usize>() * self.unit
    }

    /// Whether the elements are row-major without gaps.
    pub(crate) fn is_dense(&self) -> bool {
        let mut stride = self.unit;
        for axis in self.axes().iter().rev() {
            if axis.extent == 0 {
                return true;
            }
            if axis.extent != 1 && axis.stride != stride {
                return false;
            }
            stride = stride.saturating_mul(axis.extent);
        }
        true
    }

    /// Calls `copy` for all elements of two regions of the same shape and elements.
    pub(crate) fn copy<E>(
        to: &Self,
        from: &Self,
        mut copy: impl FnMut(Rows) -> Result<(), E>,
    ) -> Result<(), E> {
        if to.axes().iter().any(|axis| axis.extent == 0) {
            return Ok(());
        }
        let pairs = to.axes().iter().zip(from.axes());
        let mut axes: Vec<(Axis, Axis)> = pairs.map(|(to, from)| (*to, *from)).collect();
        axes.retain(|(axis, _)| axis.extent > 1);
        let mut width = to.unit;
        while let Some((a, b)) = axes.last()
            && a.stride == width
            && b.stride == width
        {
            width *= a.extent;
            axes.pop();
        }
        // The rows of one copy are along the longest axis.
        let fits = |(a, b): &(Axis, Axis)| {
            (width..=MOST_PITCH).contains(&a.stride) && (width..=MOST_PITCH).contains(&b.stride)
        };
        let candidates = axes.iter().enumerate().filter(|(_, pair)| fits(pair));
        let longest = candidates.max_by_key(|(_, (axis, _))| axis.extent);
        let along = longest.map(|(at, _)| at).map(|at| axes.remove(at));
        let (pitches, height) = match along {
            Some((a, b)) => ((a.stride, b.stride), a.extent),
            None => ((width, width), 1),
        };
        let mut index = vec![0; axes.len()];
        let shape: Vec<usize> = axes.iter().map(|(axis, _)| axis.extent).collect();
        loop {
            let at = |offset: usize, stride: &dyn Fn(&(Axis, Axis)) -> usize| {
                let steps = axes.iter().zip(&index).map(|(axis, i)| stride(axis) * i);
                offset + steps.sum::<usize>()
            };
            copy(Rows {
                to: (at(to.offset, &|(a, _)| a.stride), pitches.0),
                from: (at(from.offset, &|(_, b)| b.stride), pitches.1),
                width,
                height,
            })?;
            if !crate::dims::advance(&shape, &mut index) {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(to: &Region, from: &Region) -> Vec<Rows> {
        let mut all = Vec::new();
        let done = Region::copy(to, from, |rows| {
            all.push(rows);
            Ok::<(), ()>(())
        });
        assert_eq!(done, Ok(()));
        all
    }

    #[test]
    fn dense_regions_are_one_row() {
        let a = Region::dense(16, 4, &[2, 3, 5]);
        let b = Region::dense(0, 4, &[2, 3, 5]);
        let all = rows(&a, &b);
        let one = Rows {
            to: (16, 120),
            from: (0, 120),
            width: 120,
            height: 1,
        };
        assert_eq!(all, [one]);
        assert!(a.is_dense());
        assert_eq!(a.bytes(), 120);
        assert_eq!(rows(&Region::dense(0, 4, &[2, 0]), &b), []);
        assert_eq!(
            rows(&Region::dense(8, 4, &[]), &Region::dense(0, 4, &[])).len(),
            1
        );
    }

    #[test]
    fn columns_are_rows_of_one_copy() {
        // Columns 2 to 5 of three rows of 8.
        let mut part = Region::dense(2 * 4, 4, &[3, 3]);
        part.axes_mut()[0].stride = 32;
        assert!(!part.is_dense());
        let one = Rows {
            to: (0, 12),
            from: (8, 32),
            width: 12,
            height: 3,
        };
        assert_eq!(rows(&Region::dense(0, 4, &[3, 3]), &part), [one]);
    }

    #[test]
    fn every_element_is_copied_once() {
        // A transposed part with a step, element by element.
        let mut from = Region::dense(2, 2, &[4, 3, 2]);
        for (axis, stride) in from.axes_mut().iter_mut().zip([4, 40, 400]) {
            axis.stride = stride;
        }
        let to = Region::dense(0, 2, &[4, 3, 2]);
        let mut copied = std::collections::BTreeMap::new();
        for r in rows(&to, &from) {
            for i in 0..r.height {
                for byte in (0..r.width).step_by(2) {
                    let (a, b) = (r.to.0 + i * r.to.1 + byte, r.from.0 + i * r.from.1 + byte);
                    assert_eq!(copied.insert(a, b), None);
                }
            }
        }
        let mut expected = std::collections::BTreeMap::new();
        for i in 0..4 {
            for j in 0..3 {
                for k in 0..2 {
                    expected.insert(((i * 3 + j) * 2 + k) * 2, 2 + i * 4 + j * 40 + k * 400);
                }
            }
        }
        assert_eq!(copied, expected);
    }
}
