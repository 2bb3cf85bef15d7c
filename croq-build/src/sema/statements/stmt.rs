//! Lowers statements in order.

use crate::diagnostics::{Diagnostic, codes};
use crate::sema::asynchronous::{events, futures, swap_rotate, trigger, wait};
use crate::sema::copies::copy;
use crate::sema::levels::{barriers, devices, parallel, regions};
use crate::sema::memory::buffers;
use crate::sema::names::scope;
use crate::sema::state::choices::Place;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::sema::statements::{
    accounting, assembly, assign, call, choices, control, cpp, decl, increments, kernel_calls,
    loops, ranges, returns, scalar_declarations,
};
use crate::sema::tensor_cores::{apply, fragments, mma};
use crate::source::Span;
use crate::syntax::ast::{self, Stmt, StmtKind as S};

pub(crate) fn lower_all(el: &mut Elab<'_>, stmts: &[Stmt]) {
    el.choices.blocks += 1;
    let made = el.choices.made.len();
    lower_list(el, stmts, made);
    el.choices.blocks -= 1;
}

/// Lowers a block, or the rest of one. Choices from number `made` on are for the first statement.
fn lower_list(el: &mut Elab<'_>, stmts: &[Stmt], made: usize) {
    let mut dead_reported = false;
    let mut returned: Option<Span> = None;
    let joined = cpp::joined(stmts, el.cx.file);
    let stmts = joined.as_deref().unwrap_or(stmts);
    el.names.upcoming.push(declared_names(stmts));
    let mut of_first = None;
    for (at, stmt) in stmts.iter().enumerate() {
        declared_by_now(el, stmt);
        if let Some(at) = returned.filter(|_| !dead_reported && !matches!(stmt.kind, S::Empty)) {
            dead_reported = true;
            el.cx.report(
                Diagnostic::new(codes::W0356, stmt.span, "this is never reached")
                    .label("dead code")
                    .also(at, "the function returns here"),
            );
        }
        let rest = stmts.get(at..).unwrap_or_default();
        if lower_first(el, stmt, rest, made) {
            break;
        }
        if of_first.is_none() {
            of_first = Some(el.choices.made.split_off(made));
        }
        if matches!(stmt.kind, S::Return(_)) {
            returned = Some(stmt.span);
        }
    }
    el.choices.made.extend(of_first.unwrap_or_default());
    el.names.upcoming.pop();
}

/// Lowers the first of the remaining statements of a block, or all of them, if they depend on a
/// choice: then the result is true. Choices from number `made` on are for the first one.
fn lower_first(el: &mut Elab<'_>, stmt: &Stmt, rest: &[Stmt], made: usize) -> bool {
    let place = Place {
        span: stmt.span,
        written: stmt.span.written(),
        function: el.choices.function,
        blocks: el.choices.blocks,
        rest: rest.len(),
    };
    let outer = (el.choices.statement, el.choices.on_host);
    el.choices.statement = Some(place);
    if el.kernel.is_none() {
        el.choices.on_host = Some(place);
    }
    let with_rest = match choices::next(el, place) {
        None => {
            accounting::account_for(el, stmt, lower);
            false
        }
        Some(choice) if choices::ends_with(stmt) => {
            choices::lower(el, &choice, stmt, &mut |el| {
                lower_first(el, stmt, rest, made);
            });
            false
        }
        Some(choice) => {
            choices::lower(el, &choice, stmt, &mut |el| lower_list(el, rest, made));
            true
        }
    };
    (el.choices.statement, el.choices.on_host) = outer;
    with_rest
}

/// Removes the names that a statement declares from those still to be declared.
fn declared_by_now(el: &mut Elab<'_>, stmt: &Stmt) {
    if let Some(names) = el.names.upcoming.last_mut() {
        for name in names_of(stmt) {
            names.remove(&name.text);
        }
    }
}

/// Lowers a block with a scope of its own.
pub(crate) fn lower_block(el: &mut Elab<'_>, block: &ast::Block) {
    scope::reported(el, |el| lower_all(el, &block.stmts));
}

pub(super) fn lower(el: &mut Elab<'_>, stmt: &Stmt) {
    let span = stmt.span;
    match &stmt.kind {
        S::Empty | S::Error => {}
        S::Block(b) => lower_block(el, b),
        S::Mdspan { rank, name, value } => decl::declare_mdspan(el, rank.as_ref(), name, value),
        S::Ituple { rank, name, value } => decl::declare_ituple(el, rank.as_ref(), name, value),
        S::Scalar {
            storage,
            mutable,
            ty,
            items,
        } => {
            scalar_declarations::declare_scalars(
                el,
                storage.as_ref(),
                *mutable,
                ty.as_ref(),
                items,
            );
        }
        S::Buffer {
            storage,
            mutable,
            elem,
            shape,
            items,
        } => {
            if let Some(at) = mutable {
                buffers::report_mutable(&mut el.cx, *at);
            }
            buffers::declare_all(el, storage.as_ref(), *elem, shape, items, span);
        }
        S::Frag { elem, shape, items } => {
            fragments::declare_all(el, elem.as_ref(), shape.as_deref(), items, span);
        }
        S::Event {
            storage,
            count,
            items,
        } => events::declare_all(el, storage.as_ref(), count.as_ref(), items, span),
        S::Assign { target, op, value } => assign::lower(el, target, *op, value, span),
        S::Increment { target, by } => {
            if let Some((local, ty)) = increments::increment_target(el, target) {
                increments::emit_increment(el, local, ty, *by, span);
            }
        }
        S::Copy(copy) => copy::lower(el, copy, span),
        S::AnyFuture { name, .. } => futures::declare_placeholder(el, name, span),
        S::Map { name, .. } => refuse_map(el, name, span),
        S::Mma(mma) => mma::lower(el, mma, span),
        S::FragOp { op, op_span, args } => lower_operation(el, *op, args, *op_span, span),
        S::Apply { names, frag, body } => apply::lower(el, names, frag, body, span),
        S::Wait(operands) => wait::lower_wait(el, operands, span),
        S::Trigger {
            cluster,
            events,
            after,
        } => trigger::trigger(el, *cluster, events, after, span),
        S::Swap { names } if names.len() != 2 => {
            let text = format!("`swap` exchanges two futures, {} given", names.len());
            el.cx.error(codes::E0122, span, text);
        }
        S::Swap { names } | S::Rotate { names } => swap_rotate::lower(el, names, span),
        S::Call(call) => call::lower_statement(el, call, span),
        S::Return(value) => {
            returns::lower_return(el, value.as_ref(), span);
            el.path.leave();
        }
        S::SyncStorage(storage) => barriers::lower_sync_storage(el, *storage, span),
        S::SyncBarrier(level) => barriers::lower_sync_barrier(el, *level, span),
        S::SyncFence(level, _) => barriers::lower_sync_fence(el, *level, span),
        S::Cpp(text) => cpp::lower_cpp(el, text, span),
        S::Asm(asm) => assembly::lower(el, asm, span),
        S::Break | S::Continue => control::lower_break(el, matches!(stmt.kind, S::Break), span),
        S::Yield => control::lower_yield(el, span),
        S::Parallel(p) => lower_parallel(el, p, span),
        S::With {
            bindings,
            where_,
            body,
        } => ranges::lower_with(el, bindings, where_, body),
        S::Foreach(f) => loops::lower_foreach(el, f, span),
        S::Inthreads {
            is_async,
            pred,
            body,
        } => regions::lower_inthreads(el, *is_async, pred, body, span),
        S::While { cond, body } => control::lower_while(el, cond, body, span),
        S::If {
            cond,
            then,
            otherwise,
        } => control::lower_if(el, cond, then, otherwise.as_ref(), span),
    }
}

fn refuse_map(el: &mut Elab<'_>, name: &ast::Name, span: Span) {
    el.cx.report(
        Diagnostic::new(
            codes::E0871,
            span,
            "`.map` and `.remap` are for other targets",
        )
        .label("not on a GPU")
        .help("use `dma.copy`"),
    );
    if !el.names.in_innermost(&name.text) {
        scope::declare(el, name, Entity::Poison);
    }
}

/// The names that a statement declares in its scope; an assignment may declare one.
fn names_of(stmt: &Stmt) -> Vec<&ast::Name> {
    match &stmt.kind {
        S::Mdspan { name, .. } | S::Ituple { name, .. } | S::AnyFuture { name, .. } => vec![name],
        S::Scalar { items, .. } => items.iter().map(|i| &i.name).collect(),
        S::Buffer { items, .. } | S::Frag { items, .. } => items.iter().map(|i| &i.name).collect(),
        S::Event { items, .. } => items.iter().map(|i| &i.name).collect(),
        S::Copy(copy) => copy.name.iter().collect(),
        _ => Vec::new(),
    }
}

fn declared_names(stmts: &[Stmt]) -> crate::sorted::SortedMap<String, Span> {
    stmts
        .iter()
        .flat_map(names_of)
        .map(|name| (name.text.clone(), name.span))
        .collect()
}

fn lower_parallel(el: &mut Elab<'_>, p: &ast::ParallelStmt, span: Span) {
    match devices::is_outermost(el, p) {
        true => devices::lower(el, p, span),
        false => parallel::lower(el, p, span),
    }
}

/// `copy(a, b);` of fragments, or a call of a function of the file on the host.
fn lower_operation(
    el: &mut Elab<'_>,
    op: ast::FragOp,
    args: &[ast::Expr],
    op_span: Span,
    span: Span,
) {
    if el.kernel.is_some() || !kernel_calls::is_kernel(el, op.text()) {
        return apply::lower_operation(el, op, args, op_span, span);
    }
    let callee = ast::Name {
        text: op.text().to_owned(),
        span: op_span,
    };
    kernel_calls::lower(el, &callee, args, span);
}
