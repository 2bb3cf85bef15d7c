//! Queries on statements: walks with a closure, or with callbacks that visit everything.

use std::ops::ControlFlow;

use super::visit::{Flow, ON, Visitor, VisitorMut, walk, walk_mut};
use super::{Access, Expr, Kernel, Phase, Stmt, StmtKind, Tiles, View};
use crate::symbolic::Sym;

/// Callbacks for everything in a list of statements, outer items first; each does nothing by
/// default.
pub trait Visit<P: Phase = Tiles> {
    fn stmt(&mut self, _stmt: &Stmt<P>) {}
    fn expr(&mut self, _expr: &Expr) {}
    /// Every symbolic expression that is evaluated at run time.
    fn sym(&mut self, _sym: &Sym) {}
    /// The view of a copy or fill, or a pointer argument.
    fn view(&mut self, _view: &View) {}
    /// A load (`written` is false) or the target of a store.
    fn access(&mut self, _access: &Access, _written: bool) {}
}

/// A [`Visitor`] that visits everything and calls a [`Visit`].
struct Forward<'v, P: Phase>(&'v mut dyn Visit<P>);

impl<P: Phase> Visitor<P> for Forward<'_, P> {
    fn stmt(&mut self, stmt: &Stmt<P>) -> Flow {
        self.0.stmt(stmt);
        walk::stmt(self, stmt)
    }
    fn expr(&mut self, expr: &Expr) -> Flow {
        self.0.expr(expr);
        walk::expr(self, expr)
    }
    fn view(&mut self, view: &View) -> Flow {
        self.0.view(view);
        walk::view(self, view)
    }
    fn access(&mut self, access: &Access, written: bool) -> Flow {
        self.0.access(access, written);
        walk::access(self, access)
    }
    fn sym(&mut self, sym: &Sym) -> Flow {
        self.0.sym(sym);
        ON
    }
    fn note(&mut self, _sym: &Sym) -> Flow {
        ON
    }
}

pub fn walk_block<P: Phase>(stmts: &[Stmt<P>], v: &mut dyn Visit<P>) {
    let _ = Forward(v).block(stmts);
}

/// Visits `expr` and everything below it.
pub fn walk_exprs<P: Phase>(expr: &Expr, v: &mut dyn Visit<P>) {
    let _ = Forward(v).expr(expr);
}

/// The number of iterations of `for (v = lo; v < hi; v += step)`, if it is static.
pub fn trips(lo: &Sym, hi: &Sym, step: &Sym) -> Option<i64> {
    let (lo, hi, step) = (lo.as_int()?, hi.as_int()?, step.as_int()?.max(1));
    Some(hi.saturating_sub(lo).max(0).saturating_add(step - 1) / step)
}

/// Whether `is` holds for a statement or for one nested in it.
pub fn any_stmt<P: Phase>(stmts: &[Stmt<P>], is: impl FnMut(&Stmt<P>) -> bool) -> bool {
    struct Find<F>(F);
    impl<P: Phase, F: FnMut(&Stmt<P>) -> bool> Visitor<P> for Find<F> {
        fn stmt(&mut self, stmt: &Stmt<P>) -> Flow {
            match (self.0)(stmt) {
                true => ControlFlow::Break(()),
                false => walk::stmt(self, stmt),
            }
        }
        // Expressions contain no statements.
        fn expr(&mut self, _expr: &Expr) -> Flow {
            ON
        }
    }
    Find(is).block(stmts).is_break()
}

/// Whether one of the closures holds for a statement, a nested one, or an expression in them.
pub fn any_in<P: Phase>(
    stmts: &[Stmt<P>],
    stmt: impl FnMut(&Stmt<P>) -> bool,
    expr: impl FnMut(&Expr) -> bool,
) -> bool {
    struct Find<S, E>(S, E);
    impl<P, S, E> Visitor<P> for Find<S, E>
    where
        P: Phase,
        S: FnMut(&Stmt<P>) -> bool,
        E: FnMut(&Expr) -> bool,
    {
        fn stmt(&mut self, stmt: &Stmt<P>) -> Flow {
            match (self.0)(stmt) {
                true => ControlFlow::Break(()),
                false => walk::stmt(self, stmt),
            }
        }
        fn expr(&mut self, expr: &Expr) -> Flow {
            match (self.1)(expr) {
                true => ControlFlow::Break(()),
                false => walk::expr(self, expr),
            }
        }
    }
    Find(stmt, expr).block(stmts).is_break()
}

/// Whether `is` holds for the expression or for one below it.
pub fn any_expr(expr: &Expr, is: impl FnMut(&Expr) -> bool) -> bool {
    struct Find<F>(F);
    impl<F: FnMut(&Expr) -> bool> Visitor for Find<F> {
        fn expr(&mut self, expr: &Expr) -> Flow {
            match (self.0)(expr) {
                true => ControlFlow::Break(()),
                false => walk::expr(self, expr),
            }
        }
    }
    Find(is).expr(expr).is_break()
}

/// Calls `change` on each view, those of accesses included.
pub fn change_views<P: Phase>(stmts: &mut [Stmt<P>], change: &mut dyn FnMut(&mut View)) {
    struct Views<'a>(&'a mut dyn FnMut(&mut View));
    impl<P: Phase> VisitorMut<P> for Views<'_> {
        fn view(&mut self, view: &mut View) -> Flow {
            (self.0)(view);
            ON
        }
        fn access(&mut self, access: &mut Access, _written: bool) -> Flow {
            (self.0)(&mut access.view);
            ON
        }
    }
    let _ = Views(change).block(stmts);
}

/// Calls `change` on each expression, inner ones first.
pub fn change_exprs<P: Phase>(stmts: &mut [Stmt<P>], change: &mut dyn FnMut(&mut Expr)) {
    struct Exprs<'a>(&'a mut dyn FnMut(&mut Expr));
    impl<P: Phase> VisitorMut<P> for Exprs<'_> {
        fn expr(&mut self, expr: &mut Expr) -> Flow {
            walk_mut::expr::<P>(self, expr)?;
            (self.0)(expr);
            ON
        }
    }
    let _ = Exprs(change).block(stmts);
}

/// Whether a kernel uses features that GPUs before sm_90 do not have.
pub fn needs_sm_90<P: Phase>(kernel: &Kernel<P>) -> bool {
    let is_newer = |stmt: &Stmt<P>| {
        let StmtKind::Cpp { from_sm_90, .. } = &stmt.kind else {
            return false;
        };
        *from_sm_90
    };
    let units = !kernel.maps.is_empty() || kernel.is_clustered() || kernel.warpgroups;
    units || any_stmt(&kernel.body, is_newer)
}
