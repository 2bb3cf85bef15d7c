//! An MMA as instructions of one shape, K in ascending order.

use super::metadata::Words;
use super::pass::{Pass, Tile, mma, register};
use crate::ir::{Atom, MmaOp, Part, Stmt};
use crate::source::Span;
use crate::symbolic::Sym;

pub fn multiply(
    pass: &mut Pass<'_>,
    parts: [&Part; 3],
    metadata: Option<&Part>,
    atom: Atom,
    span: Span,
) -> Option<Vec<Stmt>> {
    let [acc, a, b] = parts;
    let acc = pass.tile(acc)?;
    let (mut a, mut b) = (pass.tile(a)?, pass.tile(b)?);
    if atom.swapped {
        std::mem::swap(&mut a, &mut b);
    }
    let Some(metadata) = metadata else {
        let steps = (0, a.columns / atom.k);
        return Some(instructions(pass, [&acc, &a, &b], None, atom, steps, span));
    };
    let metadata = Words::of(pass, metadata)?;
    // The threads that provide the metadata are encoded in an instruction, so there is no loop.
    let mut stmts = Vec::new();
    for k in 0..b.columns / atom.k {
        let tiles = [&acc, &a, &b];
        let metadata = Some(&metadata);
        stmts.extend(instructions(pass, tiles, metadata, atom, (k, k + 1), span));
    }
    Some(stmts)
}

/// The instructions for the parts of K from `first` up to `end`.
fn instructions(
    pass: &mut Pass<'_>,
    [acc, a, b]: [&Tile; 3],
    metadata: Option<&Words>,
    atom: Atom,
    (first, end): (i64, i64),
    span: Span,
) -> Vec<Stmt> {
    let (m, n) = (a.rows / atom.m, b.rows / atom.n);
    // K outermost: consecutive instructions do not depend on each other's accumulators then.
    let axes = [("k", end - first, 1), ("m", m, 1), ("n", n, 1)];
    let deep = |k: i64, columns: i64| k / columns;
    let stored = if metadata.is_some() {
        atom.k / 2
    } else {
        atom.k
    };
    let (a_deep, b_deep) = (
        deep(stored, a.layout.columns()),
        deep(atom.k, b.layout.columns()),
    );
    pass.loops(&axes, span, |_, indices| {
        let [k, m, n] = indices else {
            return Vec::new();
        };
        let k = k + first;
        let at = |first: &Sym, i: &Sym, j: &Sym, [down, horizontal, _]: [i64; 3], deep: i64| {
            &(first + &(i * down)) + &(j * (horizontal * deep))
        };
        let op = MmaOp::Instruction {
            atom,
            parts: Box::new([
                register(acc.buffer, at(&acc.first, m, n, acc.steps, 1), span),
                register(a.buffer, at(&a.first, m, &k, a.steps, a_deep), span),
                register(b.buffer, at(&b.first, n, &k, b.steps, b_deep), span),
            ]),
            metadata: metadata.map(|words| Box::new(words.of_instruction(m, first, span))),
        };
        vec![mma(op, span)]
    })
}
