//! Detects tiles of one tensor that certainly share elements.

use super::{Access, View};
use crate::symbolic::{Ctx, Sym};

/// For each axis of the tensor that a view was cut from: the first position of the view and the
/// number of its positions.
fn boxed(view: &View) -> Option<Vec<(&Sym, Sym)>> {
    let frame = view.frame.as_ref()?;
    let extent = |axis: usize| {
        let along = frame.axes.iter().position(|a| *a == axis);
        along.and_then(|at| view.shape.get(at).cloned())
    };
    let all = frame.origin.iter().enumerate();
    Some(
        all.map(|(axis, origin)| (origin, extent(axis).unwrap_or_else(Sym::one)))
            .collect(),
    )
}

/// Whether both views are of the same tensor, so that coordinates can be compared.
fn is_same_frame(cx: &Ctx, a: &View, b: &View) -> bool {
    let (Some(f), Some(g)) = (&a.frame, &b.frame) else {
        return false;
    };
    f.strides.len() == g.strides.len()
        && f.strides
            .iter()
            .zip(&g.strides)
            .all(|(s, t)| cx.eq(s, t).is_yes())
        && cx.eq(&f.base(&a.offset), &g.base(&b.offset)).is_yes()
}

/// Whether the element is certainly inside the view.
pub fn store_overlaps(cx: &Ctx, source: &View, access: &Access) -> bool {
    let (Some(boxes), Some(frame)) = (boxed(source), &access.view.frame) else {
        return false;
    };
    is_same_frame(cx, source, &access.view)
        && boxes.iter().enumerate().all(|(axis, (origin, extent))| {
            let along = frame.axes.iter().position(|a| *a == axis);
            let index = along.and_then(|at| access.indices.get(at).cloned());
            let own = frame.origin.get(axis).cloned().unwrap_or_default();
            let at = &own + &index.unwrap_or_default();
            cx.le(origin, &at).is_yes() && cx.lt(&at, &(*origin + extent)).is_yes()
        })
}

/// Whether two boxes of one tensor certainly have an element in common.
pub fn overlaps(cx: &Ctx, a: &View, b: &View) -> bool {
    let (Some(first), Some(second)) = (boxed(a), boxed(b)) else {
        return false;
    };
    let begins_in = |at: &Sym, (origin, extent): &(&Sym, Sym)| {
        cx.le(origin, at).is_yes() && cx.lt(at, &(*origin + extent)).is_yes()
    };
    is_same_frame(cx, a, b)
        && first
            .iter()
            .zip(&second)
            .all(|(p, q)| begins_in(p.0, q) || begins_in(q.0, p))
}
