//! The end of a kernel, at which its placeholders are known: exchanges and waits above the first
//! copy are completed.

use crate::ir::{FutureId, Level, Stmt, StmtKind, View, Waited, any_stmt};
use crate::sema::asynchronous::{copy_events, futures, swap_rotate, wait};
use crate::sema::memory::whole;
use crate::sema::state::asynchronous::EarlyWait;
use crate::sema::state::elab::Elab;
use crate::sema::state::path::RegionAt;
use crate::syntax::ast::Name;

/// Gives tiles to placeholders that were exchanged, all of them empty, with one that now has a copy.
pub(crate) fn bind_exchanged(el: &mut Elab<'_>) {
    let mut waiting = Vec::new();
    for exchange in std::mem::take(&mut el.asynchronous.early_exchanges) {
        let ids: Vec<(FutureId, &Name)> = exchange.iter().map(|(id, name)| (*id, name)).collect();
        if !swap_rotate::bind_alike(el, &ids) {
            waiting.push(exchange);
        }
    }
    el.asynchronous.early_exchanges = waiting;
}

/// Ends a kernel.
pub(crate) fn settle(el: &mut Elab<'_>, body: &mut Vec<Stmt>) {
    el.asynchronous.early_exchanges.clear();
    let waits = std::mem::take(&mut el.asynchronous.early_waits);
    if waits.is_empty() {
        return;
    }
    let meant: Vec<Meant> = waits
        .iter()
        .map(|early| meant(el, early, follows_a_copy(el, early, body)))
        .collect();
    complete(body, &mut |futures| {
        let mut by_tma = false;
        let mut known = Vec::new();
        for waited in std::mem::take(futures) {
            let early = waits.iter().zip(&meant);
            let early = early.filter(|(early, _)| early.stand_in == waited.view.buffer);
            match early.map(|(_, meant)| meant).next() {
                Some(meant) => {
                    by_tma |= meant.by_tma;
                    known.extend(meant.views.iter().map(|view| Waited {
                        view: view.clone(),
                        level: meant.level,
                        ..waited.clone()
                    }));
                }
                None => known.push(waited),
            }
        }
        *futures = known;
        by_tma
    });
}

/// What a `wait` above the first copy waits for; without views it is nothing.
struct Meant {
    views: Vec<View>,
    level: Level,
    by_tma: bool,
}

/// Whether a loop around the `wait` has a copy into its placeholder, or into one that is exchanged.
fn follows_a_copy(el: &Elab<'_>, early: &EarlyWait, body: &[Stmt]) -> bool {
    let exchanged = |id: FutureId| futures::get(el, id).is_some_and(|f| f.handle.is_some());
    let copies = |stmt: &Stmt| {
        let into = match &stmt.kind {
            StmtKind::Copy(copy) => copy.future,
            _ => None,
        };
        into.is_some_and(|id| id == early.future || (exchanged(id) && exchanged(early.future)))
    };
    let waits = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Wait { futures, .. } => futures.iter().any(|w| w.view.buffer == early.stand_in),
        _ => false,
    };
    any_stmt(body, |stmt| {
        let blocks = || stmt.kind.blocks();
        matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. })
            && blocks().any(|block| any_stmt(block, waits))
            && blocks().any(|block| any_stmt(block, copies))
    })
}

/// `follows`: a copy of an earlier iteration can be in flight.
fn meant(el: &mut Elab<'_>, early: &EarlyWait, follows: bool) -> Meant {
    let nothing = Meant {
        views: Vec::new(),
        level: Level::Block,
        by_tma: false,
    };
    let (id, at) = (early.future, early.at);
    let Some(future) = futures::get(el, id) else {
        return nothing;
    };
    let (empty, failed, at_once) = (future.data.is_none(), future.failed, future.at_once);
    if empty || failed {
        return nothing;
    }
    if let Some(bound) = copy_events::completed_event(el, id) {
        wait::report_bound(el, id, at, bound);
        return nothing;
    }
    let outside = |region: &&RegionAt| !early.regions.contains(region);
    if let Some(apart) = future.regions.iter().find(outside).map(|r| r.span) {
        wait::report_apart(el, id, at, apart);
        return nothing;
    }
    if !future.is_async {
        wait::report_synchronous(el, id, at);
        return nothing;
    }
    if at_once || !follows {
        return nothing;
    }
    let pool = future.handle.as_ref().and_then(|handle| handle.pool);
    let buffers = match pool {
        Some(pool) => vec![pool],
        None if future.handle.is_some() => Vec::new(),
        None => match future.reach.buffers.as_slice() {
            [] => future.data.iter().map(|data| data.view.buffer).collect(),
            several => several.to_vec(),
        },
    };
    let views = buffers
        .iter()
        .map(|b| whole::whole_view(&el.f, *b, at))
        .collect();
    Meant {
        views,
        level: future.level,
        by_tma: future.by_tma,
    }
}

/// Completes each `wait`; `of` says whether it is one for TMA copies.
fn complete(stmts: &mut Vec<Stmt>, of: &mut impl FnMut(&mut Vec<Waited>) -> bool) {
    for stmt in stmts.iter_mut() {
        if let StmtKind::Wait { futures, .. } = &mut stmt.kind
            && of(futures)
        {
            let futures = std::mem::take(futures);
            stmt.kind = StmtKind::WaitTma { futures };
        }
        for block in stmt.kind.blocks_mut() {
            complete(block, of);
        }
    }
    stmts.retain(|stmt| match &stmt.kind {
        StmtKind::Wait { futures, .. } => !futures.is_empty(),
        _ => true,
    });
}
