//! `mma` statements: their kinds, and the fragments in their operands.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{Level, MmaOp};
use crate::sema::levels::indices;
use crate::sema::names::scope;
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::sema::tensor_cores::{
    fragments, load_store, multiply, operands, scale, sparse_mma, units, warpgroup,
};
use crate::source::Span;
use crate::symbolic::Sym;
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
            if *sparse {
                sparse_mma::check(el, m, [*a_row, *b_row], span);
                return None;
            }
            if units::is_a_warpgroup(el) {
                let rows = [*a_row, *b_row];
                return match scale {
                    true => scale::lower_multiply(el, m, rows, span),
                    false => warpgroup::lower(el, m, rows, span),
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
            multiply::lower(el, m, [*a_row, *b_row], span)
        }
        ast::MmaOp::Store { transposed, masked } => {
            let around = only_unit(el, m).map(|unit| indices::enter_level(el, unit));
            let done = units::check_by_warp(el, span, "`mma.store`");
            let done =
                done.and_then(|()| load_store::lower_store(el, m, *transposed, *masked, span));
            if let Some(around) = around {
                indices::leave_level(el, around);
            }
            done
        }
        ast::MmaOp::Scale => {
            units::check_by_warp(el, span, "`mma.scale`")?;
            if units::is_a_warpgroup(el) {
                return scale::lower_scale(el, m, span);
            }
            report_scale(&mut el.cx, span);
            None
        }
        // MMAs by one warp are complete at the end of their statement.
        ast::MmaOp::Commit => {
            units::check_by_warp(el, span, "`mma.commit`")?;
            if units::is_a_warpgroup(el) {
                operands::emit(el, MmaOp::CommitAll(()), span);
            }
            Some(())
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

/// The level of the whole block if it is one warp or warpgroup. An accumulator may then be stored
/// after the level that computed it.
fn only_unit(el: &mut Elab<'_>, m: &MmaStmt) -> Option<Level> {
    if el.level() != Some(Level::Block) {
        return None;
    }
    let mut named = m.operands.first()?;
    while let ast::ExprKind::Subscript(inner, _) = &*named.kind {
        named = inner;
    }
    let ast::ExprKind::Name(name) = &*named.kind else {
        return None;
    };
    let Entity::Buffer { id, .. } = el.names.find(name)?.entity else {
        return None;
    };
    let warps = el.f.fragments.get(&id)?.layout?.warps();
    let kernel = el.kernel.as_ref()?;
    if kernel.threads.count != Some(Sym::int(32 * warps)) {
        return None;
    }
    Some(match warps {
        4 => Level::Warpgroup,
        _ => Level::Warp,
    })
}
