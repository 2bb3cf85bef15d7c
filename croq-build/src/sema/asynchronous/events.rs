//! Events: declarations, and the operands of `wait` and `trigger` (language 06).

use crate::diagnostics::{Code, Diagnostic, codes};
use crate::ir::{Buffer, Event, EventAt, EventId, Scalar, Sharing, StmtKind, Storage};
use crate::sema::asynchronous::{flags, signals, slots};
use crate::sema::build;
use crate::sema::checks::unsupported;
use crate::sema::levels::instances;
use crate::sema::memory::arrays;
use crate::sema::names::scope;
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::sema::values::constants;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, EventItem};

/// The most slots of an event: each thread has one word for their phases.
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
    let count = count.map(|e| (constants::constant(e), e.span));
    let count = match count {
        None => Some(None),
        Some((Some(n @ 1..=1024), at)) => Some(Some((u32::try_from(n).unwrap_or(1), at))),
        Some((_, at)) => {
            el.cx.report(
                Diagnostic::new(
                    codes::E0435,
                    at,
                    "an event counts 1 to 1024 threads, known here",
                )
                .label("no such number")
                .help("write a constant, or omit it: croq counts the triggering threads"),
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
                Diagnostic::new(codes::E1001, at, "a `global` event belongs to the host")
                    .label("declared in a kernel")
                    .help("write `shared event`"),
            );
            None
        }
        (Some(ast::Storage::Shared | ast::Storage::Local), false) => {
            el.cx.report(
                Diagnostic::new(
                    codes::E1002,
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
                Diagnostic::new(codes::E0564, span, "an event declared inside `inthreads`")
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
        array.push(arrays::array_extent(el, extent, "event")?);
    }
    let name = &item.name;
    let slots: u64 = crate::sema::memory::arrays::elements_of(&array);
    if slots > SLOTS {
        unsupported::report(
            &mut el.cx,
            name.span,
            &format!("an array of more than {SLOTS} events"),
        );
        return None;
    }
    let slots = u32::try_from(slots).unwrap_or(1);
    let extent = Sym::int(i64::from(slots));
    let barriers = el.f.add_buffer(Buffer::line(
        name.text.clone(),
        Scalar::U64,
        Storage::Mbarriers,
        extent,
        name.span,
    ));
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
        one_slot_each: false,
        only_reads: false,
        sites: Vec::new(),
    });
    el.asynchronous.events.arrays.insert(id, array);
    if el.path.in_loop() {
        // In each iteration it is a new event.
        build::emit(el, StmtKind::Alloc(barriers), name.span);
    }
    Some(id)
}

/// The slots that an operand refers to. `joined`: it is the event of a copy or of a
/// `trigger … after`, whose order must not be incremented here.
pub(crate) fn lower_operand(el: &mut Elab<'_>, e: &ast::Expr, joined: bool) -> Option<EventAt> {
    let id = slots::event_named(el, e)?;
    let slot = slots::lower_slot(el, id, e, joined)?;
    Some(EventAt {
        event: id,
        slot,
        cluster: false,
        sharing: Sharing::default(),
        span: e.span,
    })
}

pub(crate) fn wait(el: &mut Elab<'_>, e: &ast::Expr, span: Span) {
    let Some(at) = lower_operand(el, e, false) else {
        return;
    };
    check_outside_regions(el, codes::W1005, e, "waited for");
    instances::warn_if_some_have_left(el, span, "a `wait`");
    build::emit(el, StmtKind::WaitEvent(at), span);
}

fn check_outside_regions(el: &mut Elab<'_>, code: Code, e: &ast::Expr, what: &str) {
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

pub(crate) fn arrive(el: &mut Elab<'_>, at: EventAt, span: Span) {
    let divergent = el.path.is_divergent();
    if divergent && el.f.event(at.event).count.is_none() {
        let name = el.f.event(at.event).name.clone();
        el.cx.report(
            Diagnostic::new(
                codes::E1016,
                span,
                format!(
                    "the threads that trigger `{name}` are not known: a condition around the `trigger` diverges"
                ),
            )
            .label("a thread arrives only if it reaches this")
            .help(format!(
                "use `inthreads` instead of `if`, or say how many arrive: `event<n> {name}`"
            )),
        );
        return;
    }
    build::emit(el, StmtKind::Trigger(at), span);
}

/// An operand of `trigger`.
pub(crate) fn lower_trigger_operand(
    el: &mut Elab<'_>,
    e: &ast::Expr,
    joined: bool,
) -> Option<EventAt> {
    if slots::event_named(el, e).is_some() {
        let at = lower_operand(el, e, joined)?;
        check_outside_regions(el, codes::W1006, e, "triggered");
        return Some(at);
    }
    let ast::ExprKind::Name(name) = &*e.kind else {
        report_not_an_event(&mut el.cx, e.span, "this is none");
        return None;
    };
    match scope::lookup(el, name, e.span)? {
        Entity::Poison => {}
        Entity::Future(_) => el.cx.report(
            Diagnostic::new(
                codes::E1015,
                e.span,
                format!("`{name}` is a copy: it can't be triggered"),
            )
            .label("arrives on its own")
            .help(format!(
                "`wait {name};`, or let it complete an event: `trigger e after {name};`"
            )),
        ),
        other => {
            let kind = other.kind();
            report_not_an_event(&mut el.cx, e.span, &format!("`{name}` is {kind}"));
        }
    }
    None
}

fn report_not_an_event(cx: &mut Cx<'_>, at: Span, what: &str) {
    cx.report(
        Diagnostic::new(codes::E1014, at, format!("`trigger` takes events, {what}"))
            .label("nothing to trigger")
            .help("declare it: `shared event e;`"),
    );
}
