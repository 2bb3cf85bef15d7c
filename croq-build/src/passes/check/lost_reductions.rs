//! Values of row fragments that `reduce_sum` and `reduce_max` overwrite before they are read
//! (W0938).
//!
//! A reduction sets its first operand, and does not add to its previous value. A lost value is only
//! reported if it was computed, not if it is the constant with which the fragment was initialised.

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{
    Access, BufferId, Flow, Function, KernelId, MmaOp, ON, Part, Stmt, StmtKind, View, Visitor,
    walk,
};
use crate::sorted::SortedMap;
use crate::source::Span;

pub fn check(function: &Function, id: KernelId, diags: &mut Diagnostics) {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return;
    };
    let mut walk = Walk {
        function,
        unread: SortedMap::new(),
        computed: 0,
        loops: Vec::new(),
        found: SortedMap::new(),
    };
    let _ = walk.block(&kernel.body);
    for ((at, buffer), lost) in walk.found {
        let name = function.buffers.get(buffer.index()).map(|b| &b.name);
        let Some(name) = name else { continue };
        diags.push(report(name, at, lost));
    }
}

/// `lost`: where the value is computed, if that is another statement.
fn report(name: &str, at: Span, lost: Option<Span>) -> Diagnostic {
    let report = Diagnostic::new(
        codes::W0938,
        at,
        format!("this reduction overwrites `{name}`, whose value nothing has read"),
    );
    let report = match lost {
        None => report.label("each iteration overwrites what the one before has computed"),
        Some(lost) => report
            .label("sets it, and adds nothing to it")
            .also(lost, "this value is lost"),
    };
    report.help(format!(
        "reduce into another fragment `row`, and add it: \
         `apply {{i}} in {name}.span {{ {name}.at(i) = {name}.at(i) + row.at(i); }}`"
    ))
}

/// A statement that computes a fragment: its place and its number, because all statements that one use of a
/// macro makes have the same place.
#[derive(Clone, Copy, PartialEq)]
struct Computed {
    at: Span,
    number: usize,
}

/// The first use of a fragment in an iteration.
#[derive(Clone, Copy)]
enum First {
    /// Each iteration overwrites it, by this reduction.
    Reduction(Computed),
    Other,
}

/// An enclosing loop.
struct Iterations {
    first: SortedMap<BufferId, First>,
    /// The number of conditions around the statement, inside the loop.
    conditions: usize,
}

struct Walk<'a> {
    function: &'a Function,
    /// Fragments with a computed value that has not been read, and the computation.
    unread: SortedMap<BufferId, Computed>,
    /// The number of computations so far.
    computed: usize,
    loops: Vec<Iterations>,
    /// The computation whose value is lost; none if it is the reduction itself.
    found: SortedMap<(Span, BufferId), Option<Span>>,
}

impl Walk<'_> {
    /// Only fragments that are not arrays are tracked.
    fn is_followed(&self, part: &Part) -> bool {
        let fragment = self.function.fragments.get(&part.buffer);
        fragment.is_some_and(|f| f.count == 1)
    }

    fn note(&mut self, buffer: BufferId, first: First) {
        for around in &mut self.loops {
            let first = match around.conditions {
                0 => first,
                _ => First::Other,
            };
            around.first.entry(buffer).or_insert(first);
        }
    }

    fn read(&mut self, buffer: BufferId) {
        self.note(buffer, First::Other);
        self.unread.remove(&buffer);
    }

    fn compute(&mut self, buffer: BufferId, at: Span) {
        self.note(buffer, First::Other);
        let computed = self.next(at);
        self.unread.insert(buffer, computed);
    }

    fn next(&mut self, at: Span) -> Computed {
        self.computed += 1;
        let number = self.computed;
        Computed { at, number }
    }

    fn reduce(&mut self, part: &Part, at: Span) {
        if !self.is_followed(part) {
            return;
        }
        if let Some(lost) = self.unread.get(&part.buffer) {
            let lost = Some(lost.at);
            self.found.entry((at, part.buffer)).or_insert(lost);
        }
        let computed = self.next(at);
        self.note(part.buffer, First::Reduction(computed));
        self.unread.insert(part.buffer, computed);
    }

    /// Bodies that may not be executed.
    fn optional_blocks(&mut self, bodies: &[&[Stmt]]) -> Flow {
        let before = self.unread.clone();
        let mut after: Option<SortedMap<BufferId, Computed>> = None;
        self.loops.iter_mut().for_each(|l| l.conditions += 1);
        for body in bodies {
            self.unread.clone_from(&before);
            self.block(body)?;
            let other = std::mem::take(&mut self.unread);
            after = Some(match after {
                None => other,
                Some(mut both) => {
                    both.retain(|buffer, _| other.contains_key(buffer));
                    both
                }
            });
        }
        self.loops.iter_mut().for_each(|l| l.conditions -= 1);
        self.unread = after.unwrap_or_default();
        ON
    }

    fn iterations(&mut self, prelude: &[Stmt], body: &[Stmt], several: bool) -> Flow {
        let before = self.unread.clone();
        self.loops.push(Iterations {
            first: SortedMap::new(),
            conditions: 0,
        });
        self.block(prelude)?;
        self.block(body)?;
        let Some(around) = self.loops.pop() else {
            return ON;
        };
        if several && !body.iter().any(Stmt::leaves_iteration) {
            for (buffer, lost) in &self.unread {
                if let Some(First::Reduction(by)) = around.first.get(buffer) {
                    let lost = (by != lost).then_some(lost.at);
                    self.found.entry((by.at, *buffer)).or_insert(lost);
                }
            }
        }
        self.unread
            .retain(|buffer, at| before.get(buffer) == Some(at));
        ON
    }

    fn mma(&mut self, op: &MmaOp, at: Span) -> Flow {
        match op {
            MmaOp::Reduce { into, from, .. } => {
                self.read(from.buffer);
                self.reduce(into, at);
            }
            MmaOp::Convert { into, from } => {
                self.read(from.buffer);
                self.compute(into.buffer, at);
            }
            MmaOp::FillElements { part, add, value } => {
                self.expr(value)?;
                self.read(part.buffer);
                if *add {
                    self.compute(part.buffer, at);
                }
            }
            MmaOp::AllReduce { part } => {
                self.read(part.buffer);
                self.compute(part.buffer, at);
            }
            MmaOp::Apply { body, .. } => self.block(body)?,
            op => op.parts().iter().for_each(|part| self.read(part.buffer)),
        }
        ON
    }
}

impl Visitor for Walk<'_> {
    fn stmt(&mut self, stmt: &Stmt) -> Flow {
        match &stmt.kind {
            StmtKind::Mma(op) => self.mma(op, stmt.span),
            StmtKind::Store { access, op, value } => {
                self.expr(value)?;
                if op.is_some() {
                    self.read(access.view.buffer);
                }
                let buffer = access.view.buffer;
                if self.function.fragments.contains_key(&buffer) {
                    self.compute(buffer, stmt.span);
                }
                ON
            }
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => {
                self.expr(cond)?;
                self.optional_blocks(&[then, otherwise])
            }
            StmtKind::Region { pred, body, .. } => {
                self.expr(pred)?;
                self.optional_blocks(&[body, &[]])
            }
            StmtKind::For { lo, hi, body, .. } => {
                let one = &(hi - lo) - &crate::symbolic::Sym::one();
                let several = self.function.cx.range(&one).1.is_none_or(|n| n > 0);
                self.iterations(&[], body, several)
            }
            StmtKind::While { prelude, body, .. } => self.iterations(prelude, body, true),
            StmtKind::Alloc(id) => {
                self.read(*id);
                ON
            }
            _ => walk::stmt(self, stmt),
        }
    }

    fn access(&mut self, access: &Access, _written: bool) -> Flow {
        self.read(access.view.buffer);
        ON
    }

    fn view(&mut self, view: &View) -> Flow {
        self.read(view.buffer);
        ON
    }
}
