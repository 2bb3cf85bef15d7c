//! The shapes of copies: transposition, padding, and the agreement of both sides.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{BinOp, CheckCode, Transform};
use crate::sema::checks::run_time;
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::value::Data;
use crate::sema::values::{arith, constants, convert, shape};
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast::{self, CopyDest, CopyOp, CopyStmt};

/// The widest border of a padded copy.
const MOST_PADDING: i64 = 2048;

/// The transformation of a copy, and the shape of the data after it.
pub(crate) fn lower_transform(
    el: &mut Elab<'_>,
    c: &CopyStmt,
    source: &Data,
) -> Option<(Transform, Vec<Sym>)> {
    let shape = &source.view.shape;
    let rank = shape.len();
    if rank > 5 {
        el.cx.report(
            Diagnostic::new(
                codes::E0838,
                c.source.span,
                format!("copies move at most 5 dimensions, this has {rank}"),
            )
            .label("too many dimensions"),
        );
        return None;
    }
    match &c.op {
        CopyOp::Copy | CopyOp::Load => Some((Transform::None, shape.clone())),
        CopyOp::Transp(perm) => {
            let perm = lower_permutation(&mut el.cx, perm, rank, c.head)?;
            let turned = perm.iter().filter_map(|p| shape.get(*p).cloned()).collect();
            Some((Transform::Transpose(perm), turned))
        }
        CopyOp::Pad {
            low,
            high,
            mid,
            value,
        } => lower_padding(el, low, high, mid, value, source),
    }
}

fn lower_permutation(
    cx: &mut Cx<'_>,
    perm: &[ast::Expr],
    rank: usize,
    at: Span,
) -> Option<Vec<usize>> {
    if perm.len() != rank {
        cx.report(
            Diagnostic::new(
                codes::E0807,
                at,
                format!("`transp` lists {} axes, the data has {rank}", perm.len()),
            )
            .label(format!("expected {rank} entries"))
            .help("write the source axis of each destination axis: `dma.transp<1, 0>`"),
        );
        return None;
    }
    let mut out = Vec::new();
    for p in perm {
        let axis = constants::constant(p)
            .and_then(|n| usize::try_from(n).ok())
            .filter(|n| *n < rank);
        match axis {
            Some(a) if !out.contains(&a) => out.push(a),
            _ => {
                let text = cx.file.snippet(p.span).to_owned();
                cx.report(
                    Diagnostic::new(
                        codes::E0806,
                        p.span,
                        format!(
                            "`transp` needs each of 0 to {} once; `{text}` breaks that",
                            rank - 1
                        ),
                    )
                    .label("missing, repeated or too large"),
                );
                return None;
            }
        }
    }
    Some(out)
}

fn lower_padding(
    el: &mut Elab<'_>,
    low: &[ast::Expr],
    high: &[ast::Expr],
    mid: &[ast::Expr],
    value: &ast::Expr,
    source: &Data,
) -> Option<(Transform, Vec<Sym>)> {
    let rank = source.view.rank();
    let mut lists = Vec::new();
    for list in [low, high, mid] {
        if list.len() != rank {
            let at = list.first().map_or(value.span, |e| e.span);
            el.cx.report(
                Diagnostic::new(
                    codes::E0809,
                    at,
                    format!(
                        "a padding list has {} entries, the data has {rank} dimension{}",
                        list.len(),
                        if rank == 1 { "" } else { "s" }
                    ),
                )
                .label(format!("expected {rank}")),
            );
            return None;
        }
        let mut numbers = Vec::new();
        for e in list {
            numbers.push(lower_width(el, e)?);
        }
        lists.push(numbers);
    }
    if let Some(position) = lists
        .get(2)
        .and_then(|m| m.iter().position(|n| !n.is_zero()))
    {
        let at = mid.get(position).map_or(value.span, |e| e.span);
        el.cx.report(
            Diagnostic::new(
                codes::E0808,
                at,
                "padding between elements must be 0 on a GPU",
            )
            .label("not 0"),
        );
        return None;
    }
    let elem = el.f.buffer(source.view.buffer).elem;
    let v = el.expression(value);
    let value = convert::convert(el, v, elem, value.span)?;
    let mut lists = lists.into_iter();
    let low = lists.next().unwrap_or_default();
    let high = lists.next().unwrap_or_default();
    let shape = (source.view.shape.iter().zip(&low).zip(&high))
        .map(|((extent, low), high)| &(extent + low) + high)
        .collect();
    Some((Transform::Pad { low, value }, shape))
}

/// The width of a border: a constant, or an integer that is known when the kernel runs.
fn lower_width(el: &mut Elab<'_>, e: &ast::Expr) -> Option<Sym> {
    let value = el.expression(e);
    let width = arith::to_sym(el, value, e.span)?;
    let Some(n) = width.as_int() else {
        let message = "padding is {0} elements, and is 0 to {1}".to_owned();
        let check = run_time::Check::new(CheckCode::R06, message, e.span);
        run_time::emit_compare(el, check, BinOp::Le, &width, &Sym::int(MOST_PADDING));
        let message = "padding is {1} elements, and is {0} or more".to_owned();
        let check = run_time::Check::new(CheckCode::R06, message, e.span);
        run_time::emit_compare(el, check, BinOp::Le, &Sym::zero(), &width);
        return Some(width);
    };
    if !(0..=MOST_PADDING).contains(&n) {
        el.cx.report(
            Diagnostic::new(
                codes::E0839,
                e.span,
                format!("padding is 0 to {MOST_PADDING} elements, this is {n}"),
            )
            .label("out of range"),
        );
        return None;
    }
    Some(width)
}

/// What a copy moves, and where to.
pub(crate) struct Sides<'a> {
    source: &'a Data,
    /// The source's shape after the transformation.
    moved: &'a [Sym],
    dest: &'a Data,
}

impl<'a> Sides<'a> {
    pub fn new(source: &'a Data, moved: &'a [Sym], dest: &'a Data) -> Self {
        Self {
            source,
            moved,
            dest,
        }
    }
}

/// Compares the shape after the transformation with the destination's. Returns whether destination
/// elements that the copy does not cover become zero: where the program asks for it, and always for
/// a larger destination in a kernel's own memory that is filled from global memory by threads.
pub(crate) fn check_agree(
    el: &mut Elab<'_>,
    sides: &Sides<'_>,
    c: &CopyStmt,
    zfill: bool,
    transform: &Transform,
) -> Option<bool> {
    let from = sides.moved;
    let to = sides.dest.view.shape.clone();
    let at = c.head.to(match &c.dest {
        CopyDest::View(e) => e.span,
        CopyDest::Storage(_, s) => *s,
    });
    let (shown_from, shown_to) = (shape::show(&el.f, from), shape::show(&el.f, &to));
    if from.len() != to.len() {
        el.cx.report(
            Diagnostic::new(
                codes::E0802,
                at,
                format!("ranks differ: {shown_from} into {shown_to}"),
            )
            .label(format!("{} dimensions into {}", from.len(), to.len()))
            .help("reshape one side with `span_as`, or drop unit axes with `sqz`"),
        );
        return None;
    }
    let exact = c.engine == ast::Engine::Tma || matches!(transform, Transform::Pad { .. });
    let mut smaller = false;
    let mut unknown = Vec::new();
    for (axis, (f, t)) in from.iter().zip(&to).enumerate() {
        if el.f.cx.eq(f, t) == Truth::Yes {
            continue;
        }
        let (le, eq) = (el.f.cx.le(f, t), el.f.cx.eq(f, t));
        match (le, eq) {
            (Truth::No, _) => {}
            (Truth::Yes, Truth::No) if exact => {}
            (Truth::Yes, Truth::No) => {
                smaller = true;
                continue;
            }
            _ => {
                unknown.push(axis);
                continue;
            }
        }
        let (sf, st) = (el.f.cx.show(f), el.f.cx.show(t));
        let d = if le == Truth::No {
            let text = format!("{shown_from} does not fit into {shown_to}");
            Diagnostic::new(codes::E0805, at, text)
                .label(format!("axis {axis}: {sf} elements into {st}"))
                .help("no axis of the source of a copy is larger than the destination's")
        } else {
            let text = format!("{shown_from} and {shown_to} differ");
            let d = Diagnostic::new(codes::E0804, at, text)
                .label(format!("axis {axis}: {sf} and {st}"));
            match c.engine {
                ast::Engine::Tma => d.help("`tma` moves whole boxes: give both sides one shape, or use `dma`, which fills the rest with zeros"),
                ast::Engine::Dma => d.help("what is padded has the destination's shape"),
            }
        };
        el.cx.report(d);
        return None;
    }
    for axis in &unknown {
        let (Some(f), Some(t)) = (from.get(*axis), to.get(*axis)) else {
            continue;
        };
        if el.f.cx.le(f, t) == Truth::Yes {
            continue;
        }
        let message = format!("axis {axis} of the copy: {{0}} elements do not fit into {{1}}");
        let (f, t) = (f.clone(), t.clone());
        run_time::emit_compare(
            el,
            run_time::Check::new(CheckCode::R07, message, at),
            BinOp::Le,
            &f,
            &t,
        );
    }
    let filled = el.f.buffer_is_global(sides.source.view.buffer)
        && !el.f.buffer_is_global(sides.dest.view.buffer);
    Some(zfill || filled && (smaller || !unknown.is_empty()))
}
