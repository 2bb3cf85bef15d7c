//! Tensors in device memory.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::device::Device;
use crate::device_data::{Borrowed, BorrowedMut, DeviceData, DeviceDataMut, Owned, View};
use crate::device_views::{self, DeviceView, DeviceViewMut};
use crate::dims::Dims;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::pinned::PinnedTensor;
use crate::recorded_pinned::{Places, record_copy_from_pinned, record_copy_to_pinned};
use crate::refused::Refused;
use crate::region::Region;
use crate::stream::Stream;
use crate::tensor::{
    HostData, HostDataMut, Tensor, byte_count, check_extents, has_whole_rows, packing, rows_of,
};

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

impl<T: Element, D: Dims> DeviceTensor<T, D> {
    /// All elements zero.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], [`Error::Packing`] if rows of [`Packed`](crate::Packed) values are no
    /// whole bytes, or the failure of the device.
    pub fn zeros(dims: D, device: &Device) -> Result<Self> {
        let bytes = byte_count::<T, D>(&dims, device)?;
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
    /// [`Error::Packing`] if rows of packed elements are no whole bytes, [`Error::OutOfMemory`] if the
    /// tensor has more than 2<sup>56</sup> bytes (with that limit the compiler proves that a kernel's
    /// indices fit 64 bits), or the failure of the device. `owner` is dropped.
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
        let bytes = byte_count::<T, D>(&dims, device)?;
        Memory::check_size(device, bytes)?;
        let address = NonNull::new(address.cast()).unwrap_or(NonNull::<T>::dangling().cast());
        // SAFETY: as the caller promises.
        let memory = unsafe { Memory::foreign(device, address, bytes, Box::new(owner)) };
        Ok(Self::of(dims, memory))
    }

    /// A copy of elements of memory that another tensor uses.
    pub(crate) fn copied(memory: &Memory, offset: usize, dims: D) -> Result<Self> {
        let (tensor, from) = Self::for_copy(memory, offset, dims)?;
        // SAFETY: the memory has these elements, and the copy is as large.
        unsafe { tensor.memory.copy(&tensor.region(), (memory, &from)) }?;
        Ok(tensor)
    }

    /// A tensor for that copy, and the places from which it is.
    pub(crate) fn for_copy(memory: &Memory, offset: usize, dims: D) -> Result<(Self, Region)> {
        holds::<T, D>(memory, offset, dims)?;
        let from = dense::<T, D>(offset, &dims);
        let memory = Memory::unwritten(memory.device(), from.bytes())?;
        Ok((Self::of(dims, memory), from))
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
    ///
    /// ```
    /// use croq_sys::{Const, Device, DeviceTensor};
    ///
    /// let x = DeviceTensor::<f32, _>::zeros((3, Const::<4>), &Device::sim())?;
    /// assert_eq!(x.shape(), [3, 4]);
    /// assert_eq!(x.dims(), (3, Const::<4>));
    /// assert_eq!(x.device(), &Device::sim());
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
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
    /// [`Error::Extents`] when `dims` has other extents than the tensor, with the tensor.
    pub fn into_dims<E: Dims<Index = D::Index>>(
        self,
        dims: E,
    ) -> std::result::Result<DeviceTensor<T, E, S>, Refused<Self>> {
        match check_extents(self.shape().as_ref(), dims.shape().as_ref()) {
            Ok(()) => Ok(self.with(dims, |data| data)),
            Err(error) => Err(Refused {
                tensor: self,
                error,
            }),
        }
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
    /// ```
    /// use croq_sys::{Device, Tensor};
    ///
    /// let host = Tensor::from_fn((3,), |[i]| i as f32);
    /// let x = host.to_device(&Device::default())?;
    /// // … kernels …
    /// assert_eq!(x.to_host()?, host);
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The failure of that work, or of the copy; [`Error::OutOfMemory`] if the host has not enough.
    pub fn to_host(&self) -> Result<Tensor<T, D>> {
        let mut host = Tensor::try_zeros(self.dims)?;
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
        let from = self.region();
        let copy = Memory::unwritten(self.device(), from.bytes())?;
        // SAFETY: the region of a tensor is inside of its memory; the copy is new and as large.
        unsafe { copy.copy(&self.dense_region(), (&self.memory, &from)) }?;
        Ok(DeviceTensor::of(self.dims, copy))
    }

    /// The places of the elements in the memory of such a copy.
    pub(crate) fn dense_region(&self) -> Region {
        dense::<T, D>(0, &self.dims)
    }

    /// A copy in the memory of `device`, without gaps: on the same one as
    /// [`try_clone`](Self::try_clone). Between two GPUs it is only enqueued, in order with other work on
    /// the tensor, and between a GPU and the simulated one it goes through the host.
    ///
    /// ```
    /// use croq_sys::{Device, Tensor};
    ///
    /// let x = Tensor::from_fn((3,), |[i]| i as f32).to_device(&Device::default())?;
    /// let y = x.to_device(&Device::sim_number(1))?;
    /// assert_eq!(y.to_host()?.as_slice(), [0.0, 1.0, 2.0]);
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], or the failure of one of the devices.
    pub fn to_device(&self, device: &Device) -> Result<DeviceTensor<T, D>> {
        let region = self.region();
        if self.device() == device || !region.is_dense() {
            let copy = self.try_clone()?;
            return match self.device() == device {
                true => Ok(copy),
                false => copy.to_device(device),
            };
        }
        let memory = self
            .memory()
            .to_peer(region.offset, region.bytes(), device)?;
        Ok(DeviceTensor::of(self.dims(), memory))
    }

    /// Copies the elements to a tensor of the same shape in page-locked memory, on `stream`: after
    /// earlier work there, and all earlier work on both tensors. On a GPU the copy is only enqueued;
    /// see [`PinnedTensor`].
    ///
    /// # Errors
    ///
    /// [`Error::CopyShape`] if the shapes differ, [`Error::WrongDevice`] if the devices of the stream
    /// and the tensors do, or the failure of the device.
    pub fn copy_to_host_on<E: Dims<Index = D::Index>>(
        &self,
        stream: &Stream,
        host: &mut PinnedTensor<T, E>,
    ) -> Result<()> {
        check_shapes(host.shape().as_ref(), self.shape().as_ref())?;
        self.on_one_device("copy_to_host_on", stream, host)?;
        let (from, to) = (self.memory(), host.memory_to_write());
        if let Some(recorder) = stream.recorder() {
            let places = self.pinned_places();
            // SAFETY: as below.
            return unsafe { record_copy_to_pinned((recorder, stream), places, from, to) };
        }
        // SAFETY: the region of a tensor is inside of its memory, and the host's has as many bytes.
        unsafe { from.to_pinned_on(stream, &self.region(), &self.dense_region(), to.0) }
    }

    fn on_one_device<E: Dims>(
        &self,
        operation: &'static str,
        stream: &Stream,
        host: &PinnedTensor<T, E>,
    ) -> Result<()> {
        let device = self.device();
        device.expect(operation, "stream", stream.device())?;
        device.expect(operation, "host", host.device())
    }

    fn pinned_places(&self) -> Places {
        Places {
            of_device: self.region(),
            packed: self.dense_region(),
        }
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
    /// [`Error::Length`] when `dims` has another number of elements, [`Error::Packing`] when rows of
    /// packed elements are no whole bytes, [`Error::Strided`] for a view with gaps; with the tensor.
    pub fn reshape<E: Dims>(
        self,
        dims: E,
    ) -> std::result::Result<DeviceTensor<T, E, S>, Refused<Self>> {
        let region = self.region();
        let found = self.dims.elements();
        let error = if !region.is_dense() {
            Error::Strided
        } else if found.is_none() || dims.elements() != found {
            Error::Length {
                shape: dims.shape().as_ref().to_vec(),
                found: found.unwrap_or(usize::MAX),
            }
        } else if !has_whole_rows::<T, E>(&dims) {
            packing::<T>(rows_of(&dims))
        } else {
            let reshaped = dense::<T, E>(region.offset, &dims);
            return Ok(self.with(dims, |data| data.at(reshaped)));
        };
        Err(Refused {
            tensor: self,
            error,
        })
    }

    /// Borrows the whole tensor.
    ///
    /// ```
    /// use croq_sys::{Device, Tensor};
    ///
    /// let x = Tensor::from_fn((2, 3), |[i, j]| (3 * i + j) as f32).to_device(&Device::sim())?;
    /// let column = x.view().slice([0..2, 1..2])?;
    /// assert!(!column.is_dense());
    /// assert_eq!(column.strides(), [3, 1]);
    /// assert_eq!(column.to_host()?.as_slice(), [1.0, 4.0]);
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    pub fn view(&self) -> DeviceView<'_, T, D> {
        DeviceTensor {
            memory: self.memory.clone(),
            dims: self.dims,
            data: Borrowed::new(self.region()),
            element: PhantomData,
        }
    }

    /// Waits for all work on the tensor. Only code that uses its
    /// [address](Self::as_device_ptr) needs that.
    ///
    /// ```
    /// use croq_sys::{Device, DeviceTensor};
    ///
    /// let x = DeviceTensor::<f32, _>::zeros((3,), &Device::default())?;
    /// x.synchronize()?;
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The failure of that work.
    pub fn synchronize(&self) -> Result<()> {
        self.memory.settle(true)?;
        self.device().synchronize_own()
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
            *stride = (axis.stride / size_of::<T>()).saturating_mul(T::COUNT);
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

    /// Copies the elements of a tensor of the same shape in page-locked memory, on `stream`: after
    /// earlier work there, and all earlier work on both tensors. On a GPU the copy is only enqueued;
    /// see [`PinnedTensor`].
    ///
    /// # Errors
    ///
    /// [`Error::CopyShape`] if the shapes differ, [`Error::WrongDevice`] if the devices of the stream
    /// and the tensors do, or the failure of the device.
    pub fn copy_from_host_on<E: Dims<Index = D::Index>>(
        &mut self,
        stream: &Stream,
        host: &PinnedTensor<T, E>,
    ) -> Result<()> {
        check_shapes(self.shape().as_ref(), host.shape().as_ref())?;
        self.on_one_device("copy_from_host_on", stream, host)?;
        let to = self.memory();
        if let Some(recorder) = stream.recorder() {
            let places = self.pinned_places();
            // SAFETY: as below.
            return unsafe {
                record_copy_from_pinned((recorder, stream), places, to, host.memory())
            };
        }
        // SAFETY: the region of a tensor is inside of its memory, and the host's has as many bytes.
        unsafe { to.from_pinned_on(stream, &self.region(), &self.dense_region(), host.memory()) }
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

/// Of a [`DeviceView`] or a [`DeviceViewMut`], which the result replaces. A tensor has a
/// [`view`](Self::view) and a [`view_mut`](Self::view_mut).
impl<T: Element, D: Dims, S: DeviceData> DeviceTensor<T, D, S> {
    /// A part of each axis.
    ///
    /// ```
    /// use croq_sys::{Device, Tensor};
    ///
    /// let x = Tensor::from_fn((4, 3), |[i, j]| (10 * i + j) as i32).to_device(&Device::sim())?;
    /// let rows = x.view().slice([1..3, 0..3])?;
    /// assert_eq!(rows.to_host()?.as_slice(), [10, 11, 12, 20, 21, 22]);
    /// assert!(x.view().slice([1..5, 0..3]).is_err());
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Slice`] if a range is outside of its axis, [`Error::Packing`] if one cuts a byte of
    /// packed elements.
    pub fn slice(self, ranges: D::Ranges) -> Result<DeviceTensor<T, D::Dynamic, S>>
    where
        S: View,
    {
        let (shape, region) = device_views::sliced::<T, D>(&self.places(), ranges.as_ref())?;
        Ok(self.with(D::dynamic(shape), |data| data.at(region)))
    }

    /// The first of every so many elements along each axis.
    ///
    /// ```
    /// use croq_sys::{Device, Tensor};
    ///
    /// let x = Tensor::from_fn((5,), |[i]| i as i32).to_device(&Device::sim())?;
    /// assert_eq!(x.view().step_by([2])?.to_host()?.as_slice(), [0, 2, 4]);
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Slice`] if a step is 0, [`Error::Packing`] if packed elements would be apart.
    pub fn step_by(self, steps: D::Index) -> Result<DeviceTensor<T, D::Dynamic, S>>
    where
        S: View,
    {
        let (shape, region) = device_views::stepped::<T, D>(&self.places(), steps.as_ref())?;
        Ok(self.with(D::dynamic(shape), |data| data.at(region)))
    }

    /// Axis `i` of the result is axis `axes[i]` of this view: `[1, 0]` transposes a matrix.
    ///
    /// ```
    /// use croq_sys::{Device, Tensor};
    ///
    /// let x = Tensor::from_fn((2, 3), |[i, j]| (10 * i + j) as i32).to_device(&Device::sim())?;
    /// let transposed = x.view().permute([1, 0])?;
    /// assert_eq!(transposed.shape(), [3, 2]);
    /// assert_eq!(transposed.to_host()?.as_slice(), [0, 10, 1, 11, 2, 12]);
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Slice`] unless each axis is there once, [`Error::Packing`] if packed elements would
    /// be apart.
    pub fn permute(self, axes: D::Index) -> Result<DeviceTensor<T, D::Dynamic, S>>
    where
        S: View,
    {
        let (shape, region) = device_views::permuted::<T, D>(&self.places(), axes.as_ref())?;
        Ok(self.with(D::dynamic(shape), |data| data.at(region)))
    }

    fn places(&self) -> (D::Index, Region) {
        (self.shape(), self.region())
    }
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
    let mut host = Tensor::try_zeros(dims)?;
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
#[path = "tests_of_device_tensors.rs"]
mod tests;
