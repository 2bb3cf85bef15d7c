//! Names of data, and what they are views of.

use crate::diagnostics::Diagnostic;
use crate::ir::{BinOp, BufferId, Frame, Valid, View};
use crate::sema::asynchronous::futures;
use crate::sema::checks::{run_time, unsupported};
use crate::sema::levels::instances;
use crate::sema::memory::{access, guards, tiles, view};
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::sema::state::value::{Data, Value};
use crate::sema::tensor_cores::mma;
use crate::sema::values::arith;
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast;

/// Row-major strides of a shape.
pub(crate) fn dense_strides(shape: &[Sym]) -> Vec<Sym> {
    let mut strides = vec![Sym::one(); shape.len()];
    let mut step = Sym::one();
    for (stride, extent) in strides.iter_mut().zip(shape).rev() {
        *stride = step.clone();
        step = &step * extent;
    }
    strides
}

pub(crate) fn whole_view(el: &Elab<'_>, id: BufferId, span: Span) -> View {
    let shape = el.f.buffer(id).shape.clone();
    let strides = dense_strides(&shape);
    let valid = vec![Valid::default(); shape.len()];
    let frame = Some(Frame::whole(&shape, &strides));
    View {
        buffer: id,
        frame,
        offset: Sym::zero(),
        shape,
        strides,
        valid,
        span,
    }
}

pub(crate) fn data_of(view: View, name: &str, span: Span) -> Data {
    Data {
        view,
        array: Vec::new(),
        numbers: Vec::new(),
        zfill: false,
        name: name.to_owned(),
        future: None,
        squeezable: false,
        tiled: false,
        span,
    }
}

pub(crate) fn named(el: &mut Elab<'_>, name: &str, entity: Entity, span: Span) -> Value {
    match entity {
        Entity::Buffer { id, array } => {
            let mut data = data_of(whole_view(el, id, span), name, span);
            data.array = array;
            Value::Data(data)
        }
        Entity::View(data) | Entity::Chosen(data) => Value::Data(Data {
            span,
            name: name.to_owned(),
            ..data
        }),
        Entity::Future(id) => futures::value_of(el, id, span),
        _ => Value::Error,
    }
}

/// `a[i]` on an array of buffers.
pub(crate) fn element_of_array(
    el: &mut Elab<'_>,
    mut d: Data,
    index: &ast::Expr,
    span: Span,
) -> Value {
    if d.array.is_empty() {
        el.cx.report(
            Diagnostic::new(
                "E0438",
                span,
                format!("`{}` is not an array of buffers", d.name),
            )
            .label("can't be subscripted")
            .help("elements of a buffer are `x.at(i, j)`"),
        );
        return Value::Error;
    }
    let extent = d.array.remove(0);
    let rest: u64 = super::buffers::elements_of(&d.array);
    let v = el.expression(index);
    let Some(i) = arith::to_sym(el, v, index.span) else {
        return Value::Error;
    };
    let extent = Sym::int(i64::try_from(extent).unwrap_or(i64::MAX));
    if !check_inside(
        el,
        "E0437",
        "R13",
        &i,
        &Sym::zero(),
        &extent,
        index.span,
        &|n| format!("the subscript of `{n}`"),
        &d.name.clone(),
    ) {
        return Value::Error;
    }
    let elements = d.view.shape.iter().fold(Sym::one(), |p, s| &p * s);
    let rest = Sym::int(i64::try_from(rest).unwrap_or(i64::MAX));
    d.view.offset = &d.view.offset + &(&(&i * &rest) * &elements);
    d.span = span;
    Value::Data(d)
}

/// Proves `lo <= index < hi`, or reports it, or emits a run-time check. False after an error.
#[allow(clippy::too_many_arguments)]
pub(crate) fn check_inside(
    el: &mut Elab<'_>,
    code: &'static str,
    check: &'static str,
    index: &Sym,
    lo: &Sym,
    hi: &Sym,
    span: Span,
    what: &dyn Fn(&str) -> String,
    name: &str,
) -> bool {
    let above = el.f.cx.le(lo, index);
    let below = el.f.cx.lt(index, hi);
    if above == Truth::Yes && below == Truth::Yes {
        return true;
    }
    if el.path.is_dead() {
        return true;
    }
    let refuted = above == Truth::No || below == Truth::No || reaches_outside(el, index, lo, hi);
    if refuted {
        report_outside(el, code, index, lo, hi, span, &what(name));
        return false;
    }
    let subject = what(name);
    let message = format!(
        "{subject} is {{0}}, it must be at least {} and below {{1}}",
        el.f.cx.show(lo)
    );
    let mut cond = crate::sema::checks::run_time::compare(BinOp::Lt, index, hi, span);
    if above != Truth::Yes {
        let low = crate::sema::checks::run_time::compare(BinOp::Le, lo, index, span);
        cond = if below == Truth::Yes {
            low
        } else {
            crate::sema::checks::run_time::both(low, cond)
        };
    }
    run_time::emit_check(
        el,
        check,
        message,
        cond,
        &[index.clone(), hi.clone()],
        &[index, lo, hi],
        span,
    );
    true
}

fn report_outside(
    el: &mut Elab<'_>,
    code: &'static str,
    index: &Sym,
    lo: &Sym,
    hi: &Sym,
    span: Span,
    subject: &str,
) {
    let shown = el.f.cx.show(index);
    let ends = extreme(el, index, false).zip(extreme(el, index, true));
    let range = match (index.as_int(), ends, el.f.cx.range(index)) {
        (Some(n), ..) => format!("is always {n}"),
        (_, Some((a, b)), _) if a != b => {
            format!("runs from {} to {}", el.f.cx.show(&a), el.f.cx.show(&b))
        }
        (_, _, (Some(a), Some(b))) if a < b => format!("runs from {a} to {b}"),
        _ => format!("is `{shown}`"),
    };
    let (l, h) = (el.f.cx.show(lo), el.f.cx.show(hi));
    let last = el.f.cx.show(&(hi - 1));
    let low = el.f.cx.le(lo, index) == Truth::No
        || extreme(el, index, false).is_some_and(|e| el.f.cx.le(lo, &e) == Truth::No);
    let mut d = Diagnostic::new(
        code,
        span,
        format!("{subject} {range}, outside {l} to {last}"),
    )
    .label(if low {
        format!("must be at least {l}")
    } else {
        format!("must stay below {h}")
    });
    if index.as_int().is_none() && shown != el.cx.file.snippet(span) {
        d = d.note(format!("the index is `{shown}`"));
    }
    el.cx.report(d);
}

/// Whether some instance that certainly runs computes an index outside `[lo, hi)`: the index is
/// linear in loop and parallel variables, which take all their values (in a region, those that tell
/// threads apart don't), and no condition restricts which instances come here.
fn reaches_outside(el: &Elab<'_>, index: &Sym, lo: &Sym, hi: &Sym) -> bool {
    if el.path.is_conditional() {
        return false;
    }
    let high = extreme(el, index, true);
    let low = extreme(el, index, false);
    high.is_some_and(|h| el.f.cx.lt(&h, hi) == Truth::No)
        || low.is_some_and(|l| el.f.cx.le(lo, &l) == Truth::No)
}

pub(crate) fn extreme(el: &Elab<'_>, index: &Sym, upper: bool) -> Option<Sym> {
    use crate::ir::{Role, VarHome};
    let mut s = index.clone();
    let in_region = el.path.in_region();
    for v in index.vars().into_iter().rev() {
        if in_region && instances::is_unit_variable(el, v) {
            return None;
        }
        match el.f.var_home.get(&v)? {
            VarHome::Dim(_) | VarHome::Param(_) => continue,
            VarHome::Local(id) if el.f.local(*id).role == Role::Value => return None,
            VarHome::Local(_) => {}
        }
        let (coef, _) = s.linear_in(v)?;
        let (lo, hi) = el.f.cx.bounds(v);
        let (lo, hi) = (lo?.clone(), hi?.clone());
        if el.f.cx.le(&lo, &hi) != Truth::Yes {
            return None;
        }
        let rising = el.f.cx.le(&Sym::zero(), &coef) == Truth::Yes;
        let falling = el.f.cx.le(&coef, &Sym::zero()) == Truth::Yes;
        let end = match (rising, falling) {
            (true, _) => {
                if upper {
                    hi
                } else {
                    lo
                }
            }
            (_, true) => {
                if upper {
                    lo
                } else {
                    hi
                }
            }
            _ => return None,
        };
        s = s.subst(v, &end, &el.f.cx);
    }
    Some(s)
}

/// `base.span`, `f.data`
pub(crate) fn lower_member(
    el: &mut Elab<'_>,
    e: &ast::Expr,
    base: &ast::Expr,
    member: ast::Member,
    span: Span,
) -> Value {
    match member {
        ast::Member::Span => match el.expression(base) {
            Value::Data(d) => Value::Shape(d.view.shape),
            Value::Error => Value::Error,
            other => {
                let kind = other.kind();
                el.cx.report(
                    Diagnostic::new("E0427", span, format!("{kind} has no `.span`"))
                        .label("has no shape"),
                );
                Value::Error
            }
        },
        ast::Member::Data => match el.expression(base) {
            Value::Data(d) if d.future.is_some() => {
                futures::emit_use(el, &d, span);
                Value::Data(Data {
                    future: None,
                    span: e.span,
                    ..d
                })
            }
            Value::Error => Value::Error,
            other => {
                let kind = other.kind();
                let name = el.cx.file.snippet(base.span).to_owned();
                el.cx.report(
                    Diagnostic::new(
                        "E0203",
                        span,
                        format!("only a data future has `.data`; `{name}` is {kind}"),
                    )
                    .label("not a future")
                    .help(format!("use `{name}` itself")),
                );
                Value::Error
            }
        },
        ast::Member::Mdata => {
            unsupported::report(el, span, "sparse data (`.mdata`)");
            Value::Error
        }
    }
}

/// A value that must be data, for copies and tile operators.
pub(crate) fn lower(el: &mut Elab<'_>, e: &ast::Expr) -> Option<Data> {
    lower_or(el, e, |kind| {
        Diagnostic::new(
            "E0833",
            e.span,
            format!("expected spanned data, found {kind}"),
        )
        .label("not data")
        .help("copies and tile operators take buffers, parameters, futures and views of them")
    })
}

/// `otherwise` says what is wrong with another kind of value.
fn lower_or(
    el: &mut Elab<'_>,
    e: &ast::Expr,
    otherwise: impl FnOnce(&str) -> Diagnostic,
) -> Option<Data> {
    match el.expression(e) {
        Value::Data(d) => expect_whole(el, d, e.span),
        Value::Error => None,
        other => {
            let kind = other.kind();
            el.cx.report(otherwise(&kind));
            None
        }
    }
}

/// Rejects an array of buffers that still wants subscripts.
pub(crate) fn expect_whole(el: &mut Elab<'_>, d: Data, span: Span) -> Option<Data> {
    if d.array.is_empty() {
        mma::check_in_memory(el, d.view.buffer, &d.name, span)?;
        return Some(d);
    }
    let missing: String = d.array.iter().map(|_| "[…]").collect();
    el.cx.report(
        Diagnostic::new(
            "E0436",
            span,
            format!("`{}` is an array of buffers, not one buffer", d.name),
        )
        .label("needs a subscript")
        .help(format!("write `{}{missing}`", d.name)),
    );
    None
}

pub(crate) fn value_of(el: &mut Elab<'_>, e: &ast::Expr) -> Value {
    let ast::ExprKind::View(base, op, at) = &*e.kind else {
        return Value::Error;
    };
    let data = match op {
        ast::ViewOp::SpanAs(_) => lower_or(el, base, |kind| {
            Diagnostic::new(
                "E0826",
                base.span,
                format!("`span_as` gives data another shape; this is {kind}"),
            )
            .label("has no shape")
            .help("reshape a buffer, a parameter, a future's data or a view of them")
        }),
        _ => lower(el, base),
    };
    let Some(data) = data else {
        return Value::Error;
    };
    match view::lower_operator(el, data, op, *at) {
        Some(mut d) => {
            d.span = e.span;
            d.view.span = e.span;
            Value::Data(d)
        }
        None => Value::Error,
    }
}

pub(crate) fn address_of(el: &mut Elab<'_>, a: &ast::Expr) -> Value {
    if let ast::ExprKind::At(base, indices) = &*a.kind {
        return match access::access(el, base, indices, a.span) {
            Some(access) => {
                let guard = guards::take(el);
                let offset = guards::guard_place(el, guard, access.address(), a.span);
                let mut view = View {
                    offset,
                    frame: None,
                    ..access.view
                };
                view.shape.fill(Sym::one());
                view.valid.fill(Valid::default());
                Value::Address(view)
            }
            None => Value::Error,
        };
    }
    match lower(el, a) {
        Some(mut d) => {
            tiles::emit_exists(el, &mut d);
            Value::Address(d.view)
        }
        None => Value::Error,
    }
}
