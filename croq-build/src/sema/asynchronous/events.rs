//! Events: declarations, `wait`, `trigger`, and copies that complete them (language 06).

use std::collections::BTreeMap;

use crate::diagnostics::Diagnostic;
use crate::ir::{
    Buffer, BufferId, Engine, Event, EventAt, EventId, FutureId, Scalar, Slot, Stmt, StmtKind,
    Storage,
};
use crate::sema::asynchronous::{flags, futures, signals};
use crate::sema::build;
use crate::sema::checks::unsupported;
use crate::sema::levels::{clusters, instances};
use crate::sema::memory::{buffers, data};
use crate::sema::names::{params, scope};
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::sema::values::arith;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, EventItem, Name};

/// Phases of so many slots fit into one word of each thread.
const SLOTS: u64 = 64;

pub(crate) fn declare_all(
    el: &mut Elab<'_>,
    storage: Option<&(ast::Storage, Span)>,
    count: Option<&ast::Expr>,
    items: &[EventItem],
    span: Span,
) {
    match (storage.map(|s| s.0), el.kernel.is_some()) {
        (None | Some(ast::Storage::Global), false) => {
            return signals::declare_all(el, count, items, span);
        }
        (Some(ast::Storage::Local), true) => return flags::declare_all(el, count, items),
        _ => {}
    }
    let placed = check_place(el, storage, span);
    let count = count.map(|e| (params::constant(el, e), e.span));
    let count = match count {
        None => Some(None),
        Some((Some(n @ 1..=1024), at)) => Some(Some((u32::try_from(n).unwrap_or(1), at))),
        Some((_, at)) => {
            el.cx.report(
                Diagnostic::new("E0435", at, "an event counts 1 to 1024 threads, known here")
                    .label("no such number")
                    .help("write a constant, or leave it out: croq counts who triggers"),
            );
            None
        }
    };
    for item in items {
        let entity = match (placed, count) {
            (Some(()), Some(count)) => declare_one(el, item, count),
            _ => None,
        };
        let entity = entity.map_or(Entity::Poison, Entity::Event);
        scope::declare(el, &item.name, entity);
    }
}

fn check_place(
    el: &mut Elab<'_>,
    storage: Option<&(ast::Storage, Span)>,
    span: Span,
) -> Option<()> {
    let in_kernel = el.kernel.is_some();
    let at = storage.map_or(span, |s| s.1);
    match (storage.map(|s| s.0), in_kernel) {
        (Some(ast::Storage::Global), true) => {
            el.cx.report(
                Diagnostic::new("E1001", at, "a `global` event belongs to the host")
                    .label("declared in a kernel")
                    .help("write `shared event`"),
            );
            None
        }
        (Some(ast::Storage::Shared | ast::Storage::Local), false) => {
            el.cx.report(
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
        (_, true) if el.path.in_region() => {
            el.cx.report(
                Diagnostic::new("E0564", span, "an event declared inside `inthreads`")
                    .label("its mbarrier is made ready for all threads of the block")
                    .help("declare it before the `inthreads`"),
            );
            None
        }
        _ => Some(()),
    }
}

fn declare_one(el: &mut Elab<'_>, item: &EventItem, count: Option<(u32, Span)>) -> Option<EventId> {
    let mut array = Vec::new();
    for extent in &item.array {
        array.push(buffers::array_extent(el, extent, "event")?);
    }
    let name = &item.name;
    let slots: u64 = crate::sema::memory::buffers::elements_of(&array);
    if slots > SLOTS {
        unsupported::report(
            el,
            name.span,
            &format!("an array of more than {SLOTS} events"),
        );
        return None;
    }
    let slots = u32::try_from(slots).unwrap_or(1);
    let barriers = BufferId(u32::try_from(el.f.buffers.len()).unwrap_or(u32::MAX));
    let extent = Sym::int(i64::from(slots));
    el.f.buffers.push(Buffer {
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
    let id = EventId(u32::try_from(el.f.events.len()).unwrap_or(u32::MAX));
    el.f.events.push(Event {
        name: name.text.clone(),
        span: name.span,
        kernel: el.f.kernels.len(),
        barriers,
        slots,
        ready: item.ready.is_some(),
        count,
        phases: None,
        clustered: false,
        sites: Vec::new(),
    });
    el.asynchronous.events.arrays.insert(id, array);
    Some(id)
}

/// Whether an expression names an event, or some of its slots.
pub(crate) fn names_event(el: &Elab<'_>, e: &ast::Expr) -> Option<EventId> {
    match &*e.kind {
        ast::ExprKind::Name(name) => match el.names.find(name).map(|b| &b.entity) {
            Some(Entity::Event(id)) => Some(*id),
            _ => None,
        },
        ast::ExprKind::Subscript(inner, _)
        | ast::ExprKind::At(inner, _)
        | ast::ExprKind::Paren(inner) => names_event(el, inner),
        _ => None,
    }
}

/// The slots that an operand means. `joined`: its order may not be counted up here.
fn lower_operand(el: &mut Elab<'_>, e: &ast::Expr, joined: bool) -> Option<EventAt> {
    let id = names_event(el, e)?;
    let slot = lower_slot(el, id, e, joined)?;
    Some(EventAt {
        event: id,
        slot,
        cluster: false,
        span: e.span,
    })
}

fn lower_slot(el: &mut Elab<'_>, id: EventId, e: &ast::Expr, joined: bool) -> Option<Slot> {
    let array = el
        .asynchronous
        .events
        .arrays
        .get(&id)
        .cloned()
        .unwrap_or_default();
    match &*e.kind {
        ast::ExprKind::Paren(inner) => lower_slot(el, id, inner, joined),
        ast::ExprKind::Name(name) => {
            scope::lookup(el, name, e.span);
            Some(if array.is_empty() {
                Slot::At(Sym::zero())
            } else {
                Slot::All
            })
        }
        ast::ExprKind::At(inner, args) => {
            lower_slot(el, id, inner, joined);
            lower_order(el, id, &array, args, e.span, joined)
        }
        _ => {
            let mut subscripts = Vec::new();
            let mut root = e;
            while let ast::ExprKind::Subscript(inner, list) = &*root.kind {
                subscripts.splice(0..0, list.iter());
                root = inner;
            }
            lower_slot(el, id, root, joined);
            let name = el.f.event(id).name.clone();
            let slot = slot_at(el, &name, &array, &subscripts, e.span);
            slot.map(Slot::At)
        }
    }
}

/// `e[i][j]`
pub(crate) fn slot_at(
    el: &mut Elab<'_>,
    name: &str,
    array: &[u64],
    subscripts: &[&ast::Expr],
    span: Span,
) -> Option<Sym> {
    if array.is_empty() {
        el.cx.report(
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
        el.cx.report(
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
        let v = el.expression(index);
        let i = arith::to_sym(el, v, index.span)?;
        let extent = Sym::int(i64::try_from(*extent).unwrap_or(i64::MAX));
        let what = |n: &str| format!("the subscript of `{n}`");
        let zero = Sym::zero();
        if !data::check_inside(
            el, "E0437", "R13", &i, &zero, &extent, index.span, &what, name,
        ) {
            return None;
        }
        slot = &(&slot * &extent) + &i;
    }
    Some(slot)
}

/// `e.at(order)`
fn lower_order(
    el: &mut Elab<'_>,
    id: EventId,
    array: &[u64],
    args: &[ast::Expr],
    span: Span,
    joined: bool,
) -> Option<Slot> {
    let name = el.f.event(id).name.clone();
    let (code, text) = match array.len() {
        0 => ("E1020", "is one event, not an array"),
        1 => ("", ""),
        _ => ("E1021", "is an array of several dimensions"),
    };
    if !code.is_empty() {
        el.cx.report(
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
        el.cx.report(
            Diagnostic::new("E1023", span, "an order is one integer")
                .label(format!("{} given", args.len())),
        );
        return None;
    };
    let counted = matches!(&*order.kind, ast::ExprKind::Increment { .. });
    if counted && joined {
        el.cx.report(
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
        el.cx.report(
            Diagnostic::new("E1022", order.span, "`++` inside the order of an event")
                .label("only the whole order may be counted up")
                .help("write `e.at(n++)`, or count in a statement of its own"),
        );
        return None;
    }
    let v = el.expression(order);
    if v.is_error() {
        return None;
    }
    match is_int(&v) {
        true => arith::to_sym(el, v, order.span).map(Slot::Order),
        false => {
            let kind = v.kind();
            el.cx.report(
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

fn is_int(v: &crate::sema::state::value::Value) -> bool {
    match v {
        crate::sema::state::value::Value::Int(_) => true,
        crate::sema::state::value::Value::Scalar(e) => e.ty.is_integer() || e.ty == Scalar::Index,
        _ => false,
    }
}

pub(crate) fn wait(el: &mut Elab<'_>, e: &ast::Expr, span: Span) {
    let Some(at) = lower_operand(el, e, false) else {
        return;
    };
    check_outside_regions(el, "W1005", e, "waited for");
    instances::warn_if_not_all_arrive(el, span, "a `wait`");
    build::emit(el, StmtKind::WaitEvent(at), span);
}

fn check_outside_regions(el: &mut Elab<'_>, code: &'static str, e: &ast::Expr, what: &str) {
    let Some(k) = el.kernel.as_ref().filter(|_| !el.path.in_region()) else {
        return;
    };
    let threads = k.threads.count.as_ref().and_then(Sym::as_int);
    let who = threads.map_or_else(|| "all threads".to_owned(), |n| format!("all {n} threads"));
    let name = el.cx.file.snippet(e.span).to_owned();
    el.cx.report(
        Diagnostic::new(
            code,
            e.span,
            format!("`{name}` is {what} outside `inthreads`"),
        )
        .label(format!("by {who} of the block"))
        .help("events are for threads that run different code: put it into an `inthreads.async`"),
    );
}

pub(crate) fn trigger(
    el: &mut Elab<'_>,
    cluster: bool,
    events: &[ast::Expr],
    after: &[Name],
    span: Span,
) {
    let cluster = cluster && el.kernel.is_some() && clusters::check_trigger(el, after, span);
    if !after.is_empty() {
        if events.iter().any(|e| signals::report_not_of_a_block(el, e)) {
            return;
        }
        trigger_after(el, events, after, span);
        return;
    }
    for e in events {
        if signals::trigger(el, e, cluster, span) {
            continue;
        }
        if let Some(mut at) = lower_trigger_operand(el, e, false) {
            at.cluster = cluster;
            if let (true, Some(event)) = (cluster, el.f.events.get_mut(at.event.index())) {
                event.clustered = true;
            }
            arrive(el, at, span);
        }
    }
}

fn arrive(el: &mut Elab<'_>, at: EventAt, span: Span) {
    let divergent = el.path.is_divergent();
    if divergent && el.f.event(at.event).count.is_none() {
        let name = el.f.event(at.event).name.clone();
        el.cx.report(
            Diagnostic::new(
                "E1016",
                span,
                format!(
                    "who triggers `{name}` is not known: threads differ about a condition around"
                ),
            )
            .label("arrives, if it comes here")
            .help(format!(
                "use `inthreads` instead of `if`, or say how many arrive: `event<n> {name}`"
            )),
        );
        return;
    }
    build::emit(el, StmtKind::Trigger(at), span);
}

/// An operand of `trigger`.
fn lower_trigger_operand(el: &mut Elab<'_>, e: &ast::Expr, joined: bool) -> Option<EventAt> {
    if names_event(el, e).is_some() {
        let at = lower_operand(el, e, joined)?;
        check_outside_regions(el, "W1006", e, "triggered");
        return Some(at);
    }
    let ast::ExprKind::Name(name) = &*e.kind else {
        report_not_an_event(el, e.span, "this is none");
        return None;
    };
    match scope::lookup(el, name, e.span)? {
        Entity::Poison => {}
        Entity::Future(_) => el.cx.report(
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
            report_not_an_event(el, e.span, &format!("`{name}` is {kind}"));
        }
    }
    None
}

fn report_not_an_event(el: &mut Elab<'_>, at: Span, what: &str) {
    el.cx.report(
        Diagnostic::new("E1014", at, format!("`trigger` takes events, {what}"))
            .label("nothing to trigger")
            .help("declare it: `shared event e;`"),
    );
}

/// `trigger e after f, g;`
fn trigger_after(el: &mut Elab<'_>, events: &[ast::Expr], after: &[Name], span: Span) {
    let [event] = events else {
        el.cx.report(
            Diagnostic::new("E1030", span, "copies complete one event")
                .label(format!("{} events", events.len()))
                .help("write `trigger e after f;`, and trigger the others on their own"),
        );
        return;
    };
    let Some(at) = lower_trigger_operand(el, event, after.len() > 1) else {
        return;
    };
    if at.slot == Slot::All {
        let name = el.f.event(at.event).name.clone();
        el.cx.report(
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
        ok &= bind_copy(el, name, &at, span).is_some();
    }
    if ok {
        arrive(el, at, span);
    }
}

/// The copy of this name will complete an event.
fn bind_copy(el: &mut Elab<'_>, name: &Name, at: &EventAt, span: Span) -> Option<()> {
    let id = match scope::lookup(el, &name.text, name.span)? {
        Entity::Poison => return None,
        Entity::Future(id) => id,
        Entity::Operation(_) => {
            let text = format!(
                "`{}` is a product, whose end only its warpgroup sees",
                name.text
            );
            el.cx.report(
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
            el.cx
                .report(Diagnostic::new("E1037", name.span, text).label("completes nothing"));
            return None;
        }
    };
    let future = futures::get(el, id)?;
    let (is_async, by_tma, any) = (future.is_async, future.by_tma, future.any);
    let dest = future.data.as_ref().map(|d| d.view.buffer);
    let dest = dest.and_then(|id| el.f.buffers.get(id.index()));
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
        el.cx.report(
            Diagnostic::new(code, name.span, format!("`{}` {what}", name.text))
                .label("not by the copy engine alone")
                .help(help),
        );
        return None;
    }
    if let Some(before) = el.asynchronous.events.waited.get(&id).copied() {
        el.cx.report(
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
    if let Some((_, before)) = el.asynchronous.events.bound.get(&id).cloned() {
        el.cx.report(
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
    el.asynchronous.events.bound.insert(id, (at.clone(), span));
    Some(())
}

/// Whether a named copy completes an event, so that nobody need wait for it.
pub(crate) fn completed_event(el: &Elab<'_>, id: FutureId) -> Option<Span> {
    el.asynchronous.events.bound.get(&id).map(|(_, at)| *at)
}

/// Copies that a later `trigger … after` has bound are told where to arrive.
pub(crate) fn bind_copies(el: &mut Elab<'_>) {
    let bound = std::mem::take(&mut el.asynchronous.events.bound);
    if bound.is_empty() {
        return;
    }
    let mut apart = Vec::new();
    for kernel in &mut el.f.kernels {
        bind(&mut kernel.body, &bound, &mut apart);
    }
    for (copy, trigger) in apart {
        el.cx.report(
                Diagnostic::new("E1037", trigger, "a copy completes an event only from beside the `trigger`")
                    .label("in another block than the copy")
                    .also(copy, "begun here")
                    .help("put both into the same block, or name the event at the copy: `tma.copy.async<e> …`"),
            );
    }
}

/// The event that a copy names for itself: `tma.copy.async<e[s]>`.
pub(crate) fn event_of_copy(el: &mut Elab<'_>, e: &ast::Expr) -> Option<EventAt> {
    if signals::report_not_of_a_block(el, e) {
        return None;
    }
    if names_event(el, e).is_none() {
        let v = el.cx.file.snippet(e.span).to_owned();
        el.cx.report(
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
    let at = lower_operand(el, e, true)?;
    if at.slot == Slot::All {
        let name = el.f.event(at.event).name.clone();
        el.cx.report(
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
