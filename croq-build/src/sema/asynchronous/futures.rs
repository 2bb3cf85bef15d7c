//! Data futures: names for copies, and what they stand for.
//!
//! A future that `swap`, `rotate` or `dma.any` touches is a *moving* one: where its data is changes as
//! the program runs. All futures that are exchanged with each other have their tiles in one buffer,
//! and each has a small integer, its handle, that says which tile is its own. Exchanging futures
//! exchanges handles; no bytes move, and compilers keep handles in registers or unroll them away.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostics::Diagnostic;
use crate::ir::{
    self, Expr, ExprKind, FutureId, Level, LocalId, Role, Scalar, StmtKind, Storage, View, Waited,
};
use crate::sema::Checker;
use crate::sema::copies::copy::Bound;
use crate::sema::names::scope::Entity;
use crate::sema::values::value::{Data, Value};
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast::{self, Name, StmtKind as S};

/// What is known of a future.
pub(crate) struct Future {
    pub name: String,
    pub span: Span,
    /// Declared by `dma.any`.
    pub any: bool,
    pub is_async: bool,
    /// Its bytes come by the copy engine.
    pub by_tma: bool,
    /// The copy's destination as the first copy had it; `None` before that.
    pub data: Option<Data>,
    /// Whose threads share the copy.
    pub level: Level,
    pub handle: Option<Handle>,
    /// The number of scopes open where it was declared.
    pub depth: usize,
    /// The `inthreads` around its copies.
    pub regions: Vec<Span>,
}

/// Where a moving future's data is: tile number `local` of `pool`.
#[derive(Clone)]
pub(crate) struct Handle {
    pub local: LocalId,
    /// `None` until the first copy tells the type.
    pub pool: Option<ir::BufferId>,
    /// Elements of a tile.
    pub tile: Sym,
}

/// Futures that `swap` and `rotate` name, by name; those that are exchanged share a number.
pub(crate) fn exchanged(stmts: &[ast::Stmt]) -> BTreeMap<String, usize> {
    let mut groups: Vec<BTreeSet<String>> = Vec::new();
    gather(stmts, &mut groups);
    let mut out = BTreeMap::new();
    for (number, group) in groups.into_iter().enumerate() {
        out.extend(group.into_iter().map(|name| (name, number)));
    }
    out
}

fn gather(stmts: &[ast::Stmt], groups: &mut Vec<BTreeSet<String>>) {
    for stmt in stmts {
        match &stmt.kind {
            S::Swap { names } | S::Rotate { names } => {
                let mut group: BTreeSet<String> = names.iter().map(|n| n.text.clone()).collect();
                groups.retain(|other| {
                    let apart = other.is_disjoint(&group);
                    if !apart {
                        group.extend(other.iter().cloned());
                    }
                    apart
                });
                groups.push(group);
            }
            S::Block(b)
            | S::With { body: b, .. }
            | S::Inthreads { body: b, .. }
            | S::While { body: b, .. } => gather(&b.stmts, groups),
            S::Parallel(p) => gather(&p.body.stmts, groups),
            S::Foreach(f) => gather(&f.body.stmts, groups),
            S::If {
                then, otherwise, ..
            } => {
                gather(&then.stmts, groups);
                if let Some(b) = otherwise {
                    gather(&b.stmts, groups);
                }
            }
            _ => {}
        }
    }
}

impl Checker<'_> {
    /// `f = dma.any;`
    pub(crate) fn any_future(&mut self, name: &Name, span: Span) {
        if self.kernel.is_none() {
            self.unsupported(span, "a placeholder future outside `parallel`");
            return self.declare(name, Entity::Poison);
        }
        let handle = self
            .exchanged
            .contains_key(&name.text)
            .then(|| self.new_handle(&name.text, span));
        if let Some(handle) = &handle {
            // The first copy tells which tile that is.
            self.first_tiles.insert(handle.local, Sym::zero());
            self.emit(
                StmtKind::Let {
                    local: handle.local,
                    value: Some(Expr::index(Sym::zero(), span)),
                },
                span,
            );
        }
        let id = self.new_future(name, true, handle);
        self.declare(name, Entity::Future(id));
    }

    fn new_handle(&mut self, name: &str, span: Span) -> Handle {
        let name = format!("{name}_tile");
        Handle {
            local: self.new_local(&name, Scalar::Index, true, Role::Value, span),
            pool: None,
            tile: Sym::zero(),
        }
    }

    pub(crate) fn new_future(
        &mut self,
        name: &Name,
        any: bool,
        handle: Option<Handle>,
    ) -> FutureId {
        let id = FutureId(u32::try_from(self.futures.len()).unwrap_or(u32::MAX));
        self.futures.push(Future {
            name: name.text.clone(),
            span: name.span,
            any,
            is_async: false,
            by_tma: false,
            data: None,
            level: Level::Block,
            handle,
            depth: self.scopes.depth(),
            regions: Vec::new(),
        });
        self.f.futures.push(ir::Future {
            name: name.text.clone(),
            span: name.span,
            tile: None,
        });
        id
    }

    pub(crate) fn future(&self, id: FutureId) -> Option<&Future> {
        self.futures.get(id.index())
    }

    /// What a copy's name stands for before the copy.
    pub(crate) fn copy_name(&mut self, name: Option<&Name>) -> Bound {
        let Some(name) = name else {
            return Bound::Nothing;
        };
        let Some(b) = self.scopes.find(&name.text) else {
            return Bound::New;
        };
        let declared = b.span;
        let entity = b.entity.clone();
        if let Entity::Future(id) = entity
            && self.future(id).is_some_and(|f| f.any)
        {
            if let Some(b) = self.scopes.find_mut(&name.text) {
                b.used = true;
            }
            return Bound::Again(id);
        }
        if !self.scopes.in_innermost(&name.text) {
            return Bound::New;
        }
        let (code, text) = match entity {
            Entity::Future(_) => ("E0844", "is bound to a copy already".to_owned()),
            Entity::Poison => return Bound::Refused,
            ref other => ("E0205", format!("is {} already", other.kind())),
        };
        let help = if code == "E0844" {
            format!(
                "give the copy another name, or declare `{} = dma.any;` first",
                name.text
            )
        } else {
            "give the copy another name".to_owned()
        };
        self.report(
            Diagnostic::new(code, name.span, format!("`{}` {text}", name.text))
                .label("bound again here")
                .also(declared, "first bound here")
                .help(help),
        );
        Bound::Refused
    }

    /// The future as an operand.
    pub(crate) fn future_value(&mut self, id: FutureId, span: Span) -> Value {
        let Some(future) = self.future(id) else {
            return Value::Error;
        };
        let (name, declared) = (future.name.clone(), future.span);
        match self.future_data(id, span) {
            Some(data) => Value::Data(Data {
                span,
                name,
                future: Some(id),
                ..data
            }),
            None => {
                self.report(
                    Diagnostic::new("E0877", span, format!("`{name}` stands for no copy yet"))
                        .label("nothing was copied into it")
                        .also(declared, "a placeholder")
                        .help(format!("bind it first: `{name} = dma.copy … => shared;`")),
                );
                Value::Error
            }
        }
    }

    /// The data that a future stands for at this point.
    pub(crate) fn future_data(&mut self, id: FutureId, span: Span) -> Option<Data> {
        let future = self.future(id)?;
        let data = future.data.clone()?;
        let Some(handle) = future.handle.clone() else {
            return Some(data);
        };
        let name = future.name.clone();
        let now = self.new_local(
            &format!("{name}_at"),
            Scalar::Index,
            false,
            Role::Value,
            span,
        );
        let value = Expr::new(ExprKind::Local(handle.local), Scalar::Index, span);
        self.emit(
            StmtKind::Let {
                local: now,
                value: Some(value),
            },
            span,
        );
        let var = self.local_var(now, Some(Sym::zero()), None);
        let mut view = data.view.clone();
        if let Some(pool) = handle.pool {
            view.buffer = pool;
        }
        view.offset = &handle.tile * &Sym::var(var);
        view.span = span;
        Some(Data { view, ..data })
    }

    /// Says that the next statement reads a future's data, so that what is still under way is found.
    pub(crate) fn consult(&mut self, data: &Data, span: Span) {
        if let Some(id) = data.future
            && self.future(id).is_some_and(|f| f.is_async)
        {
            self.emit(StmtKind::Consult(id), span);
        }
    }

    /// The destination of a copy into storage by the name of a placeholder that has a type already.
    pub(crate) fn same_again(
        &mut self,
        id: FutureId,
        elem: Scalar,
        shape: &[Sym],
        storage: Storage,
        at: Span,
    ) -> Option<Option<View>> {
        let Some(first) = self.future(id).and_then(|f| f.data.clone()) else {
            return Some(None);
        };
        let b = self.f.buffer(first.view.buffer);
        let same = b.elem == elem
            && b.storage == storage
            && first.view.shape.len() == shape.len()
            && (first.view.shape.iter().zip(shape)).all(|(a, b)| self.f.cx.eq(a, b).is_yes());
        if !same {
            let (was, is) = (
                format!("{} {}", b.elem, self.show_shape(&first.view.shape)),
                format!("{elem} {}", self.show_shape(shape)),
            );
            let (name, declared) = self
                .future(id)
                .map(|f| (f.name.clone(), f.span))
                .unwrap_or_default();
            self.report(
                Diagnostic::new(
                    "E0835",
                    at,
                    format!("`{name}` stands for `{was}`, this copy makes `{is}`"),
                )
                .label("another type")
                .also(declared, "declared here")
                .help("use a placeholder of its own for each type"),
            );
            return None;
        }
        let view = self.future_data(id, at)?.view;
        Some(Some(view))
    }

    /// Binds a future to what a copy has produced. For a moving one, its tile joins the others'.
    pub(crate) fn bind_future(
        &mut self,
        id: FutureId,
        data: Data,
        level: Level,
        (is_async, by_tma): (bool, bool),
        fresh: bool,
        at: Span,
    ) -> Option<()> {
        let first = self.future(id).is_some_and(|f| f.data.is_none());
        if !first && self.future(id)?.by_tma != by_tma {
            let (name, declared) = (self.future(id)?.name.clone(), self.future(id)?.span);
            self.report(
                Diagnostic::new(
                    "E0835",
                    at,
                    format!("`{name}` stands for copies by `dma` or by `tma`, not both"),
                )
                .label("the other engine")
                .also(declared, "declared here")
                .help("use a placeholder of its own for each"),
            );
            return None;
        }
        let own = data.view.clone();
        let regions = self.regions_around();
        if let Some(future) = self.futures.get_mut(id.index()) {
            future.level = level;
            future.regions = regions;
            future.is_async |= is_async;
            if first {
                future.by_tma = by_tma;
                future.data = Some(Data {
                    future: None,
                    tiled: false,
                    name: future.name.clone(),
                    ..data
                });
            }
        }
        let Some(handle) = self.future(id)?.handle.clone() else {
            return Some(());
        };
        if !first && fresh {
            // Into the tile that it has already.
            return Some(());
        }
        let tile = own.shape.iter().fold(Sym::one(), |p, e| &p * e);
        let storage = self.f.buffer(own.buffer).storage;
        let aligned = self.f.cx.divides(&tile, &own.offset) == Truth::Yes;
        let fixed = tile.as_int().is_some() && self.f.buffer(own.buffer).count.as_int().is_some();
        let dense = own.strides == crate::sema::memory::data::dense_strides(&own.shape);
        if !aligned || !fixed || !dense || storage.is_global() {
            self.unsupported(
                at,
                "exchanging futures whose tiles are not whole, static and on the chip",
            );
            return None;
        }
        let group = self
            .future(id)
            .and_then(|f| self.exchanged.get(&f.name).copied())?;
        let pool = self.pool_for(group, own.buffer, &tile);
        let place = &self.place_in(own.buffer, pool) + &own.offset;
        let number = self.f.cx.div(&place, &tile);
        if let Some(future) = self.futures.get_mut(id.index())
            && let Some(handle) = &mut future.handle
        {
            handle.pool = Some(pool);
            handle.tile = tile.clone();
        }
        if let Some(future) = self.f.futures.get_mut(id.index()) {
            future.tile = Some(tile);
        }
        let value = Expr::index(number.clone(), at);
        let local = handle.local;
        match self.first_tiles.get_mut(&local) {
            // Its handle is declared where the placeholder is.
            Some(first) if fresh => *first = number,
            Some(_) => self.emit(StmtKind::Assign { local, value }, at),
            None => {
                let value = Some(value);
                self.emit(StmtKind::Let { local, value }, at);
            }
        }
        Some(())
    }

    /// A handle for a copy's new name, if that is exchanged somewhere.
    pub(crate) fn handle_for(&mut self, name: &Name) -> Option<Handle> {
        if self.kernel.is_none() || !self.exchanged.contains_key(&name.text) {
            return None;
        }
        Some(self.new_handle(&name.text, name.span))
    }

    /// `wait f, g;`
    pub(crate) fn wait(&mut self, operands: &[ast::Expr], span: Span) {
        let mut ids = Vec::new();
        for operand in operands {
            if self.wait_of_one(operand, span) {
                continue;
            }
            if self.names_event(operand).is_some() {
                self.wait_for(&std::mem::take(&mut ids), span);
                self.wait_event(operand, span);
                continue;
            }
            let ast::ExprKind::Name(name) = &*operand.kind else {
                let text = self.file.snippet(operand.span).to_owned();
                self.report(
                    Diagnostic::new(
                        "E1014",
                        operand.span,
                        format!("`wait` takes futures and events, `{text}` is neither"),
                    )
                    .label("nothing to wait for"),
                );
                continue;
            };
            match self.lookup(name, operand.span) {
                Some(Entity::Future(id)) => ids.push((id, operand.span)),
                Some(Entity::Operation(id)) => {
                    self.wait_for(&std::mem::take(&mut ids), span);
                    self.wait_for_product(id, operand.span);
                }
                Some(Entity::Poison) | None => {}
                Some(Entity::Chosen(_)) => self.report(
                    Diagnostic::new(
                        "E1014",
                        operand.span,
                        format!(
                            "`{name}` is the data of one of several copies, chosen by `select`"
                        ),
                    )
                    .label("not a copy")
                    .help("wait for the copies that it is chosen among"),
                ),
                Some(other) => {
                    let kind = other.kind();
                    self.report(
                        Diagnostic::new(
                            "E1014",
                            operand.span,
                            format!("`wait` takes futures and events, `{name}` is {kind}"),
                        )
                        .label("nothing to wait for"),
                    );
                }
            }
        }
        self.wait_for(&ids, span);
    }

    pub(crate) fn regions_around(&self) -> Vec<Span> {
        self.kernel
            .as_ref()
            .map_or_else(Vec::new, |k| k.regions_at.clone())
    }

    /// The `inthreads` around a copy that is not around this place.
    fn copied_apart(&self, id: FutureId) -> Option<Span> {
        let here = self.regions_around();
        let copied = &self.future(id)?.regions;
        copied.iter().find(|at| !here.contains(at)).copied()
    }

    fn wait_for(&mut self, ids: &[(FutureId, Span)], span: Span) {
        let (mut futures, mut boxes) = (Vec::new(), Vec::new());
        for (id, at) in ids.iter().copied() {
            let Some(future) = self.future(id) else {
                continue;
            };
            let (name, declared, level) = (future.name.clone(), future.span, future.level);
            let (by_tma, sync) = (future.by_tma, future.data.is_some() && !future.is_async);
            let list = if by_tma { &mut boxes } else { &mut futures };
            if let Some(bound) = self.bound_to_event(id) {
                self.report(
                    Diagnostic::new(
                        "E1035",
                        at,
                        format!(
                            "the copy `{name}` completes an event: it can't be waited for as well"
                        ),
                    )
                    .label("arrives at the event")
                    .also(bound, "bound here")
                    .help("wait for the event"),
                );
                continue;
            }
            if let Some(apart) = self.copied_apart(id) {
                self.report(
                    Diagnostic::new(
                        "E0842",
                        at,
                        format!("threads wait for `{name}` here that have no part in the copy"),
                    )
                    .label("other threads than copied")
                    .also(apart, "only these copy")
                    .help("wait inside of this `inthreads`, and let an event tell the others"),
                );
                continue;
            }
            self.events.waited.entry(id).or_insert(at);
            if sync {
                self.report(
                    Diagnostic::new("E0843", at, format!("the copy `{name}` is synchronous"))
                        .label("has arrived already")
                        .also(declared, "copied here, without `.async`")
                        .help(format!(
                            "remove the `wait`, or write `{}.copy.async`",
                            if by_tma { "tma" } else { "dma" }
                        )),
                );
                continue;
            }
            match self.future_value(id, at) {
                Value::Data(data) => list.push(Waited {
                    future: id,
                    view: data.view,
                    level,
                    arrival: None,
                }),
                _ => continue,
            }
            if level != Level::Thread {
                self.cooperative(span, "a `wait`");
            }
        }
        if !futures.is_empty() {
            let pending = None;
            self.emit(StmtKind::Wait { futures, pending }, span);
        }
        if !boxes.is_empty() {
            self.emit(StmtKind::WaitTma { futures: boxes }, span);
        }
    }

    /// `… after g`
    pub(crate) fn after(&mut self, name: &Name) {
        let entity = self.lookup(&name.text, name.span);
        if let Some(Entity::Future(id)) = entity
            && self.future(id).is_some_and(|f| f.is_async)
        {
            return self.wait_for(&[(id, name.span)], name.span);
        }
        let kind = match entity {
            Some(Entity::Poison) | None => return,
            Some(Entity::Future(_)) => "a synchronous copy",
            Some(ref other) => other.kind(),
        };
        self.report(
            Diagnostic::new(
                "E0876",
                name.span,
                format!(
                    "`after` names an asynchronous copy, `{}` is {kind}",
                    name.text
                ),
            )
            .label("nothing to come after"),
        );
    }

    /// Placeholders that were never copied into.
    pub(crate) fn unbound_futures(&mut self) {
        let unbound: Vec<(String, Span)> = self
            .futures
            .iter()
            .filter(|f| f.any && f.data.is_none())
            .map(|f| (f.name.clone(), f.span))
            .collect();
        for (name, span) in unbound {
            self.report(
                Diagnostic::new(
                    "E0845",
                    span,
                    format!("nothing is ever copied into `{name}`"),
                )
                .label("a placeholder that stays empty")
                .help(format!(
                    "remove it, or bind it: `{name} = dma.copy … => shared;`"
                )),
            );
        }
    }
}
