//! Symbolic integers as C++.
//!
//! The normal form is an expanded polynomial. For readability, as in `(px * 16 + qx) * K + k`, the
//! printer factors out the variable that most terms share, dimensions first, and continues with the
//! rest.

use super::scope::Names;
use super::text::{Binding, Text};
use crate::ir::{Access, Fits, View};
use crate::symbolic::{Atom, Sym, Var};

type Product = (i64, Vec<Atom>);

pub fn sym(names: &Names<'_>, sym: &Sym) -> Text {
    sum(
        names,
        sym.terms()
            .map(|(coef, atoms)| (coef, atoms.to_vec()))
            .collect(),
    )
}

/// The place of an access, in elements from the start of its buffer.
pub fn address(names: &Names<'_>, access: &Access) -> Text {
    offset_and_axes(names, &access.view, &access.indices)
}

fn offset_and_axes(names: &Names<'_>, view: &View, indices: &[Sym]) -> Text {
    let mut parts = Vec::new();
    let mut constant = 0i64;
    for (index, stride) in indices.iter().zip(&view.strides) {
        match (index.as_int(), stride.as_int()) {
            (Some(0), _) | (_, Some(0)) => {}
            (Some(i), Some(s)) => constant = constant.saturating_add(i.saturating_mul(s)),
            (_, Some(1)) => parts.push(sym(names, index)),
            (Some(1), _) => parts.push(sym(names, stride)),
            _ => parts.push(Text::infix(
                sym(names, index),
                "*",
                sym(names, stride),
                Binding::Product,
            )),
        }
    }
    let constant = Sym::int(constant);
    // A tile's own offset is printed before the position in it.
    match view.offset.as_int() {
        Some(_) => {
            let last = &constant + &view.offset;
            if !last.is_zero() || parts.is_empty() {
                parts.push(sym(names, &last));
            }
        }
        None => {
            parts.insert(0, sym(names, &view.offset));
            if !constant.is_zero() {
                parts.push(sym(names, &constant));
            }
        }
    }
    let mut parts = parts.into_iter();
    let first = parts.next().unwrap_or_else(|| Text::primary("0"));
    parts.fold(first, add)
}

fn sum(names: &Names<'_>, mut terms: Vec<Product>) -> Text {
    if terms.len() > 1
        && let Some(shared) = most_shared(names, &terms)
    {
        let (with, without): (Vec<Product>, Vec<Product>) = terms
            .into_iter()
            .partition(|(_, atoms)| atoms.contains(&shared));
        let inner = with
            .into_iter()
            .map(|(coef, mut atoms)| {
                if let Some(at) = atoms.iter().position(|a| *a == shared) {
                    atoms.remove(at);
                }
                (coef, atoms)
            })
            .collect();
        let product = Text::infix(
            sum(names, inner),
            "*",
            atom(names, &shared),
            Binding::Product,
        );
        return if without.is_empty() {
            product
        } else {
            add(product, sum(names, without))
        };
    }
    // Positive terms before negative ones; longest products first, then large coefficients, the
    // constant last.
    terms.sort_by_key(|(coef, atoms)| {
        (
            *coef < 0,
            atoms.is_empty(),
            std::cmp::Reverse(atoms.len()),
            std::cmp::Reverse(coef.unsigned_abs()),
        )
    });
    let mut terms = terms.iter();
    let first = terms
        .next()
        .map_or_else(|| Text::primary("0"), |t| product(names, t));
    terms.fold(first, |sum, term| add(sum, product(names, term)))
}

/// The factor of most terms, if there are two or more of them.
fn most_shared(names: &Names<'_>, terms: &[Product]) -> Option<Atom> {
    let mut best: Option<(usize, bool, &Atom)> = None;
    for (_, atoms) in terms {
        for atom in atoms {
            let count = terms
                .iter()
                .filter(|(_, other)| other.contains(atom))
                .count();
            let rank = (count, is_extent(names, atom));
            if count > 1 && best.is_none_or(|(c, e, _)| rank > (c, e)) {
                best = Some((rank.0, rank.1, atom));
            }
        }
    }
    best.map(|(_, _, atom)| atom.clone())
}

fn is_extent(names: &Names<'_>, atom: &Atom) -> bool {
    matches!(atom, Atom::Var(v) if names.is_dim(*v))
}

/// `r * 8 * N`: first variables that count, then the coefficient, then extents.
fn product(names: &Names<'_>, (coef, atoms): &Product) -> Text {
    let (extents, counted): (Vec<&Atom>, Vec<&Atom>) =
        atoms.iter().partition(|a| is_extent(names, a));
    let size = coef.unsigned_abs();
    let number = || Text::primary(size.to_string());
    if *coef == i64::MIN {
        let least = Text::primary(integer(*coef));
        return atoms.iter().fold(least, |p, a| times(p, atom(names, a)));
    }
    let mut factors: Vec<Text> = counted.into_iter().map(|a| atom(names, a)).collect();
    let trailing = factors.is_empty() && !extents.is_empty();
    if size != 1 && !trailing {
        factors.push(number());
    }
    factors.extend(extents.into_iter().map(|a| atom(names, a)));
    if size != 1 && trailing {
        factors.push(number());
    }
    let product = factors.into_iter().reduce(times).unwrap_or_else(number);
    if *coef < 0 {
        let binding = product.binding.min(Binding::Unary);
        let positive = match product.text.starts_with('-') {
            // `--x` would be a decrement.
            true => format!("({})", product.text),
            false => product.at_least(Binding::Product),
        };
        Text::new(format!("-{positive}"), binding)
    } else {
        product
    }
}

fn atom(names: &Names<'_>, atom: &Atom) -> Text {
    match atom {
        Atom::Var(v) => var(names, *v),
        Atom::Div(a, b) => divided(names, a, b, "/", "croq::quotient"),
        Atom::Rem(a, b) => divided(names, a, b, "%", "croq::remainder"),
        Atom::Min(a, b) => Text::call("croq::min", &[wide(names, a), wide(names, b)]),
        Atom::Max(a, b) => Text::call("croq::max", &[wide(names, a), wide(names, b)]),
    }
}

/// C++ compilers optimise division by constants; other 64-bit division is a long function on a GPU,
/// which small numbers avoid.
fn divided(names: &Names<'_>, a: &Sym, b: &Sym, operator: &str, function: &str) -> Text {
    if b.as_int().is_some_and(|b| b != 0) {
        Text::infix(sym(names, a), operator, sym(names, b), Binding::Product)
    } else {
        Text::call(function, &[wide(names, a), wide(names, b)])
    }
}

/// By `croq::exact`, the same steps as [`sym`] without checks.
pub fn exactly(names: &Names<'_>, sym: &Sym) -> Text {
    let before = names.exact.replace(true);
    let text = wide(names, sym);
    names.exact.set(before);
    text
}

pub fn fits(names: &Names<'_>, fits: &Fits) -> Text {
    match fits {
        Fits::Value(sym) => Text::call("croq::fits", &[exactly(names, sym)]),
        Fits::Bound { terms, most } => {
            let size = |s: &Sym| Text::call("croq::size", &[exactly(names, s)]);
            let product = |(coef, factors): &(i64, Vec<Sym>)| {
                let factors = factors.iter().map(size);
                let coef = (*coef != 1 || factors.len() == 0)
                    .then(|| Text::primary(format!("croq::exact({coef})")));
                factors.chain(coef).reduce(times)
            };
            let zero = || Text::primary("croq::exact(0)");
            let sum = terms.iter().filter_map(product).reduce(add);
            let mut args = vec![sum.unwrap_or_else(zero)];
            if *most != i64::MAX {
                args.push(Text::primary(most.to_string()));
            }
            Text::call("croq::fits", &args)
        }
    }
}

/// With type `croq::idx`, even for a constant.
pub fn wide(names: &Names<'_>, e: &Sym) -> Text {
    match e.as_int() {
        Some(value) if names.exact.get() => {
            Text::primary(format!("croq::exact({})", integer(value)))
        }
        Some(value) => Text::primary(format!("croq::idx({})", integer(value))),
        None => sym(names, e),
    }
}

fn var(names: &Names<'_>, var: Var) -> Text {
    Text::primary(names.var_name(var))
}

fn times(a: Text, b: Text) -> Text {
    Text::infix(a, "*", b, Binding::Product)
}

/// `a + b`, or `a - b` if `b` begins with a minus.
fn add(a: Text, b: Text) -> Text {
    match b.text.strip_prefix('-') {
        Some(positive) if b.binding >= Binding::Product => {
            Text::infix(a, "-", Text::new(positive, Binding::Product), Binding::Sum)
        }
        // Sums are associative: `passes::transform::exact` ensures that no part overflows.
        _ if b.binding == Binding::Sum => Text::new(
            format!("{} + {}", a.at_least(Binding::Sum), b.text),
            Binding::Sum,
        ),
        _ => Text::infix(a, "+", b, Binding::Sum),
    }
}

fn integer(value: i64) -> String {
    if value == i64::MIN {
        "(-9223372036854775807LL - 1)".to_owned()
    } else {
        value.to_string()
    }
}
