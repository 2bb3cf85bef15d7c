//! A function's signature as its `.co` file writes it, for comments and documentation.

use crate::ir::threads::Function;
use crate::ir::{Extent, Param, ParamKind, Passing, Return};

/// On one line, from `__co__` to the closing parenthesis. `source` is the file's text; where the span
/// does not lead to a signature there, one is put together from the parameters.
pub fn signature(function: &Function, source: &str) -> String {
    written(function, source).unwrap_or_else(|| reconstructed(function))
}

fn written(function: &Function, source: &str) -> Option<String> {
    let text = source.get(function.span.start as usize..function.span.end as usize)?;
    let head = text.get(..text.find('{')?)?;
    let plain =
        head.starts_with("__co__") && !head.contains(['#', '"', '`']) && !head.contains("//");
    if !plain || head.contains("/*") {
        return None;
    }
    Some(head.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn reconstructed(function: &Function) -> String {
    let ret = match &function.ret {
        Return::Void => "void".to_owned(),
        Return::Scalar(ty) => ty.to_string(),
        Return::Tensor { elem, shape } => {
            let shape: Vec<_> = shape.iter().map(|e| function.cx.show(e)).collect();
            format!("{elem} [{}]", shape.join(", "))
        }
    };
    let params: Vec<_> = function.params.iter().map(|p| param(function, p)).collect();
    format!("__co__ {ret} {}({})", function.name, params.join(", "))
}

fn param(function: &Function, param: &Param) -> String {
    let (ty, by_reference) = match &param.kind {
        ParamKind::Scalar { ty, .. } => (ty.to_string(), false),
        ParamKind::Stream => ("stream".to_owned(), false),
        ParamKind::Tensor(tensor) => {
            let extents: Vec<_> = tensor.extents.iter().map(|e| extent(function, e)).collect();
            let global = if tensor.passing == Passing::Global {
                "global "
            } else {
                ""
            };
            let ty = format!("{global}{} [{}]", tensor.elem, extents.join(", "));
            (ty, tensor.passing == Passing::InOut)
        }
    };
    match (param.named, by_reference) {
        (true, true) => format!("{ty} & {}", param.name),
        (true, false) => format!("{ty} {}", param.name),
        (false, _) => ty,
    }
}

/// An extent as the `.co` file writes it.
pub fn extent(function: &Function, extent: &Extent) -> String {
    match extent {
        Extent::Static(n) => n.to_string(),
        Extent::Dim { dim, .. } => match function.dims.get(dim.index()) {
            Some(dim) if !dim.anonymous => dim.name.clone(),
            _ => "?".to_owned(),
        },
        Extent::Unbounded => "??".to_owned(),
    }
}

/// The `//` comment that stands right above the function, line by line.
pub fn comment_above(function: &Function, source: &str) -> Vec<String> {
    let before = source
        .get(..function.span.start as usize)
        .unwrap_or_default();
    // What remains of the function's own line.
    let Some((above, indent)) = before.rsplit_once('\n') else {
        return Vec::new();
    };
    if !indent.trim().is_empty() {
        return Vec::new();
    }
    let comments = above.lines().rev().map(str::trim);
    let mut lines: Vec<_> = comments.map_while(|line| line.strip_prefix("//")).collect();
    lines.reverse();
    lines
        .into_iter()
        .map(|line| {
            let text = line.trim_start_matches('/').strip_prefix(' ');
            let text = text.unwrap_or(line);
            text.replace(unfit_for_comments, "\u{fffd}")
        })
        .collect()
}

/// Rust refuses comments with a `\r` or with characters that iteration the direction of what follows.
fn unfit_for_comments(c: char) -> bool {
    c.is_control() && c != '\t' || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
