//! Events: declarations, `wait`, `trigger`, and copies that complete them (language 06).

use std::collections::BTreeMap;

use crate::diagnostics::Diagnostic;
use crate::ir::{
    Buffer, BufferId, Engine, Event, EventAt, EventId, FutureId, Scalar, Slot, Stmt, StmtKind,
    Storage, ThreadSet,
};
use crate::sema::Checker;
use crate::sema::names::scope::Entity;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, EventItem, Name};

/// Phases of so many slots fit into one word of each thread.
const SLOTS: u64 = 64;

/// What is known of the events of a function, beside their IR.
#[derive(Default)]
pub(crate) struct Known {
    /// The extents of arrays.
    arrays: BTreeMap<EventId, Vec<u64>>,
    /// Named copies that a `trigger … after` has bound to an event.
    bound: BTreeMap<FutureId, (EventAt, Span)>,
    /// Named copies that were waited for.
    pub waited: BTreeMap<FutureId, Span>,
}

impl Checker<'_> {
    pub(crate) fn event_declaration(
        &mut self,
        storage: Option<&(ast::Storage, Span)>,
        count: Option<&ast::Expr>,
        items: &[EventItem],
        span: Span,
    ) {
        match (storage.map(|s| s.0), self.kernel.is_some()) {
            (None | Some(ast::Storage::Global), false) => {
                return self.signal_declaration(count, items, span);
            }
            (Some(ast::Storage::Local), true) => return self.flag_declaration(count, items),
            _ => {}
        }
        let placed = self.event_place(storage, span);
        let count = count.map(|e| (self.const_int(e), e.span));
        let count = match count {
            None => Some(None),
            Some((Some(n @ 1..=1024), at)) => Some(Some((u32::try_from(n).unwrap_or(1), at))),
            Some((_, at)) => {
                self.report(
                    Diagnostic::new("E0435", at, "an event counts 1 to 1024 threads, known here")
                        .label("no such number")
                        .help("write a constant, or leave it out: croq counts who triggers"),
                );
                None
            }
        };
        for item in items {
            let entity = match (placed, count) {
                (Some(()), Some(count)) => self.event(item, count),
                _ => None,
            };
            let entity = entity.map_or(Entity::Poison, Entity::Event);
            self.declare(&item.name, entity);
        }
    }

    fn event_place(&mut self, storage: Option<&(ast::Storage, Span)>, span: Span) -> Option<()> {
        let in_kernel = self.kernel.is_some();
        let at = storage.map_or(span, |s| s.1);
        match (storage.map(|s| s.0), in_kernel) {
            (Some(ast::Storage::Global), true) => {
                self.report(
                    Diagnostic::new("E1001", at, "a `global` event belongs to the host")
                        .label("declared in a kernel")
                        .help("write `shared event`"),
                );
                None
            }
            (Some(ast::Storage::Shared | ast::Storage::Local), false) => {
                self.report(
                    Diagnostic::new(
                        "E1002",
                        at,
                        "`shared` and `local` events exist only inside `parallel`",
                    )
                    .label("this is host code")
                    .help("move the declaration into the `parallel`"),
                );
                None
            }
            (_, true) if self.kernel.as_ref().is_some_and(|k| k.regions > 0) => {
                self.report(
                    Diagnostic::new("E0564", span, "an event declared inside `inthreads`")
                        .label("its mbarrier is made ready for all threads of the block")
                        .help("declare it before the `inthreads`"),
                );
                None
            }
            _ => Some(()),
        }
    }

    fn event(&mut self, item: &EventItem, count: Option<(u32, Span)>) -> Option<EventId> {
        let mut array = Vec::new();
        for extent in &item.array {
            array.push(self.array_extent(extent, "event")?);
        }
        let name = &item.name;
        let slots: u64 = crate::sema::memory::buffers::elements_of(&array);
        if slots > SLOTS {
            self.unsupported(name.span, &format!("an array of more than {SLOTS} events"));
            return None;
        }
        let slots = u32::try_from(slots).unwrap_or(1);
        let barriers = BufferId(u32::try_from(self.f.buffers.len()).unwrap_or(u32::MAX));
        let extent = Sym::int(i64::from(slots));
        self.f.buffers.push(Buffer {
            name: name.text.clone(),
            elem: Scalar::U64,
            storage: Storage::Mbarriers,
            shape: vec![extent.clone()],
            count: extent,
            span: name.span,
            read: true,
            written: true,
            swizzle: None,
        });
        let id = EventId(u32::try_from(self.f.events.len()).unwrap_or(u32::MAX));
        self.f.events.push(Event {
            name: name.text.clone(),
            span: name.span,
            kernel: self.f.kernels.len(),
            barriers,
            slots,
            ready: item.ready.is_some(),
            count,
            phases: None,
            clustered: false,
            sites: Vec::new(),
        });
        self.events.arrays.insert(id, array);
        Some(id)
    }

    /// Whether an expression names an event, or some of its slots.
    pub(crate) fn names_event(&self, e: &ast::Expr) -> Option<EventId> {
        match &*e.kind {
            ast::ExprKind::Name(name) => match self.scopes.find(name).map(|b| &b.entity) {
                Some(Entity::Event(id)) => Some(*id),
                _ => None,
            },
            ast::ExprKind::Subscript(inner, _)
            | ast::ExprKind::At(inner, _)
            | ast::ExprKind::Paren(inner) => self.names_event(inner),
            _ => None,
        }
    }

    /// The slots that an operand means. `joined`: its order may not be counted up here.
    pub(crate) fn event_at(&mut self, e: &ast::Expr, joined: bool) -> Option<EventAt> {
        let id = self.names_event(e)?;
        let slot = self.slot(id, e, joined)?;
        Some(EventAt {
            event: id,
            slot,
            cluster: false,
            span: e.span,
        })
    }

    fn slot(&mut self, id: EventId, e: &ast::Expr, joined: bool) -> Option<Slot> {
        let array = self.events.arrays.get(&id).cloned().unwrap_or_default();
        match &*e.kind {
            ast::ExprKind::Paren(inner) => self.slot(id, inner, joined),
            ast::ExprKind::Name(name) => {
                self.lookup(name, e.span);
                Some(if array.is_empty() {
                    Slot::At(Sym::zero())
                } else {
                    Slot::All
                })
            }
            ast::ExprKind::At(inner, args) => {
                self.slot(id, inner, joined);
                self.ordered(id, &array, args, e.span, joined)
            }
            _ => {
                let mut subscripts = Vec::new();
                let mut root = e;
                while let ast::ExprKind::Subscript(inner, list) = &*root.kind {
                    subscripts.splice(0..0, list.iter());
                    root = inner;
                }
                self.slot(id, root, joined);
                let name = self.f.event(id).name.clone();
                let slot = self.slot_at(&name, &array, &subscripts, e.span);
                slot.map(Slot::At)
            }
        }
    }

    /// `e[i][j]`
    pub(crate) fn slot_at(
        &mut self,
        name: &str,
        array: &[u64],
        subscripts: &[&ast::Expr],
        span: Span,
    ) -> Option<Sym> {
        if array.is_empty() {
            self.report(
                Diagnostic::new(
                    "E0438",
                    span,
                    format!("`{name}` is one event, not an array"),
                )
                .label("can't be subscripted")
                .help(format!("write `{name}`, or declare `{name}[N]`")),
            );
            return None;
        }
        if array.len() != subscripts.len() {
            self.report(
                Diagnostic::new(
                    "E0436",
                    span,
                    format!(
                        "`{name}` takes {} subscript{}, {} given",
                        array.len(),
                        if array.len() == 1 { "" } else { "s" },
                        subscripts.len()
                    ),
                )
                .label("not one slot"),
            );
            return None;
        }
        let mut slot = Sym::zero();
        for (extent, index) in array.iter().zip(subscripts) {
            let v = self.expr(index);
            let i = self.to_sym(v, index.span)?;
            let extent = Sym::int(i64::try_from(*extent).unwrap_or(i64::MAX));
            let what = |n: &str| format!("the subscript of `{n}`");
            let zero = Sym::zero();
            if !self.inside("E0437", "R13", &i, &zero, &extent, index.span, &what, name) {
                return None;
            }
            slot = &(&slot * &extent) + &i;
        }
        Some(slot)
    }

    /// `e.at(order)`
    fn ordered(
        &mut self,
        id: EventId,
        array: &[u64],
        args: &[ast::Expr],
        span: Span,
        joined: bool,
    ) -> Option<Slot> {
        let name = self.f.event(id).name.clone();
        let (code, text) = match array.len() {
            0 => ("E1020", "is one event, not an array"),
            1 => ("", ""),
            _ => ("E1021", "is an array of several dimensions"),
        };
        if !code.is_empty() {
            self.report(
                Diagnostic::new(
                    code,
                    span,
                    format!("`.at(order)` counts through the slots of an array, `{name}` {text}"),
                )
                .label("no order of slots")
                .help(format!(
                    "declare `{name}[N]`, or name the slot: `{name}[i]`"
                )),
            );
            return None;
        }
        let [order] = args else {
            self.report(
                Diagnostic::new("E1023", span, "an order is one integer")
                    .label(format!("{} given", args.len())),
            );
            return None;
        };
        let counted = matches!(&*order.kind, ast::ExprKind::Increment { .. });
        if counted && joined {
            self.report(
                Diagnostic::new(
                    "E1036",
                    order.span,
                    "an order that is counted up, with several copies to come",
                )
                .label("counted up where?")
                .help("count it up in a statement of its own"),
            );
            return None;
        }
        if !counted && has_increment(order) {
            self.report(
                Diagnostic::new("E1022", order.span, "`++` inside the order of an event")
                    .label("only the whole order may be counted up")
                    .help("write `e.at(n++)`, or count in a statement of its own"),
            );
            return None;
        }
        let v = self.expr(order);
        if v.is_error() {
            return None;
        }
        match self.int_like(&v) {
            true => self.to_sym(v, order.span).map(Slot::Order),
            false => {
                let kind = v.kind();
                self.report(
                    Diagnostic::new(
                        "E1023",
                        order.span,
                        format!("the order of an event is an integer, this is {kind}"),
                    )
                    .label("not an integer"),
                );
                None
            }
        }
    }

    fn int_like(&self, v: &crate::sema::values::value::Value) -> bool {
        match v {
            crate::sema::values::value::Value::Int(_) => true,
            crate::sema::values::value::Value::Scalar(e) => {
                e.ty.is_integer() || e.ty == Scalar::Index
            }
            _ => false,
        }
    }

    pub(crate) fn wait_event(&mut self, e: &ast::Expr, span: Span) {
        let Some(at) = self.event_at(e, false) else {
            return;
        };
        self.outside_regions("W1005", e, "waited for");
        self.cooperative(span, "a `wait`");
        self.emit(StmtKind::WaitEvent(at), span);
    }

    fn outside_regions(&mut self, code: &'static str, e: &ast::Expr, what: &str) {
        let Some(k) = self.kernel.as_ref().filter(|k| k.regions == 0) else {
            return;
        };
        let threads = k.threads.as_ref().and_then(Sym::as_int);
        let who = threads.map_or_else(|| "all threads".to_owned(), |n| format!("all {n} threads"));
        let name = self.file.snippet(e.span).to_owned();
        self.report(
            Diagnostic::new(
                code,
                e.span,
                format!("`{name}` is {what} outside `inthreads`"),
            )
            .label(format!("by {who} of the block"))
            .help(
                "events are for threads that run different code: put it into an `inthreads.async`",
            ),
        );
    }

    pub(crate) fn trigger(
        &mut self,
        cluster: bool,
        events: &[ast::Expr],
        after: &[Name],
        span: Span,
    ) {
        let cluster = cluster && self.kernel.is_some() && self.arrives_everywhere(after, span);
        if !after.is_empty() {
            if events.iter().any(|e| self.not_of_a_block(e)) {
                return;
            }
            self.trigger_after(events, after, span);
            return;
        }
        for e in events {
            if self.trigger_of_one(e, cluster, span) {
                continue;
            }
            if let Some(mut at) = self.triggered(e, false) {
                at.cluster = cluster;
                if let (true, Some(event)) = (cluster, self.f.events.get_mut(at.event.index())) {
                    event.clustered = true;
                }
                self.arrive(at, span);
            }
        }
    }

    fn arrive(&mut self, at: EventAt, span: Span) {
        let divergent = self.kernel.as_ref().is_some_and(|k| k.divergent > 0);
        if divergent && self.f.event(at.event).count.is_none() {
            let name = self.f.event(at.event).name.clone();
            self.report(
                Diagnostic::new(
                    "E1016",
                    span,
                    format!("who triggers `{name}` is not known: threads differ about a condition around"),
                )
                .label("arrives, if it comes here")
                .help(format!("use `inthreads` instead of `if`, or say how many arrive: `event<n> {name}`")),
            );
            return;
        }
        self.emit(StmtKind::Trigger(at), span);
    }

    /// An operand of `trigger`.
    fn triggered(&mut self, e: &ast::Expr, joined: bool) -> Option<EventAt> {
        if self.names_event(e).is_some() {
            let at = self.event_at(e, joined)?;
            self.outside_regions("W1006", e, "triggered");
            return Some(at);
        }
        let ast::ExprKind::Name(name) = &*e.kind else {
            self.not_an_event(e.span, "this is none");
            return None;
        };
        match self.lookup(name, e.span)? {
            Entity::Poison => {}
            Entity::Future(_) => self.report(
                Diagnostic::new(
                    "E1015",
                    e.span,
                    format!("`{name}` is a copy: nobody can trigger it"),
                )
                .label("arrives on its own")
                .help(format!(
                    "`wait {name};`, or let it complete an event: `trigger e after {name};`"
                )),
            ),
            other => {
                let kind = other.kind();
                self.not_an_event(e.span, &format!("`{name}` is {kind}"));
            }
        }
        None
    }

    pub(crate) fn not_an_event(&mut self, at: Span, what: &str) {
        self.report(
            Diagnostic::new("E1014", at, format!("`trigger` takes events, {what}"))
                .label("nothing to trigger")
                .help("declare it: `shared event e;`"),
        );
    }

    /// `trigger e after f, g;`
    fn trigger_after(&mut self, events: &[ast::Expr], after: &[Name], span: Span) {
        let [event] = events else {
            self.report(
                Diagnostic::new("E1030", span, "copies complete one event")
                    .label(format!("{} events", events.len()))
                    .help("write `trigger e after f;`, and trigger the others on their own"),
            );
            return;
        };
        let Some(at) = self.triggered(event, after.len() > 1) else {
            return;
        };
        if at.slot == Slot::All {
            let name = self.f.event(at.event).name.clone();
            self.report(
                Diagnostic::new(
                    "E1030",
                    event.span,
                    format!("`{name}` is an array of events: copies complete one slot"),
                )
                .label("which one?")
                .help(format!("name it: `{name}[s]`")),
            );
            return;
        }
        let mut ok = true;
        for name in after {
            ok &= self.completes(name, &at, span).is_some();
        }
        if ok {
            self.arrive(at, span);
        }
    }

    /// The copy of this name will complete an event.
    fn completes(&mut self, name: &Name, at: &EventAt, span: Span) -> Option<()> {
        let id = match self.lookup(&name.text, name.span)? {
            Entity::Poison => return None,
            Entity::Future(id) => id,
            Entity::Operation(_) => {
                let text = format!(
                    "`{}` is a product, whose end only its warpgroup sees",
                    name.text
                );
                self.report(
                    Diagnostic::new("E1033", name.span, text)
                        .label("completes no event")
                        .help(format!(
                            "write `wait {};`, and then a plain `trigger`",
                            name.text
                        )),
                );
                return None;
            }
            other => {
                let text = format!(
                    "`{}` is {}, not an asynchronous copy",
                    name.text,
                    other.kind()
                );
                self.report(Diagnostic::new("E1037", name.span, text).label("completes nothing"));
                return None;
            }
        };
        let future = self.future(id)?;
        let (is_async, by_tma, any) = (future.is_async, future.by_tma, future.any);
        let dest = future.data.as_ref().map(|d| d.view.buffer);
        let dest = dest.and_then(|id| self.f.buffers.get(id.index()));
        let stores = by_tma && dest.is_some_and(|b| b.storage.is_global());
        let problem = match (is_async, by_tma) {
            _ if stores => Some((
                "E1032",
                "is a store: it completes no event",
                "it is over here; a plain `trigger` is enough",
            )),
            (false, _) => Some((
                "E1037",
                "is synchronous: it has arrived already",
                "a plain `trigger` is enough",
            )),
            (true, false) => Some((
                "E1031",
                "is a `dma` copy, which can't complete an event",
                "`wait` for it, then `trigger` the event",
            )),
            (true, true) if any => Some((
                "E1037",
                "is a placeholder: which of its copies is meant changes",
                "name the event at the copy: `tma.copy.async<e> …`",
            )),
            _ => None,
        };
        if let Some((code, what, help)) = problem {
            self.report(
                Diagnostic::new(code, name.span, format!("`{}` {what}", name.text))
                    .label("not by the copy engine alone")
                    .help(help),
            );
            return None;
        }
        if let Some(before) = self.events.waited.get(&id).copied() {
            self.report(
                Diagnostic::new(
                    "E1034",
                    name.span,
                    format!("`{}` was waited for already", name.text),
                )
                .label("has arrived")
                .also(before, "waited for here")
                .help("remove the `wait`, or write a plain `trigger`"),
            );
            return None;
        }
        if let Some((_, before)) = self.events.bound.get(&id).cloned() {
            self.report(
                Diagnostic::new(
                    "E1035",
                    name.span,
                    format!("`{}` completes another event already", name.text),
                )
                .label("a copy arrives once")
                .also(before, "taken here"),
            );
            return None;
        }
        self.events.bound.insert(id, (at.clone(), span));
        Some(())
    }

    /// Whether a named copy completes an event, so that nobody need wait for it.
    pub(crate) fn bound_to_event(&self, id: FutureId) -> Option<Span> {
        self.events.bound.get(&id).map(|(_, at)| *at)
    }

    /// Copies that a later `trigger … after` has bound are told where to arrive.
    pub(crate) fn bind_copies(&mut self) {
        let bound = std::mem::take(&mut self.events.bound);
        if bound.is_empty() {
            return;
        }
        let mut apart = Vec::new();
        for kernel in &mut self.f.kernels {
            bind(&mut kernel.body, &bound, &mut apart);
        }
        for (copy, trigger) in apart {
            self.report(
                Diagnostic::new("E1037", trigger, "a copy completes an event only from beside the `trigger`")
                    .label("in another block than the copy")
                    .also(copy, "begun here")
                    .help("put both into the same block, or name the event at the copy: `tma.copy.async<e> …`"),
            );
        }
    }

    /// The event that a copy names for itself: `tma.copy.async<e[s]>`.
    pub(crate) fn event_of_copy(&mut self, e: &ast::Expr) -> Option<EventAt> {
        if self.not_of_a_block(e) {
            return None;
        }
        if self.names_event(e).is_none() {
            let v = self.file.snippet(e.span).to_owned();
            self.report(
                Diagnostic::new(
                    "E1014",
                    e.span,
                    format!("a copy completes an event, `{v}` is none"),
                )
                .label("not an event")
                .help("declare it: `shared event e;`"),
            );
            return None;
        }
        let at = self.event_at(e, true)?;
        if at.slot == Slot::All {
            let name = self.f.event(at.event).name.clone();
            self.report(
                Diagnostic::new(
                    "E1030",
                    e.span,
                    format!("`{name}` is an array of events: a copy completes one slot"),
                )
                .label("which one?")
                .help(format!("name it: `{name}[s]`")),
            );
            return None;
        }
        Some(at)
    }

    /// The threads of the innermost `inthreads` around; `None` outside, or where they are not known.
    pub(crate) fn region_threads(&self) -> Option<&ThreadSet> {
        self.kernel.as_ref()?.sets.last()?.as_ref()
    }
}

/// A copy is begun right before its `trigger`: only there is it known which slot that means.
fn bind(
    stmts: &mut Vec<Stmt>,
    bound: &BTreeMap<FutureId, (EventAt, Span)>,
    apart: &mut Vec<(Span, Span)>,
) {
    let (rest, mut begun) = (std::mem::take(stmts), Vec::new());
    for mut stmt in rest {
        if let StmtKind::Copy(copy) = &mut stmt.kind
            && let Some((at, trigger)) = copy.future.and_then(|id| bound.get(&id))
            && let Engine::Tma(tma) = &mut copy.engine
        {
            tma.event = Some(at.clone());
            copy.future = None;
            begun.push((*trigger, stmt));
            continue;
        }
        if let StmtKind::Trigger(_) = &stmt.kind {
            let now = |copy: &mut (Span, Stmt)| copy.0 == stmt.span;
            stmts.extend(begun.extract_if(.., now).map(|copy| copy.1));
        }
        for block in stmt.kind.blocks_mut() {
            bind(block, bound, apart);
        }
        stmts.push(stmt);
    }
    apart.extend(
        begun
            .into_iter()
            .map(|(trigger, copy)| (copy.span, trigger)),
    );
}

fn has_increment(e: &ast::Expr) -> bool {
    match &*e.kind {
        ast::ExprKind::Increment { .. } => true,
        ast::ExprKind::Paren(a) | ast::ExprKind::Unary(_, a) => has_increment(a),
        ast::ExprKind::Binary(_, _, a, b) => has_increment(a) || has_increment(b),
        ast::ExprKind::Ternary(a, b, c) => [a, b, c].into_iter().any(has_increment),
        _ => false,
    }
}
