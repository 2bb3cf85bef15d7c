//! `__cpp__`: C++ text.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{CppName, Expr, Role, Scalar, StmtKind};
use crate::sema::asynchronous::futures;
use crate::sema::build;
use crate::sema::levels::registers;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::source::Span;

pub(crate) fn lower_cpp(el: &mut Elab<'_>, text: &str, span: Span) {
    if let Some((more, number)) = crate::sema::levels::registers::in_assembly(text) {
        return registers::set_registers_of_each(el, "setmaxnreg", number, more, span);
    }
    let mut names = Vec::new();
    let mentioned: Vec<(String, Entity)> = el
        .names
        .visible()
        .filter(|b| mentions(text, &b.name))
        .map(|b| (b.name.clone(), b.entity.clone()))
        .collect();
    for (name, entity) in mentioned {
        if crate::ir::cpp_names::is_taken(&name) {
            el.cx.report(
                Diagnostic::new(
                    codes::E0794,
                    span,
                    format!("`{name}` means something else in C++ text"),
                )
                .label(format!("mentions `{name}`"))
                .note(format!("`{name}` is {} of this function", entity.kind()))
                .help(format!(
                    "call it something else, such as `{name}_`, here and in the text"
                )),
            );
        }
        el.names.read(&name, span);
        match entity {
            Entity::Scalar { local, .. } => names.push(CppName::Local(local)),
            Entity::Int { value, .. } => {
                let existing = value
                    .value
                    .as_var()
                    .and_then(|v| match el.f.var_home.get(&v) {
                        Some(crate::ir::VarHome::Local(id)) if el.f.local(*id).name == name => {
                            Some(*id)
                        }
                        _ => None,
                    });
                // A named expression has no storage of its own, so it is bound to a local of its
                // name.
                let local = existing.unwrap_or_else(|| {
                    let local =
                        build::new_local(&mut el.f, &name, Scalar::Index, false, Role::Value, span);
                    let value = Expr::index(value.value.clone(), span);
                    build::emit(
                        el,
                        StmtKind::Let {
                            local,
                            value: Some(value),
                        },
                        span,
                    );
                    local
                });
                names.push(CppName::Local(local));
            }
            Entity::Range(id) => {
                if let Some(v) = el.ranges.values.get(id).and_then(|r| r.value.as_var())
                    && let Some(crate::ir::VarHome::Local(l)) = el.f.var_home.get(&v)
                {
                    names.push(CppName::Local(*l));
                }
            }
            Entity::Buffer { id, .. } | Entity::Word(id) => names.push(CppName::Buffer(id)),
            Entity::View(d) | Entity::Chosen(d) => names.push(CppName::Buffer(d.view.buffer)),
            Entity::Future(id) => {
                if let Some(data) = futures::get(el, id).and_then(|f| f.data.as_ref()) {
                    names.push(CppName::Buffer(data.view.buffer));
                }
            }
            _ => {}
        }
    }
    for name in &names {
        if let CppName::Buffer(id) = name
            && let Some(b) = el.f.buffers.get_mut(id.index())
        {
            b.read = true;
            b.written = true;
        }
    }
    build::emit(
        el,
        StmtKind::Cpp {
            text: text.to_owned(),
            names,
            from_sm_90: false,
        },
        span,
    );
}

/// Whether a C++ text contains a name as a whole word.
fn mentions(text: &str, name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|t| t.chars().next());
        !before.is_some_and(word) && !after.is_some_and(word)
    })
}
