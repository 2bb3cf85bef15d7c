//! Instructions that compute each lane on its own: a function of scalars, made a function of rows.

use super::decode::{Form, Refusal};
use super::registers::{Lane, Mask, Registers, each, lanes};

/// Executes an instruction for the lanes of the mask.
pub type Lanewise = Box<dyn Fn(&mut Registers, Mask) + Send + Sync>;

pub type Decoded = Result<Lanewise, Refusal>;

pub fn unary<D: Lane, A: Lane>(
    form: &Form<'_>,
    f: impl Fn(A) -> D + Send + Sync + 'static,
) -> Decoded {
    form.count(2)?;
    let d = form.destination::<D>(form.operand(0)?)?;
    let a = form.source::<A>(form.operand(1)?)?;
    Ok(Box::new(move |registers, mask| {
        let a = a.row(registers);
        let row = each(|lane| f(a[lane]));
        D::put(registers, d, mask, &row);
    }))
}

pub fn binary<D: Lane, A: Lane, B: Lane>(
    form: &Form<'_>,
    f: impl Fn(A, B) -> D + Send + Sync + 'static,
) -> Decoded {
    form.count(3)?;
    let d = form.destination::<D>(form.operand(0)?)?;
    let a = form.source::<A>(form.operand(1)?)?;
    let b = form.source::<B>(form.operand(2)?)?;
    Ok(Box::new(move |registers, mask| {
        let (a, b) = (a.row(registers), b.row(registers));
        let row = each(|lane| f(a[lane], b[lane]));
        D::put(registers, d, mask, &row);
    }))
}

pub fn ternary<D: Lane, A: Lane, B: Lane, C: Lane>(
    form: &Form<'_>,
    f: impl Fn(A, B, C) -> D + Send + Sync + 'static,
) -> Decoded {
    form.count(4)?;
    let d = form.destination::<D>(form.operand(0)?)?;
    let a = form.source::<A>(form.operand(1)?)?;
    let b = form.source::<B>(form.operand(2)?)?;
    let c = form.source::<C>(form.operand(3)?)?;
    Ok(Box::new(move |registers, mask| {
        let (a, b, c) = (a.row(registers), b.row(registers), c.row(registers));
        let row = each(|lane| f(a[lane], b[lane], c[lane]));
        D::put(registers, d, mask, &row);
    }))
}

pub fn quaternary<D: Lane, A: Lane, B: Lane, C: Lane, E: Lane>(
    form: &Form<'_>,
    f: impl Fn(A, B, C, E) -> D + Send + Sync + 'static,
) -> Decoded {
    form.count(5)?;
    let d = form.destination::<D>(form.operand(0)?)?;
    let a = form.source::<A>(form.operand(1)?)?;
    let b = form.source::<B>(form.operand(2)?)?;
    let c = form.source::<C>(form.operand(3)?)?;
    let e = form.source::<E>(form.operand(4)?)?;
    Ok(Box::new(move |registers, mask| {
        let (a, b) = (a.row(registers), b.row(registers));
        let (c, e) = (c.row(registers), e.row(registers));
        let row = each(|lane| f(a[lane], b[lane], c[lane], e[lane]));
        D::put(registers, d, mask, &row);
    }))
}

/// With the carry flag: `f` gives the result and the carry out, which is kept if `sets`.
pub fn carrying<T: Lane>(
    form: &Form<'_>,
    sources: usize,
    sets: bool,
    f: impl Fn([T; 3], bool) -> (T, bool) + Send + Sync + 'static,
) -> Decoded {
    form.count(sources + 1)?;
    let d = form.destination::<T>(form.operand(0)?)?;
    let mut list = Vec::new();
    for index in 1..=sources {
        list.push(form.source::<T>(form.operand(index)?)?);
    }
    Ok(Box::new(move |registers, mask| {
        let rows: Vec<_> = list.iter().map(|source| source.row(registers)).collect();
        let mut result = [T::default(); 32];
        let mut carry = registers.carry;
        for lane in lanes(mask) {
            let value = |index: usize| rows.get(index).map_or(T::default(), |row| row[lane]);
            let (value, out) = f([value(0), value(1), value(2)], carry >> lane & 1 == 1);
            result[lane] = value;
            if sets {
                carry = carry & !(1 << lane) | u32::from(out) << lane;
            }
        }
        registers.carry = carry;
        T::put(registers, d, mask, &result);
    }))
}
