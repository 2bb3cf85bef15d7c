//! Events of a single thread. The same thread triggers and waits, so a `wait` is satisfied when it
//! is executed or never: an event is a bit in a variable of the thread, and a wait is a check of
//! the bit.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{BinOp, CheckCode, Expr, ExprKind, Level, LocalId, Role, Scalar, StmtKind, UnOp};
use crate::sema::asynchronous::slots;
use crate::sema::build;
use crate::sema::checks::{run_time, unsupported};
use crate::sema::memory::arrays;
use crate::sema::names::scope;
use crate::sema::state::asynchronous::Flag;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::sema::values::constants;
use crate::source::Span;
use crate::syntax::ast::{self, EventItem};

/// The number of bits of the variable.
const SLOTS: u64 = 64;

pub(crate) fn declare_all(el: &mut Elab<'_>, count: Option<&ast::Expr>, items: &[EventItem]) {
    if let Some(count) = count.filter(|e| constants::constant(e) != Some(1)) {
        el.cx.report(
            Diagnostic::new(
                codes::W1003,
                count.span,
                "only one thread triggers a `local` event",
            )
            .label("not one")
            .help("remove the number, or write `shared event`"),
        );
    }
    for item in items {
        let entity = declare_one(el, item).map_or(Entity::Poison, Entity::Flag);
        scope::declare(el, &item.name, entity);
    }
}

fn declare_one(el: &mut Elab<'_>, item: &EventItem) -> Option<usize> {
    let mut array = Vec::new();
    for extent in &item.array {
        array.push(arrays::array_extent(el, extent, "event")?);
    }
    let (name, span) = (item.name.text.clone(), item.name.span);
    if array.iter().product::<u64>() > SLOTS {
        unsupported::report(
            &mut el.cx,
            span,
            &format!("an array of more than {SLOTS} events"),
        );
        return None;
    }
    let local = build::new_local(&mut el.f, &name, Scalar::U64, true, Role::Value, span);
    el.build.vary(local, Level::Thread);
    let first = match item.ready {
        Some(_) => bits(u64::MAX, span),
        None => bits(0, span),
    };
    build::emit(
        el,
        StmtKind::Let {
            local,
            value: Some(first),
        },
        span,
    );
    el.asynchronous.flags.push(Flag {
        name,
        local,
        array,
        ready: item.ready.is_some(),
        waited: None,
        triggered: None,
    });
    Some(el.asynchronous.flags.len() - 1)
}

pub(crate) fn trigger(el: &mut Elab<'_>, at: usize, e: &ast::Expr, cluster: bool, span: Span) {
    if cluster {
        let name = el
            .asynchronous
            .flags
            .get(at)
            .map_or("", |f| f.name.as_str());
        let text = format!("`{name}` is an event of one thread: it can't signal a block");
        el.cx.report(
            Diagnostic::new(codes::E1030, e.span, text)
                .label("`local`")
                .help("declare it `shared`"),
        );
        return;
    }
    let Some(flag) = el.asynchronous.flags.get_mut(at) else {
        return;
    };
    flag.triggered.get_or_insert(span);
    let local = flag.local;
    let Some(slots) = slots(el, at, e) else {
        return;
    };
    let value = op(BinOp::Or, read(local, span), slots);
    build::emit(el, StmtKind::Assign { local, value }, span);
}

pub(crate) fn wait(el: &mut Elab<'_>, at: usize, e: &ast::Expr, span: Span) {
    let Some(flag) = el.asynchronous.flags.get_mut(at) else {
        return;
    };
    flag.waited.get_or_insert(span);
    let (local, name) = (flag.local, flag.name.clone());
    let Some(slots) = slots(el, at, e) else {
        return;
    };
    let set = op(BinOp::And, read(local, span), slots.clone());
    let cond = ExprKind::Binary(BinOp::Eq, set, slots.clone());
    let cond = Expr::new(cond, Scalar::Bool, span);
    let message = format!(
        "a thread waits for `{name}` before triggering it, and no other thread can trigger it"
    );
    let check = run_time::row(el, run_time::Check::new(CheckCode::R18, message, span));
    let values = Vec::new();
    build::emit(
        el,
        StmtKind::Check {
            check,
            cond,
            values,
        },
        span,
    );
    let rest = Expr::new(ExprKind::Unary(UnOp::BitNot, slots), Scalar::U64, span);
    let value = op(BinOp::And, read(local, span), rest);
    build::emit(el, StmtKind::Assign { local, value }, span);
}

/// The bits of the slots that an operand refers to.
fn slots(el: &mut Elab<'_>, at: usize, e: &ast::Expr) -> Option<Expr> {
    let flag = el.asynchronous.flags.get(at)?;
    let (name, array) = (flag.name.clone(), flag.array.clone());
    let count: u64 = crate::sema::memory::arrays::elements_of(&array);
    let mut subscripts = Vec::new();
    let mut root = e;
    loop {
        match &*root.kind {
            ast::ExprKind::Subscript(inner, list) => {
                subscripts.splice(0..0, list.iter());
                root = inner;
            }
            ast::ExprKind::Paren(inner) => root = inner,
            ast::ExprKind::At(..) => {
                let text = format!("`{name}` is an event of one thread: its slots have no order");
                el.cx.report(
                    Diagnostic::new(codes::E1020, e.span, text)
                        .label("no order of slots")
                        .help(format!("name the slot: `{name}[i]`")),
                );
                return None;
            }
            _ => break,
        }
    }
    if subscripts.is_empty() {
        let all = u64::MAX >> (SLOTS - count.clamp(1, SLOTS));
        return Some(bits(all, e.span));
    }
    let slot = slots::slot_at(el, &name, &array, &subscripts, e.span)?;
    let one = bits(1, e.span);
    Some(op(BinOp::Shl, one, Expr::index(slot, e.span)))
}

/// Reports events of single threads that are waited for and never triggered, or the reverse.
pub(crate) fn report_one_sided(el: &mut Elab<'_>) {
    for flag in std::mem::take(&mut el.asynchronous.flags) {
        let name = &flag.name;
        match (flag.waited, flag.triggered) {
            (Some(wait), None) if !flag.ready => el.cx.report(
                Diagnostic::new(codes::E1008, wait, format!("nothing triggers `{name}`"))
                    .label("waits forever")
                    .help(format!("`trigger {name};` before, in the same thread")),
            ),
            (None, Some(trigger)) => el.cx.report(
                Diagnostic::new(codes::W1009, trigger, format!("nothing waits for `{name}`"))
                    .label("no thread waits for it")
                    .help("remove it, or `wait` where the thread goes on"),
            ),
            _ => {}
        }
    }
}

fn bits(value: u64, span: Span) -> Expr {
    Expr::new(ExprKind::Int(i128::from(value)), Scalar::U64, span)
}

fn read(local: LocalId, span: Span) -> Expr {
    Expr::new(ExprKind::Local(local), Scalar::U64, span)
}

fn op(op: BinOp, a: Expr, b: Expr) -> Expr {
    let span = a.span;
    Expr::new(ExprKind::Binary(op, a, b), Scalar::U64, span)
}
