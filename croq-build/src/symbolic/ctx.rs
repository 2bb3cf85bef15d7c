//! The context: variables, their bounds, and the current assumptions.

use super::answers::Answers;
use super::facts::Facts;
use super::interval::{Interval, interval};
use super::model::Models;
use super::ops;
use super::prove::Prover;
use super::search;
use super::sym::{Atom, Sym, Var};
use super::truth::Truth;
use super::variable::{Variable, bounds_of};
use crate::sorted::SortedSet;

/// The most facts of one kind in one scope, because each adds to the cost of every later question.
/// A fact that is dropped is checked at run time.
const FACTS: usize = 256;

/// The work of [`Ctx::at_another_value`].
const FUEL_FOR_ANOTHER_VALUE: usize = 200;

/// Variables with bounds, plus a scoped stack of assumptions.
///
/// The constructors (such as [`Ctx::div`]) use declared bounds and the assumptions of the outermost
/// scope only, so that their results remain true when a scope is popped. [`Ctx::simplify`] and the
/// questions use all current facts.
#[derive(Clone, Debug)]
pub struct Ctx {
    variables: Vec<Variable>,
    outermost: Facts,
    /// The number of open scopes.
    depth: usize,
    /// The facts of the scopes with assumptions, by depth.
    scopes: Vec<(usize, Facts)>,
}

impl Default for Ctx {
    fn default() -> Ctx {
        Ctx::new()
    }
}

impl Ctx {
    pub fn new() -> Ctx {
        Ctx {
            variables: Vec::new(),
            outermost: Facts::default(),
            depth: 0,
            scopes: Vec::new(),
        }
    }

    /// A new variable with inclusive bounds, which may mention earlier variables.
    pub fn new_var(&mut self, name: &str, lo: Option<Sym>, hi: Option<Sym>) -> Var {
        let v = Var(u32::try_from(self.variables.len()).unwrap_or(u32::MAX));
        self.variables.push(Variable {
            name: name.to_owned(),
            lo: usable(lo),
            hi: usable(hi),
        });
        let variables = &self.variables;
        for facts in all_facts(&mut self.outermost, &mut self.scopes) {
            let range = declared_range(variables, facts, v);
            facts.ranges.push(range);
            let before = facts.models.samples.len();
            facts
                .models
                .extend(variables.len(), |v| bounds_of(variables, v));
            let kept = facts.models.samples.len();
            replenish_models(variables, facts);
            // With the same samples, answers about expressions without the variable are the same.
            if kept != before || facts.models.samples.len() != before {
                facts.answers = Answers::default();
            }
        }
        v
    }

    pub fn name(&self, v: Var) -> &str {
        self.variables
            .get(v.0 as usize)
            .map_or("?", |x| x.name.as_str())
    }

    /// Gives a variable another name in reports.
    pub fn rename(&mut self, v: Var, name: &str) {
        if let Some(variable) = self.variables.get_mut(v.0 as usize) {
            name.clone_into(&mut variable.name);
        }
    }

    pub fn bounds(&self, v: Var) -> (Option<&Sym>, Option<&Sym>) {
        bounds_of(&self.variables, v)
    }

    /// Replaces the bounds of a variable. Expressions that exist already were built with the old
    /// ones, so the new ones must be at least as narrow.
    pub fn set_bounds(&mut self, v: Var, lo: Option<Sym>, hi: Option<Sym>) {
        let Some(variable) = self.variables.get_mut(v.0 as usize) else {
            return;
        };
        variable.lo = usable(lo);
        variable.hi = usable(hi);
        let variables = &self.variables;
        for facts in all_facts(&mut self.outermost, &mut self.scopes) {
            facts.ranges.clear();
            for at in 0..variables.len() {
                let range = declared_range(variables, facts, Var(at as u32));
                facts.ranges.push(range);
            }
            for e in facts.inequalities.clone() {
                facts.tighten(&e);
            }
            facts.models = Models::default();
            facts
                .models
                .extend(variables.len(), |v| bounds_of(variables, v));
            let mut models = std::mem::take(&mut facts.models);
            search::retain(&mut models, facts);
            facts.models = models;
            replenish_models(variables, facts);
            facts.answers = Answers::default();
        }
    }

    /// The number of variables; they are `Var(0)`, `Var(1)`, ….
    pub fn var_count(&self) -> usize {
        self.variables.len()
    }

    pub fn push_scope(&mut self) {
        self.depth += 1;
    }

    pub fn pop_scope(&mut self) {
        self.scopes.pop_if(|(depth, _)| *depth == self.depth);
        self.depth = self.depth.saturating_sub(1);
    }

    fn top(&self) -> &Facts {
        self.scopes
            .last()
            .map_or(&self.outermost, |(_, facts)| facts)
    }

    fn prover(&self) -> Prover<'_> {
        Prover::new(&self.variables, self.top())
    }

    fn builder(&self) -> Prover<'_> {
        Prover::new(&self.variables, &self.outermost)
    }

    // ---- assumptions ----

    /// Assumes `a <= b` until the end of the scope.
    pub fn assume_le(&mut self, a: &Sym, b: &Sym) {
        let e = self.prover().simplify(&(b - a));
        self.assume_nonneg(e);
    }

    /// Assumes `a < b` until the end of the scope.
    pub fn assume_lt(&mut self, a: &Sym, b: &Sym) {
        self.assume_le(&(a + 1), b);
    }

    /// Assumes `a == b` until the end of the scope.
    pub fn assume_eq(&mut self, a: &Sym, b: &Sym) {
        let difference = self.prover().simplify(&(b - a));
        let full = self.top().equalities.len() >= FACTS;
        if full || difference.is_poison() || difference.as_int().is_some() {
            return;
        }
        let solved = difference.sorted_vars().iter().rev().find_map(|v| {
            let (coefficient, rest) = difference.linear_in(*v)?;
            match coefficient.as_int()? {
                1 => Some((*v, -rest)),
                -1 => Some((*v, rest)),
                _ => None,
            }
        });
        let Some((v, value)) = solved else {
            self.assume_nonneg(difference.clone());
            self.assume_nonneg(-difference);
            return;
        };
        let (lo, hi) = self.bounds(v);
        let (lo, hi) = (lo.map(|lo| &value - lo), hi.map(|hi| hi - &value));
        let facts = self.top();
        let range = facts.range_of(v);
        let mut old = std::mem::take(&mut self.top_mut().inequalities);
        let mut equalities = std::mem::take(&mut self.top_mut().equalities);
        let mut divisors = std::mem::take(&mut self.top_mut().divisors);
        {
            let prover = self.builder();
            for e in &mut old {
                *e = prover.substitute(e, v, &value);
            }
            for (_, e) in &mut equalities {
                *e = prover.substitute(e, v, &value);
            }
            for (d, e) in &mut divisors {
                *d = prover.substitute(d, v, &value);
                *e = prover.substitute(e, v, &value);
            }
        }
        equalities.push((v, value.clone()));
        let top = self.top_mut();
        top.inequalities = old;
        top.equalities = equalities;
        top.divisors = divisors;
        // Facts about the variable are now facts about its value, and the reverse.
        for known in [lo, hi].into_iter().flatten() {
            let known = self.prover().simplify(&known);
            self.assume_nonneg(known);
        }
        for (end, sign) in [(range.lo, 1), (range.hi, -1)] {
            if let Some(end) = end.and_then(|end| i64::try_from(end).ok()) {
                self.assume_nonneg(ops::scaled(&(&value - end), sign));
            }
        }
        let value_range = interval(&self.top().ranges, &value);
        if let Some(range) = self.top_mut().ranges.get_mut(v.0 as usize) {
            *range = range.intersect(value_range);
        }
        let mut models = std::mem::take(&mut self.top_mut().models);
        search::retain(&mut models, self.top());
        self.top_mut().models = models;
        self.replenish();
    }

    /// Assumes that `d` divides `a` until the end of the scope.
    pub fn assume_divides(&mut self, d: &Sym, a: &Sym) {
        let prover = self.prover();
        let (d, a) = (prover.simplify(d), prover.simplify(a));
        if d.is_poison() || a.is_poison() || d.is_zero() {
            return;
        }
        let not_below = prover.nonneg(&(&a - 1)) && prover.nonneg(&(&d - 1));
        if not_below {
            let e = prover.simplify(&(&a - &d));
            self.assume_nonneg(e);
        }
        let facts = self.top_mut();
        if facts.divisors.len() >= FACTS {
            return;
        }
        facts.models.retain(|value_of| {
            let values = value_of(&d).zip(value_of(&a));
            values.is_some_and(|(d, a)| a.checked_rem(d) == Some(0))
        });
        facts.divisors.push((d, a));
        self.replenish();
    }

    fn assume_nonneg(&mut self, e: Sym) {
        if e.is_poison() || e.as_int().is_some() {
            return;
        }
        let facts = self.top_mut();
        if facts.inequalities.len() >= FACTS {
            facts.tighten(&e);
        } else if !facts.inequalities.contains(&e) {
            facts.tighten(&e);
            facts
                .models
                .retain(|value_of| value_of(&e).is_some_and(|value| value >= 0));
            facts.inequalities.push(e);
            self.replenish();
        }
    }

    /// The facts of the current scope, initially those of the enclosing scope.
    fn top_mut(&mut self) -> &mut Facts {
        let own = self
            .scopes
            .last()
            .map_or(self.depth == 0, |(depth, _)| *depth == self.depth);
        if !own {
            self.scopes.push((self.depth, self.top().clone()));
        }
        let facts = self
            .scopes
            .last_mut()
            .map_or(&mut self.outermost, |(_, facts)| facts);
        facts.answers = Answers::default();
        facts
    }

    fn replenish(&mut self) {
        let mut facts = std::mem::take(self.top_mut());
        replenish_models(&self.variables, &mut facts);
        *self.top_mut() = facts;
    }

    // ---- constructors ----

    /// `a / b`, truncating.
    pub fn div(&self, a: &Sym, b: &Sym) -> Sym {
        let known = &self.outermost.answers.folded.quotient;
        known.of((a.clone(), b.clone()), |(a, b)| self.builder().div(a, b))
    }

    /// `a % b`, with the sign of `a`.
    pub fn rem(&self, a: &Sym, b: &Sym) -> Sym {
        let known = &self.outermost.answers.folded.remainder;
        known.of((a.clone(), b.clone()), |(a, b)| self.builder().rem(a, b))
    }

    /// `(a + b - 1) / b`.
    pub fn cdiv(&self, a: &Sym, b: &Sym) -> Sym {
        self.div(&(a + b - 1), b)
    }

    pub fn min(&self, a: &Sym, b: &Sym) -> Sym {
        self.builder().min(a, b)
    }

    pub fn max(&self, a: &Sym, b: &Sym) -> Sym {
        self.builder().max(a, b)
    }

    /// The least multiple of `b` that is not below `a` (for `a >= 0`).
    pub fn align_up(&self, a: &Sym, b: &Sym) -> Sym {
        self.cdiv(a, b) * b
    }

    /// The greatest multiple of `b` that is not above `a` (for `a >= 0`).
    pub fn align_down(&self, a: &Sym, b: &Sym) -> Sym {
        self.div(a, b) * b
    }

    /// `e` with `v` replaced by `by`, folded again.
    pub fn substituted(&self, e: &Sym, v: Var, by: &Sym) -> Sym {
        if !e.contains(v) {
            return e.clone();
        }
        let known = &self.outermost.answers.substituted;
        known.of((e.clone(), v, by.clone()), |(e, v, by)| {
            self.builder().substitute(e, *v, by)
        })
    }

    /// `e` with `v` replaced by another value of it, as in another iteration. What was not folded in
    /// `e` is hardly ever folded for the other value, so little work is spent on that.
    pub fn at_another_value(&self, e: &Sym, v: Var, by: &Sym) -> Sym {
        if !e.contains(v) {
            return e.clone();
        }
        let known = &self.outermost.answers.at_another_value;
        known.of((e.clone(), v, by.clone()), |(e, v, by)| {
            let builder = self.builder().limited(FUEL_FOR_ANOTHER_VALUE);
            builder.substitute(e, *v, by)
        })
    }

    /// `e` with an atom replaced by `by`, folded again.
    pub fn replaced(&self, e: &Sym, atom: &Atom, by: &Sym) -> Sym {
        self.builder().replace(e, atom, by)
    }

    // ---- questions ----

    pub fn le(&self, a: &Sym, b: &Sym) -> Truth {
        self.is_nonneg(b - a)
    }

    pub fn lt(&self, a: &Sym, b: &Sym) -> Truth {
        self.is_nonneg(b - a - 1)
    }

    pub fn eq(&self, a: &Sym, b: &Sym) -> Truth {
        let known = &self.top().answers.zero;
        known.of(b - a, |e| self.prover().is_zero(e))
    }

    fn is_nonneg(&self, e: Sym) -> Truth {
        let known = &self.top().answers.nonneg;
        known.of(e, |e| self.prover().is_nonneg(e))
    }

    pub fn ne(&self, a: &Sym, b: &Sym) -> Truth {
        !self.eq(a, b)
    }

    /// Whether `d` divides `a`.
    pub fn divides(&self, d: &Sym, a: &Sym) -> Truth {
        let known = &self.top().answers.divides;
        known.of((d.clone(), a.clone()), |(d, a)| self.prover().divides(d, a))
    }

    /// The greatest constant that is known to divide `a`; `None` when `a` is zero or poison.
    pub fn constant_divisor(&self, a: &Sym) -> Option<i64> {
        let known = &self.top().answers.constant_divisor;
        known.of(a.clone(), |a| self.prover().constant_divisor(a))
    }

    /// Constant bounds, inclusive; `None` if unbounded or unknown.
    pub fn range(&self, a: &Sym) -> (Option<i64>, Option<i64>) {
        (self.least(a), self.greatest(a))
    }

    fn least(&self, a: &Sym) -> Option<i64> {
        let known = &self.top().answers.least;
        known.of(a.clone(), |a| self.prover().least(a))
    }

    fn greatest(&self, a: &Sym) -> Option<i64> {
        let known = &self.top().answers.greatest;
        known.of(a.clone(), |a| self.prover().greatest(a))
    }

    /// Whether all values are from `least` to `most`, by [`Self::range`].
    pub fn is_between(&self, a: &Sym, least: i128, most: i128) -> bool {
        // The search is for the ends that the interval leaves open, first for the one above, which
        // is open for most extents.
        let [lo, hi] = self.prover().quickly_between(a, least, most);
        let is_low = || self.greatest(a).is_some_and(|end| i128::from(end) <= most);
        let is_high = || self.least(a).is_some_and(|end| i128::from(end) >= least);
        (hi || is_low()) && (lo || is_high())
    }

    /// The least and the greatest value of `a` on samples of the variables that satisfy the facts:
    /// its range contains both, and costs much more.
    pub fn samples(&self, a: &Sym) -> Option<(i128, i128)> {
        self.top().models.extremes(a)
    }

    /// An equal expression, simpler where the assumptions in force allow.
    pub fn simplify(&self, a: &Sym) -> Sym {
        self.prover().simplified(a)
    }

    /// An upper bound of `a` that mentions no variable of `drop`.
    pub fn sup(&self, a: &Sym, drop: &SortedSet<Var>) -> Option<Sym> {
        self.prover().sup(a, drop)
    }

    /// A lower bound of `a` that mentions no variable of `drop`.
    pub fn inf(&self, a: &Sym, drop: &SortedSet<Var>) -> Option<Sym> {
        self.prover().inf(a, drop)
    }

    /// The expression in the syntax of the source: `M / 64`, `16 * px + qx`.
    pub fn show(&self, a: &Sym) -> String {
        super::show::show(a, &|v| self.name(v).to_owned())
    }
}

fn usable(bound: Option<Sym>) -> Option<Sym> {
    bound.filter(|b| !b.is_poison())
}

/// The range by those of earlier variables; a bound that mentions a later one is not used.
fn declared_range(variables: &[Variable], facts: &Facts, v: Var) -> Interval {
    let (lo, hi) = bounds_of(variables, v);
    let earlier = |e: &&Sym| e.last_var().is_none_or(|last| last < v);
    Interval {
        lo: lo
            .filter(earlier)
            .and_then(|lo| interval(&facts.ranges, lo).lo),
        hi: hi
            .filter(earlier)
            .and_then(|hi| interval(&facts.ranges, hi).hi),
    }
}

fn all_facts<'a>(
    outermost: &'a mut Facts,
    scopes: &'a mut [(usize, Facts)],
) -> impl Iterator<Item = &'a mut Facts> {
    std::iter::once(outermost).chain(scopes.iter_mut().map(|(_, facts)| facts))
}

fn replenish_models(variables: &[Variable], facts: &mut Facts) {
    let mut models = std::mem::take(&mut facts.models);
    search::replenish(
        &mut models,
        variables.len(),
        |v| bounds_of(variables, v),
        facts,
    );
    facts.models = models;
}
