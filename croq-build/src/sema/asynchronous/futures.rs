//! Data futures: the names of copies, and the data that they refer to.
//!
//! A future that `swap`, `rotate` or `dma.any` uses is a *moving* one: the location of its data
//! changes at run time. All futures that are exchanged with each other have their tiles in one
//! buffer, and each has a small integer, its handle, which is the number of its tile. Exchanging
//! futures exchanges handles; no data moves, and compilers keep handles in registers or remove them
//! by unrolling.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{
    self, Expr, ExprKind, FutureId, Level, LocalId, Role, Scalar, Stmt, StmtKind, Storage, View,
};
use crate::sema::asynchronous::rebound;
use crate::sema::build;
use crate::sema::checks::unsupported;
use crate::sema::memory::buffer_pools;
use crate::sema::names::scope;
use crate::sema::state::asynchronous::{Future, Handle, Home, Nesting, Place, Reach};
use crate::sema::state::elab::Elab;
use crate::sema::state::path::RegionAt;
use crate::sema::state::scopes::Entity;
use crate::sema::state::value::{Data, Value};
use crate::sema::values::shape;
use crate::sorted::SortedMap;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::Name;

/// `f = dma.any;`
pub(crate) fn declare_placeholder(el: &mut Elab<'_>, name: &Name, span: Span) {
    if el.kernel.is_none() {
        let id = new(el, name, true, None);
        return scope::declare(el, name, Entity::Future(id));
    }
    let handle = handle_of_placeholder(el, name, span);
    if let Some(handle) = &handle {
        build::emit(el, first_value(handle.local, span), span);
    }
    let id = new(el, name, true, handle);
    scope::declare(el, name, Entity::Future(id));
}

/// A handle for a placeholder that is exchanged somewhere; its first copy sets the tile's number.
fn handle_of_placeholder(el: &mut Elab<'_>, name: &Name, span: Span) -> Option<Handle> {
    let handle = handle_for(el, name)?;
    let local = handle.local;
    el.asynchronous.first_tiles.insert(local, Sym::zero());
    el.build.declared_at.insert(local, el.path.depth());
    if let Some(local) = el.f.locals.get_mut(local.index()) {
        local.span = span;
    }
    Some(handle)
}

fn first_value(local: LocalId, span: Span) -> StmtKind {
    StmtKind::Let {
        local,
        value: Some(Expr::index(Sym::zero(), span)),
    }
}

/// Declares the placeholders of the host anew for a kernel: in each launch nothing is copied into
/// them at first. One that the host has copied into keeps its meaning.
pub(crate) fn declare_placeholders_of_the_host(el: &mut Elab<'_>) -> Vec<FutureId> {
    let mut visible: SortedMap<String, Entity> = SortedMap::new();
    for binding in el.names.visible() {
        visible.insert(binding.name.clone(), binding.entity.clone());
    }
    let mut made = Vec::new();
    for (text, entity) in visible {
        let Entity::Future(of) = entity else { continue };
        let empty = get(el, of).filter(|f| f.any && f.data.is_none());
        let Some((span, failed)) = empty.map(|f| (f.span, f.failed)) else {
            continue;
        };
        let name = Name { text, span };
        let handle = handle_of_placeholder(el, &name, span);
        let id = new(el, &name, true, handle);
        if let Some(future) = el.asynchronous.futures.get_mut(id.index()) {
            future.home = Home::PlaceholderOf(of);
            future.failed = failed;
        }
        scope::declare(el, &name, Entity::Future(id));
        made.push(id);
    }
    made
}

/// What begins a kernel that copies into placeholders of the host.
pub(crate) fn first_statements(el: &Elab<'_>, placeholders: &[FutureId]) -> Vec<Stmt> {
    let bound = placeholders.iter().filter_map(|id| get(el, *id));
    let bound = bound.filter(|f| f.data.is_some());
    let first = |f: &Future| {
        let handle = f.handle.as_ref()?;
        Some(Stmt::new(first_value(handle.local, f.span), f.span))
    };
    bound.filter_map(first).collect()
}

fn new_handle(func: &mut ir::Function, name: &str, span: Span) -> Handle {
    let name = format!("{name}_tile");
    Handle {
        local: build::new_local(func, &name, Scalar::Index, true, Role::Value, span),
        pool: None,
        tile: Sym::zero(),
    }
}

pub(crate) fn new(el: &mut Elab<'_>, name: &Name, any: bool, handle: Option<Handle>) -> FutureId {
    let id = FutureId(u32::try_from(el.asynchronous.futures.len()).unwrap_or(u32::MAX));
    el.asynchronous.futures.push(Future {
        name: name.text.clone(),
        span: name.span,
        any,
        is_async: false,
        at_once: false,
        by_tma: false,
        data: None,
        level: Level::Block,
        handle,
        nesting: Nesting {
            scopes: el.names.depth(),
            blocks: el.names.depth().saturating_sub(el.choices.scopes),
            loops: el.names.walk.loops.len(),
        },
        home: match el.kernel {
            Some(_) => Home::Kernel,
            None => Home::Host,
        },
        failed: false,
        regions: Vec::new(),
        place: Place {
            lists: el.build.sinks.len(),
            locals: el.f.locals.len(),
        },
        reach: Reach::default(),
    });
    el.f.futures.push(ir::Future {
        name: name.text.clone(),
        span: name.span,
        tile: None,
    });
    id
}

pub(crate) fn get<'c>(el: &'c Elab<'_>, id: FutureId) -> Option<&'c Future> {
    el.asynchronous.futures.get(id.index())
}

/// The binding of a copy's name before the copy.
pub(crate) fn name_of_copy(el: &mut Elab<'_>, name: Option<&Name>) -> Bound {
    let Some(name) = name else {
        return Bound::Nothing;
    };
    let Some(b) = el.names.find(&name.text) else {
        return Bound::New;
    };
    let declared = b.span;
    let entity = b.entity.clone();
    if let Entity::Future(id) = entity
        && get(el, id).is_some_and(|f| f.any)
    {
        if let Some(b) = el.names.find_mut(&name.text) {
            b.used = true;
        }
        return Bound::Again(id);
    }
    if !el.names.in_innermost(&name.text) {
        return Bound::New;
    }
    let (code, text) = match entity {
        Entity::Future(_) => (codes::E0844, "is bound to a copy already".to_owned()),
        Entity::Poison => return Bound::Refused,
        ref other => (codes::E0205, format!("is {} already", other.kind())),
    };
    let help = if code == codes::E0844 {
        format!(
            "give the copy another name, or declare `{} = dma.any;` first",
            name.text
        )
    } else {
        "give the copy another name".to_owned()
    };
    el.cx.report(
        Diagnostic::new(code, name.span, format!("`{}` {text}", name.text))
            .label("bound again here")
            .also(declared, "first bound here")
            .help(help),
    );
    Bound::Refused
}

/// The future as the value of an operand.
pub(crate) fn value_of(el: &mut Elab<'_>, id: FutureId, span: Span) -> Value {
    let Some(future) = get(el, id) else {
        return Value::Error;
    };
    let (name, declared, failed) = (future.name.clone(), future.span, future.failed);
    if is_unplaced(el, id) {
        rebound::report_elsewhere(el, &name, span);
        return Value::Error;
    }
    if future.reach.unclear {
        rebound::report_unclear(el, &name, span);
        return Value::Error;
    }
    match data_of(el, id, span) {
        Some(data) => Value::Data(Data {
            span,
            name,
            future: Some(id),
            ..data
        }),
        None if failed => Value::Error,
        None => {
            el.cx.report(
                Diagnostic::new(
                    codes::E0877,
                    span,
                    format!("no copy is assigned to `{name}` yet"),
                )
                .label("nothing was copied into it")
                .also(declared, "a placeholder")
                .help(format!("bind it first: `{name} = dma.copy … => shared;`")),
            );
            Value::Error
        }
    }
}

/// Whether a future is exchanged whose copies go from each thread to device memory: they are over
/// after their statements, and nothing but a `wait` may name them.
pub(crate) fn is_unplaced(el: &Elab<'_>, id: FutureId) -> bool {
    get(el, id).is_some_and(|f| {
        let unplaced = f
            .handle
            .as_ref()
            .is_some_and(|handle| handle.pool.is_none());
        unplaced && f.at_once && f.data.is_some()
    })
}

/// The data that a future refers to at this point.
pub(crate) fn data_of(el: &mut Elab<'_>, id: FutureId, span: Span) -> Option<Data> {
    let future = get(el, id)?;
    let data = future.data.clone()?;
    let Some(handle) = future.handle.clone() else {
        return Some(data);
    };
    let name = future.name.clone();
    let now = build::new_local(
        &mut el.f,
        &format!("{name}_at"),
        Scalar::Index,
        false,
        Role::Value,
        span,
    );
    let value = Expr::new(ExprKind::Local(handle.local), Scalar::Index, span);
    build::emit(
        el,
        StmtKind::Let {
            local: now,
            value: Some(value),
        },
        span,
    );
    let var = build::local_var(&mut el.f, now, Some(Sym::zero()), None);
    let mut view = data.view.clone();
    if let Some(pool) = handle.pool {
        view.buffer = pool;
    }
    view.offset = &handle.tile * &Sym::var(var);
    view.span = span;
    Some(Data { view, ..data })
}

/// Emits a statement that marks a use of the future's data by the next statement, so that a use
/// while the copy is still in flight is reported.
pub(crate) fn emit_use(el: &mut Elab<'_>, data: &Data, span: Span) {
    if let Some(id) = data.future
        && get(el, id).is_some_and(|f| f.is_async)
    {
        build::emit(el, StmtKind::UseFuture(id), span);
    }
}

/// The destination of a copy into storage whose name is a placeholder that already has a type.
pub(crate) fn destination_of_rebound(
    el: &mut Elab<'_>,
    id: FutureId,
    elem: Scalar,
    shape: &[Sym],
    storage: Storage,
    at: Span,
) -> Option<Option<View>> {
    let Some(first) = get(el, id).and_then(|f| f.data.clone()) else {
        return Some(None);
    };
    let b = el.f.buffer(first.view.buffer);
    let same = b.elem == elem
        && b.storage == storage
        && first.view.shape.len() == shape.len()
        && (first.view.shape.iter().zip(shape)).all(|(a, b)| el.f.cx.eq(a, b).is_yes());
    if !same {
        let (was, is) = (
            format!("{} {}", b.elem, shape::show(&el.f, &first.view.shape)),
            format!("{elem} {}", shape::show(&el.f, shape)),
        );
        let (name, declared) = get(el, id)
            .map(|f| (f.name.clone(), f.span))
            .unwrap_or_default();
        el.cx.report(
            Diagnostic::new(
                codes::E0835,
                at,
                format!("`{name}` is a future of `{was}`, this copy makes `{is}`"),
            )
            .label("another type")
            .also(declared, "declared here")
            .help("use a placeholder of its own for each type"),
        );
        return None;
    }
    let view = data_of(el, id, at)?.view;
    Some(Some(view))
}

/// How a copy fills a future.
pub(crate) struct Manner {
    /// The level of the unit whose threads share the copy.
    pub level: Level,
    pub is_async: bool,
    /// The copy is complete after its statement.
    pub at_once: bool,
    pub by_tma: bool,
    /// Whether the destination is a buffer that only the future names.
    pub fresh: bool,
}

/// Binds a future to the result of a copy. For a moving future, adds its tile to the pool of its
/// group.
pub(crate) fn bind(
    el: &mut Elab<'_>,
    id: FutureId,
    data: Data,
    manner: Manner,
    at: Span,
) -> Option<()> {
    let Manner {
        level,
        is_async,
        at_once,
        by_tma,
        fresh,
    } = manner;
    let first = get(el, id).is_some_and(|f| f.data.is_none());
    if !first && get(el, id)?.by_tma != by_tma {
        let (name, declared) = (get(el, id)?.name.clone(), get(el, id)?.span);
        el.cx.report(
            Diagnostic::new(
                codes::E0835,
                at,
                format!("`{name}` can be a future of `dma` copies or of `tma` copies, not both"),
            )
            .label("the other engine")
            .also(declared, "declared here")
            .help("use a placeholder of its own for each"),
        );
        return None;
    }
    let own = data.view.clone();
    let regions = regions_around(el);
    rebound::note_copy(el, id, &data.view);
    if let Some(future) = el.asynchronous.futures.get_mut(id.index()) {
        future.level = level;
        future.regions = regions;
        future.is_async |= is_async;
        future.at_once = at_once;
        if first || future.handle.is_none() {
            future.by_tma = by_tma;
            future.data = Some(Data {
                future: None,
                tiled: false,
                first_tile: None,
                name: future.name.clone(),
                ..data
            });
        }
    }
    let Some(handle) = get(el, id)?.handle.clone() else {
        return Some(());
    };
    if !first && fresh {
        // The copy writes to the tile that the future already has.
        return Some(());
    }
    let storage = el.f.buffer(own.buffer).storage;
    if storage.is_global() && at_once {
        return Some(());
    }
    let tile = buffer_pools::slot_of(el, &own, by_tma);
    let group = get(el, id).and_then(|f| el.asynchronous.exchanged.get(&f.name).copied())?;
    let number = match buffer_pools::is_exchangeable(el, &own, &tile) {
        true => buffer_pools::number_in_pool(el, group, &own, &tile),
        false => None,
    };
    let Some((pool, number)) = number else {
        unsupported::report(
            &mut el.cx,
            at,
            "exchanging futures with tiles that are partial, dynamic or in global memory",
        );
        return None;
    };
    if let Some(future) = el.asynchronous.futures.get_mut(id.index())
        && let Some(handle) = &mut future.handle
    {
        handle.pool = Some(pool);
        handle.tile = tile.clone();
    }
    if let Some(future) = el.f.futures.get_mut(id.index()) {
        future.tile = Some(tile);
    }
    let value = Expr::index(number.clone(), at);
    let local = handle.local;
    match el.asynchronous.first_tiles.get_mut(&local) {
        // The handle is declared at the placeholder, which then gets this tile's number.
        Some(first) if fresh => *first = number,
        Some(_) => build::emit(el, StmtKind::Assign { local, value }, at),
        None => {
            let value = Some(value);
            build::emit(el, StmtKind::Let { local, value }, at);
        }
    }
    Some(())
}

/// A handle for a copy's new name, if that name is exchanged somewhere.
pub(crate) fn handle_for(el: &mut Elab<'_>, name: &Name) -> Option<Handle> {
    if el.kernel.is_none() || !el.asynchronous.exchanged.contains_key(&name.text) {
        return None;
    }
    Some(new_handle(&mut el.f, &name.text, name.span))
}

/// Reports placeholders that were never copied into.
pub(crate) fn report_unbound(el: &mut Elab<'_>) {
    let unbound: Vec<(String, Span)> = el
        .asynchronous
        .futures
        .iter()
        .zip(0..)
        .filter(|(f, id)| is_never_bound(el, f, FutureId(*id)))
        .map(|(f, _)| (f.name.clone(), f.span))
        .collect();
    for (name, span) in unbound {
        el.cx.report(
            Diagnostic::new(
                codes::E0845,
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

/// Records that a copy into the future is in error; what depends on it is not reported.
pub(crate) fn fail(el: &mut Elab<'_>, id: FutureId) {
    let name = get(el, id).map(|f| f.name.clone()).unwrap_or_default();
    let group = el.asynchronous.exchanged.get(&name).copied();
    let exchanged = el.asynchronous.exchanged.clone();
    let is_meant = |f: &Future| {
        f.name == name || (group.is_some() && exchanged.get(&f.name).copied() == group)
    };
    for future in &mut el.asynchronous.futures {
        future.failed |= is_meant(future);
    }
}

/// Whether it is a placeholder that nothing is copied into, in no kernel.
fn is_never_bound(el: &Elab<'_>, future: &Future, id: FutureId) -> bool {
    let mut all = el.asynchronous.futures.iter();
    let in_kernel = |f: &Future| f.home == Home::PlaceholderOf(id) && f.data.is_some();
    let of_a_kernel = matches!(future.home, Home::PlaceholderOf(_));
    let is_empty = future.any && future.data.is_none() && !future.failed;
    is_empty && !of_a_kernel && !all.any(in_kernel)
}

/// The binding of a copy's name before the copy.
pub(crate) enum Bound {
    /// The copy has no name.
    Nothing,
    New,
    /// The name is a placeholder's.
    Again(FutureId),
    /// An error was reported.
    Refused,
}

pub(crate) fn regions_around(el: &Elab<'_>) -> Vec<RegionAt> {
    let mut regions: Vec<RegionAt> = el.path.regions().map(|(_, at)| at).collect();
    regions.reverse();
    regions
}
