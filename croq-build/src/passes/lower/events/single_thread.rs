//! Regions that are executed by a single thread.
//!
//! Each thread counts its own waits, so the other threads of such a region must not wait for the same
//! event elsewhere: they would wait for a generation before the right one. The same holds for the
//! loads of a future.

use super::threads::Threads;
use crate::ir::{
    BinOp, BufferId, Engine, EventId, Expr, ExprKind, Function, FutureId, Intrinsic, Level,
    LocalId, Scalar, Slot, Stmt, StmtKind, ThreadSet, Visit, walk_block,
};
use crate::passes::analysis::uniformity::Uniformity;
use crate::sorted::SortedSet;
use crate::symbolic::Sym;

/// Elects one thread for regions in which one thread can do all the work, TMA copies included.
pub fn elect(function: &Function, body: &mut Vec<Stmt>) {
    registers_first(body);
    let mut regions = Vec::new();
    let mut elsewhere = Vec::new();
    gather(body, None, &mut regions, &mut elsewhere);
    let mut elected: SortedSet<usize> = (0..)
        .zip(&regions)
        .filter(|(_, region)| region.set.is_some_and(|set| set.len() > 1))
        .filter(|(_, region)| {
            let set = region.set.cloned().unwrap_or_default();
            is_single_threaded(function, body, region.body, &set)
        })
        .map(|(number, _)| number)
        .collect();
    // One that is not elected after all waits in all of its threads.
    while let Some(number) = (elected.iter().copied())
        .find(|number| !counts_alone(&regions, &elsewhere, &elected, *number))
    {
        elected.remove(&number);
    }
    in_block(body, &elected, &mut 0);
}

/// An outermost asynchronous region.
struct Region<'s> {
    /// Its threads, if they are known.
    set: Option<&'s ThreadSet>,
    body: &'s [Stmt],
    counted: SortedSet<Counted>,
}

/// What a thread counts for itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Counted {
    Event(EventId),
    Future(FutureId),
    /// The tiles of exchanged futures.
    Tiles(BufferId),
}

/// Collects the regions, and what other threads, or all, count elsewhere.
fn gather<'s>(
    stmts: &'s [Stmt],
    set: Option<&'s ThreadSet>,
    regions: &mut Vec<Region<'s>>,
    elsewhere: &mut Vec<(Option<&'s ThreadSet>, SortedSet<Counted>)>,
) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Region {
                set,
                is_async: true,
                outermost: true,
                body,
                ..
            } => regions.push(Region {
                set: set.as_ref(),
                body,
                counted: counted(body),
            }),
            StmtKind::Region { set, body, .. } => {
                gather(body, set.as_ref(), regions, elsewhere);
            }
            kind if kind.blocks().next().is_none() => {
                elsewhere.push((set, counted(std::slice::from_ref(stmt))));
            }
            kind => {
                for block in kind.blocks() {
                    gather(block, set, regions, elsewhere);
                }
            }
        }
    }
}

fn counted(stmts: &[Stmt]) -> SortedSet<Counted> {
    struct Find(SortedSet<Counted>);
    impl Visit for Find {
        fn stmt(&mut self, stmt: &Stmt) {
            match &stmt.kind {
                // An order is the number itself.
                StmtKind::WaitEvent(at) if !matches!(at.slot, Slot::Order(_)) => {
                    self.0.insert(Counted::Event(at.event));
                }
                StmtKind::Copy(copy) => {
                    if let (Some(future), false) = (copy.future, copy.engine.is_threads()) {
                        self.0.insert(Counted::Future(future));
                        self.0.insert(Counted::Tiles(copy.dest.buffer));
                    }
                }
                StmtKind::WaitTma { futures } => {
                    for waited in futures {
                        self.0.insert(Counted::Future(waited.future));
                        self.0.insert(Counted::Tiles(waited.view.buffer));
                    }
                }
                _ => {}
            }
        }
    }
    let mut find = Find(SortedSet::new());
    walk_block(stmts, &mut find);
    find.0
}

/// Whether no thread of the region counts the same in statements that all of its threads execute.
fn counts_alone(
    regions: &[Region<'_>],
    elsewhere: &[(Option<&ThreadSet>, SortedSet<Counted>)],
    elected: &SortedSet<usize>,
    number: usize,
) -> bool {
    let Some(own) = regions.get(number) else {
        return false;
    };
    let meets = |set: Option<&ThreadSet>| match (own.set, set) {
        (Some(own), Some(set)) => own.meets(set),
        _ => true,
    };
    let others = (0..).zip(regions).filter(|(other, region)| {
        let alike = elected.contains(other) && region.set == own.set;
        *other != number && !alike
    });
    let others = others.map(|(_, region)| (region.set, &region.counted));
    let rest = elsewhere.iter().map(|(set, counted)| (*set, counted));
    others
        .chain(rest)
        .all(|(set, counted)| !meets(set) || counted.is_disjoint(&own.counted))
}

/// Whole warpgroups change their register counts: if a region begins with that, it becomes a region
/// of its own.
fn registers_first(stmts: &mut Vec<Stmt>) {
    let rest = std::mem::take(stmts);
    for mut stmt in rest {
        if let StmtKind::Region {
            body,
            is_async: true,
            ..
        } = &mut stmt.kind
        {
            let sets = |s: &Stmt| matches!(s.kind, StmtKind::Registers(_));
            let first = body.iter().take_while(|s| sets(s)).count();
            if first > 0 && first < body.len() {
                let rest = body.split_off(first);
                let mut after = stmt.clone();
                if let StmtKind::Region { body, .. } = &mut after.kind {
                    *body = rest;
                }
                stmts.extend([stmt, after]);
                continue;
            }
        } else {
            for block in stmt.kind.blocks_mut() {
                registers_first(block);
            }
        }
        stmts.push(stmt);
    }
}

/// `next`: the number of the next region.
fn in_block(stmts: &mut [Stmt], elected: &SortedSet<usize>, next: &mut usize) {
    for stmt in stmts {
        let span = stmt.span;
        let StmtKind::Region {
            pred,
            set,
            elected_from,
            is_async: true,
            outermost: true,
            body,
        } = &mut stmt.kind
        else {
            for block in stmt.kind.blocks_mut() {
                in_block(block, elected, next);
            }
            continue;
        };
        let number = *next;
        *next += 1;
        let Some(set) = set.as_mut().filter(|_| elected.contains(&number)) else {
            continue;
        };
        let Some(first) = set.lowest() else {
            continue;
        };
        let thread = Expr::intrinsic(Intrinsic::Thread, pred.span);
        let number = Expr::new(ExprKind::Int(i128::from(first)), Scalar::Index, pred.span);
        let is_first = ExprKind::Binary(BinOp::Eq, thread, number);
        let region_pred = std::mem::replace(pred, Expr::new(is_first, Scalar::Bool, span));
        let one = ThreadSet {
            ranges: vec![(first, first + 1)],
        };
        *elected_from = Some((region_pred, std::mem::replace(set, one)));
        at_block_level(body);
    }
}

/// A unit's copies become those of the region, which now has one thread.
fn at_block_level(stmts: &mut [Stmt]) {
    for stmt in stmts {
        if let StmtKind::Copy(copy) = &mut stmt.kind {
            copy.level = Level::Block;
        }
        if let StmtKind::WaitTma { futures } = &mut stmt.kind {
            futures.iter_mut().for_each(|w| w.level = Level::Block);
        }
        for block in stmt.kind.blocks_mut() {
            at_block_level(block);
        }
    }
}

/// Whether the body consists of TMA copies and arrivals that are the same for all threads of `set`.
fn is_single_threaded(function: &Function, whole: &[Stmt], body: &[Stmt], set: &ThreadSet) -> bool {
    let mut one = Candidate {
        function,
        uniformity: Uniformity::of(function, whole, Threads { set: set.clone() }),
        declared: SortedSet::new(),
        acts: false,
        fits: true,
    };
    walk_block(body, &mut one);
    one.fits && one.acts
}

struct Candidate<'a> {
    function: &'a Function,
    uniformity: Uniformity<'a, Threads>,
    declared: SortedSet<LocalId>,
    acts: bool,
    fits: bool,
}

impl Visit for Candidate<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        self.fits &= match &stmt.kind {
            StmtKind::Let { local, .. } => {
                self.declared.insert(*local);
                true
            }
            // The variable is not visible outside.
            StmtKind::Assign { local, .. } => self.declared.contains(local),
            StmtKind::Copy(copy) => {
                self.acts = true;
                matches!(copy.engine, Engine::Tma(_)) && self.uniformity.domain.is_one(copy.level)
            }
            StmtKind::WaitTma { futures } => futures
                .iter()
                .all(|w| self.uniformity.domain.is_one(w.level)),
            StmtKind::Trigger(at) => {
                let event = self.function.event(at.event);
                event.count.is_none_or(|(n, _)| n == 1)
            }
            StmtKind::WaitEvent(_)
            | StmtKind::For { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Check { .. }
            | StmtKind::Rotate { .. }
            | StmtKind::UseFuture(_)
            | StmtKind::Alloc(_) => true,
            _ => false,
        };
    }

    fn expr(&mut self, e: &Expr) {
        self.fits &= !self.uniformity.expr(e);
    }

    fn sym(&mut self, sym: &Sym) {
        self.fits &= !self.uniformity.sym(sym);
    }
}

#[cfg(test)]
mod tests {
    use crate::ir::{StmtKind, Visit, walk_block};
    use crate::sema::testing;

    /// For each region, whether one thread executes it.
    fn elected(regions: &str) -> Vec<bool> {
        let text = format!(
            "__co__ void f(global s32 [64, 64] x, global s32 [128] y) {{
               parallel b by 1 : block {{
                 shared event full, empty, more[2];
                 shared s32 [1, 64] tile;
                 shared s32 [128] out;
                 parallel w by 2 : group-4, t by 128 : thread {{ {regions} }}
               }}
             }}"
        );
        let function = testing::function_after(&text, "events");
        struct Find(Vec<bool>);
        impl Visit for Find {
            fn stmt(&mut self, stmt: &crate::ir::Stmt) {
                if let StmtKind::Region { elected_from, .. } = &stmt.kind {
                    self.0.push(elected_from.is_some());
                }
            }
        }
        let mut find = Find(Vec::new());
        walk_block(&function.kernels[0].body, &mut find);
        find.0
    }

    #[test]
    fn threads_that_count_the_same_elsewhere_count_here() {
        let load = "inthreads.async (w == 1) {
            wait empty; tma.copy.async<full> x.subspan(1, 64).at(0, 0) => tile; trigger full;
        }";
        let answer = "inthreads.async (w == 0) {
            trigger empty; wait full; out.at(t) = tile.at(0, t % 64); trigger empty;
        }";
        let with = |text: &str| elected(&format!("{load} {answer} {text}"));
        assert_eq!(with(""), [true, false]);
        // All threads of the first region wait for the second generation.
        let again = "inthreads.async (w == 1) { wait empty; y.at(t) = out.at(t); }";
        assert_eq!(with(again), [false, false, false]);
        let one = "inthreads.async (t == 0 && w == 1) { wait empty; y.at(t) = out.at(t); }";
        assert_eq!(with(one), [false, false, false]);
        // The same thread waits for it.
        assert_eq!(with(load), [true, false, true]);
        // Other threads, and another event.
        let others = "inthreads.async (w == 0) { wait empty; }";
        assert_eq!(with(others), [true, false, false]);
        let other = "inthreads.async (w == 1) { wait full; y.at(t) = tile.at(0, t % 64); }";
        assert_eq!(with(other), [true, false, false]);
    }
}
