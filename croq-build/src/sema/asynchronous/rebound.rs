//! Placeholders with several copies, each with a destination of its own.
//!
//! The data of such a placeholder is the destination of the last copy. Where that depends on the
//! path to a use, the use is an error; a `wait` is for all destinations.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{FutureId, View};
use crate::sema::checks::unsupported;
use crate::sema::memory::whole;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::source::Span;
use crate::symbolic::Truth;
use crate::syntax::ast::{self, CopyDest};

/// A copy into a view begins, whose future may be bound already.
pub(crate) fn note_copy(el: &mut Elab<'_>, id: FutureId, dest: &View) {
    let depth = el.names.depth();
    let Some(future) = el.asynchronous.futures.get(id.index()) else {
        return;
    };
    if future.handle.is_some() {
        return;
    }
    let moved = future.data.as_ref().is_some_and(|earlier| {
        let mut pairs = (earlier.view.shape.iter().zip(&dest.shape))
            .chain(earlier.view.strides.iter().zip(&dest.strides))
            .chain([(&earlier.view.offset, &dest.offset)]);
        earlier.view.buffer != dest.buffer
            || earlier.view.rank() != dest.rank()
            || pairs.any(|(a, b)| el.f.cx.eq(a, b) != Truth::Yes)
    });
    let Some(future) = el.asynchronous.futures.get_mut(id.index()) else {
        return;
    };
    // In the placeholder's own scope nothing before the copy can be meant any more.
    let own_scope = depth == future.nesting.scopes;
    let reach = &mut future.reach;
    reach.depth = depth;
    reach.moved = !own_scope && (reach.moved || moved);
    reach.unclear = false;
    if !reach.buffers.contains(&dest.buffer) {
        reach.buffers.push(dest.buffer);
    }
}

/// A loop begins: what its iterations copy into may be meant before the copy, in the next one.
pub(crate) fn enter_loop(el: &mut Elab<'_>, body: &ast::Block) {
    let mut copies = Vec::new();
    named_copies(&body.stmts, &mut copies);
    for (name, dest) in copies {
        let Some(Entity::Future(id)) = el.names.find(name).map(|b| b.entity.clone()) else {
            continue;
        };
        let whole = match &*dest.kind {
            ast::ExprKind::Name(name) => el.names.find(name).and_then(|b| match b.entity {
                Entity::Buffer { id, .. } => Some(whole::whole_view(&el.f, id, dest.span)),
                _ => None,
            }),
            _ => None,
        };
        let Some(future) = el.asynchronous.futures.get_mut(id.index()) else {
            continue;
        };
        let Some(data) = &future.data else { continue };
        let same = whole.is_some_and(|whole| {
            (whole.buffer, &whole.offset, &whole.shape)
                == (data.view.buffer, &data.view.offset, &data.view.shape)
        });
        future.reach.unclear |= future.handle.is_none() && !same;
    }
}

/// The copies into views that have names, with their destinations.
fn named_copies<'s>(stmts: &'s [ast::Stmt], copies: &mut Vec<(&'s str, &'s ast::Expr)>) {
    for stmt in stmts {
        if let ast::StmtKind::Copy(copy) = &stmt.kind
            && let (Some(name), CopyDest::View(dest)) = (&copy.name, &copy.dest)
        {
            copies.push((&name.text, dest));
        }
        for block in stmt.kind.blocks() {
            named_copies(&block.stmts, copies);
        }
    }
}

/// The memory that a `wait` makes visible, if it isn't only the data of the last copy.
pub(crate) fn waited_views(el: &Elab<'_>, id: FutureId, span: Span) -> Option<Vec<View>> {
    let future = el.asynchronous.futures.get(id.index())?;
    if !future.reach.unclear {
        return None;
    }
    let buffers = future.reach.buffers.iter();
    Some(
        buffers
            .map(|b| whole::whole_view(&el.f, *b, span))
            .collect(),
    )
}

pub(crate) fn report_unclear(el: &mut Elab<'_>, name: &str, span: Span) {
    unsupported::report_with_remedy(
        &mut el.cx,
        span,
        &format!("the data of `{name}` after copies into different places"),
        Some("name the destination of the copy that is meant"),
    );
}

/// The data of a future that others are exchanged with is where one of several copies went.
pub(crate) fn report_elsewhere(el: &mut Elab<'_>, name: &str, span: Span) {
    el.cx.report(
        Diagnostic::new(
            codes::E0846,
            span,
            format!("`{name}` is exchanged with copies to other places of device memory"),
        )
        .label("which of them is known only while the program runs")
        .help("name the destination of the copy that is meant"),
    );
}
