//! The headers that a `.co` file includes, classified by their names.

use crate::source::SourceFile;

/// Whether the file includes a header that may define macros with any name. Standard headers,
/// CUDA's headers and those of the device API define no macro whose name generated text could
/// contain (`ir/cpp_names.rs`).
pub fn may_define_macros(file: &SourceFile) -> bool {
    let lines = file.device.iter().flat_map(|kept| kept.text.lines());
    lines.filter_map(included).any(|name| !is_known(name))
}

/// An `#include` of a header with the name of the generated one, with brackets: quotes would find
/// the generated one first, brackets search the file's folder.
pub fn of_other_folder(line: &str, stem: &str) -> Option<String> {
    let quoted = format!("\"{stem}.h\"");
    let is_alike = included(line).is_some_and(|operand| operand.starts_with(&quoted));
    is_alike.then(|| line.replace(&quoted, &format!("<{stem}.h>")))
}

/// The operand of an `#include`, with its quotes or brackets.
fn included(line: &str) -> Option<&str> {
    let directive = line.trim_start().strip_prefix('#')?.trim_start();
    Some(directive.strip_prefix("include")?.trim())
}

fn is_known(operand: &str) -> bool {
    let name = |open: char, close: char| {
        let rest = operand.strip_prefix(open)?;
        rest.split_once(close).map(|(name, _)| name)
    };
    if let Some(name) = name('<', '>') {
        let is_standard = !name.contains('.') && !name.contains('/');
        return is_standard || KNOWN.contains(&name);
    }
    name('"', '"').is_some_and(|name| KNOWN.contains(&name))
}

/// Headers of C, of CUDA, and of the reference.
#[rustfmt::skip]
const KNOWN: &[&str] = &[
    "assert.h", "choreo.h", "cooperative_groups.h", "cooperative_groups/reduce.h", "croqtile.h", "ctype.h",
    "cuda.h", "cuda_bf16.h", "cuda_fp16.h", "cuda_fp8.h", "cuda_runtime.h", "cuda_runtime_api.h",
    "device_launch_parameters.h", "float.h", "inttypes.h", "limits.h", "math.h", "math_constants.h",
    "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "time.h",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_headers_are_known() {
        for line in [
            "#include <vector>",
            " # include <stdint.h> // x",
            "#include \"choreo.h\"",
        ] {
            assert!(included(line).is_some_and(is_known), "{line}");
        }
        for line in [
            "#include \"mine.h\"",
            "#include <lib/mine.h>",
            "#include NAME",
            "#include <a/b>",
        ] {
            assert!(included(line).is_some_and(|name| !is_known(name)), "{line}");
        }
        assert_eq!(included("#define include"), None);
        let other = of_other_folder("#include \"a.h\" // a", "a");
        assert_eq!(other.as_deref(), Some("#include <a.h> // a"));
        assert_eq!(of_other_folder("#include \"b/a.h\"", "a"), None);
    }
}
