//! Copies within one buffer. The threads of a copy move its elements in no order, so that the two tiles are the same
//! elements, or have none in common.

use crate::diagnostics::Diagnostic;
use crate::ir::{BinOp, Expr, ExprKind, Scalar, Transform, View};
use crate::sema::checks::run_time::{self, Check, both, compare};
use crate::sema::state::elab::Elab;
use crate::source::Span;
use crate::symbolic::{Sym, Truth};

/// Along one axis of the tensor that both tiles are cut from: where they begin, and how far they reach.
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

/// Any of these.
fn any(conds: Vec<Expr>) -> Option<Expr> {
    conds.into_iter().reduce(|a, b| {
        let span = a.span;
        Expr::new(ExprKind::Binary(BinOp::LogicOr, a, b), Scalar::Bool, span)
    })
}

/// `None` if the tiles overlap whatever the arguments. Where that depends on them, a check is left. Tiles with
/// strides of their own are for the simulated GPU to look at.
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
    let Some(axes) = axes(source, dest) else {
        return Some(());
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
    let straight = matches!(transform, Transform::None) && source.shape == dest.shape;
    let same: Vec<Truth> = axes.iter().map(|a| cx.eq(&a.source, &a.dest)).collect();
    if straight && same.iter().all(|same| same.is_yes()) {
        return Some(());
    }
    let never_same = !straight || same.iter().any(|same| same.is_no());
    let name = el.f.buffer(source.buffer).name.clone();
    if overlap.is_yes() && never_same {
        el.cx.report(
            Diagnostic::new(
                "E0883",
                span,
                format!("the tiles of `{name}` that this copies from and to overlap"),
            )
            .label("elements are overwritten before or after they are read")
            .help("copy to another buffer first"),
        );
        return None;
    }
    emit_apart(el, &name, &axes, !never_same, span);
    Some(())
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
    // The first axis along which it is in question is shown.
    let shown = axes
        .iter()
        .find(|a| !el.f.cx.eq(&a.source, &a.dest).is_yes());
    let values: Vec<Sym> = shown.map_or_else(Vec::new, |a| vec![a.source.clone(), a.dest.clone()]);
    let mut message = format!("the tiles of `{name}` that this copies from and to overlap");
    if !values.is_empty() {
        message.push_str(": they begin at {0} and {1}");
    }
    run_time::emit_check(el, Check::new("R23", message, span), cond, &values, &inputs);
}
