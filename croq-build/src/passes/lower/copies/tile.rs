//! The iteration space of one copy or fill: the positions, their places in the source and in the
//! destination, and the positions that lie outside the data.

use super::layout::Layout;
use super::side::Side;
use crate::ir::{BufferId, Copy, Expr, ExprKind, Function, Scalar, Transform, View};
use crate::source::Span;
use crate::symbolic::{Ctx, Sym, Truth};

#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) extent: Sym,
    pub(super) source: Side,
    pub(super) dest: Side,
}

/// The value of the positions that the source does not cover.
#[derive(Clone, Debug)]
pub(super) enum Rest {
    /// They keep their values.
    Leave,
    With(Expr),
}

#[derive(Clone, Debug)]
pub struct Tile {
    pub(super) axes: Vec<Axis>,
    /// `None` for a fill.
    pub(super) source: Option<View>,
    pub(super) dest: View,
    pub(super) source_layout: Layout,
    pub(super) dest_layout: Layout,
    pub(super) rest: Rest,
    pub(super) elem: Scalar,
    /// The move is asynchronous.
    pub(super) is_async: bool,
    /// Packed elements, and a side of a thread's own memory, where each has a byte.
    pub(super) unpacks: bool,
    pub(super) span: Span,
}

impl Tile {
    pub fn of_copy(function: &Function, copy: &Copy, span: Span) -> Tile {
        let cx = &function.cx;
        let (source, dest) = (&copy.source, &copy.dest);
        let elem = function
            .buffers
            .get(dest.buffer.index())
            .map_or(Scalar::F32, |b| b.elem);
        let rank = dest.rank().min(source.rank());
        let identity: Vec<usize> = (0..rank).collect();
        let (perm, low, pad) = match &copy.transform {
            Transform::None => (identity, Vec::new(), None),
            Transform::Transpose(perm) => (perm.clone(), Vec::new(), None),
            Transform::Pad { low, value } => (identity, low.clone(), Some(value.clone())),
        };
        let rest = match pad {
            Some(value) => Rest::With(value),
            None if copy.zero_fill => Rest::With(zero(elem, span)),
            None => Rest::Leave,
        };
        let covers_dest = matches!(rest, Rest::With(_));

        let mut moved = source.clone();
        moved.frame = None;
        let mut axes: Vec<(usize, Axis)> = Vec::new();
        for (axis, from) in perm.iter().copied().enumerate().take(rank) {
            let (Some(to_extent), Some(from_extent)) =
                (dest.shape.get(axis), source.shape.get(from))
            else {
                continue;
            };
            let (Some(to_stride), Some(from_stride)) =
                (dest.strides.get(axis), source.strides.get(from))
            else {
                continue;
            };
            let mut half = Side::new(from_stride, source.valid.get(from));
            let low = low.get(axis).cloned().unwrap_or_else(Sym::zero);
            if !low.is_zero() {
                // Position c of the destination is source position c - low.
                moved.offset = &moved.offset - &(&low * from_stride);
                for bound in half.lo.iter_mut().chain(&mut half.hi) {
                    *bound = &*bound + &low;
                }
                half.lo.push(low.clone());
            }
            let extent = if covers_dest {
                half.hi.push(&low + from_extent);
                to_extent.clone()
            } else {
                smaller(cx, from_extent, to_extent)
            };
            let dest = Side::new(to_stride, dest.valid.get(axis));
            axes.push((
                from,
                Axis {
                    extent,
                    source: half,
                    dest,
                },
            ));
        }
        // Adjacent lanes should access adjacent global memory.
        let is_global = |view: &View| {
            function
                .buffers
                .get(view.buffer.index())
                .is_some_and(|b| b.storage.is_global())
        };
        let is_private = |view: &View| {
            let buffer = function.buffers.get(view.buffer.index());
            buffer.is_some_and(|b| b.storage.is_private())
        };
        if is_global(source) && !is_global(dest) {
            axes.sort_by_key(|(from, _)| *from);
        }
        let mut axes: Vec<Axis> = axes.into_iter().map(|(_, axis)| axis).collect();
        empty_if_negative(cx, &mut axes);
        let mut dest = dest.clone();
        let (mut sources, mut dests) = (Vec::new(), Vec::new());
        for axis in &mut axes {
            sources.push((axis.extent.clone(), &mut axis.source));
            dests.push((axis.extent.clone(), &mut axis.dest));
        }
        let source_layout = Layout::of(function, &mut moved, sources);
        let dest_layout = Layout::of(function, &mut dest, dests);
        Tile {
            axes,
            source: Some(moved),
            dest,
            source_layout,
            dest_layout,
            rest,
            elem,
            is_async: copy.future.is_some(),
            unpacks: elem.is_packed() && (is_private(source) || is_private(&copy.dest)),
            span,
        }
        .simplified(cx)
    }

    pub fn of_fill(function: &Function, view: &View, value: Expr, span: Span) -> Tile {
        let axes = view.shape.iter().zip(&view.strides).enumerate();
        let mut axes: Vec<Axis> = axes
            .map(|(at, (extent, stride))| Axis {
                extent: extent.clone(),
                source: Side::default(),
                dest: Side::new(stride, view.valid.get(at)),
            })
            .collect();
        let elem = value.ty;
        let buffer = function.buffers.get(view.buffer.index());
        let is_private = buffer.is_some_and(|b| b.storage.is_private());
        let mut dest = view.clone();
        let dests = axes.iter_mut().map(|a| (a.extent.clone(), &mut a.dest));
        let dest_layout = Layout::of(function, &mut dest, dests.collect());
        Tile {
            axes,
            source: None,
            dest,
            source_layout: Layout::default(),
            dest_layout,
            rest: Rest::With(value),
            elem,
            is_async: false,
            unpacks: elem.is_packed() && is_private,
            span,
        }
        .simplified(&function.cx)
    }

    fn simplified(mut self, cx: &Ctx) -> Tile {
        for axis in &mut self.axes {
            axis.source.drop_redundant_bounds(cx, &axis.extent);
            axis.dest.drop_redundant_bounds(cx, &axis.extent);
        }
        self.axes
            .retain(|a| !(a.extent.is_one() && a.source.is_free() && a.dest.is_free()));
        let fill = self.source.is_none();
        let mut merged: Vec<Axis> = Vec::new();
        for inner in self.axes {
            let joins = |outer: &Axis| {
                let whole = |a: &Axis| a.source.groups.is_none() && a.dest.groups.is_none();
                let steps = |o: &Side, i: &Side| o.stride == &inner.extent * &i.stride;
                inner.source.is_free()
                    && inner.dest.is_free()
                    && whole(outer)
                    && whole(&inner)
                    && (fill || steps(&outer.source, &inner.source))
                    && steps(&outer.dest, &inner.dest)
            };
            match merged.last_mut() {
                Some(outer) if joins(outer) => {
                    outer.source.scale_bounds(&inner.extent);
                    outer.dest.scale_bounds(&inner.extent);
                    outer.source.stride = inner.source.stride;
                    outer.dest.stride = inner.dest.stride;
                    outer.extent = &outer.extent * &inner.extent;
                }
                _ => merged.push(inner),
            }
        }
        self.axes = merged;
        self
    }

    /// The axes with more than one position, outermost first.
    pub(super) fn walked(&self) -> impl DoubleEndedIterator<Item = &Axis> {
        self.axes.iter().filter(|a| !a.extent.is_one())
    }

    /// The extents of these axes, outermost first.
    pub fn extents(&self) -> Vec<Sym> {
        self.walked().map(|a| a.extent.clone()).collect()
    }

    /// The same in vectors of `width` elements.
    pub fn extents_in(&self, cx: &Ctx, width: u32) -> Vec<Sym> {
        let mut extents = self.extents();
        if width > 1
            && let Some(inner) = extents.last_mut()
        {
            *inner = cx.div(inner, &Sym::int(i64::from(width)));
        }
        extents
    }

    /// The number of elements.
    pub fn count(&self) -> Sym {
        self.walked().map(|a| &a.extent).product()
    }

    /// Whether innermost neighbours are contiguous in both memories.
    pub fn has_contiguous_rows(&self) -> bool {
        let inner = self.walked().next_back();
        let is_one = |a: &Axis| a.source.stride.is_one() && a.dest.stride.is_one();
        self.source.is_some() && inner.is_some_and(is_one)
    }

    pub fn dest_buffer(&self) -> BufferId {
        self.dest.buffer
    }

    /// Whether innermost neighbours are contiguous in the destination.
    pub fn has_contiguous_dest(&self) -> bool {
        let inner = self.walked().next_back();
        inner.is_some_and(|a| a.dest.stride.is_one())
    }

    /// The quantities that a vector's width must divide. Strides first: they imply most about the
    /// others.
    pub fn aligned(&self, guarded: bool) -> Vec<Sym> {
        let mut walked = self.walked().rev();
        let Some(inner) = walked.next() else {
            return Vec::new();
        };
        let mut all: Vec<Sym> = walked
            .flat_map(|a| [&a.source.stride, &a.dest.stride])
            .cloned()
            .collect();
        all.push(inner.extent.clone());
        all.extend(self.source.as_ref().map(|v| v.offset.clone()));
        all.push(self.dest.offset.clone());
        if guarded {
            for side in [&inner.source, &inner.dest] {
                all.extend(side.lo.iter().chain(&side.hi).cloned());
            }
        }
        all
    }

    /// The conditions `a <= b` under which the whole tile is inside the data; `None` if it never
    /// is.
    pub fn inside(&self, cx: &Ctx) -> Option<Vec<(Sym, Sym)>> {
        let mut edges: Vec<(Sym, Sym)> = Vec::new();
        for axis in &self.axes {
            for side in [&axis.source, &axis.dest] {
                let low = side.lo.iter().map(|lo| (lo.clone(), Sym::zero()));
                let high = side.hi.iter().map(|hi| (axis.extent.clone(), hi.clone()));
                for (a, b) in low.chain(high) {
                    match cx.le(&a, &b) {
                        Truth::Yes => {}
                        Truth::No => return None,
                        Truth::Unknown if edges.contains(&(a.clone(), b.clone())) => {}
                        Truth::Unknown => edges.push((a, b)),
                    }
                }
            }
        }
        Some(edges)
    }

    /// Whether the guard is only a predicate of the instruction: an asynchronous move that fills in
    /// zeros itself, with a single comparison.
    pub fn guards_are_cheap(&self) -> bool {
        let count = |side: &Side| side.lo.len() + side.hi.len();
        let source: usize = self.axes.iter().map(|a| count(&a.source)).sum();
        let fills = matches!(&self.rest, Rest::With(value) if is_zero(value));
        self.is_async && fills && source == 1 && self.axes.iter().all(|a| a.dest.is_free())
    }

    /// The value of positions without a source, if it is worth computing only once.
    pub fn costly_filler(&mut self) -> Option<&mut Expr> {
        match &mut self.rest {
            Rest::With(value) => {
                let cheap = matches!(
                    &*value.kind,
                    ExprKind::Int(_)
                        | ExprKind::Float(_)
                        | ExprKind::Bool(_)
                        | ExprKind::Local(_)
                        | ExprKind::Param(_)
                );
                (!cheap).then_some(value)
            }
            Rest::Leave => None,
        }
    }
}

/// The product of two negative extents is positive, so that only one of the extents may be negative:
/// then there are no elements.
fn empty_if_negative(cx: &Ctx, axes: &mut [Axis]) {
    let zero = Sym::zero();
    let may_be_negative = |axis: &&mut Axis| !cx.le(&zero, &axis.extent).is_yes();
    for axis in axes.iter_mut().rev().filter(may_be_negative).skip(1) {
        axis.extent = cx.max(&axis.extent, &zero);
    }
}

fn smaller(cx: &Ctx, a: &Sym, b: &Sym) -> Sym {
    if cx.le(a, b).is_yes() {
        a.clone()
    } else if cx.le(b, a).is_yes() {
        b.clone()
    } else {
        cx.min(a, b)
    }
}

pub(super) fn is_zero(value: &Expr) -> bool {
    match &*value.kind {
        ExprKind::Int(value) => *value == 0,
        // Not the negative zero, whose bits differ.
        ExprKind::Float(value) => value.to_bits() == 0,
        ExprKind::Bool(value) => !value,
        _ => false,
    }
}

fn zero(ty: Scalar, span: Span) -> Expr {
    let kind = match ty {
        Scalar::Bool => ExprKind::Bool(false),
        ty if ty.is_float() => ExprKind::Float(0.0),
        _ => ExprKind::Int(0),
    };
    Expr::new(kind, ty, span)
}
