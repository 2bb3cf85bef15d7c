//! A counter for each remainder of a loop variable, such as the slot `k % 3` of a ring of tiles.
//!
//! The remainder of a division by 3 costs a multiplication by a 64-bit constant, shifts and
//! additions, in each iteration: more than everything else of a pipelined product's step besides
//! the instructions themselves. A counter that begins again at 0 costs an addition, a comparison and
//! a selection. A remainder of the variable itself by a power of two is a mask already.
//!
//! In a loop over tiles the ring continues from tile to tile, `(tile * steps + k) % 3`: the counter then
//! begins with the remainder of what the loop does not change.

use super::known;
use crate::ir::build;
use crate::ir::{
    BinOp, CheckCode, Expr, ExprKind, Flow, Function, KernelId, LocalId, ON, Role, Scalar, Stmt,
    StmtKind, Visitor, VisitorMut, any_stmt,
};
use crate::passes::analysis::uses::set_in;
use crate::source::Span;
use crate::symbolic::{Atom, Sym, Var};

use crate::sorted::SortedSet;

/// More counters would cost more registers than they are worth.
const MOST_COUNTERS: usize = 3;
/// One register, where an index has two.
const COUNTED: Scalar = Scalar::U32;

pub fn count(function: &mut Function, id: KernelId) {
    function.with_kernel_body(id, |function, body| {
        in_block(function, body, &mut Vec::new())
    });
}

/// `known`: conditions that hold here.
fn in_block(function: &mut Function, block: &mut Vec<Stmt>, known: &mut Vec<Expr>) {
    let mut at = 0;
    while at < block.len() {
        let mut before = Vec::new();
        if let Some(stmt) = block.get_mut(at) {
            // The region's own threads, or those that take the branch.
            let outside = known.len();
            known.extend(known::condition(stmt).cloned());
            for inner in stmt.kind.blocks_mut() {
                in_block(function, inner, known);
                // The second block of a branch is the other one.
                known.truncate(outside);
            }
            known.truncate(outside);
            before = counters(function, stmt, known);
        }
        let count = before.len();
        block.splice(at..at, before);
        at += count + 1;
    }
}

/// Whether the number is proved not to be negative where the conditions hold.
fn is_natural(function: &mut Function, number: &Sym, known: &[Expr]) -> bool {
    if function.cx.le(&Sym::zero(), number).is_yes() {
        return true;
    }
    function.cx.push_scope();
    for cond in known {
        known::assume(function, cond);
    }
    let proved = function.cx.le(&Sym::zero(), number).is_yes();
    function.cx.pop_scope();
    proved
}

/// The loop's remainders become counters; their declarations are returned.
fn counters(function: &mut Function, stmt: &mut Stmt, known: &[Expr]) -> Vec<Stmt> {
    let span = stmt.span;
    let StmtKind::For {
        local,
        lo,
        step,
        unroll: None,
        body,
        ..
    } = &mut stmt.kind
    else {
        return Vec::new();
    };
    let var = function.locals.get(local.index()).and_then(|l| l.var);
    // A `continue` would skip the end of the iteration.
    let skips = any_stmt(body, |stmt| matches!(stmt.kind, StmtKind::Continue));
    let (Some(var), true, false) = (var, step.is_one(), skips) else {
        return Vec::new();
    };
    let mut find = Find {
        var,
        found: Vec::new(),
    };
    let _ = find.block(body);
    if find.found.is_empty() {
        return Vec::new();
    }
    // Variables whose values before the loop are not known, or not those in it.
    let mut unusable = set_in(function, body);
    unusable.extend(checked_in(function, body));
    let is_fixed = |ring: &Ring| unusable.iter().all(|v| !ring.ahead.contains(*v));
    let mut declarations = Vec::new();
    for ring in find.found.into_iter().filter(is_fixed) {
        let first = &*lo + &ring.ahead;
        if declarations.len() == MOST_COUNTERS || !is_natural(function, &first, known) {
            continue;
        }
        let slot = counter(function, &ring, span);
        let first = function.cx.rem(&first, &Sym::int(ring.slots));
        let first = match first.as_int() {
            Some(first) => Expr::int(i128::from(first), COUNTED, span),
            None => Expr::new(ExprKind::Cast(Expr::index(first, span)), COUNTED, span),
        };
        declarations.push(build::declare(slot.local, first));
        let mut replace = Replace {
            function,
            var,
            atom: &ring.atom,
            by: &slot.value,
        };
        let _ = replace.block(body);
        body.push(slot.next(ring.slots, span));
    }
    declarations
}

/// Variables of the integers whose size the body checks. Before the loop they may be too large.
fn checked_in(function: &Function, body: &[Stmt]) -> SortedSet<Var> {
    struct Checked(SortedSet<Var>);
    impl Visitor for Checked {
        fn sym(&mut self, sym: &Sym) -> Flow {
            self.0.extend(sym.sorted_vars().iter().copied());
            ON
        }
    }
    let mut checked = Checked(SortedSet::new());
    any_stmt(body, |stmt| {
        if let StmtKind::Check { check, .. } = &stmt.kind
            && let Some(info) = function.checks.get(check.index())
            && info.code == CheckCode::R19
        {
            let _ = checked.stmt(stmt);
        }
        false
    });
    checked.0
}

/// `(v + ahead) % slots`
struct Ring {
    atom: Atom,
    ahead: Sym,
    slots: i64,
}

impl Ring {
    fn of(atom: &Atom, var: Var) -> Option<Ring> {
        let Atom::Rem(number, slots) = atom else {
            return None;
        };
        let slots = slots
            .as_int()
            .filter(|n| *n > 1 && i32::try_from(*n).is_ok())?;
        let (coefficient, ahead) = number.linear_in(var)?;
        // A mask of a 64-bit sum is more than the counter.
        let is_mask = slots.unsigned_abs().is_power_of_two() && ahead.as_int().is_some();
        let suits = coefficient.is_one() && !ahead.is_poison() && !is_mask;
        suits.then_some(Ring {
            atom: atom.clone(),
            ahead,
            slots,
        })
    }
}

struct Find {
    var: Var,
    found: Vec<Ring>,
}

impl Find {
    fn atom(&mut self, atom: &Atom) {
        if let Some(ring) = Ring::of(atom, self.var) {
            if self.found.iter().all(|other| other.atom != ring.atom) {
                self.found.push(ring);
            }
        } else if let Some((a, b)) = atom.operands() {
            self.in_sym(a);
            self.in_sym(b);
        }
    }

    fn in_sym(&mut self, sym: &Sym) {
        if sym.contains(self.var) && !sym.is_poison() {
            for (_, atoms) in sym.terms() {
                atoms.iter().for_each(|atom| self.atom(atom));
            }
        }
    }
}

impl Visitor for Find {
    fn sym(&mut self, sym: &Sym) -> Flow {
        self.in_sym(sym);
        ON
    }

    fn note(&mut self, _: &Sym) -> Flow {
        ON
    }
}

struct Replace<'a> {
    function: &'a Function,
    var: Var,
    atom: &'a Atom,
    by: &'a Sym,
}

impl VisitorMut for Replace<'_> {
    fn sym(&mut self, sym: &mut Sym) -> Flow {
        if sym.contains(self.var) {
            *sym = self.function.cx.replaced(sym, self.atom, self.by);
        }
        ON
    }
}

struct Counter {
    local: LocalId,
    value: Sym,
}

fn counter(function: &mut Function, ring: &Ring, span: Span) -> Counter {
    let count = Sym::int(ring.slots);
    let (local, value) = build::index(function, "slot", Role::Value, Some(&count), span);
    if let Some(local) = function.locals.get_mut(local.index()) {
        local.ty = COUNTED;
        local.mutable = true;
    }
    Counter { local, value }
}

impl Counter {
    /// `slot = slot == slots - 1 ? 0 : slot + 1;`, or one instruction less for a power of 2.
    fn next(&self, slots: i64, span: Span) -> Stmt {
        let ty = COUNTED;
        let int = |n: i64| Expr::int(i128::from(n), ty, span);
        let slot = || Expr::local(self.local, ty, span);
        let more = Expr::binary(BinOp::Add, slot(), int(1), span);
        let value = match slots.unsigned_abs().is_power_of_two() {
            true => ExprKind::Binary(BinOp::And, more, int(slots - 1)),
            false => {
                let last = Expr::binary(BinOp::Eq, slot(), int(slots - 1), span);
                ExprKind::Select(last, int(0), more)
            }
        };
        let value = Expr::new(value, ty, span);
        let local = self.local;
        Stmt::new(StmtKind::Assign { local, value }, span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sema::testing;

    /// The number of counters of a kernel whose region waits for `full[SLOT]` in each step.
    fn counters(slots: usize, slot: &str) -> usize {
        let text = format!(
            "__co__ void f(global s32 [K, 64] x, global s32 [64] out, int tiles, int first) {{
               parallel q by 2 : block {{
                 shared event full[{slots}], empty[{slots}] = ready;
                 shared s32 [8, 64] xs[{slots}];
                 parallel w by 3 : group-4, t by 128 : thread {{
                   inthreads.async (w == 0) {{
                     foreach {{tile}} in [tiles] {{
                       foreach {{k}} in [cdiv(K, 8)] {{
                         wait empty[(tile * cdiv(K, 8) + k) % {slots}];
                         tma.copy.async<full[(tile * cdiv(K, 8) + k) % {slots}]>
                           x.subspan(8, 64).at(k, 0) => xs[(tile * cdiv(K, 8) + k) % {slots}];
                         trigger full[(tile * cdiv(K, 8) + k) % {slots}];
                       }}
                     }}
                   }}
                   inthreads.async (w > 0) {{
                     local s32 [1] sum{{0}};
                     foreach {{tile}} in [tiles] {{
                       foreach {{k}} in [cdiv(K, 8)] {{
                         wait full[(tile * cdiv(K, 8) + k) % {slots}];
                         sum.at(0) += xs[{slot}].at(0, t % 64);
                         trigger empty[(tile * cdiv(K, 8) + k) % {slots}];
                       }}
                     }}
                     if (t < 64 && w == 1) {{ out.at(t) = sum.at(0); }}
                   }}
                 }}
               }}
             }}"
        );
        let function = testing::function_after(&text, "ring-slots");
        let mut found = 0;
        any_stmt(&function.kernels[0].body, |stmt| {
            if let StmtKind::Let { local, .. } = &stmt.kind {
                found += usize::from(function.local(*local).name == "slot");
            }
            false
        });
        found
    }

    #[test]
    fn a_ring_that_continues_from_tile_to_tile_is_counted() {
        let slot = |slots| format!("(tile * cdiv(K, 8) + k) % {slots}");
        assert_eq!(counters(3, &slot(3)), 2);
        assert_eq!(counters(4, &slot(4)), 2);
        // The region's threads say that the number is not negative.
        let another = "((w - 1) * 7 + tile * cdiv(K, 8) + k) % 3";
        assert_eq!(counters(3, another), 3);
        // Of two slots as well, where it continues; of the variable itself it is a mask.
        assert_eq!(counters(2, &slot(2)), 2);
        assert_eq!(counters(3, "k % 2"), 2);
        // It may be negative.
        assert_eq!(counters(3, "(first + k) % 3"), 2);
        // It changes within the loop.
        assert_eq!(counters(3, "(k * k + k) % 3"), 2);
    }
}
