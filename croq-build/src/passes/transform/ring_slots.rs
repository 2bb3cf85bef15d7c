//! A counter for each remainder of a loop variable, such as the slot `k % 3` of a ring of tiles.
//!
//! The remainder of a division by 3 costs a multiplication by a 64-bit constant, shifts and
//! additions, in each iteration: more than everything else of a pipelined product's step besides
//! the instructions themselves. A counter that begins again at 0 costs an addition, a comparison and
//! a selection. Powers of two are masks already.

use crate::ir::build;
use crate::ir::{
    BinOp, Expr, ExprKind, Flow, Function, KernelId, LocalId, ON, Role, Scalar, Stmt, StmtKind,
    Visitor, VisitorMut, any_stmt,
};
use crate::source::Span;
use crate::symbolic::{Atom, Sym, Var};

/// More counters would cost more registers than they are worth.
const MOST_COUNTERS: usize = 3;
/// One register, where an index has two.
const COUNTED: Scalar = Scalar::U32;

pub fn count(function: &mut Function, id: KernelId) {
    function.with_kernel_body(id, in_block);
}

fn in_block(function: &mut Function, block: &mut Vec<Stmt>) {
    let mut at = 0;
    while at < block.len() {
        let mut before = Vec::new();
        if let Some(stmt) = block.get_mut(at) {
            for inner in stmt.kind.blocks_mut() {
                in_block(function, inner);
            }
            before = counters(function, stmt);
        }
        let count = before.len();
        block.splice(at..at, before);
        at += count + 1;
    }
}

/// The loop's remainders become counters; their declarations are returned.
fn counters(function: &mut Function, stmt: &mut Stmt) -> Vec<Stmt> {
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
    let mut declarations = Vec::new();
    for ring in find.found {
        let first = &*lo + ring.ahead;
        if declarations.len() == MOST_COUNTERS || !function.cx.le(&Sym::zero(), &first).is_yes() {
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

/// `(v + ahead) % slots`
struct Ring {
    atom: Atom,
    ahead: i64,
    slots: i64,
}

impl Ring {
    fn of(atom: &Atom, var: Var) -> Option<Ring> {
        let Atom::Rem(number, slots) = atom else {
            return None;
        };
        let slots = slots
            .as_int()
            .filter(|n| *n > 2 && i32::try_from(*n).is_ok())?;
        let (coefficient, ahead) = number.linear_in(var)?;
        let suits = coefficient.is_one() && !slots.unsigned_abs().is_power_of_two();
        suits.then_some(Ring {
            atom: atom.clone(),
            ahead: ahead.as_int()?,
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
    /// `slot = slot == slots - 1 ? 0 : slot + 1;`
    fn next(&self, slots: i64, span: Span) -> Stmt {
        let ty = COUNTED;
        let int = |n: i64| Expr::int(i128::from(n), ty, span);
        let slot = || Expr::local(self.local, ty, span);
        let last = Expr::binary(BinOp::Eq, slot(), int(slots - 1), span);
        let more = Expr::binary(BinOp::Add, slot(), int(1), span);
        let value = Expr::new(ExprKind::Select(last, int(0), more), ty, span);
        let local = self.local;
        Stmt::new(StmtKind::Assign { local, value }, span)
    }
}
