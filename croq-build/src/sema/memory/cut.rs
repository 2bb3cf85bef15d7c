//! Tiles cut out of views.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, CheckCode, Valid, View};
use crate::sema::memory::bounds;
use crate::sema::memory::tile_operands::Arg;
use crate::sema::state::elab::Elab;
use crate::sema::state::value::Data;
use crate::source::Span;
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

pub(crate) fn lower_stride(el: &mut Elab<'_>, data: &mut Data, strides: Vec<Arg>, at: Span) {
    data.view.frame = None;
    for (axis, stride) in strides.into_iter().enumerate() {
        let (Some(stride), Some(slot)) = (stride, data.view.strides.get_mut(axis)) else {
            continue;
        };
        if stride.is_zero() {
            el.cx.diags.push(
                Diagnostic::new(codes::N0825, at, format!("the stride of axis {axis} is 0"))
                    .label("every position is the same element"),
            );
        }
        *slot = stride;
    }
    let last = data
        .view
        .shape
        .iter()
        .zip(&data.view.strides)
        .fold(data.view.offset.clone(), |sum, (e, s)| {
            &sum + &(&(e - 1) * s)
        });
    let count = el.f.buffer(data.view.buffer).count.clone();
    let name = data.name.clone();
    bounds::check_inside(
        el,
        (codes::E0819, CheckCode::R12),
        &bounds::Bound {
            index: &last,
            lo: &Sym::zero(),
            hi: &count,
            span: at,
        },
        &|| format!("the last element of this strided window of `{name}`"),
    );
}
