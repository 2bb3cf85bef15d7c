//! What a loop of MMAs does not change, computed in front of it.
//!
//! nvcc computes the place of a thread's elements again in each iteration rather than keep it in a
//! register: a dozen instructions between those of the tensor cores for each row of a tile. A value
//! that is the result of `croq::kept` is not computed again.
//!
//! Not in loops that compute beside an MMA in flight: with fewer instructions between two waits, ptxas
//! moves the second one in front of them, and the tensor cores are idle meanwhile.

use crate::ir::build;
use crate::ir::{
    Expr, ExprKind, Function, Intrinsic, LocalId, MmaOp, Role, Scalar, Step, Stmt, StmtKind,
    any_stmt,
};
use crate::passes::analysis::uses::set_in;
use crate::sorted::SortedSet;
use crate::source::Span;
use crate::symbolic::{Sym, Var};

/// At most as many registers are used for a loop.
const MOST: usize = 4;

pub(super) struct KeptValues {
    /// The variables that the loop sets.
    set: SortedSet<Var>,
    values: Vec<(LocalId, Sym, Scalar)>,
}

impl KeptValues {
    /// For a loop of MMAs by a warpgroup.
    pub(super) fn of(function: &Function, stmt: &Stmt) -> Option<Self> {
        let is_loop = matches!(
            stmt.kind,
            StmtKind::For { unroll: None, .. } | StmtKind::While { .. }
        );
        let loops = std::slice::from_ref(stmt);
        let step = |wanted: fn(&Step) -> bool| {
            any_stmt(loops, |stmt| match &stmt.kind {
                StmtKind::Mma(op) => matches!(&**op, MmaOp::Step(step) if wanted(step)),
                _ => false,
            })
        };
        let overlaps = |step: &Step| matches!(step, Step::Wait { younger, .. } if *younger > 0);
        (is_loop && step(|_| true) && !step(overlaps)).then(|| KeptValues {
            set: set_in(function, loops),
            values: Vec::new(),
        })
    }

    fn is_fixed(&self, sym: &Sym) -> bool {
        !sym.is_poison() && !self.set.iter().any(|var| sym.contains(*var))
    }

    /// The sum of the terms that the loop does not change, if it is worth a register.
    pub(super) fn fixed(&self, sum: &Sym) -> Option<Sym> {
        let changing = sum.part(|coefficient, atoms| {
            let term = atoms.iter().cloned().map(Sym::atom);
            let term = term.fold(Sym::int(coefficient), |product, atom| &product * &atom);
            !self.is_fixed(&term)
        });
        let fixed = sum - &changing;
        let is_more = |sym: &Sym| {
            let mut terms = sym.terms();
            let first = terms.next().map_or(0, |(_, atoms)| atoms.len());
            first > 1 || (first == 1 && terms.next().is_some())
        };
        (!fixed.is_poison() && is_more(&fixed)).then_some(fixed)
    }

    /// The variable that has this value, of this type.
    pub(super) fn keep(
        &mut self,
        function: &mut Function,
        value: &Sym,
        ty: Scalar,
        span: Span,
    ) -> Option<Sym> {
        let known = self.values.iter().find(|(_, v, t)| v == value && *t == ty);
        let local = match known {
            Some((local, ..)) => *local,
            None if self.values.len() == MOST => return None,
            None => {
                let (local, _) = build::index(function, "kept", Role::Value, None, span);
                if let Some(info) = function.locals.get_mut(local.index()) {
                    info.ty = ty;
                }
                self.values.push((local, value.clone(), ty));
                local
            }
        };
        function.local(local).var.map(Sym::var)
    }

    /// The declarations in front of the loop; `expr` makes an expression of a value.
    pub(super) fn declarations(
        self,
        expr: impl Fn(&Sym, Scalar, Span) -> Expr,
        span: Span,
    ) -> Vec<Stmt> {
        let declaration = |(local, value, ty): (LocalId, Sym, Scalar)| {
            let of = ExprKind::Intrinsic(Intrinsic::Kept, vec![expr(&value, ty, span)]);
            build::declare(local, Expr::new(of, ty, span))
        };
        self.values.into_iter().map(declaration).collect()
    }
}
