//! Tiles that may cross an edge, in another shape: which positions of the new shape are inside.
//!
//! Accesses are checked by the axes of the shape that they use, so an axis that is dropped or merged
//! must leave its limits to another one, or be checked here.

use crate::ir::{BinOp, CheckCode, Expr, Valid, View};
use crate::sema::checks::run_time;
use crate::sema::state::elab::Elab;
use crate::source::Span;
use crate::symbolic::{Ctx, Sym, Truth};

/// Gives the first of the axes that are kept the limits of those that are dropped, which have one
/// position.
pub(crate) fn fold_dropped(cx: &Ctx, view: &mut View, kept: &dyn Fn(usize) -> bool) {
    let Some(first) = (0..view.rank()).find(|axis| kept(*axis)) else {
        return;
    };
    let (Some(extent), Some(own)) = (view.shape.get(first), view.valid.get(first)) else {
        return;
    };
    let dropped = view
        .valid
        .iter()
        .enumerate()
        .filter(|(axis, _)| !kept(*axis));
    let folded = dropped.fold(own.clone(), |own, (_, one)| {
        with_single(cx, &own, extent, one)
    });
    if let Some(slot) = view.valid.get_mut(first) {
        *slot = folded;
    }
}

/// The limits of an axis of this extent that also stands for an axis of one position, whose limits
/// are `one`: all positions are inside, or none is.
fn with_single(cx: &Ctx, own: &Valid, extent: &Sym, one: &Valid) -> Valid {
    within(cx, own, scaled(one, extent))
}

fn scaled(limits: &Valid, by: &Sym) -> Valid {
    let times = |limit: &Option<Sym>| limit.as_ref().map(|limit| limit * by);
    Valid {
        lo: times(&limits.lo),
        hi: times(&limits.hi),
    }
}

fn within(cx: &Ctx, own: &Valid, other: Valid) -> Valid {
    let tighter = |a: &Option<Sym>, b: Option<Sym>, of: &dyn Fn(&Sym, &Sym) -> Sym| match (a, b) {
        (Some(a), Some(b)) => Some(of(a, &b)),
        (a, b) => a.clone().or(b),
    };
    Valid {
        lo: tighter(&own.lo, other.lo, &|a, b| cx.max(a, b)),
        hi: tighter(&own.hi, other.hi, &|a, b| cx.min(a, b)),
    }
}

/// The limits of a tile in row-major order that gets `shape`. What they cannot express is checked: a
/// tile that crosses an edge there is an error when it is used.
pub(crate) fn limits(
    el: &mut Elab<'_>,
    tile: &View,
    shape: &[Sym],
    name: &str,
    at: Span,
) -> Vec<Valid> {
    let mut all = vec![Valid::default(); shape.len()];
    // Outside of it are only axes of one position.
    let mut outermost = true;
    for (axis, (extent, valid)) in tile.shape.iter().zip(&tile.valid).enumerate() {
        let single = extent.is_one();
        let crosses = valid.lo.is_some() || valid.hi.is_some();
        let inner = tile.shape.iter().skip(axis + 1);
        if let (true, Some(first), Some(own)) = (crosses, shape.first(), all.first_mut()) {
            if single {
                *own = with_single(&el.f.cx, own, first, valid);
            } else if outermost && shape.len() == 1 {
                let step = inner.product::<Sym>();
                *own = within(&el.f.cx, own, scaled(valid, &step));
            } else {
                check_inside(el, (axis, extent), valid, name, at);
            }
        }
        outermost &= single;
    }
    all
}

fn check_inside(
    el: &mut Elab<'_>,
    (axis, extent): (usize, &Sym),
    valid: &Valid,
    name: &str,
    at: Span,
) {
    let ends = [
        valid.lo.as_ref().map(|lo| (lo.clone(), Sym::zero())),
        valid.hi.as_ref().map(|hi| (extent.clone(), hi.clone())),
    ];
    for (least, most) in ends.into_iter().flatten() {
        if el.f.cx.le(&least, &most) == Truth::Yes {
            continue;
        }
        let message = format!(
            "`span_as` of `{name}`: the tile reaches beyond the data on axis {axis} ({{0}} > {{1}})"
        );
        let cond = run_time::compare(BinOp::Le, &least, &most, at);
        check(el, cond, (message, [&least, &most]), &[&least, &most], at);
    }
}

/// Checks what a `span_as` needs; the message shows the values. A tile that is never used may be
/// anywhere, so the check is made before the launch only if the statement is executed in every launch.
pub(crate) fn check(
    el: &mut Elab<'_>,
    cond: Expr,
    (message, values): (String, [&Sym; 2]),
    inputs: &[&Sym],
    at: Span,
) {
    let early = el.path.is_certain();
    let check = run_time::Check::new(CheckCode::R08, message, at);
    run_time::emit_check_at(el, early, check, cond, &values.map(Clone::clone), inputs);
}
