//! Borrows tensors from `ndarray`: an array in standard layout (row-major, without gaps) is a
//! tensor without a copy.

use ndarray::{ArrayView, ArrayViewMut, Ix0, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6};

use crate::element::Element;
use crate::error::{Error, Result};
use crate::tensor::{TensorView, TensorViewMut};

macro_rules! views {
    ($($Ix:ident: ($($d:ident $size:ty),*);)*) => {$(
        impl<'a, T: Element> TryFrom<ArrayView<'a, T, $Ix>> for TensorView<'a, T, ($($size,)*)> {
            type Error = Error;

            /// [`Error::Strided`] when the array is not in standard layout.
            fn try_from(array: ArrayView<'a, T, $Ix>) -> Result<Self> {
                let [$($d),*] = <[usize; _]>::try_from(array.shape()).map_err(|_| Error::Strided)?;
                Self::from_slice(($($d,)*), array.to_slice().ok_or(Error::Strided)?)
            }
        }

        impl<'a, T: Element> TryFrom<ArrayViewMut<'a, T, $Ix>> for TensorViewMut<'a, T, ($($size,)*)> {
            type Error = Error;

            /// [`Error::Strided`] when the array is not in standard layout.
            fn try_from(array: ArrayViewMut<'a, T, $Ix>) -> Result<Self> {
                let [$($d),*] = <[usize; _]>::try_from(array.shape()).map_err(|_| Error::Strided)?;
                Self::from_mut_slice(($($d,)*), array.into_slice().ok_or(Error::Strided)?)
            }
        }
    )*};
}

views! {
    Ix0: ();
    Ix1: (a usize);
    Ix2: (a usize, b usize);
    Ix3: (a usize, b usize, c usize);
    Ix4: (a usize, b usize, c usize, d usize);
    Ix5: (a usize, b usize, c usize, d usize, e usize);
    Ix6: (a usize, b usize, c usize, d usize, e usize, f usize);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Const;
    use ndarray::Array2;

    #[test]
    fn arrays_are_borrowed_in_place() {
        let mut array = Array2::from_shape_fn((3, 4), |(i, j)| (10 * i + j) as i32);
        let view = TensorView::try_from(array.view()).unwrap();
        assert_eq!(view[[2, 1]], 21);
        assert_eq!(view.as_slice().as_ptr(), array.as_ptr());
        let mut view = TensorViewMut::try_from(array.view_mut()).unwrap();
        view[[0, 0]] = 5;
        assert_eq!(array[[0, 0]], 5);
    }

    #[test]
    fn extents_can_be_made_constants() {
        let array = Array2::<f32>::zeros((3, 4));
        let view = TensorView::try_from(array.view()).unwrap();
        assert!(view.into_dims((Const::<3>, Const::<4>)).is_ok());
    }

    #[test]
    fn a_transposed_array_is_refused() {
        let array = Array2::<f32>::zeros((3, 4));
        assert_eq!(TensorView::try_from(array.t()).err(), Some(Error::Strided));
    }
}
