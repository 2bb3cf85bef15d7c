//! The slots of arrays of events that operands refer to.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{BinOp, CheckCode, EventId, Scalar, Slot};
use crate::sema::checks::run_time;
use crate::sema::memory::{bounds, guards};
use crate::sema::names::scope;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::sema::values::arith;
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast;

/// The event, if an expression names one or some of its slots.
pub(crate) fn event_named(el: &Elab<'_>, e: &ast::Expr) -> Option<EventId> {
    match &*e.kind {
        ast::ExprKind::Name(name) => match el.names.find(name).map(|b| &b.entity) {
            Some(Entity::Event(id)) => Some(*id),
            _ => None,
        },
        ast::ExprKind::Subscript(inner, _)
        | ast::ExprKind::At(inner, _)
        | ast::ExprKind::Paren(inner) => event_named(el, inner),
        _ => None,
    }
}

pub(crate) fn lower_slot(
    el: &mut Elab<'_>,
    id: EventId,
    e: &ast::Expr,
    joined: bool,
) -> Option<Slot> {
    let array = el
        .asynchronous
        .events
        .arrays
        .get(&id)
        .cloned()
        .unwrap_or_default();
    match &*e.kind {
        ast::ExprKind::Paren(inner) => lower_slot(el, id, inner, joined),
        ast::ExprKind::Name(name) => {
            scope::lookup(el, name, e.span);
            Some(if array.is_empty() {
                Slot::At(Sym::zero())
            } else {
                Slot::All
            })
        }
        ast::ExprKind::At(inner, args) => {
            lower_slot(el, id, inner, joined);
            let name = el.f.event(id).name.clone();
            lower_order(el, &name, &array, (args, e.span), joined).map(Slot::Order)
        }
        _ => {
            let mut subscripts = Vec::new();
            let mut root = e;
            while let ast::ExprKind::Subscript(inner, list) = &*root.kind {
                subscripts.splice(0..0, list.iter());
                root = inner;
            }
            lower_slot(el, id, root, joined);
            let name = el.f.event(id).name.clone();
            let slot = slot_at(el, &name, &array, &subscripts, e.span);
            slot.map(Slot::At)
        }
    }
}

/// `e[i][j]`
pub(crate) fn slot_at(
    el: &mut Elab<'_>,
    name: &str,
    array: &[u64],
    subscripts: &[&ast::Expr],
    span: Span,
) -> Option<Sym> {
    if array.is_empty() {
        el.cx.report(
            Diagnostic::new(
                codes::E0438,
                span,
                format!("`{name}` is one event, not an array"),
            )
            .label("can't be subscripted")
            .help(format!("write `{name}`, or declare `{name}[N]`")),
        );
        return None;
    }
    if array.len() != subscripts.len() {
        el.cx.report(
            Diagnostic::new(
                codes::E0436,
                span,
                format!(
                    "`{name}` takes {} subscript{}, {} given",
                    array.len(),
                    if array.len() == 1 { "" } else { "s" },
                    subscripts.len()
                ),
            )
            .label("not one slot"),
        );
        return None;
    }
    let mut slot = Sym::zero();
    for (extent, index) in array.iter().zip(subscripts) {
        let v = el.expression(index);
        let i = arith::to_sym(el, v, index.span)?;
        let extent = Sym::int(i64::try_from(*extent).unwrap_or(i64::MAX));
        let what = |n: &str| format!("the subscript of `{n}`");
        let zero = Sym::zero();
        let guards = el.build.guards.len();
        if !bounds::check_inside(
            el,
            (codes::E0437, CheckCode::R13),
            &bounds::Bound {
                index: &i,
                lo: &zero,
                hi: &extent,
                span: index.span,
            },
            &|| what(name),
        ) {
            return None;
        }
        let most = Some(&extent - 1);
        let i = guards::checked_or_first(el, guards, i, most, index.span);
        slot = &(&slot * &extent) + &i;
    }
    Some(slot)
}

/// `e.at(order)`
pub(crate) fn lower_order(
    el: &mut Elab<'_>,
    name: &str,
    array: &[u64],
    (args, span): (&[ast::Expr], Span),
    joined: bool,
) -> Option<Sym> {
    let wrong = match array.len() {
        0 => Some((codes::E1020, "is one event, not an array")),
        1 => None,
        _ => Some((codes::E1021, "is an array of several dimensions")),
    };
    if let Some((code, text)) = wrong {
        el.cx.report(
            Diagnostic::new(
                code,
                span,
                format!("`.at(order)` counts through the slots of an array, `{name}` {text}"),
            )
            .label("no order of slots")
            .help(format!(
                "declare `{name}[N]`, or name the slot: `{name}[i]`"
            )),
        );
        return None;
    }
    let [order] = args else {
        el.cx.report(
            Diagnostic::new(codes::E1023, span, "an order is one integer")
                .label(format!("{} given", args.len())),
        );
        return None;
    };
    let counted = matches!(&*order.kind, ast::ExprKind::Increment { .. });
    if counted && joined {
        el.cx.report(
            Diagnostic::new(
                codes::E1036,
                order.span,
                "an order that is counted up, with several copies to come",
            )
            .label("counted up where?")
            .help("count it up in a statement of its own"),
        );
        return None;
    }
    if !counted && has_increment(order) {
        el.cx.report(
            Diagnostic::new(
                codes::E1022,
                order.span,
                "`++` inside the order of an event",
            )
            .label("only the whole order may be counted up")
            .help("write `e.at(n++)`, or count in a statement of its own"),
        );
        return None;
    }
    let v = el.expression(order);
    if v.is_error() {
        return None;
    }
    if is_int(&v) {
        let value = arith::to_sym(el, v, order.span)?;
        return check_order(el, name, value, order.span);
    }
    let kind = v.kind();
    el.cx.report(
        Diagnostic::new(
            codes::E1023,
            order.span,
            format!("the order of an event is an integer, this is {kind}"),
        )
        .label("not an integer"),
    );
    None
}

/// Checks that an order is not negative: its remainder would be no slot.
fn check_order(el: &mut Elab<'_>, name: &str, order: Sym, span: Span) -> Option<Sym> {
    let zero = Sym::zero();
    match el.f.cx.le(&zero, &order) {
        Truth::Yes => return Some(order),
        Truth::No if !el.path.is_dead() => {
            let shown = el.f.cx.show(&order);
            let text = format!("the orders of an event begin at 0, this is {shown}");
            el.cx
                .report(Diagnostic::new(codes::E1023, span, text).label("negative"));
            return None;
        }
        _ => {}
    }
    let message = format!("the order of `{name}` is {{1}}, it must be at least {{0}}");
    let check = run_time::Check::new(CheckCode::R13, message, span);
    let guards = el.build.guards.len();
    run_time::emit_compare(el, check, BinOp::Le, &zero, &order);
    Some(guards::checked_or_first(el, guards, order, None, span))
}

fn is_int(v: &crate::sema::state::value::Value) -> bool {
    match v {
        crate::sema::state::value::Value::Int(_) => true,
        crate::sema::state::value::Value::Scalar(e) => e.ty.is_integer() || e.ty == Scalar::Index,
        _ => false,
    }
}

fn has_increment(e: &ast::Expr) -> bool {
    match &*e.kind {
        ast::ExprKind::Increment { .. } => true,
        ast::ExprKind::Paren(a) | ast::ExprKind::Unary(_, a) => has_increment(a),
        ast::ExprKind::Binary(_, _, a, b) => has_increment(a) || has_increment(b),
        ast::ExprKind::Ternary(a, b, c) => [a, b, c].into_iter().any(has_increment),
        _ => false,
    }
}
