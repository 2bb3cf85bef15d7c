//! `parallel d by n : device`: a call runs on one device, where the instances follow each other.

use crate::diagnostics::{Diagnostic, codes};
use crate::sema::levels::launch_attributes;
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::statements::loops;
use crate::source::Span;
use crate::syntax::ast::{
    self, Binding, ForeachRanges, ForeachStmt, ParallelBound, ParallelItem, ParallelStmt, Within,
};

/// Whether the outermost level of a launch is `: device`.
pub(crate) fn is_outermost(el: &Elab<'_>, p: &ParallelStmt) -> bool {
    el.kernel.is_none() && p.items.first().is_some_and(is_device)
}

/// The level as a loop around its body, the launches.
pub(crate) fn lower(el: &mut Elab<'_>, p: &ParallelStmt, span: Span) {
    let Some((first, rest)) = p.items.split_first() else {
        return;
    };
    if let Some(name) = first.level.as_ref().and_then(|l| l.device.as_ref()) {
        let text = format!(
            "`{}` is no device: kernels run on the call's device",
            name.text
        );
        let d = Diagnostic::new(codes::E0519, name.span, text).label("not a target");
        el.cx.report(d.help("leave it out: `: device`"));
        return;
    }
    let body = if rest.is_empty() {
        launch_attributes::report_of_no_launch(&mut el.cx, p, "a level of devices");
        p.body.clone()
    } else {
        let inner = ParallelStmt {
            items: rest.to_vec(),
            ..p.clone()
        };
        let kind = ast::StmtKind::Parallel(inner);
        ast::Block {
            stmts: vec![ast::Stmt { kind, span }],
            span,
        }
    };
    let foreach = ForeachStmt {
        ranges: ForeachRanges::Within(vec![range(first)]),
        suffixes: Vec::new(),
        body,
        header: p.header,
    };
    loops::lower_foreach(el, &foreach, span);
}

/// Reports `: device` inside another level.
pub(crate) fn report_inner(cx: &mut Cx<'_>, at: Span) {
    let d = Diagnostic::new(codes::E0519, at, "`: device` is the outermost level");
    cx.report(
        d.label("inside another level")
            .help("make it the first level of the `parallel` on the host"),
    );
}

fn is_device(item: &ParallelItem) -> bool {
    let level = item.level.as_ref();
    level.is_some_and(|spec| spec.level == ast::Level::Device)
}

fn range(item: &ParallelItem) -> Within {
    let bound = match &item.bound {
        ParallelBound::Single(e) => e.clone(),
        ParallelBound::List(extents, span) => ast::Expr {
            kind: Box::new(ast::ExprKind::List(extents.clone())),
            span: *span,
        },
    };
    let binding = match &item.binding {
        Binding::None => Binding::One(ast::Name {
            text: "_device".to_owned(),
            span: item.span,
        }),
        named => named.clone(),
    };
    Within {
        binding,
        bound,
        span: item.span,
    }
}
