//! `mma.store` of some of a fragment's columns: an epilogue in parts needs less shared memory.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::Columns;
use crate::sema::memory::view;
use crate::sema::state::elab::Elab;
use crate::sema::state::fragments::Named;
use crate::sema::state::value::{Data, Value};
use crate::sema::tensor_cores::operands;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, ViewOp};

/// The fragment that a store names, and the columns if it names a tile of it.
pub(crate) fn stored(el: &mut Elab<'_>, from: &ast::Expr) -> Option<(Named, Option<Columns>)> {
    let ast::ExprKind::View(base, op, at) = &*from.kind else {
        return Some((operands::fragment_of(el, from, false)?, None));
    };
    let value = el.expression(base);
    let whole = match &value {
        Value::Data(data) => Some(data.clone()),
        _ => None,
    };
    let named = operands::fragment_in(el, value, base.span, false)?;
    let columns = columns_of(el, whole?, op, *at, from.span)?;
    Some((named, Some(columns)))
}

fn columns_of(
    el: &mut Elab<'_>,
    whole: Data,
    op: &ViewOp,
    at: Span,
    span: Span,
) -> Option<Columns> {
    if operands::fragment_shape(&el.f, whole.view.buffer).is_none_or(|shape| shape.len() != 2) {
        return report(el, &whole, span, "not a tile of a matrix");
    }
    let part = view::lower_operator(el, whole.clone(), op, at)?;
    let ([rows, extent], [own_rows, own_extent]) = (&whole.view.shape[..], &part.view.shape[..])
    else {
        return report(el, &whole, span, "not rows and columns");
    };
    let cx = &el.f.cx;
    let first = cx.simplify(&(&part.view.offset - &whole.view.offset));
    let count = own_extent.as_int();
    let same_rows = cx.eq(rows, own_rows).is_yes() && part.view.strides == whole.view.strides;
    let is_inside =
        cx.le(&Sym::zero(), &first).is_yes() && cx.le(&(&first + own_extent), extent).is_yes();
    match count {
        Some(count) if same_rows && is_inside => Some(Columns { first, count }),
        _ if !same_rows => report(el, &whole, span, "not all of its rows"),
        None => report(el, &whole, span, "the number of columns is not constant"),
        _ => report(el, &whole, span, "these columns may be outside of it"),
    }
}

fn report<T>(el: &mut Elab<'_>, whole: &Data, span: Span, label: &str) -> Option<T> {
    let (name, shape) = (
        &whole.name,
        operands::fragment_shape(&el.f, whole.view.buffer),
    );
    let mut example = String::new();
    if let Some([rows, columns]) = shape.as_deref()
        && columns % 2 == 0
    {
        example = format!(
            ", for example `{name}.subspan({rows}, {}).at(0, 1)`",
            columns / 2
        );
    }
    el.cx.report(
        Diagnostic::new(
            codes::E0921,
            span,
            format!("only whole columns of `{name}` can be stored"),
        )
        .label(label)
        .help(format!(
            "store the fragment, or columns that are surely inside{example}"
        )),
    );
    None
}
