//! Copies within one buffer. The threads of a copy move its elements in no particular order, so the
//! two tiles must be identical or disjoint.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{BinOp, CheckCode, Expr, ExprKind, Scalar, Transform, View};
use crate::sema::checks::run_time::{self, Check, both, compare};
use crate::sema::state::elab::Elab;
use crate::sorted::SortedSet;
use crate::source::Span;
use crate::symbolic::{Sym, Truth};

/// Both tiles along one axis of the tensor that they are cut from: their first positions and
/// lengths.
struct Axis {
    source: Sym,
    dest: Sym,
    source_length: Sym,
    dest_length: Sym,
}

/// The axes, if both tiles are cut from the buffer in the same way.
fn axes(source: &View, dest: &View) -> Option<Vec<Axis>> {
    if !source.is_cut_like(dest) {
        return None;
    }
    let (from, to) = (source.frame.as_ref()?, dest.frame.as_ref()?);
    let length = |view: &View, axes: &[usize], axis| {
        let at = axes.iter().position(|of_view| *of_view == axis);
        at.map_or_else(|| Some(Sym::one()), |at| view.shape.get(at).cloned())
    };
    let both = from.origin.iter().zip(&to.origin).enumerate();
    both.map(|(axis, (a, b))| {
        Some(Axis {
            source: a.clone(),
            dest: b.clone(),
            source_length: length(source, &from.axes, axis)?,
            dest_length: length(dest, &to.axes, axis)?,
        })
    })
    .collect()
}

/// Whether the elements are contiguous, in the order of the indices.
fn is_dense(view: &View) -> bool {
    let mut expected = Sym::one();
    let mut axes = view.shape.iter().zip(&view.strides).rev();
    axes.all(|(length, stride)| {
        let dense = length.is_one() || *stride == expected;
        expected = &expected * length;
        dense
    }) && !view.may_cross()
}

/// The position of each element in the buffer, relative to the first element, in the order of the
/// indices. `None` if the positions are not constants, or if there are too many.
fn offsets(view: &View) -> Option<Vec<i64>> {
    let mut all = vec![0_i64];
    for (length, stride) in view.shape.iter().zip(&view.strides) {
        let (length, stride) = (length.as_int()?, stride.as_int()?);
        let count = i64::try_from(all.len()).ok()?.checked_mul(length)?;
        if count > MOST_ELEMENTS {
            return None;
        }
        let steps = |first: &i64| {
            let first = *first;
            (0..length).map(move |i| i.checked_mul(stride)?.checked_add(first))
        };
        all = all.iter().flat_map(steps).collect::<Option<_>>()?;
    }
    (!view.may_cross()).then_some(all)
}

const MOST_ELEMENTS: i64 = 1 << 16;

/// The relation between two tiles of one buffer.
enum Layout {
    /// To be compared along these axes.
    Axes(Vec<Axis>),
    /// All positions are known, and the tiles share elements without being identical.
    Overlap,
    /// The tiles are disjoint, or each element is copied to itself, or neither is known.
    Accepted,
}

/// Tiles that are cut alike are compared along each axis, dense ones as ranges of the buffer, and
/// others element by element if all positions are known.
fn layout(source: &View, dest: &View, straight: bool) -> Layout {
    if let Some(axes) = axes(source, dest) {
        return Layout::Axes(axes);
    }
    let count = |view: &View| view.shape.iter().product::<Sym>();
    if is_dense(source) && is_dense(dest) {
        return Layout::Axes(vec![Axis {
            source: source.offset.clone(),
            dest: dest.offset.clone(),
            source_length: count(source),
            dest_length: count(dest),
        }]);
    }
    match share_elements(source, dest, straight) {
        Some(true) => Layout::Overlap,
        Some(false) | None => Layout::Accepted,
    }
}

fn share_elements(source: &View, dest: &View, straight: bool) -> Option<bool> {
    let distance = (&dest.offset - &source.offset).as_int()?;
    let (from, to) = (offsets(source)?, offsets(dest)?);
    let to: Option<Vec<i64>> = to.iter().map(|at| at.checked_add(distance)).collect();
    let to = to?;
    let read: SortedSet<i64> = from.iter().copied().collect();
    Some(!(straight && from == to) && to.iter().any(|at| read.contains(at)))
}

/// The disjunction of the conditions.
fn any(conds: Vec<Expr>) -> Option<Expr> {
    conds.into_iter().reduce(|a, b| {
        let span = a.span;
        Expr::new(ExprKind::Binary(BinOp::LogicOr, a, b), Scalar::Bool, span)
    })
}

/// Reports tiles that overlap for all arguments, and returns `None`. Emits a check if the overlap
/// depends on the arguments. Windows with strides whose positions are not constants are only
/// checked by the simulated GPU.
pub(crate) fn check_apart(
    el: &mut Elab<'_>,
    source: &View,
    dest: &View,
    transform: &Transform,
    span: Span,
) -> Option<()> {
    if source.buffer != dest.buffer {
        return Some(());
    }
    let straight = matches!(transform, Transform::None) && source.shape == dest.shape;
    let axes = match layout(source, dest, straight) {
        Layout::Axes(axes) => axes,
        Layout::Overlap => return report(el, source, span),
        Layout::Accepted => return Some(()),
    };
    let cx = &el.f.cx;
    let mut overlap = Truth::Yes;
    for axis in &axes {
        let (source_end, dest_end) = (
            &axis.source + &axis.source_length,
            &axis.dest + &axis.dest_length,
        );
        let (first, second) = (
            cx.le(&source_end, &axis.dest),
            cx.le(&dest_end, &axis.source),
        );
        match (first, second) {
            (Truth::Yes, _) | (_, Truth::Yes) => return Some(()),
            (Truth::No, Truth::No) => {}
            _ => overlap = Truth::Unknown,
        }
    }
    let same: Vec<Truth> = axes.iter().map(|a| cx.eq(&a.source, &a.dest)).collect();
    if straight && same.iter().all(|same| same.is_yes()) {
        return Some(());
    }
    let never_same = !straight || same.iter().any(|same| same.is_no());
    if overlap.is_yes() && never_same {
        return report(el, source, span);
    }
    let name = el.f.buffer(source.buffer).name.clone();
    emit_apart(el, &name, &axes, !never_same, span);
    Some(())
}

fn report(el: &mut Elab<'_>, source: &View, span: Span) -> Option<()> {
    let name = &el.f.buffer(source.buffer).name;
    let title = format!("the tiles of `{name}` that this copies from and to overlap");
    el.cx.report(
        Diagnostic::new(codes::E0883, span, title)
            .label("elements are overwritten before or after they are read")
            .help("copy to another buffer first"),
    );
    None
}

fn emit_apart(el: &mut Elab<'_>, name: &str, axes: &[Axis], may_be_same: bool, span: Span) {
    let mut conds = Vec::new();
    for axis in axes {
        let (source_end, dest_end) = (
            &axis.source + &axis.source_length,
            &axis.dest + &axis.dest_length,
        );
        for (end, begin) in [(source_end, &axis.dest), (dest_end, &axis.source)] {
            if !el.f.cx.le(&end, begin).is_no() {
                conds.push(compare(BinOp::Le, &end, begin, span));
            }
        }
    }
    if may_be_same {
        let equal = axes
            .iter()
            .filter(|a| !el.f.cx.eq(&a.source, &a.dest).is_yes())
            .map(|a| compare(BinOp::Eq, &a.source, &a.dest, span));
        conds.extend(equal.reduce(both));
    }
    let Some(cond) = any(conds) else { return };
    let inputs: Vec<Sym> = axes
        .iter()
        .flat_map(|a| [&a.source, &a.source_length, &a.dest, &a.dest_length])
        .cloned()
        .collect();
    let inputs: Vec<&Sym> = inputs.iter().collect();
    // The message shows the first axis along which the overlap is not decided.
    let shown = axes
        .iter()
        .find(|a| !el.f.cx.eq(&a.source, &a.dest).is_yes());
    let values: Vec<Sym> = shown.map_or_else(Vec::new, |a| vec![a.source.clone(), a.dest.clone()]);
    let mut message = format!("the tiles of `{name}` that this copies from and to overlap");
    if !values.is_empty() {
        message.push_str(": they begin at {0} and {1}");
    }
    run_time::emit_check(
        el,
        Check::new(CheckCode::R23, message, span),
        cond,
        &values,
        &inputs,
    );
}
