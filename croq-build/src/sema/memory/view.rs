//! Tile operators: each folds into the view it is applied to (language 04 section 3).

use crate::diagnostics::Diagnostic;
use crate::ir::{BinOp, Valid, View};
use crate::sema::Checker;
use crate::sema::values::value::{Data, IntValue, Value};
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast::{self, ViewOp};

/// A tiling argument: `None` is `_`.
type Arg = Option<Sym>;

impl Checker<'_> {
    pub(crate) fn view_op(&mut self, mut data: Data, op: &ViewOp, at: Span) -> Option<Data> {
        match op {
            ViewOp::Chunkat(args) => self.chunkat(&mut data, args, at)?,
            ViewOp::Chunk {
                factors,
                at: indices,
            } => {
                let f = self.tile_args(factors)?;
                let i = self.tile_args(indices)?;
                self.arg_count("E0810", "chunk factors", f.len(), &data, at)?;
                self.arg_count("E0810", "chunk indices", i.len(), &data, at)?;
                let pairs = f
                    .into_iter()
                    .zip(i)
                    .map(|(f, i)| f.map(|f| (f, i.unwrap_or_default())));
                self.chunks(&mut data, pairs.collect(), at)?;
            }
            ViewOp::Subspan {
                extents,
                strides,
                step,
                at: indices,
            } => {
                self.subspan(&mut data, extents, strides, step, indices.as_deref(), at)?;
                data.squeezable = true;
            }
            ViewOp::Modspan {
                extents,
                at: indices,
            } => {
                self.modspan(&mut data, extents, indices.as_deref(), at)?;
            }
            ViewOp::Window {
                extents,
                strides,
                from,
            } => {
                self.window(&mut data, extents, strides, from.as_deref(), at)?;
                data.squeezable = true;
            }
            ViewOp::SpanAs(items) => {
                self.span_as(&mut data, items, at)?;
                data.squeezable = true;
            }
            ViewOp::Squeeze => self.squeeze(&mut data, at)?,
            ViewOp::Zfill => data.zfill = true,
        }
        self.consult(&data, at);
        data.future = None;
        data.tiled = true;
        Some(data)
    }

    /// Integers and wildcards, ituples and shapes spliced. Run-time integers are allowed.
    pub(crate) fn tile_args(&mut self, exprs: &[ast::Expr]) -> Option<Vec<Arg>> {
        let mut out = Vec::new();
        let mut ok = true;
        for e in exprs {
            match self.expr(e) {
                Value::Wildcard => out.push(None),
                Value::Tuple(t) => out.extend(t.into_iter().map(|i| Some(i.value))),
                Value::Shape(s) => out.extend(s.into_iter().map(Some)),
                v => match self.to_sym(v, e.span) {
                    Some(s) => out.push(Some(s)),
                    None => ok = false,
                },
            }
        }
        ok.then_some(out)
    }

    pub(crate) fn arg_count(
        &mut self,
        code: &'static str,
        what: &str,
        got: usize,
        data: &Data,
        at: Span,
    ) -> Option<()> {
        let rank = data.view.rank();
        if got == rank {
            return Some(());
        }
        let shape = self.show_shape(&data.view.shape);
        let one = what.replace("indices", "index");
        let noun = if got == 1 {
            one.trim_end_matches('s')
        } else {
            what
        };
        let mut d = Diagnostic::new(
            code,
            at,
            format!("{got} {noun} for `{}`, which has shape {shape}", data.name),
        )
        .label(format!("expected {rank}"));
        if got < rank && (what.ends_with("arguments") || what.ends_with("extents")) {
            d = d.help("write `_` for an axis that stays whole");
        }
        self.report(d);
        None
    }

    fn chunkat(&mut self, data: &mut Data, args: &[ast::Expr], at: Span) -> Option<()> {
        let mut pairs: Vec<Option<(Sym, Sym)>> = Vec::new();
        let mut ok = true;
        for arg in args {
            let parts = match self.expr(arg) {
                Value::Wildcard => {
                    pairs.push(None);
                    continue;
                }
                Value::Int(i) => vec![i],
                Value::Tuple(t) => t,
                Value::Error => {
                    ok = false;
                    continue;
                }
                other => {
                    self.no_bound(arg, &other.kind());
                    ok = false;
                    continue;
                }
            };
            for IntValue { value, bound, .. } in parts {
                match bound {
                    Some(b) => pairs.push(Some((b, value))),
                    None => {
                        self.no_bound(arg, "a plain integer");
                        ok = false;
                    }
                }
            }
        }
        if !ok {
            return None;
        }
        self.arg_count("E0810", "tiling arguments", pairs.len(), data, at)?;
        if pairs.iter().all(Option::is_none) {
            self.report(
                Diagnostic::new("N0813", at, "every argument is `_`: this tiles nothing")
                    .label("has no effect"),
            );
        }
        self.chunks(data, pairs, at)
    }

    fn no_bound(&mut self, arg: &ast::Expr, kind: &str) {
        let text = self.file.snippet(arg.span).to_owned();
        self.report(
            Diagnostic::new("E0815", arg.span, format!("`chunkat` tiles by a bound, but `{text}` is {kind}"))
                .label("has no bound")
                .help(format!("use `.chunk(k).at({text})` with the number of chunks, or `.subspan(extent).at({text})`")),
        );
    }

    fn chunks(&mut self, data: &mut Data, pairs: Vec<Option<(Sym, Sym)>>, at: Span) -> Option<()> {
        for (axis, pair) in pairs.into_iter().enumerate() {
            let Some((factor, index)) = pair else {
                continue;
            };
            let extent = data.view.shape.get(axis)?.clone();
            let (shown_f, shown_e) = (self.show(&factor), self.show(&extent));
            match self.f.cx.le(&Sym::one(), &factor) {
                Truth::Yes => {}
                Truth::No => {
                    self.report(
                        Diagnostic::new(
                            "E0811",
                            at,
                            format!("axis {axis} is split into {shown_f} chunks"),
                        )
                        .label("a tiling factor must be positive"),
                    );
                    return None;
                }
                Truth::Unknown => self.check_compare(
                    "R06",
                    format!("the tiling factor `{shown_f}` must be at least {{0}}, it is {{1}}"),
                    BinOp::Le,
                    &Sym::one(),
                    &factor,
                    at,
                ),
            }
            match self.f.cx.le(&factor, &extent) {
                Truth::Yes => {}
                Truth::No => {
                    self.report(
                        Diagnostic::new("E0812", at, format!("axis {axis} has {shown_e} elements, it can't be split into {shown_f} chunks"))
                            .label("a chunk would be empty"),
                    );
                    return None;
                }
                Truth::Unknown => self.check_compare(
                    "R06",
                    format!("the tiling factor `{shown_f}` is {{0}}, more than the extent `{shown_e}`, {{1}}"),
                    BinOp::Le, &factor, &extent, at,
                ),
            }
            if let (Some(f), Some(e)) = (factor.as_int(), extent.as_int())
                && e.checked_rem(f).is_some_and(|r| r != 0)
            {
                let rest = e % f;
                self.report(
                    Diagnostic::new(
                        "W0814",
                        at,
                        format!("{f} does not divide axis {axis}, which has {e} elements"),
                    )
                    .label(format!(
                        "the last {rest} element{} no tile",
                        if rest == 1 { " is in" } else { "s are in" }
                    ))
                    .help("tile by extent instead: `.subspan(…).at(…)` gives a partial last tile"),
                );
            }
            self.chunk_exists(axis, &index, &factor, at)?;
            let name = &data.name;
            let message =
                format!("chunk {{0}} of axis {axis} of `{name}`, which is split into {{1}}");
            self.number_of_tile(data, &index, (Sym::zero(), factor.clone()), message, at);
            let tile = self.f.cx.div(&extent, &factor);
            let origin = &index * &tile;
            // An index below the factor can't leave the axis: factor · (extent / factor) ≤ extent.
            let inside = self.f.cx.lt(&index, &factor) == Truth::Yes
                && self.f.cx.le(&Sym::zero(), &index) == Truth::Yes;
            self.cut(&mut data.view, axis, origin, tile, inside);
        }
        Some(())
    }

    fn chunk_exists(&mut self, axis: usize, index: &Sym, factor: &Sym, at: Span) -> Option<()> {
        let cx = &self.f.cx;
        let below = cx.lt(index, factor) != Truth::No;
        if self.dead > 0 || (below && cx.le(&Sym::zero(), index) != Truth::No) {
            return Some(());
        }
        let (i, f) = (self.show(index), self.show(factor));
        self.report(
            Diagnostic::new(
                "E0818",
                at,
                format!("chunk {i} of axis {axis}, which is split into {f}"),
            )
            .label("there is no such chunk"),
        );
        None
    }

    /// Narrows one axis to `extent` elements from `origin`.
    pub(crate) fn cut(
        &mut self,
        view: &mut View,
        axis: usize,
        origin: Sym,
        extent: Sym,
        known_inside: bool,
    ) {
        let cx = &self.f.cx;
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

    fn subspan(
        &mut self,
        data: &mut Data,
        extents: &[ast::Expr],
        strides: &[ast::Expr],
        step: &[ast::Expr],
        indices: Option<&[ast::Expr]>,
        at: Span,
    ) -> Option<()> {
        let e = self.tile_args(extents)?;
        self.arg_count("E0810", "tile extents", e.len(), data, at)?;
        let rank = data.view.rank();
        let steps = if step.is_empty() {
            vec![None; rank]
        } else {
            self.tile_args(step)?
        };
        self.arg_count("E0824", "steps", steps.len(), data, at)?;
        let i = match indices {
            Some(list) => self.tile_args(list)?,
            None => vec![None; rank],
        };
        self.arg_count("E0824", "tile indices", i.len(), data, at)?;
        for (axis, ((extent, step), index)) in e.into_iter().zip(steps).zip(i).enumerate() {
            let parent = data.view.shape.get(axis)?.clone();
            let index = index.unwrap_or_default();
            let extent = extent.unwrap_or_else(|| parent.clone());
            self.tile_extent(axis, &extent, &parent, at)?;
            if step.as_ref().is_some_and(Sym::is_zero) {
                self.report(
                    Diagnostic::new(
                        "N0825",
                        at,
                        format!("the step of axis {axis} is 0: every tile starts at 0"),
                    )
                    .label("has no effect"),
                );
            }
            let step = step.unwrap_or_else(|| extent.clone());
            let origin = &index * &step;
            if self.dead == 0 && self.f.cx.lt(&origin, &parent) == Truth::No {
                let (o, p) = (self.show(&origin), self.show(&parent));
                self.report(
                    Diagnostic::new(
                        "E0818",
                        at,
                        format!(
                            "tile {} of axis {axis} starts at {o}, the axis has {p} elements",
                            self.show(&index)
                        ),
                    )
                    .label("beyond the last tile"),
                );
                return None;
            }
            let end = &origin + &extent;
            if self.dead == 0 && self.f.cx.lt(&Sym::zero(), &end) == Truth::No {
                let (i, e) = (self.show(&index), self.show(&end));
                self.report(
                    Diagnostic::new(
                        "E0818",
                        at,
                        format!("tile {i} of axis {axis} ends at {e}, before the data"),
                    )
                    .label("before the first tile"),
                );
                return None;
            }
            self.tile_inside(data, axis, (&index, &step), &extent, at);
            self.cut(&mut data.view, axis, origin, extent, false);
        }
        if !strides.is_empty() {
            let s = self.tile_args(strides)?;
            self.arg_count("E0824", "strides", s.len(), data, at)?;
            self.restride(data, s, at);
        }
        Some(())
    }

    /// Tile `index` of `extent` elements, `step` apart, has one in common with its parent. Told of the number, whose
    /// product with the step may be more than 64 bits hold.
    fn tile_inside(
        &mut self,
        data: &mut Data,
        axis: usize,
        (index, step): (&Sym, &Sym),
        extent: &Sym,
        at: Span,
    ) {
        let Some(parent) = data.view.shape.get(axis).cloned() else {
            return;
        };
        let cx = &self.f.cx;
        let name = &data.name;
        if cx.le(&Sym::one(), step) == Truth::No {
            let message = format!(
                "a tile of axis {axis} of `{name}` starts at {{0}}, the axis has {{1}} elements"
            );
            let first = Sym::one() - extent;
            return self.number_of_tile(data, &(index * step), (first, parent), message, at);
        }
        let first = -cx.div(&(extent - 1), step);
        let tiles = cx.cdiv(&parent, step);
        let message = tile_message(axis, name);
        self.number_of_tile(data, index, (first, tiles), message, at);
    }

    fn tile_extent(&mut self, axis: usize, extent: &Sym, parent: &Sym, at: Span) -> Option<()> {
        let (e, p) = (self.show(extent), self.show(parent));
        match self.f.cx.le(&Sym::one(), extent) {
            Truth::No => {
                self.report(
                    Diagnostic::new(
                        "E0817",
                        at,
                        format!("the tile has extent {e} on axis {axis}"),
                    )
                    .label("must be positive"),
                );
                return None;
            }
            Truth::Unknown if self.known_at_entry(extent) => self.check_compare(
                "R06",
                format!("the tile extent `{e}` must be at least {{0}}, it is {{1}}"),
                BinOp::Le,
                &Sym::one(),
                extent,
                at,
            ),
            _ => {}
        }
        if self.f.cx.le(extent, parent) == Truth::No && parent.as_int().is_some() {
            self.report(
                Diagnostic::new(
                    "E0816",
                    at,
                    format!("the tile has {e} elements on axis {axis}, the data only {p}"),
                )
                .label(format!("larger than {p}")),
            );
            return None;
        }
        Some(())
    }

    pub(crate) fn restride(&mut self, data: &mut Data, strides: Vec<Arg>, at: Span) {
        data.view.frame = None;
        for (axis, stride) in strides.into_iter().enumerate() {
            let (Some(stride), Some(slot)) = (stride, data.view.strides.get_mut(axis)) else {
                continue;
            };
            if stride.is_zero() {
                self.diags.push(
                    Diagnostic::new("N0825", at, format!("the stride of axis {axis} is 0"))
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
        let count = self.f.buffer(data.view.buffer).count.clone();
        let name = data.name.clone();
        self.inside(
            "E0819",
            "R12",
            &last,
            &Sym::zero(),
            &count,
            at,
            &|n| format!("the last element of this strided window of `{n}`"),
            &name,
        );
    }

    fn modspan(
        &mut self,
        data: &mut Data,
        extents: &[ast::Expr],
        indices: Option<&[ast::Expr]>,
        at: Span,
    ) -> Option<()> {
        let e = self.tile_args(extents)?;
        self.arg_count("E0810", "tile extents", e.len(), data, at)?;
        let i = match indices {
            Some(list) => self.tile_args(list)?,
            None => vec![None; e.len()],
        };
        self.arg_count("E0824", "tile indices", i.len(), data, at)?;
        for (axis, (extent, index)) in e.into_iter().zip(i).enumerate() {
            let Some(extent) = extent else { continue };
            let parent = data.view.shape.get(axis)?.clone();
            self.tile_extent(axis, &extent, &parent, at)?;
            let cx = &self.f.cx;
            let rest = cx.rem(&parent, &extent);
            let tile = if cx.eq(&rest, &Sym::zero()) == Truth::Yes {
                Sym::one()
            } else {
                cx.max(&rest, &Sym::one())
            };
            let tiles = cx.cdiv(&parent, &extent);
            let last = cx.div(&parent, &extent);
            if let Some(index) = &index {
                let message = tile_message(axis, &data.name);
                self.number_of_tile(data, index, (Sym::zero(), tiles), message, at);
            }
            let index = index.unwrap_or(last);
            self.cut(&mut data.view, axis, &index * &extent, tile, false);
        }
        Some(())
    }
}

fn tile_message(axis: usize, name: &str) -> String {
    format!("tile {{0}} of axis {axis} of `{name}`, which has {{1}} tiles")
}
