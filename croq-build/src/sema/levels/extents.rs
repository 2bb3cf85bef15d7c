//! The number of instances of a level: the bounds of `parallel`.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{BinOp, CheckCode};
use crate::sema::checks::run_time;
use crate::sema::levels::uniformity;
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::value::Value;
use crate::sema::values::{shape, shifts};
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast::{self, Binding, ParallelBound, ParallelItem};

/// The number of threads of the largest grid: 2^31 blocks of 1024.
const MOST_INSTANCES: i128 = 1 << 41;

/// The extents of one item, checked against its names.
pub(crate) fn lower_all(el: &mut Elab<'_>, item: &ParallelItem) -> Option<Vec<Sym>> {
    let names = binding_names(&item.binding);
    for (i, name) in names.iter().enumerate() {
        if !name.is_wildcard() && names.iter().take(i).any(|n| n.text == name.text) {
            el.cx.report(
                Diagnostic::new(
                    codes::E0501,
                    name.span,
                    format!("`{}` is bound twice in one header", name.text),
                )
                .label("again"),
            );
            return None;
        }
    }
    let (exprs, list_at): (Vec<&ast::Expr>, Option<Span>) = match &item.bound {
        ParallelBound::Single(e) => (vec![e], None),
        ParallelBound::List(list, at) => (list.iter().collect(), Some(*at)),
    };
    let mut extents = Vec::new();
    for e in exprs {
        lower(el, e, list_at.is_some(), &mut extents)?;
    }
    let parts = match &item.binding {
        Binding::Tuple { parts, .. } => parts.len(),
        Binding::One(_) | Binding::None => 1,
    };
    let at = list_at.unwrap_or(item.span);
    if extents.len() != parts {
        let single = !matches!(item.binding, Binding::Tuple { .. });
        let d = if single && extents.len() > 1 {
            let braces: Vec<&str> = ["a", "b", "c"]
                .into_iter()
                .take(extents.len().min(3))
                .collect();
            Diagnostic::new(
                codes::E0502,
                at,
                format!("one name for {} bounds", extents.len()),
            )
            .label("several bounds")
            .help(format!("write `parallel {{{}}} by […]`", braces.join(", ")))
        } else if parts > extents.len() {
            Diagnostic::new(
                codes::E0505,
                at,
                format!(
                    "{parts} names, but {} bound{}",
                    extents.len(),
                    if extents.len() == 1 { "" } else { "s" }
                ),
            )
            .label("a bound is missing")
        } else {
            Diagnostic::new(
                codes::E0506,
                at,
                format!("{parts} names for {} bounds", extents.len()),
            )
            .label("a name is missing")
        };
        el.cx.report(d);
        return None;
    }
    // Values computed from the extents remain far below the limit of an index.
    let all = extents.iter().try_fold(1_i128, |all, extent| {
        Some(all.saturating_mul(i128::from(extent.as_int()?)))
    });
    if let Some(all) = all.filter(|all| *all > MOST_INSTANCES) {
        let text = format!("{all} instances: at most {MOST_INSTANCES} fit a grid");
        let report = Diagnostic::new(codes::E0522, at, text).label("too many");
        el.cx
            .report(report.help("let each instance do several in a loop"));
        return None;
    }
    Some(extents)
}

fn lower(el: &mut Elab<'_>, e: &ast::Expr, in_list: bool, out: &mut Vec<Sym>) -> Option<()> {
    let values = match shape::lower_counted(el, e) {
        Value::Int(i) => vec![i.value],
        Value::Shape(s) if in_list => s,
        Value::Tuple(t) if in_list || t.len() == 1 => t.into_iter().map(|i| i.value).collect(),
        Value::Error => return None,
        Value::Scalar(s) if s.ty.is_integer() => {
            report_not_host(&mut el.cx, e);
            return None;
        }
        other => {
            let kind = other.kind();
            el.cx.report(
                Diagnostic::new(
                    codes::E0503,
                    e.span,
                    format!("a bound is an integer or a bracket list, this is {kind}"),
                )
                .label("not a bound")
                .help("write `by [a, b]`"),
            );
            return None;
        }
    };
    for v in values {
        if v.sorted_vars()
            .iter()
            .any(|x| !uniformity::is_host_known(el, *x))
        {
            report_not_host(&mut el.cx, e);
            return None;
        }
        match el.f.cx.le(&Sym::one(), &v) {
            Truth::Yes => {}
            Truth::No => {
                let shown = el.f.cx.show(&v);
                el.cx.report(
                    Diagnostic::new(
                        codes::E0507,
                        e.span,
                        format!("a `parallel` needs a positive bound, this is {shown}"),
                    )
                    .label(shown),
                );
                return None;
            }
            Truth::Unknown => {
                let shown = el.f.cx.show(&v);
                run_time::emit_compare(
                    el,
                    run_time::Check::new(
                        CheckCode::R05,
                        format!("the bound `{shown}` must be at least {{0}}, it is {{1}}"),
                        e.span,
                    ),
                    BinOp::Le,
                    &Sym::one(),
                    &v,
                );
            }
        }
        out.push(v);
    }
    Some(())
}

fn report_not_host(cx: &mut Cx<'_>, e: &ast::Expr) {
    let (label, help) = match shifts::is_shift(e) {
        true => (
            "a shift by an amount that is no constant",
            "launch dimensions are made by `+`, `-`, `*`, `/` and `%`: pass the number itself as an integer parameter",
        ),
        false => (
            "known only inside the kernel, or mutable",
            "launch dimensions come from constants, dimensions and parameters; loop with `foreach` over run-time counts",
        ),
    };
    cx.report(
        Diagnostic::new(
            codes::E0508,
            e.span,
            "a `parallel` bound must be known on the host",
        )
        .label(label)
        .help(help),
    );
}

pub(crate) fn binding_names(binding: &Binding) -> Vec<&ast::Name> {
    match binding {
        Binding::None => Vec::new(),
        Binding::One(n) => vec![n],
        Binding::Tuple { whole, parts } => whole.iter().chain(parts).collect(),
    }
}

pub(crate) fn check_grid_limit(el: &mut Elab<'_>, axis: usize, extent: &Sym, at: Span) {
    let limit = if axis == 0 {
        i64::from(i32::MAX)
    } else {
        65535
    };
    let name = ["x", "y", "z"].get(axis).copied().unwrap_or("z");
    match el.f.cx.le(extent, &Sym::int(limit)) {
        Truth::Yes => {}
        Truth::No => {
            let shown = el.f.cx.show(extent);
            el.cx.report(
                Diagnostic::new(
                    codes::E0522,
                    at,
                    format!("{shown} blocks along {name}: at most {limit} fit"),
                )
                .label(format!("sub-level {axis} is the grid's {name}"))
                .help("put the largest count first"),
            );
        }
        Truth::Unknown => {
            let message = format!("{{0}} blocks along {name}, at most {{1}} fit");
            run_time::emit_compare(
                el,
                run_time::Check::new(CheckCode::R05, message, at),
                BinOp::Le,
                extent,
                &Sym::int(limit),
            );
        }
    }
}
