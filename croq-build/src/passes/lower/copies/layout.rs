//! The layout of a copy's sides, where they are swizzled.
//!
//! Rows that are one group wide follow each other as in any other layout. Wider ones are divided: a
//! tile that begins at the start of a group is walked group by group, one inside a single group is
//! independent of the others, and any other tile needs the place of each of its vectors.

use super::side::{Groups, Side};
use crate::ir::{Buffer, Function, View};
use crate::symbolic::{Ctx, Sym};

#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// The number of elements after which the pattern of a swizzle repeats.
    pub(super) period: Option<i64>,
    /// Strides and offsets count row by row, and each place is computed from them.
    pub(super) scattered: bool,
}

impl Layout {
    /// Changes a view and its sides, each with its axis' extent, to a walk by groups where
    /// possible.
    pub(super) fn of(
        function: &Function,
        view: &mut View,
        mut sides: Vec<(Sym, &mut Side)>,
    ) -> Layout {
        let Some(buffer) = function.buffers.get(view.buffer.index()) else {
            return Layout::default();
        };
        let Some(swizzle) = &buffer.swizzle else {
            return Layout::default();
        };
        let mut layout = Layout {
            period: Some(swizzle.period(buffer.elem)),
            scattered: false,
        };
        if buffer.grouped().is_none() {
            return layout;
        }
        let cx = &function.cx;
        let along: Vec<(&Sym, &Sym)> = sides.iter().map(|(e, s)| (e, &s.stride)).collect();
        match paces(cx, buffer, &view.offset, &along) {
            Some(paces) => {
                view.offset = buffer.by_groups(cx, &view.offset);
                for ((_, side), (stride, groups)) in sides.iter_mut().zip(paces) {
                    side.stride = stride;
                    side.groups = groups;
                }
            }
            None => {
                layout.period = None;
                layout.scattered = true;
            }
        }
        layout
    }
}

/// The strides by groups of axes with these extents and strides row by row, from `offset` on.
/// `None` if an access may cross from one group into another elsewhere than at its end.
fn paces(
    cx: &Ctx,
    buffer: &Buffer,
    offset: &Sym,
    axes: &[(&Sym, &Sym)],
) -> Option<Vec<(Sym, Option<Groups>)>> {
    let swizzle = buffer.swizzle.as_ref()?;
    let width = swizzle.group(buffer.elem);
    let by = Sym::int(width);
    let (columns, rows) = (&swizzle.columns, &swizzle.rows);
    let from_zero = |s: &Sym| cx.le(&Sym::zero(), s).is_yes();
    if !from_zero(offset) || !axes.iter().all(|(_, stride)| from_zero(stride)) {
        return None;
    }
    // The last row, column, and column within its group that are accessed.
    let mut row = cx.rem(&cx.div(offset, columns), rows);
    let mut column = cx.rem(offset, columns);
    let mut within = cx.rem(&column, &by);
    let mut out = Vec::new();
    let mut cut = false;
    for (extent, stride) in axes {
        let last = &(*extent - 1) * *stride;
        if extent.is_one() {
            out.push(((*stride).clone(), None));
        } else if cx.divides(columns, stride).is_yes() {
            let by_rows = cx.div(stride, columns);
            row = &row + &(&(*extent - 1) * &by_rows);
            out.push((&by_rows * &by, None));
        } else if cx.divides(&by, stride).is_yes() {
            column = &column + &last;
            out.push((*stride * rows, None));
        } else if stride.is_one() && !cx.le(extent, &by).is_yes() && !cut {
            column = &column + &last;
            cut = true;
            let jump = &by * rows;
            out.push(((*stride).clone(), Some(Groups { width, jump })));
        } else {
            column = &column + &last;
            within = &within + &last;
            out.push(((*stride).clone(), None));
        }
    }
    let alone = !cut || within.is_zero();
    // If there is only one tile, no position beyond its last row is accessed.
    let one_tile = buffer.count == rows * columns;
    let fits = (one_tile || cx.lt(&row, rows).is_yes())
        && cx.lt(&column, columns).is_yes()
        && cx.lt(&within, &by).is_yes();
    (alone && fits).then_some(out)
}
