//! Tensors in device memory.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::device::Device;
use crate::device_data::{Borrowed, BorrowedMut, DeviceData, DeviceDataMut, Owned, View};
use crate::dims::Dims;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::region::Region;
use crate::stream::Stream;
use crate::tensor::{HostData, HostDataMut, Tensor, check_extents, has_whole_rows};

/// The alignment in bytes of the tensors that kernels take in place: that of their widest accesses.
const IN_PLACE: usize = 16;

/// A row-major tensor in the memory of one [`Device`]: the argument of a kernel's `global`
/// parameters.
///
/// `T` is an [`Element`], `D` a tuple of extents (see [`Dims`]). `S` is [`Owned`] for a tensor with
/// memory of its own; for a [`DeviceView`] or [`DeviceViewMut`] the memory is that of another
/// tensor, and neighbours may have any distance.
///
/// The memory of a tensor is freed when the tensor is dropped, after all earlier work on it. Copies
/// between tensors of one device are in order with all other work on both, and are only enqueued
/// on a GPU; copies to and from host memory are complete when they return.
///
/// ```
/// use croq_sys::{Const, Device, DeviceTensor, Tensor};
///
/// let device = Device::default();
/// let host = Tensor::from_fn((4, Const::<2>), |[i, j]| (i + j) as f32);
/// let on_device = host.to_device(&device)?;
/// assert_eq!(on_device.to_host()?, host);
/// let zeros = DeviceTensor::<f32, _>::zeros((4, Const::<2>), &device)?;
/// assert_eq!(zeros.shape(), [4, 2]);
/// # Ok::<(), croq_sys::Error>(())
/// ```
pub struct DeviceTensor<T, D, S = Owned> {
    memory: Arc<Memory>,
    dims: D,
    data: S,
    element: PhantomData<T>,
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

impl<T: Element, D: Dims> DeviceTensor<T, D> {
    /// All elements zero.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], or the failure of the device.
    pub fn zeros(dims: D, device: &Device) -> Result<Self> {
        let bytes = bytes::<T, D>(&dims, device)?;
        Ok(Self::of(dims, Memory::zeroed(device, bytes)?))
    }

    /// A tensor of memory that the program has allocated itself, with CUDA or another library, in
    /// row-major order without gaps. The memory is not freed: `owner` is dropped instead, after the
    /// last work on the tensor and maybe on another thread. It is what keeps the memory allocated,
    /// or `()` if that needs nothing.
    ///
    /// A kernel takes the tensor in place if `address` is a multiple of 16. Otherwise one that only
    /// reads it takes a copy, and one that writes it is an [`Error::WrittenView`].
    ///
    /// # Errors
    ///
    /// [`Error::Packing`] if rows of packed elements are no whole bytes, [`Error::OutOfMemory`] if
    /// no memory is that large, or the failure of the device. `owner` is dropped.
    ///
    /// # Safety
    ///
    /// Until `owner` is dropped,
    ///
    /// * `address` is that of as many elements as `dims` says, rounded up to a multiple of 4 bytes,
    ///   aligned as `T` is, in memory that kernels on `device` may read and write: on the simulated
    ///   GPU host memory;
    /// * nothing else writes the elements, and nothing else reads them while work on the tensor
    ///   writes them. Work of other libraries is ordered with
    ///   [`with_device_ptr`](Self::with_device_ptr), or is complete;
    /// * the elements are initialised.
    ///
    /// ```
    /// use croq_sys::{Device, DeviceTensor};
    ///
    /// let mut numbers = vec![1.0_f32, 2.0, 3.0, 4.0];
    /// let address = numbers.as_mut_ptr();
    /// // SAFETY: the simulated GPU uses host memory; the vector lives until the tensor drops it.
    /// let tensor =
    ///     unsafe { DeviceTensor::from_raw_parts(address, (2, 2), &Device::sim(), numbers)? };
    /// assert_eq!(tensor.to_host()?[[1, 0]], 3.0);
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    pub unsafe fn from_raw_parts(
        address: *mut T,
        dims: D,
        device: &Device,
        owner: impl Any + Send + Sync,
    ) -> Result<Self> {
        device.healthy()?;
        let bytes = bytes::<T, D>(&dims, device)?;
        let address = NonNull::new(address.cast()).unwrap_or(NonNull::<T>::dangling().cast());
        // SAFETY: as the caller promises.
        let memory = unsafe { Memory::foreign(device, address, bytes, Box::new(owner)) };
        Ok(Self::of(dims, memory))
    }

    /// A copy of elements of memory that another tensor uses.
    pub(crate) fn copied(memory: &Memory, offset: usize, dims: D) -> Result<Self> {
        holds::<T, D>(memory, offset, dims)?;
        let from = dense::<T, D>(offset, &dims);
        let copy = Memory::unwritten(memory.device(), from.bytes())?;
        // SAFETY: the memory has these elements, and the copy is as large.
        unsafe { copy.copy(&dense::<T, D>(0, &dims), (memory, &from)) }?;
        Ok(Self::of(dims, copy))
    }

    /// A tensor of the first elements of memory that no other tensor uses.
    pub(crate) fn held(memory: Arc<Memory>, dims: D) -> Result<Self> {
        holds::<T, D>(&memory, 0, dims)?;
        Ok(Self {
            memory,
            dims,
            data: Owned::new(),
            element: PhantomData,
        })
    }
}

impl<T, D: Dims> DeviceTensor<T, D> {
    pub(crate) fn of(dims: D, memory: Memory) -> Self {
        Self {
            memory: Arc::new(memory),
            dims,
            data: Owned::new(),
            element: PhantomData,
        }
    }
}

impl<T, D: Dims, S> DeviceTensor<T, D, S> {
    /// The extents as numbers, outermost first.
    pub fn shape(&self) -> D::Index {
        self.dims.shape()
    }

    /// The extents with their types.
    pub fn dims(&self) -> D {
        self.dims
    }

    /// The device that contains the tensor.
    pub fn device(&self) -> &Device {
        self.memory.device()
    }

    /// The same tensor with other types of extents; see [`Tensor::into_dims`].
    ///
    /// # Errors
    ///
    /// [`Error::Extents`] when `dims` has other extents than the tensor.
    pub fn into_dims<E: Dims<Index = D::Index>>(self, dims: E) -> Result<DeviceTensor<T, E, S>> {
        check_extents(self.shape().as_ref(), dims.shape().as_ref())?;
        Ok(self.with(dims, |data| data))
    }

    /// The same memory with other extents and places.
    pub(crate) fn with<E, R>(self, dims: E, data: impl FnOnce(S) -> R) -> DeviceTensor<T, E, R> {
        DeviceTensor {
            memory: self.memory,
            dims,
            data: data(self.data),
            element: PhantomData,
        }
    }

    pub(crate) fn duplicate(&self) -> Self
    where
        S: Clone,
    {
        Self {
            memory: self.memory.clone(),
            dims: self.dims,
            data: self.data.clone(),
            element: PhantomData,
        }
    }

    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }
}

impl<T: Element, D: Dims, S: DeviceData> DeviceTensor<T, D, S> {
    /// A copy in host memory, after all earlier work on the tensor.
    ///
    /// # Errors
    ///
    /// The failure of that work, or of the copy.
    pub fn to_host(&self) -> Result<Tensor<T, D>> {
        let mut host = Tensor::zeros(self.dims);
        self.copy_to_host(&mut host)?;
        Ok(host)
    }

    /// Copies the elements to a host tensor of the same shape, after all earlier work on this one.
    ///
    /// ```
    /// use croq_sys::{Device, Tensor, TensorViewMut};
    ///
    /// let on_device = Tensor::from_fn((2, 2), |[i, j]| (2 * i + j) as i32).to_device(&Device::sim())?;
    /// let mut numbers = [0; 4];
    /// on_device.copy_to_host(&mut TensorViewMut::from_mut_slice((2, 2), &mut numbers)?)?;
    /// assert_eq!(numbers, [0, 1, 2, 3]);
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::CopyShape`] if the shapes differ, the failure of that work, or of the copy.
    pub fn copy_to_host<E: Dims<Index = D::Index>>(
        &self,
        host: &mut Tensor<T, E, impl HostDataMut<T>>,
    ) -> Result<()> {
        check_shapes(host.shape().as_ref(), self.shape().as_ref())?;
        let region = self.region();
        if !region.is_dense() {
            return self.try_clone()?.copy_to_host(host);
        }
        T::read_into(host.as_mut_slice(), &mut |bytes| {
            self.memory.download(region.offset, bytes)
        })
    }

    /// A copy with memory of its own on the same device, without gaps. On a GPU it is only
    /// enqueued. Not `Clone`, because there may be no memory left.
    ///
    /// ```
    /// use croq_sys::{Device, Tensor};
    ///
    /// let first = Tensor::from_fn((3,), |[i]| i as f32).to_device(&Device::sim())?;
    /// let mut second = first.try_clone()?;
    /// second.copy_from_host(&Tensor::<f32, _>::zeros((3,)))?;
    /// assert_eq!(first.to_host()?.as_slice(), [0.0, 1.0, 2.0]);
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], or the failure of the device.
    pub fn try_clone(&self) -> Result<DeviceTensor<T, D>> {
        Ok(DeviceTensor::of(self.dims, self.dense_copy()?))
    }

    /// The memory of such a copy.
    pub(crate) fn dense_copy(&self) -> Result<Memory> {
        let from = self.region();
        let copy = Memory::unwritten(self.device(), from.bytes())?;
        // SAFETY: the region of a tensor is inside of its memory; the copy is new and as large.
        unsafe { copy.copy(&dense::<T, D>(0, &self.dims), (&self.memory, &from)) }?;
        Ok(copy)
    }

    /// All elements in row-major order with another shape of as many elements.
    ///
    /// ```
    /// use croq_sys::{Const, Device, DeviceTensor};
    ///
    /// let matrix = DeviceTensor::<f32, _>::zeros((6, Const::<4>), &Device::sim())?;
    /// let batches = matrix.reshape((2, 3, Const::<4>))?;
    /// assert_eq!(batches.shape(), [2, 3, 4]);
    /// assert!(batches.reshape((25,)).is_err());
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Length`] when `dims` has another number of elements, [`Error::Strided`] for a view
    /// with gaps.
    pub fn reshape<E: Dims>(self, dims: E) -> Result<DeviceTensor<T, E, S>> {
        let region = self.region();
        if !region.is_dense() {
            return Err(Error::Strided);
        }
        let found = self.dims.elements();
        if found.is_none() || dims.elements() != found || !has_whole_rows::<T, E>(&dims) {
            return Err(Error::Length {
                shape: dims.shape().as_ref().to_vec(),
                found: found.unwrap_or(usize::MAX),
            });
        }
        let reshaped = dense::<T, E>(region.offset, &dims);
        Ok(self.with(dims, |data| data.at(reshaped)))
    }

    /// Borrows the whole tensor.
    pub fn view(&self) -> DeviceView<'_, T, D> {
        DeviceTensor {
            memory: self.memory.clone(),
            dims: self.dims,
            data: Borrowed::new(self.region()),
            element: PhantomData,
        }
    }

    /// Whether the elements are in row-major order without gaps.
    pub fn is_dense(&self) -> bool {
        self.region().is_dense()
    }

    /// The distances in elements between neighbours along each axis; see [`Dims::strides`].
    pub fn strides(&self) -> D::Index {
        let mut strides = D::Index::default();
        let region = self.region();
        for (stride, axis) in strides.as_mut().iter_mut().zip(region.axes()) {
            *stride = axis.stride / size_of::<T>() * T::COUNT;
        }
        if let Some(last) = strides.as_mut().last_mut() {
            // Packed elements are never apart.
            *last /= T::COUNT;
        }
        strides
    }

    /// The address of the first element in the memory of the device; on the simulated GPU in host
    /// memory. Earlier work on the tensor may not have run yet, and later work does not know of uses
    /// of the address: [`with_device_ptr`](Self::with_device_ptr) orders both.
    pub fn as_device_ptr(&self) -> *const T {
        let start = self.memory.address().cast_const();
        start.wrapping_byte_add(self.region().offset).cast()
    }

    /// Passes the address of the first element to `enqueue`, which may enqueue work on `stream` that
    /// reads the elements, with any library. Such work begins after all earlier work that writes the
    /// tensor, and later work that writes it, or frees the memory, comes after it. Nothing else may
    /// be done with the address when `enqueue` has returned.
    ///
    /// ```
    /// use croq_sys::{Device, Stream, Tensor};
    ///
    /// let device = Device::sim();
    /// let (x, stream) = (Tensor::from_fn((3,), |[i]| i as f32).to_device(&device)?, Stream::new(&device)?);
    /// // SAFETY: on the simulated GPU this is host memory, and no work is in flight.
    /// let last = x.with_device_ptr(&stream, |at| unsafe { *at.add(2) })?;
    /// assert_eq!(last, 2.0);
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`] if `stream` is of another device, or the failure of the device.
    pub fn with_device_ptr<R>(
        &self,
        stream: &Stream,
        enqueue: impl FnOnce(*const T) -> R,
    ) -> Result<R> {
        let address = self.as_device_ptr();
        self.memory.use_on(stream, false, || enqueue(address))
    }

    pub(crate) fn region(&self) -> Region {
        let own = self.data.region().copied();
        own.unwrap_or_else(|| dense::<T, D>(0, &self.dims))
    }

    /// The distance in bytes from the start of the memory, if kernels can take the tensor in place.
    pub(crate) fn kernel_offset(&self) -> Option<usize> {
        let region = self.region();
        let is_aligned = self.as_device_ptr().addr().is_multiple_of(IN_PLACE);
        (region.is_dense() && is_aligned).then_some(region.offset)
    }
}

impl<T: Element, D: Dims, S: DeviceDataMut> DeviceTensor<T, D, S> {
    /// Copies the elements of a host tensor of the same shape, after all earlier work on this one.
    ///
    /// ```
    /// use croq_sys::{Device, DeviceTensor, TensorView};
    ///
    /// let mut on_device = DeviceTensor::<i32, _>::zeros((2, 2), &Device::sim())?;
    /// on_device.copy_from_host(&TensorView::from_slice((2, 2), &[1, 2, 3, 4])?)?;
    /// assert_eq!(on_device.to_host()?[[1, 0]], 3);
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::CopyShape`] if the shapes differ, the failure of that work, or of the copy.
    pub fn copy_from_host<E: Dims<Index = D::Index>>(
        &mut self,
        host: &Tensor<T, E, impl HostData<T>>,
    ) -> Result<()> {
        check_shapes(self.shape().as_ref(), host.shape().as_ref())?;
        let region = self.region();
        if !region.is_dense() {
            let host = host.to_device(self.device())?;
            return self.copy_from(&host);
        }
        let bytes = bytemuck::cast_slice(host.as_slice());
        self.memory.write(region.offset, bytes)
    }

    /// Copies the elements of another tensor of the same shape and device, after all earlier work on
    /// both. On a GPU the copy is only enqueued, as one or several copies of rows.
    ///
    /// ```
    /// use croq_sys::{Device, DeviceTensor, Tensor};
    ///
    /// let device = Device::sim();
    /// let row = Tensor::from_fn((1, 3), |[_, j]| j as f32).to_device(&device)?;
    /// let mut matrix = DeviceTensor::<f32, _>::zeros((2, 3), &device)?;
    /// matrix.view_mut().slice([1..2, 0..3])?.copy_from(&row)?;
    /// assert_eq!(matrix.to_host()?.as_slice(), [0.0, 0.0, 0.0, 0.0, 1.0, 2.0]);
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::CopyShape`] if the shapes differ, [`Error::WrongDevice`] if the devices do, or the
    /// failure of the device.
    pub fn copy_from<E: Dims<Index = D::Index>>(
        &mut self,
        from: &DeviceTensor<T, E, impl DeviceData>,
    ) -> Result<()> {
        check_shapes(self.shape().as_ref(), from.shape().as_ref())?;
        self.device().expect("copy_from", "from", from.device())?;
        // SAFETY: regions of tensors are inside of their memory, these have the same shape, and a
        // tensor that is borrowed mutably has no element of another one.
        unsafe {
            self.memory
                .copy(&self.region(), (&from.memory, &from.region()))
        }
    }

    /// Borrows the whole tensor mutably.
    pub fn view_mut(&mut self) -> DeviceViewMut<'_, T, D> {
        DeviceTensor {
            memory: self.memory.clone(),
            dims: self.dims,
            data: BorrowedMut::new(self.region()),
            element: PhantomData,
        }
    }

    /// The same as [`as_device_ptr`](Self::as_device_ptr), to write the elements.
    pub fn as_device_mut_ptr(&mut self) -> *mut T {
        self.as_device_ptr().cast_mut()
    }

    /// The same as [`with_device_ptr`](Self::with_device_ptr) for work that writes the elements. It
    /// begins after all earlier work on the tensor, and all later work on it comes after it.
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`] if `stream` is of another device, or the failure of the device.
    pub fn with_device_mut_ptr<R>(
        &mut self,
        stream: &Stream,
        enqueue: impl FnOnce(*mut T) -> R,
    ) -> Result<R> {
        let address = self.as_device_mut_ptr();
        self.memory.use_on(stream, true, || enqueue(address))
    }
}

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
            // The sum is too large only where the place is behind the last element.
            let before = (range.start / per_value).saturating_mul(place.stride);
            region.offset = region.offset.saturating_add(before);
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

/// The number of bytes of a tensor.
fn bytes<T: Element, D: Dims>(dims: &D, device: &Device) -> Result<usize> {
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

/// Elements without gaps; those of packed types in bytes.
fn dense<T: Element, D: Dims>(offset: usize, dims: &D) -> Region {
    let mut shape = dims.shape();
    if let Some(last) = shape.as_mut().last_mut() {
        *last /= T::COUNT;
    }
    Region::dense(offset, size_of::<T>(), shape.as_ref())
}

fn check_shapes(expected: &[usize], found: &[usize]) -> Result<()> {
    match expected == found {
        true => Ok(()),
        false => Err(Error::CopyShape {
            expected: expected.to_vec(),
            found: found.to_vec(),
        }),
    }
}

fn holds<T: Element, D: Dims>(memory: &Memory, offset: usize, dims: D) -> Result<()> {
    let bytes = memory.bytes().saturating_sub(offset);
    let held = (bytes / size_of::<T>()).saturating_mul(T::COUNT);
    if dims.elements().is_none_or(|count| count > held) || !has_whole_rows::<T, D>(&dims) {
        return Err(Error::Length {
            shape: dims.shape().as_ref().to_vec(),
            found: held,
        });
    }
    Ok(())
}

/// A host tensor of the first elements of `memory` from `offset` on.
pub(crate) fn download<T: Element, D: Dims>(
    memory: &Memory,
    offset: usize,
    dims: D,
) -> Result<Tensor<T, D>> {
    holds::<T, D>(memory, offset, dims)?;
    let mut host = Tensor::zeros(dims);
    T::read_into(host.as_mut_slice(), &mut |bytes| {
        memory.download(offset, bytes)
    })?;
    Ok(host)
}

impl<T: Element, D: Dims, S> fmt::Debug for DeviceTensor<T, D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "DeviceTensor {} {:?} on {}",
            T::NAME,
            self.shape(),
            self.device()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dims::Const;
    use crate::packed::S4x2;

    #[test]
    fn there_and_back() {
        let host = Tensor::<i16, _>::random((5, Const::<7>), -100..100, 3);
        let device = host.to_device(&Device::sim()).unwrap();
        assert_eq!(device.to_host().unwrap(), host);
        assert_eq!(format!("{device:?}"), "DeviceTensor s16 [5, 7] on sim");
        let retyped = device.into_dims((Const::<5>, 7)).unwrap();
        assert!(retyped.into_dims((Const::<6>, 7)).is_err());
    }

    /// An extent of any size beside one of 0: the tensor has no elements, in whatever order.
    #[test]
    fn no_elements_do_not_become_some() {
        const MOST: usize = usize::MAX;
        let mut none = DeviceTensor::<u32, _>::zeros((0, MOST, 2), &Device::sim()).unwrap();
        let permuted = || none.view().permute([1, 2, 0]).unwrap();
        assert!(permuted().reshape((MOST, 2)).is_err());
        assert!(permuted().reshape((1,)).is_err());
        assert_eq!(permuted().reshape((0,)).unwrap().shape(), [0]);
        assert_eq!(permuted().try_clone().unwrap().shape(), [MOST, 2, 0]);
        let end = permuted().slice([MOST - 1..MOST, 1..2, 0..0]).unwrap();
        assert_eq!(end.shape(), [1, 1, 0]);
        let writable = none.view_mut().permute([1, 2, 0]).unwrap();
        assert!(writable.reshape((MOST, 2)).is_err());
        let six = DeviceTensor::<u32, _>::zeros((6, 1), &Device::sim()).unwrap();
        assert!(six.view().reshape((MOST, 2)).is_err());
        let one = six.view().slice([1..6, 0..1]).unwrap();
        let one = one.step_by([MOST, 1]).unwrap();
        let last = one.slice([1..1, 0..1]).unwrap();
        assert_eq!(last.to_host().unwrap().shape(), [0, 1]);
    }

    #[test]
    fn impossible_sizes_are_errors() {
        let e = DeviceTensor::<f64, _>::zeros((usize::MAX, 1), &Device::sim()).unwrap_err();
        assert!(matches!(e, Error::OutOfMemory { .. }), "{e}");
    }

    #[test]
    fn a_clone_has_memory_of_its_own() {
        let host = Tensor::<u8, _>::random((3, 5), 0..200, 3);
        let mut first = host.to_device(&Device::sim()).unwrap();
        let second = first.try_clone().unwrap();
        assert_ne!(first.as_device_ptr(), second.as_device_ptr());
        first.copy_from_host(&Tensor::zeros((3, 5))).unwrap();
        assert_eq!(second.to_host().unwrap(), host);
    }

    #[test]
    fn shapes_change_across_ranks_if_the_number_of_elements_is_the_same() {
        let host = Tensor::<i32, _>::random((4, 6), 0..100, 3);
        let t = host.to_device(&Device::sim()).unwrap();
        let t = t.reshape((2, Const::<3>, 4)).unwrap();
        assert_eq!(t.to_host().unwrap().as_slice(), host.as_slice());
        let t = t.reshape((24,)).unwrap();
        let e = t.reshape((5, 5)).unwrap_err();
        let expected = Error::Length {
            shape: vec![5, 5],
            found: 24,
        };
        assert_eq!(e, expected);
        let packed = DeviceTensor::<S4x2, _>::zeros((3, 4), &Device::sim()).unwrap();
        assert!(packed.view().reshape((4, 3)).is_err());
        assert_eq!(packed.reshape((6, 2)).unwrap().strides(), [2, 1]);
    }

    #[test]
    fn copies_have_one_shape() {
        let mut t = DeviceTensor::<f32, _>::zeros((2, 3), &Device::sim()).unwrap();
        let expected = Error::CopyShape {
            expected: vec![2, 3],
            found: vec![3, 2],
        };
        let host = Tensor::<f32, _>::zeros((3, 2));
        assert_eq!(t.copy_from_host(&host).unwrap_err(), expected);
        let other = host.to_device(&Device::sim()).unwrap();
        assert_eq!(t.copy_from(&other).unwrap_err(), expected);
        let e = t.copy_to_host(&mut host.clone()).unwrap_err();
        assert_eq!(
            e.to_string().lines().next(),
            Some("a tensor of shape [2, 3] cannot be copied to one of shape [3, 2]")
        );
    }

    #[test]
    fn tensors_without_elements_are_tensors() {
        let host = Tensor::<f32, _>::zeros((0, 3));
        let mut t = host.to_device(&Device::sim()).unwrap();
        t.copy_from_host(&host).unwrap();
        let copy = t.try_clone().unwrap();
        assert_eq!(copy.to_host().unwrap(), host);
        assert_eq!(
            copy.reshape((3, 0, 2)).unwrap().to_host().unwrap().shape(),
            [3, 0, 2]
        );
        let part = t.view().slice([0..0, 1..3]).unwrap();
        assert_eq!(part.to_host().unwrap().shape(), [0, 2]);
    }

    #[test]
    fn foreign_memory_is_its_owners() {
        struct Vector(Vec<u16>, Arc<std::sync::Mutex<Vec<u16>>>);
        impl Drop for Vector {
            fn drop(&mut self) {
                *self.1.lock().unwrap() = std::mem::take(&mut self.0);
            }
        }
        let left = Arc::default();
        let mut owner = Vector(vec![1, 2, 3, 4], Arc::clone(&left));
        let address = owner.0.as_mut_ptr();
        // SAFETY: the vector lives until the tensor drops it.
        let t = unsafe { DeviceTensor::from_raw_parts(address, (2, 2), &Device::sim(), owner) };
        let mut t = t.unwrap();
        assert_eq!(t.as_device_ptr(), address.cast_const());
        let host = Tensor::from_vec((2, 2), vec![5, 6, 7, 8]).unwrap();
        t.copy_from_host(&host).unwrap();
        assert_eq!(t.to_host().unwrap(), host);
        // What the tensor became keeps the memory, too.
        let t = t.reshape((4,)).unwrap();
        assert!(left.lock().unwrap().is_empty());
        drop(t);
        assert_eq!(*left.lock().unwrap(), [5, 6, 7, 8]);
    }

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
