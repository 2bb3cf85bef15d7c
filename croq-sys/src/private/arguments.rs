//! The struct that the shims of a kernel take, without its type.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::{MaybeUninit, size_of};
use std::ptr;

/// Aligned at least as much as every struct of arguments (see [`Shims::new`](super::Shims::new)).
pub(super) type Word = u128;

/// The struct that the shims of a call's kernel take, for that call alone.
pub(super) struct Args<'a> {
    address: *mut c_void,
    bytes: usize,
    exclusive: PhantomData<&'a mut c_void>,
}

impl<'a> Args<'a> {
    /// # Safety
    ///
    /// They are used for a call of a kernel whose shims take `A`.
    pub(super) unsafe fn new<A>(args: &'a mut A) -> Self {
        Self {
            address: ptr::from_mut(args).cast(),
            bytes: size_of::<A>(),
            exclusive: PhantomData,
        }
    }

    pub(super) fn address(&self) -> *mut c_void {
        self.address
    }

    /// The arguments as they are now, before a shim has written results there.
    pub(super) fn copied(&self) -> CopiedArgs {
        let mut words = vec![MaybeUninit::uninit(); self.bytes.div_ceil(size_of::<Word>())];
        let from = self.address.cast::<MaybeUninit<u8>>();
        // SAFETY: a struct that a C header declares, of numbers and addresses, which can be copied;
        // the words are new and at least as large.
        unsafe { ptr::copy_nonoverlapping(from, words.as_mut_ptr().cast(), self.bytes) };
        CopiedArgs {
            words: words.into(),
            bytes: self.bytes,
        }
    }
}

/// A copy of arguments, for further calls of the same kernel, on any thread: the addresses in it are those of
/// memory that the graph keeps.
#[derive(Clone)]
pub(super) struct CopiedArgs {
    words: Box<[MaybeUninit<Word>]>,
    bytes: usize,
}

impl CopiedArgs {
    pub(super) fn args(&mut self) -> Args<'_> {
        Args {
            address: self.words.as_mut_ptr().cast(),
            bytes: self.bytes,
            exclusive: PhantomData,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_what_the_arguments_had_when_it_was_made() {
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[repr(C)]
        struct Example {
            address: *const u8,
            number: i32,
            result: [i64; 2],
        }
        let target = 7_u8;
        let first = Example {
            address: &raw const target,
            number: -1,
            result: [1, 2],
        };
        let mut args = first;
        // SAFETY: no shim is called.
        let copied = unsafe { Args::new(&mut args) }.copied();
        args.result = [3, 4];
        assert_ne!(args, first);
        let mut again = copied.clone();
        let at = again.args().address().cast::<Example>();
        assert!(at.is_aligned());
        // SAFETY: it has a value of `Example`; `target` lives.
        let (found, value) = unsafe { (*at, *(*at).address) };
        assert_eq!((found, value), (first, 7));
    }
}
