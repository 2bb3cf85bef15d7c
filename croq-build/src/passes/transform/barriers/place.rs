//! The place of an access: coordinates in its buffer.
//!
//! Views of one buffer have different strides and offsets. To compare two, both are expressed in
//! the buffer's own axes: every stride is a multiple of one of the buffer's strides, and the terms
//! of the offset are assigned to the axes whose stride divides them. If every coordinate except the
//! outermost is below its extent, two places are equal exactly when all coordinates are. Otherwise
//! only the linear element number is compared.

use super::vars::Vars;
use crate::ir::{Buffer, View};
use crate::symbolic::{Atom, Ctx, Sym};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Outermost first, with the index in an array of buffers before the proper axes; `None` if the
    /// coordinates do not determine the element.
    pub coordinates: Option<Vec<Sym>>,
    /// Elements from the start of the buffer.
    pub flat: Sym,
}

/// The place at `indices` in `view`; without indices, any of the view's elements.
pub fn place(
    cx: &mut Ctx,
    vars: &mut Vars,
    buffer: &Buffer,
    view: &View,
    indices: Option<&[Sym]>,
) -> Place {
    let positions: Vec<Sym> = match indices {
        Some(indices) => indices.iter().map(|i| vars.resolve(cx, i)).collect(),
        None => view
            .shape
            .iter()
            .enumerate()
            .map(|(axis, n)| vars.position(cx, axis, n))
            .collect(),
    };
    let offset = vars.resolve(cx, &view.offset);
    let mut flat = offset.clone();
    for (position, stride) in positions.iter().zip(&view.strides) {
        flat = &flat + &(position * stride);
    }
    Place {
        coordinates: coordinates(cx, buffer, view, &offset, &positions),
        flat,
    }
}

/// Dense strides, with an additional one for an array of buffers.
fn strides_of(buffer: &Buffer) -> Vec<Sym> {
    let mut strides = vec![Sym::one()];
    for extent in buffer.shape.iter().rev() {
        let last = strides.last().cloned().unwrap_or_else(Sym::one);
        strides.push(&last * extent);
    }
    strides.reverse();
    strides
}

fn coordinates(
    cx: &Ctx,
    buffer: &Buffer,
    view: &View,
    offset: &Sym,
    positions: &[Sym],
) -> Option<Vec<Sym>> {
    let strides = strides_of(buffer);
    let mut origin = vec![Sym::zero(); strides.len()];
    let mut rest = offset.clone();
    for (at, stride) in strides.iter().enumerate() {
        let (quotient, remainder) = divide_terms(&rest, stride)?;
        *origin.get_mut(at)? = quotient;
        rest = remainder;
    }
    if !rest.is_zero() {
        return None;
    }
    let mut here = origin.clone();
    let mut furthest = origin.clone();
    // Axes that are known to stay inside because the view ends where the buffer does.
    let mut bounded = vec![false; strides.len()];
    let mut sources = vec![0; strides.len()];
    for (axis, stride) in view.strides.iter().enumerate() {
        let (at, factor) = strides.iter().enumerate().find_map(|(at, own)| {
            let (quotient, remainder) = divide_terms(stride, own)?;
            (remainder.is_zero() && !quotient.is_zero()).then_some((at, quotient))
        })?;
        let (position, extent) = (positions.get(axis)?, view.shape.get(axis)?);
        *sources.get_mut(at)? += 1;
        let slot = here.get_mut(at)?;
        *slot = &*slot + &(&factor * position);
        let slot = furthest.get_mut(at)?;
        *slot = &*slot + &(&factor * &(extent - 1));
        if let (Some(hi), Some(own)) = (
            view.valid.get(axis).and_then(|v| v.hi.as_ref()),
            extent_of(buffer, at),
        ) {
            let end = origin.get(at)? + &(&factor * hi);
            *bounded.get_mut(at)? |= cx.le(&end, own).is_yes();
        }
    }
    for at in 1..strides.len() {
        let extent = extent_of(buffer, at)?;
        let inside = (*bounded.get(at)? && *sources.get(at)? == 1)
            || cx.lt(furthest.get(at)?, extent).is_yes()
            || cx.lt(here.get(at)?, extent).is_yes();
        if !inside {
            return None;
        }
    }
    Some(here)
}

/// The extent of axis `at` of [`strides_of`]; the outermost is unlimited.
fn extent_of(buffer: &Buffer, at: usize) -> Option<&Sym> {
    buffer.shape.get(at.checked_sub(1)?)
}

/// `sym = quotient * stride + remainder`, term by term: each term that the stride divides is part
/// of the quotient. `None` for strides that are not a single product.
fn divide_terms(sym: &Sym, stride: &Sym) -> Option<(Sym, Sym)> {
    let mut terms = stride.terms();
    let (Some((by, factors)), None) = (terms.next(), terms.next()) else {
        // A sum: only an exact multiple would be possible, and zero is the common case.
        return Some((Sym::zero(), sym.clone()));
    };
    let (mut quotient, mut remainder) = (Sym::zero(), Sym::zero());
    for (coef, atoms) in sym.terms() {
        if atoms.is_empty() && factors.is_empty() && coef > 0 && by > 0 {
            quotient = &quotient + (coef / by);
            remainder = &remainder + (coef % by);
            continue;
        }
        match without(atoms, factors) {
            Some(left) if by != 0 && coef % by == 0 => {
                quotient = &quotient + &Sym::product(coef / by, &left)
            }
            _ => remainder = &remainder + &Sym::product(coef, atoms),
        }
    }
    Some((quotient, remainder))
}

/// `atoms` without `factors`, if it contains all of them.
fn without(atoms: &[Atom], factors: &[Atom]) -> Option<Vec<Atom>> {
    let mut left = atoms.to_vec();
    for factor in factors {
        let at = left.iter().position(|a| a == factor)?;
        left.remove(at);
    }
    Some(left)
}
