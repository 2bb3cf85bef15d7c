//! Reads the bytes of a `.co` file and produces the tokens of its `__co__` functions: islands,
//! macros, conditionals, and the mapping to source locations.
//!
//! The next stage may assume that the tokens of a function are readable (others were reported),
//! that macros are expanded and dead branches removed, and that every span refers to the unexpanded
//! text.

mod braces;
mod condition;
mod cursor;
mod device;
mod directive;
mod file;
mod function;
mod host;
mod intrinsics;
mod lexer;
mod macros;
mod nesting;
mod number;
mod punctuation;
mod raw;
mod scan;
mod signature;
pub(crate) mod steps;
#[cfg(test)]
mod tests;
mod text;
pub mod token;

pub use crate::span::{Span, Spanned};
pub use file::{DeviceText, DeviceTextKind, FunctionText, Note, SourceFile};
pub use intrinsics::{Intrinsic, IntrinsicKind};
pub use nesting::{recursion, with_look_at_stack};
pub use signature::{Signature, TemplateParam};

use crate::diagnostics::Diagnostics;

/// Reads one file. `path` is the path in messages; each of `defines` has the effect of a `#define`
/// before line 1, where an empty value means 1.
pub fn load(
    path: &str,
    text: &str,
    defines: &[(String, String)],
    diags: &mut Diagnostics,
) -> SourceFile {
    let text = &*text::readable(text, diags);
    let mut table = macros::Macros::default();
    for (name, value) in defines {
        table.define(macros::Macro::new(name, None, value, None), diags);
    }
    let mut scanner = scan::Scanner::new(text, table, diags);
    host::file(&mut scanner);
    SourceFile {
        path: path.to_string(),
        text: text.to_string(),
        functions: scanner.functions,
        device: scanner.device,
        host_functions: scanner.host_functions,
        notes: scanner.notes,
        expansions: scanner.expansions,
        line_starts: SourceFile::index_lines(text),
    }
}
