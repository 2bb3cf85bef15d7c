//! Run-time checks: what the prover could neither prove nor refute.

use super::Checker;
use crate::ir::{BinOp, CheckId, CheckInfo, Expr, ExprKind, Scalar, Stmt, StmtKind, VarHome};
use crate::source::Span;
use crate::symbolic::Sym;

/// A comparison of two symbolic integers.
pub(super) fn compare(op: BinOp, a: &Sym, b: &Sym, span: Span) -> Expr {
    let (a, b) = (Expr::index(a.clone(), span), Expr::index(b.clone(), span));
    Expr::new(ExprKind::Binary(op, a, b), Scalar::Bool, span)
}

pub(super) fn both(a: Expr, b: Expr) -> Expr {
    let span = a.span;
    Expr::new(ExprKind::Binary(BinOp::LogicAnd, a, b), Scalar::Bool, span)
}

impl Checker<'_> {
    pub(super) fn check_row(&mut self, code: &'static str, message: String, span: Span) -> CheckId {
        let next = u32::try_from(self.f.checks.len()).unwrap_or(u32::MAX);
        let row = *self
            .check_rows
            .entry((code, message.clone(), span))
            .or_insert(next);
        if row == next {
            self.f.checks.push(CheckInfo {
                code,
                message,
                span,
            });
        }
        CheckId(row)
    }

    /// Whether every variable is known before the function's first statement.
    pub(super) fn known_at_entry(&self, s: &Sym) -> bool {
        s.vars().iter().all(|v| {
            matches!(
                self.f.var_home.get(v),
                Some(VarHome::Dim(_) | VarHome::Param(_))
            )
        })
    }

    /// Emits a check where its inputs are first known: at entry, else right here. What is about one
    /// access stays there, too, when the access may never happen: the call is right then.
    pub(super) fn runtime_check(
        &mut self,
        code: &'static str,
        message: String,
        cond: Expr,
        values: &[Sym],
        inputs: &[&Sym],
        span: Span,
    ) {
        let of_one_place = matches!(code, "R12" | "R13" | "R14" | "R23");
        let early = self.uncertain == 0 || !of_one_place;
        self.place_check(early, code, message, cond, values, inputs, span);
    }

    /// With `early` at entry, where the inputs are known there.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn place_check(
        &mut self,
        early: bool,
        code: &'static str,
        message: String,
        cond: Expr,
        values: &[Sym],
        inputs: &[&Sym],
        span: Span,
    ) {
        if self.dead > 0 {
            return;
        }
        let row = self.check_row(code, message, span);
        let values: Vec<Expr> = values
            .iter()
            .map(|v| Expr::index(v.clone(), span))
            .collect();
        let stmt = Stmt::new(
            StmtKind::Check {
                check: row,
                cond,
                values,
            },
            span,
        );
        if early && inputs.iter().all(|s| self.known_at_entry(s)) {
            let key = (format!("{stmt:?}"), row.0);
            if self.seen_checks.insert(key) {
                self.entry.push(stmt);
            }
        } else {
            if self.goes_on()
                && let StmtKind::Check { cond, .. } = &stmt.kind
            {
                self.guards.push(cond.clone());
            }
            if let Some(sink) = self.sinks.last_mut() {
                sink.push(stmt);
            }
        }
    }

    /// `a op b` must hold at run time; both values are shown.
    pub(super) fn check_compare(
        &mut self,
        code: &'static str,
        message: String,
        op: BinOp,
        a: &Sym,
        b: &Sym,
        span: Span,
    ) {
        let cond = compare(op, a, b, span);
        self.runtime_check(code, message, cond, &[a.clone(), b.clone()], &[a, b], span);
        // A check that is recorded only says nothing about what follows.
        if self.known_at_entry(a) && self.known_at_entry(b) && !self.goes_on() {
            match op {
                BinOp::Le => self.f.cx.assume_le(a, b),
                BinOp::Lt => self.f.cx.assume_lt(a, b),
                BinOp::Eq => self.f.cx.assume_eq(a, b),
                _ => {}
            }
        }
    }

    pub(super) fn entry_equal(
        &mut self,
        code: &'static str,
        message: String,
        a: &Sym,
        b: &Sym,
        span: Span,
    ) {
        self.check_compare(code, message, BinOp::Eq, a, b, span);
    }
}
