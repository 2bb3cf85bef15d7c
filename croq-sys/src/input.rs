//! What kernels take for a parameter that is passed by value.

use std::ffi::c_void;

use crate::__private::AnyCall;
use crate::device::Device;
use crate::device_data::DeviceData;
use crate::device_tensor::DeviceTensor;
use crate::dims::Dims;
use crate::element::Element;
use crate::error::Result;
use crate::tensor::{HostData, Tensor};

mod sealed {
    use super::{DeviceData, DeviceTensor, HostData, Tensor};

    pub trait Sealed {}
    impl<T, D, S: HostData<T>> Sealed for Tensor<T, D, S> {}
    impl<T, D, S: DeviceData> Sealed for DeviceTensor<T, D, S> {}
    impl<X: Sealed> Sealed for &X {}
}

/// The argument for a parameter `T [..] x` of a kernel: a [`Tensor`] or a
/// [`TensorView`](crate::TensorView), which is copied to the device, or a [`DeviceTensor`] or a
/// [`DeviceView`](crate::DeviceView), which stays there.
///
/// Of a tensor on the device the kernel takes a copy only if it writes the parameter, or if it is a
/// view with gaps, or one whose first element is not at a multiple of 16 bytes. The caller's tensor
/// never changes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tensor of `{T}` with extents `{D}`",
    label = "the kernel takes a `Tensor`, `TensorView`, `DeviceTensor` or `DeviceView` of `{T}` with extents `{D}`"
)]
pub trait Input<T: Element, D: Dims>: sealed::Sealed {
    /// The type of the tensors that a call returns if this is its first such argument: in host
    /// memory, or on the device.
    type Output<U: Element, E: Dims>;

    #[doc(hidden)]
    fn shape(&self) -> D::Index;

    #[doc(hidden)]
    fn dims(&self) -> D;

    /// The device that contains the tensor, if one does.
    #[doc(hidden)]
    fn device(&self) -> Option<&Device>;

    /// The address for a call, which writes the memory there or only reads it.
    #[doc(hidden)]
    fn pass(&self, call: &AnyCall, param: &'static str, is_written: bool) -> Result<*mut c_void>;

    /// What a call that waits returns from this address.
    #[doc(hidden)]
    fn output<U: Element, E: Dims>(
        &self,
        call: &AnyCall,
        address: *const c_void,
        dims: E,
    ) -> Result<Self::Output<U, E>>;
}

impl<T: Element, D: Dims, S: HostData<T>> Input<T, D> for Tensor<T, D, S> {
    type Output<U: Element, E: Dims> = Tensor<U, E>;

    fn shape(&self) -> D::Index {
        self.shape()
    }

    fn dims(&self) -> D {
        self.dims()
    }

    fn device(&self) -> Option<&Device> {
        None
    }

    fn pass(&self, call: &AnyCall, param: &'static str, _: bool) -> Result<*mut c_void> {
        call.copy_in_for(param, self)
    }

    fn output<U: Element, E: Dims>(
        &self,
        call: &AnyCall,
        address: *const c_void,
        dims: E,
    ) -> Result<Tensor<U, E>> {
        call.result(address, dims)
    }
}

impl<T: Element, D: Dims, S: DeviceData> Input<T, D> for DeviceTensor<T, D, S> {
    type Output<U: Element, E: Dims> = DeviceTensor<U, E>;

    fn shape(&self) -> D::Index {
        self.shape()
    }

    fn dims(&self) -> D {
        self.dims()
    }

    fn device(&self) -> Option<&Device> {
        Some(self.device())
    }

    fn pass(&self, call: &AnyCall, param: &'static str, is_written: bool) -> Result<*mut c_void> {
        match is_written {
            true => call.private_copy(param, self),
            false => call.global(param, self),
        }
    }

    fn output<U: Element, E: Dims>(
        &self,
        call: &AnyCall,
        address: *const c_void,
        dims: E,
    ) -> Result<DeviceTensor<U, E>> {
        call.device_result(address, dims)
    }
}

impl<T: Element, D: Dims, X: Input<T, D>> Input<T, D> for &X {
    type Output<U: Element, E: Dims> = X::Output<U, E>;

    fn shape(&self) -> D::Index {
        X::shape(self)
    }

    fn dims(&self) -> D {
        X::dims(self)
    }

    fn device(&self) -> Option<&Device> {
        X::device(self)
    }

    fn pass(&self, call: &AnyCall, param: &'static str, is_written: bool) -> Result<*mut c_void> {
        X::pass(self, call, param, is_written)
    }

    fn output<U: Element, E: Dims>(
        &self,
        call: &AnyCall,
        address: *const c_void,
        dims: E,
    ) -> Result<Self::Output<U, E>> {
        X::output(self, call, address, dims)
    }
}
