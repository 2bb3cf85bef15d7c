//! `view`, `span_as` and `sqz`: windows, and other shapes for the same data.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{BinOp, CheckCode, Frame};
use crate::sema::checks::run_time;
use crate::sema::memory::whole::dense_strides;
use crate::sema::memory::{cut, reshaped, strides, tile_operands, tiles};
use crate::sema::state::elab::Elab;
use crate::sema::state::value::{Data, Value};
use crate::sema::values::shape;
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast;

pub(crate) fn lower_view(
    el: &mut Elab<'_>,
    data: &mut Data,
    extents: &[ast::Expr],
    written: &[ast::Expr],
    from: Option<&[ast::Expr]>,
    at: Span,
) -> Option<()> {
    let e = tile_operands::lower_operands(el, extents)?;
    tile_operands::check_count(el, codes::E0824, "window extents", e.len(), data, at)?;
    let o = match from {
        Some(list) => tile_operands::lower_operands(el, list)?,
        None => vec![None; e.len()],
    };
    tile_operands::check_count(el, codes::E0824, "origin coordinates", o.len(), data, at)?;
    let strides = strides::lower(el, data, written, at)?;
    let mut shape = Vec::new();
    for (axis, (extent, origin)) in e.into_iter().zip(o).enumerate() {
        let parent = data.view.shape.get(axis)?.clone();
        let extent = extent.unwrap_or_else(|| parent.clone());
        shape.push(extent.clone());
        let origin = origin.unwrap_or_default();
        if el.f.cx.le(&Sym::one(), &extent) == Truth::No {
            let shown = el.f.cx.show(&extent);
            el.cx.report(
                Diagnostic::new(
                    codes::E0817,
                    at,
                    format!("the window has extent {shown} on axis {axis}"),
                )
                .label("must be positive"),
            );
            return None;
        }
        check_not_negative(el, &extent, at);
        let extent = strides.covered(axis, &extent);
        let end = &origin + &extent;
        let starts = el.f.cx.lt(&origin, &parent);
        let ends = el.f.cx.lt(&Sym::zero(), &end);
        if !el.path.is_dead() && (starts == Truth::No || ends == Truth::No) {
            let (o, p) = (el.f.cx.show(&origin), el.f.cx.show(&parent));
            el.cx.report(
                Diagnostic::new(
                    codes::E0819,
                    at,
                    format!("the window starts at {o} on axis {axis}, the data has {p} elements"),
                )
                .label("lies outside the data altogether"),
            );
            return None;
        }
        let message = format!(
            "the window into `{}` starts at {{0}} on axis {axis}, the data has {{1}} elements",
            data.name
        );
        let first = Sym::one() - &extent;
        tiles::check_number(el, data, &origin, (first, parent), message, at);
        cut::cut(&mut el.f, &mut data.view, axis, origin, extent, false);
    }
    strides::apply(el, data, shape, strides, at);
    Some(())
}

/// Checks that arguments do not make an extent negative. One that depends on data, or on parallel or loop
/// variables, may be: such a window is empty.
fn check_not_negative(el: &mut Elab<'_>, extent: &Sym, at: Span) {
    let is_unknown = el.f.cx.le(&Sym::zero(), extent) == Truth::Unknown;
    if is_unknown && run_time::known_at_entry(&el.f, extent) {
        let shown = el.f.cx.show(extent);
        let message = format!("the window's extent `{shown}` must be at least {{0}}, it is {{1}}");
        let check = run_time::Check::new(CheckCode::R06, message, at);
        run_time::emit_compare(el, check, BinOp::Le, &Sym::zero(), extent);
    }
}

pub(crate) fn lower_span_as(
    el: &mut Elab<'_>,
    data: &mut Data,
    items: &[ast::Expr],
    at: Span,
) -> Option<()> {
    let shape = lower_new_shape(el, items)?;
    let shown = shape::show(&el.f, &data.view.shape);
    let gaps = possible_gaps(el, data, &shown, at)?;
    let product = |s: &[Sym]| s.iter().product::<Sym>();
    let (have, want) = (product(&data.view.shape), product(&shape));
    let same_count = el.f.cx.eq(&have, &want);
    if same_count != Truth::No && !gaps.is_empty() {
        let counts = (same_count == Truth::Unknown).then_some((&have, &want));
        check_gaps(el, (&gaps, counts), (&data.name, &shown), at);
    }
    match same_count {
        Truth::Yes => {}
        Truth::No => {
            let (h, w) = (el.f.cx.show(&have), el.f.cx.show(&want));
            let target = shape::show(&el.f, &shape);
            el.cx.report(
                Diagnostic::new(
                    codes::E0820,
                    at,
                    format!("{shown} has {h} elements, {target} has {w}"),
                )
                .label("element counts differ"),
            );
            return None;
        }
        Truth::Unknown => run_time::emit_compare(
            el,
            run_time::Check::new(
                CheckCode::R08,
                format!("`span_as` of `{}`: {{0}} elements read as {{1}}", data.name),
                at,
            ),
            BinOp::Eq,
            &have,
            &want,
        ),
    }
    check_positive(el, &shape, at)?;
    let (tile, name) = (data.view.clone(), data.name.clone());
    data.view.valid = reshaped::limits(el, &tile, &shape, &name, at);
    data.view.strides = dense_strides(&shape);
    // A tile that may cross an edge is no tensor of its own.
    let whole = Frame::whole(&shape, &data.view.strides);
    data.view.frame = (!data.view.may_cross()).then_some(whole);
    data.view.shape = shape;
    Some(())
}

/// The extents in the argument list of `span_as`.
fn lower_new_shape(el: &mut Elab<'_>, items: &[ast::Expr]) -> Option<Vec<Sym>> {
    let mut shape = Vec::new();
    for item in items {
        match el.expression(item) {
            Value::Int(i) => shape.push(i.value),
            Value::Shape(s) => shape.extend(s),
            Value::Tuple(t) => shape.extend(t.into_iter().map(|i| i.value)),
            Value::Error => return None,
            other => {
                let kind = other.kind();
                el.cx.report(
                    Diagnostic::new(
                        codes::E0333,
                        item.span,
                        format!("`span_as` takes sizes, this is {kind}"),
                    )
                    .label("mutable or not an integer"),
                );
                return None;
            }
        }
    }
    Some(shape)
}

/// Checks that no extent is negative.
fn check_positive(el: &mut Elab<'_>, shape: &[Sym], at: Span) -> Option<()> {
    // The product alone does not show it: that of two negative extents is positive.
    for (axis, extent) in shape.iter().enumerate() {
        let shown = el.f.cx.show(extent);
        match el.f.cx.le(&Sym::zero(), extent) {
            Truth::Yes => {}
            Truth::No => {
                el.cx.report(
                    Diagnostic::new(
                        codes::E0423,
                        at,
                        format!("axis {axis} of the new shape has extent {shown}"),
                    )
                    .label("extents are positive"),
                );
                return None;
            }
            Truth::Unknown => run_time::emit_compare(
                el,
                run_time::Check::new(
                    CheckCode::R06,
                    format!("the extent `{shown}` must be at least {{0}}, it is {{1}}"),
                    at,
                ),
                BinOp::Le,
                &Sym::one(),
                extent,
            ),
        }
    }
    Some(())
}

/// An axis of a tile that is contiguous only if the extent is 1, or the stride is that of rows without
/// gaps.
struct Gap {
    extent: Sym,
    stride: Sym,
    dense: Sym,
}

/// Where the tile may have gaps between its rows. A tile that always has some is reported.
fn possible_gaps(el: &mut Elab<'_>, data: &Data, shown: &str, at: Span) -> Option<Vec<Gap>> {
    let mut dense = Sym::one();
    let mut gaps = Vec::new();
    for (extent, stride) in data.view.shape.iter().zip(&data.view.strides).rev() {
        if extent.is_one() {
            continue;
        }
        match el.f.cx.eq(stride, &dense) {
            Truth::Yes => {}
            Truth::No => {
                let text = format!(
                    "`span_as` needs contiguous data; this tile of `{}` is not",
                    data.name
                );
                let report = Diagnostic::new(codes::E0821, at, text)
                    .label(format!("the {shown} tile has gaps between its rows"));
                el.cx
                    .report(report.help("copy the tile first, and reshape the copy"));
                return None;
            }
            Truth::Unknown => gaps.push(Gap {
                extent: extent.clone(),
                stride: stride.clone(),
                dense: dense.clone(),
            }),
        }
        dense = &dense * extent;
    }
    Some(gaps)
}

/// Warns of a tile that may have gaps, and checks that it has none. `counts`: its number of elements,
/// and that of its new shape, if they may differ.
fn check_gaps(
    el: &mut Elab<'_>,
    (gaps, counts): (&[Gap], Option<(&Sym, &Sym)>),
    (name, shown): (&str, &str),
    at: Span,
) {
    let cx = &el.f.cx;
    let equal = |a: &Sym, b: &Sym| format!("{} == {}", cx.show(a), cx.show(b));
    let one = Sym::one();
    let without_gap = |gap: &Gap| {
        // `H == 1` instead of `H * K * V == K * V`.
        let times = cx.div(&gap.stride, &gap.dense);
        let dense = match cx.eq(&(&times * &gap.dense), &gap.stride) {
            Truth::Yes => equal(&times, &one),
            _ => equal(&gap.stride, &gap.dense),
        };
        match cx.eq(&gap.extent, &one) {
            Truth::No => dense,
            _ => format!("{} or {dense}", equal(&gap.extent, &one)),
        }
    };
    let count = counts.map(|(have, want)| equal(have, want));
    let conditions: Vec<String> = count
        .into_iter()
        .chain(gaps.iter().map(without_gap))
        .collect();
    let text = match counts {
        Some((_, want)) => {
            let want = cx.show(want);
            format!("this {shown} tile of `{name}` may not be {want} contiguous elements")
        }
        None => format!("this tile of `{name}` may not be contiguous"),
    };
    let label = format!("an error at run time unless {}", conditions.join(", and "));
    el.cx
        .report(Diagnostic::new(codes::W0822, at, text).label(label));
    for gap in gaps {
        let (stride, dense) = (&gap.stride, &gap.dense);
        let is_dense = run_time::compare(BinOp::Eq, stride, dense, at);
        let cond = match el.f.cx.eq(&gap.extent, &one) {
            Truth::No => is_dense,
            _ => run_time::either(
                run_time::compare(BinOp::Le, &gap.extent, &one, at),
                is_dense,
            ),
        };
        let message = format!("`span_as` of `{name}`: rows of {{1}} elements are {{0}} apart");
        reshaped::check(
            el,
            cond,
            (message, [stride, dense]),
            &[stride, dense, &gap.extent],
            at,
        );
    }
}

pub(crate) fn lower_sqz(el: &mut Elab<'_>, data: &mut Data, at: Span) -> Option<()> {
    let keep: Vec<bool> = data.view.shape.iter().map(|e| !e.is_one()).collect();
    if !data.squeezable || keep.iter().all(|k| *k) {
        let text = if data.squeezable {
            "no extent is 1: there is nothing to drop"
        } else {
            "`sqz` follows a `subspan`, `span_as` or `view`"
        };
        el.cx
            .report(Diagnostic::new(codes::E0823, at, text).label("can't squeeze this"));
        return None;
    }
    // Rank 0 is not a shape: a single element keeps one axis.
    let all_ones = keep.iter().all(|k| !*k);
    let kept = |i: usize| keep.get(i).copied().unwrap_or(true) || (all_ones && i == 0);
    reshaped::fold_dropped(&el.f.cx, &mut data.view, &kept);
    let mut index = 0..;
    data.view.shape.retain(|_| index.next().is_some_and(kept));
    let mut index = 0..;
    data.view.strides.retain(|_| index.next().is_some_and(kept));
    let mut index = 0..;
    data.view.valid.retain(|_| index.next().is_some_and(kept));
    if let Some(frame) = &mut data.view.frame {
        let mut index = 0..;
        frame.axes.retain(|_| index.next().is_some_and(kept));
    }
    Some(())
}
