//! Arrays of buffers, events and fragments.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::CheckCode;
use crate::sema::memory::{bounds, guards};
use crate::sema::state::cx::source_text;
use crate::sema::state::elab::Elab;
use crate::sema::state::value::{Data, Value};
use crate::sema::values::arith;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast;

/// The extent of an array; `what` are its elements, for messages.
pub(crate) fn array_extent(el: &mut Elab<'_>, e: &ast::Expr, what: &str) -> Option<u64> {
    let v = el.expression(e);
    if v.is_error() {
        return None;
    }
    match arith::int_of(&v).and_then(|i| i.value.as_int()) {
        Some(n @ 1..) => u64::try_from(n).ok(),
        Some(n) => {
            el.cx.report(
                Diagnostic::new(
                    codes::E0434,
                    e.span,
                    format!("an array needs at least one {what}, this is {n}"),
                )
                .label("not positive"),
            );
            None
        }
        None => {
            el.cx.report(
                Diagnostic::new(
                    codes::E0435,
                    e.span,
                    format!("the number of {what}s must be a compile-time integer"),
                )
                .label("not a constant"),
            );
            None
        }
    }
}

/// The number of buffers of an array.
pub(crate) fn elements_of(array: &[u64]) -> u64 {
    array.iter().fold(1, |all, n| all.saturating_mul(*n))
}

/// `a[i]` on an array of buffers.
pub(crate) fn element_of_array(
    el: &mut Elab<'_>,
    mut d: Data,
    index: &ast::Expr,
    span: Span,
) -> Value {
    if d.array.is_empty() {
        let base = Span::new(span.start, index.span.start.saturating_sub(1));
        let written = source_text(&el.cx, base, &d.name);
        let rank = d.view.shape.len();
        let index = source_text(&el.cx, index.span, "i");
        let help = match rank {
            1 => format!("its elements are `{}.at({index})`", written.trim_end()),
            0 => "it has one element, which is its name alone".to_owned(),
            _ => {
                let names = ["i", "j", "k", "l", "…"];
                let indices = names.get(..rank).unwrap_or(&names).join(", ");
                format!("its elements are `{}.at({indices})`", written.trim_end())
            }
        };
        el.cx.report(
            Diagnostic::new(
                codes::E0438,
                span,
                format!("`{}` is not an array of buffers", written.trim_end()),
            )
            .label("can't be subscripted")
            .help(help),
        );
        return Value::Error;
    }
    let extent = d.array.remove(0);
    let rest: u64 = elements_of(&d.array);
    let v = el.expression(index);
    let Some(i) = arith::to_sym(el, v, index.span) else {
        return Value::Error;
    };
    let extent = Sym::int(i64::try_from(extent).unwrap_or(i64::MAX));
    let guards = el.build.guards.len();
    if !bounds::check_inside(
        el,
        (codes::E0437, CheckCode::R13),
        &bounds::Bound {
            index: &i,
            lo: &Sym::zero(),
            hi: &extent,
            span: index.span,
        },
        &|| format!("the subscript of `{}`", d.name),
    ) {
        return Value::Error;
    }
    let most = Some(&extent - 1);
    let i = guards::checked_or_first(el, guards, i, most, index.span);
    let elements = d.view.shape.iter().product::<Sym>();
    let rest = Sym::int(i64::try_from(rest).unwrap_or(i64::MAX));
    d.view.offset = &d.view.offset + &(&(&i * &rest) * &elements);
    d.span = span;
    Value::Data(d)
}
