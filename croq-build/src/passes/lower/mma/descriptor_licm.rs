//! Descriptor LICM: moves loop-invariant parts of descriptor computations out of loops.
//!
//! That is not only shorter: computations between two MMAs can keep ptxas from overlapping them.

use crate::ir::{
    Function, KernelId, LocalId, MmaOp, Scalar, Source, Step, Stmt, StmtKind, VarHome, any_stmt,
};
use crate::passes::analysis::uses::set_in;
use crate::sorted::{SortedMap, SortedSet};
use crate::source::Span;
use crate::symbolic::{Atom, Sym, Var};

/// Moves the loop-invariant steps of a kernel out of its loops.
pub fn hoist(function: &mut Function, id: KernelId) {
    function.with_kernel_body(id, |function, body| {
        block(function, body);
        let mut named = KnownDescriptors::default();
        named.block(function, body);
    });
}

/// `local` is the descriptor `by` advanced by `bytes`.
pub fn step(local: LocalId, by: LocalId, bytes: Sym, span: Span) -> Stmt {
    let step = Step::Advance {
        local,
        by,
        bytes,
        computed_once: false,
    };
    super::pass::mma(MmaOp::Step(step), span)
}

/// A variable for a descriptor.
pub fn named(function: &mut Function, name: &str, span: Span) -> LocalId {
    function.new_local(name, Scalar::U64, false, span)
}

/// Inner loops first: steps that are moved before them may be invariant in the outer loop, too.
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
            let described = described_in(body);
            let inside = Inside {
                changing: &changing,
                described: &described,
            };
            out.extend(invariant_steps(function, body, inside, span));
        }
        out.push(stmt);
    }
    *stmts = out;
}

/// The descriptors that the body declares: those of buffers that it allocates.
fn described_in(body: &[Stmt]) -> SortedSet<LocalId> {
    let mut found = SortedSet::new();
    any_stmt(body, |stmt| {
        if let StmtKind::Mma(op) = &stmt.kind
            && let MmaOp::Step(Step::Describe { local, .. }) = &**op
        {
            found.insert(*local);
        }
        false
    });
    found
}

/// What the body of a loop sets.
#[derive(Clone, Copy)]
struct Inside<'s> {
    changing: &'s SortedSet<Var>,
    described: &'s SortedSet<LocalId>,
}

/// Removes the steps in `body`, inner loops excepted, that are the same in each iteration, and
/// returns them. They get the span of the loop, `at`, so that they carry no comments of its body.
fn invariant_steps(
    function: &mut Function,
    body: &mut Vec<Stmt>,
    inside: Inside<'_>,
    at: Span,
) -> Vec<Stmt> {
    let mut out = Vec::new();
    for mut stmt in std::mem::take(body) {
        let StmtKind::Mma(op) = &mut stmt.kind else {
            if !matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. }) {
                for inner in stmt.kind.blocks_mut() {
                    out.extend(invariant_steps(function, inner, inside, at));
                }
            }
            body.push(stmt);
            continue;
        };
        if let MmaOp::Step(Step::Advance { by, bytes, .. }) = &mut **op
            && !inside.described.contains(by)
        {
            let moves = |_: i64, factors: &[Atom]| {
                (inside.changing.iter()).any(|v| factors.iter().any(|factor| factor.contains(*v)))
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

/// Common-subexpression elimination for descriptors.
#[derive(Default)]
struct KnownDescriptors {
    /// Known steps of the enclosing blocks: base, bytes, and the descriptor.
    known: Vec<(LocalId, Sym, LocalId)>,
    /// The replacement of each removed descriptor.
    same: SortedMap<LocalId, LocalId>,
}

impl KnownDescriptors {
    fn block(&mut self, function: &Function, stmts: &mut Vec<Stmt>) {
        let around = self.known.len();
        stmts.retain_mut(|stmt| match &mut stmt.kind {
            StmtKind::Mma(op) => match &mut **op {
                MmaOp::Step(step) => self.is_needed(function, step),
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
    fn is_needed(&mut self, function: &Function, step: &mut Step) -> bool {
        match step {
            Step::Advance {
                local, by, bytes, ..
            } => {
                self.rename(by);
                let mut known = self.known.iter();
                let same = known.find(|(from, further, _)| from == by && further == bytes);
                if let Some((_, _, same)) = same {
                    self.same.insert(*local, *same);
                    return false;
                }
                if bytes
                    .sorted_vars()
                    .iter()
                    .all(|var| is_constant(function, *var))
                {
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
