//! Scales for the rows of MMAs.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{
    self, Access, BinOp, BufferId, Expr, ExprKind, Fragment, FragmentLayout, Level, LocalId, MmaOp,
    Part, Role, Scalar, Stmt, StmtKind, Storage, View,
};
use crate::sema::asynchronous::futures;
use crate::sema::build;
use crate::sema::memory::{tiles, whole};
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::fragments::Named;
use crate::sema::state::value::Value;
use crate::sema::tensor_cores::operands::{self, sym};
use crate::sema::values::shape;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast;

/// Warps of a warpgroup.
const WARPS: i64 = 4;

/// The scales of rows, in memory.
pub(crate) struct RowScales {
    view: View,
    /// The axis of the view along which the rows are.
    axis: usize,
}

/// Lowers a memory tile with a scale for each row of the accumulator.
pub(crate) fn lower_row_scales(
    el: &mut Elab<'_>,
    e: &ast::Expr,
    rows: i64,
    acc: &Named,
) -> Option<RowScales> {
    let data = match el.expression(e) {
        Value::Data(mut data) => {
            tiles::emit_exists(el, &mut data);
            whole::expect_whole(el, data, e.span)?
        }
        Value::Error => return None,
        other => {
            let kind = other.kind();
            let text = format!("the scales of rows are a tile of memory, this is {kind}");
            report_wrong_scales(&mut el.cx, text, rows, e.span);
            return None;
        }
    };
    futures::emit_use(el, &data, e.span);
    let buffer = el.f.buffer(data.view.buffer);
    let (elem, own) = (buffer.elem, buffer.storage == Storage::Local);
    let name = &data.name;
    if elem != Scalar::F32 || own {
        let text = match own {
            true => format!("`{name}` is each thread's own, the scales of rows are everyone's"),
            false => format!("the scales of rows are `f32`, `{name}` has elements of `{elem}`"),
        };
        report_wrong_scales(&mut el.cx, text, rows, e.span);
        return None;
    }
    let mut view = data.view;
    let axis = match view.shape.as_slice() {
        [_, one] if one.is_one() => 0,
        [one, _] if one.is_one() => 1,
        _ => usize::MAX,
    };
    let extent = view.shape.get(axis).cloned();
    let known = extent.as_ref().map(Sym::as_int);
    let (Some(extent), None | Some(None)) = (extent, known.filter(|n| *n != Some(rows))) else {
        let shown = shape::show(&el.f, &view.shape);
        let text = format!(
            "`{}` has {rows} rows, their scales have shape {shown}",
            acc.name
        );
        report_wrong_scales(&mut el.cx, text, rows, e.span);
        return None;
    };
    if extent.as_int().is_none() {
        limit_rows(el, &mut view, axis, extent, rows, e.span);
    }
    whole::mark_accessed(&mut el.f, &view, true, false);
    Some(RowScales { view, axis })
}

fn report_wrong_scales(cx: &mut Cx<'_>, text: String, rows: i64, at: Span) {
    cx.report(
        Diagnostic::new(codes::E0914, at, text)
            .label(format!("expected [{rows}, 1] or [1, {rows}] of `f32`"))
            .help(format!(
                "select the rows of this accumulator: `s.subspan({rows}, 1).at(i, k)`"
            )),
    );
}

/// Limits the view to its rows, whose number is only known at run time.
fn limit_rows(el: &mut Elab<'_>, view: &mut View, axis: usize, extent: Sym, rows: i64, at: Span) {
    let shown = el.f.cx.show(&extent);
    if let Some(valid) = view.valid.get_mut(axis) {
        valid.hi = Some(match &valid.hi {
            Some(hi) => el.f.cx.min(hi, &extent),
            None => extent,
        });
    }
    el.cx.report(
        Diagnostic::new(
            codes::W0929,
            at,
            format!("there are {rows} rows, and scales for {shown}"),
        )
        .label("rows without a scale count as scaled by 0")
        .help(format!(
            "`s.subspan({rows}, 1).at(i, k)` says that this is meant"
        )),
    );
}

/// A fragment that has no name in the program.
pub(crate) fn new_temporary(
    func: &mut ir::Function,
    name: &str,
    elem: Scalar,
    fragment: Fragment,
    span: Span,
) -> Part {
    let shape = fragment.shape.iter().map(|n| sym(*n)).collect();
    let buffer = build::new_buffer(
        func,
        build::NewBuffer {
            name,
            elem,
            storage: Storage::Fragment,
            shape,
            copies: Sym::one(),
            span,
        },
    );
    func.fragments.insert(buffer, fragment);
    Part {
        buffer,
        number: Some(Sym::zero()),
        span,
    }
}

/// Binds a value that several statements use to a local.
pub(crate) fn bind_value(el: &mut Elab<'_>, value: Expr) -> Expr {
    if let ExprKind::Float(_) | ExprKind::Local(_) | ExprKind::Param(_) = &*value.kind {
        return value;
    }
    let (ty, span) = (value.ty, value.span);
    let local = build::new_local(&mut el.f, "scale", ty, false, Role::Value, span);
    let value = Some(value);
    build::emit(el, StmtKind::Let { local, value }, span);
    Expr::new(ExprKind::Local(local), ty, span)
}

/// An index of an `apply`.
pub(crate) fn new_index(el: &mut Elab<'_>, name: &str, extent: i64, span: Span) -> (LocalId, Sym) {
    let local = build::new_local(&mut el.f, name, Scalar::Index, false, Role::Value, span);
    let var = build::local_var(&mut el.f, local, Some(Sym::zero()), Some(sym(extent - 1)));
    el.build.vary(local, Level::Thread);
    (local, Sym::var(var))
}

/// Emits the scale of each row into a fragment: `rows[i] * factor`, or zero beyond the edge of the
/// data.
pub(crate) fn emit_row_scales(
    el: &mut Elab<'_>,
    scales: &RowScales,
    shape: &[i64],
    factor: Expr,
    span: Span,
) -> BufferId {
    let rows = shape.first().copied().unwrap_or(1);
    let fragment = Fragment {
        shape: vec![rows],
        count: 1,
        layout: Some(FragmentLayout::Rows { warps: WARPS }),
    };
    let part = new_temporary(&mut el.f, "row_scales", Scalar::F32, fragment, span);
    let (local, i) = new_index(el, "i", rows, span);
    let mut indices = vec![Sym::zero(); 2];
    if let Some(index) = indices.get_mut(scales.axis) {
        *index = i.clone();
    }
    let inside = has_scale(&el.f, &scales.view, &indices, span);
    let access = Access {
        view: scales.view.clone(),
        indices,
        span,
    };
    let f32 = |kind| Expr::new(kind, Scalar::F32, span);
    let scale = f32(ExprKind::Load(access));
    let mut value = f32(ExprKind::Binary(BinOp::Mul, scale, factor));
    if let Some(inside) = inside {
        value = f32(ExprKind::Select(inside, value, f32(ExprKind::Float(0.0))));
    }
    let store = StmtKind::Store {
        access: applied_element(&el.f, &part, vec![i], span),
        op: None,
        value,
    };
    let (buffer, indices) = (part.buffer, vec![local]);
    let body = vec![Stmt::new(store, span)];
    operands::emit(
        el,
        MmaOp::Apply {
            part,
            indices,
            body,
        },
        span,
    );
    buffer
}

/// The condition for an element of a view to be inside the data that the view was cut from.
fn has_scale(func: &ir::Function, view: &View, place: &[Sym], span: Span) -> Option<Expr> {
    let bool = |kind| Expr::new(kind, Scalar::Bool, span);
    let mut all = Vec::new();
    let mut below = |op, a: &Sym, b: &Sym| {
        let [a, b] = [a, b].map(|s| Expr::index(s.clone(), span));
        all.push(bool(ExprKind::Binary(op, a, b)));
    };
    for (at, valid) in place.iter().zip(&view.valid) {
        if let Some(lo) = valid.lo.as_ref().filter(|lo| !func.cx.le(lo, at).is_yes()) {
            below(BinOp::Le, lo, at);
        }
        if let Some(hi) = valid.hi.as_ref().filter(|hi| !func.cx.lt(at, hi).is_yes()) {
            below(BinOp::Lt, at, hi);
        }
    }
    let both = |a, b| bool(ExprKind::Binary(BinOp::LogicAnd, a, b));
    all.into_iter().reduce(both)
}

/// An access of a fragment's element inside an `apply`.
pub(crate) fn applied_element(
    func: &ir::Function,
    part: &Part,
    indices: Vec<Sym>,
    span: Span,
) -> Access {
    let mut view = whole::whole_view(func, part.buffer, span);
    let elements = view.shape.iter().product::<Sym>();
    if let Some(number) = &part.number {
        view.offset = number * &elements;
    }
    Access {
        view,
        indices,
        span,
    }
}
