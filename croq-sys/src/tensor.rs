//! Tensors in host memory: owned, and borrowed from slices.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut, Range};

use crate::device::Device;
use crate::device_tensor::DeviceTensor;
use crate::dims::{Dims, advance, offset};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::packed::Packed;
use crate::pinned::PinnedTensor;
use crate::random::Generator;
use crate::refused::Refused;

mod sealed {
    pub trait Sealed {}
    impl<T> Sealed for Vec<T> {}
    impl<T> Sealed for &[T] {}
    impl<T> Sealed for &mut [T] {}
}

/// The storage of a [`Tensor`]'s elements: `Vec<T>`, `&[T]` or `&mut [T]`. Kernels accept all of
/// them.
pub trait HostData<T>: sealed::Sealed {
    #[doc(hidden)]
    fn elements(&self) -> &[T];
}

/// [`HostData`] that can be written: `Vec<T>` or `&mut [T]`.
pub trait HostDataMut<T>: HostData<T> {
    #[doc(hidden)]
    fn elements_mut(&mut self) -> &mut [T];
}

impl<T> HostData<T> for Vec<T> {
    fn elements(&self) -> &[T] {
        self
    }
}

impl<T> HostData<T> for &[T] {
    fn elements(&self) -> &[T] {
        self
    }
}

impl<T> HostData<T> for &mut [T] {
    fn elements(&self) -> &[T] {
        self
    }
}

impl<T> HostDataMut<T> for Vec<T> {
    fn elements_mut(&mut self) -> &mut [T] {
        self
    }
}

impl<T> HostDataMut<T> for &mut [T] {
    fn elements_mut(&mut self) -> &mut [T] {
        self
    }
}

/// A dense row-major tensor in host memory.
///
/// `T` is an [`Element`], `D` a tuple of extents (see [`Dims`]), and `S` the storage of the
/// elements: the tensor's own `Vec`, or, for a [`TensorView`] or [`TensorViewMut`], a borrowed
/// slice.
///
/// ```
/// use croq_sys::{Const, Tensor};
///
/// let mut t = Tensor::from_fn((2, Const::<3>), |[i, j]| (10 * i + j) as i32);
/// assert_eq!(t[[1, 2]], 12);
/// t[[0, 0]] = 7;
/// assert_eq!(t.as_slice(), [7, 1, 2, 10, 11, 12]);
/// ```
#[derive(Clone)]
pub struct Tensor<T, D, S = Vec<T>> {
    /// As many elements as the product of `dims`.
    data: S,
    dims: D,
    element: PhantomData<T>,
}

/// A tensor whose elements are borrowed.
///
/// ```
/// use croq_sys::{Const, TensorView};
/// let numbers = [1.0f32, 2.0, 3.0, 4.0];
/// let t = TensorView::from_slice((Const::<2>, Const::<2>), &numbers)?;
/// assert_eq!(t[[1, 0]], 3.0);
/// # Ok::<(), croq_sys::Error>(())
/// ```
pub type TensorView<'a, T, D> = Tensor<T, D, &'a [T]>;

/// A tensor whose elements are borrowed mutably.
pub type TensorViewMut<'a, T, D> = Tensor<T, D, &'a mut [T]>;

impl<T: Element, D: Dims> Tensor<T, D> {
    /// All elements zero.
    ///
    /// ```
    /// use croq_sys::{Const, Tensor};
    ///
    /// let t = Tensor::<f32, _>::zeros((3, Const::<4>));
    /// assert_eq!((t.shape(), t.dims()), ([3, 4], (3, Const::<4>)));
    /// ```
    ///
    /// # Panics
    ///
    /// When there is no memory for that many, as `Vec` does (which ends the process), or when rows of [`Packed`]
    /// values are no whole bytes. [`Tensor::try_zeros`] returns an error.
    pub fn zeros(dims: D) -> Self {
        Self::of(dims, vec![T::zeroed(); count::<T, D>(&dims)])
    }

    /// The same with an error where that panics, for extents that a program is given.
    ///
    /// ```
    /// use croq_sys::{Error, Tensor};
    ///
    /// let too_many = Tensor::<f32, _>::try_zeros((1 << 40, 1 << 20));
    /// assert!(matches!(too_many, Err(Error::OutOfMemory { .. })));
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] when there is no memory for that many elements, and [`Error::Packing`] when rows of
    /// [`Packed`] values are no whole bytes.
    pub fn try_zeros(dims: D) -> Result<Self> {
        if !has_whole_rows::<T, D>(&dims) {
            return Err(packing::<T>(format!("rows of shape {:?}", dims.shape())));
        }
        let full = |bytes: usize| Error::OutOfMemory {
            device: "the host".to_owned(),
            bytes: bytes as u64,
            what: String::new(),
            limit: None,
        };
        let count = dims.elements().ok_or_else(|| full(usize::MAX))? / T::COUNT;
        let data = bytemuck::try_zeroed_vec(count);
        let data = data.map_err(|()| full(count.saturating_mul(size_of::<T>())))?;
        Ok(Self::of(dims, data))
    }

    /// Each element from its index; each byte of [`Packed`] values from the index of its first.
    ///
    /// ```
    /// use croq_sys::Tensor;
    ///
    /// let t = Tensor::from_fn((2, 3), |[i, j]| (10 * i + j) as i32);
    /// assert_eq!(t.as_slice(), [0, 1, 2, 10, 11, 12]);
    /// ```
    ///
    /// # Panics
    ///
    /// When there is no memory for that many, as `Vec` does, or when rows of [`Packed`] values are no
    /// whole bytes.
    pub fn from_fn(dims: D, mut f: impl FnMut(D::Index) -> T) -> Self {
        let shape = dims.shape();
        let count = count::<T, D>(&dims);
        let mut data = Vec::with_capacity(count);
        let mut index = D::Index::default();
        for _ in 0..count {
            data.push(f(index));
            for _ in 0..T::COUNT {
                advance(shape.as_ref(), index.as_mut());
            }
        }
        Self::of(dims, data)
    }

    /// The elements in row-major order.
    ///
    /// ```
    /// use croq_sys::Tensor;
    ///
    /// let t = Tensor::from_vec((2, 2), vec![1, 2, 3, 4])?;
    /// assert_eq!(t[[1, 0]], 3);
    /// assert_eq!(t.into_vec(), [1, 2, 3, 4]);
    /// assert!(Tensor::from_vec((2, 2), vec![1, 2, 3]).is_err());
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Length`] when `data` has another number of elements than `dims`, [`Error::Packing`] when rows of
    /// packed elements are no whole bytes.
    pub fn from_vec(dims: D, data: Vec<T>) -> Result<Self> {
        check_length::<T, D>(&dims, data.len())?;
        Ok(Self::of(dims, data))
    }

    /// Random elements, uniform in `range` (its start, if it is empty). The same seed gives the
    /// same tensor everywhere.
    ///
    /// The range of `f16`, `bf16` and 8-bit floats is given in `f32`. Of types of less than 8 bits, the elements
    /// are from the part of the range that the type has.
    ///
    /// ```
    /// use croq_sys::{Const, Tensor};
    /// use croq_sys::half::f16;
    ///
    /// let a = Tensor::<i32, _>::random((Const::<128>, 4), -10..10, 7);
    /// assert!(a.as_slice().iter().all(|v| (-10..10).contains(v)));
    /// let b = Tensor::<f16, _>::random((3, 4), -1.0..1.0, 7);
    /// assert_eq!(b.shape(), [3, 4]);
    /// ```
    ///
    /// # Panics
    ///
    /// When there is no memory for that many, as `Vec` does, or when rows of [`Packed`] values are no
    /// whole bytes.
    pub fn random(dims: D, range: Range<T::Bound>, seed: u64) -> Self {
        let mut generator = Generator::new(seed);
        let data = (0..count::<T, D>(&dims))
            .map(|_| T::random(&mut generator, &range))
            .collect();
        Self::of(dims, data)
    }
}

impl<T: Packed, D: Dims> Tensor<T, D> {
    /// A tensor of packed elements, each value from its index.
    ///
    /// # Errors
    ///
    /// [`Error::Packing`] when a value is out of the range of the type, or the last extent is not a
    /// multiple of the values in a byte.
    ///
    /// # Panics
    ///
    /// When there is no memory for that many, as `Vec` does, or when rows of [`Packed`] values are no
    /// whole bytes.
    pub fn pack(dims: D, mut f: impl FnMut(D::Index) -> T::Value) -> Result<Self> {
        let shape = dims.shape();
        if !has_whole_rows::<T, D>(&dims) {
            return Err(packing::<T>(rows_of(&dims)));
        }
        let count = count::<T, D>(&dims);
        let mut data = Vec::with_capacity(count);
        let mut index = D::Index::default();
        let mut values = Vec::with_capacity(T::COUNT);
        for _ in 0..count {
            values.clear();
            for _ in 0..T::COUNT {
                values.push(f(index));
                advance(shape.as_ref(), index.as_mut());
            }
            let Some(byte) = T::packed(&values) else {
                let what = format!("{values:?}");
                return Err(Error::Packing {
                    what,
                    element: T::NAME,
                });
            };
            data.push(byte);
        }
        Ok(Self::of(dims, data))
    }
}

impl<T: Packed, D: Dims, S: HostData<T>> Tensor<T, D, S> {
    /// The value at `index`, or `None` outside of the tensor.
    pub fn value(&self, index: D::Index) -> Option<T::Value> {
        let at = offset(self.shape().as_ref(), index.as_ref())?;
        let byte = self.as_slice().get(at / T::COUNT)?;
        Some(byte.value(at % T::COUNT))
    }
}

impl<T, D: Dims> Tensor<T, D> {
    /// The elements in row-major order.
    pub fn into_vec(self) -> Vec<T> {
        self.data
    }
}

impl<'a, T: Element, D: Dims> TensorView<'a, T, D> {
    /// A tensor that borrows elements in row-major order.
    ///
    /// ```
    /// use croq_sys::TensorView;
    ///
    /// let data = [1.0, 2.0, 3.0, 4.0];
    /// let t = TensorView::from_slice((2, 2), &data)?;
    /// assert_eq!(t[[1, 1]], 4.0);
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Length`] when the slice has another number of elements than `dims`.
    pub fn from_slice(dims: D, data: &'a [T]) -> Result<Self> {
        check_length::<T, D>(&dims, data.len())?;
        Ok(Self::of(dims, data))
    }
}

impl<'a, T: Element, D: Dims> TensorViewMut<'a, T, D> {
    /// A tensor that borrows elements in row-major order.
    ///
    /// ```
    /// use croq_sys::TensorViewMut;
    ///
    /// let mut data = [0; 4];
    /// TensorViewMut::from_mut_slice((2, 2), &mut data)?[[1, 0]] = 7;
    /// assert_eq!(data, [0, 0, 7, 0]);
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Length`] when the slice has another number of elements than `dims`.
    pub fn from_mut_slice(dims: D, data: &'a mut [T]) -> Result<Self> {
        check_length::<T, D>(&dims, data.len())?;
        Ok(Self::of(dims, data))
    }
}

impl<T, D: Dims, S> Tensor<T, D, S> {
    fn of(dims: D, data: S) -> Self {
        Self {
            data,
            dims,
            element: PhantomData,
        }
    }

    /// The extents as numbers, outermost first.
    pub fn shape(&self) -> D::Index {
        self.dims.shape()
    }

    /// The extents with their types.
    pub fn dims(&self) -> D {
        self.dims
    }

    /// The same tensor with other types of extents, such as `Const<64>` instead of `usize`.
    ///
    /// ```
    /// use croq_sys::{Const, Tensor};
    /// let rows = 64;
    /// let t = Tensor::<f32, _>::zeros((rows, 8)).into_dims((Const::<64>, 8))?;
    /// assert!(t.into_dims((Const::<65>, 8)).is_err());
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Extents`] when `dims` has other extents than the tensor, with the tensor.
    pub fn into_dims<E: Dims<Index = D::Index>>(
        self,
        dims: E,
    ) -> std::result::Result<Tensor<T, E, S>, Refused<Self>> {
        match check_extents(self.shape().as_ref(), dims.shape().as_ref()) {
            Ok(()) => Ok(Tensor::of(dims, self.data)),
            Err(error) => Err(Refused {
                tensor: self,
                error,
            }),
        }
    }
}

impl<T: Element, D: Dims, S: HostData<T>> Tensor<T, D, S> {
    /// All elements in row-major order with another shape of as many elements.
    ///
    /// ```
    /// use croq_sys::{Const, Tensor};
    /// let t = Tensor::from_fn((6, Const::<4>), |[i, j]| (4 * i + j) as i32);
    /// let t = t.reshape((2, 3, 4))?;
    /// assert_eq!(t[[1, 0, 2]], 14);
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Length`] when `dims` has another number of elements, with the tensor.
    pub fn reshape<E: Dims>(self, dims: E) -> std::result::Result<Tensor<T, E, S>, Refused<Self>> {
        match check_length::<T, E>(&dims, self.as_slice().len()) {
            Ok(()) => Ok(Tensor::of(dims, self.data)),
            Err(error) => Err(Refused {
                tensor: self,
                error,
            }),
        }
    }

    /// A copy in the memory of `device`.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], or the failure of the device.
    pub fn to_device(&self, device: &Device) -> Result<DeviceTensor<T, D>> {
        let memory = Memory::upload(device, bytemuck::cast_slice(self.as_slice()))?;
        Ok(DeviceTensor::of(self.dims(), memory))
    }

    /// A copy in page-locked host memory, for copies on streams of `device`.
    ///
    /// ```
    /// use croq_sys::{Device, Tensor};
    ///
    /// let host = Tensor::from_fn((3,), |[i]| i as f32);
    /// assert_eq!(host.to_pinned(&Device::default())?.as_slice()?, [0.0, 1.0, 2.0]);
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], or the failure of the device.
    pub fn to_pinned(&self, device: &Device) -> Result<PinnedTensor<T, D>> {
        let mut pinned = PinnedTensor::zeros(self.dims(), device)?;
        pinned.as_mut_slice()?.copy_from_slice(self.as_slice());
        Ok(pinned)
    }
}

impl<T, D: Dims, S: HostData<T>> Tensor<T, D, S> {
    /// The elements in row-major order.
    pub fn as_slice(&self) -> &[T] {
        self.data.elements()
    }

    /// Borrows the whole tensor.
    pub fn view(&self) -> TensorView<'_, T, D> {
        Tensor::of(self.dims, self.data.elements())
    }
}

impl<T: Element, D: Dims, S: HostData<T>> Tensor<T, D, S> {
    /// The element at `index`, or the byte of [`Packed`] values that contains it; `None` outside of
    /// the tensor.
    ///
    /// ```
    /// use croq_sys::Tensor;
    ///
    /// let mut t = Tensor::from_fn((2, 2), |[i, j]| (10 * i + j) as i32);
    /// assert_eq!(t.get([1, 1]), Some(&11));
    /// assert_eq!(t.get([1, 2]), None);
    /// if let Some(element) = t.get_mut([0, 1]) {
    ///     *element = 5;
    /// }
    /// assert_eq!(t.as_slice(), [0, 5, 10, 11]);
    /// ```
    pub fn get(&self, index: D::Index) -> Option<&T> {
        let at = offset(self.shape().as_ref(), index.as_ref())?;
        self.as_slice().get(at / T::COUNT)
    }
}

impl<T, D: Dims, S: HostDataMut<T>> Tensor<T, D, S> {
    /// The elements in row-major order.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        self.data.elements_mut()
    }

    /// Borrows the whole tensor mutably.
    pub fn view_mut(&mut self) -> TensorViewMut<'_, T, D> {
        Tensor::of(self.dims, self.data.elements_mut())
    }
}

impl<T: Element, D: Dims, S: HostDataMut<T>> Tensor<T, D, S> {
    /// The same as [`get`](Self::get), mutably.
    pub fn get_mut(&mut self, index: D::Index) -> Option<&mut T> {
        let at = offset(self.shape().as_ref(), index.as_ref())?;
        self.as_mut_slice().get_mut(at / T::COUNT)
    }
}

impl<T: Element, D: Dims, S: HostData<T>> Index<D::Index> for Tensor<T, D, S> {
    type Output = T;

    #[track_caller]
    fn index(&self, index: D::Index) -> &T {
        match self.get(index) {
            Some(element) => element,
            None => outside(index.as_ref(), self.shape().as_ref()),
        }
    }
}

impl<T: Element, D: Dims, S: HostDataMut<T>> IndexMut<D::Index> for Tensor<T, D, S> {
    #[track_caller]
    fn index_mut(&mut self, index: D::Index) -> &mut T {
        let shape = self.shape();
        match self.get_mut(index) {
            Some(element) => element,
            None => outside(index.as_ref(), shape.as_ref()),
        }
    }
}

#[track_caller]
#[cold]
fn outside(index: &[usize], shape: &[usize]) -> ! {
    panic!("index {index:?} is outside of a tensor of shape {shape:?}")
}

/// Tensors are equal if their shapes and elements are, whatever the types of their extents.
impl<T, U, D, E, S, R> PartialEq<Tensor<U, E, R>> for Tensor<T, D, S>
where
    T: PartialEq<U>,
    D: Dims,
    E: Dims,
    S: HostData<T>,
    R: HostData<U>,
{
    fn eq(&self, other: &Tensor<U, E, R>) -> bool {
        self.shape().as_ref() == other.shape().as_ref() && self.as_slice() == other.as_slice()
    }
}

impl<T: Element, D: Dims, S: HostData<T>> fmt::Debug for Tensor<T, D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor {:?} ", self.shape())?;
        let mut shape = self.shape().as_ref().to_vec();
        shape
            .iter_mut()
            .next_back()
            .into_iter()
            .for_each(|last| *last /= T::COUNT);
        write_nested(f, &shape, self.as_slice(), 1)
    }
}

/// The most elements along one axis that are printed; others are an ellipsis.
const SHOWN: usize = 8;

fn write_nested<T: fmt::Debug>(
    f: &mut fmt::Formatter<'_>,
    shape: &[usize],
    data: &[T],
    depth: usize,
) -> fmt::Result {
    let Some((&extent, inner)) = shape.split_first() else {
        return data.first().map_or(Ok(()), |element| element.fmt(f));
    };
    let step = data.len().checked_div(extent).unwrap_or(0);
    f.write_str("[")?;
    for i in 0..extent.min(SHOWN) {
        match (i, inner.is_empty()) {
            (0, _) => {}
            (_, true) => f.write_str(", ")?,
            (_, false) => write!(f, ",\n{:depth$}", "")?,
        }
        write_nested(
            f,
            inner,
            data.get(i * step..(i + 1) * step).unwrap_or(&[]),
            depth + 1,
        )?;
    }
    if extent > SHOWN {
        f.write_str(", …")?;
    }
    f.write_str("]")
}

/// The number of Rust values of a tensor to be allocated.
#[track_caller]
fn count<T: Element, D: Dims>(dims: &D) -> usize {
    assert!(
        has_whole_rows::<T, D>(dims),
        "the last extent of a tensor of shape {:?} is not a multiple of {}",
        dims.shape(),
        T::COUNT
    );
    match dims.elements() {
        Some(count) => count / T::COUNT,
        None => panic!("a tensor of shape {:?} has too many elements", dims.shape()),
    }
}

/// The number of bytes of a tensor in the memory of `device`, or for it.
pub(crate) fn byte_count<T: Element, D: Dims>(dims: &D, device: &Device) -> Result<usize> {
    if !has_whole_rows::<T, D>(dims) {
        return Err(packing::<T>(format!("rows of shape {:?}", dims.shape())));
    }
    let bytes = dims
        .elements()
        .and_then(|n| (n / T::COUNT).checked_mul(size_of::<T>()));
    bytes.ok_or_else(|| Error::OutOfMemory {
        device: device.to_string(),
        bytes: u64::MAX,
        what: String::new(),
        limit: None,
    })
}

pub(crate) fn packing<T: Element>(what: String) -> Error {
    Error::Packing {
        what,
        element: T::NAME,
    }
}

/// Rows of these extents, as what cannot be packed.
pub(crate) fn rows_of<D: Dims>(dims: &D) -> String {
    format!("rows of shape {:?}", dims.shape().as_ref())
}

/// Whether rows are whole Rust values.
pub(crate) fn has_whole_rows<T: Element, D: Dims>(dims: &D) -> bool {
    let shape = dims.shape();
    let last = shape.as_ref().last().copied().unwrap_or(1);
    last % T::COUNT == 0
}

fn check_length<T: Element, D: Dims>(dims: &D, found: usize) -> Result<()> {
    let held = found.checked_mul(T::COUNT);
    if held.is_none() || dims.elements() != held {
        return Err(Error::Length {
            shape: dims.shape().as_ref().to_vec(),
            found: held.unwrap_or(usize::MAX),
        });
    }
    match has_whole_rows::<T, D>(dims) {
        true => Ok(()),
        false => Err(packing::<T>(rows_of(dims))),
    }
}

/// Checks that a tensor with extents `found` can get the extents `expected`.
pub(crate) fn check_extents(found: &[usize], expected: &[usize]) -> Result<()> {
    match found.iter().zip(expected).position(|(a, b)| a != b) {
        None => Ok(()),
        Some(axis) => Err(Error::Extents {
            axis,
            expected: expected[axis],
            found: found[axis],
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dims::Const;

    #[test]
    fn elements_are_row_major() {
        let t = Tensor::from_fn((2, 3), |[i, j]| (i * 3 + j) as u16);
        assert_eq!(t.as_slice(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(t[[1, 1]], 4);
        assert_eq!(t.get([1, 3]), None);
    }

    #[test]
    #[should_panic(expected = "index [0, 3] is outside of a tensor of shape [2, 3]")]
    fn an_index_outside_panics() {
        let _ = Tensor::<f32, _>::zeros((2, 3))[[0, 3]];
    }

    #[test]
    fn lengths_are_checked() {
        let e = Tensor::from_vec((2, Const::<3>), vec![0u8; 5]).unwrap_err();
        assert_eq!(
            e.to_string(),
            "a tensor of shape [2, 3] has 6 elements, but 5 were given"
        );
        assert!(TensorView::from_slice((usize::MAX, 2), &[0u8]).is_err());
    }

    #[test]
    fn extents_are_retyped_only_when_equal() {
        let t = Tensor::<i8, _>::zeros((4, 5));
        let t = t.into_dims((Const::<4>, Const::<5>)).unwrap();
        let e = t.into_dims((4, 6)).unwrap_err().error;
        assert_eq!(
            e,
            Error::Extents {
                axis: 1,
                expected: 6,
                found: 5
            }
        );
    }

    #[test]
    fn shapes_change_across_ranks() {
        let t = Tensor::from_fn((4, 3), |[i, j]| (3 * i + j) as u8);
        assert_eq!(t.view().reshape((2, 6)).unwrap()[[1, 0]], 6);
        assert!(t.view().reshape((13,)).is_err());
        assert_eq!(t.reshape((12,)).unwrap()[[11]], 11);
    }

    #[test]
    fn views_share_the_elements() {
        let mut v = vec![1, 2, 3, 4];
        let mut t = TensorViewMut::from_mut_slice((2, 2), &mut v).unwrap();
        t[[1, 0]] = 9;
        assert_eq!(t.view()[[1, 0]], 9);
        assert_eq!(v, [1, 2, 9, 4]);
    }

    #[test]
    fn equality_ignores_how_extents_are_typed() {
        let a = Tensor::<i32, _>::random((3, Const::<2>), 0..100, 5);
        assert_eq!(a, a.clone().into_dims((Const::<3>, 2)).unwrap().view());
        assert_ne!(a, Tensor::<i32, _>::random((3, Const::<2>), 0..100, 6));
    }

    #[test]
    fn debug_shows_rows_and_cuts_long_ones() {
        let t = Tensor::from_fn((2, 2), |[i, j]| (i * 2 + j) as i32);
        assert_eq!(format!("{t:?}"), "Tensor [2, 2] [[0, 1],\n [2, 3]]");
        let t = Tensor::<u8, _>::zeros((20,));
        assert_eq!(format!("{t:?}"), "Tensor [20] [0, 0, 0, 0, 0, 0, 0, 0, …]");
        assert_eq!(
            format!("{:?}", Tensor::<u8, _>::zeros((0, 3))),
            "Tensor [0, 3] []"
        );
        assert_eq!(format!("{:?}", Tensor::<u8, _>::zeros(())), "Tensor [] 0");
    }

    #[test]
    fn what_is_too_large_is_an_error_where_there_is_a_result() {
        let e = Tensor::<crate::S4x2, _>::try_zeros((0, 3)).unwrap_err();
        assert!(matches!(e, Error::Packing { .. }), "{e}");
        for dims in [(usize::MAX, 2), (1 << 60, 1)] {
            let e = Tensor::<u8, _>::try_zeros(dims).unwrap_err();
            assert!(
                e.to_string().starts_with("the host has not enough memory"),
                "{e}"
            );
        }
        assert_eq!(
            Tensor::<u8, _>::try_zeros((0, usize::MAX, 2))
                .unwrap()
                .shape(),
            [0, usize::MAX, 2]
        );
        // What a tensor of a device has need not fit the host.
        let mut byte = 0_u8;
        let (address, sim) = (&raw mut byte, crate::Device::sim());
        // SAFETY: the test reads no element.
        let large = unsafe { DeviceTensor::from_raw_parts(address, (1 << 56,), &sim, ()) }.unwrap();
        assert!(matches!(large.to_host(), Err(Error::OutOfMemory { .. })));
    }
}
