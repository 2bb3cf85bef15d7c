//! The iteration space of one copy or fill: which positions there are, where each is in the source
//! and in the destination, and which of them lie outside the data.

use crate::ir::{
    Access, BinOp, Copy, Expr, ExprKind, Function, Scalar, Stmt, StmtKind, Transform, Valid, View,
};
use crate::source::Span;
use crate::symbolic::{Ctx, Sym};

/// One side of the movement along one axis: position `c` is at `c * stride`, and inside the data
/// where every `lo <= c` and `c < hi`.
#[derive(Clone, Debug, Default)]
struct Side {
    stride: Sym,
    lo: Vec<Sym>,
    hi: Vec<Sym>,
}

impl Side {
    fn new(stride: &Sym, valid: Option<&Valid>) -> Side {
        let bound = |b: Option<&Sym>| b.cloned().into_iter().collect();
        Side {
            stride: stride.clone(),
            lo: bound(valid.and_then(|v| v.lo.as_ref())),
            hi: bound(valid.and_then(|v| v.hi.as_ref())),
        }
    }

    fn is_free(&self) -> bool {
        self.lo.is_empty() && self.hi.is_empty()
    }

    fn drop_what_always_holds(&mut self, cx: &Ctx, extent: &Sym) {
        self.lo.retain(|lo| !cx.le(lo, &Sym::zero()).is_yes());
        self.hi.retain(|hi| !cx.le(extent, hi).is_yes());
    }

    fn scale_bounds(&mut self, by: &Sym) {
        for bound in self.lo.iter_mut().chain(&mut self.hi) {
            *bound = &*bound * by;
        }
    }

    fn conditions(&self, at: &Sym, span: Span, out: &mut Vec<Expr>) {
        let mut compare = |op, a: &Sym, b: &Sym| {
            let kind = ExprKind::Binary(
                op,
                Expr::index(a.clone(), span),
                Expr::index(b.clone(), span),
            );
            out.push(Expr::new(kind, Scalar::Bool, span));
        };
        self.lo.iter().for_each(|lo| compare(BinOp::Le, lo, at));
        self.hi.iter().for_each(|hi| compare(BinOp::Lt, at, hi));
    }
}

#[derive(Clone, Debug)]
struct Axis {
    extent: Sym,
    source: Side,
    dest: Side,
}

/// What fills the positions that the source does not cover.
#[derive(Clone, Debug)]
enum Rest {
    /// Nothing: they are left as they are.
    Leave,
    With(Expr),
}

#[derive(Clone, Debug)]
pub struct Tile {
    axes: Vec<Axis>,
    /// `None` for a fill.
    source: Option<View>,
    dest: View,
    rest: Rest,
    span: Span,
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
            let low = Sym::int(low.get(axis).map_or(0, |l| i64::try_from(*l).unwrap_or(0)));
            if !low.is_zero() {
                // Position c of the destination holds source position c - low.
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
        // Neighbouring lanes should touch neighbouring global memory.
        let is_global = |view: &View| {
            function
                .buffers
                .get(view.buffer.index())
                .is_some_and(|b| b.storage.is_global())
        };
        if is_global(source) && !is_global(dest) {
            axes.sort_by_key(|(from, _)| *from);
        }
        let axes = axes.into_iter().map(|(_, axis)| axis).collect();
        Tile {
            axes,
            source: Some(moved),
            dest: dest.clone(),
            rest,
            span,
        }
        .simplified(cx)
    }

    pub fn of_fill(function: &Function, view: &View, value: Expr, span: Span) -> Tile {
        let axes = view.shape.iter().zip(&view.strides).enumerate();
        let axes = axes
            .map(|(at, (extent, stride))| Axis {
                extent: extent.clone(),
                source: Side::default(),
                dest: Side::new(stride, view.valid.get(at)),
            })
            .collect();
        Tile {
            axes,
            source: None,
            dest: view.clone(),
            rest: Rest::With(value),
            span,
        }
        .simplified(&function.cx)
    }

    fn simplified(mut self, cx: &Ctx) -> Tile {
        for axis in &mut self.axes {
            axis.source.drop_what_always_holds(cx, &axis.extent);
            axis.dest.drop_what_always_holds(cx, &axis.extent);
        }
        self.axes
            .retain(|a| !(a.extent.is_one() && a.source.is_free() && a.dest.is_free()));
        let fill = self.source.is_none();
        let mut merged: Vec<Axis> = Vec::new();
        for inner in self.axes {
            let joins = |outer: &Axis| {
                let steps = |o: &Side, i: &Side| o.stride == &inner.extent * &i.stride;
                inner.source.is_free()
                    && inner.dest.is_free()
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

    /// Extents of the axes that have to be walked, outermost first.
    pub fn extents(&self) -> Vec<Sym> {
        self.axes
            .iter()
            .filter(|a| !a.extent.is_one())
            .map(|a| a.extent.clone())
            .collect()
    }

    /// What fills positions without a source, when it is worth computing only once.
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

    /// Moves the element at `coordinates`, one for each of `extents`.
    pub fn element(&self, coordinates: &[Sym]) -> Vec<Stmt> {
        let span = self.span;
        let zero = Sym::zero();
        let mut given = coordinates.iter();
        let (mut inside_source, mut inside_dest) = (Vec::new(), Vec::new());
        let mut at = Vec::new();
        for axis in &self.axes {
            let c = if axis.extent.is_one() {
                &zero
            } else {
                given.next().unwrap_or(&zero)
            };
            axis.source.conditions(c, span, &mut inside_source);
            axis.dest.conditions(c, span, &mut inside_dest);
            at.push(c.clone());
        }
        let access = |view: &View, side: fn(&Axis) -> &Side| Access {
            view: View {
                buffer: view.buffer,
                offset: view.offset.clone(),
                shape: self.axes.iter().map(|a| a.extent.clone()).collect(),
                strides: self.axes.iter().map(|a| side(a).stride.clone()).collect(),
                valid: self.axes.iter().map(|_| Valid::default()).collect(),
                span: view.span,
            },
            indices: at.clone(),
            span,
        };
        let elem = match &self.rest {
            Rest::With(value) => Some(value.ty),
            Rest::Leave => None,
        };
        let loaded = self.source.as_ref().map(|view| {
            // The type is that of the buffer; a load prints without it.
            Expr::new(
                ExprKind::Load(access(view, |a| &a.source)),
                elem.unwrap_or(Scalar::F32),
                span,
            )
        });
        let value = match (loaded, &self.rest) {
            (Some(loaded), Rest::With(filler)) => match all(inside_source, span) {
                Some(inside) => {
                    let ty = filler.ty;
                    Expr::new(ExprKind::Select(inside, loaded, filler.clone()), ty, span)
                }
                None => loaded,
            },
            (Some(loaded), Rest::Leave) => {
                inside_dest.splice(0..0, inside_source);
                loaded
            }
            (None, Rest::With(filler)) => filler.clone(),
            (None, Rest::Leave) => return Vec::new(),
        };
        let store = StmtKind::Store {
            access: access(&self.dest, |a| &a.dest),
            op: None,
            value,
        };
        let store = Stmt::new(store, span);
        match all(inside_dest, span) {
            Some(cond) => {
                vec![Stmt::new(
                    StmtKind::If {
                        cond,
                        then: vec![store],
                        otherwise: Vec::new(),
                    },
                    span,
                )]
            }
            None => vec![store],
        }
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

fn all(conditions: Vec<Expr>, span: Span) -> Option<Expr> {
    conditions
        .into_iter()
        .reduce(|a, b| Expr::new(ExprKind::Binary(BinOp::LogicAnd, a, b), Scalar::Bool, span))
}

pub fn zero(ty: Scalar, span: Span) -> Expr {
    let kind = match ty {
        Scalar::Bool => ExprKind::Bool(false),
        ty if ty.is_float() => ExprKind::Float(0.0),
        _ => ExprKind::Int(0),
    };
    Expr::new(kind, ty, span)
}
