//! The search for a proof that an expression is nowhere negative.

use std::cell::{Cell, RefCell};

use super::answers::{Folded, Memo};
use super::division::gcd;
use super::facts::Facts;
use super::hash::TermMap;
use super::interval::{interval, least_difference};
use super::ops;
use super::sym::{Atom, Sym, Term};
use super::truth::Truth;
use super::variable::Variable;

/// The work that one question may cost, in terms visited, before the answer is `Unknown`.
const FUEL: usize = 2000;
/// The same if no sample can refute a false claim: the facts may contradict each other.
const FUEL_IN_THE_DARK: usize = 1000;
/// Larger goals are not expanded.
const MAX_GOAL_SIZE: usize = 160;
/// The most nested goals; side conditions count.
const MAX_GOAL_DEPTH: u32 = 14;
/// The most assumptions added on one path.
const MAX_COMBINED: u32 = 3;

#[cfg(test)]
thread_local! {
    static WORK: Cell<u64> = const { Cell::new(0) };
}

/// The work of all proofs of this thread so far, in terms visited.
#[cfg(test)]
pub fn work() -> u64 {
    WORK.get()
}

/// The state of one question: the facts, and the remaining work.
pub(super) struct Prover<'a> {
    pub variables: &'a [Variable],
    pub facts: &'a Facts,
    fuel: Cell<usize>,
    depth: Cell<u32>,
    combined: Cell<u32>,
    /// Goals that were visited. A goal that is still open counts as not proved, which ends cycles.
    met: RefCell<TermMap<Sym, bool>>,
    /// Declared bounds, simplified.
    pub resolved_ends: RefCell<TermMap<Sym, Sym>>,
    /// Whether little work is left to the proofs of a construction.
    limited: bool,
}

/// The goals from which a goal follows.
pub(super) enum Step {
    /// Each of these is a lower bound of the goal: proving any of them suffices.
    AnyOf(Vec<Sym>),
    /// The goal equals one of these, but it is not known which: all must be proved.
    AllOf(Vec<Sym>),
}

impl<'a> Prover<'a> {
    pub fn new(variables: &'a [Variable], facts: &'a Facts) -> Prover<'a> {
        let prover = Prover {
            variables,
            facts,
            fuel: Cell::new(0),
            depth: Cell::new(0),
            combined: Cell::new(0),
            met: RefCell::default(),
            resolved_ends: RefCell::default(),
            limited: false,
        };
        prover.refuel();
        prover
    }

    /// Leaves less work to the proofs of a construction.
    pub fn limited(self, fuel: usize) -> Prover<'a> {
        self.fuel.set(fuel.min(self.fuel.get()));
        Prover {
            limited: true,
            ..self
        }
    }

    /// The result of `find` for these operands, which was found already or is kept with the answers
    /// about the facts. Within a proof, and without work left, a result may be folded less than another
    /// time: it is not kept, except for others with little work.
    pub(super) fn kept(
        &self,
        of: impl Fn(&Folded) -> &Memo<(Sym, Sym), Sym>,
        (a, b): (&Sym, &Sym),
        find: impl FnOnce() -> Sym,
    ) -> Sym {
        if self.depth() > 0 {
            return find();
        }
        let answers = &self.facts.answers;
        let (thorough, quick) = (of(&answers.folded), of(&answers.quickly_folded));
        let key = (a.clone(), b.clone());
        let known = thorough.get(&key);
        let known = known.or_else(|| quick.get(&key).filter(|_| self.limited));
        if let Some(known) = known {
            return known;
        }
        let found = find();
        if self.has_fuel() {
            thorough.keep(key, &found);
        } else if self.limited {
            quick.keep(key, &found);
        }
        found
    }

    /// [`Self::simplify`] by work of its own, so that the result is kept with the answers about the
    /// facts.
    pub fn simplified(&self, e: &Sym) -> Sym {
        let known = &self.facts.answers.simplified;
        known.of(e.clone(), |e| {
            Prover::new(self.variables, self.facts).simplify(e)
        })
    }

    /// Whether `e >= 0` everywhere (`Yes`) or nowhere (`No`).
    pub fn is_nonneg(&self, e: &Sym) -> Truth {
        if e.is_poison() {
            return Truth::Unknown;
        }
        if self.nonneg(e) {
            return Truth::Yes;
        }
        self.refuel();
        if self.nonneg(&-(e + 1)) {
            return Truth::No;
        }
        if !e.has_compound_atoms() {
            return Truth::Unknown;
        }
        let simple = self.simplified(e);
        if simple == *e {
            return Truth::Unknown;
        }
        self.refuel();
        if self.nonneg(&simple) {
            Truth::Yes
        } else if self.nonneg(&-(simple + 1)) {
            Truth::No
        } else {
            Truth::Unknown
        }
    }

    /// Whether `e == 0` everywhere (`Yes`) or nowhere (`No`).
    pub fn is_zero(&self, e: &Sym) -> Truth {
        if e.is_poison() {
            return Truth::Unknown;
        }
        let e = self.simplified(e);
        if e.is_poison() {
            return Truth::Unknown;
        }
        if let Some(c) = e.as_int() {
            return if c == 0 { Truth::Yes } else { Truth::No };
        }
        if self.never_zero_by_residue(&e) {
            return Truth::No;
        }
        self.refuel();
        let (not_negative, not_positive) = (self.nonneg(&e), self.nonneg(&-&e));
        if not_negative && not_positive {
            return Truth::Yes;
        }
        self.refuel();
        if self.nonneg(&(&e - 1)) || self.nonneg(&-(&e + 1)) {
            return Truth::No;
        }
        Truth::Unknown
    }

    /// The number of goals around this one.
    pub(super) fn depth(&self) -> u32 {
        self.depth.get()
    }

    pub(super) fn has_fuel(&self) -> bool {
        self.fuel.get() > 0
    }

    pub(super) fn refuel(&self) {
        let in_the_dark = self.facts.models.is_empty();
        self.fuel
            .set(if in_the_dark { FUEL_IN_THE_DARK } else { FUEL });
    }

    /// Accounts for work on `e`; false if the limit is reached.
    pub(super) fn spend(&self, e: &Sym) -> bool {
        #[cfg(test)]
        WORK.set(WORK.get() + e.size() as u64);
        let left = self.fuel.get();
        self.fuel.set(left.saturating_sub(e.size()));
        left > 0
    }

    /// Proves `e >= 0`; false if no proof is found.
    pub(super) fn nonneg(&self, e: &Sym) -> bool {
        if e.is_poison() {
            return false;
        }
        if let Some(c) = e.as_int() {
            return c >= 0;
        }
        let affordable = self.spend(e);
        if let Some(known) = self.met.borrow().get(e) {
            return *known;
        }
        let quick = interval(&self.facts.ranges, e);
        if quick.lo.is_some_and(|lo| lo >= 0) {
            return true;
        }
        if quick.hi.is_some_and(|hi| hi < 0) || self.facts.models.refute(e) {
            return false;
        }
        let too_far = self.depth.get() >= MAX_GOAL_DEPTH || e.size() > MAX_GOAL_SIZE;
        if too_far || !affordable {
            return false;
        }
        self.met.borrow_mut().insert(e.clone(), false);
        self.depth.set(self.depth.get() + 1);
        let goal = self.rounded(&self.with_values(e));
        let shown = self.search(&goal, goal == *e);
        self.depth.set(self.depth.get().saturating_sub(1));
        if shown {
            self.met.borrow_mut().insert(e.clone(), true);
        }
        shown
    }

    /// `g * x + c >= 0` is equivalent to `x + floor(c / g) >= 0`.
    fn rounded(&self, e: &Sym) -> Sym {
        let Some(terms) = e.raw_terms() else {
            return e.clone();
        };
        let g = terms
            .iter()
            .filter(|t| !t.factors.is_empty())
            .fold(0, |g, t| gcd(g, t.coef));
        if g <= 1 {
            return e.clone();
        }
        let divided = terms
            .iter()
            .map(|t| Term {
                factors: t.factors.clone(),
                coef: t.coef.div_euclid(g),
            })
            .collect();
        Sym::from_sorted(divided)
    }

    /// `bounded`: whether the interval of the expression is known to be no answer.
    fn search(&self, e: &Sym, bounded: bool) -> bool {
        if let Some(c) = e.as_int() {
            return c >= 0;
        }
        if !bounded && interval(&self.facts.ranges, e).lo.is_some_and(|lo| lo >= 0) {
            return true;
        }
        let vars = e.sorted_vars();
        for known in &self.facts.inequalities {
            if !known
                .sorted_vars()
                .iter()
                .any(|v| vars.binary_search(v).is_ok())
            {
                continue;
            }
            if least_difference(&self.facts.ranges, e, known).is_some_and(|lo| lo >= 0) {
                return true;
            }
        }
        for v in vars.iter().rev() {
            let Some(least) = self.at_least_end(e, *v) else {
                continue;
            };
            if least.bounds.iter().any(|bound| self.nonneg(bound)) {
                return true;
            }
            if least.exact && e.last_var() == Some(*v) {
                return false;
            }
        }
        let mut atoms = e.top_atoms();
        atoms.retain(|atom| !matches!(atom, Atom::Var(_)));
        atoms.sort_by_key(|atom| std::cmp::Reverse(atom.last_var()));
        for atom in atoms {
            let shown = match self.without_atom(e, atom, true) {
                Step::AnyOf(goals) => goals.iter().any(|goal| self.nonneg(goal)),
                Step::AllOf(goals) => goals.iter().all(|goal| self.nonneg(goal)),
            };
            if shown {
                return true;
            }
        }
        self.with_assumption(e)
    }

    /// Subtracts a non-negative multiple of an assumption so that a term cancels.
    fn with_assumption(&self, e: &Sym) -> bool {
        if self.combined.get() >= MAX_COMBINED {
            return false;
        }
        self.combined.set(self.combined.get() + 1);
        let shown = self
            .facts
            .inequalities
            .iter()
            .any(|known| self.with_this(e, known));
        self.combined.set(self.combined.get().saturating_sub(1));
        shown
    }

    fn with_this(&self, e: &Sym, known: &Sym) -> bool {
        let (Some(terms), Some(parts)) = (e.raw_terms(), known.raw_terms()) else {
            return false;
        };
        let mut tried: Vec<Sym> = Vec::new();
        for part in parts.iter().filter(|part| !part.factors.is_empty()) {
            for term in terms {
                let Some(factors) = term.factors.without(&part.factors) else {
                    continue;
                };
                if (term.coef > 0) != (part.coef > 0) {
                    continue;
                }
                // Scale both so that the term cancels: s * e - m * known.
                let g = gcd(term.coef, part.coef).max(1);
                let (Some(times), Some(scale)) = (
                    term.coef.checked_div(g).and_then(i64::checked_abs),
                    part.coef.checked_div(g).and_then(i64::checked_abs),
                ) else {
                    continue;
                };
                let multiple = Sym::term(times, factors);
                if !self.nonneg(&multiple) {
                    continue;
                }
                // `s * e > -s` suffices for `e >= 0`.
                let goal = ops::scaled(e, scale) + (scale - 1) - multiple * known;
                if !tried.contains(&goal) {
                    if self.nonneg(&goal) {
                        return true;
                    }
                    tried.push(goal);
                }
            }
        }
        false
    }
}
