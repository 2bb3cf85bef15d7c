//! A function's signature as in its `.co` file, for comments and documentation.

use super::declared::Declared;
use crate::ir::threads::Function;
use crate::ir::{Extent, Param, ParamKind, Passing, ResultType};
use crate::source::Span;
use crate::source::templates::Template;

/// The signature on one line, from `__co__` to the closing parenthesis. If there is no signature in
/// the file at the span, and for an instance of a template, it is constructed from the parameters.
pub fn signature(function: &Function, declared: &Declared<'_>) -> String {
    let written = match declared.instance(function) {
        Some(_) => None,
        None => written(function.span, declared.text),
    };
    written.unwrap_or_else(|| reconstructed(function, &declared.name(function)))
}

/// The signature of a template, from `template` to the closing parenthesis, if it is plain text.
pub fn of_template(template: &Template, source: &str) -> Option<String> {
    let text = source.get(template.span.start as usize..template.function.span.start as usize)?;
    let header = on_one_line(text)?;
    Some(format!(
        "{header}\n{}",
        written(template.function.span, source)?
    ))
}

fn written(span: Span, source: &str) -> Option<String> {
    let text = source.get(span.start as usize..span.end as usize)?;
    let head = text.get(..text.find('{')?)?;
    on_one_line(head).filter(|head| head.starts_with("__co__"))
}

fn on_one_line(text: &str) -> Option<String> {
    if text.contains(['#', '"', '`']) || text.contains("//") || text.contains("/*") {
        return None;
    }
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn reconstructed(function: &Function, name: &str) -> String {
    let ret = match function.results.as_slice() {
        [] => "void".to_owned(),
        [ResultType::Scalar(ty) | ResultType::Element(ty)] => ty.to_string(),
        [ResultType::Tensor { elem, shape }] => {
            let shape: Vec<_> = shape.iter().map(|e| function.cx.show(e)).collect();
            format!("{elem} [{}]", shape.join(", "))
        }
        _ => "auto".to_owned(),
    };
    let params: Vec<_> = function.params.iter().map(|p| param(function, p)).collect();
    format!("__co__ {ret} {name}({})", params.join(", "))
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

/// An extent as in the `.co` file.
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
