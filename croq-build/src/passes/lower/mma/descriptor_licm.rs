//! Operands' places are computed where they are known: what does not change in a loop, in front of it.
//!
//! It is not only shorter. What a thread computes between two products can keep ptxas from letting them go on
//! side by side.

use std::collections::BTreeSet;

use crate::ir::{Function, KernelId, LocalId, MmaOp, Scalar, Step, Stmt, StmtKind};
use crate::passes::analysis::uses::Uses;
use crate::source::Span;
use crate::symbolic::{Atom, Sym, Var};

/// Takes what loops don't change out of them.
pub fn hoist(function: &mut Function, id: KernelId) {
    function.with_kernel_body(id, |function, body| {
        block(function, body);
    });
}

/// `local` is so many bytes further than `by`.
pub fn step(local: LocalId, by: LocalId, bytes: Sym, span: Span) -> Stmt {
    super::pass::mma(MmaOp::Step(Step::Advance { local, by, bytes }), span)
}

/// A name for a descriptor.
pub fn named(function: &mut Function, name: &str, span: Span) -> LocalId {
    function.new_local(name, Scalar::U64, false, span)
}

/// Inner loops first: what comes in front of them is the outer loop's to take out.
fn block(function: &mut Function, stmts: &mut Vec<Stmt>) {
    let mut out = Vec::with_capacity(stmts.len());
    for mut stmt in std::mem::take(stmts) {
        for inner in stmt.kind.blocks_mut() {
            block(function, inner);
        }
        if let StmtKind::For { local, body, .. } = &mut stmt.kind {
            let mut changing = set_in(function, body);
            changing.extend(function.local(*local).var);
            out.extend(taken_out(function, body, &changing));
        }
        out.push(stmt);
    }
    *stmts = out;
}

fn set_in(function: &Function, body: &[Stmt]) -> BTreeSet<Var> {
    let uses = Uses::of_block(function, body);
    let locals = uses.declared.iter();
    locals
        .filter_map(|id| function.locals.get(id.index())?.var)
        .collect()
}

/// What of the steps in `body`, itself or in what is no loop, is the same in each iteration.
fn taken_out(function: &mut Function, body: &mut [Stmt], changing: &BTreeSet<Var>) -> Vec<Stmt> {
    let mut out = Vec::new();
    for stmt in body {
        let span = stmt.span;
        if let StmtKind::Mma(op) = &mut stmt.kind
            && let MmaOp::Step(Step::Advance { by, bytes, .. }) = &mut **op
        {
            let moves = |_: i64, factors: &[Atom]| {
                changing
                    .iter()
                    .any(|v| factors.iter().any(|factor| factor.contains(*v)))
            };
            let rest = bytes.part(moves);
            let same = &*bytes - &rest;
            if same.is_zero() {
                continue;
            }
            let name = function.local(*by).name.clone();
            let local = named(function, &name, span);
            out.push(step(local, *by, same, span));
            (*by, *bytes) = (local, rest);
            continue;
        }
        if let StmtKind::For { .. } | StmtKind::While { .. } = &stmt.kind {
            continue;
        }
        for inner in stmt.kind.blocks_mut() {
            out.extend(taken_out(function, inner, changing));
        }
    }
    out
}
