//! Bounds of an expression: replaces a variable or an atom by the end of its range.

use super::division;
use super::interval::{Interval, interval};
use super::prove::{Prover, Step};
use super::sym::{Atom, Sym, Term, Var};
use super::variable::bounds_of;
use crate::sorted::SortedSet;

/// How an expression changes when a variable increases.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Flat,
    Up,
    Down,
}

impl Direction {
    fn of_sign(sign: i32) -> Direction {
        match sign {
            0 => Direction::Flat,
            1 => Direction::Up,
            _ => Direction::Down,
        }
    }

    fn flipped(self) -> Direction {
        match self {
            Direction::Flat => Direction::Flat,
            Direction::Up => Direction::Down,
            Direction::Down => Direction::Up,
        }
    }

    fn and(self, other: Direction) -> Option<Direction> {
        match (self, other) {
            (Direction::Flat, d) | (d, Direction::Flat) => Some(d),
            (a, b) => (a == b).then_some(a),
        }
    }
}

/// Lower bounds from replacing a variable by the end of its range.
pub(super) struct Least {
    pub bounds: Vec<Sym>,
    /// Whether the first bound is attained, so that no better one exists.
    pub exact: bool,
    /// Whether the range is unbounded at that end.
    pub open: bool,
}

/// One end of the range of a variable.
struct Ends {
    declared: Option<Sym>,
    /// Ends that follow from assumptions.
    assumed: Vec<Sym>,
    /// Whether any assumption mentions the variable.
    mentioned: bool,
}

impl Prover<'_> {
    /// 1 for `e >= 0`, -1 for `e <= 0`, 0 for `e == 0`.
    fn sign(&self, e: &Sym) -> Option<i32> {
        if e.is_zero() {
            Some(0)
        } else if self.nonneg(e) {
            Some(1)
        } else if self.nonneg(&-e) {
            Some(-1)
        } else {
            None
        }
    }

    /// The direction of `e` in `v`, provided that each of `conditions` is at least zero over the
    /// range; each is monotone in `v`, so both ends of the range suffice.
    fn direction(&self, e: &Sym, v: Var, conditions: &mut Vec<Sym>) -> Option<Direction> {
        // Terms grouped by the factors that depend on `v`; the other factors add up to a
        // coefficient.
        let mut groups: Vec<(Vec<&Atom>, Vec<Term>)> = Vec::new();
        for term in e.raw_terms()? {
            if !term.factors.iter().any(|f| f.contains(v)) {
                continue;
            }
            let (moving, fixed): (Vec<&Atom>, Vec<&Atom>) =
                term.factors.iter().partition(|f| f.contains(v));
            let fixed = Term {
                factors: fixed.into_iter().cloned().collect::<Vec<_>>().into(),
                coef: term.coef,
            };
            match groups.iter_mut().find(|(m, _)| *m == moving) {
                Some((_, terms)) => terms.push(fixed),
                None => groups.push((moving, vec![fixed])),
            }
        }
        let mut total = Direction::Flat;
        for (moving, terms) in groups {
            let sign = self.sign(&Sym::from_unsorted(terms))?;
            let mut own = Direction::Flat;
            for atom in &moving {
                own = own.and(self.atom_direction(atom, v, conditions)?)?;
            }
            if moving.len() > 1 {
                // A product of nonnegative factors changes in the direction of its factors.
                for atom in &moving {
                    let factor = Sym::atom((*atom).clone());
                    if !self.nonneg(&factor) {
                        return None;
                    }
                    conditions.push(factor);
                }
            }
            let own = match Direction::of_sign(sign) {
                Direction::Flat => Direction::Flat,
                Direction::Up => own,
                Direction::Down => own.flipped(),
            };
            total = total.and(own)?;
        }
        Some(total)
    }

    fn atom_direction(&self, atom: &Atom, v: Var, conditions: &mut Vec<Sym>) -> Option<Direction> {
        match atom {
            Atom::Var(_) => Some(Direction::Up),
            Atom::Div(a, b) if !b.contains(v) => {
                if !self.positive(b) {
                    return None;
                }
                self.direction(a, v, conditions)
            }
            Atom::Div(a, b) if !a.contains(v) => {
                if !self.nonneg(a) || !self.positive(b) {
                    return None;
                }
                let towards = self.direction(b, v, conditions)?;
                conditions.push(b - 1);
                Some(towards.flipped())
            }
            Atom::Div(..) | Atom::Rem(..) => None,
            Atom::Min(a, b) | Atom::Max(a, b) => self
                .direction(a, v, conditions)?
                .and(self.direction(b, v, conditions)?),
        }
    }

    /// Lower bounds of `e` from replacing `v` by the end of its range where `e` is least.
    pub(super) fn at_least_end(&self, e: &Sym, v: Var) -> Option<Least> {
        let mut conditions = Vec::new();
        let direction = self.direction(e, v, &mut conditions)?;
        if direction == Direction::Flat {
            // A coefficient that is zero everywhere, although its form is not zero.
            return None;
        }
        let upper = direction == Direction::Down;
        let ends = self.ends(v, upper);
        let exact = ends.declared.is_some() && !ends.mentioned && e.is_linear_in(v);
        let open = ends.declared.is_none() && ends.assumed.is_empty() && !ends.mentioned;
        let mut bounds = Vec::new();
        for end in ends.declared.iter().chain(&ends.assumed) {
            if end.contains(v)
                || !conditions
                    .iter()
                    .all(|c| self.nonneg(&self.substitute(c, v, end)))
            {
                continue;
            }
            let bound = self.substitute(e, v, end);
            if !bound.contains(v) && !bound.is_poison() && !bounds.contains(&bound) {
                bounds.push(bound);
            }
        }
        Some(Least {
            bounds,
            exact,
            open,
        })
    }

    fn ends(&self, v: Var, upper: bool) -> Ends {
        let (lo, hi) = bounds_of(self.variables, v);
        let declared = if upper { hi } else { lo }.map(|end| self.resolved(end));
        let mut assumed = Vec::new();
        let range = self.facts.range_of(v);
        let constant = if upper { range.hi } else { range.lo };
        if let Some(constant) = constant.and_then(|c| i64::try_from(c).ok()).map(Sym::int) {
            assumed.push(constant);
        }
        let mut mentioned = self
            .facts
            .divisors
            .iter()
            .any(|(d, e)| d.contains(v) || e.contains(v));
        for known in &self.facts.inequalities {
            if !known.contains(v) {
                continue;
            }
            mentioned = true;
            let Some((coefficient, rest)) = known.linear_in(v) else {
                continue;
            };
            // coefficient * v + rest >= 0
            if upper && self.positive(&-&coefficient) {
                // The quotient truncates, which rounds down only nonnegative values.
                if coefficient.as_int() == Some(-1) {
                    assumed.push(rest);
                } else if self.nonneg(&rest) {
                    assumed.push(self.div(&rest, &-coefficient));
                }
            } else if !upper && self.positive(&coefficient) {
                if coefficient.is_one() {
                    assumed.push(-rest);
                } else if self.nonneg(&-&rest) {
                    assumed.push(self.div(&(-rest + &coefficient - 1), &coefficient));
                }
            }
        }
        Ends {
            declared,
            assumed,
            mentioned,
        }
    }

    /// A declared bound, simplified with the current facts: it was constructed with those of its
    /// declaration.
    fn resolved(&self, end: &Sym) -> Sym {
        if !end.has_compound_atoms() || self.facts.is_bare() {
            return self.with_values(end);
        }
        if let Some(known) = self.resolved_ends.borrow().get(end) {
            return known.clone();
        }
        // While it is being simplified, it is represented by itself.
        self.resolved_ends
            .borrow_mut()
            .insert(end.clone(), end.clone());
        let simple = self.simplify(end);
        self.resolved_ends
            .borrow_mut()
            .insert(end.clone(), simple.clone());
        simple
    }

    /// Lower bounds of `e` without one occurrence of a quotient, remainder, minimum or maximum.
    /// With `scaled`, a bound may be one of a multiple of `e` that is negative only if `e` is.
    pub(super) fn without_atom(&self, e: &Sym, atom: &Atom, scaled: bool) -> Step {
        let nothing = || Step::AnyOf(Vec::new());
        let Some((k, rest)) = e.collect(atom) else {
            return nothing();
        };
        match atom {
            Atom::Var(_) => nothing(),
            Atom::Min(a, b) | Atom::Max(a, b) => {
                let either = vec![&k * a + &rest, &k * b + &rest];
                let is_min = matches!(atom, Atom::Min(..));
                match self.sign(&k) {
                    // -min(a, b) >= -a, and max(a, b) >= a.
                    Some(-1) if is_min => Step::AnyOf(either),
                    Some(1) if !is_min => Step::AnyOf(either),
                    _ => Step::AllOf(either),
                }
            }
            Atom::Rem(a, b) => {
                let mut goals = Vec::new();
                let whole = Sym::atom(Atom::Div(a.clone(), b.clone()));
                if e.top_atoms()
                    .iter()
                    .any(|x| matches!(x, Atom::Div(c, d) if c == a && d == b))
                {
                    goals.push(&k * (a - b * &whole) + &rest);
                }
                if self.positive(b) {
                    let not_negative = self.nonneg(a);
                    match self.sign(&k) {
                        Some(1) if not_negative => goals.push(rest.clone()),
                        Some(1) => goals.push(&rest - &k * (b - 1)),
                        Some(-1) => {
                            goals.push(&rest + &k * (b - 1));
                            if not_negative {
                                goals.push(&rest + &k * a);
                            } else if self.nonneg(&-a) {
                                goals.push(rest.clone());
                            }
                        }
                        _ => {}
                    }
                }
                goals.push(&k * (a - b * whole) + rest);
                goals.dedup();
                Step::AnyOf(goals)
            }
            Atom::Div(a, b) => {
                if !self.positive(b) {
                    return nothing();
                }
                let mut goals = Vec::new();
                let not_negative = self.nonneg(a);
                let exact = self.divides_by_form(b, a);
                match self.sign(&k) {
                    Some(-1) => {
                        // b * q <= most
                        let most = if not_negative || exact {
                            a.clone()
                        } else {
                            a + b - 1
                        };
                        let amount = -&k;
                        goals.extend(Self::quotient_bound(&k, &rest, b, &most, scaled));
                        if not_negative && let Some(part) = self.part_of_divisor(&amount, b) {
                            // g * (a / (g * c)) <= a / c
                            if let (Some(times), Some(c)) = (
                                division::without(&amount, &part),
                                division::without(b, &part),
                            ) {
                                goals.push(&rest - times * self.div(a, &c));
                            }
                        }
                    }
                    Some(1) => {
                        // b * q >= least
                        let least = if exact || !not_negative && self.nonneg(&-a) {
                            a.clone()
                        } else {
                            a - b + 1
                        };
                        goals.extend(Self::quotient_bound(&k, &rest, b, &least, scaled));
                        if not_negative {
                            goals.push(rest.clone());
                            if let Some(part) = self.part_of_divisor(&k, b)
                                && let (Some(times), Some(c)) =
                                    (division::without(&k, &part), division::without(b, &part))
                            {
                                // g * (a / (g * c)) >= a / c - (g - 1)
                                let g = division::of_term(&part);
                                goals.push(times * (self.div(a, &c) - g + 1) + &rest);
                            }
                        }
                    }
                    _ => {}
                }
                Step::AnyOf(goals)
            }
        }
    }

    /// A lower bound of `k * q + rest`, where `k * (b * q)` is at least `k * end`.
    fn quotient_bound(k: &Sym, rest: &Sym, b: &Sym, end: &Sym, scaled: bool) -> Option<Sym> {
        match division::exact_quotient(k, b) {
            Some(times) => Some(rest + times * end),
            // `b * e > -b` suffices for `e >= 0`.
            None => scaled.then(|| b * rest + k * end + b - 1),
        }
    }

    /// A lower bound of `e` without the variables of `drop`.
    pub fn inf(&self, e: &Sym, drop: &SortedSet<Var>) -> Option<Sym> {
        let e = self.simplified(e);
        let found = self.lower(&e, drop, 0);
        found
            .map(|e| self.simplified(&e))
            .filter(|e| !e.is_poison())
    }

    /// An upper bound of `e` without the variables of `drop`.
    pub fn sup(&self, e: &Sym, drop: &SortedSet<Var>) -> Option<Sym> {
        self.inf(&-e, drop).map(|e| -e)
    }

    fn lower(&self, e: &Sym, drop: &SortedSet<Var>, depth: u32) -> Option<Sym> {
        if e.is_poison() || depth > 40 || !self.spend(e) {
            return None;
        }
        let dropped: Vec<Var> = e
            .sorted_vars()
            .iter()
            .rev()
            .copied()
            .filter(|v| drop.contains(v))
            .collect();
        if dropped.is_empty() {
            return Some(e.clone());
        }
        for v in &dropped {
            let Some(least) = self.at_least_end(e, *v) else {
                continue;
            };
            for bound in &least.bounds {
                if let Some(found) = self.lower(bound, drop, depth + 1) {
                    return Some(found);
                }
            }
            if least.open {
                return None;
            }
        }
        let mut atoms = e.top_atoms();
        atoms.retain(|a| !matches!(a, Atom::Var(_)) && dropped.iter().any(|v| a.contains(*v)));
        atoms.sort_by_key(|atom| std::cmp::Reverse(atom.last_var()));
        for atom in atoms {
            match self.without_atom(e, atom, false) {
                Step::AnyOf(goals) => {
                    for goal in goals {
                        if let Some(found) = self.lower(&goal, drop, depth + 1) {
                            return Some(found);
                        }
                    }
                }
                Step::AllOf(goals) => {
                    let bounds: Option<Vec<Sym>> = goals
                        .iter()
                        .map(|goal| self.lower(goal, drop, depth + 1))
                        .collect();
                    if let Some(least) =
                        bounds.and_then(|b| b.into_iter().reduce(|a, b| self.min(&a, &b)))
                    {
                        return Some(least);
                    }
                }
            }
        }
        let constant = interval(&self.facts.ranges, e)
            .lo
            .and_then(|lo| i64::try_from(lo).ok());
        constant.map(Sym::int)
    }

    /// A constant lower bound.
    pub fn least(&self, e: &Sym) -> Option<i64> {
        let (e, quick) = self.simple(e)?;
        let found = self.is_searched(&e).then(|| {
            self.refuel();
            self.inf(&e, &e.vars())
        });
        tighter(found.flatten(), quick.lo, i128::max)
    }

    /// A constant upper bound.
    pub fn greatest(&self, e: &Sym) -> Option<i64> {
        let (e, quick) = self.simple(e)?;
        let found = self.is_searched(&e).then(|| {
            self.refuel();
            self.sup(&e, &e.vars())
        });
        tighter(found.flatten(), quick.hi, i128::min)
    }

    fn simple(&self, e: &Sym) -> Option<(Sym, Interval)> {
        if e.is_poison() {
            return None;
        }
        let e = self.simplified(e);
        let quick = interval(&self.facts.ranges, &e);
        Some((e, quick))
    }

    /// Whether a search may find better bounds than the interval.
    fn is_searched(&self, e: &Sym) -> bool {
        e.as_int().is_none() && (e.as_var().is_none() || !self.facts.inequalities.is_empty())
    }

    /// Whether the interval shows that all values are at least `least`, and that they are at most
    /// `most`. What [`Self::least`] and [`Self::greatest`] find is at least as good.
    pub fn quickly_between(&self, e: &Sym, least: i128, most: i128) -> [bool; 2] {
        let quick = interval(&self.facts.ranges, e);
        let fits = |end: Option<i128>| {
            !e.is_poison()
                && end
                    .is_some_and(|end| (least..=most).contains(&end) && i64::try_from(end).is_ok())
        };
        [fits(quick.lo), fits(quick.hi)]
    }

    /// A positive factor that the amount shares with the divisor, which is a single product, and
    /// that is not the whole divisor.
    fn part_of_divisor(&self, amount: &Sym, b: &Sym) -> Option<Term> {
        let [divisor] = b.raw_terms()? else {
            return None;
        };
        let part = division::content(amount)?.common(divisor);
        let proper = !part.is_unit() && part != *divisor;
        (proper && self.positive(&division::of_term(&part))).then_some(part)
    }
}

/// The better one of a bound that was found and of the interval's.
fn tighter(found: Option<Sym>, quick: Option<i128>, pick: fn(i128, i128) -> i128) -> Option<i64> {
    let found = found.and_then(|e| e.as_int()).map(i128::from);
    let end = match (found, quick) {
        (Some(a), Some(b)) => Some(pick(a, b)),
        (a, b) => a.or(b),
    };
    end.and_then(|end| i64::try_from(end).ok())
}
