//! The tensors that a graph holds.

use std::sync::Arc;

use crate::device_data::DeviceData;
use crate::device_tensor::DeviceTensor;
use crate::memory::Memory;
use crate::pinned::PinnedTensor;

mod sealed {
    pub trait Sealed {}
}

/// Memory that a graph may use, because it holds a tensor there.
#[doc(hidden)]
pub struct Held<'a> {
    pub(crate) memory: &'a Arc<Memory>,
    /// There is no other way to the elements as long as the graph holds the tensor.
    pub(crate) is_exclusive: bool,
}

/// What the closure of [`Graph::capture`](crate::Graph::capture) returns, and the graph holds: the
/// tensors that its calls use. They are
///
/// * [`DeviceTensor`]s, [`DeviceView`](crate::DeviceView)s and
///   [`DeviceViewMut`](crate::DeviceViewMut)s;
/// * [`PinnedTensor`]s;
/// * references to these. Behind a `&`, and in an [`Arc`], the graph can only read them;
/// * tuples, arrays, `Vec`s, `Option`s and `Box`es of all this.
#[diagnostic::on_unimplemented(
    message = "a graph cannot hold `{Self}`",
    label = "expected device tensors, references to them, and tuples, arrays and `Vec`s of these",
    note = "a graph holds the tensors that its calls use, so that their memory lives as long as the graph"
)]
pub trait GraphTensors: sealed::Sealed {
    #[doc(hidden)]
    fn visit<'a>(&'a self, is_exclusive: bool, visitor: &mut dyn FnMut(Held<'a>));
}

impl<T, D, S: DeviceData> sealed::Sealed for DeviceTensor<T, D, S> {}
impl<T, D: crate::dims::Dims, S: DeviceData> GraphTensors for DeviceTensor<T, D, S> {
    fn visit<'a>(&'a self, is_exclusive: bool, visitor: &mut dyn FnMut(Held<'a>)) {
        visitor(Held {
            memory: self.memory(),
            is_exclusive: is_exclusive && S::IS_MUTABLE,
        });
    }
}

impl<T, D> sealed::Sealed for PinnedTensor<T, D> {}
impl<T, D: crate::dims::Dims> GraphTensors for PinnedTensor<T, D> {
    fn visit<'a>(&'a self, is_exclusive: bool, visitor: &mut dyn FnMut(Held<'a>)) {
        visitor(Held {
            memory: self.memory(),
            is_exclusive,
        });
    }
}

macro_rules! pointers {
    ($($is_exclusive:literal $Pointer:ty;)*) => {$(
        impl<X: GraphTensors> sealed::Sealed for $Pointer {}
        impl<X: GraphTensors> GraphTensors for $Pointer {
            fn visit<'a>(&'a self, is_exclusive: bool, visitor: &mut dyn FnMut(Held<'a>)) {
                X::visit(self, is_exclusive && $is_exclusive, visitor);
            }
        }
    )*};
}

pointers! {
    false &X;
    true &mut X;
    true Box<X>;
    false Arc<X>;
}

macro_rules! collections {
    ($([$($N:tt)*] $Collection:ty;)*) => {$(
        impl<X: GraphTensors, $($N)*> sealed::Sealed for $Collection {}
        impl<X: GraphTensors, $($N)*> GraphTensors for $Collection {
            fn visit<'a>(&'a self, is_exclusive: bool, visitor: &mut dyn FnMut(Held<'a>)) {
                for tensors in self.iter() {
                    tensors.visit(is_exclusive, visitor);
                }
            }
        }
    )*};
}

collections! {
    [] Vec<X>;
    [] Option<X>;
    [const N: usize] [X; N];
}

macro_rules! tuples {
    ($(($($X:ident $at:tt),*);)*) => {$(
        impl<$($X: GraphTensors),*> sealed::Sealed for ($($X,)*) {}
        impl<$($X: GraphTensors),*> GraphTensors for ($($X,)*) {
            #[allow(unused_variables, reason = "there may be none")]
            fn visit<'a>(&'a self, is_exclusive: bool, visitor: &mut dyn FnMut(Held<'a>)) {
                $(self.$at.visit(is_exclusive, visitor);)*
            }
        }
    )*};
}

tuples! {
    ();
    (A 0);
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
    (A 0, B 1, C 2, D 3, E 4);
    (A 0, B 1, C 2, D 3, E 4, F 5);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11);
}
