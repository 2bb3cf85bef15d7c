//! A product as instructions of one shape, K in ascending order.

use super::pass::{Pass, mma, register};
use crate::ir::{Atom, MmaOp, Part, Stmt};
use crate::source::Span;
use crate::symbolic::Sym;

pub fn multiply(
    pass: &mut Pass<'_>,
    parts: [&Part; 3],
    atom: Atom,
    span: Span,
) -> Option<Vec<Stmt>> {
    let [acc, a, b] = parts;
    let acc = pass.tile(acc)?;
    let (mut a, mut b) = (pass.tile(a)?, pass.tile(b)?);
    if atom.swapped {
        std::mem::swap(&mut a, &mut b);
    }
    let (m, n, k) = (a.rows / atom.m, b.rows / atom.n, a.columns / atom.k);
    // K outermost: neighbouring instructions then don't wait for each other's sums.
    let axes = [("k", k, 1), ("m", m, 1), ("n", n, 1)];
    let deep = |columns: i64| atom.k / columns;
    let (a_deep, b_deep) = (deep(a.layout.columns()), deep(b.layout.columns()));
    Some(pass.loops(&axes, span, |_, indices| {
        let [k, m, n] = indices else {
            return Vec::new();
        };
        let at = |first: &Sym, i: &Sym, j: &Sym, [down, beside, _]: [i64; 3], deep: i64| {
            &(first + &(i * down)) + &(j * (beside * deep))
        };
        let op = MmaOp::Instruction {
            atom,
            parts: Box::new([
                register(acc.buffer, at(&acc.first, m, n, acc.steps, 1), span),
                register(a.buffer, at(&a.first, m, k, a.steps, a_deep), span),
                register(b.buffer, at(&b.first, n, k, b.steps, b_deep), span),
            ]),
        };
        vec![mma(op, span)]
    }))
}
