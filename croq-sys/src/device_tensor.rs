//! Tensors in device memory.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::device::Device;
use crate::dims::Dims;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::tensor::{Tensor, check_extents, has_whole_rows};

/// A dense row-major tensor in the memory of one [`Device`]: the argument of a kernel's `global`
/// parameters.
///
/// Its memory is freed when the tensor is dropped, after all earlier work on it.
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
pub struct DeviceTensor<T, D> {
    memory: Arc<Memory>,
    dims: D,
    element: PhantomData<T>,
}

impl<T: Element, D: Dims> DeviceTensor<T, D> {
    /// All elements zero.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], or the failure of the device.
    pub fn zeros(dims: D, device: &Device) -> Result<Self> {
        if !has_whole_rows::<T, D>(&dims) {
            let what = format!("rows of shape {:?}", dims.shape());
            return Err(Error::Packing {
                what,
                element: T::NAME,
            });
        }
        let bytes = dims
            .elements()
            .and_then(|n| (n / T::COUNT).checked_mul(size_of::<T>()));
        let bytes = bytes.ok_or_else(|| Error::OutOfMemory {
            device: device.to_string(),
            bytes: u64::MAX,
            what: String::new(),
            limit: None,
        })?;
        Ok(Self::of(dims, Memory::zeroed(device, bytes)?))
    }

    /// A copy in host memory, after all earlier work on the tensor.
    ///
    /// # Errors
    ///
    /// The failure of that work, or of the copy.
    pub fn to_host(&self) -> Result<Tensor<T, D>> {
        download(&self.memory, self.dims)
    }
}

impl<T: Element, D: Dims> DeviceTensor<T, D> {
    /// A tensor of the first elements of memory that no other tensor uses.
    pub(crate) fn held(memory: Arc<Memory>, dims: D) -> Result<Self> {
        holds::<T, D>(&memory, dims)?;
        Ok(Self {
            memory,
            dims,
            element: PhantomData,
        })
    }
}

impl<T, D: Dims> DeviceTensor<T, D> {
    pub(crate) fn of(dims: D, memory: Memory) -> Self {
        Self {
            memory: Arc::new(memory),
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

    /// The device that contains the tensor.
    pub fn device(&self) -> &Device {
        self.memory.device()
    }

    /// The same tensor with other types of extents; see [`Tensor::into_dims`].
    ///
    /// # Errors
    ///
    /// [`Error::Extents`] when `dims` has other extents than the tensor.
    pub fn into_dims<E: Dims<Index = D::Index>>(self, dims: E) -> Result<DeviceTensor<T, E>> {
        check_extents(self.shape().as_ref(), dims.shape().as_ref())?;
        Ok(DeviceTensor {
            memory: self.memory,
            dims,
            element: PhantomData,
        })
    }

    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }
}

fn holds<T: Element, D: Dims>(memory: &Memory, dims: D) -> Result<()> {
    let held = (memory.bytes() / size_of::<T>()).saturating_mul(T::COUNT);
    if dims.elements().is_none_or(|count| count > held) || !has_whole_rows::<T, D>(&dims) {
        return Err(Error::Length {
            shape: dims.shape().as_ref().to_vec(),
            found: held,
        });
    }
    Ok(())
}

/// A host tensor of the first elements of `memory`.
pub(crate) fn download<T: Element, D: Dims>(memory: &Memory, dims: D) -> Result<Tensor<T, D>> {
    holds::<T, D>(memory, dims)?;
    let mut host = Tensor::zeros(dims);
    T::read_into(host.as_mut_slice(), &mut |bytes| memory.download(bytes))?;
    Ok(host)
}

impl<T: Element, D: Dims> fmt::Debug for DeviceTensor<T, D> {
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

    #[test]
    fn there_and_back() {
        let host = Tensor::<i16, _>::random((5, Const::<7>), -100..100, 3);
        let device = host.to_device(&Device::sim()).unwrap();
        assert_eq!(device.to_host().unwrap(), host);
        assert_eq!(format!("{device:?}"), "DeviceTensor s16 [5, 7] on sim");
        let retyped = device.into_dims((Const::<5>, 7)).unwrap();
        assert!(retyped.into_dims((Const::<6>, 7)).is_err());
    }

    #[test]
    fn impossible_sizes_are_errors() {
        let e = DeviceTensor::<f64, _>::zeros((usize::MAX, 1), &Device::sim()).unwrap_err();
        assert!(matches!(e, Error::OutOfMemory { .. }), "{e}");
    }
}
