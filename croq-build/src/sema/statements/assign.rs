//! Assignments, which also declare.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{Access, BinOp, Expr, ExprKind, Level, LocalId, Scalar, Stmt, StmtKind, Storage};
use crate::sema::build;
use crate::sema::checks::lints;
use crate::sema::memory::{access, atomics, guards, whole};
use crate::sema::names::{hiding, scope};
use crate::sema::state::cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::{Entity, IntKind};
use crate::sema::state::value::{Operand, Value};
use crate::sema::statements::{device_calls, kernel_calls, scalar_declarations};
use crate::sema::tensor_cores::fragments;
use crate::sema::values::{
    arith, convert, integers, operator_names, operators, precision, scalars,
};
use crate::source::Span;
use crate::syntax::ast;

pub(crate) fn lower(
    el: &mut Elab<'_>,
    target: &ast::Expr,
    op: Option<ast::BinOp>,
    value: &ast::Expr,
    span: Span,
) {
    if op.is_some() && fragments::lower_update(el, target, op, value, span) {
        return;
    }
    match &*target.kind {
        ast::ExprKind::Name(text) => {
            let name = ast::Name {
                text: text.clone(),
                span: target.span,
            };
            assign_name(el, &name, op, value, span);
        }
        ast::ExprKind::At(base, indices) => {
            let access = access::lower_access(el, base, indices, target.span);
            let guard = guards::take(el);
            store(el, access, guard, op, value, span);
        }
        ast::ExprKind::Wildcard => {
            let name = ast::Name {
                text: "_".into(),
                span: target.span,
            };
            scope::declare(el, &name, Entity::Poison);
        }
        ast::ExprKind::Error => {
            el.expression(value);
        }
        _ => {
            let v = el.expression(target);
            el.expression(value);
            if v.is_error() {
                return;
            }
            let kind = v.kind();
            el.cx.report(
                Diagnostic::new(
                    codes::E0309,
                    target.span,
                    format!("{kind} can't be assigned to"),
                )
                .label("not a variable or an element")
                .help("assign to a `mutable` scalar or to `x.at(…)`"),
            );
        }
    }
}

fn assign_name(
    el: &mut Elab<'_>,
    name: &ast::Name,
    op: Option<ast::BinOp>,
    value: &ast::Expr,
    span: Span,
) {
    let found = el
        .names
        .find(&name.text)
        .map(|b| (b.entity.clone(), b.span));
    let here = el.names.in_innermost(&name.text);
    match (found, op) {
        (None, Some(_)) => {
            el.expression(value);
            el.cx.report(
                Diagnostic::new(
                    codes::E0204,
                    name.span,
                    format!("`{}` is not declared, so it can't be updated", name.text),
                )
                .label("nothing of this name")
                .help(format!("declare it first: `mutable {} = …;`", name.text)),
            );
        }
        (None, None) => define(el, name, value),
        (
            Some((
                Entity::Scalar {
                    local,
                    mutable: true,
                },
                declared,
            )),
            op,
        ) => {
            assign_scalar(el, (local, name.span), declared, op, value, span);
        }
        (Some((Entity::Word(id), _)), op) => {
            let access = access::access_word(el, id, name.span);
            store(el, Some(access), None, op, value, span);
        }
        (Some((Entity::Poison, _)), _) => {
            el.expression(value);
        }
        (Some((entity, declared)), op) => {
            let earlier = Earlier {
                entity: &entity,
                declared,
                here,
            };
            reassign(el, name, &earlier, op, value);
        }
    }
}

/// `name = value` where the name is new.
fn define(el: &mut Elab<'_>, name: &ast::Name, value: &ast::Expr) {
    let Some((callee, args)) = kernel_calls::called(el, value) else {
        return scalar_declarations::define(el, name, value);
    };
    let entity = match kernel_calls::lower(el, &callee, args, value.span) {
        Some(Value::Data(data)) => Entity::Buffer {
            id: data.view.buffer,
            array: Vec::new(),
        },
        Some(Value::Error) => Entity::Poison,
        Some(value) => scalar_declarations::define_value(el, name, value, callee.span),
        None => {
            let text = format!("`{}` returns nothing", callee.text);
            let d = Diagnostic::new(codes::E0313, value.span, text).label("has no value");
            el.cx.report(d);
            Entity::Poison
        }
    };
    scope::declare(el, name, entity);
}

/// Reports an assignment to a scalar of the host in a kernel. Whether it may be assigned.
fn is_assignable(el: &mut Elab<'_>, local: LocalId, declared: Span, span: Span) -> bool {
    let Some(k) = &el.kernel else { return true };
    if local.index() >= k.first_local {
        return true;
    }
    let header = k.header;
    let name = el.f.local(local).name.clone();
    el.cx.report(
        Diagnostic::new(
            codes::E0212,
            span,
            format!("`{name}` belongs to the host, a kernel can't change it"),
        )
        .label("assigned inside `parallel`")
        .also(declared, "declared on the host")
        .also(header, "the kernel starts here, with a copy")
        .help("return the result through a buffer"),
    );
    false
}

fn assign_scalar(
    el: &mut Elab<'_>,
    (local, target): (LocalId, Span),
    declared: Span,
    op: Option<ast::BinOp>,
    value: &ast::Expr,
    span: Span,
) {
    let ty = el.f.local(local).ty;
    let name = el.f.local(local).name.clone();
    if !is_assignable(el, local, declared, span) {
        el.expression(value);
        return;
    }
    let v = match &*value.kind {
        ast::ExprKind::Call(call) if device_calls::is_device_call(&el.cx, call) => {
            device_calls::lower(el, call, ty, value.span)
        }
        _ => match atomics::as_update(&el.cx, value) {
            Some(call) => atomics::lower_value(el, call, value.span),
            None => el.expression(value),
        },
    };
    if !scalar_declarations::check_initialiser(&mut el.cx, &v, value.span) {
        return;
    }
    let v = match op {
        None => v,
        Some(op) => {
            let Some(op) = crate::sema::values::operator_names::plain(op) else {
                return;
            };
            let current = Value::Scalar(Expr::new(ExprKind::Local(local), ty, target));
            let (current, operand) = (Operand::new(current, target), Operand::new(v, value.span));
            match operators::apply(el, op, span, current, operand, span) {
                Value::Scalar(e) if precision::loses(&el.cx, &e, ty) => {
                    let update = (name.as_str(), operator_names::sign(op));
                    precision::lint_lossy_update(&mut el.cx, e.ty, ty, value.span, update);
                    Value::Scalar(Expr::new(ExprKind::Cast(e), ty, span))
                }
                v => v,
            }
        }
    };
    if let Some(e) = convert::convert(el, v, ty, value.span) {
        build::emit(el, StmtKind::Assign { local, value: e }, span);
    }
    if let Some(b) = el.names.find_mut(&name) {
        b.used |= op.is_some();
    }
}

/// The entity that an assigned name already has.
struct Earlier<'e> {
    entity: &'e Entity,
    declared: Span,
    /// Whether it was declared in the innermost scope.
    here: bool,
}

fn reassign(
    el: &mut Elab<'_>,
    name: &ast::Name,
    earlier: &Earlier<'_>,
    op: Option<ast::BinOp>,
    value: &ast::Expr,
) {
    let Earlier {
        entity,
        declared,
        here,
    } = *earlier;
    let text = &name.text;
    let kind = entity.kind();
    let d = match entity {
        Entity::Int {
            kind: IntKind::Parallel,
            ..
        }
        | Entity::Tuple {
            kind: IntKind::Parallel,
            ..
        }
        | Entity::Range(_)
        | Entity::RangeTuple(_) => Diagnostic::new(
            codes::E0322,
            name.span,
            format!("`{text}` is {kind} and can't be assigned"),
        )
        .label("read-only")
        .also(declared, "bound here"),
        Entity::Shape(_) | Entity::Tuple { .. } if here || op.is_some() => Diagnostic::new(
            codes::E0323,
            name.span,
            format!("`{text}` is {kind}: it never changes"),
        )
        .label("assigned again")
        .also(declared, "declared here"),
        Entity::Future(_) | Entity::Chosen(_) if here => Diagnostic::new(
            codes::E0844,
            name.span,
            format!("`{text}` is bound to a copy already"),
        )
        .label("bound again here")
        .also(declared, "first bound here"),
        Entity::Buffer { .. } | Entity::View(_) if here || op.is_some() => {
            return reassign_buffer(el, name, earlier, op, value);
        }
        _ if (here || op.is_some()) && hiding::makes_mutable(el, &name.text, entity) => {
            el.expression(value);
            return;
        }
        _ if here || op.is_some() => immutable(el, name, earlier),
        _ => return hiding::record(el, name, entity, value),
    };
    el.expression(value);
    el.cx.report(d);
}

fn immutable(el: &Elab<'_>, name: &ast::Name, earlier: &Earlier<'_>) -> Diagnostic {
    let text = &name.text;
    let d = Diagnostic::new(codes::E0320, name.span, format!("`{text}` is immutable"));
    if el.names.find(text).is_some_and(|binding| binding.is_param) {
        return d
            .label("assigned here")
            .also(earlier.declared, "a parameter keeps its value")
            .help(format!(
                "assign to a variable that begins with its value: `mutable s = {text};`"
            ));
    }
    if let Entity::Int {
        kind: IntKind::Dim, ..
    } = earlier.entity
    {
        return d
            .label("assigned here")
            .also(earlier.declared, "a dimension, set by the call")
            .help("give the new value another name; a size that is fixed is written in the shape, as in `[64]`");
    }
    let ty = match earlier.entity {
        Entity::Scalar { local, .. } => el.f.local(*local).ty,
        _ => Scalar::S32,
    };
    d.label("assigned a second time")
        .also(earlier.declared, "first assignment")
        .help(format!(
            "declare it with `mutable {text} = …`, or with an element type such as `{ty} {text} = …`"
        ))
}

fn reassign_buffer(
    el: &mut Elab<'_>,
    name: &ast::Name,
    earlier: &Earlier<'_>,
    op: Option<ast::BinOp>,
    value: &ast::Expr,
) {
    let text = &name.text;
    let kind = earlier.entity.kind();
    let called = kernel_calls::called(el, value).map(|(called, _)| called.text);
    let is_data = matches!(el.expression(value), Value::Data(_));
    let message = format!("`{text}` is {kind}, it can't become something else");
    let d = match called {
        Some(called) if op.is_none() => Diagnostic::new(
            codes::E0205,
            name.span,
            format!("`{text}` is {kind} already, and the result of `{called}` is a new one"),
        )
        .help(format!(
            "remove the declaration: `{text} = {called}(…);` declares `{text}`; or give the result another name"
        )),
        None if is_data && op.is_none() => Diagnostic::new(codes::E0205, name.span, message).help(format!(
            "to copy all elements: `dma.copy {} => {text};`",
            cx::source_text(&el.cx, value.span, "…")
        )),
        _ => Diagnostic::new(codes::E0205, name.span, message)
            .help(format!("to write elements: `{text}.at(…) = …`")),
    };
    el.cx.report(
        d.label("assigned again")
            .also(earlier.declared, "declared here"),
    );
}

fn store(
    el: &mut Elab<'_>,
    access: Option<Access>,
    guard: Option<Expr>,
    op: Option<ast::BinOp>,
    value: &ast::Expr,
    span: Span,
) {
    let elem = access.as_ref().map(|a| el.f.buffer(a.view.buffer).elem);
    let v = match (&*value.kind, elem) {
        (ast::ExprKind::Call(call), Some(t)) if device_calls::is_device_call(&el.cx, call) => {
            device_calls::lower(el, call, t, value.span)
        }
        (_, Some(_)) => match atomics::as_update(&el.cx, value) {
            Some(call) => atomics::lower_value(el, call, value.span),
            None => el.expression(value),
        },
        _ => el.expression(value),
    };
    let (Some(access), Some(elem)) = (access, elem) else {
        return;
    };
    if v.is_error() || !whole::report_not_data(&mut el.cx, &v, value.span) {
        return;
    }
    let one = match &v {
        Value::Tuple(t) => t.len() == 1,
        v => matches!(v, Value::Int(_) | Value::Scalar(_)),
    };
    if !one {
        let kind = v.kind();
        el.cx.report(
            Diagnostic::new(
                codes::E0326,
                value.span,
                format!("an element is assigned a scalar, this is {kind}"),
            )
            .label("not a scalar"),
        );
        return;
    }
    let op = op.and_then(crate::sema::values::operator_names::plain);
    if let Some(op) = op
        && elem == Scalar::Bool
    {
        let sign = operator_names::sign(op);
        el.cx.report(
            Diagnostic::new(
                codes::E0343,
                span,
                format!("`{sign}=` does not apply to elements of type `bool`"),
            )
            .label("not a number")
            .help("assign a condition: `x.at(i) = x.at(i) && …;`"),
        );
        return;
    }
    let wider = op.is_some_and(|op| divides_wider(el, op, elem, &v));
    let in_place = op.is_none_or(|op| is_in_place(op, elem) && !wider);
    let operand = match op {
        // The type of an amount to shift by is its own, and the operator reports what is no number.
        Some(_) if !in_place && !elem.is_packed() => Some(v),
        _ => update_operand(el, v, elem, op, value.span).map(Value::Scalar),
    };
    let new = match (operand, op) {
        (Some(Value::Scalar(e)), None) => Some(e),
        (Some(Value::Scalar(e)), Some(_)) if in_place => Some(e),
        (Some(operand), Some(op)) => {
            let operand = Operand::new(operand, value.span);
            updated(el, &access, (op, wider), operand, span)
        }
        _ => None,
    };
    if let Some(e) = new {
        emit_store(el, (access, guard), (op, in_place), e, span);
    }
}

/// Whether an element is updated in place: there is no such update of a part of a byte, `tf32` is
/// computed in `f32`, amounts of shifts are checked, and other operators of integers do not apply to
/// floats.
fn is_in_place(op: BinOp, elem: Scalar) -> bool {
    let arithmetic = matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div);
    let shift = matches!(op, BinOp::Shl | BinOp::Shr);
    let whole = !elem.is_packed() && elem != Scalar::Tf32;
    whole && !shift && (arithmetic || !elem.is_float())
}

/// Whether `x.at(…) op v` divides in a wider type than the element's. The results of other operators on
/// integers have the same low bits in both.
fn divides_wider(el: &Elab<'_>, op: BinOp, elem: Scalar, v: &Value) -> bool {
    let element = Value::Scalar(Expr::new(ExprKind::Int(0), elem, Span::default()));
    let common = scalars::type_of_both(&el.f, &element, v);
    matches!(op, BinOp::Div | BinOp::Rem)
        && elem.is_integer()
        && common.is_some_and(|ty| ty.is_integer() && ty != elem)
}

/// Stores `e`: the new value, or the right side of an update in place.
fn emit_store(
    el: &mut Elab<'_>,
    (access, guard): (Access, Option<Expr>),
    (op, in_place): (Option<BinOp>, bool),
    e: Expr,
    span: Span,
) {
    lints::lint_racing_store(el, &access, op, &e, span);
    access::emit_fetch(el, &access);
    whole::mark_accessed(&mut el.f, &access.view, op.is_some(), true);
    el.storage.stored.entry(access.view.buffer).or_insert(span);
    let storage = el.f.buffer(access.view.buffer).storage;
    let op = op.filter(|_| in_place);
    let store = StmtKind::Store {
        access,
        op,
        value: e,
    };
    let statement = crate::sema::memory::guards::guarded(guard, store, span);
    // Block-level code runs in every thread; an update must be executed once, and a store of one
    // value by many threads would be an unnecessary race.
    match el.level() {
        Some(level) if level != Level::Thread && storage != Storage::Local => {
            let body = vec![Stmt::new(statement, span)];
            build::emit(el, crate::ir::build::once(level, body), span);
        }
        _ => build::emit(el, statement, span),
    }
}

/// The new value of an element, converted back to its type: small integers are computed in `s32`.
fn updated(
    el: &mut Elab<'_>,
    access: &Access,
    (op, wider): (BinOp, bool),
    operand: Operand,
    span: Span,
) -> Option<Expr> {
    let elem = el.f.buffer(access.view.buffer).elem;
    let load = Expr::new(ExprKind::Load(access.clone()), elem, span);
    let current = Operand::new(Value::Scalar(load), span);
    let right = operand.span;
    let Value::Scalar(e) = operators::apply(el, op, span, current, operand, span) else {
        return None;
    };
    if e.ty == elem {
        return Some(e);
    }
    if wider && precision::loses(&el.cx, &e, elem) {
        let name = cx::source_text(&el.cx, access.span, "the element");
        let update = (name.as_str(), operator_names::sign(op));
        precision::lint_lossy_update(&mut el.cx, e.ty, elem, right, update);
    }
    Some(Expr::new(ExprKind::Cast(e), elem, span))
}

/// The right side of `x.at(…) op= e`, converted as in `x.at(…) op e`.
fn update_operand(
    el: &mut Elab<'_>,
    v: Value,
    elem: Scalar,
    op: Option<BinOp>,
    at: Span,
) -> Option<Expr> {
    if op.is_some_and(|o| matches!(o, BinOp::Div | BinOp::Rem))
        && elem.is_integer()
        && let Some(n) = arith::int_of(&v)
        && !integers::check_divisor(el, &n.value, at, at)
    {
        return None;
    }
    convert::convert(el, v, elem, at)
}

/// A variable or an element that takes the result of inline assembly.
pub(crate) enum Target {
    Scalar(LocalId),
    /// With the condition under which it may be accessed.
    Element(Box<Access>, Option<Expr>),
}

/// The variable or element that an expression stands for; reports everything else.
pub(crate) fn target(el: &mut Elab<'_>, e: &ast::Expr) -> Option<Target> {
    match &*e.kind {
        ast::ExprKind::Paren(inner) => return target(el, inner),
        ast::ExprKind::Name(name) => {
            let found = el.names.find(name).map(|b| (b.entity.clone(), b.span));
            match found {
                Some((
                    Entity::Scalar {
                        local,
                        mutable: true,
                    },
                    declared,
                )) => {
                    let is_assignable = is_assignable(el, local, declared, e.span);
                    return is_assignable.then_some(Target::Scalar(local));
                }
                Some((Entity::Word(id), _)) => {
                    let access = access::access_word(el, id, e.span);
                    return Some(Target::Element(Box::new(access), None));
                }
                Some((Entity::Poison, _)) => return None,
                _ => {}
            }
        }
        ast::ExprKind::At(base, indices) => {
            let access = access::lower_access(el, base, indices, e.span);
            let guard = guards::take(el);
            return access.map(|access| Target::Element(Box::new(access), guard));
        }
        _ => {}
    }
    let value = el.expression(e);
    if !value.is_error() {
        let kind = value.kind();
        let text = format!("an output of inline assembly can't be {kind}");
        el.cx.report(
            Diagnostic::new(codes::E0793, e.span, text)
                .label("not a mutable variable or an element")
                .help("declare it first, with its type: `mutable u32 x = 0;`"),
        );
    }
    None
}

pub(crate) fn type_of(el: &Elab<'_>, target: &Target) -> Scalar {
    match target {
        Target::Scalar(local) => el.f.local(*local).ty,
        Target::Element(access, _) => el.f.buffer(access.view.buffer).elem,
    }
}

/// The value of a target, before it is set.
pub(crate) fn current(el: &mut Elab<'_>, target: &Target, span: Span) -> Expr {
    let ty = type_of(el, target);
    match target {
        Target::Scalar(local) => Expr::local(*local, ty, span),
        Target::Element(access, guard) => {
            whole::mark_accessed(&mut el.f, &access.view, true, false);
            guards::load_under(Access::clone(access), guard.clone(), ty, span)
        }
    }
}

/// Assigns a value of the target's type.
pub(crate) fn set(el: &mut Elab<'_>, target: Target, value: Expr, span: Span) {
    match target {
        Target::Scalar(local) => build::emit(el, StmtKind::Assign { local, value }, span),
        Target::Element(access, guard) => {
            emit_store(el, (*access, guard), (None, true), value, span)
        }
    }
}
