//! Ids: indices into the lists of a [`Function`](super::Function).

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub struct $name(pub u32);
        impl $name {
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

id! {
    /// A parameter of the function, by position.
    ParamId,
    /// A symbolic dimension, in order of first occurrence.
    DimId,
    BufferId,
    /// A scalar variable, on the host or in a kernel.
    LocalId,
    KernelId,
    /// A row of [`Function::checks`](super::Function).
    CheckId,
    /// The name of asynchronous copies.
    FutureId,
    EventId,
    /// An event declared on the host.
    SignalId,
}
