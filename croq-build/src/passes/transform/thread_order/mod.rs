//! Thread ordering: the choice of the fastest index of a level, for coalesced accesses.
//!
//! `parallel {i, j} by [16, 16] : thread` gives thread `t` the indices `i = t % 16, j = t / 16`:
//! the first sub-level is the fastest. A program can hardly observe the order, but it affects the
//! cost: accesses of a warp are coalesced if adjacent threads access adjacent elements. So where
//! the order is not observable, the pass chooses the order with the fewest lines and sectors of
//! global memory ([`accesses`]), then the one with the fewest bank conflicts in shared memory, then
//! the one that other levels of this shape have, then the program's.
//!
//! Changing the order is a renaming of a level's threads. The order is observable, and remains, in
//! these cases:
//!
//! * Opaque code (`__cpp__`, `call`), anywhere in the kernel: it may read `threadIdx`.
//! * MMAs, anywhere in the kernel: each lane holds its own part of a fragment.
//! * In the level's body: `print`, whose lines would appear in another order; a barrier of a warp
//!   or warpgroup, or one with a number, which concerns particular threads; events, whose
//!   generations each thread counts for itself; `inthreads`, whose predicate selects threads.
//! * Values that a thread keeps from one level to another: a mutable variable or `local` memory
//!   that one level leaves to another or to the statements around them ([`observability`]). Copies
//!   in flight are not among them: names that a level binds to copies end with it. Renaming all
//!   these levels equally is still correct if they have the same shape and the statements around
//!   them do the same in each thread; otherwise the order remains.
//! * `yield`, after which a thread is missing: except in a kernel that consists of only this level.
//!
//! Shared memory does not reveal the order, because barriers are inserted after this pass; nor do
//! copies that threads share, which are divided by thread ids but complete when they are done.
//! Sub-levels of `group` and `group-4` remain: their order moves whole warps, and improves no
//! access. Of a level of threads that was merged from two levels, the inner one is the faster by
//! definition, and only its own sub-levels are reordered.

mod accesses;
mod candidate;
mod observability;
#[cfg(test)]
mod tests;

use crate::ir::{
    BinOp, Expr, ExprKind, Function, Intrinsic, KernelId, Level, LocalId, Role, Scalar, Stmt,
    StmtKind,
};
use crate::passes::transform::barriers::Vars;
use crate::symbolic::Sym;
use accesses::Cost;
use candidate::{Candidate, Index};

/// Levels that must have the same order.
struct Class {
    members: Vec<usize>,
    /// The cost of each order.
    costs: Vec<Cost>,
}

/// Chooses the order of every level of a kernel.
pub fn choose(function: &mut Function, id: KernelId) {
    for (candidate, order) in orders(function, id) {
        if order.iter().enumerate().any(|(at, axis)| at != *axis) {
            reorder(function, id, &candidate, order);
        }
    }
}

/// The order of each level that may have another one than the program's.
fn orders(function: &Function, id: KernelId) -> Vec<(Candidate, &'static [usize])> {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return Vec::new();
    };
    let body = &kernel.body;
    let vars = Vars::of_block(function, body);
    let mut candidates = Vec::new();
    let mut find = Find {
        function,
        vars: &vars,
        sites: 0,
        found: &mut candidates,
    };
    find.block(body, &mut Vec::new());
    if candidates.is_empty() || observability::is_observed(body) {
        return Vec::new();
    }
    let classes: Vec<Class> = observability::classes(function, body, &candidates)
        .into_iter()
        .filter_map(|members| costs(function, &candidates, members))
        .collect();
    let decided = decide(&candidates, &classes);
    let order_of = |at: usize| {
        let class = classes.iter().position(|c| c.members.contains(&at))?;
        decided.get(class).copied()
    };
    let with_order = |(at, candidate): (usize, Candidate)| {
        let order = candidate.orders().get(order_of(at)?)?;
        Some((candidate, *order))
    };
    let numbered: Vec<(usize, Candidate)> = candidates.into_iter().enumerate().collect();
    numbered.into_iter().filter_map(with_order).collect()
}

fn costs(function: &Function, candidates: &[Candidate], members: Vec<usize>) -> Option<Class> {
    let orders = candidates.get(*members.first()?)?.orders();
    let of = |order: &[usize]| {
        let members = members.iter().filter_map(|m| candidates.get(*m));
        members
            .map(|candidate| accesses::cost(function, candidate, order))
            .sum()
    };
    let costs = orders.iter().map(|order| of(order)).collect();
    Some(Class { members, costs })
}

/// The number of each class's order. Among equals it is that of another class of the same shape,
/// because threads that access the same elements in both then need no barrier.
fn decide(candidates: &[Candidate], classes: &[Class]) -> Vec<usize> {
    let best = |class: &Class| -> Vec<usize> {
        let least = class.costs.iter().min();
        let is_least = |at: &usize| class.costs.get(*at) == least;
        (0..class.costs.len()).filter(is_least).collect()
    };
    let shape = |class: &Class| class.members.first().and_then(|m| candidates.get(*m));
    classes
        .iter()
        .map(|class| {
            let mine = best(class);
            let alike = |other: &&Class| match (shape(class), shape(other)) {
                (Some(a), Some(b)) => a.has_shape_of(b),
                _ => false,
            };
            let decided =
                classes
                    .iter()
                    .filter(alike)
                    .find_map(|other| match best(other).as_slice() {
                        [only] if mine.contains(only) => Some(*only),
                        _ => None,
                    });
            decided.or(mine.first().copied()).unwrap_or(0)
        })
        .collect()
}

struct Find<'a> {
    function: &'a Function,
    vars: &'a Vars,
    sites: usize,
    found: &'a mut Vec<Candidate>,
}

impl Find<'_> {
    fn block(&mut self, stmts: &[Stmt], around: &mut Vec<Level>) {
        for stmt in stmts {
            if let StmtKind::Parallel { level, body } = &stmt.kind {
                self.sites += 1;
                let candidate = self.candidate(body, around);
                self.found.extend(candidate);
                around.push(*level);
                self.block(body, around);
                around.pop();
            } else {
                for inner in stmt.kind.blocks() {
                    self.block(inner, around);
                }
            }
        }
    }

    fn candidate(&self, body: &[Stmt], around: &[Level]) -> Option<Candidate> {
        let mut digits: Vec<Digit> = Vec::new();
        for list in lists(body) {
            for stmt in list {
                if let StmtKind::Let {
                    local,
                    value: Some(value),
                } = &stmt.kind
                    && self.function.local(*local).role == Role::Parallel(Level::Thread)
                {
                    digits.push(digit(*local, value)?);
                }
            }
        }
        // The thread id of a split level is none of them.
        let number = digits.last()?.number.clone();
        digits.retain(|d| same(&d.number, &number));
        if digits.len() < 2 || observability::is_observed_in(body) {
            return None;
        }
        let mut step = Sym::one();
        let mut indices = Vec::new();
        let slowest = digits.len() - 1;
        for (at, digit) in digits.iter().enumerate() {
            let var = self.function.local(digit.local).var?;
            let extent = self.function.cx.bounds(var).1? + 1;
            let open = at == slowest && digit.modulus.is_none();
            if digit.divisor != step || !(open || digit.modulus.as_ref() == Some(&extent)) {
                return None;
            }
            step = &step * &extent;
            indices.push(Index {
                local: digit.local,
                var: self.vars.canonical(var),
                extent,
            });
        }
        Some(Candidate {
            site: self.sites,
            open: digits.last()?.modulus.is_none(),
            indices,
            number,
            around: around.to_vec(),
            traffic: accesses::traffic(self.function, self.vars, body),
        })
    }
}

/// The statement lists in which the indices of a level are declared: at its start, or in the guard
/// of a split level.
pub fn lists(body: &[Stmt]) -> impl Iterator<Item = &[Stmt]> {
    let guarded = body.iter().filter_map(|stmt| match &stmt.kind {
        StmtKind::If { then, .. } => Some(then.as_slice()),
        _ => None,
    });
    std::iter::once(body).chain(guarded)
}

/// `number / divisor % modulus`
pub struct Digit {
    local: LocalId,
    number: Expr,
    pub divisor: Sym,
    pub modulus: Option<Sym>,
}

pub fn digit(local: LocalId, value: &Expr) -> Option<Digit> {
    let (rest, modulus) = stripped(value, BinOp::Rem);
    let (number, divisor) = stripped(rest, BinOp::Div);
    let plain = matches!(
        &*number.kind,
        ExprKind::Intrinsic(Intrinsic::Thread, _) | ExprKind::Index(_)
    );
    plain.then(|| Digit {
        local,
        number: number.clone(),
        divisor: divisor.unwrap_or_else(Sym::one),
        modulus,
    })
}

fn stripped(e: &Expr, wanted: BinOp) -> (&Expr, Option<Sym>) {
    match &*e.kind {
        ExprKind::Binary(op, a, b) if *op == wanted => match &*b.kind {
            ExprKind::Index(by) => (a, Some(by.clone())),
            _ => (e, None),
        },
        _ => (e, None),
    }
}

fn same(a: &Expr, b: &Expr) -> bool {
    match (&*a.kind, &*b.kind) {
        (ExprKind::Intrinsic(a, of_a), ExprKind::Intrinsic(b, of_b)) => {
            a == b && of_a.is_empty() && of_b.is_empty()
        }
        (ExprKind::Index(a), ExprKind::Index(b)) => a == b,
        _ => false,
    }
}

/// Assigns the indices their values in this order, the fastest first.
fn reorder(function: &mut Function, id: KernelId, candidate: &Candidate, order: &[usize]) {
    let at = candidate.number.span;
    let op = |op, a, by: &Sym| {
        let kind = ExprKind::Binary(op, a, Expr::index(by.clone(), at));
        Expr::new(kind, Scalar::Index, at)
    };
    let mut values: Vec<(LocalId, Expr)> = Vec::new();
    let mut step = Sym::one();
    for axis in order {
        let Some(index) = candidate.indices.get(*axis) else {
            return;
        };
        let mut value = candidate.number.clone();
        if !step.is_one() {
            value = op(BinOp::Div, value, &step);
        }
        let slowest = values.len() + 1 == order.len();
        if !(slowest && candidate.open) {
            value = op(BinOp::Rem, value, &index.extent);
        }
        step = &step * &index.extent;
        values.push((index.local, value));
    }
    if let Some(kernel) = function.kernels.get_mut(id.index()) {
        kernel
            .fastest
            .extend(values.first().map(|(local, _)| *local));
        set(&mut kernel.body, &values);
    }
}

fn set(stmts: &mut [Stmt], values: &[(LocalId, Expr)]) {
    for stmt in stmts {
        if let StmtKind::Let { local, value } = &mut stmt.kind {
            if let Some((_, new)) = values.iter().find(|(l, _)| l == local) {
                *value = Some(new.clone());
            }
        } else {
            for inner in stmt.kind.blocks_mut() {
                set(inner, values);
            }
        }
    }
}
