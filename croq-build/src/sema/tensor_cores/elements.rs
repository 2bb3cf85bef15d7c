//! Elements of fragments inside an `apply`.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{Access, Storage};
use crate::sema::memory::whole;
use crate::sema::state::elab::Elab;
use crate::sema::state::value::Data;
use crate::sema::tensor_cores::{layouts, multiply, operands};
use crate::source::Span;
use crate::symbolic::{Sym, Var};

/// Checks that the elements of data may be accessed: memory, or a fragment inside an `apply`.
pub(crate) fn expect_accessible(el: &mut Elab<'_>, data: Data, span: Span) -> Option<Data> {
    let fragment = el.f.buffer(data.view.buffer).storage == Storage::Fragment;
    if fragment && el.fragments.applied.is_some() && data.array.is_empty() {
        let (id, name) = (data.view.buffer, data.name.clone());
        if operands::fragment_shape(&el.f, id).is_none() {
            multiply::report_without_shape(el, &name, span);
            return None;
        }
        return Some(data);
    }
    whole::expect_whole(el, data, span)
}

/// Checks that an access of a fragment has the indices of the enclosing `apply`: any other element
/// is in another thread's registers.
pub(crate) fn check_own_element(el: &mut Elab<'_>, access: &Access, name: &str) -> Option<()> {
    let id = access.view.buffer;
    if el.f.buffer(id).storage != Storage::Fragment {
        return Some(());
    }
    let (buffer, indices) = match &el.fragments.applied {
        Some(applied) => (applied.buffer, applied.indices.clone()),
        None => return Some(()),
    };
    let found: Vec<Option<Var>> = access.indices.iter().map(Sym::as_var).collect();
    let expected = indices.iter().take(found.len()).map(|var| Some(*var));
    if found.len() > indices.len() || !expected.eq(found.iter().copied()) {
        let vars: Vec<String> = indices
            .iter()
            .take(access.indices.len())
            .map(|var| el.f.cx.name(*var).to_owned())
            .collect();
        el.cx.report(
            Diagnostic::new(
                codes::E0921,
                access.span,
                format!("another element of `{name}` is in another thread's registers"),
            )
            .label("not the element that `apply` is at")
            .help(format!("write `{name}.at({})`", vars.join(", "))),
        );
        return None;
    }
    layouts::relate_layouts(el, buffer, id, access.span);
    Some(())
}
