//! The cost of an order: the accesses of a level by its first warp.
//!
//! Every address is an expression in the level's indices, so the addresses of 32 threads are known
//! up to terms that are equal for all of them. These are assumed to have some value: a large one
//! for sizes that the caller determines, the first one for loop variables, zero for other integers.
//! Global memory is accessed in lines of 128 bytes and transferred in sectors of 32, and the cost
//! of an access is the number of lines and sectors that the warp touches; shared memory serves one
//! word of each of its 32 banks at a time, and the cost of an access is the number of words in the
//! most used bank.

use super::candidate::{Candidate, Traffic};
use crate::ir::{
    Access, BufferId, Copy, Function, Level, Stmt, StmtKind, Storage, Swizzle, VarHome, View,
    Visit, WARP_THREADS, walk_block, walk_exprs,
};
use crate::passes::transform::barriers::Vars;
use crate::sorted::{SortedMap, SortedSet};
use crate::symbolic::{Sym, Var};

/// The assumed value of a size that only the caller knows.
const LARGE: i128 = 4096;
/// The maximum number of iterations that a loop counts as.
const MANY: u64 = 64;
const SECTOR: i128 = 32;
const LINE: i128 = 128;
const BANKS: i128 = 32;
const WORD: i128 = 4;

/// Sectors and lines of global memory, and wavefronts of shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    global: u64,
    shared: u64,
}

impl std::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Cost>>(costs: I) -> Cost {
        costs.fold(Cost::default(), |sum, cost| Cost {
            global: sum.global.saturating_add(cost.global),
            shared: sum.shared.saturating_add(cost.shared),
        })
    }
}

/// The accesses of global and shared memory that each thread makes for itself.
pub fn traffic(function: &Function, vars: &Vars, body: &[Stmt]) -> Vec<Traffic> {
    let mut collector = Collector {
        function,
        vars,
        times: 1,
        found: Vec::new(),
    };
    collector.block(body);
    collector.found
}

struct Collector<'a> {
    function: &'a Function,
    vars: &'a Vars,
    times: u64,
    found: Vec<Traffic>,
}

impl Visit for Collector<'_> {
    fn access(&mut self, access: &Access, _written: bool) {
        self.access(access.view.buffer, &access.address(), 1);
    }
}

impl Collector<'_> {
    fn block(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::For {
                lo, hi, step, body, ..
            } => {
                let iterations = self.function.cx.cdiv(&(hi - lo), step);
                self.repeated(&iterations, |c| c.block(body));
            }
            StmtKind::While {
                prelude,
                cond,
                body,
            } => {
                let unknown = Sym::poison();
                self.repeated(&unknown, |c| {
                    c.block(prelude);
                    walk_exprs(cond, c);
                    c.block(body);
                });
            }
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => {
                walk_exprs(cond, self);
                self.block(then);
                self.block(otherwise);
            }
            StmtKind::Store { access, op, .. } => {
                if op.is_some() {
                    self.access(access.view.buffer, &access.address(), 1);
                }
                walk_block(std::slice::from_ref(stmt), self);
            }
            StmtKind::Copy(
                copy @ Copy {
                    level: Level::Thread,
                    ..
                },
            ) => {
                self.tile(&copy.source);
                self.tile(&copy.dest);
            }
            StmtKind::Fill {
                view,
                level: Level::Thread,
                ..
            } => self.tile(view),
            StmtKind::Copy(_) | StmtKind::Fill { .. } => {}
            _ if stmt.kind.blocks().next().is_some() => {
                for inner in stmt.kind.blocks() {
                    self.block(inner);
                }
            }
            _ => walk_block(std::slice::from_ref(stmt), self),
        }
    }

    fn repeated(&mut self, iterations: &Sym, body: impl FnOnce(&mut Self)) {
        let values = Values::new(self.function);
        let iterations = values.of(iterations).and_then(|n| u64::try_from(n).ok());
        let before = self.times;
        self.times = before.saturating_mul(iterations.unwrap_or(MANY).clamp(1, MANY));
        body(self);
        self.times = before;
    }

    /// A tile is accessed element by element.
    fn tile(&mut self, view: &View) {
        let count: Sym = view.shape.iter().product();
        self.repeated(&count, |c| c.access(view.buffer, &view.offset, 1));
    }

    fn access(&mut self, buffer: BufferId, address: &Sym, times: u64) {
        let storage = self.function.buffer(buffer).storage;
        if storage.is_global() || storage == Storage::Shared {
            self.found.push(Traffic {
                address: self.vars.resolve(&self.function.cx, address),
                buffer,
                times: self.times.saturating_mul(times),
            });
        }
    }
}

/// The assumed values of variables.
struct Values<'a> {
    function: &'a Function,
    /// The level's indices.
    digits: SortedMap<Var, i128>,
}

impl<'a> Values<'a> {
    fn new(function: &'a Function) -> Self {
        Values {
            function,
            digits: SortedMap::new(),
        }
    }

    fn of(&self, sym: &Sym) -> Option<i128> {
        self.within(sym, 8)
    }

    /// Limits the depth of bounds of bounds.
    fn within(&self, sym: &Sym, depth: u32) -> Option<i128> {
        sym.evaluate(&|var| Some(self.value(var, depth)))
    }

    fn value(&self, var: Var, depth: u32) -> i128 {
        if let Some(digit) = self.digits.get(&var) {
            return *digit;
        }
        let bound = |sym: Option<&Sym>| match depth.checked_sub(1) {
            Some(depth) => sym.and_then(|s| self.within(s, depth)),
            None => None,
        };
        let (lo, hi) = self.function.cx.bounds(var);
        match self.function.var_home.get(&var) {
            Some(VarHome::Dim(_) | VarHome::Param(_)) => {
                let value = bound(hi).map_or(LARGE, |hi| LARGE.min(hi));
                bound(lo).map_or(value, |lo| value.max(lo))
            }
            _ => bound(lo).unwrap_or(0),
        }
    }
}

/// The cost of the first warp of a level if its indices have this order, the fastest first.
pub fn cost(function: &Function, candidate: &Candidate, order: &[usize]) -> Cost {
    let warp = first_warp(function, candidate, order);
    let costs = candidate.traffic.iter();
    costs.map(|traffic| one(function, traffic, &warp)).sum()
}

/// The number of accesses of global memory that touch no more lines and sectors than 32 adjacent
/// elements, and the number of all accesses.
#[cfg(test)]
pub fn coalesced(function: &Function, candidate: &Candidate, order: &[usize]) -> (usize, usize) {
    let warp = first_warp(function, candidate, order);
    let global = |t: &&Traffic| function.buffer(t.buffer).storage.is_global();
    let all: Vec<&Traffic> = candidate.traffic.iter().filter(global).collect();
    let good = all.iter().filter(|traffic| {
        let bytes = u64::from(WARP_THREADS) * function.buffer(traffic.buffer).elem.bytes();
        let least = bytes.div_ceil(32) + bytes.div_ceil(128);
        one(function, traffic, &warp).global <= least * traffic.times
    });
    (good.count(), all.len())
}

fn first_warp<'a>(
    function: &'a Function,
    candidate: &Candidate,
    order: &[usize],
) -> Vec<Values<'a>> {
    let indices: Vec<(Var, i128)> = order
        .iter()
        .filter_map(|axis| candidate.indices.get(*axis))
        .map(|index| {
            let extent = Values::new(function).of(&index.extent);
            (index.var, extent.unwrap_or(LARGE).max(1))
        })
        .collect();
    let all = indices.iter().map(|(_, n)| n);
    let threads = all.fold(1i128, |all, n| all.saturating_mul(*n));
    (0..threads.min(i128::from(WARP_THREADS)))
        .map(|lane| {
            let mut values = Values::new(function);
            let mut rest = lane;
            for (var, extent) in &indices {
                values.digits.insert(*var, rest % extent);
                rest /= extent;
            }
            values
        })
        .collect()
}

fn one(function: &Function, traffic: &Traffic, warp: &[Values]) -> Cost {
    let buffer = function.buffer(traffic.buffer);
    let size = i128::from(buffer.elem.bytes());
    let places: Option<Vec<i128>> = warp
        .iter()
        .map(|values| {
            let element = values.of(&traffic.address)? / i128::from(buffer.elem.per_byte());
            element.checked_mul(size)
        })
        .collect();
    let global = buffer.storage.is_global();
    let pieces = match places {
        None => 64,
        Some(places) if global => {
            let accessed = |size: i128| {
                let pieces: SortedSet<i128> = places.iter().map(|at| at.div_euclid(size)).collect();
                pieces.len()
            };
            accessed(SECTOR) + accessed(LINE)
        }
        Some(places) => {
            let words: SortedSet<i128> = places
                .iter()
                .map(|at| swizzled(buffer.swizzle.as_ref(), *at).div_euclid(WORD))
                .collect();
            let mut banks: SortedMap<i128, usize> = SortedMap::new();
            for word in words {
                *banks.entry(word.rem_euclid(BANKS)).or_default() += 1;
            }
            banks.values().copied().max().unwrap_or(0)
        }
    };
    let pieces = u64::try_from(pieces).unwrap_or(64);
    let pieces = pieces.saturating_mul(traffic.times);
    match global {
        true => Cost {
            global: pieces,
            shared: 0,
        },
        false => Cost {
            global: 0,
            shared: pieces,
        },
    }
}

/// The byte offset after swizzling, in rows of the swizzle's own width.
fn swizzled(swizzle: Option<&Swizzle>, at: i128) -> i128 {
    let mask = match swizzle.map(|s| s.bytes) {
        Some(128) => 7,
        Some(64) => 3,
        Some(32) => 1,
        _ => 0,
    };
    at ^ (((at >> 7) & mask) << 4)
}
