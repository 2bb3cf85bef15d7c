//! Verifies statements.

use super::super::*;
use super::expr;
use super::fragments;
use super::verifier::Verifier;
use crate::sorted::SortedSet;

pub(super) fn kernel<P: Phase>(v: &mut Verifier<'_, P>, id: KernelId) {
    let Some(kernel) = v.function.kernels.get(id.index()) else {
        return;
    };
    v.kernel = Some(id);
    v.level = Level::Block;
    v.unit = Level::Block;
    for sym in kernel
        .grid
        .iter()
        .chain([&kernel.threads, &kernel.shared_bytes])
    {
        v.sym(sym);
    }
    for placed in &kernel.shared {
        v.declared_buffer(placed.buffer);
        v.sym(&placed.offset);
    }
    for map in &kernel.maps {
        v.declared_buffer(map.buffer);
        let rank = map.extents.len();
        let same = map.strides.len() == rank && map.extent_of_box.len() == rank;
        v.require(same, || "a tensor map's lists differ in length".to_owned());
    }
    v.allocated = allocated(&kernel.body);
    v.begun.exchanged = exchanged(&kernel.body);
    block(v, &kernel.body);
    v.kernel = None;
}

/// Memory that statements in a kernel allocate.
fn allocated<P: Phase>(stmts: &[Stmt<P>]) -> SortedSet<BufferId> {
    let mut found = SortedSet::new();
    for stmt in stmts {
        if let StmtKind::Alloc(id) = &stmt.kind {
            found.insert(*id);
        }
        for block in stmt.kind.blocks() {
            found.extend(allocated(block));
        }
    }
    found
}

/// Futures that statements in a kernel exchange.
fn exchanged<P: Phase>(stmts: &[Stmt<P>]) -> SortedSet<FutureId> {
    let mut found = SortedSet::new();
    for stmt in stmts {
        if let StmtKind::Rotate { futures } = &stmt.kind {
            found.extend(P::only(futures));
        }
        for block in stmt.kind.blocks() {
            found.extend(exchanged(block));
        }
    }
    found
}

/// Verifies a block; its declarations go out of scope at its end.
pub(super) fn block<'a, P: Phase>(v: &mut Verifier<'a, P>, stmts: &'a [Stmt<P>]) {
    let before = v.enter();
    open_block(v, stmts);
    v.leave(before);
}

fn open_block<'a, P: Phase>(v: &mut Verifier<'a, P>, stmts: &'a [Stmt<P>]) {
    for one in stmts {
        if v.found.is_some() {
            return;
        }
        v.current.push(one);
        stmt(v, one);
        v.current.pop();
    }
}

pub(super) fn on_host<P: Phase>(v: &mut Verifier<'_, P>) {
    let host = v.kernel.is_none();
    v.require(host, || "a host statement is in a kernel".to_owned());
}

pub(super) fn in_kernel<P: Phase>(v: &mut Verifier<'_, P>) {
    let kernel = v.kernel.is_some();
    v.require(kernel, || "a kernel statement is on the host".to_owned());
}

pub(super) fn stmt<'a, P: Phase>(v: &mut Verifier<'a, P>, stmt: &'a Stmt<P>) {
    match &stmt.kind {
        StmtKind::Let { local, value } => {
            if let Some(value) = value {
                expr::expr(v, value);
                if let Some(declared) = v.function.locals.get(local.index()) {
                    expr::typed(v, "a local's first value", value.ty, declared.ty);
                }
            }
            v.declare(*local);
        }
        StmtKind::Assign { local, value } => {
            v.local(*local);
            expr::expr(v, value);
            if let Some(declared) = v.function.locals.get(local.index()) {
                expr::typed(v, "an assigned value", value.ty, declared.ty);
            }
        }
        StmtKind::Store {
            access,
            op: _,
            value,
        } => {
            expr::expr(v, value);
            if let Some(elem) = expr::access(v, access) {
                expr::typed(v, "a stored value", value.ty, elem);
            }
        }
        StmtKind::Atomic(atomic) => {
            in_kernel(v);
            expr::access(v, &atomic.access);
            atomic.operands().for_each(|e| expr::expr(v, e));
            atomic.result.into_iter().for_each(|id| v.declare(id));
        }
        StmtKind::For {
            local,
            lo,
            hi,
            step,
            body,
            ..
        } => {
            [lo, hi, step].into_iter().for_each(|s| v.sym(s));
            let before = v.enter();
            v.declare(*local);
            v.begin(body);
            v.loops += 1;
            open_block(v, body);
            v.loops -= 1;
            v.leave(before);
        }
        StmtKind::While {
            prelude,
            cond,
            body,
        } => while_loop(v, prelude, cond, body),
        StmtKind::If {
            cond,
            then,
            otherwise,
        } => {
            expr::condition(v, cond);
            block(v, then);
            block(v, otherwise);
        }
        StmtKind::Break | StmtKind::Continue => {
            let inside = v.loops > 0;
            v.require(inside, || "it is in no loop".to_owned());
        }
        StmtKind::Parallel { level, body } => parallel(v, *level, body),
        StmtKind::SingleThread { cond, body, .. } => {
            if let Some(cond) = cond {
                expr::condition(v, cond);
            }
            single_thread(v, body);
        }
        StmtKind::Region {
            pred,
            elected_from,
            body,
            ..
        } => {
            in_kernel(v);
            expr::condition(v, pred);
            if let Some((asked, _)) = elected_from {
                expr::condition(v, asked);
            }
            block(v, body);
        }
        StmtKind::Mma(op) => {
            of_fragments(v, op);
        }
        StmtKind::Tma(op) => {
            in_kernel(v);
            tma(v, op);
        }
        kind => leaf(v, kind),
    }
}

fn single_thread<'a, P: Phase>(v: &mut Verifier<'a, P>, body: &'a [Stmt<P>]) {
    in_kernel(v);
    let around = std::mem::replace(&mut v.alone, true);
    block(v, body);
    v.alone = around;
}

fn of_fragments<'a, P: Phase>(v: &mut Verifier<'a, P>, op: &'a MmaOp<P>) {
    in_kernel(v);
    let before = v.enter();
    fragments::operation(v, op);
    if let Some(body) = op.body() {
        open_block(v, body);
        v.leave(before);
    }
}

fn while_loop<'a, P: Phase>(
    v: &mut Verifier<'a, P>,
    prelude: &'a [Stmt<P>],
    cond: &'a Expr,
    body: &'a [Stmt<P>],
) {
    let before = v.enter();
    v.begin(prelude);
    v.begin(body);
    v.loops += 1;
    open_block(v, prelude);
    expr::condition(v, cond);
    open_block(v, body);
    v.loops -= 1;
    v.leave(before);
}

fn parallel<'a, P: Phase>(v: &mut Verifier<'a, P>, level: Level, body: &'a [Stmt<P>]) {
    in_kernel(v);
    let (around, unit) = (v.level, v.unit);
    v.require(level >= around, || {
        format!("{level:?} is coarser than {around:?} around it")
    });
    v.level = level;
    v.unit = match level {
        Level::Thread => filled(v, around),
        level => level,
    };
    block(v, body);
    (v.level, v.unit) = (around, unit);
}

/// The level of the unit that a thread level inside `around` fills.
fn filled<P: Phase>(v: &Verifier<'_, P>, around: Level) -> Level {
    let id = v.kernel.map(KernelId::index);
    let kernel = id.and_then(|id| v.function.kernels.get(id));
    let threads = kernel.and_then(|k| k.threads.as_int());
    match (around, threads.and_then(|n| u32::try_from(n).ok())) {
        (Level::Warp | Level::Warpgroup, _) => around,
        (_, Some(WARP_THREADS)) => Level::Warp,
        (_, Some(WARPGROUP_THREADS)) => Level::Warpgroup,
        _ => Level::Thread,
    }
}

/// Verifies statements that have no body.
pub(super) fn leaf<'a, P: Phase>(v: &mut Verifier<'a, P>, kind: &'a StmtKind<P>) {
    match kind {
        StmtKind::Copy(of) => {
            in_kernel(v);
            copy(v, P::only(of));
        }
        StmtKind::Fill { view, value, level } => {
            v.collective(*level);
            expr::view(v, P::only(view));
            expr::expr(v, value);
        }
        StmtKind::Wait { futures, .. } | StmtKind::WaitTma { futures } => {
            for waited in P::only(futures) {
                expr::waited(v, waited);
                v.collective(waited.level);
                expr::view(v, &waited.view);
            }
        }
        StmtKind::Rotate { futures } => P::only(futures).iter().for_each(|f| expr::future(v, *f)),
        StmtKind::UseFuture(future) => expr::used(v, *P::only(future)),
        StmtKind::WaitEvent(at) | StmtKind::Trigger(at) => {
            in_kernel(v);
            expr::event_at(v, P::only(at));
        }
        StmtKind::Move(m) => {
            in_kernel(v);
            elements(v, m);
        }
        StmtKind::Check {
            check,
            cond,
            values,
        } => {
            let exists = check.index() < v.function.checks.len();
            v.require(exists, || format!("check {} does not exist", check.0));
            expr::condition(v, cond);
            values.iter().for_each(|e| expr::expr(v, e));
        }
        StmtKind::Print { parts, .. } => {
            for part in parts {
                if let PrintPart::Value(e) = part {
                    expr::expr(v, e);
                }
            }
        }
        StmtKind::Eval(e) => expr::expr(v, e),
        StmtKind::Cpp { names, .. } => {
            names.iter().for_each(|name| match name {
                CppName::Local(id) => v.local(*id),
                CppName::Buffer(id) => v.buffer(*id),
            });
        }
        StmtKind::Alloc(id) => {
            v.declared_buffer(*id);
            v.in_scope.push(*id);
        }
        StmtKind::TriggerSignal(_)
        | StmtKind::AwaitSignal { .. }
        | StmtKind::Launch(_)
        | StmtKind::Fetch(_)
        | StmtKind::Exchange(_)
        | StmtKind::Synchronize
        | StmtKind::Return(_) => of_host(v, kind),
        StmtKind::Barrier { scope, .. } => barrier(v, *scope),
        StmtKind::Registers(_) => {
            in_kernel(v);
            v.collective(Level::Warpgroup);
        }
        StmtKind::StorePair(pair) => {
            in_kernel(v);
            expr::access(v, &pair.access);
            for value in &pair.values {
                expr::expr(v, value);
                expr::typed(v, "a value of a pair", value.ty, Scalar::F32);
            }
        }
        StmtKind::CommitCopies
        | StmtKind::WaitCopies { .. }
        | StmtKind::Fence(_)
        | StmtKind::Yield => in_kernel(v),
        // Those of `stmt`.
        StmtKind::Let { .. }
        | StmtKind::Assign { .. }
        | StmtKind::Store { .. }
        | StmtKind::Atomic(_)
        | StmtKind::For { .. }
        | StmtKind::While { .. }
        | StmtKind::If { .. }
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Parallel { .. }
        | StmtKind::SingleThread { .. }
        | StmtKind::Region { .. }
        | StmtKind::Mma(_)
        | StmtKind::Tma(_) => {}
    }
}

/// Verifies what only the host has, and waits for it.
fn of_host<P: Phase>(v: &mut Verifier<'_, P>, kind: &StmtKind<P>) {
    match kind {
        StmtKind::Launch(id) => {
            on_host(v);
            let exists = id.index() < v.function.kernels.len();
            v.require(exists, || format!("kernel {} does not exist", id.0));
        }
        StmtKind::TriggerSignal(at) | StmtKind::AwaitSignal { signal: at, .. } => {
            let exists = at.signal.index() < v.function.signals.len();
            v.require(exists, || format!("signal {} does not exist", at.signal.0));
        }
        StmtKind::Fetch(id) => {
            on_host(v);
            v.buffer(*id);
        }
        StmtKind::Exchange(ids) => {
            on_host(v);
            ids.iter().for_each(|id| v.buffer(*id));
        }
        StmtKind::Synchronize => on_host(v),
        StmtKind::Return(values) => {
            on_host(v);
            let (given, declared) = (values.len(), v.function.results.len());
            v.require(given == declared, || {
                format!("{given} results are returned, {declared} declared")
            });
            values.iter().for_each(|value| returned(v, value));
        }
        _ => {}
    }
}

fn barrier<P: Phase>(v: &mut Verifier<'_, P>, scope: BarrierScope) {
    in_kernel(v);
    v.collective(unit_of(scope));
    if let BarrierScope::WarpgroupOf { group, .. } = scope {
        v.local(group);
    }
}

fn elements<P: Phase>(v: &mut Verifier<'_, P>, m: &Move) {
    let from = expr::access(v, &m.source);
    let to = expr::access(v, &m.dest);
    if let (Some(from), Some(to)) = (from, to) {
        expr::typed(v, "what is moved", from, to);
    }
    if let MoveMode::Async { inside: Some(e) } = &m.mode {
        expr::condition(v, e);
    }
}

fn returned<P: Phase>(v: &mut Verifier<'_, P>, value: &ReturnValue) {
    match value {
        ReturnValue::Scalar(e) => expr::expr(v, e),
        ReturnValue::Buffer(id) => v.buffer(*id),
    }
}

/// The unit whose threads a barrier synchronises.
fn unit_of(scope: BarrierScope) -> Level {
    match scope {
        BarrierScope::Grid | BarrierScope::Cluster => Level::Cluster,
        BarrierScope::Block => Level::Block,
        BarrierScope::Warpgroup
        | BarrierScope::WarpgroupFrom(_)
        | BarrierScope::WarpgroupOf { .. } => Level::Warpgroup,
        BarrierScope::Warp
        | BarrierScope::Named { .. }
        | BarrierScope::Arrive { .. }
        | BarrierScope::Lanes(_) => Level::Warp,
    }
}

pub(super) fn copy<P: Phase>(v: &mut Verifier<'_, P>, copy: &Copy) {
    expr::view(v, &copy.source);
    expr::view(v, &copy.dest);
    let rank = copy.source.rank();
    match &copy.transform {
        Transform::None => {}
        Transform::Transpose(perm) => {
            let mut axes = perm.clone();
            axes.sort_unstable();
            let whole = axes.iter().copied().eq(0..rank);
            v.require(whole, || format!("axes {perm:?} are no order of {rank}"));
        }
        Transform::Pad { low, value } => {
            v.require(low.len() == rank, || {
                format!("{} paddings for {rank} axes", low.len())
            });
            low.iter().for_each(|s| v.sym(s));
            expr::expr(v, value);
        }
    }
    v.collective(copy.level);
    copy.future.into_iter().for_each(|f| expr::future(v, f));
    v.begin_copy(copy);
    if let Engine::Tma(tma) = &copy.engine {
        if let Some(arrival) = &tma.arrival {
            v.buffer(arrival.barriers);
            v.sym(&arrival.slot);
        }
        if let Some(at) = &tma.event {
            expr::event_at(v, at);
        }
    }
}

pub(super) fn tma<P: Phase>(v: &mut Verifier<'_, P>, op: &TmaOp) {
    op.buffers().into_iter().for_each(|id| v.buffer(id));
    op.for_each_sym(&mut |s| v.sym(s));
    match op {
        TmaOp::Wait { phase, .. } => expr::expr(v, phase),
        TmaOp::Arrive { sharing, .. } => {
            if let Some((_, Some(leader))) = &sharing.unit {
                expr::condition(v, leader);
            }
            sharing.after.iter().for_each(|value| expr::expr(v, value));
        }
        _ => {}
    }
    let maps = v.kernel.and_then(|id| v.function.kernels.get(id.index()));
    let maps = maps.map_or(0, |kernel| kernel.maps.len());
    if let Some(map) = op.map() {
        v.require(map < maps, || format!("tensor map {map} does not exist"));
    }
}
