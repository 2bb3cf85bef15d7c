//! Copies of device tensors: to and from the host, between tensors, and between devices.

use crate::device::Device;
use crate::device_data::{DeviceData, DeviceDataMut};
use crate::device_tensor::DeviceTensor;
use crate::dims::Dims;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::pinned::PinnedTensor;
use crate::recorded_pinned::{Places, record_copy_from_pinned, record_copy_to_pinned};
use crate::stream::Stream;
use crate::tensor::{HostData, HostDataMut, Tensor};

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
        let mut host = Tensor::try_zeros(self.dims())?;
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
            self.memory().download(region.offset, bytes)
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
        unsafe { copy.copy(&self.dense_region(), (self.memory(), &from)) }?;
        Ok(DeviceTensor::of(self.dims(), copy))
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
        self.memory().write(region.offset, bytes)
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
            self.memory()
                .copy(&self.region(), (from.memory(), &from.region()))
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
