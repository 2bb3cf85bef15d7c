//! `x.chunkat(p, q)` and `x.chunk(n)`: tiles by number.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{BinOp, CheckCode};
use crate::sema::checks::run_time;
use crate::sema::memory::{cut, tile_operands, tiles};
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::value::{Data, IntValue, Value};
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast;

pub(crate) fn lower_chunkat(
    el: &mut Elab<'_>,
    data: &mut Data,
    args: &[ast::Expr],
    at: Span,
) -> Option<()> {
    let mut pairs: Vec<Option<(Sym, Sym)>> = Vec::new();
    let mut ok = true;
    for arg in args {
        let parts = match el.expression(arg) {
            Value::Wildcard => {
                pairs.push(None);
                continue;
            }
            Value::Int(i) => vec![i],
            Value::Tuple(t) => t,
            Value::Error => {
                ok = false;
                continue;
            }
            other => {
                report_no_bound(&mut el.cx, arg, &other.kind());
                ok = false;
                continue;
            }
        };
        for IntValue { value, bound, .. } in parts {
            match bound {
                Some(b) => pairs.push(Some((b, value))),
                None => {
                    report_no_bound(&mut el.cx, arg, "a plain integer");
                    ok = false;
                }
            }
        }
    }
    if !ok {
        return None;
    }
    tile_operands::check_count(el, codes::E0810, "tiling arguments", pairs.len(), data, at)?;
    if pairs.iter().all(Option::is_none) {
        el.cx.report(
            Diagnostic::new(
                codes::N0813,
                at,
                "every argument is `_`: this tiles nothing",
            )
            .label("has no effect"),
        );
    }
    chunks(el, data, pairs, at)
}

fn report_no_bound(cx: &mut Cx<'_>, arg: &ast::Expr, kind: &str) {
    let text = cx.file.snippet(arg.span).to_owned();
    cx.report(
        Diagnostic::new(
            codes::E0815,
            arg.span,
            format!("`chunkat` tiles by a bound, but `{text}` is {kind}"),
        )
        .label("has no bound")
        .help(format!(
            "use `.chunk(k).at({text})` with the number of chunks, or `.subspan(extent).at({text})`"
        )),
    );
}

pub(crate) fn chunks(
    el: &mut Elab<'_>,
    data: &mut Data,
    pairs: Vec<Option<(Sym, Sym)>>,
    at: Span,
) -> Option<()> {
    for (axis, pair) in pairs.into_iter().enumerate() {
        let Some((factor, index)) = pair else {
            continue;
        };
        let extent = data.view.shape.get(axis)?.clone();
        let (shown_f, shown_e) = (el.f.cx.show(&factor), el.f.cx.show(&extent));
        match el.f.cx.le(&Sym::one(), &factor) {
            Truth::Yes => {}
            Truth::No => {
                el.cx.report(
                    Diagnostic::new(
                        codes::E0811,
                        at,
                        format!("axis {axis} is split into {shown_f} chunks"),
                    )
                    .label("a tiling factor must be positive"),
                );
                return None;
            }
            Truth::Unknown => run_time::emit_compare(
                el,
                run_time::Check::new(
                    CheckCode::R06,
                    format!("the tiling factor `{shown_f}` must be at least {{0}}, it is {{1}}"),
                    at,
                ),
                BinOp::Le,
                &Sym::one(),
                &factor,
            ),
        }
        match el.f.cx.le(&factor, &extent) {
            Truth::Yes => {}
            Truth::No => {
                el.cx.report(
                        Diagnostic::new(codes::E0812, at, format!("axis {axis} has {shown_e} elements, it can't be split into {shown_f} chunks"))
                            .label("a chunk would be empty"),
                    );
                return None;
            }
            Truth::Unknown => run_time::emit_compare(
                el,
                run_time::Check::new(
                    CheckCode::R06,
                    format!(
                        "the tiling factor `{shown_f}` is {{0}}, more than the extent `{shown_e}`, {{1}}"
                    ),
                    at,
                ),
                BinOp::Le,
                &factor,
                &extent,
            ),
        }
        if let (Some(f), Some(e)) = (factor.as_int(), extent.as_int())
            && e.checked_rem(f).is_some_and(|r| r != 0)
        {
            let rest = e % f;
            el.cx.report(
                Diagnostic::new(
                    codes::W0814,
                    at,
                    format!("{f} does not divide axis {axis}, which has {e} elements"),
                )
                .label(format!(
                    "the last {rest} element{} no tile",
                    if rest == 1 { " is in" } else { "s are in" }
                ))
                .help("tile by extent instead: `.subspan(…).at(…)` gives a partial last tile"),
            );
        }
        check_chunk_exists(el, axis, &index, &factor, at)?;
        let name = &data.name;
        let message = format!("chunk {{0}} of axis {axis} of `{name}`, which is split into {{1}}");
        tiles::check_number(el, data, &index, (Sym::zero(), factor.clone()), message, at);
        let tile = el.f.cx.div(&extent, &factor);
        let origin = &index * &tile;
        // An index below the factor stays inside the axis: factor · (extent / factor) ≤ extent.
        let inside = el.f.cx.lt(&index, &factor) == Truth::Yes
            && el.f.cx.le(&Sym::zero(), &index) == Truth::Yes;
        cut::cut(&mut el.f, &mut data.view, axis, origin, tile, inside);
    }
    Some(())
}

fn check_chunk_exists(
    el: &mut Elab<'_>,
    axis: usize,
    index: &Sym,
    factor: &Sym,
    at: Span,
) -> Option<()> {
    let cx = &el.f.cx;
    let below = cx.lt(index, factor) != Truth::No;
    if el.path.is_dead() || (below && cx.le(&Sym::zero(), index) != Truth::No) {
        return Some(());
    }
    let (i, f) = (el.f.cx.show(index), el.f.cx.show(factor));
    el.cx.report(
        Diagnostic::new(
            codes::E0818,
            at,
            format!("chunk {i} of axis {axis}, which is split into {f}"),
        )
        .label("there is no such chunk"),
    );
    None
}

pub(crate) fn tile_message(axis: usize, name: &str) -> String {
    format!("tile {{0}} of axis {axis} of `{name}`, which has {{1}} tiles")
}
