//! Declarations of scalars.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{Expr, Role, Scalar, StmtKind, Storage, as_sym};
use crate::sema::build;
use crate::sema::checks::unsupported;
use crate::sema::memory::{atomics, origins, whole};
use crate::sema::names::scope;
use crate::sema::state::cx::{self, Cx};
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::{Entity, IntKind};
use crate::sema::state::value::{Data, IntValue, Value};
use crate::sema::statements::device_calls;
use crate::sema::values::{arith, convert, predicates, widths};
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, ElemType};

pub(crate) fn declare_scalars(
    el: &mut Elab<'_>,
    storage: Option<&(ast::Storage, Span)>,
    mutable: Option<Span>,
    ty: Option<&(ElemType, Span)>,
    items: &[ast::ScalarItem],
) {
    for item in items {
        if let Some((word @ (ast::Storage::Shared | ast::Storage::Global), at)) = storage {
            if item.init.is_some() {
                let word = if *word == ast::Storage::Shared {
                    "shared"
                } else {
                    "global"
                };
                el.cx.report(
                    Diagnostic::new(
                        codes::E0612,
                        *at,
                        format!("a `{word}` scalar can't have an initialiser"),
                    )
                    .label("one variable for many threads: its writer is not defined")
                    .help("declare it, then assign it from one place"),
                );
                scope::declare(el, &item.name, Entity::Poison);
                continue;
            }
            let entity = declare_word(el, *word, *at, ty, item);
            scope::declare(el, &item.name, entity);
            continue;
        }
        declare_scalar(el, mutable, ty, item);
    }
}

/// `shared s32 x;`
fn declare_word(
    el: &mut Elab<'_>,
    word: ast::Storage,
    at: Span,
    ty: Option<&(ElemType, Span)>,
    item: &ast::ScalarItem,
) -> Entity {
    let elem = ty.and_then(|(t, at)| convert::scalar_type(&mut el.cx, *t, *at));
    let Some(elem) = elem else {
        return Entity::Poison;
    };
    if word == ast::Storage::Global {
        let remedy = format!(
            "declare one element, `{elem} [1] {0};`, and write `{0}.at(0)`",
            item.name.text
        );
        let what = "a scalar in `global` memory";
        unsupported::report_with_remedy(&mut el.cx, at, what, Some(&remedy));
        return Entity::Poison;
    }
    if el.kernel.is_none() {
        el.cx.report(
            Diagnostic::new(
                codes::E0611,
                at,
                "`shared` scalars exist only inside `parallel`",
            )
            .label("this is host code")
            .help("move the declaration into the `parallel`"),
        );
        return Entity::Poison;
    }
    let span = item.name.span;
    let id = build::new_buffer(
        &mut el.f,
        build::NewBuffer {
            name: &item.name.text,
            elem,
            storage: Storage::Shared,
            shape: vec![Sym::one()],
            copies: Sym::one(),
            span,
        },
    );
    build::emit(el, StmtKind::Alloc(id), at);
    Entity::Word(id)
}

fn declare_scalar(
    el: &mut Elab<'_>,
    mutable: Option<Span>,
    ty: Option<&(ElemType, Span)>,
    item: &ast::ScalarItem,
) {
    let name = &item.name;
    // `int` and `bool` are immutable unless declared `mutable`; element types are mutable.
    let is_mutable =
        mutable.is_some() || ty.is_some_and(|(t, _)| !matches!(t, ElemType::Int | ElemType::Bool));
    let scalar = match ty {
        Some((t, at)) => match convert::scalar_type(&mut el.cx, *t, *at) {
            Some(s) => Some(s),
            None => return scope::declare(el, name, Entity::Poison),
        },
        None => None,
    };
    let Some(init) = &item.init else {
        let Some(scalar) = scalar.filter(|_| is_mutable) else {
            el.cx.report(
                Diagnostic::new(
                    codes::E0301,
                    name.span,
                    format!("`{}` has no initialiser", name.text),
                )
                .label("an immutable needs its value here")
                .help("write `= …`, or make it `mutable` with a type"),
            );
            return scope::declare(el, name, Entity::Poison);
        };
        let local = build::new_local(&mut el.f, &name.text, scalar, true, Role::Value, name.span);
        build::emit(el, StmtKind::Let { local, value: None }, name.span);
        return scope::declare(
            el,
            name,
            Entity::Scalar {
                local,
                mutable: true,
            },
        );
    };
    let value = match (&*init.kind, scalar) {
        (ast::ExprKind::Call(call), Some(t)) if device_calls::is_device_call(&el.cx, call) => {
            device_calls::lower(el, call, t, init.span)
        }
        _ => match atomics::as_update(&el.cx, init).filter(|_| is_mutable) {
            Some(call) => atomics::lower_value(el, call, init.span),
            None => el.expression(init),
        },
    };
    if !check_initialiser(&mut el.cx, &value, init.span) {
        return scope::declare(el, name, Entity::Poison);
    }
    let entity = bind_scalar(el, name, value, scalar, is_mutable, init.span);
    scope::declare(el, name, entity);
    if ty.is_some() {
        el.names.mark_typed();
    }
}

/// Reports a value that cannot initialise a scalar.
pub(crate) fn check_initialiser(cx: &mut Cx<'_>, value: &Value, at: Span) -> bool {
    let d = match value {
        Value::Error => return false,
        Value::Str(_) => Diagnostic::new(codes::E0317, at, "there are no string variables")
            .label("a string")
            .help("strings go into `print`, `assert` and `__cpp__`"),
        Value::Address(_) | Value::Null => {
            Diagnostic::new(codes::E0318, at, "a variable can't hold an address")
                .label("an address")
                .help("pass it to `call` directly")
        }
        Value::Wildcard => {
            Diagnostic::new(codes::E0313, at, "`_` has no value").label("a wildcard")
        }
        Value::Shape(_) => Diagnostic::new(codes::E0312, at, "a shape is declared with `:`")
            .label("a shape")
            .help(format!(
                "write `name : {};`",
                cx::source_text(cx, at, "[a, b]")
            )),
        Value::Data(_) => Diagnostic::new(codes::E0308, at, "a scalar can't hold spanned data")
            .label("a whole buffer")
            .help("pick an element with `.at(…)`"),
        _ => return true,
    };
    cx.report(d);
    false
}

/// Binds a scalar value to a name.
fn bind_scalar(
    el: &mut Elab<'_>,
    name: &ast::Name,
    value: Value,
    ty: Option<Scalar>,
    mutable: bool,
    at: Span,
) -> Entity {
    if !mutable {
        match (&value, ty) {
            (Value::Int(i), None) => {
                let value = IntValue {
                    get_ith: false,
                    literal: i.value.as_int().is_some(),
                    ..i.clone()
                };
                return Entity::Int {
                    value,
                    kind: IntKind::Named,
                };
            }
            (Value::Int(i), Some(t)) if t.is_integer() => {
                let value = IntValue {
                    get_ith: false,
                    literal: i.value.as_int().is_some(),
                    ty: None,
                    ..i.clone()
                };
                return Entity::Int {
                    value,
                    kind: IntKind::Named,
                };
            }
            (Value::Tuple(t), None) => {
                return Entity::Tuple {
                    values: t.clone(),
                    kind: IntKind::Named,
                };
            }
            _ => {}
        }
    }
    let ty = ty.or_else(|| match &value {
        Value::Int(i) => Some(widths::type_of_int(&el.f, i)),
        Value::Tuple(t) if t.len() == 1 => t.first().map(|i| widths::type_of_int(&el.f, i)),
        // A value computed from indices alone becomes an integer when its name is mutable.
        Value::Scalar(e) if e.ty == Scalar::Index && mutable => {
            Some(widths::type_of_index(&el.f, e))
        }
        Value::Scalar(e) => Some(e.ty),
        _ => None,
    });
    let Some(ty) = ty else {
        let kind = value.kind();
        el.cx.report(
            Diagnostic::new(
                codes::E0305,
                at,
                format!("`{}` can't be mutable: it is {kind}", name.text),
            )
            .label(format!("{kind} never changes")),
        );
        return Entity::Poison;
    };
    let Some(e) = convert::convert(el, value, ty, at) else {
        return Entity::Poison;
    };
    bind_expr(el, name, e, mutable)
}

fn bind_expr(el: &mut Elab<'_>, name: &ast::Name, e: Expr, mutable: bool) -> Entity {
    let numbered = e.ty.is_integer() && e.ty != Scalar::U64;
    // The arithmetic of a prover does not wrap, and that of an `s64` does.
    let has_limits = numbered && e.ty != Scalar::S64;
    let settled = mutable && has_limits && el.earlier.is_settled(name);
    let varies = mutable && !settled;
    let local = build::new_local(&mut el.f, &name.text, e.ty, varies, Role::Value, name.span);
    if !varies && numbered {
        let (lo, hi) = arith::value_range(&mut el.f, &e);
        let var = build::local_var(&mut el.f, local, lo, hi);
        if settled {
            origins::count_as_data(el, var);
            if let Some(value) = as_sym(&el.f, &e) {
                el.f.cx.assume_eq(&Sym::var(var), &value);
            }
        } else {
            origins::note_data(el, var, &e);
        }
    }
    if !mutable {
        predicates::note(el, local, &e);
        origins::note_local(el, local, &e);
    }
    build::emit(
        el,
        StmtKind::Let {
            local,
            value: Some(e),
        },
        name.span,
    );
    Entity::Scalar { local, mutable }
}

/// What a new name stands for that is given a scalar.
pub(crate) fn define_value(el: &mut Elab<'_>, name: &ast::Name, value: Value, at: Span) -> Entity {
    match check_initialiser(&mut el.cx, &value, at) {
        true => bind_scalar(el, name, value, None, false, at),
        false => Entity::Poison,
    }
}

/// `name = value` where the name is new.
pub(crate) fn define(el: &mut Elab<'_>, name: &ast::Name, value: &ast::Expr) {
    let entity = match el.expression(value) {
        Value::Error => Entity::Poison,
        Value::Data(d)
            if d.future.is_some() && matches!(&*value.kind, ast::ExprKind::Select(..)) =>
        {
            Entity::Chosen(Data {
                name: name.text.clone(),
                ..d
            })
        }
        Value::Data(d) if d.future.is_some() => {
            el.cx.report(
                Diagnostic::new(
                    codes::E0308,
                    value.span,
                    format!("the future `{}` can't be copied", d.name),
                )
                .label("a future")
                .help(format!(
                    "use `{0}` itself, or name its data: `{0}.data`",
                    d.name
                )),
            );
            Entity::Poison
        }
        Value::Data(d) => match whole::expect_whole(el, d, value.span) {
            Some(d) => Entity::View(Data {
                name: name.text.clone(),
                ..d
            }),
            None => Entity::Poison,
        },
        v => {
            if !check_initialiser(&mut el.cx, &v, value.span) {
                return scope::declare(el, name, Entity::Poison);
            }
            let is_mutable = el.earlier.is_reassigned(name);
            bind_scalar(el, name, v, None, is_mutable, value.span)
        }
    };
    scope::declare(el, name, entity);
}
