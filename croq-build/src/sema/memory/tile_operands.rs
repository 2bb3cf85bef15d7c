//! Operands of tile operators.

use crate::diagnostics::{Code, Diagnostic};
use crate::sema::state::elab::Elab;
use crate::sema::state::value::{Data, Value};
use crate::sema::values::{arith, shape};
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast;

/// A tiling argument: `None` is `_`.
pub(crate) type Arg = Option<Sym>;

/// Integers and wildcards; ituples and shapes are spliced. Run-time integers are allowed.
pub(crate) fn lower_operands(el: &mut Elab<'_>, exprs: &[ast::Expr]) -> Option<Vec<Arg>> {
    let mut out = Vec::new();
    let mut ok = true;
    for e in exprs {
        match el.expression(e) {
            Value::Wildcard => out.push(None),
            Value::Tuple(t) => out.extend(t.into_iter().map(|i| Some(i.value))),
            Value::Shape(s) => out.extend(s.into_iter().map(Some)),
            v => match arith::to_sym(el, v, e.span) {
                Some(s) => out.push(Some(s)),
                None => ok = false,
            },
        }
    }
    ok.then_some(out)
}

pub(crate) fn check_count(
    el: &mut Elab<'_>,
    code: Code,
    what: &str,
    got: usize,
    data: &Data,
    at: Span,
) -> Option<()> {
    let rank = data.view.rank();
    if got == rank {
        return Some(());
    }
    let shape = shape::show(&el.f, &data.view.shape);
    let one = what.replace("indices", "index");
    let noun = if got == 1 {
        one.trim_end_matches('s')
    } else {
        what
    };
    let mut d = Diagnostic::new(
        code,
        at,
        format!("{got} {noun} for `{}`, which has shape {shape}", data.name),
    )
    .label(format!("expected {rank}"));
    if got < rank && (what.ends_with("arguments") || what.ends_with("extents")) {
        d = d.help("write `_` for an axis that stays whole");
    }
    el.cx.report(d);
    None
}
