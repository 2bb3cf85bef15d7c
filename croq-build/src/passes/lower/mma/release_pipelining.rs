//! Release pipelining: consumers of a ring of slots keep one group of MMAs in flight.
//!
//! An iteration waits for a slot, multiplies its contents, and releases it. If the release waits
//! for the iteration's own MMAs, the tensor cores are idle between iterations. So an iteration
//! issues its MMAs and then waits for those of the previous iteration, whose slot it releases; the
//! last iteration's MMAs are waited for and its slot is released after the loop.
//!
//! That is only correct if no thread needs the release of one slot in order to fill the next one.
//! This holds for a ring of at least two slots that both sides traverse in steps of one: a thread
//! that fills a slot has waited for the release of just this slot.

use super::mma_group::{MmaGroup, is_commit, is_declaration, is_part_of_group, step};
use crate::ir::build;
use crate::ir::{
    BinOp, BufferId, EventAt, EventId, Expr, ExprKind, Function, Role, Scalar, Sharing, Slot, Step,
    Stmt, StmtKind,
};
use crate::passes::lower::events;
use crate::source::Span;
use crate::symbolic::{Atom, Sym, Var};

/// The parts of a consumer's iteration.
struct Iteration {
    /// Declarations and waits.
    before: Vec<Stmt>,
    mma_group: MmaGroup,
    releases: Vec<(EventAt, Span)>,
}

/// The replacement of a loop over a ring: the loop, and the statements after it. `whole` is the
/// kernel's body.
pub fn delayed(function: &mut Function, whole: &[Stmt], stmt: &Stmt) -> Option<Vec<Stmt>> {
    let StmtKind::For {
        local,
        lo,
        hi,
        step: by,
        unroll,
        body,
    } = &stmt.kind
    else {
        return None;
    };
    let var = function.local(*local).var.filter(|_| by.is_one())?;
    let iteration = split_iteration(body)?;
    if !iteration
        .releases
        .iter()
        .all(|(at, _)| is_ring(function, whole, &iteration, at, var))
    {
        return None;
    }
    let span = stmt.span;
    let mut first = Vec::new();
    let waited = iteration.before.iter().filter_map(|stmt| match &stmt.kind {
        StmtKind::WaitEvent(at) => Some(function.event(at.event).barriers),
        _ => None,
    });
    let waited: Vec<BufferId> = waited.collect();
    let mut stmts = iteration.before;
    let registers = iteration.mma_group.registers();
    let end = iteration.mma_group.span();
    stmts.extend(iteration.mma_group.issued());
    stmts.push(step(Step::wait(1, &[]), end));
    let mut again = Vec::new();
    let mut after = Vec::new();
    let mut kept = Vec::new();
    for (at, trigger) in iteration.releases {
        let slot = slot(function, &at)?;
        let (released, before) = build::index(function, "released", Role::Value, None, trigger);
        if let Some(local) = function.locals.get_mut(released.index()) {
            local.mutable = true;
        }
        // Statements before the loop have its span, and carry no comment of a statement inside.
        let zero = Some(Expr::index(Sym::zero(), span));
        first.push(Stmt::new(
            StmtKind::Let {
                local: released,
                value: zero,
            },
            span,
        ));
        let value = Expr::index(slot, trigger);
        kept.push(Stmt::new(
            StmtKind::Assign {
                local: released,
                value,
            },
            trigger,
        ));
        let slot = Slot::At(before);
        let at = EventAt { slot, ..at };
        after.push(Stmt::new(StmtKind::Trigger(at.clone()), trigger));
        // Some warps may still wait for this iteration's slot. No thread fills it again before this
        // warpgroup has released it, in the next iteration.
        let ahead = waited.clone();
        let sharing = Sharing {
            ahead,
            ..at.sharing
        };
        again.push(Stmt::new(
            StmtKind::Trigger(EventAt { sharing, ..at }),
            trigger,
        ));
    }
    stmts.push(only_if(lo, &Sym::var(var), again, end));
    stmts.extend(kept);
    first.push(Stmt::new(
        StmtKind::For {
            local: *local,
            lo: lo.clone(),
            hi: hi.clone(),
            step: by.clone(),
            unroll: *unroll,
            body: stmts,
        },
        span,
    ));
    first.push(step(Step::wait(0, &registers), end));
    match function.cx.lt(lo, hi).is_yes() {
        true => first.extend(after),
        false => first.push(only_if(lo, hi, after, end)),
    }
    Some(first)
}

/// `if (a < b) …`
fn only_if(a: &Sym, b: &Sym, then: Vec<Stmt>, span: Span) -> Stmt {
    let [a, b] = [a, b].map(|s| Expr::index(s.clone(), span));
    let cond = Expr::new(ExprKind::Binary(BinOp::Lt, a, b), Scalar::Bool, span);
    let otherwise = Vec::new();
    Stmt::new(
        StmtKind::If {
            cond,
            then,
            otherwise,
        },
        span,
    )
}

/// Splits a body into declarations and waits, MMAs, an optional `mma.commit`, and releases; `None`
/// if there are other statements.
fn split_iteration(body: &[Stmt]) -> Option<Iteration> {
    let mut rest = body.iter().peekable();
    let mut before = Vec::new();
    while let Some(stmt) =
        rest.next_if(|s| matches!(s.kind, StmtKind::WaitEvent(_)) || is_declaration(s))
    {
        before.push(stmt.clone());
    }
    let mut mma_group = Vec::new();
    while let Some(stmt) = rest.next_if(|s| is_part_of_group(s)) {
        mma_group.push(stmt.clone());
    }
    let mma_group = MmaGroup::of(mma_group).filter(|mma_group| !mma_group.is_waited_for())?;
    let _ = rest.next_if(|s| is_commit(s));
    let mut releases = Vec::new();
    for stmt in rest {
        match &stmt.kind {
            StmtKind::Trigger(at) => releases.push((at.clone(), stmt.span)),
            _ => return None,
        }
    }
    let iteration = Iteration {
        before,
        mma_group,
        releases,
    };
    (!iteration.releases.is_empty()).then_some(iteration)
}

/// Whether a release may be delayed by an iteration.
fn is_ring(
    function: &Function,
    whole: &[Stmt],
    iteration: &Iteration,
    released: &EventAt,
    var: Var,
) -> bool {
    let slots = function.event(released.event).slots;
    if slots < 2 || !advances_by_one(function, released, slots, var) {
        return false;
    }
    let waited = iteration.before.iter().filter_map(|stmt| match &stmt.kind {
        StmtKind::WaitEvent(at) => Some(at),
        _ => None,
    });
    // The waits are for the same slot, and the threads that fill it follow the same order.
    let mut any = false;
    let all = waited.into_iter().all(|at| {
        any = true;
        let same = slot(function, at) == slot(function, released);
        same && is_filled(function, whole, at.event, released.event, slots)
    });
    any && all
}

/// Whether every `trigger` of `full` follows a wait for the same slot of `empty`, in a loop that
/// traverses the ring as well.
fn is_filled(
    function: &Function,
    whole: &[Stmt],
    full: EventId,
    empty: EventId,
    slots: u32,
) -> bool {
    let mut sites = Vec::new();
    gather(function, whole, None, full, empty, &mut sites);
    let fits = |site: &Site| {
        site.around
            .is_some_and(|var| advances_by_one(function, &site.at, slots, var))
    };
    !sites.is_empty() && sites.iter().all(|site| site.waits && fits(site))
}

/// A `trigger` of the event for which consumers wait.
struct Site {
    at: EventAt,
    /// It follows a wait for its slot.
    waits: bool,
    /// The variable of the enclosing loop.
    around: Option<Var>,
}

fn gather(
    function: &Function,
    stmts: &[Stmt],
    around: Option<Var>,
    full: EventId,
    empty: EventId,
    sites: &mut Vec<Site>,
) {
    for (number, stmt) in stmts.iter().enumerate() {
        match &stmt.kind {
            StmtKind::Trigger(at) if at.event == full => {
                let before = stmts.get(..number).unwrap_or_default();
                let filled = slot(function, at);
                let waits = before.iter().any(|s| {
                    matches!(&s.kind, StmtKind::WaitEvent(w) if w.event == empty && slot(function, w) == filled)
                });
                let at = at.clone();
                sites.push(Site { at, waits, around });
            }
            StmtKind::For { local, body, .. } => {
                let var = function.local(*local).var;
                gather(function, body, var, full, empty, sites);
            }
            StmtKind::While { prelude, body, .. } => {
                gather(function, prelude, None, full, empty, sites);
                gather(function, body, None, full, empty, sites);
            }
            kind => {
                for block in kind.blocks() {
                    gather(function, block, around, full, empty, sites);
                }
            }
        }
    }
}

/// Whether the slot is an integer modulo the number of slots that increases by one in each
/// iteration.
fn advances_by_one(function: &Function, at: &EventAt, slots: u32, var: Var) -> bool {
    let Some(slot) = slot(function, at) else {
        return false;
    };
    let mut terms = slot.terms();
    let (Some((1, [Atom::Rem(count, by)])), None) = (terms.next(), terms.next()) else {
        return false;
    };
    let next = function.cx.substituted(count, var, &(&Sym::var(var) + 1));
    by.as_int() == Some(i64::from(slots)) && (&next - count).is_one()
}

/// The slot, also of an order. `None` for all slots.
fn slot(function: &Function, at: &EventAt) -> Option<Sym> {
    events::place(function, at).map(|(_, slot)| slot)
}
