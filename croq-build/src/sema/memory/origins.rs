//! The origin of a number: arguments, parallel and loop variables, or data.

use crate::ir::{Expr, ExprKind, LocalId, Visit, walk_exprs};
use crate::sema::checks::run_time;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::{Entity, IntKind};
use crate::symbolic::{Sym, Var};

/// The origin of a tile number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Constants, dimensions and scalar parameters.
    Arguments,
    /// Parallel or loop variables, and no data.
    Instance,
    Data,
}

pub(crate) fn origin_of(el: &Elab<'_>, number: &Sym) -> Origin {
    let vars = number.vars();
    if vars.iter().any(|v| el.build.from_data.contains(v)) {
        Origin::Data
    } else if run_time::known_at_entry(&el.f, number) {
        Origin::Arguments
    } else {
        Origin::Instance
    }
}

/// Records whether the value of a variable depends on data.
pub(crate) fn note_data(el: &mut Elab<'_>, v: Var, value: &Expr) {
    let mut find = Find {
        el,
        found: false,
        loads: false,
    };
    walk_exprs(value, &mut find);
    let (found, loads) = (find.found, find.loads);
    if found {
        el.build.from_data.insert(v);
    }
    if loads {
        el.build.from_elements.insert(v);
    }
}

/// Records whether the value of an immutable local depends on data.
pub(crate) fn note_local(el: &mut Elab<'_>, local: LocalId, value: &Expr) {
    let mut find = FindData { el, found: false };
    walk_exprs(value, &mut find);
    if find.found {
        el.build.data_locals.insert(local);
    }
}

/// Whether a name that its first assignment declared stands for a value that depends on data.
pub(crate) fn begins_with_data(el: &Elab<'_>, entity: &Entity) -> bool {
    match entity {
        Entity::Scalar {
            local,
            mutable: false,
        } => el.build.data_locals.contains(local),
        Entity::Int {
            value,
            kind: IntKind::Named,
        } => origin_of(el, &value.value) == Origin::Data,
        _ => false,
    }
}

/// Records that a variable is a mutable's value, whatever it was computed from.
pub(crate) fn count_as_data(el: &mut Elab<'_>, v: Var) {
    el.build.from_data.insert(v);
}

/// Whether a number certainly depends on data, and not only on variables that change.
pub(crate) fn is_from_elements(el: &Elab<'_>, number: &Sym) -> bool {
    let vars = number.vars();
    vars.iter().any(|v| el.build.from_elements.contains(v))
}

pub(crate) struct Find<'c, 'a> {
    el: &'c Elab<'a>,
    found: bool,
    /// An element is loaded, or a function called.
    loads: bool,
}

impl Visit for Find<'_, '_> {
    fn expr(&mut self, e: &Expr) {
        self.loads |= matches!(&*e.kind, ExprKind::Load(_) | ExprKind::Call(_));
        self.found |= match &*e.kind {
            ExprKind::Load(_) | ExprKind::Call(_) => true,
            // A local that changes, or the result of a separate statement: an atomic operation, a
            // shuffle.
            ExprKind::Local(id) => match self.el.f.locals.get(id.index()) {
                Some(local) => match local.var {
                    Some(v) => self.el.build.from_data.contains(&v),
                    None => true,
                },
                None => true,
            },
            _ => false,
        };
    }

    fn sym(&mut self, s: &Sym) {
        let vars = s.vars();
        let build = &self.el.build;
        self.found |= vars.iter().any(|v| build.from_data.contains(v));
        self.loads |= vars.iter().any(|v| build.from_elements.contains(v));
    }
}

/// Looks for data without taking the name of a constant for some.
struct FindData<'c, 'a> {
    el: &'c Elab<'a>,
    found: bool,
}

impl Visit for FindData<'_, '_> {
    fn expr(&mut self, e: &Expr) {
        self.found |= match &*e.kind {
            ExprKind::Load(_) | ExprKind::Call(_) => true,
            ExprKind::Local(id) => {
                let build = &self.el.build;
                let local = self.el.f.local(*id);
                local.mutable
                    || build.data_locals.contains(id)
                    || local.var.is_some_and(|v| build.from_data.contains(&v))
            }
            _ => false,
        };
    }

    fn sym(&mut self, s: &Sym) {
        let vars = s.vars();
        self.found |= vars.iter().any(|v| self.el.build.from_data.contains(v));
    }
}
