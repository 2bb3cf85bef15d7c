//! Tensors that could not become what was asked for.

use std::fmt;

use crate::error::Error;

/// The error of an operation that takes a tensor and returns another form of it, such as
/// [`DeviceTensor::reshape`](crate::DeviceTensor::reshape): with the tensor, which has not changed. `?`
/// converts it to an [`Error`] and drops the tensor.
///
/// ```
/// use croq_sys::{Device, DeviceTensor};
///
/// let t = DeviceTensor::<f32, _>::zeros((6, 4), &Device::sim())?;
/// let t = match t.reshape((5, 5)) {
///     Ok(_) => unreachable!("25 elements"),
///     Err(refused) => refused.tensor,
/// };
/// let t = t.reshape((24,))?;
/// assert_eq!(t.shape(), [24]);
/// # Ok::<(), croq_sys::Error>(())
/// ```
pub struct Refused<T> {
    /// The tensor as it was.
    pub tensor: T,
    /// The reason.
    pub error: Error,
}

impl<T> From<Refused<T>> for Error {
    fn from(refused: Refused<T>) -> Self {
        refused.error
    }
}

impl<T> std::error::Error for Refused<T> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.error)
    }
}

impl<T> fmt::Debug for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

impl<T> fmt::Display for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}
