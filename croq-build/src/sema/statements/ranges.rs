//! `with`, and the ranges of its names and of loops.

use crate::diagnostics::{Diagnostic, codes};
use crate::sema::names::scope;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::sema::state::value::{IntValue, Value};
use crate::sema::values::arith;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast::{self, Binding, Within};

pub(crate) fn lower_with(
    el: &mut Elab<'_>,
    bindings: &[Within],
    pairs: &[(ast::Name, ast::Name)],
    body: &ast::Block,
) {
    scope::reported(el, |el| {
        for within in bindings {
            bind_range(el, within);
        }
        unify(el, pairs);
        el.block(body);
    });
}

fn unify(el: &mut Elab<'_>, pairs: &[(ast::Name, ast::Name)]) {
    for (a, b) in pairs {
        let entity = |el: &Elab<'_>, n: &ast::Name| {
            if el.names.in_innermost(&n.text) {
                el.names.find(&n.text).map(|b| b.entity.clone())
            } else {
                None
            }
        };
        let (Some(Entity::Range(x)), Some(Entity::Range(y))) = (entity(el, a), entity(el, b))
        else {
            el.cx.report(
                Diagnostic::new(
                    codes::E0555,
                    a.span.to(b.span),
                    "`where` joins two ranges of this `with`",
                )
                .label("not two of its ranges"),
            );
            continue;
        };
        let bounds = (
            el.ranges.values.get(x).and_then(|r| r.bound.clone()),
            el.ranges.values.get(y).and_then(|r| r.bound.clone()),
        );
        let equal = matches!(&bounds, (Some(m), Some(n)) if el.f.cx.eq(m, n) == Truth::Yes);
        if !equal {
            el.cx.report(
                Diagnostic::new(
                    codes::E0555,
                    a.span.to(b.span),
                    "`where` joins ranges of equal extent",
                )
                .label("the extents differ"),
            );
            continue;
        }
        if let Some(binding) = el.names.find_mut(&b.text) {
            binding.entity = Entity::Range(x);
        }
    }
}

fn new_range(el: &mut Elab<'_>, name: &str, bound: Sym) -> usize {
    // `_` names nothing in the program.
    let name = if name == "_" { "i" } else { name };
    el.ranges.names.push(name.to_owned());
    el.ranges.values.push(IntValue::bounded(Sym::zero(), bound));
    el.ranges.values.len() - 1
}

/// Declares the names of one `x in bound`, and returns the ranges.
pub(crate) fn bind_range(el: &mut Elab<'_>, within: &Within) -> Vec<usize> {
    if let ast::ExprKind::List(items) = &*within.bound.kind {
        // Unlike a buffer's shape, a range may depend on values that are only known at run time.
        let Some(extents) = run_time_shape(el, items) else {
            return poison_range(el, &within.binding);
        };
        return checked_range(el, within, extents, true);
    }
    let (extents, is_shape) = match el.expression(&within.bound) {
        Value::Shape(s) => (s, true),
        Value::Data(d) => (d.view.shape, true),
        Value::Tuple(t) if t.len() > 1 => (t.into_iter().map(|i| i.value).collect(), true),
        Value::Error => return poison_range(el, &within.binding),
        v => match v {
            Value::Int(_) | Value::Scalar(_) | Value::Tuple(_) => {
                match arith::to_sym(el, v, within.bound.span) {
                    Some(s) => (vec![s], false),
                    None => return poison_range(el, &within.binding),
                }
            }
            other => {
                let kind = other.kind();
                el.cx.report(
                    Diagnostic::new(
                        codes::E0554,
                        within.bound.span,
                        format!("a range is an integer or a shape, this is {kind}"),
                    )
                    .label("not a range"),
                );
                return poison_range(el, &within.binding);
            }
        },
    };
    checked_range(el, within, extents, is_shape)
}

fn run_time_shape(el: &mut Elab<'_>, items: &[ast::Expr]) -> Option<Vec<Sym>> {
    let mut out = Vec::new();
    let mut ok = true;
    for item in items {
        match el.expression(item) {
            Value::Shape(s) => out.extend(s),
            Value::Tuple(t) => out.extend(t.into_iter().map(|i| i.value)),
            v => match arith::to_sym(el, v, item.span) {
                Some(s) => out.push(s),
                None => ok = false,
            },
        }
    }
    ok.then_some(out)
}

fn checked_range(
    el: &mut Elab<'_>,
    within: &Within,
    extents: Vec<Sym>,
    is_shape: bool,
) -> Vec<usize> {
    for (axis, extent) in extents.iter().enumerate() {
        if el.f.cx.le(&Sym::one(), extent) == Truth::No {
            // Another call may have other arguments, and a condition around the loop may be what bounds it:
            // `loops` leaves out what never runs.
            let is_constant = extent.as_int().is_some();
            if !el.calls.open.is_empty() || !is_constant && el.path.is_below_condition() {
                continue;
            }
            let shown = el.f.cx.show(extent);
            el.cx.report(
                Diagnostic::new(
                    codes::E0542,
                    within.bound.span,
                    format!("dimension {axis} of this range is {shown}: the loop never runs"),
                )
                .label("an empty range"),
            );
            return poison_range(el, &within.binding);
        }
    }
    declare_range(el, within, extents, is_shape)
}

fn declare_range(
    el: &mut Elab<'_>,
    within: &Within,
    extents: Vec<Sym>,
    is_shape: bool,
) -> Vec<usize> {
    match &within.binding {
        Binding::None => Vec::new(),
        Binding::One(name) => {
            let ids: Vec<usize> = extents
                .into_iter()
                .map(|e| new_range(el, &name.text, e))
                .collect();
            check_hides(el, name);
            let entity = match ids.as_slice() {
                [one] => Entity::Range(*one),
                _ => Entity::RangeTuple(ids.clone()),
            };
            scope::declare(el, name, entity);
            ids
        }
        Binding::Tuple { whole, parts } => {
            if !is_shape {
                el.cx.report(
                    Diagnostic::new(
                        codes::E0540,
                        within.bound.span,
                        "braces bind the dimensions of a shape, this is an integer",
                    )
                    .label("an integer")
                    .help("write `x in N`, or `{x} in [N]`"),
                );
                return poison_range(el, &within.binding);
            }
            if parts.len() != extents.len() {
                el.cx.report(
                    Diagnostic::new(
                        codes::E0541,
                        within.span,
                        format!("{} names for {} dimensions", parts.len(), extents.len()),
                    )
                    .label("counts differ"),
                );
                return poison_range(el, &within.binding);
            }
            let mut ids = Vec::new();
            for (name, extent) in parts.iter().zip(extents) {
                let id = new_range(el, &name.text, extent);
                check_hides(el, name);
                scope::declare(el, name, Entity::Range(id));
                ids.push(id);
            }
            if let Some(name) = whole {
                scope::declare(el, name, Entity::RangeTuple(ids.clone()));
            }
            ids
        }
    }
}

fn check_hides(el: &mut Elab<'_>, name: &ast::Name) {
    if let Some(b) = el.names.find(&name.text) {
        let outer = b.span;
        el.cx.report(
            Diagnostic::new(
                codes::N0557,
                name.span,
                format!("`{}` hides an outer name", name.text),
            )
            .label("a new name")
            .also(outer, "the outer one"),
        );
    }
}

fn poison_range(el: &mut Elab<'_>, binding: &Binding) -> Vec<usize> {
    let names: Vec<&ast::Name> = match binding {
        Binding::None => Vec::new(),
        Binding::One(n) => vec![n],
        Binding::Tuple { whole, parts } => whole.iter().chain(parts).collect(),
    };
    for name in names.into_iter().filter(|n| !n.is_wildcard()) {
        scope::declare(el, name, Entity::Poison);
    }
    Vec::new()
}
