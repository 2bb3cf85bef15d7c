//! Tile operators: each folds into the view it is applied to (language 04 section 3).

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{BinOp, CheckCode};
use crate::sema::asynchronous::futures;
use crate::sema::checks::run_time;
use crate::sema::memory::{chunks, cut, strides, tile_operands, tiles, windows};
use crate::sema::state::elab::Elab;
use crate::sema::state::value::Data;
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast::{self, ViewOp};

pub(crate) fn lower_operator(
    el: &mut Elab<'_>,
    mut data: Data,
    op: &ViewOp,
    at: Span,
) -> Option<Data> {
    let whole = (!data.tiled).then(|| data.view.shape.clone());
    match op {
        ViewOp::Chunkat(args) => chunks::lower_chunkat(el, &mut data, args, at)?,
        ViewOp::Chunk {
            factors,
            at: indices,
        } => {
            let f = tile_operands::lower_operands(el, factors)?;
            let i = tile_operands::lower_operands(el, indices)?;
            tile_operands::check_count(el, codes::E0810, "chunk factors", f.len(), &data, at)?;
            tile_operands::check_count(el, codes::E0810, "chunk indices", i.len(), &data, at)?;
            let pairs = f
                .into_iter()
                .zip(i)
                .map(|(f, i)| f.map(|f| (f, i.unwrap_or_default())));
            chunks::chunks(el, &mut data, pairs.collect(), at)?;
        }
        ViewOp::Subspan {
            extents,
            strides,
            step,
            at: indices,
        } => {
            let tile = Subspan {
                extents,
                strides,
                step,
                indices: indices.as_deref(),
            };
            lower_subspan(el, &mut data, &tile, at)?;
            data.squeezable = true;
        }
        ViewOp::Modspan {
            extents,
            at: indices,
        } => {
            lower_modspan(el, &mut data, extents, indices.as_deref(), at)?;
        }
        ViewOp::Window {
            extents,
            strides,
            from,
        } => {
            windows::lower_view(el, &mut data, extents, strides, from.as_deref(), at)?;
            data.squeezable = true;
        }
        ViewOp::SpanAs(items) => {
            windows::lower_span_as(el, &mut data, items, at)?;
            data.squeezable = true;
        }
        ViewOp::Squeeze => windows::lower_sqz(el, &mut data, at)?,
        ViewOp::Zfill => data.zfill = true,
    }
    futures::emit_use(el, &data, at);
    data.future = None;
    data.tiled = true;
    let is_first = matches!(op, ViewOp::Subspan { at: None, .. });
    data.first_tile = whole.filter(|_| is_first).and_then(|whole| {
        let mut axes = whole.iter().zip(&data.view.shape);
        let smaller = axes.any(|(whole, tile)| el.f.cx.eq(whole, tile) != Truth::Yes);
        smaller.then_some(at)
    });
    Some(data)
}

/// `x.subspan(extents : strides).step(step).at(indices)`
struct Subspan<'e> {
    extents: &'e [ast::Expr],
    strides: &'e [ast::Expr],
    step: &'e [ast::Expr],
    indices: Option<&'e [ast::Expr]>,
}

fn lower_subspan(el: &mut Elab<'_>, data: &mut Data, tile: &Subspan<'_>, at: Span) -> Option<()> {
    let Subspan {
        extents,
        strides,
        step,
        indices,
    } = *tile;
    let e = tile_operands::lower_operands(el, extents)?;
    tile_operands::check_count(el, codes::E0810, "tile extents", e.len(), data, at)?;
    let rank = data.view.rank();
    let steps = if step.is_empty() {
        vec![None; rank]
    } else {
        tile_operands::lower_operands(el, step)?
    };
    tile_operands::check_count(el, codes::E0824, "steps", steps.len(), data, at)?;
    let i = match indices {
        Some(list) => tile_operands::lower_operands(el, list)?,
        None => vec![None; rank],
    };
    tile_operands::check_count(el, codes::E0824, "tile indices", i.len(), data, at)?;
    let strides = strides::lower(el, data, strides, at)?;
    let mut shape = Vec::new();
    let mut numbers = Vec::new();
    for (axis, ((extent, step), index)) in e.into_iter().zip(steps).zip(i).enumerate() {
        let parent = data.view.shape.get(axis)?.clone();
        let index = index.unwrap_or_default();
        let extent = extent.unwrap_or_else(|| parent.clone());
        lower_tile_extent(el, axis, &extent, &parent, at)?;
        shape.push(extent.clone());
        if step.as_ref().is_some_and(Sym::is_zero) {
            el.cx.report(
                Diagnostic::new(
                    codes::N0825,
                    at,
                    format!("the step of axis {axis} is 0: every tile starts at 0"),
                )
                .label("has no effect"),
            );
        }
        let step = step.unwrap_or_else(|| extent.clone());
        let extent = strides.covered(axis, &extent);
        let origin = &index * &step;
        if !el.path.is_dead() && el.f.cx.lt(&origin, &parent) == Truth::No {
            let (o, p) = (el.f.cx.show(&origin), el.f.cx.show(&parent));
            el.cx.report(
                Diagnostic::new(
                    codes::E0818,
                    at,
                    format!(
                        "tile {} of axis {axis} starts at {o}, the axis has {p} elements",
                        el.f.cx.show(&index)
                    ),
                )
                .label("beyond the last tile"),
            );
            return None;
        }
        let end = &origin + &extent;
        if !el.path.is_dead() && el.f.cx.lt(&Sym::zero(), &end) == Truth::No {
            let (i, e) = (el.f.cx.show(&index), el.f.cx.show(&end));
            el.cx.report(
                Diagnostic::new(
                    codes::E0818,
                    at,
                    format!("tile {i} of axis {axis} ends at {e}, before the data"),
                )
                .label("before the first tile"),
            );
            return None;
        }
        check_tile_inside(el, data, axis, (&index, &step), &extent, at);
        numbers.push((index, el.f.cx.cdiv(&parent, &step)));
        cut::cut(&mut el.f, &mut data.view, axis, origin, extent, false);
    }
    tiles::lint_exchanged(el, &data.name, &numbers, at);
    strides::apply(el, data, shape, strides, at);
    Some(())
}

/// Checks that tile `index` of `extent` elements, `step` apart, shares an element with its parent.
/// The check is of the number, whose product with the step may exceed 64 bits.
fn check_tile_inside(
    el: &mut Elab<'_>,
    data: &mut Data,
    axis: usize,
    (index, step): (&Sym, &Sym),
    extent: &Sym,
    at: Span,
) {
    let Some(parent) = data.view.shape.get(axis).cloned() else {
        return;
    };
    let cx = &el.f.cx;
    let name = &data.name;
    if cx.le(&Sym::one(), step) == Truth::No {
        let message = format!(
            "a tile of axis {axis} of `{name}` starts at {{0}}, the axis has {{1}} elements"
        );
        let first = Sym::one() - extent;
        return tiles::check_number(el, data, &(index * step), (first, parent), message, at);
    }
    let first = -cx.div(&(extent - 1), step);
    let tiles = cx.cdiv(&parent, step);
    let message = chunks::tile_message(axis, name);
    tiles::check_number(el, data, index, (first, tiles), message, at);
}

fn lower_tile_extent(
    el: &mut Elab<'_>,
    axis: usize,
    extent: &Sym,
    parent: &Sym,
    at: Span,
) -> Option<()> {
    let (e, p) = (el.f.cx.show(extent), el.f.cx.show(parent));
    match el.f.cx.le(&Sym::one(), extent) {
        Truth::No => {
            el.cx.report(
                Diagnostic::new(
                    codes::E0817,
                    at,
                    format!("the tile has extent {e} on axis {axis}"),
                )
                .label("must be positive"),
            );
            return None;
        }
        Truth::Unknown if run_time::known_at_entry(&el.f, extent) => run_time::emit_compare(
            el,
            run_time::Check::new(
                CheckCode::R06,
                format!("the tile extent `{e}` must be at least {{0}}, it is {{1}}"),
                at,
            ),
            BinOp::Le,
            &Sym::one(),
            extent,
        ),
        _ => {}
    }
    // In a called function the constant may be the caller's: the tile is clipped, as it is when Rust calls
    // the function with a tensor of that size.
    let is_own = !el.results.is_inlined;
    if is_own && el.f.cx.le(extent, parent) == Truth::No && parent.as_int().is_some() {
        el.cx.report(
            Diagnostic::new(
                codes::E0816,
                at,
                format!("the tile has {e} elements on axis {axis}, the data only {p}"),
            )
            .label(format!("larger than {p}")),
        );
        return None;
    }
    Some(())
}

fn lower_modspan(
    el: &mut Elab<'_>,
    data: &mut Data,
    extents: &[ast::Expr],
    indices: Option<&[ast::Expr]>,
    at: Span,
) -> Option<()> {
    let e = tile_operands::lower_operands(el, extents)?;
    tile_operands::check_count(el, codes::E0810, "tile extents", e.len(), data, at)?;
    let i = match indices {
        Some(list) => tile_operands::lower_operands(el, list)?,
        None => vec![None; e.len()],
    };
    tile_operands::check_count(el, codes::E0824, "tile indices", i.len(), data, at)?;
    for (axis, (extent, index)) in e.into_iter().zip(i).enumerate() {
        let Some(extent) = extent else { continue };
        let parent = data.view.shape.get(axis)?.clone();
        lower_tile_extent(el, axis, &extent, &parent, at)?;
        let cx = &el.f.cx;
        let rest = cx.rem(&parent, &extent);
        let tile = if cx.eq(&rest, &Sym::zero()) == Truth::Yes {
            Sym::one()
        } else {
            cx.max(&rest, &Sym::one())
        };
        let tiles = cx.cdiv(&parent, &extent);
        let last = cx.div(&parent, &extent);
        if let Some(index) = &index {
            let message = chunks::tile_message(axis, &data.name);
            tiles::check_number(el, data, index, (Sym::zero(), tiles), message, at);
        }
        let index = index.unwrap_or(last);
        cut::cut(
            &mut el.f,
            &mut data.view,
            axis,
            &index * &extent,
            tile,
            false,
        );
    }
    Some(())
}
