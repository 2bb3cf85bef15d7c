//! `with`, and the ranges that its names and those of loops stand for.

use crate::diagnostics::Diagnostic;
use crate::sema::Checker;
use crate::sema::names::scope::Entity;
use crate::sema::values::value::{IntValue, Value};
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast::{self, Binding, Within};

impl Checker<'_> {
    pub(crate) fn with(
        &mut self,
        bindings: &[Within],
        pairs: &[(ast::Name, ast::Name)],
        body: &ast::Block,
    ) {
        self.scopes.push();
        for within in bindings {
            self.bind_range(within);
        }
        self.unify(pairs);
        self.block(body);
        let ended = self.scopes.pop();
        self.report_unused(ended);
    }

    pub(crate) fn unify(&mut self, pairs: &[(ast::Name, ast::Name)]) {
        for (a, b) in pairs {
            let entity = |s: &Self, n: &ast::Name| {
                if s.scopes.in_innermost(&n.text) {
                    s.scopes.find(&n.text).map(|b| b.entity.clone())
                } else {
                    None
                }
            };
            let (Some(Entity::Range(x)), Some(Entity::Range(y))) =
                (entity(self, a), entity(self, b))
            else {
                self.report(
                    Diagnostic::new(
                        "E0555",
                        a.span.to(b.span),
                        "`where` joins two ranges of this `with`",
                    )
                    .label("not two of its ranges"),
                );
                continue;
            };
            let bounds = (
                self.ranges.get(x).and_then(|r| r.bound.clone()),
                self.ranges.get(y).and_then(|r| r.bound.clone()),
            );
            let equal = matches!(&bounds, (Some(m), Some(n)) if self.f.cx.eq(m, n) == Truth::Yes);
            if !equal {
                self.report(
                    Diagnostic::new(
                        "E0555",
                        a.span.to(b.span),
                        "`where` joins ranges of equal extent",
                    )
                    .label("the extents differ"),
                );
                continue;
            }
            if let Some(binding) = self.scopes.find_mut(&b.text) {
                binding.entity = Entity::Range(x);
            }
        }
    }

    pub(crate) fn new_range(&mut self, name: &str, bound: Sym) -> usize {
        self.range_names.push(name.to_owned());
        self.ranges.push(IntValue::bounded(Sym::zero(), bound));
        self.ranges.len() - 1
    }

    /// Declares the names of one `x in bound`, and returns the ranges.
    pub(crate) fn bind_range(&mut self, within: &Within) -> Vec<usize> {
        if let ast::ExprKind::List(items) = &*within.bound.kind {
            // Unlike a buffer's shape, a range may be known only while the kernel runs.
            let Some(extents) = self.run_time_shape(items) else {
                return self.poison_range(&within.binding);
            };
            return self.checked_range(within, extents, true);
        }
        let (extents, is_shape) = match self.expr(&within.bound) {
            Value::Shape(s) => (s, true),
            Value::Data(d) => (d.view.shape, true),
            Value::Tuple(t) if t.len() > 1 => (t.into_iter().map(|i| i.value).collect(), true),
            Value::Error => return self.poison_range(&within.binding),
            v => match v {
                Value::Int(_) | Value::Scalar(_) | Value::Tuple(_) => {
                    match self.to_sym(v, within.bound.span) {
                        Some(s) => (vec![s], false),
                        None => return self.poison_range(&within.binding),
                    }
                }
                other => {
                    let kind = other.kind();
                    self.report(
                        Diagnostic::new(
                            "E0554",
                            within.bound.span,
                            format!("a range is an integer or a shape, this is {kind}"),
                        )
                        .label("not a range"),
                    );
                    return self.poison_range(&within.binding);
                }
            },
        };
        self.checked_range(within, extents, is_shape)
    }

    pub(crate) fn run_time_shape(&mut self, items: &[ast::Expr]) -> Option<Vec<Sym>> {
        let mut out = Vec::new();
        let mut ok = true;
        for item in items {
            match self.expr(item) {
                Value::Shape(s) => out.extend(s),
                Value::Tuple(t) => out.extend(t.into_iter().map(|i| i.value)),
                v => match self.to_sym(v, item.span) {
                    Some(s) => out.push(s),
                    None => ok = false,
                },
            }
        }
        ok.then_some(out)
    }

    pub(crate) fn checked_range(
        &mut self,
        within: &Within,
        extents: Vec<Sym>,
        is_shape: bool,
    ) -> Vec<usize> {
        for (axis, extent) in extents.iter().enumerate() {
            if self.f.cx.le(&Sym::one(), extent) == Truth::No {
                let shown = self.show(extent);
                self.report(
                    Diagnostic::new(
                        "E0542",
                        within.bound.span,
                        format!("dimension {axis} of this range is {shown}: the loop never runs"),
                    )
                    .label("an empty range"),
                );
                return self.poison_range(&within.binding);
            }
        }
        self.declare_range(within, extents, is_shape)
    }

    pub(crate) fn declare_range(
        &mut self,
        within: &Within,
        extents: Vec<Sym>,
        is_shape: bool,
    ) -> Vec<usize> {
        match &within.binding {
            Binding::None => Vec::new(),
            Binding::One(name) => {
                let ids: Vec<usize> = extents
                    .into_iter()
                    .map(|e| self.new_range(&name.text, e))
                    .collect();
                self.hides(name);
                let entity = match ids.as_slice() {
                    [one] => Entity::Range(*one),
                    _ => Entity::RangeTuple(ids.clone()),
                };
                self.declare(name, entity);
                ids
            }
            Binding::Tuple { whole, parts } => {
                if !is_shape {
                    self.report(
                        Diagnostic::new(
                            "E0540",
                            within.bound.span,
                            "braces bind the dimensions of a shape, this is an integer",
                        )
                        .label("an integer")
                        .help("write `x in N`, or `{x} in [N]`"),
                    );
                    return self.poison_range(&within.binding);
                }
                if parts.len() != extents.len() {
                    self.report(
                        Diagnostic::new(
                            "E0541",
                            within.span,
                            format!("{} names for {} dimensions", parts.len(), extents.len()),
                        )
                        .label("counts differ"),
                    );
                    return self.poison_range(&within.binding);
                }
                let mut ids = Vec::new();
                for (name, extent) in parts.iter().zip(extents) {
                    let id = self.new_range(&name.text, extent);
                    self.hides(name);
                    self.declare(name, Entity::Range(id));
                    ids.push(id);
                }
                if let Some(name) = whole {
                    self.declare(name, Entity::RangeTuple(ids.clone()));
                }
                ids
            }
        }
    }

    pub(crate) fn hides(&mut self, name: &ast::Name) {
        if let Some(b) = self.scopes.find(&name.text) {
            let outer = b.span;
            self.report(
                Diagnostic::new(
                    "N0557",
                    name.span,
                    format!("`{}` hides an outer name", name.text),
                )
                .label("a new name")
                .also(outer, "the outer one"),
            );
        }
    }

    pub(crate) fn poison_range(&mut self, binding: &Binding) -> Vec<usize> {
        let names: Vec<&ast::Name> = match binding {
            Binding::None => Vec::new(),
            Binding::One(n) => vec![n],
            Binding::Tuple { whole, parts } => whole.iter().chain(parts).collect(),
        };
        for name in names {
            self.declare(name, Entity::Poison);
        }
        Vec::new()
    }
}
