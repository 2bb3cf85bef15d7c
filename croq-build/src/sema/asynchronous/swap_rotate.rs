//! `swap` and `rotate`: futures exchange their data.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, Expr, ExprKind, FutureId, LocalId, Role, Scalar, StmtKind, Storage, View};
use crate::sema::asynchronous::{futures, host_exchange};
use crate::sema::build;
use crate::sema::memory::buffers;
use crate::sema::names::scope;
use crate::sema::state::asynchronous::{Future, Home};
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::sema::state::value::Data;
use crate::sema::values::shape;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::Name;

/// `swap(a, b);`, `rotate(a, b, c);`
pub(crate) fn lower(el: &mut Elab<'_>, names: &[Name], span: Span) {
    if el.kernel.is_none() {
        return host_exchange::lower(el, names, span);
    }
    let mut ids = Vec::new();
    for name in names {
        match scope::lookup(el, &name.text, name.span) {
            Some(Entity::Future(id)) => {
                let bound_by_host = futures::get(el, id).filter(|f| f.home == Home::Host);
                if let Some(declared) = bound_by_host.map(|f| f.span) {
                    let text = format!("`{}` is a future of the host", name.text);
                    let d = Diagnostic::new(codes::E0846, name.span, text)
                        .label("exchanged by a kernel")
                        .also(declared, "declared here");
                    return el
                        .cx
                        .report(d.help("exchange it before or after this `parallel`"));
                }
                ids.push((id, name));
            }
            Some(Entity::Poison) | None => return,
            Some(other) => {
                let is_buffer = matches!(other, Entity::Buffer { .. } | Entity::View(_));
                let (kind, shown) = (other.kind(), &name.text);
                let report = Diagnostic::new(
                    codes::E0846,
                    name.span,
                    format!("only data futures are exchanged, `{shown}` is {kind}"),
                );
                return el
                    .cx
                    .report(report.label("not a future").help(match is_buffer {
                        // Language 04 section 12; the names of the host's buffers are exchanged (W28).
                        true => {
                            "in a kernel the name of a buffer is fixed: choose one by a number, as \
                         `select(k % 2, a, b)`, or exchange the futures of the copies"
                        }
                        false => "name a copy: `f = dma.copy.async … => shared;`",
                    }));
            }
        }
    }
    if !check_alike(el, &ids) {
        return;
    }
    if ids.iter().all(|(id, _)| is_empty(el, *id)) {
        let empty = ids.iter().map(|(id, name)| (*id, (*name).clone()));
        el.asynchronous.early_exchanges.push(empty.collect());
    } else if bind_empty(el, &ids).is_none() {
        return;
    }
    let handles: Vec<LocalId> = ids
        .iter()
        .filter_map(|(id, _)| futures::get(el, *id)?.handle.as_ref().map(|h| h.local))
        .collect();
    if handles.len() != ids.len() {
        return;
    }
    let kept = build::new_local(&mut el.f, "kept", Scalar::Index, false, Role::Value, span);
    let read = |local| Expr::new(ExprKind::Local(local), Scalar::Index, span);
    if let Some(first) = handles.first() {
        build::emit(
            el,
            StmtKind::Let {
                local: kept,
                value: Some(read(*first)),
            },
            span,
        );
    }
    let nexts = handles.iter().skip(1).copied().chain([kept]);
    for (local, next) in handles.iter().zip(nexts) {
        let value = read(next);
        build::emit(
            el,
            StmtKind::Assign {
                local: *local,
                value,
            },
            span,
        );
    }
    let futures = ids.into_iter().map(|(id, _)| id).collect();
    build::emit(el, StmtKind::Rotate { futures }, span);
}

/// Whether no copy has bound a placeholder yet, and none is in error.
fn is_empty(el: &Elab<'_>, id: FutureId) -> bool {
    futures::get(el, id).is_some_and(|f| f.data.is_none() && !f.failed)
}

/// A placeholder that no copy has bound yet takes the type of the others.
fn bind_empty(el: &mut Elab<'_>, ids: &[(FutureId, &Name)]) -> Option<()> {
    let is_bound = |id: FutureId| futures::get(el, id).is_some_and(|f| f.data.is_some());
    let known = ids.iter().find(|(id, _)| is_bound(*id));
    let (known, _) = known.or(ids.first()).copied()?;
    for (id, name) in ids {
        if futures::get(el, *id).is_some_and(|f| f.data.is_none()) {
            bind_like(el, *id, known, name.span)?;
        }
    }
    Some(())
}

/// Binds futures that were exchanged when nothing was copied into any of them, unless that is so still.
pub(crate) fn bind_alike(el: &mut Elab<'_>, ids: &[(FutureId, &Name)]) -> bool {
    if ids.iter().all(|(id, _)| is_empty(el, *id)) {
        return false;
    }
    if check_alike(el, ids) {
        bind_empty(el, ids);
    }
    true
}

/// Whether the futures have one type and one scope; otherwise reports the difference.
fn check_alike(el: &mut Elab<'_>, ids: &[(FutureId, &Name)]) -> bool {
    let Some(((first, first_name), rest)) = ids.split_first() else {
        return false;
    };
    for (at, (id, name)) in rest.iter().enumerate() {
        let twice = id == first || rest.iter().take(at).any(|(other, _)| other == id);
        if twice {
            el.cx.report(
                Diagnostic::new(
                    codes::E0846,
                    name.span,
                    format!("`{}` is exchanged with itself", name.text),
                )
                .label("named twice"),
            );
            return false;
        }
        let (Some(a), Some(b)) = (futures::get(el, *first), futures::get(el, *id)) else {
            return false;
        };
        if !live_together(a, b) {
            let (outer, inner) = (a.span, b.span);
            el.cx.report(
                Diagnostic::new(
                    codes::E0847,
                    name.span,
                    format!(
                        "`{}` and `{}` are declared in different scopes",
                        first_name.text, name.text
                    ),
                )
                .label("has another lifetime than the other")
                .also(outer, format!("`{}` is declared here", first_name.text))
                .also(inner, format!("`{}` is declared here", name.text))
                .help(
                    "declare both in one scope, the one that is copied into later with `dma.any`",
                ),
            );
            return false;
        }
        let (Some(x), Some(y)) = (&a.data, &b.data) else {
            continue;
        };
        let (bx, by) = (el.f.buffer(x.view.buffer), el.f.buffer(y.view.buffer));
        let same = bx.elem == by.elem
            && bx.storage == by.storage
            && a.is_async == b.is_async
            && a.by_tma == b.by_tma
            && x.view.shape == y.view.shape;
        if !same {
            let shown = |f: &Future, d: &Data, b: &ir::Buffer| {
                let manner = match (f.is_async, f.by_tma) {
                    (true, true) => "asynchronous `tma`",
                    (true, false) => "asynchronous `dma`",
                    (false, true) => "synchronous `tma`",
                    (false, false) => "synchronous `dma`",
                };
                let place = match b.storage {
                    Storage::Shared => "shared",
                    Storage::Local => "local",
                    _ => "global",
                };
                format!(
                    "{manner}, {place} {} {}",
                    b.elem,
                    shape::show(&el.f, &d.view.shape)
                )
            };
            let (one, other) = (shown(a, x, bx), shown(b, y, by));
            let (one_at, other_at) = (a.span, b.span);
            el.cx.report(
                Diagnostic::new(
                    codes::E0846,
                    name.span,
                    format!(
                        "`{}` and `{}` are of different types",
                        first_name.text, name.text
                    ),
                )
                .label("can't be exchanged")
                .also(one_at, one)
                .also(other_at, other)
                .help(
                    "exchanged futures agree in engine, `.async`, storage, element type and shape",
                ),
            );
            return false;
        }
    }
    true
}

/// Whether neither of two futures ends, or begins anew, while the other goes on.
fn live_together(a: &Future, b: &Future) -> bool {
    let of_the_host = |f: &Future| matches!(f.home, Home::PlaceholderOf(_));
    match of_the_host(a) || of_the_host(b) {
        // A placeholder of the host is declared before all else in the kernel.
        true => a.nesting.loops == b.nesting.loops,
        false => a.nesting.blocks == b.nesting.blocks,
    }
}

/// Gives an unbound placeholder the type of another future, and a tile.
fn bind_like(el: &mut Elab<'_>, id: FutureId, other: FutureId, at: Span) -> Option<()> {
    let model = futures::get(el, other)?;
    let manner = futures::Manner {
        level: model.level,
        is_async: model.is_async,
        at_once: model.at_once,
        by_tma: model.by_tma,
        fresh: true,
    };
    let Some(data) = model.data.clone() else {
        if model.failed {
            return None;
        }
        let name = futures::get(el, id)?.name.clone();
        el.cx.report(
            Diagnostic::new(
                codes::E0877,
                at,
                format!("no copy is assigned to `{name}` yet"),
            )
            .label("nothing to exchange")
            .help("copy into one of them first"),
        );
        return None;
    };
    if futures::is_unplaced(el, other) {
        let future = el.asynchronous.futures.get_mut(id.index())?;
        future.level = manner.level;
        (future.is_async, future.at_once) = (manner.is_async, manner.at_once);
        future.data = Some(data);
        return Some(());
    }
    let b = el.f.buffer(data.view.buffer);
    let (elem, storage, shape) = (b.elem, b.storage, data.view.shape.clone());
    let name = futures::get(el, id)?.name.clone();
    let buffer = build::new_buffer(
        &mut el.f,
        build::NewBuffer {
            name: &name,
            elem,
            storage,
            shape,
            copies: Sym::one(),
            span: at,
        },
    );
    buffers::warn_of_spills(el, buffer, (&buffers::shown(el, buffer), at));
    let view = View {
        buffer,
        offset: Sym::zero(),
        ..data.view.clone()
    };
    futures::bind(el, id, Data { view, ..data }, manner, at)
}
