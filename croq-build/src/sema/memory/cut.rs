//! Tiles cut out of views.

use crate::ir::{self, Valid, View};
use crate::symbolic::{Sym, Truth};

/// Narrows one axis to `extent` elements from `origin`.
pub(crate) fn cut(
    func: &mut ir::Function,
    view: &mut View,
    axis: usize,
    origin: Sym,
    extent: Sym,
    known_inside: bool,
) {
    let cx = &func.cx;
    let (Some(parent), Some(stride)) = (
        view.shape.get(axis).cloned(),
        view.strides.get(axis).cloned(),
    ) else {
        return;
    };
    let old = view.valid.get(axis).cloned().unwrap_or_default();
    let end = &origin + &extent;
    let inside_high = known_inside || cx.le(&end, &parent) == Truth::Yes;
    let inside_low = known_inside || cx.le(&Sym::zero(), &origin) == Truth::Yes;
    let mut hi = (!inside_high).then(|| &parent - &origin);
    let mut lo = (!inside_low).then(|| -&origin);
    if let Some(h) = old.hi
        && cx.le(&end, &h) != Truth::Yes
    {
        let h = &h - &origin;
        hi = Some(match hi {
            Some(other) => cx.min(&other, &h),
            None => h,
        });
    }
    if let Some(l) = old.lo
        && cx.le(&l, &origin) != Truth::Yes
    {
        let l = &l - &origin;
        lo = Some(match lo {
            Some(other) => cx.max(&other, &l),
            None => l,
        });
    }
    view.offset = &view.offset + &(&origin * &stride);
    if let Some(frame) = &mut view.frame
        && let Some(along) = frame.axes.get(axis)
        && let Some(at) = frame.origin.get_mut(*along)
    {
        *at = &*at + &origin;
    }
    if let Some(s) = view.shape.get_mut(axis) {
        *s = extent;
    }
    if let Some(v) = view.valid.get_mut(axis) {
        *v = Valid { lo, hi };
    }
}
