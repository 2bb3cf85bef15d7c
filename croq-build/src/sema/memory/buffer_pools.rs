//! Buffers laid side by side in one, so that a number known only at run time can choose between them.
//!
//! `swap` and `select` choose among buffers. An address in one buffer with an offset that varies says
//! this without pointers, so buffers that are chosen among become parts of one: a *pool*. While a
//! function is checked only the places in the pool are handed out; at its end every view of a part is
//! rewritten to a view of its pool.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostics::Diagnostic;
use crate::ir::{
    self, BinOp, BufferId, Expr, ExprKind, LocalId, Role, Scalar, Stmt, StmtKind, Storage, View,
    change_views, retain_stmts,
};
use crate::sema::build;
use crate::sema::checks::unsupported;
use crate::sema::memory::{data, tiles};
use crate::sema::names::params;
use crate::sema::state::elab::Elab;
use crate::sema::state::value::{Data, Value};
use crate::sema::values::{arith, shape};
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast;

/// The pool of a group of futures with tiles of this kind; `buffer` is in it from now on.
pub(crate) fn pool_for(el: &mut Elab<'_>, group: usize, buffer: BufferId, tile: &Sym) -> BufferId {
    let (elem, storage, span) = {
        let b = el.f.buffer(buffer);
        (b.elem, b.storage, b.span)
    };
    let key = (group, el.f.kernels.len(), elem, tile.clone());
    let pool = match el.storage.pools.of_futures.get(&key) {
        Some(pool) => *pool,
        None => {
            let names: Vec<&str> = el
                .asynchronous
                .exchanged
                .iter()
                .filter(|(_, g)| **g == group)
                .map(|(name, _)| name.as_str())
                .collect();
            let name = names.join("_");
            let pool = params::new_buffer(el, &name, elem, storage, Vec::new(), Sym::zero(), span);
            el.storage.pools.of_futures.insert(key, pool);
            pool
        }
    };
    join_pool(el, buffer, pool, tile);
    pool
}

/// Makes `buffer` a part of the pool that `pool` is in, at a multiple of `unit` elements.
fn join_pool(el: &mut Elab<'_>, buffer: BufferId, pool: BufferId, unit: &Sym) {
    let (part, _) = el.storage.pools.find(buffer);
    let (root, _) = el.storage.pools.find(pool);
    if part == root {
        return;
    }
    let filled = el.f.buffer(root).count.clone();
    let base = if el.f.cx.divides(unit, &filled).is_yes() {
        filled
    } else {
        el.f.cx.align_up(&filled, unit)
    };
    let end = &base + &el.f.buffer(part).count;
    let (read, written) = (el.f.buffer(part).read, el.f.buffer(part).written);
    if let Some(pool) = el.f.buffers.get_mut(root.index()) {
        pool.count = end.clone();
        let declared = std::mem::replace(&mut pool.shape, vec![end]);
        el.storage.pools.declared.entry(root).or_insert(declared);
        pool.read |= read;
        pool.written |= written;
    }
    el.storage.pools.part_of.insert(part, (root, base));
}

/// Where the first element of `buffer` is, counted from that of `pool`, which both are in one.
pub(crate) fn place_of(el: &Elab<'_>, buffer: BufferId, pool: BufferId) -> Sym {
    &el.storage.pools.find(buffer).1 - &el.storage.pools.find(pool).1
}

/// Rewrites every view of a part; fills in the first tiles of placeholders.
pub(crate) fn rewrite_views(el: &mut Elab<'_>) {
    if el.storage.pools.part_of.is_empty() && el.asynchronous.first_tiles.is_empty() {
        return;
    }
    let pools = std::mem::take(&mut el.storage.pools);
    let first = std::mem::take(&mut el.asynchronous.first_tiles);
    for buffer in pools.part_of.keys() {
        let (read, written) = (el.f.buffer(*buffer).read, el.f.buffer(*buffer).written);
        let (root, _) = pools.find(*buffer);
        if let Some(root) = el.f.buffers.get_mut(root.index()) {
            root.read |= read;
            root.written |= written;
        }
    }
    let roots: BTreeSet<BufferId> = pools
        .part_of
        .keys()
        .map(|part| pools.find(*part).0)
        .collect();
    for kernel in &mut el.f.kernels {
        // A pool lives as long as any of its parts may.
        retain_stmts(&mut kernel.body, &mut |stmt| match &stmt.kind {
            StmtKind::Alloc(id) => !roots.contains(id) && !pools.part_of.contains_key(id),
            _ => true,
        });
        change_views(&mut kernel.body, &mut |view: &mut View| {
            let (root, place) = pools.find(view.buffer);
            view.buffer = root;
            view.offset = &view.offset + &place;
        });
        first_tiles(&mut kernel.body, &first);
    }
    el.storage.pools = pools;
}

/// `select(i, x0, x1, …)`
pub(crate) fn lower_select(el: &mut Elab<'_>, items: &[ast::Expr], span: Span) -> Value {
    let Some((selector, operands)) = items.split_first() else {
        return Value::Error;
    };
    let value = el.expression(selector);
    let number = match &value {
        Value::Error => None,
        Value::Int(i) => Some(i.value.clone()),
        Value::Scalar(e) if e.ty.is_integer() => arith::to_sym(el, value, selector.span),
        other => {
            let kind = other.operand();
            el.cx.report(
                Diagnostic::new(
                    "E0848",
                    selector.span,
                    format!("`select` chooses by an integer, this is {kind}"),
                )
                .label("not an integer"),
            );
            None
        }
    };
    let mut choices: Vec<Data> = Vec::new();
    let mut failed = number.is_none();
    for operand in operands {
        match data::lower(el, operand) {
            Some(mut data) => {
                tiles::emit_exists(el, &mut data);
                choices.push(data);
            }
            None => failed = true,
        }
    }
    let (Some(number), false, Some(first)) = (number, failed, choices.first().cloned()) else {
        return Value::Error;
    };
    for (other, operand) in choices.iter().zip(operands).skip(1) {
        if !check_alike(el, &first, other, operand.span) {
            return Value::Error;
        }
    }
    let count = Sym::int(i64::try_from(choices.len()).unwrap_or(i64::MAX));
    let inside = data::check_inside(
        el,
        "E0849",
        "R13",
        &number,
        &Sym::zero(),
        &count,
        selector.span,
        &|_| "the selector".to_owned(),
        "select",
    );
    if !inside {
        return Value::Error;
    }
    let chosen = number
        .as_int()
        .and_then(|n| usize::try_from(n).ok())
        .and_then(|n| choices.get(n));
    if let Some(chosen) = chosen {
        return Value::Data(chosen.clone());
    }
    emit_choice(el, &number, &choices, span)
}

fn check_alike(el: &mut Elab<'_>, first: &Data, other: &Data, at: Span) -> bool {
    let (a, b) = (
        el.f.buffer(first.view.buffer),
        el.f.buffer(other.view.buffer),
    );
    let kind = |d: &Data| if d.future.is_some() { "future of " } else { "" };
    let same = a.elem == b.elem
        && a.storage.is_global() == b.storage.is_global()
        && (a.storage == Storage::Shared) == (b.storage == Storage::Shared)
        && first.view.shape == other.view.shape
        && first.view.strides == other.view.strides
        && first.future.is_some() == other.future.is_some();
    if same {
        return true;
    }
    let shown = |el: &Elab<'_>, d: &Data, b: &ir::Buffer| {
        let place = match b.storage {
            Storage::Shared => "shared ",
            Storage::Local => "local ",
            _ => "global ",
        };
        format!(
            "{}{place}{} {}",
            kind(d),
            b.elem,
            shape::show(el, &d.view.shape)
        )
    };
    let (one, two) = (shown(el, first, a), shown(el, other, b));
    el.cx.report(
        Diagnostic::new(
            "E0848",
            at,
            format!("`select` chooses among operands of one type: `{one}` and `{two}` differ"),
        )
        .label(format!("`{two}`"))
        .also(first.span, format!("`{one}`")),
    );
    false
}

fn emit_choice(el: &mut Elab<'_>, number: &Sym, choices: &[Data], span: Span) -> Value {
    let Some(first) = choices.first() else {
        return Value::Error;
    };
    let home = first.view.buffer;
    let global = el.f.buffer(home).storage.is_global();
    let guarded = choices.iter().any(|c| c.view.may_cross());
    let one_buffer = choices.iter().all(|c| c.view.buffer == home);
    if el.kernel.is_none() || guarded || (global && !one_buffer) {
        unsupported::report(
            el,
            span,
            "`select` among different buffers in global memory, or tiles that may cross an edge",
        );
        return Value::Error;
    }
    // A number of whole tiles keeps what is known of alignment.
    let tile = first.view.shape.iter().fold(Sym::one(), |p, e| &p * e);
    let whole = choices
        .iter()
        .all(|c| el.f.cx.divides(&tile, &c.view.offset) == Truth::Yes);
    let unit = if whole { tile } else { Sym::one() };
    for choice in choices {
        join_pool(el, choice.view.buffer, home, &unit);
    }
    let places: Vec<Sym> = choices
        .iter()
        .map(|c| {
            let place = &place_of(el, c.view.buffer, home) + &c.view.offset;
            el.f.cx.div(&place, &unit)
        })
        .collect();
    let mut expr = None;
    for (at, place) in places.iter().enumerate().rev() {
        let value = Expr::index(place.clone(), span);
        expr = Some(match expr {
            None => value,
            Some(rest) => {
                let here = Sym::int(i64::try_from(at).unwrap_or(i64::MAX));
                let kind = ExprKind::Binary(
                    BinOp::Eq,
                    Expr::index(number.clone(), span),
                    Expr::index(here, span),
                );
                let is = Expr::new(kind, Scalar::Bool, span);
                Expr::new(ExprKind::Select(is, value, rest), Scalar::Index, span)
            }
        });
    }
    let local = build::new_local(el, "chosen", Scalar::Index, false, Role::Value, span);
    build::emit(el, StmtKind::Let { local, value: expr }, span);
    let var = build::local_var(el, local, None, None);
    let mut data = first.clone();
    data.view.offset = &unit * &Sym::var(var);
    data.view.span = span;
    data.span = span;
    Value::Data(data)
}

fn first_tiles(stmts: &mut [Stmt], first: &BTreeMap<LocalId, Sym>) {
    for stmt in stmts {
        if let StmtKind::Let {
            local,
            value: Some(value),
        } = &mut stmt.kind
            && let Some(tile) = first.get(local)
        {
            *value = Expr::index(tile.clone(), value.span);
        }
        for block in stmt.kind.blocks_mut() {
            first_tiles(block, first);
        }
    }
}
