//! Which element type a symbolic integer has where it meets data: `s32` as everywhere in the language, and `s64` where
//! something of 64 bits, or a `u32`, goes into it.

use super::Checker;
use super::convert::int_limits;
use crate::ir::{Expr, ParamKind, Scalar, VarHome, Visit, walk_exprs};
use crate::symbolic::{Sym, Var};

/// Bounds that mention variables with bounds, and so on, are followed so far.
const DEPTH: u32 = 8;

impl Checker<'_> {
    pub(super) fn type_of_sym(&self, sym: &Sym) -> Scalar {
        if !self.is_within(sym, Scalar::S32) && self.is_wide(sym, DEPTH) {
            Scalar::S64
        } else {
            Scalar::S32
        }
    }

    /// The same of an expression of indices.
    pub(super) fn type_of_index(&self, e: &Expr) -> Scalar {
        struct Find<'a>(&'a Checker<'a>, bool);
        impl Visit for Find<'_> {
            fn sym(&mut self, sym: &Sym) {
                self.1 |= self.0.type_of_sym(sym) == Scalar::S64;
            }
        }
        let mut find = Find(self, false);
        walk_exprs(e, &mut find);
        if find.1 { Scalar::S64 } else { Scalar::S32 }
    }

    /// Whether all values are known to fit the type.
    pub(super) fn is_within(&self, sym: &Sym, ty: Scalar) -> bool {
        let (lo, hi) = self.f.cx.range(sym);
        let (least, most) = int_limits(ty);
        lo.is_some_and(|l| i128::from(l) >= least) && hi.is_some_and(|h| i128::from(h) <= most)
    }

    fn is_wide(&self, sym: &Sym, depth: u32) -> bool {
        let large = |n: i64| i32::try_from(n).is_err();
        sym.terms().any(|(factor, _)| large(factor))
            || sym.vars().into_iter().any(|v| self.is_wide_var(v, depth))
    }

    fn is_wide_var(&self, v: Var, depth: u32) -> bool {
        let wide = |ty: Scalar| matches!(ty, Scalar::S64 | Scalar::U64 | Scalar::U32);
        let (lo, hi) = self.f.cx.bounds(v);
        match self.f.var_home.get(&v) {
            Some(VarHome::Param(id)) => {
                return matches!(self.f.param(*id).kind, ParamKind::Scalar { ty, .. } if wide(ty));
            }
            Some(VarHome::Dim(_)) => return false,
            Some(VarHome::Local(id)) => {
                // A snapshot of something that has 64 bits.
                let local = self.f.local(*id);
                let unbounded = local.ty == Scalar::Index && lo.is_none() && hi.is_none();
                if wide(local.ty) || unbounded {
                    return true;
                }
            }
            None => {}
        }
        let bounds = lo.into_iter().chain(hi);
        depth > 0
            && bounds
                .into_iter()
                .any(|b| self.is_wide(b, depth.saturating_sub(1)))
    }
}
