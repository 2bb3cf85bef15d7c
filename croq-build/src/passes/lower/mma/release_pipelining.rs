//! Consumers of a ring of slots keep one group of products in flight.
//!
//! An iteration waits for a slot, multiplies what is in it, and releases it. If the release waits for the iteration's own
//! products, tensor cores stand still from one iteration to the next. So an iteration begins its products and then
//! waits for those of the iteration before, whose slot it releases; what the last one leaves is waited for and
//! released behind the loop.
//!
//! That is only right where nobody needs the release of one slot to fill the next one. It is a ring of two
//! slots or more that both sides go round in steps of one: whoever fills a slot has waited for just this
//! slot's release.

use super::mma_group::{MmaGroup, is_finish, is_name, is_part_of_group, step};
use crate::ir::build;
use crate::ir::{
    BinOp, EventAt, EventId, Expr, ExprKind, Function, Role, Scalar, Slot, Step, Stmt, StmtKind,
};
use crate::source::Span;
use crate::symbolic::{Atom, Sym, Var};

/// An iteration of a consumer, taken apart.
struct Iteration {
    /// Names and waits.
    before: Vec<Stmt>,
    mma_group: MmaGroup,
    releases: Vec<(EventAt, Span)>,
}

/// What stands in the place of a loop over a ring: the loop, and what comes behind it. `whole` is the
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
    let iteration = taken_apart(body)?;
    if !iteration
        .releases
        .iter()
        .all(|(at, _)| is_ring(function, whole, &iteration, at, var))
    {
        return None;
    }
    let span = stmt.span;
    let mut first = Vec::new();
    let mut stmts = iteration.before;
    let registers = iteration.mma_group.registers();
    let end = iteration.mma_group.span();
    stmts.extend(iteration.mma_group.begun());
    stmts.push(step(Step::wait(1, &[]), end));
    let mut again = Vec::new();
    let mut kept = Vec::new();
    for (at, trigger) in iteration.releases {
        let Slot::At(slot) = &at.slot else {
            return None;
        };
        let (released, before) = build::index(function, "released", Role::Value, None, trigger);
        if let Some(local) = function.locals.get_mut(released.index()) {
            local.mutable = true;
        }
        // What is in front of the loop belongs to it, and carries no comment of a statement inside.
        let zero = Some(Expr::index(Sym::zero(), span));
        first.push(Stmt::new(
            StmtKind::Let {
                local: released,
                value: zero,
            },
            span,
        ));
        let value = Expr::index(slot.clone(), trigger);
        kept.push(Stmt::new(
            StmtKind::Assign {
                local: released,
                value,
            },
            trigger,
        ));
        let slot = Slot::At(before);
        again.push(Stmt::new(
            StmtKind::Trigger(EventAt { slot, ..at }),
            trigger,
        ));
    }
    stmts.push(only_if(lo, &Sym::var(var), again.clone(), end));
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
        true => first.extend(again),
        false => first.push(only_if(lo, hi, again, end)),
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

/// Names and waits, products, `mma.commit` perhaps, releases; nothing else.
fn taken_apart(body: &[Stmt]) -> Option<Iteration> {
    let mut rest = body.iter().peekable();
    let mut before = Vec::new();
    while let Some(stmt) = rest.next_if(|s| matches!(s.kind, StmtKind::WaitEvent(_)) || is_name(s))
    {
        before.push(stmt.clone());
    }
    let mut mma_group = Vec::new();
    while let Some(stmt) = rest.next_if(|s| is_part_of_group(s)) {
        mma_group.push(stmt.clone());
    }
    let mma_group = MmaGroup::of(mma_group).filter(|mma_group| !mma_group.is_waited_for())?;
    let _ = rest.next_if(|s| is_finish(s));
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

/// Whether a release may come an iteration later.
fn is_ring(
    function: &Function,
    whole: &[Stmt],
    iteration: &Iteration,
    released: &EventAt,
    var: Var,
) -> bool {
    let slots = function.event(released.event).slots;
    if slots < 2 || !goes_round(function, released, slots, var) {
        return false;
    }
    let waited = iteration.before.iter().filter_map(|stmt| match &stmt.kind {
        StmtKind::WaitEvent(at) => Some(at),
        _ => None,
    });
    // The same slot of what it waits for; whoever fills that does so in the same way.
    let mut any = false;
    let all = waited.into_iter().all(|at| {
        any = true;
        at.slot == released.slot && is_filled(function, whole, at.event, released.event, slots)
    });
    any && all
}

/// Every `trigger` of `full` comes behind a wait for the same slot of `empty`, in a loop that goes round as
/// well.
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
            .is_some_and(|var| goes_round(function, &site.at, slots, var))
    };
    !sites.is_empty() && sites.iter().all(|site| site.waits && fits(site))
}

/// A `trigger` of the event that consumers wait for.
struct Site {
    at: EventAt,
    /// Behind a wait for its slot.
    waits: bool,
    /// The variable of the loop around.
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
                let waits = before.iter().any(|s| {
                    matches!(&s.kind, StmtKind::WaitEvent(w) if w.event == empty && w.slot == at.slot)
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

/// The slot is some integer modulo their number, and each iteration the integer is one more.
fn goes_round(function: &Function, at: &EventAt, slots: u32, var: Var) -> bool {
    let Slot::At(slot) = &at.slot else {
        return false;
    };
    let mut terms = slot.terms();
    let (Some((1, [Atom::Rem(count, by)])), None) = (terms.next(), terms.next()) else {
        return false;
    };
    let next = function.cx.substituted(count, var, &(&Sym::var(var) + 1));
    by.as_int() == Some(i64::from(slots)) && (&next - count).is_one()
}
