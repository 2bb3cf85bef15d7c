//! Tiles with strides of their own: `view(6, 5 : 2 * n, 2)`.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{CheckCode, Valid, View};
use crate::sema::memory::{bounds, tile_operands};
use crate::sema::state::elab::Elab;
use crate::sema::state::value::Data;
use crate::source::Span;
use crate::symbolic::{Ctx, Sym, Truth};
use crate::syntax::ast;

/// The strides of a tile operator.
pub(crate) enum Strides {
    /// Those of the data, each times a positive number: the positions of the tile are coordinates of
    /// the data, so that a tile that crosses an edge is clipped there. No entry is a 1.
    Multiples(Vec<Sym>),
    /// Others, `None` for an axis that keeps its stride: the tile must lie within its buffer.
    Free(Vec<Option<Sym>>),
}

impl Strides {
    /// How many coordinates of the axis lie between the tile's first position and the end of its
    /// last one.
    pub(crate) fn covered(&self, axis: usize, extent: &Sym) -> Sym {
        match self.multiple(axis) {
            Some(by) => &(&(extent - 1) * by) + 1,
            None => extent.clone(),
        }
    }

    fn multiple(&self, axis: usize) -> Option<&Sym> {
        match self {
            Self::Multiples(all) => all.get(axis).filter(|by| !by.is_one()),
            Self::Free(_) => None,
        }
    }
}

/// The strides that are written behind the colon, if any.
pub(crate) fn lower(
    el: &mut Elab<'_>,
    data: &Data,
    written: &[ast::Expr],
    at: Span,
) -> Option<Strides> {
    if written.is_empty() {
        return Some(Strides::Multiples(Vec::new()));
    }
    let given = tile_operands::lower_operands(el, written)?;
    tile_operands::check_count(el, codes::E0824, "strides", given.len(), data, at)?;
    for (axis, stride) in given.iter().enumerate() {
        if stride.as_ref().is_some_and(Sym::is_zero) {
            el.cx.diags.push(
                Diagnostic::new(codes::N0825, at, format!("the stride of axis {axis} is 0"))
                    .label("every position is the same element"),
            );
        }
    }
    let own = &data.view.strides;
    let multiples = given.iter().zip(own).map(|(stride, own)| match stride {
        Some(stride) => multiple_of(&el.f.cx, stride, own),
        None => Some(Sym::one()),
    });
    let multiples: Option<Vec<_>> = multiples.collect();
    Some(multiples.map_or(Strides::Free(given), Strides::Multiples))
}

fn multiple_of(cx: &Ctx, stride: &Sym, own: &Sym) -> Option<Sym> {
    if cx.eq(stride, own) == Truth::Yes {
        return Some(Sym::one());
    }
    let by = cx.div(stride, own);
    let exact = cx.eq(&(&by * own), stride) == Truth::Yes;
    (exact && cx.le(&Sym::one(), &by) == Truth::Yes).then_some(by)
}

/// Gives the tile these extents and strides. Along each axis it has been cut to the coordinates that
/// it covers.
pub(crate) fn apply(
    el: &mut Elab<'_>,
    data: &mut Data,
    extents: Vec<Sym>,
    strides: Strides,
    at: Span,
) {
    match strides {
        Strides::Multiples(all) => {
            for (axis, (extent, by)) in extents.into_iter().zip(all).enumerate() {
                if !by.is_one() {
                    data.view.frame = None;
                    keep_multiples(&el.f.cx, &mut data.view, axis, extent, &by);
                }
            }
        }
        Strides::Free(given) => {
            data.view.frame = None;
            for (slot, stride) in data.view.strides.iter_mut().zip(given) {
                if let Some(stride) = stride {
                    *slot = stride;
                }
            }
            check_within_buffer(el, data, at);
            data.view.valid.fill(Valid::default());
        }
    }
}

/// Keeps every `by`-th position of an axis.
fn keep_multiples(cx: &Ctx, view: &mut View, axis: usize, extent: Sym, by: &Sym) {
    if let Some(shape) = view.shape.get_mut(axis) {
        *shape = extent;
    }
    if let Some(stride) = view.strides.get_mut(axis) {
        *stride = &*stride * by;
    }
    if let Some(valid) = view.valid.get_mut(axis) {
        let of = |limit: &Sym| cx.cdiv(limit, by);
        *valid = Valid {
            lo: valid.lo.as_ref().map(of),
            hi: valid.hi.as_ref().map(of),
        };
    }
}

fn check_within_buffer(el: &mut Elab<'_>, data: &Data, at: Span) {
    let cx = &el.f.cx;
    let (mut first, mut last) = (data.view.offset.clone(), data.view.offset.clone());
    for (extent, stride) in data.view.shape.iter().zip(&data.view.strides) {
        let reach = &cx.max(&(extent - 1), &Sym::zero()) * stride;
        first = &first + &cx.min(&reach, &Sym::zero());
        last = &last + &cx.max(&reach, &Sym::zero());
    }
    let count = el.f.buffer(data.view.buffer).count.clone();
    let early = el.path.is_certain();
    for (index, which) in [(&first, "first"), (&last, "last")] {
        let bound = bounds::Bound {
            index,
            lo: &Sym::zero(),
            hi: &count,
            span: at,
        };
        let subject = || {
            format!(
                "the {which} element of this strided window of `{}`",
                data.name
            )
        };
        let codes = (codes::E0819, CheckCode::R08);
        if !bounds::check_inside_at(el, early, codes, &bound, &subject) {
            return;
        }
    }
}
