//! Assignments in an inner scope to an immutable name of an outer one (W11).
//!
//! Such an assignment declares a new name. If the outer name is read while the author probably
//! expects it to have changed, the assignment is an error (E0320): when its right side reads the
//! name, when the outer name is read later in its own scope, or when the next iteration of a loop
//! around the assignment reads it. Elsewhere it is a note (N0321), and a warning (W0321) where the
//! outer name was declared with a type or is a parameter.
//!
//! A name without a type that begins with data, as `best = x.at(0)`, is a scalar of the element's
//! type. Where an assignment would be an error, it is mutable: the function is walked again.
//!
//! The decision needs the reads that follow, so assignments are collected during the walk over the
//! function, each read of a name is compared with those that hide it, and the reports are made at
//! the function's end. "Later" is the order of the walk, which is that of execution except for
//! loops and for the two arms of an `if`, which this module tracks.

use crate::diagnostics::{Diagnostic, codes};
use crate::sema::memory::origins;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::{Entity, Hiding, IntKind, Kind, Outer, Read};
use crate::sema::statements::scalar_declarations;
use crate::syntax::ast;

/// Records `name = value` in an inner scope, where an outer one has an immutable of that name.
pub(crate) fn record(el: &mut Elab<'_>, name: &ast::Name, entity: &Entity, value: &ast::Expr) {
    let Some((scope, at)) = el.names.place(&name.text) else {
        return scalar_declarations::define(el, name, value);
    };
    let began = el.names.walk.tick();
    scalar_declarations::define(el, name, value);
    hide(el, name, entity, (scope, at), (began, true));
}

/// Records that a copy, whose statement began at `began`, binds a name in an inner scope where an outer
/// one has a copy of that name. The copy itself may read the outer one.
pub(crate) fn record_copy(el: &mut Elab<'_>, name: &ast::Name, began: u32) {
    let outer = el.names.find(&name.text).map(|b| b.entity.clone());
    if let Some(entity @ Entity::Future(_)) = outer
        && let Some(place) = el.names.place(&name.text)
    {
        hide(el, name, &entity, place, (began, false));
    }
}

/// Records that a name hides the one at `(scope, at)`. Reads since `began` are those of the statement
/// itself, which count if `own_reads`.
fn hide(
    el: &mut Elab<'_>,
    name: &ast::Name,
    entity: &Entity,
    (scope, at): (usize, usize),
    (began, own_reads): (u32, bool),
) {
    let walk = &el.names.walk;
    let (around, arms) = (walk.loops.clone(), walk.arms.clone());
    let is_data = origins::begins_with_data(el, entity);
    let in_kernel = el.kernel.is_some();
    let index = el.names.hidings.len();
    let binding = el.names.stack.get_mut(scope);
    let Some(binding) = binding.and_then(|s| s.bindings.get_mut(at)) else {
        return;
    };
    let around = around.get(binding.uses.loops).copied();
    let read = match binding.uses.last_read {
        Some((when, span)) if when > began => own_reads.then_some(Read::Itself(span)),
        Some((when, span)) if around.is_some_and(|loop_began| when > loop_began) => {
            Some(Read::NextIteration(span))
        }
        _ => None,
    };
    if read.is_none() {
        binding.uses.hidden_by.push(index);
    }
    let kind = match entity {
        Entity::Int {
            kind: IntKind::Dim, ..
        } => Kind::Dimension,
        Entity::Int {
            kind: IntKind::Param,
            ..
        }
        | Entity::ScalarParam { .. } => Kind::Parameter,
        _ if binding.is_param => Kind::Parameter,
        Entity::Int { .. } | Entity::Scalar { .. } if binding.is_typed => Kind::Typed,
        Entity::Int { .. } | Entity::Scalar { .. } => Kind::Untyped,
        Entity::Future(_) => Kind::Copy,
        _ => Kind::NoScalar,
    };
    let outer = Outer {
        span: binding.span,
        kind,
        is_buffer: matches!(entity, Entity::Buffer { .. } | Entity::View(_)),
        of_the_host: in_kernel && binding.uses.on_host,
        is_data,
    };
    el.names.hidings.push(Hiding {
        name: name.clone(),
        outer,
        around,
        arms,
        read,
    });
}

/// Reports every assignment that hides a name, at the function's end.
pub(crate) fn report_hidings(el: &mut Elab<'_>) {
    for hiding in std::mem::take(&mut el.names.hidings) {
        let d = match hiding.read {
            Some(_) if hiding.outer.may_change() && !el.earlier.last => {
                el.earlier
                    .note_reassigned(&hiding.name.text, hiding.outer.span);
                continue;
            }
            Some(read) => lost_assignment(&hiding, read),
            None => hidden(&hiding),
        };
        el.cx.report(d);
    }
}

/// Takes a name for mutable that is updated, or assigned again in its own scope, if it begins with data
/// and has no type. Whether it does.
pub(crate) fn makes_mutable(el: &mut Elab<'_>, name: &str, entity: &Entity) -> bool {
    let is_data = origins::begins_with_data(el, entity);
    let in_kernel = el.kernel.is_some();
    let Some(binding) = el.names.find(name) else {
        return false;
    };
    let fixed = binding.is_param || binding.is_typed || in_kernel && binding.uses.on_host;
    if fixed || !is_data || el.earlier.last {
        return false;
    }
    let declared = binding.span;
    el.earlier.note_reassigned(name, declared);
    true
}

fn lost_assignment(hiding: &Hiding, read: Read) -> Diagnostic {
    let text = &hiding.name.text;
    let (at, what) = match read {
        Read::Itself(at) => (at, "the right side reads the outer one"),
        Read::NextIteration(at) => (at, "the next iteration reads the outer one here"),
        Read::Later(at) => (at, "the outer one, unchanged, is read here"),
    };
    let help = match hiding.outer.kind {
        _ if hiding.outer.is_buffer => element_of(text),
        _ if hiding.outer.of_the_host => format!(
            "a kernel can't change `{text}` of the host: give the new one another name, \
             or return the value through a buffer"
        ),
        Kind::Parameter | Kind::Dimension => {
            format!("give it another name, and `mutable` if it changes: `mutable s = {text};`")
        }
        Kind::Untyped => {
            format!(
                "to change the outer one, declare it `mutable {text} = …`; else give this one another name"
            )
        }
        Kind::Typed => {
            "to change the outer one, write `mutable` before its type; otherwise give this variable another name".to_string()
        }
        Kind::Copy => format!(
            "to replace the data of the outer one, copy into it: `dma.copy … => {text}.data;`, or, with `.async`, \
             into a second one that is exchanged with it: `swap({text}, next);`; else give this one another name"
        ),
        Kind::NoScalar => "give this one another name".to_owned(),
    };
    let what_it_is = match hiding.outer.kind {
        Kind::Copy => "is bound to a copy already: this copy would bind",
        _ => "is immutable: this assignment would declare",
    };
    Diagnostic::new(
        codes::E0320,
        hiding.name.span,
        format!("`{text}` {what_it_is} another `{text}`, for this block only"),
    )
    .label("does not change the outer one")
    .also(hiding.outer.span, "the outer one")
    .also(at, what)
    .help(help)
}

fn element_of(text: &str) -> String {
    format!(
        "to write an element of the buffer: `{text}.at(…) = …`; otherwise give this one another name"
    )
}

fn hidden(hiding: &Hiding) -> Diagnostic {
    let text = &hiding.name.text;
    let (code, outer) = match hiding.outer.kind {
        Kind::Parameter => (
            codes::W0321,
            "the outer one, a parameter, which keeps its value",
        ),
        Kind::Dimension => (
            codes::W0321,
            "the outer one, a dimension of a parameter, which keeps its value",
        ),
        Kind::Typed => (codes::W0321, "the outer one, which keeps its value"),
        Kind::Untyped | Kind::Copy | Kind::NoScalar => {
            (codes::N0321, "the outer one, which keeps its value")
        }
    };
    Diagnostic::new(
        code,
        hiding.name.span,
        format!("this declares a new `{text}` that hides the outer one"),
    )
    .label("a new name, for this block only")
    .also(hiding.outer.span, outer)
    .help(match hiding.outer.is_buffer {
        true => element_of(text),
        false => "give it another name".to_owned(),
    })
}
