//! Indices of levels, computed from the linear thread id.

use crate::ir::{BinOp, Expr, ExprKind, Intrinsic, Level, Role, Scalar, StmtKind};
use crate::sema::build;
use crate::sema::names::scope;
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::kernel::{ThreadIndex, Unit};
use crate::sema::state::scopes::{Entity, IntKind};
use crate::sema::state::value::IntValue;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::Binding;

/// The indices of a level as digits of the linear thread id, in units of `unit` threads. `open`:
/// the level covers all threads, so the slowest index is a quotient without a modulus.
pub(crate) fn digits(cx: &Cx<'_>, extents: &[Sym], unit: Sym, open: bool) -> Vec<ThreadIndex> {
    let mut step = unit;
    let slowest = extents.len().saturating_sub(1);
    let mut digit = |(at, extent): (usize, &Sym)| {
        let modulus = (!open || at != slowest).then(|| extent.clone());
        let divisor = step.clone();
        step = &step * extent;
        ThreadIndex { divisor, modulus }
    };
    if cx.options.last_is_fastest {
        let mut digits: Vec<ThreadIndex> =
            extents.iter().rev().enumerate().map(&mut digit).collect();
        digits.reverse();
        return digits;
    }
    extents.iter().enumerate().map(&mut digit).collect()
}

/// The parts of a level that are folded into one number, the first least significant.
pub(crate) fn folded(extents: &[Sym]) -> Vec<ThreadIndex> {
    let mut step = Sym::one();
    let slowest = extents.len().saturating_sub(1);
    let parts = extents.iter().enumerate().map(|(at, extent)| {
        let divisor = step.clone();
        step = &step * extent;
        let modulus = (at != slowest).then(|| extent.clone());
        ThreadIndex { divisor, modulus }
    });
    parts.collect()
}

/// Declares an index variable's local, and returns it as a symbolic integer. Below the block one
/// with a single value is that constant: it doesn't differ between threads.
pub(crate) fn new_index_variable(
    el: &mut Elab<'_>,
    name: &str,
    level: Level,
    value: Expr,
    extent: &Sym,
    home: Option<ThreadIndex>,
) -> Sym {
    if level > Level::Block && extent.is_one() {
        return Sym::zero();
    }
    let at = value.span;
    let local = build::new_local(
        &mut el.f,
        name,
        Scalar::Index,
        false,
        Role::Parallel(level),
        at,
    );
    let var = build::local_var(&mut el.f, local, Some(Sym::zero()), Some(extent - 1));
    if let (Some(home), Some(k)) = (home, el.kernel.as_mut()) {
        k.threads.indices.insert(var, home);
    }
    build::emit(
        el,
        StmtKind::Let {
            local,
            value: Some(value),
        },
        at,
    );
    Sym::var(var)
}

pub(crate) fn bind_indices(
    el: &mut Elab<'_>,
    binding: &Binding,
    values: Vec<Sym>,
    extents: &[Sym],
) {
    let ints: Vec<IntValue> = values
        .into_iter()
        .zip(extents)
        .map(|(v, e)| IntValue::bounded(v, e.clone()))
        .collect();
    let kind = IntKind::Parallel;
    match binding {
        Binding::None => {}
        Binding::One(name) => {
            if let Some(value) = ints.into_iter().next() {
                scope::declare(el, name, Entity::Int { value, kind });
            }
        }
        Binding::Tuple { whole, parts } => {
            for (name, value) in parts.iter().zip(&ints) {
                scope::declare(
                    el,
                    name,
                    Entity::Int {
                        value: value.clone(),
                        kind,
                    },
                );
            }
            if let Some(name) = whole {
                scope::declare(el, name, Entity::Tuple { values: ints, kind });
            }
        }
    }
}

pub(crate) fn part_name(binding: &Binding, axis: usize) -> String {
    let name = match binding {
        Binding::None => None,
        Binding::One(n) => Some(n),
        Binding::Tuple { parts, .. } => parts.get(axis),
    };
    let name = name.filter(|n| !n.is_wildcard());
    name.map_or_else(|| "instance".into(), |n| n.text.clone())
}

pub(crate) fn block_index(axis: usize, at: Span) -> Expr {
    let axis = u8::try_from(axis).unwrap_or(0);
    Expr::intrinsic(Intrinsic::Block(axis), at)
}

pub(crate) fn index_op(op: BinOp, a: Expr, b: Sym, at: Span) -> Expr {
    Expr::new(
        ExprKind::Binary(op, a, Expr::index(b, at)),
        Scalar::Index,
        at,
    )
}

pub(crate) fn divided(mut e: Expr, index: &ThreadIndex, at: Span) -> Expr {
    if !index.divisor.is_one() {
        e = index_op(BinOp::Div, e, index.divisor.clone(), at);
    }
    if let Some(m) = &index.modulus {
        e = index_op(BinOp::Rem, e, m.clone(), at);
    }
    e
}

pub(crate) fn thread_expr(index: &ThreadIndex, at: Span) -> Expr {
    divided(Expr::intrinsic(Intrinsic::Thread, at), index, at)
}

pub(crate) fn split_expr(linear: &Sym, index: &ThreadIndex, at: Span) -> Expr {
    divided(Expr::index(linear.clone(), at), index, at)
}

/// What `enter_level` replaces.
pub(crate) struct Outside {
    level: Level,
    unit: Unit,
    first_inner_local: usize,
}

/// Enters a level, whose collective statements `unit` executes.
pub(crate) fn enter_level(el: &mut Elab<'_>, level: Level, unit: Unit) -> Option<Outside> {
    let locals = el.f.locals.len();
    let k = el.kernel.as_mut()?;
    let outside = Outside {
        level: k.level,
        unit: k.unit,
        first_inner_local: k.first_inner_local,
    };
    k.level = level;
    k.unit = unit;
    k.first_inner_local = k.first_inner_local.min(locals);
    Some(outside)
}

pub(crate) fn leave_level(el: &mut Elab<'_>, outside: Option<Outside>) {
    if let (Some(k), Some(outside)) = (el.kernel.as_mut(), outside) {
        k.level = outside.level;
        k.unit = outside.unit;
        // Locals of the level just left are out of scope; later ones are uniform again.
        k.first_inner_local = outside.first_inner_local;
    }
}
