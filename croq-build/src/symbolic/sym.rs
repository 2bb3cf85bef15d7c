//! The normal form: a sorted sum of integer coefficients times products of atoms.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

use super::factors::Factors;
use super::hash::TermHasher;
use super::var_set::VarSet;
use crate::sorted::SortedSet;

pub use super::var_set::Var;

/// The most terms of one sum; a larger one is poison.
const MAX_TERMS: usize = 256;
/// The most terms in total, those inside atoms included.
const MAX_SIZE: usize = 2048;
/// The most nested atoms.
const MAX_DEPTH: u32 = 24;
/// The most factors of one product.
const MAX_DEGREE: usize = 16;

/// A factor of a product. `Div` and `Rem` truncate toward zero, as in C.
///
/// Build quotients and the like with the constructors of [`Ctx`](super::Ctx), which fold them.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Atom {
    Var(Var),
    Div(Sym, Sym),
    Rem(Sym, Sym),
    Min(Sym, Sym),
    Max(Sym, Sym),
}

/// An integer expression in normal form. Cloning is cheap; equal expressions built by the same
/// context compare equal.
#[derive(Clone)]
pub struct Sym(Arc<Node>);

struct Node {
    hash: u64,
    size: usize,
    depth: u32,
    /// Those inside atoms included.
    vars: VarSet,
    terms: Terms,
}

/// The terms of a sum, sorted. Most sums have one term, which is a part of the node.
enum Terms {
    Poison,
    One(Term),
    Many(Vec<Term>),
}

/// `coef` times the product of `factors`, which are sorted and may repeat.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Term {
    pub factors: Factors<Atom>,
    pub coef: i64,
}

impl Terms {
    fn all(&self) -> &[Term] {
        match self {
            Terms::Poison => &[],
            Terms::One(term) => std::slice::from_ref(term),
            Terms::Many(terms) => terms,
        }
    }
}

impl Atom {
    /// The two operands; `None` for a variable.
    pub fn operands(&self) -> Option<(&Sym, &Sym)> {
        match self {
            Atom::Var(_) => None,
            Atom::Div(a, b) | Atom::Rem(a, b) | Atom::Min(a, b) | Atom::Max(a, b) => Some((a, b)),
        }
    }

    pub fn contains(&self, v: Var) -> bool {
        match self {
            Atom::Var(own) => *own == v,
            _ => self
                .operands()
                .is_some_and(|(a, b)| a.contains(v) || b.contains(v)),
        }
    }

    /// The variable introduced last among those in the atom.
    pub(super) fn last_var(&self) -> Option<Var> {
        match self {
            Atom::Var(v) => Some(*v),
            _ => self
                .operands()
                .and_then(|(a, b)| a.last_var().max(b.last_var())),
        }
    }
}

/// Graded lexicographic, greatest first: the order in which terms are stored. It is compatible with
/// multiplication, which exact division needs.
pub(super) fn order_of_products(a: &[Atom], b: &[Atom]) -> Ordering {
    b.len().cmp(&a.len()).then_with(|| a.cmp(b))
}

/// Checked multiplication, which takes many instructions for numbers of more than 64 bits.
pub(super) fn checked_product(a: i128, b: i128) -> Option<i128> {
    match (i64::try_from(a), i64::try_from(b)) {
        (Ok(a), Ok(b)) => Some(i128::from(a) * i128::from(b)),
        _ => a.checked_mul(b),
    }
}

/// The integers that expressions have most.
const SMALL: std::ops::Range<i64> = -1..65;

static SMALL_INTEGERS: LazyLock<Vec<Sym>> = LazyLock::new(|| SMALL.map(Sym::new_int).collect());

impl Sym {
    pub fn int(v: i64) -> Sym {
        let small = usize::try_from(v.wrapping_sub(SMALL.start)).ok();
        match small.and_then(|at| SMALL_INTEGERS.get(at)) {
            Some(shared) => shared.clone(),
            None => Sym::new_int(v),
        }
    }

    fn new_int(v: i64) -> Sym {
        Sym::new(match v {
            0 => Terms::Many(Vec::new()),
            coef => Terms::One(Term {
                factors: Factors::None,
                coef,
            }),
        })
    }

    pub fn zero() -> Sym {
        Sym::int(0)
    }

    pub fn one() -> Sym {
        Sym::int(1)
    }

    pub fn var(v: Var) -> Sym {
        Sym::atom(Atom::Var(v))
    }

    /// The expression about which nothing is known.
    pub fn poison() -> Sym {
        Sym(Arc::new(Node {
            hash: 0,
            size: 1,
            depth: 0,
            vars: VarSet::new(),
            terms: Terms::Poison,
        }))
    }

    pub fn atom(atom: Atom) -> Sym {
        if atom
            .operands()
            .is_some_and(|(a, b)| a.is_poison() || b.is_poison())
        {
            return Sym::poison();
        }
        Sym::one_term(Term {
            factors: Factors::One(atom),
            coef: 1,
        })
    }

    /// `coef` times the product of sorted factors, such as those of a term.
    pub fn product(coef: i64, factors: &[Atom]) -> Sym {
        Sym::term(coef, factors)
    }

    pub(super) fn term(coef: i64, factors: impl Into<Factors<Atom>>) -> Sym {
        let factors = factors.into();
        Sym::one_term(Term { factors, coef })
    }

    fn one_term(term: Term) -> Sym {
        if term.coef == 0 || term.factors.is_empty() {
            return Sym::int(term.coef);
        }
        Sym::new(Terms::One(term))
    }

    /// Sorts the terms, and adds those with the same product.
    pub(super) fn from_unsorted(mut terms: Vec<Term>) -> Sym {
        terms.sort_by(|a, b| order_of_products(&a.factors, &b.factors));
        let mut sum: Vec<Term> = Vec::with_capacity(terms.len());
        for term in terms {
            match sum.last_mut() {
                Some(last) if last.factors == term.factors => {
                    let Some(coef) = last.coef.checked_add(term.coef) else {
                        return Sym::poison();
                    };
                    last.coef = coef;
                }
                _ => sum.push(term),
            }
        }
        Sym::from_sorted(sum)
    }

    /// Terms must be sorted and distinct; zero coefficients are removed.
    pub(super) fn from_sorted(mut terms: Vec<Term>) -> Sym {
        if terms.iter().any(|t| t.coef == 0) {
            terms.retain(|t| t.coef != 0);
        }
        if terms.len() > 1 {
            return Sym::new(Terms::Many(terms));
        }
        terms.pop().map_or_else(Sym::zero, Sym::one_term)
    }

    fn new(terms: Terms) -> Sym {
        let mut size = terms.all().len().max(1);
        let mut depth = 0;
        let mut vars = VarSet::new();
        let mut hasher = TermHasher::default();
        for term in terms.all() {
            if term.factors.len() > MAX_DEGREE {
                return Sym::poison();
            }
            term.coef.hash(&mut hasher);
            for atom in &term.factors {
                match atom {
                    Atom::Var(v) => vars.insert(*v),
                    _ => {
                        if let Some((a, b)) = atom.operands() {
                            size += a.0.size + b.0.size;
                            depth = depth.max(1 + a.0.depth.max(b.0.depth));
                            vars.extend(&a.0.vars);
                            vars.extend(&b.0.vars);
                        }
                    }
                }
                atom.hash(&mut hasher);
            }
        }
        if terms.all().len() > MAX_TERMS || size > MAX_SIZE || depth > MAX_DEPTH {
            return Sym::poison();
        }
        Sym(Arc::new(Node {
            hash: hasher.finish(),
            size,
            depth,
            vars,
            terms,
        }))
    }

    pub(super) fn raw_terms(&self) -> Option<&[Term]> {
        match &self.0.terms {
            Terms::Poison => None,
            terms => Some(terms.all()),
        }
    }

    /// Whether an operation overflowed or the expression exceeded its limits.
    pub fn is_poison(&self) -> bool {
        matches!(self.0.terms, Terms::Poison)
    }

    pub fn as_int(&self) -> Option<i64> {
        match self.raw_terms()? {
            [] => Some(0),
            [one] if one.factors.is_empty() => Some(one.coef),
            _ => None,
        }
    }

    pub fn as_var(&self) -> Option<Var> {
        match self.raw_terms()? {
            [
                Term {
                    factors: Factors::One(Atom::Var(v)),
                    coef: 1,
                },
            ] => Some(*v),
            _ => None,
        }
    }

    pub fn is_zero(&self) -> bool {
        self.as_int() == Some(0)
    }

    pub fn is_one(&self) -> bool {
        self.as_int() == Some(1)
    }

    /// All variables, those inside atoms included.
    pub fn vars(&self) -> SortedSet<Var> {
        self.0.vars.iter().copied().collect()
    }

    /// The value for the given values of variables; `None` on division by zero, overflow, or a
    /// variable without a value.
    pub fn evaluate<F>(&self, value_of: &F) -> Option<i128>
    where
        F: Fn(Var) -> Option<i128> + ?Sized,
    {
        let mut sum: i128 = 0;
        for term in self.raw_terms()? {
            let mut product = i128::from(term.coef);
            for factor in &term.factors {
                let value = match factor {
                    Atom::Var(v) => value_of(*v)?,
                    Atom::Div(a, b) => a.evaluate(value_of)?.checked_div(b.evaluate(value_of)?)?,
                    Atom::Rem(a, b) => a.evaluate(value_of)?.checked_rem(b.evaluate(value_of)?)?,
                    Atom::Min(a, b) => a.evaluate(value_of)?.min(b.evaluate(value_of)?),
                    Atom::Max(a, b) => a.evaluate(value_of)?.max(b.evaluate(value_of)?),
                };
                product = checked_product(product, value)?;
            }
            sum = sum.checked_add(product)?;
        }
        Some(sum)
    }

    /// The number of terms, those inside atoms included.
    pub(super) fn size(&self) -> usize {
        self.0.size
    }

    /// All variables in order, those inside atoms included.
    pub fn sorted_vars(&self) -> &[Var] {
        &self.0.vars
    }

    pub(super) fn last_var(&self) -> Option<Var> {
        self.0.vars.last().copied()
    }

    pub fn contains(&self, v: Var) -> bool {
        self.0.vars.binary_search(&v).is_ok()
    }

    /// The terms, highest degree first: coefficient and sorted factors. A constant has no factors.
    /// Poison has no terms.
    pub fn terms(&self) -> impl Iterator<Item = (i64, &[Atom])> {
        self.raw_terms()
            .unwrap_or_default()
            .iter()
            .map(|t| (t.coef, &*t.factors))
    }

    /// The sum of some of the terms.
    pub fn part(&self, mut wanted: impl FnMut(i64, &[Atom]) -> bool) -> Sym {
        let Some(terms) = self.raw_terms() else {
            return Sym::poison();
        };
        let some = terms.iter().filter(|t| wanted(t.coef, &t.factors));
        Sym::from_sorted(some.cloned().collect())
    }

    /// Divided by the greatest common divisor of the coefficients.
    pub fn primitive_part(&self) -> Sym {
        let Some(terms) = self.raw_terms() else {
            return Sym::poison();
        };
        let gcd = |a: u64, b: u64| {
            let (mut a, mut b) = (a, b);
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        let common = terms.iter().fold(0, |g, t| gcd(g, t.coef.unsigned_abs()));
        let Some(common) = i64::try_from(common).ok().filter(|g| *g > 1) else {
            return self.clone();
        };
        let divided = terms.iter().map(|t| Term {
            coef: t.coef / common,
            factors: t.factors.clone(),
        });
        Sym::from_sorted(divided.collect())
    }

    /// The constant term.
    pub fn constant_part(&self) -> i64 {
        match self.raw_terms().and_then(<[Term]>::last) {
            Some(last) if last.factors.is_empty() => last.coef,
            _ => 0,
        }
    }

    /// Whether any quotient, remainder, minimum or maximum occurs.
    pub(super) fn has_compound_atoms(&self) -> bool {
        self.0.depth > 0
    }

    /// The distinct atoms of the sum itself, not those inside other atoms, in order.
    pub(super) fn top_atoms(&self) -> Vec<&Atom> {
        let mut atoms: Vec<&Atom> = self
            .raw_terms()
            .unwrap_or_default()
            .iter()
            .flat_map(|t| &t.factors)
            .collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }

    /// Splits into `coefficient * v + rest`, both free of `v`. `None` if `v` occurs in a power, in
    /// a product with itself, or inside an atom.
    pub fn linear_in(&self, v: Var) -> Option<(Sym, Sym)> {
        let (coefficient, rest) = self.collect(&Atom::Var(v))?;
        (!coefficient.contains(v) && !rest.contains(v)).then_some((coefficient, rest))
    }

    /// Whether [`Sym::linear_in`] splits it.
    pub(super) fn is_linear_in(&self, v: Var) -> bool {
        let suits = |term: &Term| {
            let mut with = term.factors.iter().filter(|atom| atom.contains(v));
            match (with.next(), with.next()) {
                (None, _) => true,
                (Some(one), None) => matches!(one, Atom::Var(_)),
                _ => false,
            }
        };
        self.raw_terms()
            .is_some_and(|terms| terms.iter().all(suits))
    }

    /// Splits into `coefficient * atom + rest` by the terms that have `atom` as a factor; either
    /// part may still contain it inside other atoms. `None` if a term has it twice, or for poison.
    pub(super) fn collect(&self, atom: &Atom) -> Option<(Sym, Sym)> {
        let mut with = Vec::new();
        let mut without = Vec::new();
        for term in self.raw_terms()? {
            match term.factors.without(std::slice::from_ref(atom)) {
                None => without.push(term.clone()),
                Some(factors) => {
                    if factors.contains(atom) {
                        return None;
                    }
                    with.push(Term {
                        factors,
                        coef: term.coef,
                    });
                }
            }
        }
        Some((Sym::from_unsorted(with), Sym::from_sorted(without)))
    }
}

impl PartialEq for Sym {
    fn eq(&self, other: &Sym) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.0.hash == other.0.hash && self.raw_terms() == other.raw_terms())
    }
}

impl Eq for Sym {}

impl Hash for Sym {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash.hash(state);
    }
}

impl PartialOrd for Sym {
    fn partial_cmp(&self, other: &Sym) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Sym {
    fn cmp(&self, other: &Sym) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) {
            return Ordering::Equal;
        }
        self.raw_terms().cmp(&other.raw_terms())
    }
}

impl Default for Sym {
    fn default() -> Sym {
        Sym::zero()
    }
}

impl From<i64> for Sym {
    fn from(v: i64) -> Sym {
        Sym::int(v)
    }
}

impl From<Var> for Sym {
    fn from(v: Var) -> Sym {
        Sym::var(v)
    }
}
