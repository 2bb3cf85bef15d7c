//! Sizes of local memory, which are constants.

use crate::ir::VarHome;
use crate::sema::state::elab::Elab;
use crate::sorted::SortedSet;
use crate::source::templates::{Instance, Parameter};
use crate::symbolic::Sym;
use crate::syntax::ast;

/// How a size that an argument decides becomes a constant: by a template. `otherwise` is the help
/// where the size depends on something else.
pub(crate) fn remedy(el: &Elab<'_>, shape: &[Sym], otherwise: &str) -> String {
    let mut names = SortedSet::new();
    let mut params = SortedSet::new();
    for var in shape.iter().flat_map(Sym::vars) {
        let name = match el.f.var_home.get(&var) {
            Some(VarHome::Param(id)) => {
                let name = el.f.params.get(id.index()).map(|p| p.name.clone());
                params.extend(name.clone());
                name
            }
            Some(VarHome::Dim(id)) => {
                let dim = el.f.dims.get(id.index()).filter(|d| !d.anonymous);
                dim.map(|d| d.name.clone())
            }
            _ => None,
        };
        let Some(name) = name else {
            return otherwise.to_owned();
        };
        names.insert(name);
    }
    if names.is_empty() {
        return otherwise.to_owned();
    }
    let instead: Vec<String> = params.iter().map(|name| format!("`{name}`")).collect();
    let instead = match instead.as_slice() {
        [] => String::new(),
        [one] => format!(" in place of the parameter {one}"),
        several => format!(" in place of the parameters {}", several.join(" and ")),
    };
    match el.cx.file.instance(&el.f.name) {
        Some(instance) if instance.specialised => otherwise.to_owned(),
        Some(instance) => {
            of_template(el, instance, &names, &instead).unwrap_or_else(|| otherwise.to_owned())
        }
        None => of_function(el, &names, &instead),
    }
}

/// An example of a size.
const SIZE: &str = "16";

/// For a function that is no template yet.
fn of_function(el: &Elab<'_>, names: &SortedSet<String>, instead: &str) -> String {
    let header: Vec<String> = names.iter().map(|name| format!("int {name}")).collect();
    let sizes = vec![SIZE; names.len()];
    let result = match &el.results.declared {
        ast::RetType::Void(_) => "void",
        ast::RetType::Auto(_) => "auto",
        ast::RetType::Typed(ty) => el.cx.file.snippet(ty.span),
    };
    let function = &el.f.name;
    format!(
        "let a template give it a constant{instead}: `template <{}>` before `__co__ {result} {function}(…)`, \
         and behind the function `template __co__ {function}<{}>;` for each size",
        header.join(", "),
        sizes.join(", ")
    )
}

/// For an instance of a template, which gets more parameters.
fn of_template(
    el: &Elab<'_>,
    instance: &Instance,
    names: &SortedSet<String>,
    instead: &str,
) -> Option<String> {
    let template = el.cx.file.templates.get(instance.template)?;
    let has_default = |param: &Parameter| param.default.is_some();
    let count = template.params.len();
    // Parameters with defaults are the last ones.
    let at = template
        .params
        .iter()
        .position(has_default)
        .unwrap_or(count);
    let params = template.params.iter().map(|param| declaration(el, param));
    let mut header: Vec<String> = params.collect();
    let mut sizes: Vec<String> = instance.arguments.iter().map(|a| a.to_string()).collect();
    let place = at.min(sizes.len());
    header.splice(at..at, names.iter().map(|name| format!("int {name}")));
    sizes.splice(place..place, names.iter().map(|_| SIZE.to_owned()));
    Some(format!(
        "let the template give it a constant{instead}: `template <{}>`, and `template __co__ {}<{}>;` for each size",
        header.join(", "),
        template.name,
        sizes.join(", ")
    ))
}

fn declaration(el: &Elab<'_>, param: &Parameter) -> String {
    let text = format!("{} {}", param.kind.keyword(), param.name);
    let default = param.default.as_deref().unwrap_or_default();
    match (default.first(), default.last()) {
        (Some(first), Some(last)) => {
            let value = el.cx.file.snippet(first.span.to(last.span));
            format!("{text} = {value}")
        }
        _ => text,
    }
}
