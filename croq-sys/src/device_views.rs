//! Views of device tensors: parts of them, every n-th element, other axes.

use std::ops::Range;

use crate::device_data::{Borrowed, BorrowedMut};
use crate::device_tensor::DeviceTensor;
use crate::dims::Dims;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::region::Region;
use crate::tensor::packing;

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

/// The shape of a view, and the places of its elements.
type Places<D> = (<D as Dims>::Index, Region);

/// A part of each axis.
pub(crate) fn sliced<T: Element, D: Dims>(
    (whole, places): &Places<D>,
    ranges: &[Range<usize>],
) -> Result<Places<D>> {
    let (mut shape, mut region) = (*whole, *places);
    for (axis, range) in ranges.iter().enumerate() {
        let extent = shape.as_ref()[axis];
        let what = || format!("{range:?} of axis {axis}");
        if range.start > range.end || range.end > extent {
            return Err(no_part(what(), whole));
        }
        let per_value = per_value::<T, D>(axis);
        if !range.start.is_multiple_of(per_value) || !range.end.is_multiple_of(per_value) {
            return Err(packing::<T>(what()));
        }
        shape.as_mut()[axis] = range.len();
        let place = &mut region.axes_mut()[axis];
        place.extent = range.len() / per_value;
        // The sum is too large only where the place is behind the last element.
        let before = (range.start / per_value).saturating_mul(place.stride);
        region.offset = region.offset.saturating_add(before);
    }
    if shape.as_ref().contains(&0) {
        // The place behind the last element is not in the memory.
        region.offset = places.offset;
    }
    Ok((shape, region))
}

/// The first of every so many elements along each axis.
pub(crate) fn stepped<T: Element, D: Dims>(
    (whole, places): &Places<D>,
    steps: &[usize],
) -> Result<Places<D>> {
    let (mut shape, mut region) = (*whole, *places);
    for (axis, &step) in steps.iter().enumerate() {
        if step == 0 {
            return Err(no_part(format!("a step of 0 along axis {axis}"), whole));
        }
        if step != 1 && per_value::<T, D>(axis) != 1 {
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
    Ok((shape, region))
}

/// Axis `i` of the result is axis `axes[i]`.
pub(crate) fn permuted<T: Element, D: Dims>(
    (whole, places): &Places<D>,
    axes: &[usize],
) -> Result<Places<D>> {
    let (mut shape, mut region) = (*whole, *places);
    for (to, &from) in axes.iter().enumerate() {
        let what = || format!("a permutation of axes {axes:?}");
        if from >= D::RANK || axes[..to].contains(&from) {
            return Err(no_part(what(), whole));
        }
        if to != from && per_value::<T, D>(to.max(from)) != 1 {
            return Err(packing::<T>(what()));
        }
        shape.as_mut()[to] = whole.as_ref()[from];
        region.axes_mut()[to] = places.axes()[from];
    }
    Ok((shape, region))
}

/// The number of elements along `axis` that are one Rust value.
fn per_value<T: Element, D: Dims>(axis: usize) -> usize {
    if axis + 1 == D::RANK { T::COUNT } else { 1 }
}

fn no_part(what: String, shape: &impl AsRef<[usize]>) -> Error {
    Error::Slice {
        what,
        shape: shape.as_ref().to_vec(),
    }
}
