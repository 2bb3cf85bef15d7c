//! Work on registers alone.

use super::{Pass, register};
use crate::ir::{BinOp, Expr, ExprKind, MmaOp, Part, Stmt, StmtKind};
use crate::passes::fresh;
use crate::source::Span;
use crate::symbolic::Sym;

impl Pass<'_> {
    pub fn prepared(&mut self, stmt: Stmt) -> Result<Vec<Stmt>, Stmt> {
        let span = stmt.span;
        let StmtKind::Mma(op) = &stmt.kind else {
            return Err(stmt);
        };
        match &**op {
            MmaOp::Each { part, add, value } => Ok(self.each(part, *add, value.clone(), span)),
            _ => Err(stmt),
        }
    }

    /// All of a thread's elements of one fragment, or of an array.
    fn all_of(&self, part: &Part) -> (Sym, i64) {
        let Some(fragment) = self.function.fragments.get(&part.buffer) else {
            return (Sym::zero(), 0);
        };
        let own = super::own(fragment);
        match &part.number {
            Some(number) => (number * own, own),
            None => (Sym::zero(), own * fragment.count),
        }
    }

    fn each(&mut self, part: &Part, add: bool, value: Expr, span: Span) -> Vec<Stmt> {
        let (first, count) = self.all_of(part);
        let elem = self.function.buffer(part.buffer).elem;
        // A fill without a type has its value in one of its own.
        let value = if value.ty == elem {
            value
        } else {
            Expr::new(ExprKind::Cast(value), elem, span)
        };
        let mut stmts = Vec::new();
        let value = match &*value.kind {
            ExprKind::Float(_) | ExprKind::Int(_) | ExprKind::Local(_) => value,
            _ => {
                let (stmt, value) = fresh::value(self.function, "filler", value);
                stmts.push(stmt);
                value
            }
        };
        stmts.extend(self.loops(&[("e", count, 1)], span, |_, indices| {
            let at = &first + &indices.iter().sum::<Sym>();
            let store = StmtKind::Store {
                access: register(part.buffer, at, span),
                op: add.then_some(BinOp::Add),
                value: value.clone(),
            };
            vec![Stmt::new(store, span)]
        }));
        stmts
    }
}
