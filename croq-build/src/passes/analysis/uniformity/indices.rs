//! Values that depend on the thread number alone, computed for each thread of the block.
//!
//! `i / 32` is uniform in each warp, and so is `i < 64`, although `i` is not. No rule about
//! expressions finds all such cases. A block has at most 1024 threads, so the values themselves are
//! compared.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::scope::{Known, Scope};
use crate::ir::{ThreadSet, WARP_THREADS, WARPGROUP_THREADS};
use crate::sorted::SortedMap;
use crate::symbolic::Sym;

/// Threads of the largest block of any GPU.
const MOST: usize = 1024;
const WARP: usize = WARP_THREADS as usize;
/// Subexpressions that one walk of a kernel evaluates, counted for each thread. Values beyond that
/// are unknown.
const MOST_STEPS: usize = 1 << 23;

/// The value in one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Number {
    Int(i128),
    /// The bits of an `f64`.
    Float(u64),
}

impl Number {
    pub fn truth(truth: bool) -> Self {
        Self::Int(i128::from(truth))
    }

    pub fn float(value: f64) -> Self {
        Self::Float(value.to_bits())
    }

    pub fn is_true(self) -> bool {
        self != Self::Int(0)
    }
}

/// The values in all threads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum List {
    Same(Number),
    PerThread(Rc<[Number]>),
}

impl List {
    pub fn at(&self, thread: usize) -> Option<Number> {
        match self {
            List::Same(value) => Some(*value),
            List::PerThread(values) => values.get(thread).copied(),
        }
    }

    /// Equal lists have one form.
    pub fn normal(self) -> List {
        let same = match &self {
            List::Same(_) => None,
            List::PerThread(values) => {
                let first = values.first().copied();
                first.filter(|first| values.iter().all(|v| v == first))
            }
        };
        same.map_or(self, List::Same)
    }

    /// The numbers of the threads, or of groups of them.
    pub fn by_thread(threads: usize, group: u32) -> List {
        let of = |t: usize| Number::Int(t as i128 / i128::from(group));
        Self::PerThread((0..threads).map(of).collect())
    }

    pub fn mapped(&self, f: impl Fn(Number) -> Option<Number>) -> Option<List> {
        match self {
            List::Same(value) => f(*value).map(List::Same),
            List::PerThread(values) => Self::per_thread(values.iter().map(|a| f(*a)), values.len()),
        }
    }

    pub fn zipped(
        &self,
        other: &List,
        f: impl Fn(Number, Number) -> Option<Number>,
    ) -> Option<List> {
        match (self, other) {
            (a, List::Same(b)) => a.mapped(|a| f(a, *b)),
            (List::Same(a), b) => b.mapped(|b| f(*a, b)),
            (List::PerThread(values), List::PerThread(others)) => {
                let both = values.iter().zip(others.iter());
                Self::per_thread(both.map(|(a, b)| f(*a, *b)), values.len())
            }
        }
    }

    pub fn per_thread(values: impl Iterator<Item = Option<Number>>, count: usize) -> Option<List> {
        let mut all = Vec::with_capacity(count);
        for value in values {
            all.push(value?);
        }
        Some(List::PerThread(all.into()))
    }
}

/// The threads that may reach a statement, as far as thread numbers determine it; the others do not
/// reach it. `None`: all threads.
pub type Active = Option<Rc<[bool]>>;

/// The lists of a kernel, without duplicates.
pub struct Indices {
    threads: usize,
    lists: Vec<List>,
    by_list: SortedMap<List, Known>,
    /// The remaining steps of this walk.
    left: Cell<usize>,
    /// The values of integers, by the values of their variables, and the steps that they took.
    remembered: RefCell<HashMap<OfValues, (Option<List>, usize)>>,
}

/// An integer, and the values of its variables in order.
pub type OfValues = (Sym, Vec<Known>);

impl Indices {
    /// `threads` is the size of the block, if it is known.
    pub fn new(threads: Option<i64>) -> Self {
        let threads = threads.and_then(|n| usize::try_from(n).ok());
        Self {
            threads: threads.map_or(MOST, |n| n.clamp(1, MOST)),
            lists: Vec::new(),
            by_list: SortedMap::new(),
            left: Cell::new(MOST_STEPS),
            remembered: RefCell::default(),
        }
    }

    /// The result of `evaluated` for `of`, evaluated the first time. It takes the same steps each
    /// time.
    pub fn remembered(
        &self,
        of: OfValues,
        evaluated: impl FnOnce() -> Option<List>,
    ) -> Option<List> {
        if let Some((list, steps)) = self.remembered.borrow().get(&of) {
            self.spend(*steps)?;
            return list.clone();
        }
        let before = self.left.get();
        let list = evaluated();
        if !self.is_spent() {
            let steps = before - self.left.get();
            self.remembered
                .borrow_mut()
                .insert(of, (list.clone(), steps));
        }
        list
    }

    /// Starts a walk with the full number of steps, so that equal walks end at the same statement.
    pub fn begin(&self) {
        self.left.set(MOST_STEPS);
    }

    /// `None` if no steps are left.
    pub fn spend(&self, steps: usize) -> Option<()> {
        self.left.set(self.left.get().saturating_sub(steps));
        (!self.is_spent()).then_some(())
    }

    pub fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    pub fn add(&mut self, list: List) -> Known {
        let next = Known(self.lists.len());
        let known = *self.by_list.entry(list.clone()).or_insert(next);
        if known == next {
            self.lists.push(list);
        }
        known
    }

    pub fn list(&self, known: Known) -> Option<&List> {
        self.lists.get(known.0)
    }

    /// Evaluates for all threads.
    pub fn evaluate(&self, value: impl Fn(usize) -> Option<Number>) -> Option<List> {
        let values: Rc<[Number]> = (0..self.threads).map(value).collect::<Option<_>>()?;
        Some(List::PerThread(values).normal())
    }

    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The widest unit in which all active threads have the same value; `None` if a value is
    /// unknown.
    pub fn scope(&self, active: &Active, value: impl Fn(usize) -> Option<Number>) -> Option<Scope> {
        let is_reached = |thread: &usize| is_active(active, *thread);
        scope_of((0..self.threads).filter(is_reached).map(|t| (t, value(t))))
    }

    /// The same; `all` may have the values of all threads, for much less than each of them costs.
    pub fn scope_of(
        &self,
        active: &Active,
        value: impl Fn(usize) -> Option<Number>,
        all: impl FnOnce() -> Option<List>,
    ) -> Option<Scope> {
        // Most of the values that differ in a warp differ between its first two threads.
        let mut first = (0..self.threads).filter(|t| is_active(active, *t)).take(2);
        if let (Some(a), Some(b)) = (first.next(), first.next())
            && a / WARP == b / WARP
            && value(a)? != value(b)?
        {
            return Some(Scope::Thread);
        }
        match all() {
            Some(List::Same(_)) => Some(Scope::Grid),
            Some(list) => self.scope(active, |t| list.at(t)),
            None => self.scope(active, value),
        }
    }

    /// The active threads for which `holds` is true.
    pub fn narrowed(&self, active: &Active, holds: impl Fn(usize) -> bool) -> Active {
        let threads = 0..self.threads;
        Some(threads.map(|t| is_active(active, t) && holds(t)).collect())
    }

    pub fn within(&self, active: &Active, set: &ThreadSet) -> Active {
        self.narrowed(active, |t| u32::try_from(t).is_ok_and(|t| set.contains(t)))
    }
}

fn is_active(active: &Active, thread: usize) -> bool {
    active
        .as_ref()
        .is_none_or(|active| active.get(thread).copied().unwrap_or(true))
}

fn scope_of(values: impl Iterator<Item = (usize, Option<Number>)>) -> Option<Scope> {
    let mut scope = Scope::Grid;
    let mut last: Option<(usize, Number)> = None;
    let unit = |thread: usize, threads: u32| u32::try_from(thread).map_or(0, |t| t / threads);
    for (thread, value) in values {
        let value = value?;
        if let Some((before, last)) = last
            && last != value
        {
            // Two threads are in different units of a size if a unit boundary lies between them.
            let same_unit = |threads| unit(before, threads) == unit(thread, threads);
            if same_unit(WARP_THREADS) {
                return Some(Scope::Thread);
            }
            let here = match same_unit(WARPGROUP_THREADS) {
                true => Scope::Warp,
                false => Scope::Warpgroup,
            };
            scope = scope.min(here);
        }
        last = Some((thread, value));
    }
    Some(scope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scope_of_per_thread_values() {
        let of = |threads: usize, value: fn(usize) -> usize| {
            let number = |t| Some(Number::Int(value(t) as i128));
            scope_of((0..threads).map(|t| (t, number(t)))).expect("all are known")
        };
        assert_eq!(of(256, |t| t), Scope::Thread);
        assert_eq!(of(256, |t| t / 32), Scope::Warp);
        assert_eq!(of(256, |t| t / 128), Scope::Warpgroup);
        assert_eq!(of(256, |t| usize::from(t < 64)), Scope::Warp);
        assert_eq!(of(256, |t| usize::from(t < 256)), Scope::Grid);
        assert_eq!(of(64, |t| t / 128), Scope::Grid);
        assert_eq!(of(64, |t| t / 16), Scope::Thread);
    }

    #[test]
    fn inactive_threads_are_not_compared() {
        let indices = Indices::new(Some(64));
        let is_low = |t| Some(Number::truth(t < 48));
        assert_eq!(indices.scope(&None, is_low), Some(Scope::Thread));
        let first = indices.narrowed(&None, |t| t < 32);
        assert_eq!(indices.scope(&first, is_low), Some(Scope::Grid));
        let odd = indices.narrowed(&None, |t| t % 2 == 1);
        assert_eq!(
            indices.scope(&odd, |t| Some(Number::truth(t % 2 == 1))),
            Some(Scope::Grid)
        );
    }
}
