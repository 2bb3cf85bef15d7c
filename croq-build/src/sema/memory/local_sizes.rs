//! Sizes of local memory, which are constants.

use std::collections::BTreeSet;

use crate::ir::VarHome;
use crate::sema::state::elab::Elab;
use crate::symbolic::Sym;
use crate::syntax::ast;

/// How a size that an argument decides becomes a constant: by a template. `otherwise` is the help
/// where the size depends on something else.
pub(crate) fn remedy(el: &Elab<'_>, shape: &[Sym], otherwise: &str) -> String {
    let mut names = BTreeSet::new();
    for var in shape.iter().flat_map(Sym::vars) {
        let name = match el.f.var_home.get(&var) {
            Some(VarHome::Param(id)) => el.f.params.get(id.index()).map(|p| p.name.clone()),
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
    let header: Vec<String> = names.iter().map(|name| format!("int {name}")).collect();
    let sizes: Vec<&str> = names.iter().map(|_| "16").collect();
    let result = match &el.results.declared {
        ast::RetType::Void(_) => "void",
        ast::RetType::Auto(_) => "auto",
        ast::RetType::Typed(ty) => el.cx.file.snippet(ty.span),
    };
    let function = el.cx.file.declared_name_of(&el.f.name);
    format!(
        "let a template give it a constant: `template <{}>` before `__co__ {result} {function}(…)`, \
         and behind the function `template __co__ {function}<{}>;` for each size",
        header.join(", "),
        sizes.join(", ")
    )
}
