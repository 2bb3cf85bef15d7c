//! Tensors as DLPack, which PyTorch, JAX, CuPy and many other libraries exchange without copies; through
//! the crate [`dlpark`].
//!
//! ```
//! use croq_sys::{Device, Tensor, interop::dlpack};
//!
//! let device = Device::default();
//! let x = Tensor::from_fn((2, 3), |[i, j]| (3 * i + j) as f32).to_device(&device)?;
//! let shared = dlpack::from_device(x)?;               // to another library, and back
//! // SAFETY: nothing else uses the elements, which are initialised.
//! let x = unsafe { dlpack::to_device_tensor::<f32, _>(shared, (2, 3), &device)? };
//! assert_eq!(x.to_host()?[[1, 2]], 5.0);
//! # Ok::<(), croq_sys::Error>(())
//! ```

use std::ffi::c_void;

use dlpark::allocation::dynamic::Initialized;
use dlpark::ffi::{DLDataType, DLDevice, DLManagedTensorVersioned};
use dlpark::metadata::Dynamic;
use dlpark::versioned::Dlpack;

pub use dlpark;

use crate::device::Device;
use crate::device_tensor::DeviceTensor;
use crate::dims::Dims;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::tensor::{Tensor, TensorView};

/// A host tensor, which the result owns.
///
/// ```
/// use croq_sys::{Tensor, interop::dlpack};
///
/// let shared = dlpack::from_host(Tensor::from_fn((4,), |[i]| i as i64))?;
/// assert_eq!(shared.validate().unwrap().shape(), [4]);
/// // SAFETY: nothing writes the elements.
/// let view = unsafe { dlpack::view::<i64, _>(&shared, (4,))? };
/// assert_eq!(view.as_slice(), [0, 1, 2, 3]);
/// # Ok::<(), croq_sys::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Foreign`] for elements that DLPack has not: packed ones, and those of 6 bits.
pub fn from_host<T: Element, D: Dims>(tensor: Tensor<T, D>) -> Result<Dlpack> {
    let shape = tensor.shape();
    let mut elements = Box::new(tensor.into_vec());
    let data = elements.as_mut_ptr();
    described::<T, _>(shape.as_ref(), data, DLDevice::CPU, elements)
}

/// A tensor on a device, which the result owns, after waiting for all work on it. The simulated GPU is
/// DLPack's CPU.
///
/// # Errors
///
/// As for [`from_host`], or the failure of that work.
pub fn from_device<T: Element, D: Dims>(tensor: DeviceTensor<T, D>) -> Result<Dlpack> {
    tensor.synchronize()?;
    let shape = tensor.shape();
    let place = place_of(tensor.device());
    let mut tensor = Box::new(tensor);
    let data = tensor.as_device_mut_ptr();
    described::<T, _>(shape.as_ref(), data, place, tensor)
}

/// A tensor of `device` in memory that `shared` owns.
///
/// # Errors
///
/// [`Error::Foreign`] if `shared` has another element type, another shape, or is on another device, or
/// read-only; [`Error::Strided`] if there are gaps between its elements; as for
/// [`DeviceTensor::from_raw_parts`] otherwise.
///
/// # Safety
///
/// As for [`DeviceTensor::from_raw_parts`]: nothing else writes the elements, or reads them while work on
/// the tensor writes them; earlier work of the other library on them is complete; they are
/// initialised.
pub unsafe fn to_device_tensor<T: Element, D: Dims>(
    shared: Dlpack,
    dims: D,
    device: &Device,
) -> Result<DeviceTensor<T, D>> {
    let data = checked::<T, D>(&shared, &dims, place_of(device))?;
    if shared.flags().contains(dlpark::DlpackFlags::READ_ONLY) {
        return Err(refused("a DLPack tensor is read-only"));
    }
    // SAFETY: as the caller promises; the metadata was checked.
    unsafe { DeviceTensor::from_raw_parts(data.cast_mut(), dims, device, shared) }
}

/// Borrows the elements of a DLPack tensor in host memory.
///
/// # Errors
///
/// [`Error::Foreign`] if `shared` has another element type, another shape, or is not in host memory;
/// [`Error::Strided`] if there are gaps between its elements.
///
/// # Safety
///
/// Nothing writes the elements as long as they are borrowed, and they are initialised values of `T`.
pub unsafe fn view<'a, T: Element, D: Dims>(
    shared: &'a Dlpack,
    dims: D,
) -> Result<TensorView<'a, T, D>> {
    let data = checked::<T, D>(shared, &dims, DLDevice::CPU)?;
    let count = dims.elements().unwrap_or(0);
    let elements = match count {
        0 => &[],
        // SAFETY: as the caller promises; the metadata was checked.
        _ => unsafe { std::slice::from_raw_parts(data, count) },
    };
    TensorView::from_slice(dims, elements)
}

fn described<T: Element, O: Send>(
    shape: &[usize],
    data: *mut T,
    place: DLDevice,
    owner: Box<O>,
) -> Result<Dlpack> {
    let dtype = data_type::<T>()?;
    let prepared = Dynamic::compact(shape).prepare_as::<DLManagedTensorVersioned>();
    let prepared = prepared.map_err(|reason| refused(reason.to_string()))?;
    let mut described: Initialized<DLManagedTensorVersioned> = prepared.initialize(owner);
    let data: *mut c_void = match shape.contains(&0) {
        true => std::ptr::null_mut(),
        false => data.cast(),
    };
    described.set_data(data).set_device(place).set_dtype(dtype);
    // SAFETY: the owner has as many elements of that type without gaps at the address, and nothing else
    // uses them.
    Ok(unsafe { described.finish() })
}

/// The address of the first element.
fn checked<T: Element, D: Dims>(shared: &Dlpack, dims: &D, place: DLDevice) -> Result<*const T> {
    let dtype = data_type::<T>()?;
    let found = shared.validate();
    let found = found.map_err(|reason| refused(reason.to_string()))?;
    if !found.dtype().matches(dtype) {
        let what = format!(
            "a DLPack tensor of {:?} is none of `{}`",
            found.dtype(),
            T::NAME
        );
        return Err(refused(what));
    }
    let shape = dims.shape();
    let shape = shape.as_ref();
    let is_same = found.shape().len() == shape.len()
        && found
            .shape()
            .iter()
            .zip(shape)
            .all(|(a, b)| usize::try_from(*a) == Ok(*b));
    if !is_same {
        let what = format!(
            "a DLPack tensor of shape {:?} is none of shape {shape:?}",
            found.shape()
        );
        return Err(refused(what));
    }
    let device = found.device();
    if (device.device_type, device.device_id) != (place.device_type, place.device_id) {
        return Err(refused(format!(
            "a DLPack tensor is on {device:?}, not on {place:?}"
        )));
    }
    if !found.is_compact().is_ok_and(|is_compact| is_compact) {
        return Err(Error::Strided);
    }
    if shape.contains(&0) {
        return Ok(std::ptr::NonNull::dangling().as_ptr());
    }
    // SAFETY: the metadata was validated, and the address is only computed.
    let address = unsafe { found.offset_bytes_ptr() };
    let address = address.map_err(|reason| refused(reason.to_string()))?;
    let address = address.cast::<T>();
    match address.is_aligned() {
        true => Ok(address),
        false => Err(refused("a DLPack tensor is not aligned as its elements")),
    }
}

fn place_of(device: &Device) -> DLDevice {
    match device
        .gpu_index()
        .and_then(|index| i32::try_from(index).ok())
    {
        Some(index) => DLDevice::cuda(index),
        None => DLDevice::CPU,
    }
}

fn data_type<T: Element>() -> Result<DLDataType> {
    Ok(match T::NAME {
        "bool" => DLDataType::BOOL,
        "s8" => DLDataType::I8,
        "s16" => DLDataType::I16,
        "s32" => DLDataType::I32,
        "s64" => DLDataType::I64,
        "u8" => DLDataType::U8,
        "u16" => DLDataType::U16,
        "u32" => DLDataType::U32,
        "u64" => DLDataType::U64,
        "f16" => DLDataType::F16,
        "bf16" => DLDataType::BF16,
        "f32" => DLDataType::F32,
        "f64" => DLDataType::F64,
        "f8_e4m3" => DLDataType::F8E4M3FN,
        "f8_e5m2" => DLDataType::F8E5M2,
        name => {
            return Err(refused(format!(
                "DLPack has no type for elements of `{name}`"
            )));
        }
    })
}

fn refused(reason: impl Into<String>) -> Error {
    Error::Foreign {
        reason: reason.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Const, S4x2};

    #[test]
    fn tensors_keep_their_memory_there_and_back() {
        let host = Tensor::<f32, _>::random((3, Const::<4>), -1.0..1.0, 5);
        let on_device = host.to_device(&Device::sim()).unwrap();
        let address = on_device.as_device_ptr();
        let shared = from_device(on_device).unwrap();
        assert!(shared.validate_export().is_ok());
        // SAFETY: nothing else uses the elements.
        let back = unsafe { to_device_tensor::<f32, _>(shared, (3, Const::<4>), &Device::sim()) };
        let back = back.unwrap();
        assert_eq!(
            (back.as_device_ptr(), back.to_host().unwrap()),
            (address, host.clone())
        );
        let none = from_host(Tensor::<u8, _>::zeros((0, 3))).unwrap();
        // SAFETY: as above.
        assert!(unsafe { view::<u8, _>(&none, (0, 3)) }.is_ok());
        let shared = from_host(host.clone()).unwrap();
        // SAFETY: as above.
        assert_eq!(unsafe { view::<f32, _>(&shared, (3, 4)) }.unwrap(), host);
    }

    #[test]
    fn what_is_not_the_same_is_an_error() {
        let shared = from_host(Tensor::<f32, _>::zeros((3, 4))).unwrap();
        // SAFETY: the calls return before they access elements.
        let wrong = unsafe {
            [
                view::<i32, _>(&shared, (3, 4)).err(),
                view::<f32, _>(&shared, (4, 3)).err(),
                view::<f32, _>(&shared, (12,)).err(),
                view::<S4x2, _>(&shared, (3, 4)).err(),
            ]
        };
        for wrong in wrong {
            assert!(matches!(wrong, Some(Error::Foreign { .. })), "{wrong:?}");
        }
        assert!(from_host(Tensor::<S4x2, _>::zeros((3, 4))).is_err());
        let gpu = crate::fake_cuda::device();
        // SAFETY: as above.
        let away = unsafe { to_device_tensor::<f32, _>(shared, (3, 4), &gpu) };
        assert!(away.is_err());
    }
}
