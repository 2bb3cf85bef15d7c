//! Declarations.

use crate::diagnostics::Diagnostic;
use crate::ir::{Expr, Role, Scalar, StmtKind, Storage};
use crate::sema::Checker;
use crate::sema::names::scope::{Entity, IntKind};
use crate::sema::values::value::{IntValue, Value};
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, ElemType};

impl Checker<'_> {
    pub(crate) fn mdspan(&mut self, rank: Option<&ast::Expr>, name: &ast::Name, value: &ast::Expr) {
        let v = self.expr(value);
        let entity = match v {
            Value::Shape(s) => Some(s),
            Value::Tuple(t) => Some(t.into_iter().map(|i| i.value).collect()),
            Value::Error => None,
            other => {
                let kind = other.kind();
                self.report(
                    Diagnostic::new(
                        "E0303",
                        value.span,
                        format!("`{}` is a shape, its initialiser is {kind}", name.text),
                    )
                    .label("not a shape")
                    .help("write `[a, b]`, or `x.span`"),
                );
                None
            }
        };
        let Some(shape) = entity else {
            return self.declare(name, Entity::Poison);
        };
        self.rank_check(rank, "mdspan", shape.len());
        let mut ok = true;
        for extent in &shape {
            ok &= self.extent_positive(extent, value.span);
        }
        self.declare(
            name,
            if ok {
                Entity::Shape(shape)
            } else {
                Entity::Poison
            },
        );
    }

    fn rank_check(&mut self, rank: Option<&ast::Expr>, what: &str, got: usize) {
        let Some(rank) = rank else { return };
        let want = self.const_int(rank);
        if want != i64::try_from(got).ok() {
            let text = self.file.snippet(rank.span).to_owned();
            self.report(
                Diagnostic::new(
                    "E0424",
                    rank.span,
                    format!("`{what}<{text}>`, but the initialiser has rank {got}"),
                )
                .label(format!("expected {got}")),
            );
        }
    }

    pub(crate) fn ituple(&mut self, rank: Option<&ast::Expr>, name: &ast::Name, value: &ast::Expr) {
        let entity = match self.expr(value) {
            Value::Tuple(values) => {
                self.rank_check(rank, "ituple", values.len());
                Entity::Tuple {
                    values,
                    kind: IntKind::Named,
                }
            }
            Value::Error => Entity::Poison,
            Value::Shape(_) => {
                self.report(
                    Diagnostic::new("E0108", value.span, "an ituple is written in braces")
                        .label("a shape")
                        .help("write `{a, b}`"),
                );
                Entity::Poison
            }
            other => {
                let kind = other.kind();
                self.report(
                    Diagnostic::new(
                        "E0303",
                        value.span,
                        format!("`{}` is an ituple, its initialiser is {kind}", name.text),
                    )
                    .label("not an ituple")
                    .help("write `{a, b}`"),
                );
                Entity::Poison
            }
        };
        self.declare(name, entity);
    }

    pub(crate) fn scalars(
        &mut self,
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
                    self.report(
                        Diagnostic::new(
                            "E0612",
                            *at,
                            format!("a `{word}` scalar can't have an initialiser"),
                        )
                        .label("one word for many threads: who would write it?")
                        .help("declare it, then assign it from one place"),
                    );
                    self.declare(&item.name, Entity::Poison);
                    continue;
                }
                let entity = self.word_item(*word, *at, ty, item);
                self.declare(&item.name, entity);
                continue;
            }
            self.scalar_item(mutable, ty, item);
        }
    }

    /// `shared s32 x;`
    fn word_item(
        &mut self,
        word: ast::Storage,
        at: Span,
        ty: Option<&(ElemType, Span)>,
        item: &ast::ScalarItem,
    ) -> Entity {
        let elem = ty.and_then(|(t, at)| self.scalar_type(*t, *at));
        let Some(elem) = elem else {
            return Entity::Poison;
        };
        if word == ast::Storage::Global {
            self.unsupported(at, "a scalar in `global` memory");
            return Entity::Poison;
        }
        if self.kernel.is_none() {
            self.report(
                Diagnostic::new("E0611", at, "`shared` scalars exist only inside `parallel`")
                    .label("this is host code")
                    .help("move the declaration into the `parallel`"),
            );
            return Entity::Poison;
        }
        let span = item.name.span;
        let id = self.new_buffer(
            &item.name.text,
            elem,
            Storage::Shared,
            vec![Sym::one()],
            Sym::one(),
            span,
        );
        self.emit(StmtKind::Alloc(id), at);
        Entity::Word(id)
    }

    fn scalar_item(
        &mut self,
        mutable: Option<Span>,
        ty: Option<&(ElemType, Span)>,
        item: &ast::ScalarItem,
    ) {
        let name = &item.name;
        // `int` and `bool` are immutable unless said otherwise, element types are mutable.
        let is_mutable = mutable.is_some()
            || ty.is_some_and(|(t, _)| !matches!(t, ElemType::Int | ElemType::Bool));
        let scalar = match ty {
            Some((t, at)) => match self.scalar_type(*t, *at) {
                Some(s) => Some(s),
                None => return self.declare(name, Entity::Poison),
            },
            None => None,
        };
        let Some(init) = &item.init else {
            let Some(scalar) = scalar.filter(|_| is_mutable) else {
                self.report(
                    Diagnostic::new(
                        "E0301",
                        name.span,
                        format!("`{}` has no initialiser", name.text),
                    )
                    .label("an immutable needs its value here")
                    .help("write `= …`, or make it `mutable` with a type"),
                );
                return self.declare(name, Entity::Poison);
            };
            let local = self.new_local(&name.text, scalar, true, Role::Value, name.span);
            self.emit(StmtKind::Let { local, value: None }, name.span);
            return self.declare(
                name,
                Entity::Scalar {
                    local,
                    mutable: true,
                },
            );
        };
        let value = match (&*init.kind, scalar) {
            (ast::ExprKind::Call(call), Some(t)) if self.is_device_call(call) => {
                self.device_call(call, t, init.span)
            }
            _ => match self.as_atomic(init).filter(|_| is_mutable) {
                Some(call) => self.atomic_value(call, init.span),
                None => self.expr(init),
            },
        };
        if !self.initialiser_ok(&value, init.span) {
            return self.declare(name, Entity::Poison);
        }
        let entity = self.bind_scalar(name, value, scalar, is_mutable, init.span);
        self.declare(name, entity);
        if ty.is_some() {
            self.scopes.mark_typed();
        }
    }

    /// Rejects what can't initialise a scalar.
    pub(crate) fn initialiser_ok(&mut self, value: &Value, at: Span) -> bool {
        let d = match value {
            Value::Error => return false,
            Value::Str(_) => Diagnostic::new("E0317", at, "there are no string variables")
                .label("a string")
                .help("strings go into `print`, `assert` and `__cpp__`"),
            Value::Address(_) | Value::Null => {
                Diagnostic::new("E0318", at, "a variable can't hold an address")
                    .label("an address")
                    .help("pass it to `call` directly")
            }
            Value::Wildcard => Diagnostic::new("E0313", at, "`_` has no value").label("a wildcard"),
            Value::Shape(_) => Diagnostic::new("E0312", at, "a shape is declared with `:`")
                .label("a shape")
                .help(format!("write `name : {};`", self.source_of(at, "[a, b]"))),
            Value::Data(_) => Diagnostic::new("E0308", at, "a scalar can't hold spanned data")
                .label("a whole buffer")
                .help("pick an element with `.at(…)`"),
            _ => return true,
        };
        self.report(d);
        false
    }

    /// Gives a scalar value a name.
    pub(crate) fn bind_scalar(
        &mut self,
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
            Value::Int(_) => Some(Scalar::S32),
            Value::Tuple(t) if t.len() == 1 => Some(Scalar::S32),
            // What is computed from indices alone is an `int` once it has a name that changes.
            Value::Scalar(e) if e.ty == Scalar::Index && mutable => Some(Scalar::S32),
            Value::Scalar(e) => Some(e.ty),
            _ => None,
        });
        let Some(ty) = ty else {
            let kind = value.kind();
            self.report(
                Diagnostic::new(
                    "E0305",
                    at,
                    format!("`{}` can't be mutable: it is {kind}", name.text),
                )
                .label(format!("{kind} never changes")),
            );
            return Entity::Poison;
        };
        let Some(e) = self.convert(value, ty, at) else {
            return Entity::Poison;
        };
        self.bind_expr(name, e, mutable)
    }

    pub(crate) fn bind_expr(&mut self, name: &ast::Name, e: Expr, mutable: bool) -> Entity {
        let local = self.new_local(&name.text, e.ty, mutable, Role::Value, name.span);
        if !mutable && e.ty.is_integer() && e.ty != Scalar::U64 {
            let known = self.as_sym(&e);
            let (lo, hi) = match &known {
                Some(s) => {
                    let (lo, hi) = self.f.cx.range(s);
                    (lo.map(Sym::int), hi.map(Sym::int))
                }
                None => crate::sema::names::params::integer_range(e.ty),
            };
            let var = self.local_var(local, lo, hi);
            self.note_data(var, &e);
        }
        self.emit(
            StmtKind::Let {
                local,
                value: Some(e),
            },
            name.span,
        );
        Entity::Scalar { local, mutable }
    }
}
