//! Extents as types.
//!
//! A tensor's extents are a tuple with one entry per axis. An entry is `Const<N>`, known at compile
//! time, or `usize`, known at run time; both kinds may be mixed. [`Same`] is the requirement of a
//! kernel on two extents that have one name in its `.co` file: two constants must be equal for the
//! call to compile, and all others are compared when the kernel is called.

use std::fmt;
use std::ops::Range;

mod sealed {
    pub trait Sealed {}
    impl<const N: usize> Sealed for super::Const<N> {}
    impl Sealed for usize {}
}

/// An extent that is known at compile time.
///
/// ```
/// use croq_sys::{Const, Tensor};
/// let t = Tensor::<f32, _>::zeros((Const::<4>, 8));
/// assert_eq!(t.shape(), [4, 8]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Const<const N: usize>;

impl<const N: usize> fmt::Debug for Const<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Const<{N}>")
    }
}

/// One extent of a tensor: [`Const<N>`](Const), or `usize` for a size known at run time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an extent",
    label = "expected `Const<N>` or `usize`"
)]
pub trait Dim: sealed::Sealed + Copy + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// The number of elements along the axis.
    fn extent(self) -> usize;
}

impl<const N: usize> Dim for Const<N> {
    fn extent(self) -> usize {
        N
    }
}

impl Dim for usize {
    fn extent(self) -> usize {
        self
    }
}

/// An extent that must be equal to `D`.
///
/// Two different constants do not implement it, so that rustc rejects the call. If one of the two
/// is a `usize` the wrapper compares them and returns [`Error::ShapeMismatch`](crate::Error).
#[diagnostic::on_unimplemented(
    message = "these two extents can never be equal: `{Self}` and `{D}`",
    label = "has an extent `{Self}` where the kernel needs `{D}`"
)]
pub trait Same<D: Dim>: Dim {}

#[diagnostic::do_not_recommend]
impl<const N: usize> Same<Const<N>> for Const<N> {}
#[diagnostic::do_not_recommend]
impl<const N: usize> Same<usize> for Const<N> {}
#[diagnostic::do_not_recommend]
impl<const N: usize> Same<Const<N>> for usize {}
#[diagnostic::do_not_recommend]
impl Same<usize> for usize {}

/// The extents of a tensor: a tuple of up to eight [`Dim`]s, outermost first.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not describe the extents of a tensor",
    label = "expected a tuple of up to 8 extents, such as `(Const<64>, usize)`",
    note = "the extents of a one-dimensional tensor are written `(n,)`"
)]
pub trait Dims: tuple::Sealed + Copy + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// The number of axes.
    const RANK: usize;

    /// `[usize; RANK]`: a shape, strides, or the index of one element.
    type Index: Copy
        + AsRef<[usize]>
        + AsMut<[usize]>
        + Default
        + PartialEq
        + Eq
        + fmt::Debug
        + Send
        + Sync
        + 'static;

    /// The same number of extents, all of them `usize`: those of a [slice](crate::DeviceView).
    type Dynamic: Dims<Index = Self::Index>;

    /// `[Range<usize>; RANK]`: a part of each axis.
    type Ranges: AsRef<[Range<usize>]>;

    /// The extents as numbers.
    fn shape(&self) -> Self::Index;

    /// Extents that are known at run time.
    fn dynamic(shape: Self::Index) -> Self::Dynamic;

    /// The distances in elements between neighbours along each axis: row-major, the last axis
    /// contiguous.
    fn strides(&self) -> Self::Index {
        let shape = self.shape();
        let mut strides = Self::Index::default();
        let mut step = 1usize;
        for (stride, extent) in strides.as_mut().iter_mut().zip(shape.as_ref()).rev() {
            *stride = step;
            step = step.wrapping_mul(*extent);
        }
        strides
    }

    /// The number of elements, or `None` if it does not fit a `usize`.
    fn elements(&self) -> Option<usize> {
        let shape = self.shape();
        let shape = shape.as_ref();
        // In any order: no extent is too large beside one of 0.
        if shape.contains(&0) {
            return Some(0);
        }
        shape
            .iter()
            .try_fold(1usize, |n, &extent| n.checked_mul(extent))
    }
}

mod tuple {
    pub trait Sealed {}
}

macro_rules! number {
    ($D:ident) => {
        usize
    };
}

macro_rules! tuples {
    ($($rank:literal: ($($D:ident $d:ident),*);)*) => {$(
        impl<$($D: Dim),*> tuple::Sealed for ($($D,)*) {}
        impl<$($D: Dim),*> Dims for ($($D,)*) {
            const RANK: usize = $rank;
            type Index = [usize; $rank];
            type Dynamic = ($(number!($D),)*);
            type Ranges = [Range<usize>; $rank];

            fn shape(&self) -> [usize; $rank] {
                let ($($d,)*) = *self;
                [$($d.extent()),*]
            }

            #[allow(clippy::unused_unit, reason = "the extents of a scalar")]
            fn dynamic([$($d),*]: [usize; $rank]) -> Self::Dynamic {
                ($($d,)*)
            }
        }
    )*};
}

tuples! {
    0: ();
    1: (A a);
    2: (A a, B b);
    3: (A a, B b, C c);
    4: (A a, B b, C c, D d);
    5: (A a, B b, C c, D d, E e);
    6: (A a, B b, C c, D d, E e, F f);
    7: (A a, B b, C c, D d, E e, F f, G g);
    8: (A a, B b, C c, D d, E e, F f, G g, H h);
}

/// The offset of the element at `index` in row-major memory; `None` if it is outside of `shape`.
// Not inline: in a debug build of its callers it would be compiled without optimisation.
pub(crate) fn offset(shape: &[usize], index: &[usize]) -> Option<usize> {
    let mut at = 0usize;
    for (axis, &i) in index.iter().enumerate() {
        let extent = *shape.get(axis)?;
        if i >= extent {
            return None;
        }
        // Extents of an empty tensor may have a product that is no number.
        at = at.checked_mul(extent)?.checked_add(i)?;
    }
    Some(at)
}

/// Moves `index` to the next element in row-major order; `false` after the last.
pub(crate) fn advance(shape: &[usize], index: &mut [usize]) -> bool {
    for (i, &extent) in index.iter_mut().zip(shape).rev() {
        *i += 1;
        if *i < extent {
            return true;
        }
        *i = 0;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_and_numbers_mix() {
        let dims = (Const::<3>, 4, Const::<5>);
        assert_eq!(dims.shape(), [3, 4, 5]);
        assert_eq!(dims.strides(), [20, 5, 1]);
        assert_eq!(dims.elements(), Some(60));
        assert_eq!(<(Const<3>, usize, Const<5>)>::RANK, 3);
    }

    #[test]
    fn a_scalar_has_one_element() {
        assert_eq!(().shape(), [0usize; 0]);
        assert_eq!(().elements(), Some(1));
    }

    #[test]
    fn extents_become_numbers() {
        assert_eq!(<(Const<3>, usize)>::dynamic([3, 4]), (3, 4));
        assert_eq!(<()>::dynamic([]), ());
    }

    #[test]
    fn too_many_elements_are_noticed() {
        assert_eq!((usize::MAX, 2).elements(), None);
        assert_eq!((usize::MAX, 2, 0).elements(), Some(0));
        assert_eq!((0, usize::MAX, 2).elements(), Some(0));
    }

    #[test]
    fn offsets_are_row_major_and_bounded() {
        assert_eq!(offset(&[3, 4], &[2, 3]), Some(11));
        assert_eq!(offset(&[3, 4], &[2, 4]), None);
        assert_eq!(offset(&[], &[]), Some(0));
    }

    #[test]
    fn advancing_visits_every_element_once() {
        let mut index = [0, 0];
        let mut seen = vec![index];
        while advance(&[2, 3], &mut index) {
            seen.push(index);
        }
        assert_eq!(seen, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
    }
}
