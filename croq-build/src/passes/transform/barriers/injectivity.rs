//! When do two threads of a unit access the same element? A mixed-radix argument.
//!
//! Let both threads' coordinates be sums of products of a coefficient that is equal for both and a
//! *digit* that may differ. If the coefficients are the same on both sides, and all digits below
//! some coefficient add up to less than it, then the sums can only be equal if the parts above and
//! below that coefficient are equal separately: 16 * qx + qy = 16 * qx' + qy' with 0 <= qy, qy' <
//! 16 implies qx = qx' and qy = qy'. So a coefficient whose digit on both sides is the same single
//! thread index forces that index to be equal for both threads.

use std::collections::HashMap;

use super::place::Place;
use super::vars::{Behaviour, Vars};
use crate::ir::Level;
use crate::sorted::SortedSet;
use crate::symbolic::{Atom, Ctx, Sym, Var};

/// The values that must be equal for two threads of a unit that access the same element.
#[derive(Clone, Debug, Default)]
pub struct Forced {
    atoms: SortedSet<Atom>,
}

impl Forced {
    pub fn contains(&self, vars: &Vars, var: Var) -> bool {
        // A number is determined by its quotient and its remainder by the same divisor.
        self.atoms.contains(&Atom::Var(var))
            || self.atoms.iter().any(|atom| match atom {
                Atom::Div(a, b) => {
                    a.as_var() == Some(var) && self.atoms.contains(&Atom::Rem(a.clone(), b.clone()))
                }
                _ => false,
            })
            || vars
                .meaning(var)
                .is_some_and(|m| self.atoms.iter().any(|a| Sym::atom(a.clone()) == *m))
    }

    pub fn vars(&self) -> impl Iterator<Item = Var> {
        self.atoms.iter().filter_map(|a| match a {
            Atom::Var(v) => Some(*v),
            _ => None,
        })
    }
}

/// The comparisons of places so far. A nest of loops is walked several times, with the same places
/// each time, and the prover takes most of the time of a walk.
#[derive(Default)]
pub struct Comparisons {
    known: HashMap<(Place, Place, Level), Option<Forced>>,
}

impl Comparisons {
    /// [`forced`], which must not depend on anything but its arguments while `self` lives.
    pub fn forced(
        &mut self,
        (cx, vars): (&mut Ctx, &mut Vars),
        a: &Place,
        b: &Place,
        unit: Level,
    ) -> Option<Forced> {
        let key = (a.clone(), b.clone(), unit);
        self.known
            .entry(key)
            .or_insert_with(|| forced(cx, vars, a, b, unit))
            .clone()
    }
}

/// `None` if no two threads ever access the same element.
pub fn forced(cx: &mut Ctx, vars: &mut Vars, a: &Place, b: &Place, unit: Level) -> Option<Forced> {
    let mut forced = Forced::default();
    let flat = || vec![(a.flat.clone(), b.flat.clone())];
    let equations: Vec<(Sym, Sym)> = match (&a.coordinates, &b.coordinates) {
        (Some(x), Some(y)) if x.len() == y.len() => {
            x.iter().cloned().zip(y.iter().cloned()).collect()
        }
        _ => flat(),
    };
    for (x, y) in equations {
        let there = vars.in_other_thread(cx, &y, unit);
        if cx.eq(&x, &there).is_no() {
            return None;
        }
        if let Some(atoms) = solve(cx, vars, &x, &y, unit) {
            forced.atoms.extend(atoms);
        }
    }
    Some(forced)
}

struct Term {
    coef: Sym,
    digit: Atom,
}

/// The digits of both sides for one coefficient.
struct Radix {
    coef: Sym,
    x: Vec<Atom>,
    y: Vec<Atom>,
    /// A constant that is added to the digits of x.
    shift: i64,
}

impl Radix {
    fn x_value(&self) -> Sym {
        let sum = self.x.iter().map(|a| Sym::atom(a.clone()));
        sum.fold(Sym::int(self.shift), |sum, a| &sum + &a)
    }

    fn y_value(&self) -> Sym {
        let sum = self.y.iter().map(|a| Sym::atom(a.clone()));
        sum.fold(Sym::zero(), |sum, a| &sum + &a)
    }
}

/// The values that `x = y` forces to be equal; `None` if the argument does not apply.
fn solve(cx: &Ctx, vars: &Vars, x: &Sym, y: &Sym, unit: Level) -> Option<Vec<Atom>> {
    if x.is_poison() || y.is_poison() {
        return None;
    }
    let mut all = radixes(vars, x, y, unit)?;
    let mut difference = x.constant_part().checked_sub(y.constant_part())?;
    // If all coefficients are negative, the signs are inverted.
    if all.iter().all(|p| cx.lt(&p.coef, &Sym::zero()).is_yes()) {
        for place in &mut all {
            place.coef = -&place.coef;
        }
        difference = difference.checked_neg()?;
    }
    let mut places = ascending(cx, all)?;
    if difference != 0 {
        // A difference that is a multiple of a coefficient is added to its digit.
        let (place, shift) = places.iter_mut().rev().find_map(|p| {
            let coef = p.coef.as_int()?;
            (difference % coef == 0).then_some((p, difference / coef))
        })?;
        place.shift = shift;
    }

    let below = |value: fn(&Radix) -> Sym, end: usize| {
        places
            .iter()
            .take(end)
            .fold(Sym::zero(), |sum, p| &sum + &(&p.coef * &value(p)))
    };
    let zero = Sym::zero();
    let separates = |at: usize| {
        let Some(place) = places.get(at) else {
            return true;
        };
        [Radix::x_value, Radix::y_value].into_iter().all(|value| {
            let sum = below(value, at);
            cx.le(&zero, &sum).is_yes() && cx.lt(&sum, &place.coef).is_yes()
        })
    };
    let holds: Vec<bool> = (0..=places.len()).map(separates).collect();
    let boundary = |at: usize| {
        let above_hold = holds.iter().skip(at).all(|h| *h);
        let Some(place) = places.get(at) else {
            return true;
        };
        let divides = || {
            places
                .iter()
                .skip(at)
                .all(|p| cx.divides(&place.coef, &p.coef).is_yes())
        };
        holds.get(at).is_some_and(|h| *h) && (above_hold || divides())
    };
    let mut forced = Vec::new();
    for (at, place) in places.iter().enumerate() {
        let ([x], [y]) = (place.x.as_slice(), place.y.as_slice()) else {
            continue;
        };
        // A loop variable may differ between two threads although it has one name.
        let same = x == y
            && place.shift == 0
            && Sym::atom(x.clone())
                .vars()
                .iter()
                .all(|v| vars.behaviour(*v, unit) != Behaviour::Free);
        if same && boundary(at) && boundary(at + 1) {
            forced.push(x.clone());
        }
    }
    Some(forced)
}

/// The digits of both sides by their coefficients, without the terms that cancel out.
fn radixes(vars: &Vars, x: &Sym, y: &Sym, unit: Level) -> Option<Vec<Radix>> {
    let fixed = |atoms: &[Atom]| atoms.iter().all(|a| vars.is_fixed_atom(a, unit));
    let common = |coef: i64, atoms: &[Atom], other: &Sym| {
        fixed(atoms) && other.terms().any(|(c, a)| c == coef && a == atoms)
    };
    let side = |own: &Sym, other: &Sym| -> Option<Vec<Term>> {
        own.terms()
            .filter(|(coef, atoms)| !atoms.is_empty() && !common(*coef, atoms, other))
            .map(|(coef, atoms)| term(vars, coef, atoms, unit))
            .collect()
    };
    let mut all: Vec<Radix> = Vec::new();
    for (terms, on_x) in [(side(x, y)?, true), (side(y, x)?, false)] {
        for term in terms {
            let at = all.iter().position(|p| p.coef == term.coef);
            let at = at.unwrap_or_else(|| {
                all.push(Radix {
                    coef: term.coef,
                    x: Vec::new(),
                    y: Vec::new(),
                    shift: 0,
                });
                all.len() - 1
            });
            if let Some(place) = all.get_mut(at) {
                if on_x {
                    place.x.push(term.digit)
                } else {
                    place.y.push(term.digit)
                }
            }
        }
    }
    Some(all)
}

/// Splits a term into the factors that are equal for both threads and the one factor that may
/// differ.
fn term(vars: &Vars, coef: i64, atoms: &[Atom], unit: Level) -> Option<Term> {
    let varying = |a: &&Atom| !vars.is_fixed_atom(a, unit);
    let mut candidates = atoms.iter().filter(varying);
    let digit = match (candidates.next(), candidates.next()) {
        (Some(digit), None) => digit.clone(),
        (Some(_), Some(_)) => return None,
        // The same for both threads at one time, but the accesses are at two times.
        (None, _) => {
            let ordinary = |a: &&Atom| matches!(a, Atom::Var(v) if vars.is_ordinary(*v));
            let mut candidates = atoms.iter().filter(ordinary);
            match (candidates.next(), candidates.next()) {
                (Some(digit), None) => digit.clone(),
                _ => return None,
            }
        }
    };
    let mut rest = atoms.to_vec();
    let at = rest.iter().position(|a| *a == digit)?;
    rest.remove(at);
    (!rest.contains(&digit)).then(|| Term {
        coef: Sym::product(coef, &rest),
        digit,
    })
}

/// Sorted by coefficient; `None` if the prover cannot order them or one may not be positive.
fn ascending(cx: &Ctx, mut places: Vec<Radix>) -> Option<Vec<Radix>> {
    let mut sorted: Vec<Radix> = Vec::with_capacity(places.len());
    while !places.is_empty() {
        let least = places.iter().position(|p| {
            places
                .iter()
                .all(|q| p.coef == q.coef || cx.lt(&p.coef, &q.coef).is_yes())
        })?;
        let place = places.swap_remove(least);
        if !cx.lt(&Sym::zero(), &place.coef).is_yes() {
            return None;
        }
        sorted.push(place);
    }
    Some(sorted)
}
