//! The mbarrier of each load.
//!
//! A future has one for each unit that copies by its name, and so has a copy without a name.
//! Exchanged futures have one for each of their tiles: the mbarrier is exchanged together with the
//! tile.

use super::uses_tma;
use crate::ir::build;
use crate::ir::{
    Arrival, BarrierReason, BarrierScope, Buffer, BufferId, Copy, Engine, Expr, ExprKind,
    FenceScope, Function, FutureId, Intrinsic, KernelId, Level, LocalId, Role, Scalar, Stmt,
    StmtKind, Storage, TmaOp, View,
};
use crate::passes::lower::events::Beginning;
use crate::sorted::SortedMap;
use crate::source::Span;
use crate::symbolic::Sym;

/// The mbarriers of `events` are initialised together with these.
pub fn prepare(function: &mut Function, id: KernelId, events: Beginning) {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return;
    };
    if !uses_tma(&kernel.body) && events.slots.is_empty() {
        return;
    }
    let (threads, span) = (kernel.threads.clone(), kernel.span);
    function.with_kernel_body(id, |function, body| {
        let mut finder = Finder {
            function,
            threads,
            span,
            known: SortedMap::new(),
            unnamed: 0,
            thread: None,
            first: Vec::new(),
            made: Vec::new(),
            multicast: events.clustered,
        };
        for slots in events.slots {
            finder.made.push((slots.barriers, slots.slots, slots.count));
        }
        finder.block(body);
        let multicast = finder.multicast;
        let first = finder.beginning();
        body.splice(0..0, first);
        // No block ends while others may arrive at its mbarriers, or receive what it has loaded.
        if multicast {
            let kind = StmtKind::Barrier {
                scope: BarrierScope::Cluster,
                why: BarrierReason::Arrivals,
            };
            body.push(Stmt::new(kind, span));
        }
    });
}

/// Loads that share mbarriers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Future(FutureId),
    /// Consecutive tiles of this many elements in a buffer.
    Tiles(BufferId, Sym),
    Unnamed(usize),
}

struct Finder<'a> {
    function: &'a mut Function,
    threads: Sym,
    span: Span,
    known: SortedMap<Key, (BufferId, LocalId)>,
    unnamed: usize,
    thread: Option<Sym>,
    /// Declarations for the kernel's beginning.
    first: Vec<Stmt>,
    /// Arrays of mbarriers: the number of mbarriers, and the arrival count of each.
    made: Vec<(BufferId, Sym, Sym)>,
    /// Whether a block accesses mbarriers of other blocks.
    multicast: bool,
}

impl Finder<'_> {
    fn block(&mut self, stmts: &mut [Stmt]) {
        for stmt in stmts {
            match &mut stmt.kind {
                StmtKind::Copy(copy) => self.copy(copy),
                StmtKind::WaitTma { futures } => {
                    for waited in futures {
                        let arrival = self.arrival(Some(waited.future), &waited.view, waited.level);
                        waited.arrival = Some(arrival);
                    }
                }
                StmtKind::For { body, .. }
                | StmtKind::Parallel { body, .. }
                | StmtKind::SingleThread { body, .. }
                | StmtKind::Region { body, .. } => self.block(body),
                StmtKind::While { prelude, body, .. } => {
                    self.block(prelude);
                    self.block(body);
                }
                StmtKind::If {
                    then, otherwise, ..
                } => {
                    self.block(then);
                    self.block(otherwise);
                }
                _ => {}
            }
        }
    }

    fn copy(&mut self, copy: &mut Copy) {
        let loads = self
            .function
            .buffers
            .get(copy.dest.buffer.index())
            .is_some_and(|b| b.storage == Storage::Shared);
        let event = matches!(&copy.engine, Engine::Tma(tma) if tma.event.is_some());
        self.multicast |= copy.engine.is_multicast();
        // Where the copy completes an event, no thread waits for the copy itself.
        if copy.engine.is_threads() || !loads || event {
            return;
        }
        let arrival = self.arrival(copy.future, &copy.dest, copy.level);
        if let Engine::Tma(tma) = &mut copy.engine {
            tma.arrival = Some(arrival);
        }
    }

    fn arrival(&mut self, future: Option<FutureId>, view: &View, level: Level) -> Arrival {
        let tile = future
            .and_then(|id| self.function.futures.get(id.index()))
            .and_then(|f| f.tile.clone());
        let name = self
            .function
            .buffers
            .get(view.buffer.index())
            .map_or_else(String::new, |b| b.name.clone());
        if let Some(tile) = tile {
            let cx = &self.function.cx;
            let slot = cx.div(&view.offset, &tile);
            let count = self.function.buffers.get(view.buffer.index());
            let slots = count.map_or_else(Sym::one, |b| cx.cdiv(&b.count, &tile));
            let few = cx.le(&slots, &Sym::int(32)).is_yes();
            let ty = if few { Scalar::U32 } else { Scalar::U64 };
            let (barriers, phases) = self.slots(Key::Tiles(view.buffer, tile), &name, slots, ty);
            return Arrival {
                barriers,
                bit: Some(slot.clone()),
                slot,
                phases,
            };
        }
        let key = match future {
            Some(id) => Key::Future(id),
            None => {
                self.unnamed += 1;
                Key::Unnamed(self.unnamed)
            }
        };
        let (slot, slots) = self.unit(level);
        let (barriers, phases) = self.slots(key, &name, slots, Scalar::U32);
        Arrival {
            barriers,
            slot,
            phases,
            bit: None,
        }
    }

    /// The number of this thread's unit of this level, and the number of units.
    fn unit(&mut self, level: Level) -> (Sym, Sym) {
        let Some(size) = level.threads().filter(|n| *n > 1) else {
            return (Sym::zero(), Sym::one());
        };
        let size = Sym::int(i64::from(size));
        let thread = self.thread();
        let cx = &self.function.cx;
        (cx.div(&thread, &size), cx.cdiv(&self.threads, &size))
    }

    fn thread(&mut self) -> Sym {
        if let Some(sym) = &self.thread {
            return sym.clone();
        }
        let threads = self.threads.clone();
        let (local, sym) = build::index(
            self.function,
            "thread",
            Role::Parallel(Level::Thread),
            Some(&threads),
            self.span,
        );
        let value = ExprKind::Intrinsic(Intrinsic::Thread, Vec::new());
        let value = Some(Expr::new(value, Scalar::Index, self.span));
        self.first
            .push(Stmt::new(StmtKind::Let { local, value }, self.span));
        self.thread = Some(sym.clone());
        sym
    }

    fn slots(&mut self, key: Key, name: &str, slots: Sym, ty: Scalar) -> (BufferId, LocalId) {
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let span = self.span;
        let barriers = self.function.add_buffer(Buffer::line(
            format!("{name}_arrived"),
            Scalar::U64,
            Storage::Mbarriers,
            slots.clone(),
            span,
        ));
        let name = format!("{name}_phase");
        let phases = self.function.new_local(&name, ty, true, span);
        self.first
            .push(build::declare(phases, Expr::int(0, ty, span)));
        self.made.push((barriers, slots, Sym::one()));
        self.known.insert(key, (barriers, phases));
        (barriers, phases)
    }

    /// The statements at the kernel's beginning: one thread initialises the mbarriers, and makes
    /// them visible to all threads and to the async proxy.
    fn beginning(self) -> Vec<Stmt> {
        let span = self.span;
        let mut first = self.first;
        if self.made.is_empty() {
            return first;
        }
        let initialised = self.made.into_iter().map(|(barriers, slots, count)| {
            StmtKind::Tma(TmaOp::Initialise {
                barriers,
                slots,
                count,
                again: false,
            })
        });
        let fence = StmtKind::Fence(FenceScope::MbarrierInit);
        let body = initialised.chain([fence]);
        let kind = build::once(
            Level::Block,
            body.map(|kind| Stmt::new(kind, span)).collect(),
        );
        first.push(Stmt::new(kind, span));
        // The mbarriers of all blocks of a cluster are initialised before the first multicast load.
        if !self.threads.is_one() || self.multicast {
            let scope = if self.multicast {
                BarrierScope::Cluster
            } else {
                BarrierScope::Block
            };
            let kind = StmtKind::Barrier {
                scope,
                why: BarrierReason::Initialised,
            };
            first.push(Stmt::new(kind, span));
        }
        first
    }
}
