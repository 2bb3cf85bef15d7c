//! Spans for the crate `tracing`, with the feature of that name, at the level `DEBUG` and with the target
//! `croq`: for a build, for croq's own work on each file, for each run of a compiler, and for bindgen.
//! Compilers run on threads of their own, so their spans have none above them unless the subscriber is the
//! global one.

#[cfg(feature = "tracing")]
mod of_tracing {
    /// A call of `compile`.
    pub fn build(package: &str) -> impl Drop + use<> {
        tracing::debug_span!(target: "croq", "build", package).entered()
    }

    /// Croq's own work on a `.co` file.
    pub fn file(path: &str) -> impl Drop + use<> {
        tracing::debug_span!(target: "croq", "file", path).entered()
    }

    /// A compiler that makes an object for `target`, `sim` or `cuda`.
    pub fn object(path: &str, target: &str) -> impl Drop + use<> {
        tracing::debug_span!(target: "croq", "object", path, target).entered()
    }

    /// bindgen.
    pub fn bindings(name: &str) -> impl Drop + use<> {
        tracing::debug_span!(target: "croq", "bindings", name).entered()
    }
}

#[cfg(not(feature = "tracing"))]
mod of_tracing {
    /// No span.
    pub struct None;

    pub fn build(_: &str) -> None {
        None
    }

    pub fn file(_: &str) -> None {
        None
    }

    pub fn object(_: &str, _: &str) -> None {
        None
    }

    pub fn bindings(_: &str) -> None {
        None
    }
}

pub use of_tracing::{bindings, build, file, object};
