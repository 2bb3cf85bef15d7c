//! Spans for the crate `tracing`, with the feature of that name: for calls of kernels, launches of graphs
//! and copies, at the level `DEBUG` and with the target `croq`. They cover what the program waits for;
//! work that is enqueued ends later.

#[cfg(feature = "tracing")]
mod spans {
    use crate::device::Device;

    /// A call of a kernel: `is_enqueued` if it does not wait.
    pub(crate) fn call(kernel: &str, device: &Device, is_enqueued: bool) -> impl Drop + use<> {
        tracing::debug_span!(target: "croq", "call", kernel, %device, is_enqueued).entered()
    }

    /// A launch of a graph.
    pub(crate) fn graph(device: &Device) -> impl Drop + use<> {
        tracing::debug_span!(target: "croq", "graph", %device).entered()
    }

    /// A copy between the host and a device, `to` or `from` it, or `on` it.
    pub(crate) fn copy(direction: &str, bytes: usize, device: &Device) -> impl Drop + use<> {
        tracing::debug_span!(target: "croq", "copy", direction, bytes, %device).entered()
    }
}

#[cfg(not(feature = "tracing"))]
mod spans {
    use crate::device::Device;

    /// No span.
    pub(crate) struct None;

    pub(crate) fn call(_: &str, _: &Device, _: bool) -> None {
        None
    }

    pub(crate) fn graph(_: &Device) -> None {
        None
    }

    pub(crate) fn copy(_: &str, _: usize, _: &Device) -> None {
        None
    }
}

pub(crate) use spans::{call, copy, graph};
