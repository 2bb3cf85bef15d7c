//! A kernel as its wrapper knows it, and the checks of its arguments' shapes.

use crate::abi::{croq_env, croq_u32};
use crate::device::{Device, is_chosen_by_user};
use crate::error::{Error, Result};

use super::Call;

/// The C function that runs a kernel: declared by the generated header.
pub type Shim<A> = unsafe extern "C" fn(*const croq_env, *mut A) -> croq_u32;

/// One `__co__` function; `A` is the struct its shims take.
pub struct Kernel<A: 'static> {
    pub name: &'static str,
    /// The `.co` file, as messages name it.
    pub file: &'static str,
    pub sim: Shim<A>,
    /// `None` when built without CUDA.
    pub cuda: Option<Shim<A>>,
    /// What the rows of a failure record mean.
    pub checks: &'static [Check],
}

/// A run-time check of a kernel.
pub struct Check {
    pub code: &'static str,
    pub line: u32,
    /// With `{0}`, `{1}` … for the values.
    pub message: &'static str,
}

impl<A> Kernel<A> {
    /// The extents of parameter `param`, after a look at each: none may be zero, and where a number is
    /// expected they must be it.
    pub fn extents<const R: usize>(
        &self,
        param: &'static str,
        shape: [usize; R],
        expected: [(&'static str, Option<usize>); R],
    ) -> Result<[usize; R]> {
        check_extents(self.name, param, &shape, &expected)?;
        Ok(shape)
    }

    /// A call on the default device: of a kernel with host tensors only.
    pub fn call(&'static self) -> Result<Call<A>> {
        let mut device = Device::default();
        // The default is a GPU because some other kernel of the program was built with CUDA.
        if device.is_cuda() && self.cuda.is_none() && !is_chosen_by_user() {
            device = Device::sim();
        }
        Call::new(self, &device)
    }

    /// A call on the device where a tensor lives.
    pub fn call_on(&'static self, device: &Device) -> Result<Call<A>> {
        Call::new(self, device)
    }
}

fn check_extents(
    kernel: &'static str,
    param: &'static str,
    shape: &[usize],
    expected: &[(&'static str, Option<usize>)],
) -> Result<()> {
    for (axis, (&found, &(name, expected))) in shape.iter().zip(expected).enumerate() {
        match expected {
            Some(expected) if expected != found => {
                return Err(Error::ShapeMismatch {
                    kernel,
                    param,
                    axis,
                    name,
                    expected,
                    found,
                });
            }
            _ if found == 0 => {
                return Err(Error::ZeroExtent {
                    kernel,
                    param,
                    axis,
                    name,
                });
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_are_compared_and_counted() {
        let expected = [("M", None), ("K", Some(8)), ("64", Some(64))];
        let check = |shape: [usize; 3]| check_extents("k", "a", &shape, &expected);
        assert_eq!(check([1, 8, 64]), Ok(()));
        let zero = Error::ZeroExtent {
            kernel: "k",
            param: "a",
            axis: 0,
            name: "M",
        };
        assert_eq!(check([0, 8, 64]), Err(zero));
        let mismatch = Error::ShapeMismatch {
            kernel: "k",
            param: "a",
            axis: 1,
            name: "K",
            expected: 8,
            found: 0,
        };
        assert_eq!(check([1, 0, 64]), Err(mismatch));
    }
}
