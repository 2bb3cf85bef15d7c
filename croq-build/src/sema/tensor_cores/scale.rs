//! Scaled MMAs: `c += (a b)[i, j] * rows[i] * factor`.
//!
//! The MMAs accumulate into a temporary that begins with zeros; it is then scaled and added to `c`,
//! each element by the thread that has it in both. Passes need no support for this: the scales of a
//! thread's rows are a fragment of rank 1, and the scaling consists of two `apply`s.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{
    Access, BufferId, Expr, ExprKind, Fragment, LocalId, MathFn, MmaOp, Part, Scalar, Stmt,
    StmtKind,
};
use crate::sema::state::elab::Elab;
use crate::sema::state::fragments::Named;
use crate::sema::tensor_cores::{multiply, operands, row_scales, warpgroup};
use crate::sema::values::convert;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, MmaStmt};

/// `mma.scale c, rows, factor;`
pub(crate) fn lower_scale(el: &mut Elab<'_>, m: &MmaStmt, span: Span) -> Option<()> {
    let [c, rows, factor] = m.operands.as_slice() else {
        el.cx.report(
            Diagnostic::new(
                codes::E0100,
                span,
                "`mma.scale` takes `c, row_scales, scale`",
            )
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
            Diagnostic::new(
                codes::E0100,
                span,
                "an MMA can't be both `.async` and `.scale`",
            )
            .label("scaled when it is over, and so by this statement")
            .help("remove `.async`, or scale the accumulator after the `wait` with `mma.scale`"),
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

/// Scales the MMAs into `c` in the current list of statements, from statement `from` on.
fn scale(
    el: &mut Elab<'_>,
    c: &ast::Expr,
    rows: &ast::Expr,
    factor: &ast::Expr,
    from: usize,
    span: Span,
) -> Option<()> {
    let acc = operands::fragment_of(el, c, false)?;
    let begun = el.build.sinks.last().and_then(|here| {
        let here = here.get(from..)?;
        Some(from + first_mma(el, here, &acc.part)?)
    });
    let Some(begun) = begun else {
        report_nothing_to_scale(el, &acc, span);
        return None;
    };
    let id = acc.part.buffer;
    let shape = operands::fragment_shape(&el.f, id)?;
    let elem = el.f.buffer(id).elem;
    if !elem.is_float() {
        let text = format!(
            "the accumulator `{}` has elements of `{elem}`, which can't be scaled",
            acc.name
        );
        let d = Diagnostic::new(codes::E0914, acc.span, text).label("scales are `f32`");
        el.cx
            .report(d.help("store the accumulator, and scale the stored elements"));
        return None;
    }
    let scales = row_scales::lower_row_scales(el, rows, *shape.first()?, &acc);
    let value = el.expression(factor);
    let factor = convert::convert(el, value, Scalar::F32, factor.span);
    let (scales, factor) = (scales?, factor?);
    let side = split_mma(el, &acc, begun)?;
    multiply::check_registers(el, &acc, 1);
    let factor = row_scales::bind_value(el, factor);
    let row = row_scales::emit_row_scales(el, &scales, &shape, factor, span);
    emit_add_scaled(el, &acc, &side, row, &shape, span);
    Some(())
}

/// The index of the first MMA into `part` after the last statement that filled it or added scaled
/// MMAs to it.
fn first_mma(el: &Elab<'_>, stmts: &[Stmt], part: &Part) -> Option<usize> {
    let since = stmts
        .iter()
        .rposition(|stmt| starts_new_sum(el, stmt, part));
    let since = since.map_or(0, |at| at + 1);
    let mut rest = stmts.iter().skip(since);
    Some(since + rest.position(|stmt| mma_in(stmt, part).is_some())?)
}

/// Whether the statement, or one nested in it, fills the accumulator or adds scaled MMAs to it.
fn starts_new_sum(el: &Elab<'_>, stmt: &Stmt, part: &Part) -> bool {
    let here = match &stmt.kind {
        StmtKind::Mma(op) => match &**op {
            MmaOp::FillElements {
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
    here || inner.any(|stmt| starts_new_sum(el, stmt, part))
}

fn report_nothing_to_scale(el: &mut Elab<'_>, acc: &Named, span: Span) {
    let outer = el.build.sinks.iter().rev().skip(1);
    let elsewhere = outer
        .flatten()
        .rev()
        .find_map(|stmt| mma_in(stmt, &acc.part));
    let text = format!("no MMA into `{}` precedes this `mma.scale`", acc.name);
    let mut d = Diagnostic::new(codes::E0915, span, text)
        .label("since they were filled or scaled last, and in this block");
    if let Some(at) = elsewhere {
        d = d.also(at, "this one is in another block");
    }
    el.cx
        .report(d.help("put `mma.scale` after the MMAs that it scales, in the same block"));
}

/// Creates a temporary accumulator for the MMAs from statement `begun` on, and fills it with zeros
/// before them.
fn split_mma(el: &mut Elab<'_>, acc: &Named, begun: usize) -> Option<Part> {
    let of = el.f.fragments.get(&acc.part.buffer)?;
    let fragment = Fragment {
        count: 1,
        ..of.clone()
    };
    let elem = el.f.buffer(acc.part.buffer).elem;
    let name = format!("{}_unscaled", acc.name.replace(['[', ']', ' '], "_"));
    let part = row_scales::new_temporary(&mut el.f, &name, elem, fragment, acc.span);
    let zero = Expr::new(ExprKind::Float(0.0), elem, acc.span);
    let fill = MmaOp::FillElements {
        part: part.clone(),
        add: false,
        value: zero,
    };
    let here = el.build.sinks.last_mut()?;
    for stmt in here.iter_mut().skip(begun) {
        redirect(stmt, &acc.part, &part);
    }
    let fill = StmtKind::Mma(Box::new(fill));
    here.insert(begun, Stmt::new(fill, acc.span));
    Some(part)
}

/// `c(i, j) += side(i, j) * row(i)`, rounded once.
fn emit_add_scaled(
    el: &mut Elab<'_>,
    acc: &Named,
    side: &Part,
    row: BufferId,
    shape: &[i64],
    span: Span,
) {
    let axes = shape.iter().zip(["i", "j"]);
    let (indices, vars): (Vec<LocalId>, Vec<Sym>) = axes
        .map(|(extent, name)| row_scales::new_index(el, name, *extent, span))
        .unzip();
    let elem = el.f.buffer(acc.part.buffer).elem;
    let row = Part {
        buffer: row,
        number: None,
        span,
    };
    let first = vars.iter().take(1).cloned().collect();
    let sum = row_scales::applied_element(&el.f, &acc.part, vars.clone(), span);
    let side = row_scales::applied_element(&el.f, side, vars, span);
    let row = row_scales::applied_element(&el.f, &row, first, span);
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
    let (part, body) = (acc.part.clone(), vec![Stmt::new(store, span)]);
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

/// An MMA into `part`, in the statement or nested in it, by the same threads.
fn mma_in(stmt: &Stmt, part: &Part) -> Option<Span> {
    match &stmt.kind {
        StmtKind::Region { .. } => None,
        StmtKind::Mma(op) => match &**op {
            MmaOp::WarpgroupMma(p) if is_same(&p.acc, part) => Some(stmt.span),
            _ => None,
        },
        kind => {
            let mut inner = kind.blocks().flatten();
            inner.find_map(|s| mma_in(s, part))
        }
    }
}

fn redirect(stmt: &mut Stmt, from: &Part, to: &Part) {
    match &mut stmt.kind {
        StmtKind::Region { .. } => {}
        StmtKind::Mma(op) => {
            if let MmaOp::WarpgroupMma(mma) = &mut **op
                && is_same(&mma.acc, from)
            {
                mma.acc = to.clone();
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

/// Whether `other` includes all of `part`.
fn covers(other: &Part, part: &Part) -> bool {
    other.buffer == part.buffer && (other.number.is_none() || other.number == part.number)
}
