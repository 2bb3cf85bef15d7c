//! The description of a kernel for its wrapper, and the checks of its arguments' shapes.

use std::cell::OnceCell;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::{align_of, transmute};
use std::ops::Deref;

use crate::abi::{croq_env, croq_u32};
use crate::device::{Device, is_chosen_by_user};
use crate::error::{Error, Result};

use super::arguments::Word;
use super::{AnyCall, Call};

/// The C function that runs a kernel: declared by the generated header.
pub type Shim<A> = unsafe extern "C" fn(*const croq_env, *mut A) -> croq_u32;

/// The shims of one `__co__` function; `A` is the struct that they take.
///
/// ```compile_fail,E0133
/// use croq_sys::__private::{Shim, Shims};
/// fn forge(sim: Shim<[u8; 8]>) -> Shims<[u8; 8]> {
///     Shims::new(sim, None)
/// }
/// ```
pub struct Shims<A: 'static> {
    sim: AnyShim,
    /// `None` if built without CUDA.
    cuda: Option<AnyShim>,
    args: PhantomData<fn(A)>,
}

/// A [`Shim`] with the address of its struct as an address of anything.
pub(super) type AnyShim = unsafe extern "C" fn(*const croq_env, *mut c_void) -> croq_u32;

const fn any_shim<A>(shim: Shim<A>) -> AnyShim {
    // SAFETY: functions that differ in what parameters point to have the same ABI ("ABI
    // compatibility" in the documentation of `fn`). Callers of the result are as unsafe as those of
    // `shim`.
    unsafe { transmute::<Shim<A>, AnyShim>(shim) }
}

impl<A> Shims<A> {
    /// # Safety
    ///
    /// `sim` and `cuda` were compiled by croq-build from one `__co__` function, and `A` is the
    /// struct that its C header declares for them. They may be called with every value of `A` whose
    /// addresses are provided by one [`Call`] and whose sizes and extents are those of the memory
    /// at the addresses.
    pub const unsafe fn new(sim: Shim<A>, cuda: Option<Shim<A>>) -> Self {
        const { assert!(align_of::<A>() <= align_of::<Word>()) };
        Self {
            sim: any_shim(sim),
            cuda: match cuda {
                Some(cuda) => Some(any_shim(cuda)),
                None => None,
            },
            args: PhantomData,
        }
    }
}

/// One `__co__` function; `A` is the struct its shims take.
pub struct Kernel<A: 'static> {
    pub(super) any: AnyKernel,
    args: PhantomData<fn(A)>,
}

/// The same without the type of the struct.
pub(super) struct AnyKernel {
    pub(super) sim: AnyShim,
    /// `None` if built without CUDA.
    pub(super) cuda: Option<AnyShim>,
    pub(super) about: About,
}

/// The properties of a kernel for messages.
pub struct About {
    pub name: &'static str,
    /// The path of the `.co` file in messages.
    pub file: &'static str,
    /// Lines that have moved since the shims were compiled: `(then, now)`, in order.
    pub moved: &'static [(u32, u32)],
    /// The checks that failure records refer to by index.
    pub checks: &'static [Check],
}

/// A run-time check of a kernel.
pub struct Check {
    pub code: &'static str,
    pub line: u32,
    /// The message, with `{0}`, `{1}` … for the values.
    pub message: &'static str,
}

impl<A> Kernel<A> {
    pub const fn new(shims: Shims<A>, about: About) -> Self {
        Self {
            any: AnyKernel {
                sim: shims.sim,
                cuda: shims.cuda,
                about,
            },
            args: PhantomData,
        }
    }

    /// The checks of a call's arguments.
    pub fn arguments(&'static self) -> Arguments<A> {
        Arguments {
            any: AnyArguments {
                kernel: &self.any,
                zero: OnceCell::new(),
            },
            args: PhantomData,
        }
    }

    /// A call on `device`, or, if it is `None`, on the default device: for a kernel with only host
    /// tensors.
    pub fn call(&'static self, device: Option<&Device>) -> Result<Call<A>> {
        self.any.call(device).map(Call::of)
    }
}

impl AnyKernel {
    pub(super) fn has_cuda(&self) -> bool {
        self.cuda.is_some()
    }

    /// The current line number of line `then` of the file that the shims were compiled from.
    pub(super) fn line_now(&self, then: u32) -> u32 {
        match self.about.moved.binary_search_by_key(&then, |pair| pair.0) {
            Ok(at) => self.about.moved[at].1,
            Err(_) => then,
        }
    }

    /// A report of the simulated GPU with current line numbers.
    pub(super) fn report_now(&self, report: &str) -> String {
        let place = format!("{}:", self.about.file);
        let mut pieces = report.split(&place);
        let mut text = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let digits = piece.len() - piece.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (line, rest) = piece.split_at(digits);
            text.push_str(&place);
            match line.parse() {
                Ok(line) => text.push_str(&self.line_now(line).to_string()),
                Err(_) => text.push_str(line),
            }
            text.push_str(rest);
        }
        text
    }

    fn call(&'static self, device: Option<&Device>) -> Result<AnyCall> {
        if let Some(device) = device {
            return AnyCall::new(self, device);
        }
        let mut device = Device::default();
        // The default is a GPU because another kernel of the program was built with CUDA.
        if device.is_cuda() && !self.has_cuda() && !is_chosen_by_user() {
            device = Device::sim();
        }
        AnyCall::new(self, &device)
    }
}

/// The checks of the arguments of a call.
pub struct Arguments<A: 'static> {
    any: AnyArguments,
    args: PhantomData<fn(A)>,
}

impl<A> Arguments<A> {
    /// A call of a kernel that needs elements along every axis, on the first of these devices that
    /// there is; see [`Kernel::call`].
    pub fn call(self, devices: &[Option<&Device>]) -> Result<Call<A>> {
        self.call_for(devices, &[])
    }

    /// A call of a kernel whose effects are tensors of these shapes. It does nothing if none of them
    /// has an element. Otherwise it needs elements along every axis.
    pub fn call_for(self, devices: &[Option<&Device>], outputs: &[&[usize]]) -> Result<Call<A>> {
        self.any.call_for(devices, outputs).map(Call::of)
    }
}

impl<A> Deref for Arguments<A> {
    type Target = AnyArguments;

    fn deref(&self) -> &AnyArguments {
        &self.any
    }
}

/// The same without the type of the struct that the kernel's shims take.
pub struct AnyArguments {
    kernel: &'static AnyKernel,
    /// The first extent that is zero, as an error.
    zero: OnceCell<Error>,
}

impl AnyArguments {
    /// The extents of parameter `param`, after checks: each must be equal to the expected number, if
    /// there is one.
    pub fn extents<const R: usize>(
        &self,
        param: &'static str,
        shape: [usize; R],
        expected: [(&'static str, Option<usize>); R],
    ) -> Result<[usize; R]> {
        let kernel = self.kernel.about.name;
        check_extents(kernel, param, &shape, &expected)?;
        if let Some(axis) = shape.iter().position(|extent| *extent == 0) {
            // The first one is the error, if it is one.
            let _ = self.zero.set(Error::ZeroExtent {
                kernel,
                param,
                axis,
                name: expected[axis].0,
            });
        }
        Ok(shape)
    }

    fn call_for(self, devices: &[Option<&Device>], outputs: &[&[usize]]) -> Result<AnyCall> {
        let device = devices.iter().flatten().copied().next();
        let is_empty = !outputs.is_empty() && outputs.iter().all(|shape| shape.contains(&0));
        match self.zero.into_inner() {
            Some(zero) if !is_empty => Err(zero),
            _ => Ok(self.kernel.call(device)?.doing_nothing_if(is_empty)),
        }
    }
}

/// A call with the arguments that its shim takes.
pub type Prepared<A> = Result<(Call<A>, A)>;

fn check_extents(
    kernel: &'static str,
    param: &'static str,
    shape: &[usize],
    expected: &[(&'static str, Option<usize>)],
) -> Result<()> {
    for (axis, (&found, &(name, expected))) in shape.iter().zip(expected).enumerate() {
        if let Some(expected) = expected.filter(|expected| *expected != found) {
            return Err(Error::ShapeMismatch {
                kernel,
                param,
                axis,
                name,
                expected,
                found,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn nothing(_: *const croq_env, _: *mut ()) -> croq_u32 {
        0
    }

    #[test]
    fn lines_are_told_as_they_are_now() {
        // SAFETY: it takes anything.
        let shims = unsafe { Shims::new(nothing, None) };
        let about = About {
            name: "k",
            file: "a/k.co",
            moved: &[(3, 5), (4, 6)],
            checks: &[],
        };
        let kernel = Kernel::new(shims, about);
        assert_eq!([3, 4, 9].map(|line| kernel.any.line_now(line)), [5, 6, 9]);
        assert_eq!(
            kernel
                .any
                .report_now("threads 0..4 wait at a/k.co:4\n  a/k.co:31 and a/k.co: end"),
            "threads 0..4 wait at a/k.co:6\n  a/k.co:31 and a/k.co: end"
        );
    }

    // SAFETY: it takes anything.
    const NOTHING: Shims<()> = unsafe { Shims::new(nothing, None) };
    static KERNEL: Kernel<()> = Kernel::new(
        NOTHING,
        About {
            name: "k",
            file: "a/k.co",
            moved: &[],
            checks: &[],
        },
    );

    #[test]
    fn a_call_without_elements_does_nothing_or_is_an_error() {
        let call = |shape: [usize; 2], outputs: &[&[usize]]| {
            let arguments = KERNEL.arguments();
            arguments.extents("x", shape, [("M", None), ("N", None)])?;
            arguments
                .call_for(&[None, Some(&Device::sim())], outputs)
                .map(|_| ())
        };
        let zero = Error::ZeroExtent {
            kernel: "k",
            param: "x",
            axis: 1,
            name: "N",
        };
        assert_eq!(call([3, 4], &[&[3, 4]]), Ok(()));
        assert_eq!(call([3, 0], &[&[3, 0], &[0]]), Ok(()));
        // Sums along an axis without elements, and functions without effects.
        assert_eq!(call([3, 0], &[&[3, 0], &[3]]), Err(zero.clone()));
        assert_eq!(call([3, 0], &[]), Err(zero.clone()));
        let arguments = KERNEL.arguments();
        arguments
            .extents("x", [3, 0], [("M", None), ("N", None)])
            .unwrap();
        arguments.extents("y", [0], [("K", None)]).unwrap();
        assert_eq!(arguments.call(&[]).err(), Some(zero));
    }

    #[test]
    fn extents_are_compared() {
        let expected = [("M", None), ("K", Some(8)), ("64", Some(64))];
        let check = |shape: [usize; 3]| check_extents("k", "a", &shape, &expected);
        assert_eq!(check([1, 8, 64]), Ok(()));
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
