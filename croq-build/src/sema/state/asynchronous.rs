//! Events and futures of the function.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{self, EventAt, EventId, FutureId, Level, LocalId};
use crate::sema::state::value::Data;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, StmtKind as S};

/// What is known of a future.
pub(crate) struct Future {
    pub name: String,
    pub span: Span,
    /// Declared by `dma.any`.
    pub any: bool,
    pub is_async: bool,
    /// Its bytes come by TMA.
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

pub(crate) fn gather(stmts: &[ast::Stmt], groups: &mut Vec<BTreeSet<String>>) {
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

/// What is known of the events of a function, beside their IR.
#[derive(Default)]
pub(crate) struct Known {
    /// The extents of arrays.
    pub arrays: BTreeMap<EventId, Vec<u64>>,
    /// Named copies that a `trigger … after` has bound to an event.
    pub bound: BTreeMap<FutureId, (EventAt, Span)>,
    /// Named copies that were waited for.
    pub waited: BTreeMap<FutureId, Span>,
}

pub(crate) struct Flag {
    pub name: String,
    pub local: LocalId,
    pub array: Vec<u64>,
    pub ready: bool,
    /// Where first.
    pub waited: Option<Span>,
    pub triggered: Option<Span>,
}

/// Events and futures.
#[derive(Default)]
pub(crate) struct Asynchronous {
    pub events: Known,
    pub flags: Vec<Flag>,
    /// By `ir::FutureId`.
    pub futures: Vec<Future>,
    /// Names of futures that are exchanged, each with the number of its group.
    pub exchanged: BTreeMap<String, usize>,
    /// The tile that a placeholder's handle starts with.
    pub first_tiles: BTreeMap<LocalId, Sym>,
}
