//! What a device tensor is: with memory of its own, or elements of another one.

use std::marker::PhantomData;

use crate::region::Region;

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Owned {}
    impl Sealed for super::Borrowed<'_> {}
    impl Sealed for super::BorrowedMut<'_> {}
}

/// What a [`DeviceTensor`](crate::DeviceTensor) is: [`Owned`], or [`Borrowed`] or [`BorrowedMut`] from one. Kernels
/// accept all of them for a parameter that they only read.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kind of device tensor",
    label = "expected `Owned`, `Borrowed` or `BorrowedMut`"
)]
pub trait DeviceData: sealed::Sealed + Sized {
    /// Whether the elements can be written through it, so that it is the only way to them.
    #[doc(hidden)]
    const IS_MUTABLE: bool;

    /// The places of the elements; `None`: from the start of the memory, without gaps.
    #[doc(hidden)]
    fn region(&self) -> Option<&Region>;

    /// The same with elements at other places, which it borrows too.
    #[doc(hidden)]
    fn at(self, region: Region) -> Self;
}

/// [`DeviceData`] that can be written: [`Owned`] or [`BorrowedMut`].
#[diagnostic::on_unimplemented(
    message = "the elements of this tensor can only be read",
    label = "expected a `DeviceTensor` or a `DeviceViewMut`"
)]
pub trait DeviceDataMut: DeviceData {}

/// A tensor with memory of its own.
#[derive(Debug)]
pub struct Owned(());

/// Elements of another tensor.
#[derive(Clone, Debug)]
pub struct Borrowed<'a> {
    region: Region,
    tensor: PhantomData<&'a ()>,
}

/// Elements of another tensor, which can be written.
#[derive(Debug)]
pub struct BorrowedMut<'a> {
    region: Region,
    tensor: PhantomData<&'a mut ()>,
}

impl Owned {
    pub(crate) fn new() -> Self {
        Self(())
    }
}

impl Borrowed<'_> {
    pub(crate) fn new(region: Region) -> Self {
        Self {
            region,
            tensor: PhantomData,
        }
    }
}

impl BorrowedMut<'_> {
    pub(crate) fn new(region: Region) -> Self {
        Self {
            region,
            tensor: PhantomData,
        }
    }
}

impl DeviceData for Owned {
    const IS_MUTABLE: bool = true;

    fn region(&self) -> Option<&Region> {
        None
    }

    fn at(self, _: Region) -> Self {
        self
    }
}
impl DeviceDataMut for Owned {}

/// The kinds of views.
#[diagnostic::on_unimplemented(
    message = "a tensor with memory of its own has no parts",
    label = "call `.view()` or `.view_mut()` first",
    note = "a part borrows the elements of its tensor: `x.view().slice(…)`, `x.view_mut().slice(…)`"
)]
pub trait View: DeviceData {}

macro_rules! views {
    ($($View:ident $is_mutable:literal),*) => {$(
        impl DeviceData for $View<'_> {
            const IS_MUTABLE: bool = $is_mutable;

            fn region(&self) -> Option<&Region> {
                Some(&self.region)
            }

            fn at(self, region: Region) -> Self {
                Self { region, ..self }
            }
        }
        impl View for $View<'_> {}
    )*};
}

views!(Borrowed false, BorrowedMut true);
impl DeviceDataMut for BorrowedMut<'_> {}
