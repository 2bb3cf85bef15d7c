//! `select(n, a, b, …)`: one of several tiles, selected by a number.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, BinOp, CheckCode, Expr, ExprKind, Role, Scalar, StmtKind, Storage};
use crate::sema::build;
use crate::sema::checks::unsupported;
use crate::sema::memory::{bounds, buffer_pools, data, tiles};
use crate::sema::state::elab::Elab;
use crate::sema::state::value::{Data, Value};
use crate::sema::values::{arith, shape};
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast;

/// `select(i, x0, x1, …)`
pub(crate) fn lower_select(el: &mut Elab<'_>, items: &[ast::Expr], span: Span) -> Value {
    let (Some((selector, operands)), 2..) = (items.split_first(), items.len()) else {
        el.cx.report(
            Diagnostic::new(codes::E0848, span, "`select` has nothing to choose from")
                .label("no operands")
                .help("write the number first, then the operands: `select(i, a, b)`"),
        );
        return Value::Error;
    };
    let mut value = el.expression(selector);
    if let Value::Scalar(e) = &value
        && e.ty == Scalar::Bool
    {
        // As an integer: 1 for true.
        let [one, zero] = [1, 0].map(|n| Expr::index(Sym::int(n), selector.span));
        let kind = ExprKind::Select(e.clone(), one, zero);
        value = Value::Scalar(Expr::new(kind, Scalar::Index, selector.span));
    }
    let number = match &value {
        Value::Error => None,
        Value::Int(i) => Some(i.value.clone()),
        Value::Scalar(e) if e.ty.is_integer() => arith::to_sym(el, value, selector.span),
        other => {
            let kind = other.operand();
            el.cx.report(
                Diagnostic::new(
                    codes::E0848,
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
    let inside = bounds::check_inside(
        el,
        (codes::E0849, CheckCode::R13),
        &bounds::Bound {
            index: &number,
            lo: &Sym::zero(),
            hi: &count,
            span: selector.span,
        },
        &|| "the selector".to_owned(),
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

pub(crate) fn check_alike(el: &mut Elab<'_>, first: &Data, other: &Data, at: Span) -> bool {
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
            shape::show(&el.f, &d.view.shape)
        )
    };
    let (one, two) = (shown(el, first, a), shown(el, other, b));
    el.cx.report(
        Diagnostic::new(
            codes::E0848,
            at,
            format!("`select` chooses among operands of one type: `{one}` and `{two}` differ"),
        )
        .label(format!("`{two}`"))
        .also(first.span, format!("`{one}`")),
    );
    false
}

/// Makes the buffers of the choices parts of one allocation. Only buffers that the function
/// allocates once, at its beginning, can be, and those that it does not exchange.
fn join_of_the_call(el: &mut Elab<'_>, choices: &[Data]) -> bool {
    let Some(first) = choices.first().map(|c| c.view.buffer) else {
        return false;
    };
    let (elem, shape, span) = {
        let b = el.f.buffer(first);
        (b.elem, b.shape.clone(), b.span)
    };
    let fits = |choice: &Data| {
        let id = choice.view.buffer;
        let fits = el.storage.of_the_call.contains(&id) && el.f.buffer(id).shape == shape;
        fits && !el.storage.is_exchanged(id) && !el.results.buffers.contains(&id)
    };
    if !choices.iter().all(fits) {
        return false;
    }
    let count = el.f.buffer(first).count.clone();
    let root = el.storage.pools.find(first).0;
    let pool = match root == first {
        false => root,
        true => build::new_buffer(
            &mut el.f,
            build::NewBuffer {
                name: "choices",
                elem,
                storage: Storage::Host,
                shape: Vec::new(),
                copies: Sym::zero(),
                span,
            },
        ),
    };
    for choice in choices {
        buffer_pools::join_pool(el, choice.view.buffer, pool, &count);
    }
    true
}

fn emit_choice(el: &mut Elab<'_>, number: &Sym, choices: &[Data], span: Span) -> Value {
    let Some(first) = choices.first() else {
        return Value::Error;
    };
    let home = first.view.buffer;
    let global = el.f.buffer(home).storage.is_global();
    let guarded = choices.iter().any(|c| c.view.may_cross());
    let one_buffer = choices.iter().all(|c| c.view.buffer == home);
    if guarded || (global && !one_buffer && !join_of_the_call(el, choices)) {
        let (what, remedy) = match guarded {
            true => (
                "`select` among tiles that may cross an edge",
                "copy the tiles into buffers, with `.zfill`, and select among those",
            ),
            false => (
                "`select` among tensors that are not in one allocation of this function",
                "a choice is an offset in one allocation, and each parameter is an allocation of the caller: `dma.copy` \
                 them to buffers of this function, or decide with `if`",
            ),
        };
        unsupported::report_with_remedy(&mut el.cx, span, what, Some(remedy));
        return Value::Error;
    }
    // An offset in whole tiles preserves what is known about alignment.
    let tile = first.view.shape.iter().fold(Sym::one(), |p, e| &p * e);
    let whole = choices
        .iter()
        .all(|c| el.f.cx.divides(&tile, &c.view.offset) == Truth::Yes);
    let unit = if whole { tile } else { Sym::one() };
    for choice in choices {
        buffer_pools::join_pool(el, choice.view.buffer, home, &unit);
    }
    let places: Vec<Sym> = choices
        .iter()
        .map(|c| {
            let place = &buffer_pools::place_of(el, c.view.buffer, home) + &c.view.offset;
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
    let local = build::new_local(&mut el.f, "chosen", Scalar::Index, false, Role::Value, span);
    build::emit(el, StmtKind::Let { local, value: expr }, span);
    let var = build::local_var(&mut el.f, local, None, None);
    let mut data = first.clone();
    data.view.offset = &unit * &Sym::var(var);
    data.view.span = span;
    data.span = span;
    Value::Data(data)
}
