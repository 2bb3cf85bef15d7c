//! Statements, in order.

use crate::diagnostics::Diagnostic;
use crate::ir::{ReturnValue, Scalar, StmtKind};
use crate::sema::Checker;
use crate::sema::names::scope::Entity;
use crate::source::Span;
use crate::syntax::ast::{self, Stmt, StmtKind as S};

use crate::sema::ReturnShape;
use crate::sema::values::value::Value;

impl Checker<'_> {
    pub(crate) fn statements(&mut self, stmts: &[Stmt]) {
        let mut dead_reported = false;
        let mut returned: Option<Span> = None;
        self.upcoming.push(declared_names(stmts));
        for stmt in stmts {
            self.declared_by_now(stmt);
            if let Some(at) = returned.filter(|_| !dead_reported && !matches!(stmt.kind, S::Empty))
            {
                dead_reported = true;
                self.report(
                    Diagnostic::new("W0356", stmt.span, "this is never reached")
                        .label("dead code")
                        .also(at, "the function returns here"),
                );
            }
            self.statement(stmt);
            if matches!(stmt.kind, S::Return(_)) {
                returned = Some(stmt.span);
            }
        }
        self.upcoming.pop();
    }

    /// The names that a statement declares are not to come any more.
    fn declared_by_now(&mut self, stmt: &Stmt) {
        if let Some(names) = self.upcoming.last_mut() {
            for name in names_of(stmt) {
                names.remove(&name.text);
            }
        }
    }

    /// A block with a scope of its own.
    pub(crate) fn block(&mut self, block: &ast::Block) {
        self.scopes.push();
        self.statements(&block.stmts);
        let ended = self.scopes.pop();
        self.report_unused(ended);
    }

    fn statement(&mut self, stmt: &Stmt) {
        let span = stmt.span;
        match &stmt.kind {
            S::Empty | S::Error => {}
            S::Block(b) => self.block(b),
            S::Mdspan { rank, name, value } => self.mdspan(rank.as_ref(), name, value),
            S::Ituple { rank, name, value } => self.ituple(rank.as_ref(), name, value),
            S::Scalar {
                storage,
                mutable,
                ty,
                items,
            } => {
                self.scalars(storage.as_ref(), *mutable, ty.as_ref(), items);
            }
            S::Buffer {
                storage,
                mutable,
                elem,
                shape,
                items,
            } => {
                self.buffers(storage.as_ref(), *mutable, *elem, shape, items, span);
            }
            S::Frag { elem, shape, items } => {
                self.frag(elem.as_ref(), shape.as_deref(), items, span);
            }
            S::Event {
                storage,
                count,
                items,
            } => self.event_declaration(storage.as_ref(), count.as_ref(), items, span),
            S::Assign { target, op, value } => self.assign(target, *op, value, span),
            S::Increment { target, by } => {
                if let Some((local, ty)) = self.increment_target(target) {
                    self.emit_increment(local, ty, *by, span);
                }
            }
            S::Copy(copy) => self.copy(copy, span),
            S::AnyFuture { name, .. } => self.any_future(name, span),
            S::Map { name, .. } => {
                self.report(
                    Diagnostic::new("E0871", span, "`.map` and `.remap` are for other targets")
                        .label("not on a GPU")
                        .help("use `dma.copy`"),
                );
                self.poison(std::iter::once(name));
            }
            S::Mma(mma) => self.mma(mma, span),
            S::FragOp { op, op_span, args } => self.fragment_operation(*op, args, *op_span, span),
            S::Apply { names, frag, body } => self.apply(names, frag, body, span),
            S::Wait(operands) => self.wait(operands, span),
            S::Trigger {
                cluster,
                events,
                after,
            } => self.trigger(*cluster, events, after, span),
            S::Swap { names } => {
                if names.len() != 2 {
                    self.error(
                        "E0122",
                        span,
                        format!("`swap` exchanges two futures, {} given", names.len()),
                    );
                    return;
                }
                self.exchange(names, span);
            }
            S::Rotate { names } => self.exchange(names, span),
            S::Call(call) => self.call_stmt(call, span),
            S::Return(value) => {
                self.return_stmt(value.as_ref(), span);
                self.uncertain += 1;
            }
            S::SyncStorage(storage) => self.sync_storage(*storage, span),
            S::SyncBarrier(level) => self.sync_barrier(*level, span),
            S::SyncFence(level, _) => self.sync_fence(*level, span),
            S::Cpp(text) => self.cpp(text, span),
            S::Asm(_) => self.unsupported(span, "inline assembly"),
            S::Break | S::Continue => self.leave_loop(matches!(stmt.kind, S::Break), span),
            S::Yield => self.yield_stmt(span),
            S::Parallel(p) => self.parallel(p, span),
            S::With {
                bindings,
                where_,
                body,
            } => self.with(bindings, where_, body),
            S::Foreach(f) => self.foreach(f, span),
            S::Inthreads {
                is_async,
                pred,
                body,
            } => self.inthreads(*is_async, pred, body, span),
            S::While { cond, body } => self.while_loop(cond, body, span),
            S::If {
                cond,
                then,
                otherwise,
            } => self.if_stmt(cond, then, otherwise.as_ref(), span),
        }
    }

    fn poison<'n>(&mut self, names: impl Iterator<Item = &'n ast::Name>) {
        for name in names {
            if !self.scopes.in_innermost(&name.text) {
                self.declare(name, Entity::Poison);
            }
        }
    }

    fn return_stmt(&mut self, value: Option<&ast::Expr>, span: Span) {
        if let Some(k) = &self.kernel {
            let header = k.header;
            self.report(
                Diagnostic::new("E0355", span, "`return` inside `parallel`")
                    .label("a kernel returns nothing")
                    .also(header, "the kernel starts here")
                    .help("`yield;` leaves a kernel early; return results through a buffer"),
            );
            self.poison_returns = true;
            return;
        }
        let is_void = matches!(self.ret, ast::RetType::Void(_));
        let Some(value) = value else {
            if let ast::RetType::Typed(ty) = &self.ret {
                let promised = ty.span;
                self.report(
                    Diagnostic::new("E0350", span, "this `return` has no value")
                        .label("a value is promised")
                        .also(promised, "promised here")
                        .help("write `return value;`"),
                );
                self.poison_returns = true;
                return;
            }
            self.returns.push((span, ReturnShape::Nothing));
            self.emit(StmtKind::Return(ReturnValue::Nothing), span);
            return;
        };
        self.returning = true;
        let v = self.expr(value);
        self.returning = false;
        if v.is_error() {
            self.poison_returns = true;
            return;
        }
        if is_void {
            let ast::RetType::Void(at) = self.ret else {
                return;
            };
            self.report(
                Diagnostic::new("E0351", value.span, "a `void` function returns a value")
                    .label("nobody receives this")
                    .also(at, "declared `void` here")
                    .help("declare the function `auto`"),
            );
            self.poison_returns = true;
            return;
        }
        let Some((shape, result)) = self.returnable(v, value.span) else {
            self.poison_returns = true;
            return;
        };
        if let Some((first, expected)) = self.returns.first().cloned()
            && expected != shape
        {
            let (this, other) = (self.return_name(&shape), self.return_name(&expected));
            self.report(
                Diagnostic::new(
                    "E0353",
                    span,
                    format!("this returns {this}, an earlier `return` {other}"),
                )
                .label(this)
                .also(first, other)
                .help("make both the same type and shape"),
            );
            self.poison_returns = true;
            return;
        }
        self.returns.push((span, shape));
        self.emit(StmtKind::Return(result), span);
    }

    pub(crate) fn return_name(&self, shape: &ReturnShape) -> String {
        match shape {
            ReturnShape::Nothing => "nothing".to_owned(),
            ReturnShape::Scalar(s) => format!("a scalar `{s}`"),
            ReturnShape::Tensor(e, s) => format!("`{e} {}`", self.show_shape(s)),
        }
    }

    fn returnable(&mut self, v: Value, at: Span) -> Option<(ReturnShape, ReturnValue)> {
        match v {
            Value::Scalar(e) => {
                let ty = if e.ty == Scalar::Index {
                    Scalar::S32
                } else {
                    e.ty
                };
                let e = self.convert_expr(e, ty, at)?;
                Some((ReturnShape::Scalar(ty), ReturnValue::Scalar(e)))
            }
            v @ Value::Int(_) => {
                let e = self.convert(v, Scalar::S32, at)?;
                Some((ReturnShape::Scalar(Scalar::S32), ReturnValue::Scalar(e)))
            }
            Value::Data(d) if d.future.is_none() => {
                let d = self.whole(d, at)?;
                let b = self.f.buffer(d.view.buffer);
                let whole = b.storage.is_global()
                    && !d.tiled
                    && d.view.offset.is_zero()
                    && d.view.shape == b.shape;
                if !whole {
                    self.not_returnable(at, "a view of a buffer");
                    return None;
                }
                let shape = ReturnShape::Tensor(b.elem, b.shape.clone());
                let id = d.view.buffer;
                self.returned.insert(id);
                Some((shape, ReturnValue::Buffer(id)))
            }
            Value::Data(_) => {
                self.not_returnable(at, "a future");
                None
            }
            other => {
                let kind = other.kind();
                self.not_returnable(at, &kind);
                None
            }
        }
    }

    fn not_returnable(&mut self, at: Span, what: &str) {
        self.report(
            Diagnostic::new("E0352", at, format!("{what} can't be returned"))
                .label("not a value the host can own")
                .help("return a scalar, a buffer declared outside `parallel`, or a parameter"),
        );
    }
}

/// Names that a statement brings into its scope; an assignment may.
fn names_of(stmt: &Stmt) -> Vec<&ast::Name> {
    match &stmt.kind {
        S::Mdspan { name, .. } | S::Ituple { name, .. } | S::AnyFuture { name, .. } => vec![name],
        S::Scalar { items, .. } => items.iter().map(|i| &i.name).collect(),
        S::Buffer { items, .. } | S::Frag { items, .. } => items.iter().map(|i| &i.name).collect(),
        S::Event { items, .. } => items.iter().map(|i| &i.name).collect(),
        S::Copy(copy) => copy.name.iter().collect(),
        _ => Vec::new(),
    }
}

fn declared_names(stmts: &[Stmt]) -> std::collections::BTreeMap<String, Span> {
    stmts
        .iter()
        .flat_map(names_of)
        .map(|name| (name.text.clone(), name.span))
        .collect()
}
