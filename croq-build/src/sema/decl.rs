//! Declarations.

use super::Checker;
use super::scope::{Entity, IntKind};
use super::value::{IntValue, Value};
use crate::diagnostics::Diagnostic;
use crate::ir::{self, Expr, Level, Role, Scalar, StmtKind, Storage};
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, BufferShape, ElemType};

impl Checker<'_> {
    pub(super) fn mdspan(&mut self, rank: Option<&ast::Expr>, name: &ast::Name, value: &ast::Expr) {
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

    pub(super) fn ituple(&mut self, rank: Option<&ast::Expr>, name: &ast::Name, value: &ast::Expr) {
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

    pub(super) fn scalars(
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
    }

    /// Rejects what can't initialise a scalar.
    pub(super) fn initialiser_ok(&mut self, value: &Value, at: Span) -> bool {
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
    pub(super) fn bind_scalar(
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

    pub(super) fn bind_expr(&mut self, name: &ast::Name, e: Expr, mutable: bool) -> Entity {
        let local = self.new_local(&name.text, e.ty, mutable, Role::Value, name.span);
        if !mutable && e.ty.is_integer() && e.ty != Scalar::U64 {
            let known = self.as_sym(&e);
            let (lo, hi) = match &known {
                Some(s) => {
                    let (lo, hi) = self.f.cx.range(s);
                    (lo.map(Sym::int), hi.map(Sym::int))
                }
                None => super::params::integer_range(e.ty),
            };
            self.local_var(local, lo, hi);
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

    pub(super) fn buffers(
        &mut self,
        storage: Option<&(ast::Storage, Span)>,
        mutable: Option<Span>,
        elem: (ElemType, Span),
        shape: &BufferShape,
        items: &[ast::BufferItem],
        span: Span,
    ) {
        if let Some(at) = mutable {
            self.report(
                Diagnostic::new("E0305", at, "spanned data can't be declared `mutable`")
                    .label("elements can always be written")
                    .help("drop the word"),
            );
        }
        let placed = self.buffer_storage(storage, span);
        let scalar = self.element_type(elem.0, elem.1);
        let extents = match shape {
            BufferShape::Dims(dims) => self.storage_shape(dims),
            BufferShape::Auto(at) => {
                self.unsupported(*at, "a shape of `[auto]`");
                None
            }
        };
        for item in items {
            let id = match (placed, scalar, &extents) {
                (Some(storage), Some(elem), Some(shape)) => {
                    self.buffer(storage, elem, shape, item, span)
                }
                _ => None,
            };
            let entity = match id {
                Some((id, array)) => Entity::Buffer { id, array },
                None => Entity::Poison,
            };
            self.declare(&item.name, entity);
        }
    }

    fn buffer_storage(
        &mut self,
        storage: Option<&(ast::Storage, Span)>,
        span: Span,
    ) -> Option<Storage> {
        let in_kernel = self.kernel.is_some();
        match (storage, in_kernel) {
            (Some((ast::Storage::Shared, _)), true) => Some(Storage::Shared),
            (Some((ast::Storage::Local, _)), true) => Some(Storage::Local),
            (None | Some((ast::Storage::Global, _)), false) => Some(Storage::Host),
            (word, true) => {
                let at = word.map_or(span, |w| w.1);
                self.report(
                    Diagnostic::new("E0610", at, "device code can declare only `shared` and `local` buffers")
                        .label("needs device memory, which the host allocates")
                        .help("write `shared` or `local` before the type, or declare it before the `parallel`"),
                );
                None
            }
            (Some((_, at)), false) => {
                self.report(
                    Diagnostic::new(
                        "E0611",
                        *at,
                        "`shared` and `local` buffers exist only inside `parallel`",
                    )
                    .label("this is host code")
                    .help("move the declaration into the `parallel`"),
                );
                None
            }
        }
    }

    fn buffer(
        &mut self,
        storage: Storage,
        elem: Scalar,
        shape: &[Sym],
        item: &ast::BufferItem,
        span: Span,
    ) -> Option<(ir::BufferId, Vec<u64>)> {
        let mut array = Vec::new();
        for e in &item.array {
            match self.array_extent(e, "buffer") {
                Some(n) => array.push(n),
                None => return None,
            }
        }
        if storage == Storage::Local && shape.iter().any(|s| s.as_int().is_none()) {
            let shown = self.show_shape(shape);
            self.report(
                Diagnostic::new(
                    "E0614",
                    item.name.span,
                    format!("`local` buffers need static extents, this is {shown}"),
                )
                .label("sizes known only at run time")
                .help("use `shared`, or a constant size"),
            );
            return None;
        }
        if storage == Storage::Shared {
            let unknown = shape
                .iter()
                .flat_map(Sym::vars)
                .find(|v| !self.host_known(*v));
            if let Some(v) = unknown {
                let name = self.f.cx.name(v).to_owned();
                self.report(
                    Diagnostic::new(
                        "E0331",
                        item.name.span,
                        format!("the shape depends on `{name}`, known only inside the kernel"),
                    )
                    .label("can't be allocated at launch"),
                );
                return None;
            }
        }
        let copies: u64 = array.iter().product();
        let copies = Sym::int(i64::try_from(copies).unwrap_or(i64::MAX));
        let id = self.new_buffer(
            &item.name.text,
            elem,
            storage,
            shape.to_vec(),
            copies,
            item.name.span,
        );
        let bytes = &self.f.buffer(id).count * i64::try_from(elem.bytes()).unwrap_or(8);
        if bytes.is_poison() || bytes.as_int().is_some_and(|n| n < 0) {
            let shown = self.show_shape(shape);
            self.report(
                Diagnostic::new(
                    "E0429",
                    item.name.span,
                    format!("`{}` has more bytes than 64 bits can count", item.name.text),
                )
                .label(format!("`{elem} {shown}`")),
            );
            return None;
        }
        if matches!(storage, Storage::Host | Storage::Shared) {
            self.emit(StmtKind::Alloc(id), span);
        }
        self.warn_of_spills(id, item.name.span);
        if let Some(init) = &item.init {
            let v = self.expr(init);
            if !matches!(v, Value::Error | Value::Int(_) | Value::Scalar(_)) {
                let kind = v.kind();
                self.report(
                    Diagnostic::new(
                        "E0335",
                        init.span,
                        format!("a buffer is initialised with a scalar, this is {kind}"),
                    )
                    .label("not a scalar"),
                );
                return None;
            }
            let value = self.convert(v, elem, init.span)?;
            let mut view = self.whole_view(id, item.name.span);
            if !array.is_empty() {
                // All buffers of the array at once, as one row.
                view.shape = vec![self.f.buffer(id).count.clone()];
                view.strides = vec![Sym::one()];
                view.valid = vec![ir::Valid::default()];
                view.frame = None;
            }
            let level = if storage == Storage::Local {
                Level::Thread
            } else {
                Level::Block
            };
            self.mark(&view, false, true);
            let fill = StmtKind::Fill { view, value, level };
            if storage == Storage::Host {
                self.host_kernel(fill, span);
            } else {
                self.emit(fill, span);
            }
        }
        Some((id, array))
    }

    /// `what` an array consists of.
    pub(super) fn array_extent(&mut self, e: &ast::Expr, what: &str) -> Option<u64> {
        let v = self.expr(e);
        if v.is_error() {
            return None;
        }
        match self.int_of(&v).and_then(|i| i.value.as_int()) {
            Some(n @ 1..) => u64::try_from(n).ok(),
            Some(n) => {
                self.report(
                    Diagnostic::new(
                        "E0434",
                        e.span,
                        format!("an array needs at least one {what}, this is {n}"),
                    )
                    .label("not positive"),
                );
                None
            }
            None => {
                self.report(
                    Diagnostic::new(
                        "E0435",
                        e.span,
                        format!("the number of {what}s must be a compile-time integer"),
                    )
                    .label("not a constant"),
                );
                None
            }
        }
    }
}
