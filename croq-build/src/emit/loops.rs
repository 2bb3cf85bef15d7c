//! Loops as C++, and their step counts, which the simulated GPU uses to detect endless loops
//! (`device/sim/loops.h`).

use super::body::Body;
use super::expr;
use super::scalar;
use super::sym;
use super::text::Binding;
use crate::ir::threads::{Stmt, StmtKind};
use crate::ir::{CppName, Expr, LocalId, Scalar, Unroll, any_stmt, trips};
use crate::passes::analysis::spin_loops;
use crate::source::Span;
use crate::symbolic::Sym;

/// Loops with at most this many iterations in total are charged to the enclosing loop.
const SHORT: i64 = 4096;

/// The bounds of a `for`.
pub(super) struct Bounds<'s> {
    pub lo: &'s Sym,
    pub hi: &'s Sym,
    pub step: &'s Sym,
}

/// Steps of one iteration: its own, and those of short loops in it.
fn weight(body: &[Stmt]) -> i64 {
    1i64.saturating_add(short_loops(body))
}

fn short_loops(block: &[Stmt]) -> i64 {
    let cost = |stmt: &Stmt| match &stmt.kind {
        StmtKind::For {
            lo, hi, step, body, ..
        } => short(&Bounds { lo, hi, step }, body).unwrap_or(0),
        StmtKind::While { .. } => 0,
        kind => kind.blocks().map(|block| short_loops(block)).sum(),
    };
    block.iter().map(cost).fold(0, i64::saturating_add)
}

/// The steps of a loop that is charged to the enclosing one.
fn short(bounds: &Bounds<'_>, body: &[Stmt]) -> Option<i64> {
    let steps = trips(bounds.lo, bounds.hi, bounds.step)?.saturating_mul(weight(body));
    (steps <= SHORT).then_some(steps)
}

/// Whether C++ text of the body may mention the variable.
fn names_in_text(body: &[Stmt], local: LocalId) -> bool {
    any_stmt(body, |stmt| match &stmt.kind {
        StmtKind::Cpp { names, .. } => {
            let is_it = |name: &CppName| matches!(name, CppName::Local(id) if *id == local);
            names.iter().any(is_it)
        }
        _ => false,
    })
}

/// Whether something in the body may end the loop early.
fn may_leave(body: &[Stmt], nested: bool) -> bool {
    body.iter().any(|stmt| match &stmt.kind {
        StmtKind::Break => !nested,
        StmtKind::Yield => true,
        StmtKind::For { body, .. } => may_leave(body, true),
        StmtKind::While { prelude, body, .. } => may_leave(prelude, true) || may_leave(body, true),
        kind => kind.blocks().any(|block| may_leave(block, nested)),
    })
}

/// The loop variable and the declarations of the body are in one scope, which the caller opens.
impl Body<'_, '_> {
    pub(super) fn counted_for(
        &mut self,
        span: Span,
        local: LocalId,
        bounds: &Bounds<'_>,
        unroll: Option<Unroll>,
        body: &[Stmt],
    ) {
        let [lo, hi, step] = [bounds.lo, bounds.hi, bounds.step].map(|s| sym::sym(&self.names, s));
        let mut by_iteration = false;
        if short(bounds, body).is_none() {
            by_iteration = may_leave(body, false);
            let arguments = match (lo.text.as_str(), step.text.as_str(), weight(body)) {
                ("0", "1", 1) => hi.text.clone(),
                (lo, "1", 1) => format!("{lo}, {}", hi.text),
                (lo, step, 1) => format!("{lo}, {}, {step}", hi.text),
                (lo, step, weight) => format!("{lo}, {}, {step}, {weight}", hi.text),
            };
            self.writer.statement(span);
            if self.on_host && !by_iteration {
                // `hi - lo` may not fit.
                let range = match lo.text.as_str() {
                    "0" => hi.text.clone(),
                    lo => format!("{lo}, {}", hi.text),
                };
                self.writer
                    .line(&format!("CROQ_TRY(host.steps(__LINE__, {range}));"));
            } else if !by_iteration {
                self.writer.line(&format!("CROQ_STEPS({arguments});"));
            }
        }
        let variable = self.names.declare_loop_variable(local);
        // C++ of the program can't change what accesses are proved by.
        let named = !self.on_host && names_in_text(body, local);
        let name = match named {
            true => self.names.fresh(&format!("{variable}_counter")),
            false => variable.clone(),
        };
        let ty = (self.names.function.locals.get(local.index())).map_or(Scalar::Index, |l| l.ty);
        // The comparison has the type of the variable.
        let hi = match ty {
            Scalar::Index => hi.at_least(Binding::Shift),
            _ => format!("{}({})", scalar::cpp(ty), hi.text),
        };
        let ty = scalar::cpp(ty);
        let next = if step.text == "1" {
            format!("++{name}")
        } else {
            format!("{name} += {}", step.text)
        };
        let pragma = match unroll {
            Some(Unroll::Full) => {
                self.names.unroll(local);
                "CROQ_UNROLL ".to_owned()
            }
            Some(Unroll::By(by)) => format!("CROQ_UNROLL_BY({by}) "),
            None => String::new(),
        };
        let header = format!(
            "{pragma}for ({ty} {name} = {}; {name} < {hi}; {next}) {{",
            lo.text
        );
        self.writer.statement(span);
        self.writer.open(&header);
        if named {
            self.writer
                .line(&format!("const {ty} {variable} = {name};"));
        }
        if by_iteration {
            self.iteration(span, body);
        }
        self.block(body);
        self.writer.close("}");
    }

    pub(super) fn counted_while(
        &mut self,
        span: Span,
        prelude: &[Stmt],
        cond: &Expr,
        body: &[Stmt],
    ) {
        let function = self.names.function;
        let waits = !self.on_host && self.spins.waits(function, prelude, cond, body);
        let carried = (waits.then(|| spin_loops::carried(prelude, body))).flatten();
        self.writer.statement(span);
        let spin = carried.map(|carried| {
            let carried: Vec<&str> = carried.iter().map(|id| self.names.local(*id)).collect();
            let carried = carried.join(", ");
            let name = self.names.fresh("spin");
            (name, carried)
        });
        let text = expr::used(&self.names, cond, "condition");
        let whole = prelude.is_empty();
        let condition = if whole { text.text.as_str() } else { "" };
        self.writer.open(&match &spin {
            Some((name, carried)) => {
                format!("for (croq::spin {name}; {condition}; {name}.again({carried})) {{")
            }
            None if whole => format!("while ({condition}) {{"),
            None => "for (;;) {".to_owned(),
        });
        if spin.is_none() {
            self.iteration(span, body);
        }
        self.block(prelude);
        if !whole {
            let stop = expr::used(&self.names, cond, "condition").at_least(Binding::Unary);
            self.line(span, &format!("if (!{stop}) break;"));
        }
        self.block(body);
        self.writer.close("}");
    }

    /// One iteration of a loop whose trip count is not known at its entry.
    fn iteration(&mut self, span: Span, body: &[Stmt]) {
        let line = match self.on_host {
            true => "CROQ_TRY(host.steps(__LINE__, 8));",
            false => "croq::turn();",
        };
        self.line(span, line);
        let weight = weight(body);
        if !self.on_host && weight > 8 {
            self.line(span, &format!("CROQ_STEPS({weight});"));
        }
    }
}
