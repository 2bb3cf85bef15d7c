//! Sparse copies (language 04, section 14): they are checked, but not lowered yet.

use crate::diagnostics::{Diagnostic, codes};
use crate::sema::checks::unsupported;
use crate::sema::memory::data;
use crate::sema::state::elab::Elab;
use crate::sema::values::{constants, shape};
use crate::source::Span;
use crate::syntax::ast::{self, CopyDest, CopyOp, CopyStmt};

/// Reports the errors of a copy with `.sp`, or, if there are none, that it is not supported.
pub(crate) fn check(
    el: &mut Elab<'_>,
    c: &CopyStmt,
    pattern: Option<&(ast::Expr, ast::Expr)>,
    at: Span,
) {
    if !matches!(c.op, CopyOp::Copy) {
        el.cx.report(
            Diagnostic::new(codes::E0872, at, "only a plain `copy` can be sparse")
                .label("not on this operation")
                .help("copy sparsely in one statement, and transpose or pad in another"),
        );
        return;
    }
    if let Some((n, m)) = pattern {
        let found = (constants::constant(n), constants::constant(m));
        if found != (Some(2), Some(4)) {
            el.cx.report(
                Diagnostic::new(
                    codes::E0875,
                    n.span.to(m.span),
                    "the only sparse pattern is 2:4",
                )
                .label("not a pattern of the hardware")
                .help("write `.sp<2:4>`"),
            );
            return;
        }
    }
    let tiled = |e: &ast::Expr| matches!(&*e.kind, ast::ExprKind::View(..));
    let dest = match &c.dest {
        CopyDest::View(e) => Some(e),
        CopyDest::Storage(..) => None,
    };
    if let Some(e) = [Some(&c.source), dest]
        .into_iter()
        .flatten()
        .find(|e| tiled(e))
    {
        el.cx.report(
            Diagnostic::new(codes::E0873, e.span, "a sparse copy takes whole buffers")
                .label("a tile")
                .help("copy the tile first, then compress the copy"),
        );
        return;
    }
    let Some(source) = data::lower(el, &c.source) else {
        return;
    };
    let shape = &source.view.shape;
    if !(2..=3).contains(&shape.len()) || shape.iter().any(|e| e.as_int().is_none()) {
        let shown = shape::show(&el.f, shape);
        el.cx.report(
            Diagnostic::new(
                codes::E0874,
                c.source.span,
                "a sparse copy takes two or three dimensions of known extents",
            )
            .label(format!("its shape is {shown}")),
        );
        return;
    }
    unsupported::report(&mut el.cx, at, "a sparse copy (`.sp`)");
}
