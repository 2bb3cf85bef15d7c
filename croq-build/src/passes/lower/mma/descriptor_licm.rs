//! Operands' places are computed where they are known: what does not change in a loop, in front of it.
//!
//! It is not only shorter. What a thread computes between two products can keep ptxas from letting them go on
//! side by side.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{
    Function, KernelId, LocalId, MmaOp, Scalar, Source, Step, Stmt, StmtKind, VarHome, any_stmt,
};
use crate::passes::analysis::uses::Uses;
use crate::source::Span;
use crate::symbolic::{Atom, Sym, Var};

/// Takes what loops don't change out of them.
pub fn hoist(function: &mut Function, id: KernelId) {
    function.with_kernel_body(id, |function, body| {
        block(function, body);
        let mut named = Named::default();
        named.block(function, body);
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
        let span = stmt.span;
        if let StmtKind::For { local, body, .. } = &mut stmt.kind {
            let mut changing = set_in(function, body);
            changing.extend(function.local(*local).var);
            out.extend(taken_out(function, body, &changing, span));
        }
        out.push(stmt);
    }
    *stmts = out;
}

/// The variables that the body declares or assigns to.
fn set_in(function: &Function, body: &[Stmt]) -> BTreeSet<Var> {
    let mut locals = Uses::of_block(function, body).declared;
    any_stmt(body, |stmt| {
        if let StmtKind::Assign { local, .. } = &stmt.kind {
            locals.insert(*local);
        }
        false
    });
    let vars = locals.iter();
    vars.filter_map(|id| function.locals.get(id.index())?.var)
        .collect()
}

/// What of the steps in `body`, itself or in what is no loop, is the same in each iteration. It belongs to the loop,
/// whose place in the source is `at`: a comment of the loop's body stands in the body.
fn taken_out(
    function: &mut Function,
    body: &mut Vec<Stmt>,
    changing: &BTreeSet<Var>,
    at: Span,
) -> Vec<Stmt> {
    let mut out = Vec::new();
    for mut stmt in std::mem::take(body) {
        let StmtKind::Mma(op) = &mut stmt.kind else {
            if !matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. }) {
                for inner in stmt.kind.blocks_mut() {
                    out.extend(taken_out(function, inner, changing, at));
                }
            }
            body.push(stmt);
            continue;
        };
        if let MmaOp::Step(Step::Advance { by, bytes, .. }) = &mut **op {
            let moves = |_: i64, factors: &[Atom]| {
                changing
                    .iter()
                    .any(|v| factors.iter().any(|factor| factor.contains(*v)))
            };
            let rest = bytes.part(moves);
            if rest.is_zero() {
                stmt.span = at;
                out.push(stmt);
                continue;
            }
            let same = &*bytes - &rest;
            if !same.is_zero() {
                let whole = function.local(*by).name.clone();
                let name = format!("{}_base", whole.trim_end_matches("_tiles"));
                let local = named(function, &name, at);
                out.push(step(local, *by, same, at));
                (*by, *bytes) = (local, rest);
            }
        }
        body.push(stmt);
    }
    out
}

/// Descriptors by what they are: each has one name.
#[derive(Default)]
struct Named {
    /// Of the blocks around: so many bytes further than this one is that one.
    known: Vec<(LocalId, Sym, LocalId)>,
    /// What stands in the place of a descriptor.
    same: BTreeMap<LocalId, LocalId>,
}

impl Named {
    fn block(&mut self, function: &Function, stmts: &mut Vec<Stmt>) {
        let around = self.known.len();
        stmts.retain_mut(|stmt| match &mut stmt.kind {
            StmtKind::Mma(op) => match &mut **op {
                MmaOp::Step(step) => self.keep(function, step),
                _ => true,
            },
            kind => {
                for inner in kind.blocks_mut() {
                    self.block(function, inner);
                }
                true
            }
        });
        self.known.truncate(around);
    }

    /// Whether the step is needed.
    fn keep(&mut self, function: &Function, step: &mut Step) -> bool {
        match step {
            Step::Advance { local, by, bytes } => {
                self.rename(by);
                let mut known = self.known.iter();
                let same = known.find(|(from, further, _)| from == by && further == bytes);
                if let Some((_, _, same)) = same {
                    self.same.insert(*local, *same);
                    return false;
                }
                if bytes.vars().iter().all(|var| is_constant(function, *var)) {
                    self.known.push((*by, bytes.clone(), *local));
                }
            }
            Step::Instruction(instruction) => {
                if let Source::Memory(a) = &mut instruction.a {
                    self.rename(&mut a.by);
                }
                self.rename(&mut instruction.b.by);
            }
            Step::Fence { .. } | Step::Commit | Step::Wait { .. } | Step::Describe { .. } => {}
        }
        true
    }

    fn rename(&self, name: &mut LocalId) {
        if let Some(same) = self.same.get(name) {
            *name = *same;
        }
    }
}

fn is_constant(function: &Function, var: Var) -> bool {
    match function.var_home.get(&var) {
        Some(VarHome::Local(id)) => !function.local(*id).mutable,
        _ => true,
    }
}
