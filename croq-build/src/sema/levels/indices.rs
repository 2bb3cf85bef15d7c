//! Indices of levels, computed from the linear thread id.

use crate::ir::{BinOp, Expr, ExprKind, Intrinsic, Level, Role, Scalar, StmtKind};
use crate::sema::build;
use crate::sema::names::scope;
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::kernel::ThreadIndex;
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

/// Declares an index variable's local, and returns it as a symbolic integer.
pub(crate) fn new_index_variable(
    el: &mut Elab<'_>,
    name: &str,
    level: Level,
    value: Expr,
    extent: &Sym,
    home: Option<ThreadIndex>,
) -> Sym {
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
    match binding {
        Binding::None => "instance".into(),
        Binding::One(n) => n.text.clone(),
        Binding::Tuple { parts, .. } => parts
            .get(axis)
            .map_or_else(|| "index".into(), |n| n.text.clone()),
    }
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

fn divided(mut e: Expr, index: &ThreadIndex, at: Span) -> Expr {
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

pub(crate) fn enter_level(el: &mut Elab<'_>, level: Level) -> (Level, usize) {
    let locals = el.f.locals.len();
    match el.kernel.as_mut() {
        Some(k) => {
            let saved = (k.level, k.first_inner_local);
            k.level = level;
            k.first_inner_local = k.first_inner_local.min(locals);
            saved
        }
        None => (level, usize::MAX),
    }
}

pub(crate) fn leave_level(el: &mut Elab<'_>, saved: (Level, usize)) {
    if let Some(k) = el.kernel.as_mut() {
        k.level = saved.0;
        // Locals of the level just left are out of scope; later ones are uniform again.
        k.first_inner_local = saved.1;
    }
}
