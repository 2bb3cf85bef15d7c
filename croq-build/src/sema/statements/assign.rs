//! Assignments, which also declare.

use crate::diagnostics::Diagnostic;
use crate::ir::{Expr, ExprKind, Level, LocalId, Scalar, Stmt, StmtKind, Storage};
use crate::sema::Checker;
use crate::sema::names::scope::{Entity, IntKind};
use crate::sema::values::value::{Data, Value};
use crate::source::Span;
use crate::syntax::ast;

impl Checker<'_> {
    pub(crate) fn assign(
        &mut self,
        target: &ast::Expr,
        op: Option<ast::BinOp>,
        value: &ast::Expr,
        span: Span,
    ) {
        if op.is_some() && self.fragment_update(target, op, value, span) {
            return;
        }
        match &*target.kind {
            ast::ExprKind::Name(text) => {
                let name = ast::Name {
                    text: text.clone(),
                    span: target.span,
                };
                self.assign_name(&name, op, value, span);
            }
            ast::ExprKind::At(base, indices) => {
                self.store(base, indices, op, value, target.span, span)
            }
            ast::ExprKind::Wildcard => {
                let name = ast::Name {
                    text: "_".into(),
                    span: target.span,
                };
                self.declare(&name, Entity::Poison);
            }
            ast::ExprKind::Error => {
                self.expr(value);
            }
            _ => {
                let v = self.expr(target);
                self.expr(value);
                if v.is_error() {
                    return;
                }
                let kind = v.kind();
                self.report(
                    Diagnostic::new("E0309", target.span, format!("{kind} can't be assigned to"))
                        .label("not a variable or an element")
                        .help("assign to a `mutable` scalar or to `x.at(…)`"),
                );
            }
        }
    }

    fn assign_name(
        &mut self,
        name: &ast::Name,
        op: Option<ast::BinOp>,
        value: &ast::Expr,
        span: Span,
    ) {
        let found = self
            .scopes
            .find(&name.text)
            .map(|b| (b.entity.clone(), b.span));
        let here = self.scopes.in_innermost(&name.text);
        match (found, op) {
            (None, Some(_)) => {
                self.expr(value);
                self.report(
                    Diagnostic::new(
                        "E0204",
                        name.span,
                        format!("`{}` is not declared, so it can't be updated", name.text),
                    )
                    .label("nothing of this name")
                    .help(format!("declare it first: `mutable {} = …;`", name.text)),
                );
            }
            (None, None) => self.define(name, value),
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
                self.set(local, declared, op, value, span);
            }
            (Some((Entity::Word(id), _)), op) => {
                let access = self.word(id, name.span);
                self.store_value(Some(access), None, op, value, span);
            }
            (Some((Entity::Poison, _)), _) => {
                self.expr(value);
            }
            (Some((entity, declared)), op) => {
                self.reassign(name, &entity, declared, here, op, value)
            }
        }
    }

    fn set(
        &mut self,
        local: LocalId,
        declared: Span,
        op: Option<ast::BinOp>,
        value: &ast::Expr,
        span: Span,
    ) {
        let ty = self.f.local(local).ty;
        let name = self.f.local(local).name.clone();
        if let Some(k) = &self.kernel
            && local.index() < k.first_local
        {
            let header = k.header;
            self.report(
                Diagnostic::new(
                    "E0212",
                    span,
                    format!("`{name}` belongs to the host, a kernel can't change it"),
                )
                .label("assigned inside `parallel`")
                .also(declared, "declared on the host")
                .also(header, "the kernel starts here, with a copy")
                .help("return the result through a buffer"),
            );
            self.expr(value);
            return;
        }
        let v = match &*value.kind {
            ast::ExprKind::Call(call) if self.is_device_call(call) => {
                self.device_call(call, ty, value.span)
            }
            _ => match self.as_atomic(value) {
                Some(call) => self.atomic_value(call, value.span),
                None => self.expr(value),
            },
        };
        if !self.initialiser_ok(&v, value.span) {
            return;
        }
        let v = match op {
            None => v,
            Some(op) => {
                let Some(op) = crate::sema::values::operators::plain(op) else {
                    return;
                };
                let current = Value::Scalar(Expr::new(ExprKind::Local(local), ty, span));
                self.arithmetic(op, span, current, span, v, value.span, span)
            }
        };
        if let Some(e) = self.convert(v, ty, value.span) {
            self.emit(StmtKind::Assign { local, value: e }, span);
        }
        if let Some(b) = self.scopes.find_mut(&name) {
            b.used |= op.is_some();
        }
    }

    fn reassign(
        &mut self,
        name: &ast::Name,
        entity: &Entity,
        declared: Span,
        here: bool,
        op: Option<ast::BinOp>,
        value: &ast::Expr,
    ) {
        let text = &name.text;
        let kind = entity.kind();
        let d = match entity {
            Entity::Int { kind: IntKind::Parallel, .. }
            | Entity::Tuple { kind: IntKind::Parallel, .. }
            | Entity::Range(_)
            | Entity::RangeTuple(_) => {
                Diagnostic::new("E0322", name.span, format!("`{text}` is {kind} and can't be assigned"))
                    .label("read-only")
                    .also(declared, "bound here")
            }
            Entity::Shape(_) | Entity::Tuple { .. } if here || op.is_some() => {
                Diagnostic::new("E0323", name.span, format!("`{text}` is {kind}: it never changes"))
                    .label("assigned again")
                    .also(declared, "declared here")
            }
            Entity::Future(_) | Entity::Chosen(_) if here => {
                Diagnostic::new("E0844", name.span, format!("`{text}` is bound to a copy already"))
                    .label("bound again here")
                    .also(declared, "first bound here")
            }
            Entity::Buffer { .. } | Entity::View(_) if here || op.is_some() => {
                Diagnostic::new("E0205", name.span, format!("`{text}` is {kind}, it can't become something else"))
                    .label("assigned again")
                    .also(declared, "declared here")
                    .help(format!("to write elements: `{text}.at(…) = …`"))
            }
            _ if here || op.is_some() => {
                Diagnostic::new("E0320", name.span, format!("`{text}` is immutable"))
                    .label("assigned a second time")
                    .also(declared, "first assignment")
                    .help(format!("declare it with `mutable {text} = …`, or with an element type such as `s32 {text} = …`"))
            }
            _ => return self.hide(name, entity, value),
        };
        self.expr(value);
        self.report(d);
    }

    /// `name = value` where the name is new.
    pub(crate) fn define(&mut self, name: &ast::Name, value: &ast::Expr) {
        if let ast::ExprKind::Call(call) = &*value.kind
            && self.is_device_call(call)
        {
            self.report(
                Diagnostic::new(
                    "E0783",
                    value.span,
                    format!("the type of `{}` can't be known from a call", name.text),
                )
                .label("returns whatever the C++ function does")
                .help(format!(
                    "annotate it: `f32 {} = {};`",
                    name.text,
                    self.source_of(value.span, "call …")
                )),
            );
            return self.declare(name, Entity::Poison);
        }
        let entity = match self.expr(value) {
            Value::Error => Entity::Poison,
            Value::Data(d)
                if d.future.is_some() && matches!(&*value.kind, ast::ExprKind::Select(_)) =>
            {
                Entity::Chosen(Data {
                    name: name.text.clone(),
                    ..d
                })
            }
            Value::Data(d) if d.future.is_some() => {
                self.report(
                    Diagnostic::new(
                        "E0308",
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
            Value::Data(d) => match self.whole(d, value.span) {
                Some(d) => Entity::View(Data {
                    name: name.text.clone(),
                    ..d
                }),
                None => Entity::Poison,
            },
            v => {
                if !self.initialiser_ok(&v, value.span) {
                    return self.declare(name, Entity::Poison);
                }
                self.bind_scalar(name, v, None, false, value.span)
            }
        };
        self.declare(name, entity);
    }

    fn store(
        &mut self,
        base: &ast::Expr,
        indices: &[ast::Expr],
        op: Option<ast::BinOp>,
        value: &ast::Expr,
        at: Span,
        span: Span,
    ) {
        let access = self.access(base, indices, at);
        let guard = self.take_guard();
        self.store_value(access, guard, op, value, span);
    }

    fn store_value(
        &mut self,
        access: Option<crate::ir::Access>,
        guard: Option<Expr>,
        op: Option<ast::BinOp>,
        value: &ast::Expr,
        span: Span,
    ) {
        let elem = access.as_ref().map(|a| self.f.buffer(a.view.buffer).elem);
        let v = match (&*value.kind, elem) {
            (ast::ExprKind::Call(call), Some(t)) if self.is_device_call(call) => {
                self.device_call(call, t, value.span)
            }
            _ => self.expr(value),
        };
        let (Some(access), Some(elem)) = (access, elem) else {
            return;
        };
        if v.is_error() || !self.expect_scalar_value(&v, value.span) {
            return;
        }
        let one = match &v {
            Value::Tuple(t) => t.len() == 1,
            v => matches!(v, Value::Int(_) | Value::Scalar(_)),
        };
        if !one {
            let kind = v.kind();
            self.report(
                Diagnostic::new(
                    "E0326",
                    value.span,
                    format!("an element is assigned a scalar, this is {kind}"),
                )
                .label("not a scalar"),
            );
            return;
        }
        let op = op.and_then(crate::sema::values::operators::plain);
        if op.is_some() && elem == Scalar::Bool {
            return;
        }
        let Some(e) = self.update_operand(v, elem, op, value.span) else {
            return;
        };
        self.racing_store(&access, op, &e, span);
        self.mark(&access.view, op.is_some(), true);
        self.stored.entry(access.view.buffer).or_insert(span);
        let storage = self.f.buffer(access.view.buffer).storage;
        let store = StmtKind::Store {
            access,
            op,
            value: e,
        };
        let statement = crate::sema::memory::guards::guarded(guard, store, span);
        // Block-level code runs in every thread; an update must happen once, and a store of one
        // value by many threads is a race that need not be.
        match self.level() {
            Some(level) if level != Level::Thread && storage != Storage::Local => {
                let body = vec![Stmt::new(statement, span)];
                self.emit(StmtKind::Once { level, body }, span);
            }
            _ => self.emit(statement, span),
        }
    }

    /// The right side of `x.at(…) op= e`: converted as `x.at(…) op e` would convert it.
    fn update_operand(
        &mut self,
        v: Value,
        elem: Scalar,
        op: Option<crate::ir::BinOp>,
        at: Span,
    ) -> Option<Expr> {
        if op.is_some_and(|o| matches!(o, crate::ir::BinOp::Div | crate::ir::BinOp::Rem))
            && elem.is_integer()
            && let Some(n) = self.int_of(&v)
            && !self.divisor_ok(&n.value, at, at)
        {
            return None;
        }
        self.convert(v, elem, at)
    }

    /// The mutable scalar that `++` and `--` work on.
    pub(crate) fn increment_target(&mut self, target: &ast::Expr) -> Option<(LocalId, Scalar)> {
        if let ast::ExprKind::Name(text) = &*target.kind {
            return match self.lookup(text, target.span)? {
                Entity::Scalar {
                    local,
                    mutable: true,
                } => Some((local, self.f.local(local).ty)),
                Entity::Poison => None,
                other => {
                    let kind = other.kind();
                    self.report(
                        Diagnostic::new(
                            "E0324",
                            target.span,
                            format!("`++` and `--` need a mutable scalar, `{text}` is {kind}"),
                        )
                        .label("never changes")
                        .help(format!("declare it with `mutable {text} = …`")),
                    );
                    None
                }
            };
        }
        self.report(
            Diagnostic::new("E0324", target.span, "`++` and `--` need a mutable scalar")
                .label("not a scalar's name")
                .help(format!(
                    "write `{} += 1`",
                    self.source_of(target.span, "x.at(i)")
                )),
        );
        None
    }
}
