//! Evaluates an expression for all threads at once.
//!
//! The result is that of [`Evaluate::number`] for each thread, at a fraction of the cost. There is
//! none where a part has no value in some thread: an operand that `&&` or `?:` does not use there, a
//! quotient by zero, an integer of more than 64 bits. The threads are evaluated one by one then.

use super::evaluate::{Evaluate, binary, cast, float, unary};
use super::indices::{List, Number};
use super::state::element;
use crate::ir::{Expr, ExprKind, Intrinsic, WARP_THREADS};
use crate::symbolic::{Atom, Sym, Var};

/// The integers of all threads.
enum Ints {
    Same(i64),
    PerThread(Vec<i64>),
}

impl Ints {
    fn of(list: &List) -> Option<Self> {
        let int = |number: &Number| match number {
            Number::Int(value) => i64::try_from(*value).ok(),
            Number::Float(_) => None,
        };
        match list {
            List::Same(value) => int(value).map(Self::Same),
            List::PerThread(values) => {
                let mut all = Vec::with_capacity(values.len());
                for value in values.iter() {
                    all.push(int(value)?);
                }
                Some(Self::PerThread(all))
            }
        }
    }

    fn with(self, other: Self, op: impl Fn(i64, i64) -> Option<i64>) -> Option<Self> {
        let (mut values, others) = match (self, other) {
            (Self::Same(a), Self::Same(b)) => return op(a, b).map(Self::Same),
            (Self::PerThread(mut values), Self::Same(b)) => {
                for a in &mut values {
                    *a = op(*a, b)?;
                }
                return Some(Self::PerThread(values));
            }
            (Self::Same(a), Self::PerThread(mut values)) => {
                for b in &mut values {
                    *b = op(a, *b)?;
                }
                return Some(Self::PerThread(values));
            }
            (Self::PerThread(values), Self::PerThread(others)) => (values, others),
        };
        for (a, b) in values.iter_mut().zip(others) {
            *a = op(*a, b)?;
        }
        Some(Self::PerThread(values))
    }

    fn into_list(self) -> List {
        let number = |value: i64| Number::Int(i128::from(value));
        match self {
            Self::Same(value) => List::Same(number(value)),
            Self::PerThread(values) => {
                let first = values.first().copied();
                match first.filter(|first| values.iter().all(|value| value == first)) {
                    Some(first) => List::Same(number(first)),
                    None => List::PerThread(values.into_iter().map(number).collect()),
                }
            }
        }
    }
}

impl Evaluate<'_> {
    pub(super) fn sym_at_once(&self, sym: &Sym) -> Option<List> {
        self.indices.spend(self.indices.threads())?;
        self.sum(sym).map(Ints::into_list)
    }

    fn sum(&self, sym: &Sym) -> Option<Ints> {
        if sym.is_poison() {
            return None;
        }
        let mut sum = Ints::Same(0);
        for (coef, atoms) in sym.terms() {
            let mut product = Ints::Same(coef);
            for atom in atoms {
                product = product.with(self.atom(atom)?, i64::checked_mul)?;
            }
            sum = sum.with(product, i64::checked_add)?;
        }
        Some(sum)
    }

    fn atom(&self, atom: &Atom) -> Option<Ints> {
        let both =
            |a: &Sym, b: &Sym, op: fn(i64, i64) -> Option<i64>| self.sum(a)?.with(self.sum(b)?, op);
        match atom {
            Atom::Var(var) => self.ints_of_var(*var),
            Atom::Div(a, b) => both(a, b, i64::checked_div),
            Atom::Rem(a, b) => both(a, b, i64::checked_rem),
            Atom::Min(a, b) => both(a, b, |a, b| Some(a.min(b))),
            Atom::Max(a, b) => both(a, b, |a, b| Some(a.max(b))),
        }
    }

    fn ints_of_var(&self, var: Var) -> Option<Ints> {
        self.indices.spend(self.indices.threads())?;
        Ints::of(self.list_of_var(var)?)
    }

    pub(super) fn at_once(&self, e: &Expr) -> Option<List> {
        let threads = self.indices.threads();
        self.indices.spend(threads)?;
        let of = |e: &Expr| self.at_once(e);
        match &*e.kind {
            ExprKind::Index(sym) => self.sym_at_once(sym),
            ExprKind::Int(value) if !e.ty.is_float() => Some(List::Same(Number::Int(*value))),
            ExprKind::Bool(value) => Some(List::Same(Number::truth(*value))),
            ExprKind::Float(value) => float(*value, e.ty).map(List::Same),
            ExprKind::Local(local) => self.list_of_local(*local).cloned(),
            ExprKind::Load(access) => {
                let known = self.state.at(element(self.function, access)?).known?;
                self.indices.list(known).cloned()
            }
            ExprKind::Intrinsic(Intrinsic::Thread, _) => Some(by_thread(threads, 1)),
            ExprKind::Intrinsic(Intrinsic::Warp, _) => Some(by_thread(threads, WARP_THREADS)),
            ExprKind::Unary(op, a) => of(a)?.mapped(|a| unary(*op, a, e.ty)),
            ExprKind::Binary(op, a, b) => {
                let compute = |a, b| binary(*op, e.ty, a, || Some(b));
                of(a)?.zipped(&of(b)?, compute)
            }
            ExprKind::Select(cond, a, b) => {
                let (cond, a, b) = (of(cond)?, of(a)?, of(b)?);
                let chosen = (0..threads).map(|t| match cond.at(t)?.is_true() {
                    true => a.at(t),
                    false => b.at(t),
                });
                per_thread(chosen, threads)
            }
            ExprKind::Cast(a) => of(a)?.mapped(|a| cast(a, e.ty)),
            _ => None,
        }
    }
}

/// The numbers of the threads, or of groups of them.
fn by_thread(threads: usize, group: u32) -> List {
    let of = |t: usize| Number::Int(t as i128 / i128::from(group));
    List::PerThread((0..threads).map(of).collect())
}

impl List {
    fn mapped(&self, f: impl Fn(Number) -> Option<Number>) -> Option<List> {
        match self {
            List::Same(value) => f(*value).map(List::Same),
            List::PerThread(values) => per_thread(values.iter().map(|a| f(*a)), values.len()),
        }
    }

    fn zipped(&self, other: &List, f: impl Fn(Number, Number) -> Option<Number>) -> Option<List> {
        match (self, other) {
            (a, List::Same(b)) => a.mapped(|a| f(a, *b)),
            (List::Same(a), b) => b.mapped(|b| f(*a, b)),
            (List::PerThread(values), List::PerThread(others)) => {
                let both = values.iter().zip(others.iter());
                per_thread(both.map(|(a, b)| f(*a, *b)), values.len())
            }
        }
    }
}

fn per_thread(values: impl Iterator<Item = Option<Number>>, count: usize) -> Option<List> {
    let mut all = Vec::with_capacity(count);
    for value in values {
        all.push(value?);
    }
    Some(List::PerThread(all.into()))
}
