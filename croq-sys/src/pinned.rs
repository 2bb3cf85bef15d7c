//! Tensors in page-locked host memory, which a GPU copies from and to while the program goes on.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::device::{Device, Kind};
use crate::dims::Dims;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::tensor::{TensorView, TensorViewMut, byte_count};

/// A dense row-major tensor in page-locked host memory, for copies that a GPU makes while the program
/// goes on: [`DeviceTensor::copy_from_host_on`](crate::DeviceTensor::copy_from_host_on) and
/// [`copy_to_host_on`](crate::DeviceTensor::copy_to_host_on). On the simulated GPU it is ordinary
/// memory, and copies are complete when they return.
///
/// Nothing has to be kept alive or waited for. Access to the elements waits for the copies that are in
/// flight: reading for those to this tensor, writing also for those from it. A tensor that is dropped
/// is freed after them.
///
/// Page-locked memory is taken from the whole system, and allocating it is slow: keep a few such
/// tensors, and use them again.
///
/// ```
/// use croq_sys::{Device, DeviceTensor, PinnedTensor, Stream, Tensor};
///
/// let (device, n) = (Device::default(), 1000);
/// let stream = Stream::new(&device)?;
/// let mut input = PinnedTensor::<f32, _>::zeros((n,), &device)?;
/// let mut output = PinnedTensor::<f32, _>::zeros((n,), &device)?;
/// let mut x = DeviceTensor::<f32, _>::zeros((n,), &device)?;
/// for round in 0..3 {
///     input.as_mut_slice()?.fill(round as f32);      // waits for the copy of the round before
///     x.copy_from_host_on(&stream, &input)?;         // returns at once
///     // … kernels on `stream` …
///     x.copy_to_host_on(&stream, &mut output)?;
/// }
/// assert_eq!(output.as_slice()?, [2.0; 1000]);       // waits for the last copy
/// # Ok::<(), croq_sys::Error>(())
/// ```
///
/// Neither tensor can be used otherwise than in order with the copies:
///
/// ```compile_fail,E0502
/// use croq_sys::{Device, DeviceTensor, PinnedTensor, Stream};
///
/// let device = Device::sim();
/// let x = DeviceTensor::<f32, _>::zeros((4,), &device)?;
/// let mut host = PinnedTensor::<f32, _>::zeros((4,), &device)?;
/// let before = host.as_slice()?;
/// x.copy_to_host_on(&Stream::new(&device)?, &mut host)?;
/// assert_eq!(before, [0.0; 4]);
/// # Ok::<(), croq_sys::Error>(())
/// ```
pub struct PinnedTensor<T, D> {
    /// With the uses by streams; the address is one of the host.
    memory: Arc<Memory>,
    dims: D,
    /// A device may have written bytes that are no elements.
    is_unchecked: Arc<AtomicBool>,
    element: PhantomData<T>,
}

/// Frees host memory, after the last work that uses it.
struct Allocation {
    device: Device,
    address: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the address of memory that any thread may free.
unsafe impl Send for Allocation {}
// SAFETY: as above.
unsafe impl Sync for Allocation {}

impl<T: Element, D: Dims> PinnedTensor<T, D> {
    /// All elements zero. The memory is for copies on streams of `device`.
    ///
    /// # Errors
    ///
    /// [`Error::Packing`] if rows of packed elements are no whole bytes, [`Error::OutOfMemory`], or the
    /// failure of the device.
    pub fn zeros(dims: D, device: &Device) -> Result<Self> {
        let bytes = byte_count::<T, D>(&dims, device)?;
        let allocation = Allocation::new(device, bytes)?;
        let address = allocation.address;
        // SAFETY: the memory has that size, and is not freed before the owner is dropped.
        let memory = unsafe { Memory::foreign(device, address, bytes, Box::new(allocation)) };
        Ok(Self {
            memory: Arc::new(memory),
            dims,
            is_unchecked: Arc::new(AtomicBool::new(false)),
            element: PhantomData,
        })
    }

    /// The elements in row-major order, after all copies to the tensor.
    ///
    /// # Errors
    ///
    /// The failure of that work, or an earlier one of the device; [`Error::NotBool`].
    pub fn as_slice(&self) -> Result<&[T]> {
        self.device().healthy()?;
        self.memory.settle(false)?;
        self.check()?;
        // SAFETY: as many elements, initialised; nothing writes them as long as the tensor is borrowed,
        // because earlier work is complete and later work borrows it mutably.
        Ok(unsafe { std::slice::from_raw_parts(self.address().as_ptr(), self.count()) })
    }

    /// The elements in row-major order, after all copies from and to the tensor.
    ///
    /// # Errors
    ///
    /// The failure of that work, or an earlier one of the device; [`Error::NotBool`].
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        self.device().healthy()?;
        self.memory.settle(true)?;
        self.check()?;
        // SAFETY: as many elements, initialised; nothing uses them as long as the tensor is borrowed,
        // because earlier work is complete and later work borrows it.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.address().as_ptr(), self.count()) })
    }

    /// Borrows the tensor as a host tensor, after all copies to it.
    ///
    /// ```
    /// use croq_sys::{Device, PinnedTensor};
    ///
    /// let mut t = PinnedTensor::<i32, _>::zeros((2, 2), &Device::default())?;
    /// t.view_mut()?[[1, 0]] = 7;
    /// assert_eq!(t.view()?[[1, 0]], 7);
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`as_slice`](Self::as_slice).
    pub fn view(&self) -> Result<TensorView<'_, T, D>> {
        TensorView::from_slice(self.dims, self.as_slice()?)
    }

    /// Borrows the tensor as a host tensor that can be written, after all copies from and to it.
    ///
    /// # Errors
    ///
    /// As for [`as_mut_slice`](Self::as_mut_slice).
    pub fn view_mut(&mut self) -> Result<TensorViewMut<'_, T, D>> {
        let dims = self.dims;
        TensorViewMut::from_mut_slice(dims, self.as_mut_slice()?)
    }

    /// Bytes from a device need not be elements.
    fn check(&self) -> Result<()> {
        if self.is_unchecked.load(Ordering::Acquire) {
            let bytes = self.memory.bytes();
            // SAFETY: the memory has that size and is initialised; work that writes it is complete.
            let bytes =
                unsafe { std::slice::from_raw_parts(self.address().cast().as_ptr(), bytes) };
            T::check(bytes)?;
            self.is_unchecked.store(false, Ordering::Release);
        }
        Ok(())
    }

    fn address(&self) -> NonNull<T> {
        self.memory.start().cast()
    }

    fn count(&self) -> usize {
        self.memory.bytes() / size_of::<T>()
    }
}

impl<T, D: Dims> PinnedTensor<T, D> {
    /// The extents as numbers, outermost first.
    ///
    /// ```
    /// use croq_sys::{Const, Device, PinnedTensor};
    ///
    /// let t = PinnedTensor::<f32, _>::zeros((3, Const::<4>), &Device::sim())?;
    /// assert_eq!(t.shape(), [3, 4]);
    /// assert_eq!(t.dims(), (3, Const::<4>));
    /// assert_eq!(t.device(), &Device::sim());
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    pub fn shape(&self) -> D::Index {
        self.dims.shape()
    }

    /// The extents with their types.
    pub fn dims(&self) -> D {
        self.dims
    }

    /// The device for whose streams the memory is.
    pub fn device(&self) -> &Device {
        self.memory.device()
    }

    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// The memory, for a copy that writes it, and what the copy sets.
    pub(crate) fn memory_to_write(&mut self) -> (&Arc<Memory>, &Arc<AtomicBool>) {
        self.is_unchecked.store(true, Ordering::Release);
        (&self.memory, &self.is_unchecked)
    }
}

impl<T: Element, D: Dims> fmt::Debug for PinnedTensor<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, shape, device) = (T::NAME, self.shape(), self.device());
        write!(f, "PinnedTensor {name} {shape:?} for {device}")
    }
}

impl Allocation {
    fn new(device: &Device, bytes: usize) -> Result<Self> {
        device.healthy()?;
        let full = || Error::OutOfMemory {
            device: device.to_string(),
            bytes: bytes as u64,
            what: "page-locked memory".to_owned(),
            limit: None,
        };
        // The alignment of pages is enough for all elements.
        let layout = Layout::from_size_align(bytes.max(1), 64).map_err(|_| full())?;
        let address = match device.kind() {
            Kind::Cuda(gpu) => {
                device.select(gpu)?;
                let address = device.check(gpu.runtime.allocate_host(layout.size() as u64))?;
                if let Some(address) = address {
                    // SAFETY: the memory was just allocated with that size.
                    unsafe { address.write_bytes(0, layout.size()) };
                }
                address
            }
            // SAFETY: the layout has at least one byte.
            _ => NonNull::new(unsafe { alloc_zeroed(layout) }),
        };
        Ok(Self {
            device: device.clone(),
            address: address.ok_or_else(full)?,
            layout,
        })
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        match self.device.kind() {
            Kind::Cuda(gpu) => {
                // If the context is lost, the memory is too.
                if self.device.healthy().is_ok() && self.device.select(gpu).is_ok() {
                    // SAFETY: allocated by `new`; all work that uses it is complete.
                    unsafe { gpu.runtime.free_host(self.address) };
                }
            }
            // SAFETY: allocated by `new` with this layout.
            _ => unsafe { dealloc(self.address.as_ptr(), self.layout) },
        }
    }
}
