//! Orders of events that take the same values again in each iteration of an outer loop (W1024).
//!
//! `.at(order)` says which generation of a slot is meant. A generation is published once, so a
//! second wait for it returns at once or, if the phases differ, never. An order that counts the
//! iterations of an inner loop alone repeats its generations in the next iteration of the outer
//! one; only where the inner iterations are a multiple of twice the slots do slots and phases go
//! on as if it did not.

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{
    BufferId, Event, EventAt, Flow, Function, KernelId, LocalId, ON, Role, Slot, Stmt, StmtKind,
    VarHome, Visitor, walk,
};
use crate::sorted::SortedMap;
use crate::source::Span;
use crate::symbolic::{Sym, Var};

pub fn check(function: &Function, id: KernelId, diags: &mut Diagnostics) {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return;
    };
    let mut walk = Walk {
        function,
        loops: Vec::new(),
        declared: SortedMap::new(),
        found: SortedMap::new(),
    };
    let _ = walk.block(&kernel.body);
    for ((event, outer), at) in walk.found {
        if let Some(event) = function.events.get(event) {
            diags.push(report(event, at, outer));
        }
    }
}

fn report(event: &Event, at: Span, outer: Span) -> Diagnostic {
    let name = &event.name;
    Diagnostic::new(
        codes::W1024,
        at,
        format!("the order of `{name}` starts again in each iteration of an outer loop"),
    )
    .label("names generations that the iteration before has used")
    .also(outer, "the outer loop")
    .help(format!(
        "count on over all iterations: `{name}.at(outer * STEPS + inner)`, or `{name}.at(n++)` with \
         a `mutable n` that is declared before the outer loop"
    ))
}

/// An enclosing loop.
struct Enclosing {
    /// The variable of a `foreach`.
    var: Option<Var>,
    /// The number of iterations, if the loop says so.
    iterations: Option<Sym>,
    span: Span,
}

struct Walk<'a> {
    function: &'a Function,
    loops: Vec<Enclosing>,
    /// The number of loops around the declaration of a buffer of mbarriers.
    declared: SortedMap<BufferId, usize>,
    /// By the index of the event and the outer loop: the place of the first such order.
    found: SortedMap<(usize, Span), Span>,
}

impl Walk<'_> {
    fn enclosing(&self, local: LocalId, [lo, hi, step]: [&Sym; 3], span: Span) -> Enclosing {
        let var = self.function.locals.get(local.index()).and_then(|l| l.var);
        let length = hi - lo;
        let iterations = match step.is_one() {
            true => length,
            false => self.function.cx.div(&(&length + &(step - 1)), step),
        };
        Enclosing {
            var,
            iterations: Some(iterations),
            span,
        }
    }

    fn used(&mut self, at: &EventAt) {
        let Slot::Order(order) = &at.slot else { return };
        let Some(event) = self.function.events.get(at.event.index()) else {
            return;
        };
        let vars = order.vars();
        if vars.iter().any(|var| self.is_counter(*var)) {
            return;
        }
        let outside = self.declared.get(&event.barriers).copied().unwrap_or(0);
        let loops = self.loops.get(outside..).unwrap_or_default();
        let depends = |l: &Enclosing| l.var.is_some_and(|var| vars.contains(&var));
        for (depth, outer) in loops.iter().enumerate() {
            let once = outer.iterations.as_ref().and_then(Sym::as_int) == Some(1);
            let inner = loops.get(depth + 1..).unwrap_or_default();
            if depends(outer) || once || !inner.iter().any(depends) {
                continue;
            }
            // The orders of one iteration of the outer loop.
            let mut inner = inner.iter().filter(|l| depends(l));
            let count = inner.try_fold(Sym::one(), |product, l| {
                Some(&product * l.iterations.as_ref()?)
            });
            let round = Sym::int(2 * i64::from(event.slots.max(1)));
            let whole = count.is_some_and(|n| self.function.cx.rem(&n, &round).is_zero());
            if !whole {
                let key = (at.event.index(), outer.span);
                self.found.entry(key).or_insert(at.span);
            }
        }
    }

    /// Whether it is a scalar that the program may count up itself.
    fn is_counter(&self, var: Var) -> bool {
        match self.function.var_home.get(&var) {
            Some(VarHome::Local(id)) => {
                let local = self.function.locals.get(id.index());
                local.is_none_or(|l| l.role == Role::Value)
            }
            _ => false,
        }
    }
}

impl Visitor for Walk<'_> {
    fn stmt(&mut self, stmt: &Stmt) -> Flow {
        let around = match &stmt.kind {
            StmtKind::For {
                local,
                lo,
                hi,
                step,
                ..
            } => Some(self.enclosing(*local, [lo, hi, step], stmt.span)),
            StmtKind::While { .. } => Some(Enclosing {
                var: None,
                iterations: None,
                span: stmt.span,
            }),
            StmtKind::WaitEvent(at) | StmtKind::Trigger(at) => {
                self.used(at);
                None
            }
            StmtKind::Alloc(buffer) => {
                self.declared.insert(*buffer, self.loops.len());
                None
            }
            _ => None,
        };
        let is_loop = around.is_some();
        self.loops.extend(around);
        walk::stmt(self, stmt)?;
        if is_loop {
            self.loops.pop();
        }
        ON
    }
}
