//! `mma` statements: their kinds, and the fragments in their operands.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{Level, MmaOp};
use crate::sema::checks::unsupported;
use crate::sema::names::scope;
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::tensor_cores::{
    fragments, load_store, multiply, operands, scale, sparse_mma, units, warpgroup,
};
use crate::sema::values::constants;
use crate::source::Span;
use crate::syntax::ast::{self, MmaStmt};

pub(crate) fn lower(el: &mut Elab<'_>, m: &MmaStmt, span: Span) {
    let done = lower_parts(el, m, span);
    if done.is_none() {
        el.fragments.failed = true;
    }
    // After an error, uses of the target's name are not reported.
    if done.is_none()
        && let Some(name) = &m.target
        && !el.names.in_innermost(&name.text)
    {
        scope::declare(el, name, crate::sema::state::scopes::Entity::Poison);
    }
}

fn lower_parts(el: &mut Elab<'_>, m: &MmaStmt, span: Span) -> Option<()> {
    if let Some(tiles) = &m.k_tiles
        && !units::is_a_warpgroup(el)
    {
        let at = tiles.first().map_or(span, |tile| tile.span);
        el.cx.report(
            Diagnostic::new(
                codes::E0911,
                at,
                "the order of the parts of K can be set only for an MMA by a warpgroup",
            )
            .label("this one is made of a warp's instructions")
            .help("remove the attribute: the parts are accumulated in ascending order"),
        );
        return None;
    }
    match &m.op {
        ast::MmaOp::Fill(elem) => fragments::lower_fill(el, m, *elem, span),
        ast::MmaOp::Load { frag, swizzle } => {
            units::check_by_warp(el, span, "`mma.load`")?;
            load_store::lower_load(el, m, *frag, swizzle.as_ref(), span)
        }
        ast::MmaOp::Multiply {
            a_row,
            b_row,
            scale,
            sparse,
        } => {
            units::check_by_warp(el, span, "an MMA")?;
            if *sparse && *scale {
                let instead = "multiply by `mma.row.row.sp c, a, b, e;`, and scale by \
                               `mma.scale c, row_scales, scale;`";
                let what = "a sparse MMA that is scaled";
                unsupported::report_with_remedy(&mut el.cx, span, what, Some(instead));
                return None;
            }
            if units::is_a_warpgroup(el) {
                let rows = [*a_row, *b_row];
                return match (scale, sparse) {
                    (true, _) => scale::lower_multiply(el, m, rows, span),
                    (_, true) => sparse_mma::lower_by_warpgroup(el, m, rows, span),
                    _ => warpgroup::lower(el, m, rows, span),
                };
            }
            if *scale {
                report_scale(&mut el.cx, span);
                return None;
            }
            if m.is_async {
                el.cx.report(
                    Diagnostic::new(
                        codes::E0906,
                        span,
                        "an MMA by one warp is never asynchronous",
                    )
                    .label("done when the statement is")
                    .help("remove `.async` and the `wait`"),
                );
                return None;
            }
            match sparse {
                true => sparse_mma::lower(el, m, [*a_row, *b_row], span),
                false => multiply::lower(el, m, [*a_row, *b_row], span),
            }
        }
        ast::MmaOp::Store { transposed, masked } => {
            units::within_only_unit(el, m.operands.first(), |el| {
                match el.unit() {
                    Some(Level::Thread) => units::check_by_threads(el, span, "`mma.store`")?,
                    _ => units::check_by_warp(el, span, "`mma.store`")?,
                }
                load_store::lower_store(el, m, *transposed, *masked, span)
            })
        }
        ast::MmaOp::Scale => units::within_only_unit(el, m.operands.first(), |el| {
            units::check_by_warp(el, span, "`mma.scale`")?;
            if units::is_a_warpgroup(el) {
                return scale::lower_scale(el, m, span);
            }
            report_scale(&mut el.cx, span);
            None
        }),
        ast::MmaOp::Commit => finish_all(el, "`mma.commit`", span),
        ast::MmaOp::Wait => finish_but(el, m.operands.first(), span),
    }
}

fn finish_all(el: &mut Elab<'_>, what: &str, span: Span) -> Option<()> {
    units::check_by_warp(el, span, what)?;
    match units::is_a_warpgroup(el) {
        true => operands::emit(el, MmaOp::CommitAll(()), span),
        // MMAs by one warp are complete at the end of their statement.
        false => el.asynchronous.waits_for_nothing += 1,
    }
    Some(())
}

/// `mma.wait<N>`, behind which the youngest N groups of MMAs may be in flight. All results are
/// waited for where they are needed, so only 0 says more than that.
fn finish_but(el: &mut Elab<'_>, younger: Option<&ast::Expr>, span: Span) -> Option<()> {
    match younger.and_then(constants::constant) {
        Some(0) => finish_all(el, "`mma.wait`", span),
        Some(1..) => {
            units::check_by_warp(el, span, "`mma.wait`")?;
            el.asynchronous.waits_for_nothing += 1;
            Some(())
        }
        _ => {
            el.cx.report(
                Diagnostic::new(
                    codes::E0119,
                    younger.map_or(span, |younger| younger.span),
                    "`mma.wait<N>` takes a constant",
                )
                .label("not a constant of at least 0")
                .help("write `mma.commit;`, which finishes all multiplies"),
            );
            None
        }
    }
}

fn report_scale(cx: &mut Cx<'_>, span: Span) {
    cx.report(
        Diagnostic::new(
            codes::E0916,
            span,
            "only an MMA by a warpgroup can be scaled",
        )
        .label("this one is a warp's")
        .help("scale the accumulator in an `apply`"),
    );
}
