//! One thread arrives at an mbarrier for its warp or its warpgroup.
//!
//! The count of the arrival is the number of threads of the unit, so expected counts remain numbers
//! of threads, and different triggers of an event need not agree. All threads of the unit must
//! execute the arrival together, for the same slot ([`together`]).
//!
//! An arrival for a *warp* follows a barrier of the warp: what its lanes did before is ordered
//! before it, and each lane has passed every wait before it.
//!
//! An arrival for a *warpgroup* has no barrier of its own. It stands for threads that may not have
//! come so far, so between the last point that all of them have certainly passed and the arrival
//! they must do nothing that a waiting thread relies on ([`progress`]). Such a point is a barrier of
//! the warpgroup, or the last MMA of a group for which the arriving thread has waited: MMAs of a
//! warpgroup are executed by its four warps together. The operands that MMAs read have been read
//! when they are complete, which is all that consumers of rings release.
//!
//! A pending count that is smaller than the count of an arrival would be an error, so the unit is
//! the same for all arrivals at an event, and the expected count is a multiple of it.

mod progress;
mod together;
mod units;

#[cfg(test)]
mod tests;

pub use together::find;

use crate::ir::{BufferId, Function, KernelId, Level, Stmt, StmtKind, TmaOp, WARPGROUP_THREADS};
use crate::sorted::{SortedMap, SortedSet};
use units::Units;

/// Chooses the units of a kernel's arrivals.
pub fn choose(function: &mut Function, id: KernelId) {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return;
    };
    let mut units = possible(&kernel.body);
    let threads = kernel.threads.as_int().and_then(|n| u32::try_from(n).ok());
    let groups = threads.unwrap_or(0) / WARPGROUP_THREADS;
    // An arrival by each warp is no part of a warpgroup's progress: another event may depend on it.
    while units.values().any(|unit| *unit == Level::Warpgroup) {
        let late: SortedSet<BufferId> = (0..groups)
            .flat_map(|group| progress::late(function, kernel, &units, group))
            .collect();
        if late.is_empty() {
            break;
        }
        units.extend(late.into_iter().map(|barriers| (barriers, Level::Warp)));
    }
    if !units.is_empty() {
        function.with_kernel_body(id, |_, body| write(body, &units));
    }
}

/// The largest unit whose threads execute all arrivals at an event together.
fn possible(body: &[Stmt]) -> Units {
    let mut arrivals = Arrivals::default();
    arrivals.block(body);
    let fits = |barriers: &BufferId, unit: &Level| {
        let counts = arrivals.counts.get(barriers);
        counts.is_some_and(|counts| {
            let threads = unit.threads().map(i64::from);
            let multiple = |n: &Option<i64>| {
                let both = n.zip(threads);
                both.is_some_and(|(n, threads)| n > 0 && n % threads == 0)
            };
            counts.iter().all(multiple)
        })
    };
    let mut units = Units::new();
    for (barriers, together) in &arrivals.together {
        let Some(largest) = together else { continue };
        let units_of = [Level::Warpgroup, Level::Warp].into_iter();
        // Outer levels come first.
        let found = units_of
            .filter(|unit| unit >= largest)
            .find(|unit| fits(barriers, unit));
        units.extend(found.map(|unit| (*barriers, unit)));
    }
    units
}

#[derive(Default)]
struct Arrivals {
    /// The smallest of the units that execute arrivals together.
    together: SortedMap<BufferId, Option<Level>>,
    /// The expected counts; `None` if one is not known.
    counts: SortedMap<BufferId, Vec<Option<i64>>>,
}

impl Arrivals {
    fn block(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Tma(TmaOp::Initialise {
                    barriers, count, ..
                }) => self
                    .counts
                    .entry(*barriers)
                    .or_default()
                    .push(count.as_int()),
                StmtKind::Tma(TmaOp::Arrive {
                    barriers, sharing, ..
                }) => self.join(*barriers, sharing.together),
                // A single arrival.
                StmtKind::Tma(TmaOp::Expect { barriers, .. }) => self.join(*barriers, None),
                kind => kind.blocks().for_each(|block| self.block(block)),
            }
        }
    }

    fn join(&mut self, barriers: BufferId, together: Option<Level>) {
        let known = self.together.entry(barriers).or_insert(together);
        // Inner levels are greater.
        *known = known.zip(together).map(|(a, b)| a.max(b));
    }
}

fn write(stmts: &mut [Stmt], units: &Units) {
    for stmt in stmts {
        if let StmtKind::Tma(TmaOp::Arrive {
            barriers, sharing, ..
        }) = &mut stmt.kind
        {
            sharing.unit = units.get(barriers).map(|unit| (*unit, None));
        }
        stmt.kind.blocks_mut().for_each(|block| write(block, units));
    }
}
