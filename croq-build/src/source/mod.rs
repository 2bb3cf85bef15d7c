//! From the bytes of a `.co` file to the text of its `__co__` functions: islands, macros,
//! conditionals, and the map back to where everything was written.

mod span;

pub use span::{Span, Spanned};
