//! Reads the text of a `.co` file and produces the tokens of its `__co__` functions: islands,
//! macros, conditionals, templates, and the mapping to source locations.
//!
//! The next stage may assume that the tokens of a function are readable (others were reported),
//! that macros are expanded and dead branches removed, and that every span refers to the unexpanded
//! text.

mod braces;
pub mod comments;
mod condition;
mod cursor;
mod device;
mod directive;
mod expansion;
mod file;
mod function;
mod function_text;
mod host;
mod intrinsics;
mod lexer;
mod lost_text;
mod macros;
mod nesting;
mod number;
mod pasting;
mod punctuation;
mod raw;
mod scan;
mod signature;
pub(crate) mod steps;
pub mod templates;
#[cfg(test)]
mod tests;
mod text;
pub mod token;
pub mod tuning;

pub use crate::span::{Span, Spanned};
pub use file::{DeviceText, DeviceTextKind, Note, SourceFile};
pub use function_text::FunctionText;
pub use intrinsics::{Intrinsic, IntrinsicKind, is_qualified};
pub use nesting::{recursion, with_stack_check};
pub use signature::{Signature, TemplateParam};

use std::sync::Arc;

use crate::diagnostics::Diagnostics;

/// Reads one file. `path` is the path in messages; each of `defines` has the effect of a `#define`
/// before line 1, where an empty value means 1.
pub fn load(
    path: &str,
    text: &str,
    defines: &[(String, String)],
    diags: &mut Diagnostics,
) -> SourceFile {
    load_with_instances(path, text, defines, &[], diags)
}

/// The same, with instances of templates that the build script requests: `scaled<f16, 256>`.
/// Requests for templates that the file does not have are ignored.
pub fn load_with_instances(
    path: &str,
    text: &str,
    defines: &[(String, String)],
    instances: &[String],
    diags: &mut Diagnostics,
) -> SourceFile {
    let text = &*text::readable(text, diags);
    let mut table = macros::Macros::default();
    for (name, value) in defines {
        table.define(macros::Macro::new(name, None, value, None), diags);
    }
    let mut scanner = scan::Scanner::new(text, table, diags);
    for (name, value) in defines {
        scanner
            .device
            .push(file::DeviceText::definition(name, value));
    }
    host::file(&mut scanner);
    let of_build = templates::reader::of_build(&mut scanner, instances);
    let templates::instances::Instantiated {
        functions,
        templates,
        instances,
    } = templates::instances::instantiate(
        scanner.templates,
        scanner.functions,
        of_build,
        scanner.diags,
    );
    let mut file = SourceFile {
        path: path.to_string(),
        text: text.to_string(),
        functions: Vec::with_capacity(functions.len()),
        templates,
        instances,
        device_namespace: None,
        device: scanner.device,
        host_functions: scanner.host.functions,
        includes: scanner.host.includes,
        dead_branches: scanner.host.dead_branches,
        hidden_functions: scanner.host.hidden_functions,
        notes: scanner.notes,
        expansions: scanner.expansions,
        line_starts: SourceFile::index_lines(text),
    };
    for function in functions {
        let instance = function.instance.clone();
        let finished = diags.within(instance.as_ref(), |diags| finish(function, text, diags));
        file.functions.extend(finished);
    }
    file
}

/// Resolves `if constexpr` and `static_assert`, and reports the remaining invalid tokens. `None`
/// after an error that makes the rest of the function meaningless.
fn finish(function: FunctionText, text: &str, diags: &mut Diagnostics) -> Option<FunctionText> {
    let resolved = templates::branches::resolve(function.tokens, text, diags)?;
    Some(FunctionText {
        tokens: macros::report_bad(text, resolved.tokens, diags),
        untaken: Arc::new(resolved.untaken),
        ..function
    })
}
