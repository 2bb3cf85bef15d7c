//! Products that are scaled: `c += (a b)[i, j] * rows[i] * factor`.
//!
//! They are made into sums of their own, which begin with zeros; then these are added to `c`, each element by
//! the thread that has it, and that has both. Passes know nothing of it: the scales of a thread's rows are a
//! fragment of rank 1, and what is done with them are two `apply`s.

use crate::diagnostics::Diagnostic;
use crate::ir::{
    self, Access, BinOp, BufferId, Expr, ExprKind, Fragment, LocalId, MathFn, MmaOp, Part, Role,
    Scalar, Spread, Stmt, StmtKind, Storage, View,
};
use crate::sema::asynchronous::futures;
use crate::sema::build;
use crate::sema::memory::{tiles, whole};
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::fragments::Named;
use crate::sema::state::value::Value;
use crate::sema::tensor_cores::operands::{self, sym};
use crate::sema::tensor_cores::{multiply, warpgroup};
use crate::sema::values::{convert, shape};
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, MmaStmt};

/// Warps of a warpgroup.
const WARPS: i64 = 4;

/// The scales of rows, where they are in memory.
struct RowScales {
    view: View,
    /// Along which rows go.
    axis: usize,
}

/// `mma.scale c, rows, factor;`
pub(crate) fn lower_scale(el: &mut Elab<'_>, m: &MmaStmt, span: Span) -> Option<()> {
    let [c, rows, factor] = m.operands.as_slice() else {
        el.cx.report(
            Diagnostic::new("E0100", span, "`mma.scale` takes `c, row_scales, scale`")
                .label("other operands than that"),
        );
        return None;
    };
    scale(el, c, rows, factor, 0, span)
}

/// `mma.row.row.scale c, a, b, rows, factor;`
pub(crate) fn lower_multiply(
    el: &mut Elab<'_>,
    m: &MmaStmt,
    rows: [bool; 2],
    span: Span,
) -> Option<()> {
    if m.is_async {
        el.cx.report(
            Diagnostic::new("E0100", span, "a product is `.async` or `.scale`, not both")
                .label("scaled when it is over, and so by this statement")
                .help("remove `.async`; or scale it behind its `wait`, by `mma.scale`"),
        );
        return None;
    }
    let [c, _, _, row_scales, factor] = m.operands.as_slice() else {
        return None;
    };
    let before = el.build.sinks.last().map_or(0, Vec::len);
    warpgroup::lower(el, m, rows, span)?;
    scale(el, c, row_scales, factor, before, span)
}

/// Scales the products into `c` among the statements here, from number `from` on.
fn scale(
    el: &mut Elab<'_>,
    c: &ast::Expr,
    rows: &ast::Expr,
    factor: &ast::Expr,
    from: usize,
    span: Span,
) -> Option<()> {
    let sums = operands::fragment_of(el, c, false)?;
    let begun = el.build.sinks.last().and_then(|here| {
        let here = here.get(from..)?;
        Some(from + first_product(el, here, &sums.part)?)
    });
    let Some(begun) = begun else {
        report_nothing_to_scale(el, &sums, span);
        return None;
    };
    let id = sums.part.buffer;
    let shape = operands::fragment_shape(&el.f, id)?;
    let elem = el.f.buffer(id).elem;
    if !elem.is_float() {
        let text = format!("`{}` has sums of `{elem}`, which are not scaled", sums.name);
        let d = Diagnostic::new("E0914", sums.span, text).label("scales are `f32`");
        el.cx
            .report(d.help("store the sums, and scale what is stored"));
        return None;
    }
    let scales = lower_row_scales(el, rows, *shape.first()?, &sums);
    let value = el.expression(factor);
    let factor = convert::convert(el, value, Scalar::F32, factor.span);
    let (scales, factor) = (scales?, factor?);
    let side = split_product(el, &sums, begun)?;
    multiply::lint_many_registers(el, &sums, 1);
    let factor = bind_value(el, factor);
    let row = emit_row_scales(el, &scales, &shape, factor, span);
    emit_add_scaled(el, &sums, &side, row, &shape, span);
    Some(())
}

/// The first of the statements with a product into `part`, since it was filled or scaled last.
fn first_product(el: &Elab<'_>, stmts: &[Stmt], part: &Part) -> Option<usize> {
    let since = stmts.iter().rposition(|stmt| begins_anew(el, stmt, part));
    let since = since.map_or(0, |at| at + 1);
    let mut rest = stmts.iter().skip(since);
    Some(since + rest.position(|stmt| product_in(stmt, part).is_some())?)
}

/// Whether the statement, or one of those it is made of, fills the sums or scales into them.
fn begins_anew(el: &Elab<'_>, stmt: &Stmt, part: &Part) -> bool {
    let here = match &stmt.kind {
        StmtKind::Mma(op) => match &**op {
            MmaOp::Each {
                part: filled, add, ..
            } => !add && covers(filled, part),
            MmaOp::Apply {
                part: to, indices, ..
            } => {
                let scales = indices.iter().any(|i| el.fragments.scaled.contains(i));
                scales && covers(to, part)
            }
            _ => false,
        },
        _ => false,
    };
    let mut inner = stmt.kind.blocks().flatten();
    here || inner.any(|stmt| begins_anew(el, stmt, part))
}

fn report_nothing_to_scale(el: &mut Elab<'_>, sums: &Named, span: Span) {
    let outer = el.build.sinks.iter().rev().skip(1);
    let elsewhere = outer
        .flatten()
        .rev()
        .find_map(|stmt| product_in(stmt, &sums.part));
    let text = format!("no product into `{}` stands in front of this", sums.name);
    let mut d = Diagnostic::new("E0915", span, text)
        .label("since they were filled or scaled last, and in this block");
    if let Some(at) = elsewhere {
        d = d.also(at, "this one is in another block");
    }
    el.cx
        .report(d.help("`mma.scale` stands behind the products that it scales, in the same block"));
}

/// A tile of memory with a number for each row of the sums.
fn lower_row_scales(
    el: &mut Elab<'_>,
    e: &ast::Expr,
    rows: i64,
    sums: &Named,
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
            sums.name
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
        Diagnostic::new("E0914", at, text)
            .label(format!("expected [{rows}, 1] or [1, {rows}] of `f32`"))
            .help(format!(
                "cut the rows of these sums out of it: `s.subspan({rows}, 1).at(i, k)`"
            )),
    );
}

/// Rows that the view, whose extent is known at run time only, doesn't have.
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
            "W0929",
            at,
            format!("there are {rows} rows, and scales for {shown}"),
        )
        .label("rows without a scale count as scaled by 0")
        .help(format!(
            "`s.subspan({rows}, 1).at(i, k)` says that this is meant"
        )),
    );
}

/// Sums for the products since statement `begun`, and zeros in front of it.
fn split_product(el: &mut Elab<'_>, sums: &Named, begun: usize) -> Option<Part> {
    let of = el.f.fragments.get(&sums.part.buffer)?;
    let fragment = Fragment {
        count: 1,
        ..of.clone()
    };
    let elem = el.f.buffer(sums.part.buffer).elem;
    let name = format!("{}_unscaled", sums.name.replace(['[', ']', ' '], "_"));
    let part = new_temporary(&mut el.f, &name, elem, fragment, sums.span);
    let zero = Expr::new(ExprKind::Float(0.0), elem, sums.span);
    let fill = MmaOp::Each {
        part: part.clone(),
        add: false,
        value: zero,
    };
    let here = el.build.sinks.last_mut()?;
    for stmt in here.iter_mut().skip(begun) {
        redirect(stmt, &sums.part, &part);
    }
    let fill = StmtKind::Mma(Box::new(fill));
    here.insert(begun, Stmt::new(fill, sums.span));
    Some(part)
}

/// A fragment without a name in the program.
fn new_temporary(
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

/// A value that several statements use.
fn bind_value(el: &mut Elab<'_>, value: Expr) -> Expr {
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
fn new_index(el: &mut Elab<'_>, name: &str, extent: i64, span: Span) -> (LocalId, Sym) {
    let local = build::new_local(&mut el.f, name, Scalar::Index, false, Role::Value, span);
    let var = build::local_var(&mut el.f, local, Some(Sym::zero()), Some(sym(extent - 1)));
    el.build.varying.insert(local);
    (local, Sym::var(var))
}

/// What each row is scaled by: `rows[i] * factor`, or nothing at all beyond the data's edge.
fn emit_row_scales(
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
        spread: Some(Spread::Rows { warps: WARPS }),
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

/// Whether an element of a view lies in the data that the view was cut from.
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

/// `c(i, j) += side(i, j) * row(i)`, rounded once.
fn emit_add_scaled(
    el: &mut Elab<'_>,
    sums: &Named,
    side: &Part,
    row: BufferId,
    shape: &[i64],
    span: Span,
) {
    let axes = shape.iter().zip(["i", "j"]);
    let (indices, vars): (Vec<LocalId>, Vec<Sym>) = axes
        .map(|(extent, name)| new_index(el, name, *extent, span))
        .unzip();
    let elem = el.f.buffer(sums.part.buffer).elem;
    let row = Part {
        buffer: row,
        number: None,
        span,
    };
    let first = vars.iter().take(1).cloned().collect();
    let sum = applied_element(&el.f, &sums.part, vars.clone(), span);
    let side = applied_element(&el.f, side, vars, span);
    let row = applied_element(&el.f, &row, first, span);
    let cast = |value: Expr, to: Scalar| match value.ty == to {
        true => value,
        false => Expr::new(ExprKind::Cast(value), to, span),
    };
    let load = |access: Access, ty| {
        let value = Expr::new(ExprKind::Load(access), ty, span);
        cast(value, Scalar::F32)
    };
    let terms = vec![
        load(side, elem),
        load(row, Scalar::F32),
        load(sum.clone(), elem),
    ];
    let value = Expr::new(ExprKind::Math(MathFn::Fma, terms), Scalar::F32, span);
    let store = StmtKind::Store {
        access: sum,
        op: None,
        value: cast(value, elem),
    };
    let (part, body) = (sums.part.clone(), vec![Stmt::new(store, span)]);
    el.fragments.scaled.extend(&indices);
    operands::emit(
        el,
        MmaOp::Apply {
            part,
            indices,
            body,
        },
        span,
    );
}

/// An element of a fragment, as the program would name it inside an `apply`.
fn applied_element(func: &ir::Function, part: &Part, indices: Vec<Sym>, span: Span) -> Access {
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

/// A product into `part` by the threads that come to the statement.
fn product_in(stmt: &Stmt, part: &Part) -> Option<Span> {
    match &stmt.kind {
        StmtKind::Region { .. } => None,
        StmtKind::Mma(op) => match &**op {
            MmaOp::Product(p) if is_same(&p.sums, part) => Some(stmt.span),
            _ => None,
        },
        kind => {
            let mut inner = kind.blocks().flatten();
            inner.find_map(|s| product_in(s, part))
        }
    }
}

fn redirect(stmt: &mut Stmt, from: &Part, to: &Part) {
    match &mut stmt.kind {
        StmtKind::Region { .. } => {}
        StmtKind::Mma(op) => {
            if let MmaOp::Product(product) = &mut **op
                && is_same(&product.sums, from)
            {
                product.sums = to.clone();
            }
        }
        kind => {
            for block in kind.blocks_mut() {
                for stmt in block {
                    redirect(stmt, from, to);
                }
            }
        }
    }
}

fn is_same(a: &Part, b: &Part) -> bool {
    a.buffer == b.buffer && a.number == b.number
}

/// Whether all of `part` is in what `other` names.
fn covers(other: &Part, part: &Part) -> bool {
    other.buffer == part.buffer && (other.number.is_none() || other.number == part.number)
}
