//! Events and futures of the function.

use crate::ir::{self, EventAt, EventId, FutureId, Level, LocalId, SignalId, VarHome};
use crate::sema::state::path::RegionAt;
use crate::sema::state::value::Data;
use crate::sorted::{SortedMap, SortedSet};
use crate::source::Span;
use crate::symbolic::{Sym, Var};
use crate::syntax::ast::{self, StmtKind as S};

/// The state of a future during elaboration.
pub(crate) struct Future {
    pub name: String,
    pub span: Span,
    /// Declared by `dma.any`.
    pub any: bool,
    pub is_async: bool,
    /// Its copies are complete after their statements, although they have `.async`.
    pub at_once: bool,
    /// Whether TMA copies its data.
    pub by_tma: bool,
    /// The destination of the first copy; `None` before that copy.
    pub data: Option<Data>,
    /// The level of the unit whose threads share the copy.
    pub level: Level,
    pub handle: Option<Handle>,
    pub nesting: Nesting,
    /// Where it was declared.
    pub home: Home,
    /// Whether a copy into it is in error.
    pub failed: bool,
    /// The `inthreads` regions around its copies.
    pub regions: Vec<RegionAt>,
    pub place: Place,
    pub reach: Reach,
}

/// What is open where a future is declared.
pub(crate) struct Nesting {
    pub scopes: usize,
    /// The scopes that are blocks of the text: the rest of a block after a `select`, which is lowered
    /// for each operand, is not a block of its own.
    pub blocks: usize,
    pub loops: usize,
}

/// Which copy a use of a placeholder's data refers to, if copies into it have destinations of their
/// own. Futures that are exchanged know their tile at run time, and need none of this.
#[derive(Clone, Default)]
pub(crate) struct Reach {
    /// The number of scopes open at the last copy.
    pub depth: usize,
    /// Copies in inner scopes have other destinations than those before.
    pub moved: bool,
    /// Several copies may be meant here, or one whose destination is not known here.
    pub unclear: bool,
    /// The buffers of the destinations.
    pub buffers: Vec<ir::BufferId>,
}

/// Where in the function's statements a future was declared.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// The number of statement lists under construction.
    pub lists: usize,
    /// The number of locals.
    pub locals: usize,
}

/// Where a future was declared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Home {
    Host,
    /// In a kernel.
    Kernel,
    /// It is a placeholder of the host in one kernel.
    PlaceholderOf(FutureId),
}

/// The location of a moving future's data: tile number `local` of `pool`.
#[derive(Clone)]
pub(crate) struct Handle {
    pub local: LocalId,
    /// `None` until the first copy determines the type.
    pub pool: Option<ir::BufferId>,
    /// The number of elements of a tile.
    pub tile: Sym,
}

/// The futures that `swap` and `rotate` use, by name; those that are exchanged with each other have
/// the same group number.
pub(crate) fn exchanged(stmts: &[ast::Stmt]) -> SortedMap<String, usize> {
    let mut groups: Vec<SortedSet<String>> = Vec::new();
    gather(stmts, &mut groups);
    let mut out = SortedMap::new();
    for (number, group) in groups.into_iter().enumerate() {
        out.extend(group.into_iter().map(|name| (name, number)));
    }
    out
}

pub(crate) fn gather(stmts: &[ast::Stmt], groups: &mut Vec<SortedSet<String>>) {
    for stmt in stmts {
        match &stmt.kind {
            S::Swap { names } | S::Rotate { names } => {
                let mut group: SortedSet<String> = names.iter().map(|n| n.text.clone()).collect();
                groups.retain(|other| {
                    let apart = other.is_disjoint(&group);
                    if !apart {
                        group.extend(other.iter().cloned());
                    }
                    apart
                });
                groups.push(group);
            }
            kind => {
                for block in kind.blocks() {
                    gather(&block.stmts, groups);
                }
            }
        }
    }
}

/// Properties of the events of a function that are not in their IR.
#[derive(Default)]
pub(crate) struct Known {
    /// The extents of arrays.
    pub arrays: SortedMap<EventId, Vec<u64>>,
    /// The extents of arrays of events of the host.
    pub arrays_of_the_host: SortedMap<SignalId, Vec<u64>>,
    /// Named copies that a `trigger … after` has bound to an event.
    pub bound: SortedMap<FutureId, (EventAt, Span)>,
    /// Copies by threads that name an event.
    pub completing: SortedMap<FutureId, EventId>,
    /// Named copies that were waited for.
    pub waited: SortedMap<FutureId, Span>,
    /// Those for which threads outside of their region wait.
    pub elsewhere: SortedSet<FutureId>,
}

pub(crate) struct Flag {
    pub name: String,
    pub local: LocalId,
    pub array: Vec<u64>,
    pub ready: bool,
    /// The first statement that waits for it.
    pub waited: Option<Span>,
    pub triggered: Option<Span>,
}

/// A `wait` for a placeholder above its first copy.
pub(crate) struct EarlyWait {
    pub future: FutureId,
    /// The buffer that the statement names until the copy is known.
    pub stand_in: ir::BufferId,
    pub at: Span,
    /// The `inthreads` regions around it.
    pub regions: Vec<RegionAt>,
}

/// Events and futures.
#[derive(Default)]
pub(crate) struct Asynchronous {
    pub events: Known,
    pub flags: Vec<Flag>,
    /// By `ir::FutureId`.
    pub futures: Vec<Future>,
    /// The names of futures that are exchanged, each with the number of its group.
    pub exchanged: SortedMap<String, usize>,
    /// The initial value of a placeholder's handle.
    pub first_tiles: SortedMap<LocalId, Sym>,
    pub early_waits: Vec<EarlyWait>,
    /// Exchanges of placeholders that were all empty.
    pub early_exchanges: Vec<Vec<(FutureId, ast::Name)>>,
    /// The number of statements that give a copy a cache hint.
    pub hints: usize,
    /// The number of waits for copies and MMAs that are complete after their statements.
    pub waits_for_nothing: usize,
}

impl Asynchronous {
    /// The innermost scope has ended, which declared the locals that `is_local` holds for: copies
    /// in it may not have been executed. `depth` scopes are still open.
    pub(crate) fn leave_scope(
        &mut self,
        func: &ir::Function,
        depth: usize,
        is_local: impl Fn(LocalId) -> bool,
    ) {
        let is_gone =
            |v: &Var| matches!(func.var_home.get(v), Some(VarHome::Local(l)) if is_local(*l));
        for future in self.futures.iter_mut().filter(|f| f.handle.is_none()) {
            let (Some(data), true) = (&future.data, future.reach.depth > depth) else {
                continue;
            };
            let view = &data.view;
            let extents = view.shape.iter().chain(&view.strides);
            let mut syms = extents.chain([&view.offset]);
            let hidden = syms.any(|sym| sym.vars().iter().any(is_gone));
            future.reach.unclear |= future.reach.moved || hidden;
            future.reach.depth = depth;
        }
    }
}
