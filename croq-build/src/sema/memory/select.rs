//! `select(n, a, b, …)`: one of several tiles, selected by a number.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, BinOp, CheckCode, Expr, ExprKind, Role, Scalar, StmtKind, Storage};
use crate::sema::build;
use crate::sema::checks::unsupported;
use crate::sema::memory::{bounds, buffer_pools, data, tiles};
use crate::sema::state::choices::{Choice, Part, SelectId};
use crate::sema::state::elab::Elab;
use crate::sema::state::value::{Data, Value};
use crate::sema::values::{arith, shape};
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast;

/// `select(i, x0, x1, …)`
pub(crate) fn lower_select(el: &mut Elab<'_>, items: &[ast::Expr], id: SelectId) -> Value {
    let span = id.0;
    let (Some((selector, operands)), 2..) = (items.split_first(), items.len()) else {
        el.cx.report(
            Diagnostic::new(codes::E0848, span, "`select` has nothing to choose from")
                .label("no operands")
                .help("write the number first, then the operands: `select(i, a, b)`"),
        );
        return Value::Error;
    };
    let made = el.choices.made_for(id);
    let made = made.map(|made| (made.operand, made.choice.part));
    let number = match made {
        Some((at, part)) if part != Part::Kernel => i64::try_from(at).ok().map(Sym::int),
        _ => lower_selector(el, selector),
    };
    let mut choices: Vec<Data> = Vec::new();
    let mut failed = number.is_none();
    for (at, operand) in operands.iter().enumerate() {
        match data::lower(el, operand) {
            Some(mut data) => {
                if made.is_none_or(|(chosen, _)| chosen == at) {
                    tiles::emit_exists(el, &mut data);
                }
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
    if !check_selector(el, &number, choices.len(), selector.span) {
        return Value::Error;
    }
    let literal = number.as_int().and_then(|n| usize::try_from(n).ok());
    let chosen = made.map(|(at, _)| at).or(literal);
    let chosen = chosen.and_then(|n| choices.get(n));
    if let Some(chosen) = chosen {
        return Value::Data(chosen.clone());
    }
    emit_choice(el, (selector, &number), &choices, id)
}

/// The number of the operand, or nothing after an error.
pub(crate) fn lower_selector(el: &mut Elab<'_>, selector: &ast::Expr) -> Option<Sym> {
    let mut value = el.expression(selector);
    if let Value::Scalar(e) = &value
        && e.ty == Scalar::Bool
    {
        // As an integer: 1 for true.
        let [one, zero] = [1, 0].map(|n| Expr::index(Sym::int(n), selector.span));
        let kind = ExprKind::Select(e.clone(), one, zero);
        value = Value::Scalar(Expr::new(kind, Scalar::Index, selector.span));
    }
    match &value {
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
    }
}

/// Checks that the number is that of an operand. False after an error.
pub(crate) fn check_selector(el: &mut Elab<'_>, number: &Sym, count: usize, at: Span) -> bool {
    let count = Sym::int(i64::try_from(count).unwrap_or(i64::MAX));
    let bound = bounds::Bound {
        index: number,
        lo: &Sym::zero(),
        hi: &count,
        span: at,
    };
    let codes = (codes::E0849, CheckCode::R13);
    bounds::check_inside(el, codes, &bound, &|| "the selector".to_owned())
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
    let mut d = Diagnostic::new(
        codes::E0848,
        at,
        format!("`select` chooses among operands of one type: `{one}` and `{two}` differ"),
    )
    .label(format!("`{two}`"))
    .also(first.span, format!("`{one}`"));
    let mut axes = first.view.shape.iter().zip(&other.view.shape);
    let may_agree = first.view.rank() == other.view.rank()
        && axes.any(|(a, b)| el.f.cx.eq(a, b) == Truth::Unknown);
    if may_agree {
        d = d
            .help("give extents that are equal one name in the signature: each call compares them");
    }
    el.cx.report(d);
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
        // Also by a statement further on.
        let exchanged = &el.asynchronous.exchanged;
        if exchanged.contains_key(&el.f.buffer(id).name) {
            return false;
        }
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

/// Records that the choice is to be made before the statement: by the host, where it can. False if
/// there is no further walk over the function, or if this walk should have made it.
fn note_choice(el: &mut Elab<'_>, of: SelectId, selector: ast::Expr, count: usize) -> bool {
    let by_host = el.kernel.is_none() || is_known_on_the_host(el, &selector);
    let place = match by_host {
        true => el.choices.on_host,
        false => el.choices.statement,
    };
    let Some(place) = place.filter(|_| !el.earlier.last) else {
        return false;
    };
    let part = match el.choices.load == Some(of) {
        _ if by_host && el.kernel.is_some() => Part::Kernel,
        true => Part::Load,
        false => Part::Statement,
    };
    let choice = Choice {
        of,
        selector,
        count,
        part,
    };
    el.earlier.note_choice(place, choice)
}

/// Whether host code in front of the kernel can compute an expression of the kernel, which the
/// kernel may not reach: no part of it can fail.
fn is_known_on_the_host(el: &Elab<'_>, e: &ast::Expr) -> bool {
    use ast::BinOp as B;
    use ast::ExprKind as K;
    let known = |e: &ast::Expr| is_known_on_the_host(el, e);
    match &*e.kind {
        K::Int { .. } | K::Bool(_) => true,
        K::Name(name) => el.names.find(name).is_some_and(|b| b.uses.on_host),
        K::Paren(a) | K::Unary(_, a) => known(a),
        K::Binary(B::Div | B::Rem, _, a, b) => {
            known(a) && matches!(&*b.kind, K::Int { value, .. } if *value > 0)
        }
        K::Binary(
            B::Add
            | B::Sub
            | B::Mul
            | B::And
            | B::Or
            | B::Xor
            | B::LogicAnd
            | B::LogicOr
            | B::Lt
            | B::Gt
            | B::Le
            | B::Ge
            | B::Eq
            | B::Ne,
            _,
            a,
            b,
        ) => known(a) && known(b),
        K::Ternary(a, b, c) => known(a) && known(b) && known(c),
        _ => false,
    }
}

fn emit_choice(
    el: &mut Elab<'_>,
    (selector, number): (&ast::Expr, &Sym),
    choices: &[Data],
    id: SelectId,
) -> Value {
    let span = id.0;
    let Some(first) = choices.first() else {
        return Value::Error;
    };
    let home = first.view.buffer;
    let global = el.f.buffer(home).storage.is_global();
    let guarded = choices.iter().any(|c| c.view.may_cross());
    let one_buffer = choices.iter().all(|c| c.view.buffer == home);
    if guarded || (global && !one_buffer && !join_of_the_call(el, choices)) {
        let (selector, count) = (selector.clone(), choices.len());
        if note_choice(el, id, selector, count) {
            // The next walk lowers what depends on it for each operand.
            return Value::Data(first.clone());
        }
        let what = "`select` among tensors of different allocations, this deep within each other,";
        let remedy = "name the inner ones first: `v = select(n, a, b);`";
        unsupported::report_with_remedy(&mut el.cx, span, what, Some(remedy));
        return Value::Error;
    }
    // An offset in whole tiles preserves what is known about alignment. TMA may move any of the tiles,
    // also by a statement further on.
    let tile = first.view.shape.iter().product::<Sym>();
    let slot = buffer_pools::slot_of_tile(el, home, &tile);
    let whole = |el: &Elab<'_>, unit: &Sym| {
        let offsets = choices.iter().map(|c| &c.view.offset);
        let mut all = offsets.chain(std::iter::once(&slot));
        all.all(|offset| el.f.cx.divides(unit, offset) == Truth::Yes)
    };
    let unit = [&slot, &tile].into_iter().find(|unit| whole(el, unit));
    let unit = unit.cloned().unwrap_or_else(Sym::one);
    for choice in choices {
        buffer_pools::join_pool(el, choice.view.buffer, home, &slot);
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
