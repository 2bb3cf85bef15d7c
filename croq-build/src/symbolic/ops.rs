//! Sums and products of [`Sym`]s. They never panic: overflow gives poison.

use std::cmp::Ordering;
use std::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use super::sym::{Sym, Term, order_of_products};

/// `e + scale * other`.
fn plus_scaled(e: &Sym, other: &Sym, scale: i64) -> Sym {
    let (Some(a), Some(b)) = (e.raw_terms(), other.raw_terms()) else {
        return Sym::poison();
    };
    if b.is_empty() || scale == 0 {
        return e.clone();
    }
    if a.is_empty() && scale == 1 {
        return other.clone();
    }
    if let (Some(x), Some(y)) = (e.as_int(), other.as_int()) {
        let sum = y.checked_mul(scale).and_then(|y| x.checked_add(y));
        return sum.map_or_else(Sym::poison, Sym::int);
    }
    let mut sum = Vec::with_capacity(a.len() + b.len());
    let (mut left, mut right) = (a.iter().peekable(), b.iter().peekable());
    loop {
        let order = match (left.peek(), right.peek()) {
            (Some(x), Some(y)) => order_of_products(&x.factors, &y.factors),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return Sym::from_sorted(sum),
        };
        let from_left = if order.is_le() { left.next() } else { None };
        let from_right = if order.is_ge() { right.next() } else { None };
        let scaled = match from_right {
            None => Some(0),
            Some(term) => term.coef.checked_mul(scale),
        };
        let coef = scaled.and_then(|s| from_left.map_or(0, |t| t.coef).checked_add(s));
        let (Some(coef), Some(term)) = (coef, from_left.or(from_right)) else {
            return Sym::poison();
        };
        sum.push(Term {
            factors: term.factors.clone(),
            coef,
        });
    }
}

pub(super) fn scaled(e: &Sym, by: i64) -> Sym {
    match by {
        1 => e.clone(),
        _ => plus_scaled(&Sym::zero(), e, by),
    }
}

fn times(e: &Sym, other: &Sym) -> Sym {
    let (Some(a), Some(b)) = (e.raw_terms(), other.raw_terms()) else {
        return Sym::poison();
    };
    if let Some(c) = other.as_int() {
        return scaled(e, c);
    }
    if let Some(c) = e.as_int() {
        return scaled(other, c);
    }
    // A product far beyond the size limit is not computed.
    if a.len().saturating_mul(b.len()) > 4096 {
        return Sym::poison();
    }
    let mut product = Vec::with_capacity(a.len() * b.len());
    for x in a {
        for y in b {
            let Some(coef) = x.coef.checked_mul(y.coef) else {
                return Sym::poison();
            };
            product.push(Term {
                factors: x.factors.merged(&y.factors),
                coef,
            });
        }
    }
    Sym::from_unsorted(product)
}

macro_rules! operator {
    ($trait:ident, $method:ident, $assign_trait:ident, $assign:ident, |$a:ident, $b:ident| $body:expr) => {
        impl $trait<&Sym> for &Sym {
            type Output = Sym;
            fn $method(self, other: &Sym) -> Sym {
                let ($a, $b) = (self, other);
                $body
            }
        }
        impl $trait<Sym> for &Sym {
            type Output = Sym;
            fn $method(self, other: Sym) -> Sym {
                self.$method(&other)
            }
        }
        impl $trait<&Sym> for Sym {
            type Output = Sym;
            fn $method(self, other: &Sym) -> Sym {
                (&self).$method(other)
            }
        }
        impl $trait<Sym> for Sym {
            type Output = Sym;
            fn $method(self, other: Sym) -> Sym {
                (&self).$method(&other)
            }
        }
        impl $trait<i64> for &Sym {
            type Output = Sym;
            fn $method(self, other: i64) -> Sym {
                self.$method(&Sym::int(other))
            }
        }
        impl $trait<i64> for Sym {
            type Output = Sym;
            fn $method(self, other: i64) -> Sym {
                (&self).$method(&Sym::int(other))
            }
        }
        impl $assign_trait<&Sym> for Sym {
            fn $assign(&mut self, other: &Sym) {
                *self = (&*self).$method(other);
            }
        }
        impl $assign_trait<Sym> for Sym {
            fn $assign(&mut self, other: Sym) {
                *self = (&*self).$method(&other);
            }
        }
        impl $assign_trait<i64> for Sym {
            fn $assign(&mut self, other: i64) {
                *self = (&*self).$method(&Sym::int(other));
            }
        }
    };
}

operator!(Add, add, AddAssign, add_assign, |a, b| plus_scaled(a, b, 1));
operator!(Sub, sub, SubAssign, sub_assign, |a, b| plus_scaled(
    a, b, -1
));
operator!(Mul, mul, MulAssign, mul_assign, |a, b| times(a, b));

impl Neg for &Sym {
    type Output = Sym;
    fn neg(self) -> Sym {
        scaled(self, -1)
    }
}

impl Neg for Sym {
    type Output = Sym;
    fn neg(self) -> Sym {
        scaled(&self, -1)
    }
}

impl std::iter::Sum for Sym {
    fn sum<I: Iterator<Item = Sym>>(iter: I) -> Sym {
        iter.fold(Sym::zero(), |sum, x| sum + x)
    }
}

impl std::iter::Product for Sym {
    fn product<I: Iterator<Item = Sym>>(iter: I) -> Sym {
        iter.fold(Sym::one(), |product, x| product * x)
    }
}

impl<'a> std::iter::Sum<&'a Sym> for Sym {
    fn sum<I: Iterator<Item = &'a Sym>>(iter: I) -> Sym {
        iter.fold(Sym::zero(), |sum, x| sum + x)
    }
}

impl<'a> std::iter::Product<&'a Sym> for Sym {
    fn product<I: Iterator<Item = &'a Sym>>(iter: I) -> Sym {
        iter.fold(Sym::one(), |product, x| product * x)
    }
}
