//! Views of device tensors: parts, every n-th element, permuted axes.

use std::marker::PhantomData;

use crate::device_tensor::DeviceTensor;
use crate::dims::Dims;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::region::Region;

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Owned {}
    impl Sealed for super::Borrowed<'_> {}
    impl Sealed for super::BorrowedMut<'_> {}
}

/// What a [`DeviceTensor`] is: [`Owned`], or [`Borrowed`] or [`BorrowedMut`] from one. Kernels
/// accept all of them for a parameter that they only read.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kind of device tensor",
    label = "expected `Owned`, `Borrowed` or `BorrowedMut`"
)]
pub trait DeviceData: sealed::Sealed + Sized {
    /// The places of the elements; `None`: from the start of the memory, without gaps.
    #[doc(hidden)]
    fn region(&self) -> Option<&Region>;

    /// The same with elements at other places, which it borrows too.
    #[doc(hidden)]
    fn at(self, region: Region) -> Self;
}

/// [`DeviceData`] that can be written: [`Owned`] or [`BorrowedMut`].
#[diagnostic::on_unimplemented(
    message = "the elements of this tensor can only be read",
    label = "expected a `DeviceTensor` or a `DeviceViewMut`"
)]
pub trait DeviceDataMut: DeviceData {}

/// A tensor with memory of its own.
#[derive(Debug)]
pub struct Owned(());

/// Elements of another tensor.
#[derive(Clone, Debug)]
pub struct Borrowed<'a> {
    region: Region,
    tensor: PhantomData<&'a ()>,
}

/// Elements of another tensor, which can be written.
#[derive(Debug)]
pub struct BorrowedMut<'a> {
    region: Region,
    tensor: PhantomData<&'a mut ()>,
}

/// A view of a [`DeviceTensor`]: its elements, a part of them, every n-th of an axis, or with
/// permuted axes.
///
/// A kernel that reads a view takes it in place if its elements are in row-major order without gaps,
/// and the first one is at a multiple of 16 bytes; otherwise it takes a copy. Work on a view is work
/// on its tensor: a kernel that is in flight keeps the memory.
///
/// ```
/// use croq_sys::{Device, Tensor};
///
/// let t = Tensor::from_fn((4, 6), |[i, j]| (10 * i + j) as i32).to_device(&Device::sim())?;
/// let part = t.view().slice([1..3, 0..6])?.step_by([1, 4])?;
/// assert_eq!(part.to_host()?.as_slice(), [10, 14, 20, 24]);
/// let columns = part.permute([1, 0])?;
/// assert_eq!(columns.to_host()?.as_slice(), [10, 20, 14, 24]);
/// # Ok::<(), croq_sys::Error>(())
/// ```
///
/// A view does not outlive its tensor:
///
/// ```compile_fail,E0505
/// use croq_sys::{Device, DeviceTensor};
/// let t = DeviceTensor::<f32, _>::zeros((4, 6), &Device::sim())?;
/// let view = t.view();
/// drop(t);
/// view.to_host()?;
/// # Ok::<(), croq_sys::Error>(())
/// ```
pub type DeviceView<'a, T, D> = DeviceTensor<T, D, Borrowed<'a>>;

/// A [`DeviceView`] whose elements can be written.
///
/// A kernel that writes a view takes it in place, or the call is an [`Error::WrittenView`].
///
/// ```
/// use croq_sys::{Device, DeviceTensor, Tensor};
///
/// let mut t = DeviceTensor::<i32, _>::zeros((2, 4), &Device::sim())?;
/// let ones = Tensor::from_fn((2, 2), |_| 1);
/// t.view_mut().step_by([1, 2])?.copy_from_host(&ones)?;
/// assert_eq!(t.to_host()?.as_slice(), [1, 0, 1, 0, 1, 0, 1, 0]);
/// # Ok::<(), croq_sys::Error>(())
/// ```
pub type DeviceViewMut<'a, T, D> = DeviceTensor<T, D, BorrowedMut<'a>>;

impl Owned {
    pub(crate) fn new() -> Self {
        Self(())
    }
}

impl Borrowed<'_> {
    pub(crate) fn new(region: Region) -> Self {
        Self {
            region,
            tensor: PhantomData,
        }
    }
}

impl BorrowedMut<'_> {
    pub(crate) fn new(region: Region) -> Self {
        Self {
            region,
            tensor: PhantomData,
        }
    }
}

impl DeviceData for Owned {
    fn region(&self) -> Option<&Region> {
        None
    }

    fn at(self, _: Region) -> Self {
        self
    }
}
impl DeviceDataMut for Owned {}

/// The kinds of views.
pub trait View: DeviceData {}

macro_rules! views {
    ($($View:ident),*) => {$(
        impl DeviceData for $View<'_> {
            fn region(&self) -> Option<&Region> {
                Some(&self.region)
            }

            fn at(self, region: Region) -> Self {
                Self { region, ..self }
            }
        }
        impl View for $View<'_> {}
    )*};
}

views!(Borrowed, BorrowedMut);
impl DeviceDataMut for BorrowedMut<'_> {}

impl<T: Element, D: Dims> Clone for DeviceView<'_, T, D> {
    fn clone(&self) -> Self {
        self.duplicate()
    }
}

/// Of a [`DeviceView`] or a [`DeviceViewMut`], which the result replaces.
impl<T: Element, D: Dims, S: View> DeviceTensor<T, D, S> {
    /// A part of each axis.
    ///
    /// # Errors
    ///
    /// [`Error::Slice`] if a range is outside of its axis, [`Error::Packing`] if one cuts a byte of
    /// packed elements.
    pub fn slice(self, ranges: D::Ranges) -> Result<DeviceTensor<T, D::Dynamic, S>> {
        let mut shape = self.shape();
        let mut region = self.region();
        for (axis, range) in ranges.as_ref().iter().enumerate() {
            let extent = shape.as_ref()[axis];
            if range.start > range.end || range.end > extent {
                return Err(self.no_part(format!("{range:?} of axis {axis}")));
            }
            let per_value = self.per_value(axis);
            if !range.start.is_multiple_of(per_value) || !range.end.is_multiple_of(per_value) {
                return Err(packing::<T>(format!("{range:?} of axis {axis}")));
            }
            shape.as_mut()[axis] = range.len();
            let place = &mut region.axes_mut()[axis];
            place.extent = range.len() / per_value;
            region.offset += range.start / per_value * place.stride;
        }
        if shape.as_ref().contains(&0) {
            // The place behind the last element is not in the memory.
            region.offset = self.region().offset;
        }
        Ok(self.with(D::dynamic(shape), |data| data.at(region)))
    }

    /// The first of every so many elements along each axis.
    ///
    /// # Errors
    ///
    /// [`Error::Slice`] if a step is 0, [`Error::Packing`] if packed elements would be apart.
    pub fn step_by(self, steps: D::Index) -> Result<DeviceTensor<T, D::Dynamic, S>> {
        let mut shape = self.shape();
        let mut region = self.region();
        for (axis, &step) in steps.as_ref().iter().enumerate() {
            if step == 0 {
                return Err(self.no_part(format!("a step of 0 along axis {axis}")));
            }
            if step != 1 && self.per_value(axis) != 1 {
                return Err(packing::<T>(format!("a step of {step} along axis {axis}")));
            }
            if step == 1 {
                continue;
            }
            let extent = shape.as_ref()[axis].div_ceil(step);
            shape.as_mut()[axis] = extent;
            let place = &mut region.axes_mut()[axis];
            place.extent = extent;
            // There is no other element if that is too much.
            place.stride = place.stride.saturating_mul(step);
        }
        Ok(self.with(D::dynamic(shape), |data| data.at(region)))
    }

    /// Axis `i` of the result is axis `axes[i]` of this view: `[1, 0]` transposes a matrix.
    ///
    /// # Errors
    ///
    /// [`Error::Slice`] unless each axis is there once, [`Error::Packing`] if packed elements would
    /// be apart.
    pub fn permute(self, axes: D::Index) -> Result<DeviceTensor<T, D::Dynamic, S>> {
        let old = self.shape();
        let mut shape = old;
        let places = self.region();
        let mut region = places;
        for (to, &from) in axes.as_ref().iter().enumerate() {
            if from >= D::RANK || axes.as_ref()[..to].contains(&from) {
                return Err(self.no_part(format!("a permutation of axes {axes:?}")));
            }
            if to != from && self.per_value(to.max(from)) != 1 {
                return Err(packing::<T>(format!("a permutation of axes {axes:?}")));
            }
            shape.as_mut()[to] = old.as_ref()[from];
            region.axes_mut()[to] = places.axes()[from];
        }
        Ok(self.with(D::dynamic(shape), |data| data.at(region)))
    }

    /// The number of elements along `axis` that are one Rust value.
    fn per_value(&self, axis: usize) -> usize {
        if axis + 1 == D::RANK { T::COUNT } else { 1 }
    }

    fn no_part(&self, what: String) -> Error {
        Error::Slice {
            what,
            shape: self.shape().as_ref().to_vec(),
        }
    }
}

fn packing<T: Element>(what: String) -> Error {
    Error::Packing {
        what,
        element: T::NAME,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::S4x2;
    use crate::{Const, Device, Tensor};

    #[test]
    fn views_of_views_have_the_elements_of_the_tensor() {
        let host = Tensor::<i32, _>::random((6, Const::<5>, 7), 0..1000, 5);
        let t = host.to_device(&Device::sim()).unwrap();
        let view = t.view().slice([1..6, 2..5, 1..7]).unwrap();
        let view = view.step_by([2, 1, 3]).unwrap();
        let view = view.permute([2, 0, 1]).unwrap();
        assert_eq!(view.shape(), [2, 3, 3]);
        assert_eq!(view.strides(), [3, 70, 7]);
        assert!(!view.is_dense());
        let expected = Tensor::from_fn((2, 3, 3), |[k, i, j]| host[[1 + 2 * i, 2 + j, 1 + 3 * k]]);
        assert_eq!(view.to_host().unwrap(), expected);
        assert_eq!(
            view.clone()
                .into_dims((2, Const::<3>, 3))
                .unwrap()
                .to_host()
                .unwrap(),
            expected
        );
        assert_eq!(view.reshape((18,)).unwrap_err(), Error::Strided);
        // Rows of a tensor have no gaps.
        let rows = t.view().slice([2..4, 0..5, 0..7]).unwrap();
        assert!(rows.is_dense());
        let rows = rows.reshape((70,)).unwrap();
        assert_eq!(
            rows.to_host().unwrap().as_slice(),
            &host.as_slice()[70..140]
        );
    }

    #[test]
    fn views_are_written_in_their_places() {
        let mut t = DeviceTensor::<u8, _>::zeros((4, 4), &Device::sim()).unwrap();
        let values = Tensor::from_fn((2, 2), |[i, j]| (1 + 2 * i + j) as u8);
        let columns = t.view_mut().step_by([2, 2]).unwrap();
        columns
            .permute([1, 0])
            .unwrap()
            .copy_from_host(&values)
            .unwrap();
        let on_device = values.to_device(&Device::sim()).unwrap();
        let corner = t.view_mut().slice([2..4, 2..4]).unwrap();
        let mut corner = corner.into_dims((Const::<2>, 2)).unwrap();
        corner
            .copy_from(&on_device.view().permute([1, 0]).unwrap())
            .unwrap();
        let expected = [1, 0, 3, 0, 0, 0, 0, 0, 2, 0, 1, 3, 0, 0, 2, 4];
        assert_eq!(t.to_host().unwrap().as_slice(), expected);
    }

    #[test]
    fn parts_outside_are_errors() {
        let t = DeviceTensor::<f32, _>::zeros((4, 6), &Device::sim()).unwrap();
        let e = t.view().slice([0..4, 2..7]).unwrap_err();
        assert_eq!(
            e.to_string(),
            "2..7 of axis 1 is not a part of a tensor of shape [4, 6]"
        );
        #[expect(clippy::reversed_empty_ranges, reason = "what the error is about")]
        let reversed = t.view().slice([3..2, 0..6]);
        assert!(matches!(reversed, Err(Error::Slice { .. })));
        for wrong in [
            t.view().step_by([1, 0]).unwrap_err(),
            t.view().permute([1, 1]).unwrap_err(),
            t.view().permute([0, 2]).unwrap_err(),
        ] {
            assert!(matches!(wrong, Error::Slice { .. }), "{wrong}");
        }
    }

    #[test]
    fn packed_elements_stay_together() {
        let host = Tensor::<S4x2, _>::random((3, 8), -8..8, 4);
        let t = host.to_device(&Device::sim()).unwrap();
        let part = t.view().slice([1..3, 2..6]).unwrap();
        assert_eq!(part.strides(), [8, 1]);
        let read = part.to_host().unwrap();
        for index in [[0, 0], [0, 3], [1, 2]] {
            assert_eq!(read.value(index), host.value([index[0] + 1, index[1] + 2]));
        }
        for wrong in [
            part.clone().slice([0..1, 1..4]).unwrap_err(),
            part.clone().step_by([1, 2]).unwrap_err(),
            part.clone().permute([1, 0]).unwrap_err(),
        ] {
            assert!(matches!(wrong, Error::Packing { .. }), "{wrong}");
        }
    }
}
