//! Lowers loads and stores to statements of single threads.

use super::coalesced_loads::{
    UnusedMbarriers, completed_by, completes, is_name, joins, triggers, waited_immediately,
};
use super::coordinates;
use super::shares::{self, Part};
use super::uses_tma;
use super::waits::{by_first_block, flip, wait};
use crate::ir::build;
use crate::ir::{
    BarrierScope, BinOp, BufferId, Copy, Engine, Event, Expr, ExprKind, Frame, Function, KernelId,
    Level, Role, Scalar, Stmt, StmtKind, TensorMap, Tma, TmaMove, TmaOp, VarHome, View, any_in,
    box_pieces,
};
use crate::passes::lower::events;
use crate::source::Span;
use crate::symbolic::{Sym, Var};
use std::collections::VecDeque;

use crate::sorted::SortedMap;

pub fn expand(function: &mut Function, id: KernelId) {
    let kernel = function.kernels.get(id.index());
    let Some(kernel) = kernel.filter(|kernel| uses_tma(&kernel.body)) else {
        return;
    };
    let span = kernel.span;
    let clustered = |e: &Event| e.kernel == id.index() && e.clustered;
    let waited_for = kernel.attrs.cooperative.is_some() || function.events.iter().any(clustered);
    let maps = function.with_kernel_body(id, |function, body| {
        let rank = shares::rank(function, body, span);
        let (declared, rank) = rank.unzip();
        events::number_waits(function, body);
        let mut expander = Expander {
            mentions: mentions(body),
            waited_for,
            function,
            maps: Vec::new(),
            loops: Vec::new(),
            deferred: None,
            single_threaded: false,
            unused: UnusedMbarriers::default(),
            rank,
        };
        *body = expander.block(std::mem::take(body));
        expander.unused.drop_from(body);
        let maps = expander.maps;
        prefetch(body, maps.len());
        body.splice(0..0, declared);
        maps
    });
    if let (Some(kernel), Some(maps)) = (function.kernels.get_mut(id.index()), maps) {
        kernel.maps = maps;
    }
    coordinates::clamp(function, id);
}

/// The thread that initialises the mbarriers brings the tensor maps to the cache: the first copies need
/// them after the barrier that follows.
fn prefetch(body: &mut [Stmt], maps: usize) {
    for stmt in body {
        let StmtKind::SingleThread { body, .. } = &mut stmt.kind else {
            continue;
        };
        let initialises = |stmt: &Stmt| {
            let op = &stmt.kind;
            matches!(op, StmtKind::Tma(TmaOp::Initialise { again: false, .. }))
        };
        if let Some(first) = body.iter().find(|stmt| initialises(stmt)) {
            let span = first.span;
            let fetch = |map| Stmt::new(StmtKind::Tma(TmaOp::Prefetch { map }), span);
            body.splice(0..0, (0..maps).map(fetch));
            return;
        }
    }
}

/// The number of statements that mention each buffer.
fn mentions(body: &[Stmt]) -> SortedMap<BufferId, usize> {
    struct Count(SortedMap<BufferId, usize>);
    impl crate::ir::Visit for Count {
        fn view(&mut self, view: &View) {
            *self.0.entry(view.buffer).or_default() += 1;
        }
        fn access(&mut self, access: &crate::ir::Access, _written: bool) {
            *self.0.entry(access.view.buffer).or_default() += 1;
        }
        fn stmt(&mut self, stmt: &Stmt) {
            if let StmtKind::Cpp { names, .. } = &stmt.kind {
                for name in names {
                    if let crate::ir::CppName::Buffer(id) = name {
                        *self.0.entry(*id).or_default() += 1;
                    }
                }
            }
        }
    }
    let mut count = Count(SortedMap::new());
    crate::ir::walk_block(body, &mut count);
    count.0
}

/// Whether threads may learn from these statements that others have stored something, or whether
/// they may end the loop around them.
fn publishes(stmts: &[Stmt]) -> bool {
    let stmt = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Barrier { scope, .. } => {
            matches!(scope, BarrierScope::Grid | BarrierScope::Cluster)
        }
        StmtKind::Trigger(_)
        | StmtKind::WaitEvent(_)
        | StmtKind::AwaitSignal { .. }
        | StmtKind::TriggerSignal(_)
        | StmtKind::Atomic(_)
        | StmtKind::Cpp { .. }
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Yield => true,
        StmtKind::Tma(op) => !matches!(op, TmaOp::Store { .. } | TmaOp::WaitStores { .. }),
        StmtKind::Copy(copy) => match &copy.engine {
            Engine::Tma(tma) => tma.event.is_some(),
            _ => false,
        },
        _ => false,
    };
    any_in(stmts, stmt, |e| matches!(*e.kind, ExprKind::Call(_)))
}

pub struct Expander<'a> {
    pub function: &'a Function,
    maps: Vec<TensorMap>,
    mentions: SortedMap<BufferId, usize>,
    /// Other blocks may wait for data that this one has stored: at barriers of the grid, or for
    /// events.
    waited_for: bool,
    /// The enclosing loops, each with its variable and step if it is a counted loop.
    loops: Vec<Option<(Var, Sym)>>,
    /// If the innermost loop publishes nothing: the units whose stores it does not wait for.
    deferred: Option<Vec<Level>>,
    /// Only one thread executes the code.
    pub single_threaded: bool,
    pub unused: UnusedMbarriers,
    /// The block's rank in its cluster, if blocks share multicast loads.
    rank: Option<Sym>,
}

/// The boxes of a load.
struct Loads {
    /// The size of all of them, and of those of other blocks.
    bytes: Sym,
    ops: Vec<TmaOp>,
    /// Whether only the first block of the cluster loads.
    by_first_block: bool,
}

impl Expander<'_> {
    fn block(&mut self, stmts: Vec<Stmt>) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(stmts.len());
        let mut stmts = VecDeque::from(stmts);
        while let Some(stmt) = stmts.pop_front() {
            // Copies before the `trigger` of the event that they complete.
            let mut group = vec![stmt];
            while stmts.front().is_some_and(|next| joins(&group, next)) {
                group.extend(stmts.pop_front());
            }
            if group.len() > 1 && self.coalesced(&group, &mut out).is_some() {
                continue;
            }
            while self.single_threaded
                && let Some(event) = completes(&group)
            {
                let names = stmts.iter().take_while(|stmt| is_name(stmt)).count();
                let next = stmts.get(names);
                let of_event = next.and_then(|n| completed_by(n).or_else(|| triggers(n)));
                if of_event != Some(event) {
                    break;
                }
                out.extend(stmts.drain(..names));
                group.extend(stmts.pop_front());
            }
            let last = group.last();
            let triggered = group.len() > 1 && last.and_then(triggers).is_some();
            if triggered && self.announced(&group, &mut out).is_some() {
                continue;
            }
            for stmt in group {
                self.stmt(stmt, &mut out);
            }
        }
        out
    }

    fn iterations(&mut self, counter: Option<(Var, Sym)>, body: Vec<Stmt>) -> Vec<Stmt> {
        self.loops.push(counter);
        let body = self.block(body);
        self.loops.pop();
        body
    }

    fn stmt(&mut self, mut stmt: Stmt, out: &mut Vec<Stmt>) {
        let span = stmt.span;
        match &mut stmt.kind {
            StmtKind::Copy(copy) => {
                if let Engine::Tma(tma) = &copy.engine
                    && let Some(kinds) = self.copy(copy, tma, span)
                {
                    out.extend(kinds.into_iter().map(|kind| Stmt::new(kind, span)));
                    return;
                }
            }
            StmtKind::WaitTma { futures } => {
                let arrivals = futures.iter().map(|w| w.arrival.as_ref());
                if let Some(arrivals) = arrivals.collect::<Option<Vec<_>>>() {
                    let waits = arrivals.into_iter().map(|a| wait(self.function, a, span));
                    out.extend(waits.map(|kind| Stmt::new(kind, span)));
                    return;
                }
            }
            StmtKind::For {
                local, step, body, ..
            } => {
                let var = self.function.local(*local).var;
                let counter = var.map(|v| (v, step.clone()));
                let around = self.deferred.take();
                self.deferred = (!publishes(body)).then(Vec::new);
                *body = self.iterations(counter, std::mem::take(body));
                let deferred = std::mem::replace(&mut self.deferred, around);
                out.push(stmt);
                let whole = || vec![TmaOp::WaitStores { whole: true }];
                let deferred = deferred.into_iter().flatten();
                let waits = deferred.flat_map(|level| self.once(level, whole(), span));
                out.extend(waits.map(|kind| Stmt::new(kind, span)));
                return;
            }
            StmtKind::WaitEvent(at) => {
                if let Some(kinds) = events::wait(self.function, at, span) {
                    out.extend(kinds.into_iter().map(|kind| Stmt::new(kind, span)));
                    return;
                }
            }
            StmtKind::Trigger(at) => {
                if let Some(kind) = events::arrive(self.function, at) {
                    out.push(Stmt::new(kind, span));
                    return;
                }
            }
            StmtKind::Region { set, body, .. } => {
                let single_threaded = self.single_threaded;
                self.single_threaded |= set.as_ref().is_some_and(|s| s.len() == 1);
                let around = self.deferred.take();
                *body = self.block(std::mem::take(body));
                self.deferred = around;
                self.single_threaded = single_threaded;
            }
            StmtKind::Parallel { body, .. } | StmtKind::SingleThread { body, .. } => {
                let around = self.deferred.take();
                *body = self.block(std::mem::take(body));
                self.deferred = around;
            }
            StmtKind::While { prelude, body, .. } => {
                self.deferred = None;
                *prelude = self.iterations(None, std::mem::take(prelude));
                *body = self.iterations(None, std::mem::take(body));
            }
            StmtKind::If {
                then, otherwise, ..
            } => {
                *then = self.block(std::mem::take(then));
                *otherwise = self.block(std::mem::take(otherwise));
            }
            _ => {}
        }
        out.push(stmt);
    }

    /// Statements that one thread of the unit executes.
    fn kinds_once(&self, level: Level, kinds: Vec<StmtKind>, span: Span) -> Vec<StmtKind> {
        if self.single_threaded && level != Level::Cluster {
            return kinds;
        }
        let body = (kinds.into_iter()).map(|kind| Stmt::new(kind, span));
        vec![build::once(level, body.collect())]
    }

    fn once(&self, level: Level, ops: Vec<TmaOp>, span: Span) -> Vec<StmtKind> {
        self.kinds_once(level, ops.into_iter().map(StmtKind::Tma).collect(), span)
    }

    fn copy(&mut self, copy: &Copy, tma: &Tma, span: Span) -> Option<Vec<StmtKind>> {
        if let Some(event) = &tma.event {
            let (barriers, slot) = events::place(self.function, event)?;
            let mut loads = self.loads(copy, tma, barriers, &slot)?;
            let announce = TmaOp::Announce {
                barriers,
                slot,
                bytes: loads.bytes,
            };
            if loads.by_first_block {
                let mut kinds = self.once(copy.level, vec![announce], span);
                kinds.extend(self.once(Level::Cluster, loads.ops, span));
                return Some(kinds);
            }
            loads.ops.insert(0, announce);
            return Some(self.once(copy.level, loads.ops, span));
        }
        let Some(arrival) = &tma.arrival else {
            if !self.function.buffer_is_global(copy.dest.buffer) {
                return None;
            }
            let moved = self.moved(&copy.dest, &copy.source, copy.source.shape.clone(), tma)?;
            // Other statements may use the written data: then the store must be complete, not only
            // have read its source.
            let others = self.mentions.get(&copy.dest.buffer).is_none_or(|n| *n > 1);
            let mut whole = others || self.waited_for;
            whole |= !self.iterations_are_disjoint(&copy.dest, &self.loops);
            // Of a loop that stores tiles beside each other and publishes nothing only the end waits.
            let innermost = self.loops.last().map(std::slice::from_ref);
            if whole
                && !others
                && innermost.is_some_and(|l| self.iterations_are_disjoint(&copy.dest, l))
                && let Some(deferred) = &mut self.deferred
            {
                whole = false;
                if !deferred.contains(&copy.level) {
                    deferred.push(copy.level);
                }
            }
            let stores = moved.into_iter().map(|moved| TmaOp::Store { moved });
            let origin = &copy.dest.frame.as_ref()?.origin;
            let mut kinds = if_inside(origin, &tma.negative, stores.collect(), span);
            kinds.push(StmtKind::Tma(TmaOp::WaitStores { whole }));
            return Some(self.kinds_once(copy.level, kinds, span));
        };
        let (barriers, slot) = (arrival.barriers, arrival.slot.clone());
        let mut loads = self.loads(copy, tma, barriers, &slot)?;
        let expect = TmaOp::Expect {
            barriers,
            slot,
            bytes: loads.bytes,
        };
        let mut kinds = vec![flip(self.function, arrival, span)];
        // Each block announces the bytes that it receives, possibly after some have arrived.
        if loads.by_first_block {
            kinds.extend(self.once(copy.level, vec![expect], span));
            kinds.extend(self.once(Level::Cluster, loads.ops, span));
        } else {
            loads.ops.insert(0, expect);
            kinds.extend(self.once(copy.level, loads.ops, span));
        }
        if copy.future.is_none() {
            kinds.push(wait(self.function, arrival, span));
        }
        Some(kinds)
    }

    fn loads(&mut self, copy: &Copy, tma: &Tma, barriers: BufferId, slot: &Sym) -> Option<Loads> {
        let mut shape = copy.source.shape.clone();
        let buffer = self.function.buffer(copy.dest.buffer);
        let bytes = i64::try_from(buffer.elem.bytes()).unwrap_or(1);
        let bytes = shape.iter().fold(Sym::int(bytes), |p, e| &p * e);
        let part = (self.rank.clone().filter(|_| tma.shared))
            .and_then(|rank| Some((rank, Part::of(buffer, &shape, tma.blocks)?)));
        if let Some((_, part)) = &part
            && let Some(extent) = shape.get_mut(part.axis)
        {
            *extent = Sym::int(part.rows);
        }
        let load = |moved| TmaOp::Load {
            moved,
            barriers,
            slot: slot.clone(),
            hint: tma.hint,
            blocks: tma.blocks,
        };
        let mut moved = self.moved(&copy.source, &copy.dest, shape, tma)?;
        if let Some((rank, part)) = &part {
            let along = *copy.source.frame.as_ref()?.axes.get(part.axis)?;
            for box_of_part in &mut moved {
                let place = box_of_part.coordinates.get_mut(along)?;
                *place = &*place + &(rank * part.rows);
                box_of_part.offset = &box_of_part.offset + &(rank * part.size);
            }
        }
        Some(Loads {
            bytes,
            ops: moved.into_iter().map(load).collect(),
            by_first_block: tma.blocks > 1 && part.is_none(),
        })
    }

    /// Whether a tile in device memory is disjoint in all iterations of these loops around it: each
    /// loop advances it along some axis, by at least its own size.
    fn iterations_are_disjoint(&self, view: &View, loops: &[Option<(Var, Sym)>]) -> bool {
        let Some(frame) = &view.frame else {
            return false;
        };
        let cx = &self.function.cx;
        let vars = |loops: &[Option<(Var, Sym)>]| -> Vec<Var> {
            loops.iter().flatten().map(|(v, _)| *v).collect()
        };
        let (counters, all) = (vars(loops), vars(&self.loops));
        let outside = |v: &Var| all.contains(v) && !counters.contains(v);
        let fixed = |v: &Var| {
            outside(v)
                || match self.function.var_home.get(v) {
                    Some(VarHome::Local(id)) => {
                        matches!(self.function.local(*id).role, Role::Parallel(_))
                    }
                    _ => true,
                }
        };
        loops.iter().all(|counter| {
            let Some((var, step)) = counter else {
                return false;
            };
            frame.origin.iter().enumerate().any(|(along, origin)| {
                let only_counter = origin
                    .vars()
                    .iter()
                    .all(|v| v == var || (!counters.contains(v) && fixed(v)));
                let axis = frame.axes.iter().position(|a| *a == along);
                let size = axis.and_then(|axis| view.shape.get(axis).cloned());
                let size = size.unwrap_or_else(Sym::one);
                let next = cx.substituted(origin, *var, &(&Sym::var(*var) + step));
                only_counter && cx.le(&size, &(&next - origin)).is_yes()
            })
        })
    }

    /// The boxes of a copy: one, or several if an axis is longer than a box, or if swizzled rows are
    /// wider than a group.
    fn moved(
        &mut self,
        global: &View,
        shared: &View,
        mut shape: Vec<Sym>,
        tma: &Tma,
    ) -> Option<Vec<TmaMove>> {
        let frame = global.frame.as_ref()?;
        let buffer = self.function.buffer(shared.buffer);
        let cx = &self.function.cx;
        let swizzle = buffer.swizzle.as_ref();
        let group = swizzle.map(|swizzle| swizzle.group(buffer.elem));
        let mut groups = 1;
        if let (Some(group), Some(width)) = (group, shape.last_mut()) {
            groups = width.as_int()?.checked_div(group)?;
            *width = Sym::int(group);
        }
        let first = buffer.by_groups(cx, &shared.offset);
        let bytes = swizzle.map_or(0, |swizzle| swizzle.bytes);
        let group_size = swizzle.zip(group).map(|(s, group)| &s.rows * group);
        let mut moved = Vec::new();
        for number in 0..groups {
            for piece in box_pieces(cx, buffer, &shape).ok()? {
                let mut coordinates = frame.origin.clone();
                let mut offset = &first + &piece.offset;
                for (along, at) in frame.axes.iter().zip(&piece.at) {
                    let coordinate = coordinates.get_mut(*along)?;
                    *coordinate = &*coordinate + *at;
                }
                if let (Some(inner), Some(group)) = (coordinates.last_mut(), group) {
                    *inner = &*inner + number * group;
                }
                if let Some(size) = &group_size {
                    offset = &offset + &(size * number);
                }
                moved.push(TmaMove {
                    map: self.map(global, frame, &piece.shape, bytes, tma),
                    coordinates,
                    buffer: shared.buffer,
                    offset,
                });
            }
        }
        Some(moved)
    }

    fn map(
        &mut self,
        global: &View,
        frame: &Frame,
        shape: &[Sym],
        swizzle: u32,
        tma: &Tma,
    ) -> usize {
        let mut extent_of_box = vec![Sym::one(); frame.extents.len()];
        for (along, extent) in frame.axes.iter().zip(shape) {
            if let Some(slot) = extent_of_box.get_mut(*along) {
                *slot = extent.clone();
            }
        }
        let map = TensorMap {
            buffer: global.buffer,
            base: frame.base(&global.offset),
            extents: frame.extents.clone(),
            strides: frame.strides.clone(),
            extent_of_box,
            swizzle,
            promotion: tma.promotion,
        };
        if let Some(at) = self.maps.iter().position(|m| *m == map) {
            return at;
        }
        self.maps.push(map);
        self.maps.len() - 1
    }

    /// One arrival with the bytes of all copies, and the copies.
    ///
    /// `None` if they cannot be lowered; nothing is changed then.
    fn announced(&mut self, group: &[Stmt], out: &mut Vec<Stmt>) -> Option<()> {
        let (trigger, copies) = group.split_last()?;
        let StmtKind::Trigger(event) = &trigger.kind else {
            return None;
        };
        let (barriers, slot) = events::place(self.function, event)?;
        let mut bytes = Sym::zero();
        let mut loads = Vec::new();
        for stmt in copies {
            let StmtKind::Copy(copy) = &stmt.kind else {
                return None;
            };
            let Engine::Tma(tma) = &copy.engine else {
                return None;
            };
            let own = self.loads(copy, tma, barriers, &slot)?;
            bytes = &bytes + &own.bytes;
            let ops = (own.ops.into_iter()).map(|op| Stmt::new(StmtKind::Tma(op), stmt.span));
            match own.by_first_block {
                true => loads.push(by_first_block(ops.collect(), stmt.span)),
                false => loads.extend(ops),
            }
        }
        let expect = TmaOp::Expect {
            barriers,
            slot,
            bytes,
        };
        out.push(Stmt::new(StmtKind::Tma(expect), trigger.span));
        out.extend(loads);
        Some(())
    }

    /// Lowers two or more loads that arrive at one mbarrier.
    fn coalesced(&mut self, stmts: &[Stmt], out: &mut Vec<Stmt>) -> Option<()> {
        let (first, rest) = stmts.split_first()?;
        let (copy, _, arrival) = waited_immediately(first)?;
        let mut bytes = Sym::zero();
        let mut ops = Vec::new();
        for stmt in stmts {
            let (copy, tma, _) = waited_immediately(stmt)?;
            let own = self.loads(copy, tma, arrival.barriers, &arrival.slot)?;
            bytes = &bytes + &own.bytes;
            let loads = own.ops.into_iter().map(StmtKind::Tma);
            ops.extend(loads.map(|kind| Stmt::new(kind, stmt.span)));
        }
        let expect = TmaOp::Expect {
            barriers: arrival.barriers,
            slot: arrival.slot.clone(),
            bytes,
        };
        ops.insert(0, Stmt::new(StmtKind::Tma(expect), first.span));
        out.push(Stmt::new(
            flip(self.function, arrival, first.span),
            first.span,
        ));
        match self.single_threaded {
            true => out.extend(ops),
            false => {
                let (level, body) = (copy.level, ops);
                out.push(Stmt::new(build::once(level, body), first.span));
            }
        }
        let end = stmts.last().map_or(first.span, |s| s.span);
        out.push(Stmt::new(wait(self.function, arrival, end), end));
        self.unused.add(rest);
        Some(())
    }
}

/// Stores of a tile at `origin`, none of which happens if its position along one of `axes` is negative.
fn if_inside(origin: &[Sym], axes: &[usize], stores: Vec<TmaOp>, span: Span) -> Vec<StmtKind> {
    let stores = stores.into_iter().map(StmtKind::Tma);
    let index = |at: Sym| Expr::index(at, span);
    let inside = (axes.iter())
        .filter_map(|axis| origin.get(*axis).cloned())
        .map(|at| ExprKind::Binary(BinOp::Le, index(Sym::zero()), index(at)))
        .map(|kind| Expr::new(kind, Scalar::Bool, span))
        .reduce(|a, b| Expr::new(ExprKind::Binary(BinOp::LogicAnd, a, b), Scalar::Bool, span));
    match inside {
        Some(cond) => vec![StmtKind::If {
            cond,
            then: stores.map(|store| Stmt::new(store, span)).collect(),
            otherwise: Vec::new(),
        }],
        None => stores.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sema::testing;

    /// Whether each store of the kernel is waited for until it is complete.
    fn waits(body: &str) -> Vec<bool> {
        let text = format!(
            "__co__ void f(global s32 [M, 64] x, global s32 [M, 64] y, int n) {{
               parallel by 1 : block {{
                 t = tma.load x.subspan(8, 64).at(0, 0) => shared;
                 {body}
               }}
             }}"
        );
        let mut function = testing::function(&text);
        super::super::prepare(&mut function, KernelId(0), Default::default());
        expand(&mut function, KernelId(0));
        struct Find(Vec<bool>);
        impl crate::ir::Visit for Find {
            fn stmt(&mut self, stmt: &Stmt) {
                if let StmtKind::Tma(TmaOp::WaitStores { whole }) = stmt.kind {
                    self.0.push(whole);
                }
            }
        }
        let mut find = Find(Vec::new());
        crate::ir::walk_block(&function.kernels[0].body, &mut find);
        find.0
    }

    #[test]
    fn overlapping_stores_are_complete_before_the_next() {
        let store = |at: &str| format!("tma.copy t.data => y.subspan(8, 64).at({at}, 0);");
        assert_eq!(waits(&store("0")), [false]);
        assert_eq!(waits(&format!("foreach k in [n] {}", store("k"))), [false]);
        let nested = format!("foreach {{j, k}} in [n, 4] {}", store("j * 4 + k"));
        // Only the end of the inner loop waits until they are complete.
        assert_eq!(waits(&nested), [false, true]);
        let around = |more: &str| {
            let stores = store("j % 5 * 4 + k");
            format!("foreach j in [n] {{ foreach k in [4] {{ {stores} {more} }} }}")
        };
        assert_eq!(waits(&around("")), [false, true]);
        assert_eq!(waits(&around("if (j == k) break;")), [true]);
        assert_eq!(waits(&around("__cpp__(\"__threadfence();\");")), [true]);
        let within = around("").replace("tma.copy", "if (j > k) tma.copy");
        assert_eq!(waits(&within), [false, true]);
        let by_window = "tma.copy t.data => y.view(8, 64).from(k * 7, 0);";
        assert_eq!(waits(&format!("foreach k in [n] {by_window}")), [true]);
        assert_eq!(waits(&format!("foreach k in [n] {}", store("0"))), [true]);
        let derived = format!("foreach k in [n] {{ r = x.at(k, 0); {} }}", store("r"));
        assert_eq!(waits(&derived), [true]);
        let twice = format!("{} {}", store("0"), store("1"));
        assert_eq!(waits(&twice), [true, true]);
        assert_eq!(
            waits("tma.copy t.data => x.subspan(8, 64).at(1, 0);"),
            [true]
        );
    }

    /// Whether a store by TMA depends on a condition, if TMA stores the tile.
    fn conditional(store: &str) -> Option<bool> {
        let text = format!(
            "__co__ void f(global s32 [M, 64] x, global s32 [M, 64] y, int n) {{
               parallel by 1 : block {{
                 t = tma.load x.subspan(8, 64).at(0, 0) => shared;
                 {store}
               }}
             }}"
        );
        let function = testing::function_after(&text, "tma");
        let body = &function.kernels[0].body;
        let is_store = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Tma(TmaOp::Store { .. }));
        let inside = crate::ir::any_stmt(body, |stmt| match &stmt.kind {
            StmtKind::If { then, .. } => then.iter().any(is_store),
            _ => false,
        });
        crate::ir::any_stmt(body, is_store).then_some(inside)
    }

    #[test]
    fn a_tile_before_the_tensor_is_not_stored() {
        let at = |n: &str| format!("tma.copy t.data => y.subspan(8, 64).at({n}, 0);");
        assert_eq!(conditional(&at("2")), Some(false));
        assert_eq!(conditional(&at("n * n")), Some(false));
        // A number that the host knows is checked there.
        assert_eq!(conditional(&at("n")), Some(false));
        let read = "s32 r = x.at(0, 0);";
        assert_eq!(conditional(&format!("{read} {}", at("r"))), Some(true));
        // A part of it may be inside.
        let window = "tma.copy t.data => y.view(8, 64).from(r * 4, 0);";
        assert_eq!(conditional(&format!("{read} {window}")), None);
    }

    /// The announcements of bytes in each step of a ring with two tiles.
    fn announcements(between: &str) -> usize {
        let text = format!(
            "__co__ void f(global s32 [K, 64] x, global s32 [K, 64] y, global s32 [64] out) {{
               parallel by 1 : block {{
                 shared event full[2], empty[2] = ready;
                 shared s32 [8, 64] xs[2], ys[2];
                 parallel w by 2 : group-4, t by 128 : thread {{
                   inthreads.async (w == 1) {{
                     foreach {{k}} in [cdiv(K, 8)] {{
                       wait empty[k % 2];
                       tma.copy.async<full[k % 2]> x.subspan(8, 64).at(k, 0) => xs[k % 2];
                       {between}
                       tma.copy.async<full[k % 2]> y.subspan(8, 64).at(row, 0) => ys[k % 2];
                       trigger full[k % 2];
                     }}
                   }}
                   inthreads.async (w == 0) {{
                     local s32 [1] sum{{0}};
                     foreach {{k}} in [cdiv(K, 8)] {{
                       wait full[k % 2];
                       sum.at(0) += xs[k % 2].at(0, t % 64) * ys[k % 2].at(0, t % 64);
                       trigger empty[k % 2];
                     }}
                     if (t < 64) {{ out.at(t) = sum.at(0); }}
                   }}
                 }}
               }}
             }}"
        );
        let function = testing::function_after(&text, "tma");
        let mut count = 0;
        crate::ir::any_stmt(&function.kernels[0].body, |stmt| {
            let expects = matches!(
                stmt.kind,
                StmtKind::Tma(TmaOp::Expect { .. } | TmaOp::Announce { .. })
            );
            count += usize::from(expects);
            false
        });
        count
    }

    /// The extents of the boxes of a kernel's loads.
    fn boxes(statements: &str) -> Vec<Vec<i64>> {
        let text = format!(
            "__co__ void f(global f16 [64, K] x, global f16 [64, K] y, global f32 [64, 64] out) {{
               parallel by 1 : block, by 1 : group-4 {{
                 shared f16 [64, 64] s, t, u;
                 c = mma.fill.f32 0.0f;
                 {statements}
                 mma.store c, out;
               }}
             }}"
        );
        let function = testing::function_after(&text, "tma");
        let kernel = &function.kernels[0];
        let is_copy = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Copy(_));
        assert!(!crate::ir::any_stmt(&kernel.body, is_copy), "{statements}");
        let of_map = |map: &TensorMap| map.extent_of_box.iter().filter_map(Sym::as_int).collect();
        kernel.maps.iter().map(of_map).collect()
    }

    #[test]
    fn extents_that_are_equal_where_the_copy_stands_are_those_of_the_box() {
        let product = "ma = mma.load s; mb = mma.load t; mma.row.row c, ma, mb;";
        let both = "tma.copy x.chunkat(_, k) => s; tma.copy y.chunkat(_, k) => t;";
        let each = [vec![64, 64], vec![64, 64]];
        let around = |copies: &str| format!("foreach k in [cdiv(K, 64)] {{ {copies} {product} }}");
        assert_eq!(boxes(&around(both)), each);
        let again = "tma.copy x.chunkat(_, k) => u;";
        let without_swizzle = vec![64, 64];
        let three = [&each[..], &[without_swizzle]].concat();
        assert_eq!(boxes(&around(&format!("{both} {again}"))), three);
        let inside = "if (K == 64) { tma.copy x => s; tma.copy y => t; }";
        assert_eq!(boxes(&format!("{inside} {product}")), each);
    }

    #[test]
    fn names_between_loads_do_not_separate_them() {
        assert_eq!(announcements("row = k;"), 1);
        assert_eq!(
            announcements("s32 half = __to<s32>(k) / 2; s32 row = half * 2;"),
            1
        );
        // The number may have been written by what the loads wait for.
        assert_eq!(announcements("s32 row = out.at(k % 64);"), 2);
    }
}
