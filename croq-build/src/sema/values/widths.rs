//! The element type of a symbolic integer that is combined with data: `s32` as everywhere in the
//! language, and `s64` if a 64-bit value or a `u32` contributes to it.

use crate::ir::{self, Expr, ParamKind, Scalar, VarHome, Visit, walk_exprs};
use crate::sema::state::value::IntValue;
use crate::sorted::SortedSet;
use crate::symbolic::{Sym, Var};
use crate::syntax::ast;

/// The type that the suffix of a literal gives. `None` without one: it takes any type that it fits.
pub(crate) fn type_of_literal(value: i128, suffix: ast::IntSuffix) -> Option<Scalar> {
    match (suffix.unsigned, suffix.long) {
        (false, false) => None,
        (false, true) => Some(Scalar::S64),
        (true, false) if u32::try_from(value).is_ok() => Some(Scalar::U32),
        (true, _) => Some(Scalar::U64),
    }
}

/// The type that an integer has of its own, if it holds it.
pub(crate) fn own_type(func: &ir::Function, int: &IntValue) -> Option<Scalar> {
    int.ty.filter(|ty| is_of(func, int, *ty))
}

/// Whether an integer may have a type of its own: a constant outside of it does not, nor what `u32` may not hold.
/// Arithmetic on integers is exact, and does not wrap in a type.
pub(crate) fn is_of(func: &ir::Function, int: &IntValue, ty: Scalar) -> bool {
    match int.value.as_int() {
        Some(n) => ty
            .limits()
            .is_some_and(|(lo, hi)| (lo..=hi).contains(&i128::from(n))),
        None => ty.bytes() == 8 || ir::is_within(func, &int.value, ty),
    }
}

pub(crate) fn type_of_int(func: &ir::Function, int: &IntValue) -> Scalar {
    own_type(func, int).unwrap_or_else(|| type_of_sym(func, &int.value))
}

pub(crate) fn type_of_sym(func: &ir::Function, sym: &Sym) -> Scalar {
    if !ir::is_within(func, sym, Scalar::S32) && is_wide(func, sym) {
        Scalar::S64
    } else {
        Scalar::S32
    }
}

/// The type of the left operand of a shift, which has its width: that of a parameter or a variable is the one that
/// it is declared with.
pub(crate) fn type_of_shifted(func: &ir::Function, int: &IntValue) -> Scalar {
    let declared = || match func.var_home.get(&int.value.as_var()?)? {
        VarHome::Param(id) => match &func.param(*id).kind {
            ParamKind::Scalar { ty, .. } => Some(*ty),
            _ => None,
        },
        VarHome::Local(id) => Some(func.local(*id).ty).filter(|ty| *ty != Scalar::Index),
        VarHome::Dim(_) => None,
    };
    declared().unwrap_or_else(|| type_of_int(func, int))
}

/// The 64-bit type that represents all its values; an explicit cast in the program converts through
/// it.
pub(crate) fn whole_type(func: &ir::Function, sym: &Sym) -> Scalar {
    let home = sym.as_var().and_then(|v| func.var_home.get(&v));
    let kind = home.and_then(|home| match home {
        VarHome::Param(id) => Some(&func.param(*id).kind),
        _ => None,
    });
    match kind {
        Some(ParamKind::Scalar {
            ty: Scalar::U64, ..
        }) => Scalar::U64,
        _ => Scalar::S64,
    }
}

/// [`type_of_sym`] of an expression of indices.
pub(crate) fn type_of_index(func: &ir::Function, e: &Expr) -> Scalar {
    struct Find<'a>(&'a ir::Function, bool);
    impl Visit for Find<'_> {
        fn sym(&mut self, sym: &Sym) {
            self.1 |= type_of_sym(self.0, sym) == Scalar::S64;
        }
    }
    let mut find = Find(func, false);
    walk_exprs(e, &mut find);
    if find.1 { Scalar::S64 } else { Scalar::S32 }
}

/// Whether a large number, a variable of 64 bits, or a variable whose bounds contain such goes into it.
fn is_wide(func: &ir::Function, sym: &Sym) -> bool {
    let mut open = vec![sym];
    let mut seen = SortedSet::new();
    while let Some(sym) = open.pop() {
        if sym.terms().any(|(n, _)| i32::try_from(n).is_err()) {
            return true;
        }
        for v in sym.vars().into_iter().filter(|v| seen.insert(*v)) {
            match var_is_wide(func, v) {
                Some(true) => return true,
                Some(false) => {}
                None => {
                    let (lo, hi) = func.cx.bounds(v);
                    open.extend(lo.into_iter().chain(hi));
                }
            }
        }
    }
    false
}

/// Whether `s32` does not hold all values of a type of integers.
pub(crate) fn is_wide_type(ty: Scalar) -> bool {
    matches!(ty, Scalar::S64 | Scalar::U64 | Scalar::U32)
}

/// The answer by the variable's type; `None` if its bounds decide.
fn var_is_wide(func: &ir::Function, v: Var) -> Option<bool> {
    match func.var_home.get(&v)? {
        VarHome::Param(id) => {
            let kind = &func.param(*id).kind;
            Some(matches!(kind, ParamKind::Scalar { ty, .. } if is_wide_type(*ty)))
        }
        VarHome::Dim(_) => Some(false),
        VarHome::Local(id) => {
            // A variable without bounds is a snapshot of a 64-bit value.
            let ty = func.local(*id).ty;
            let unbounded = ty == Scalar::Index && func.cx.bounds(v) == (None, None);
            (is_wide_type(ty) || unbounded).then_some(true)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ir::Scalar;
    use crate::sema::testing;

    /// The type of a mutable that starts with the innermost index.
    fn innermost(bound: &str) -> Scalar {
        let loops: String = (1..12)
            .map(|k| format!("foreach i{k} in [i{} + 1] ", k - 1))
            .collect();
        let text = format!(
            "__co__ void f(global s64 [1] y, {bound}) {{
               parallel p by 1 : block parallel t by 1 : thread
                 foreach i0 in [m] {loops} {{ mutable v = i11; y.at(0) = v; }}
             }}"
        );
        let function = testing::function(&text);
        let local = function.locals.iter().find(|l| l.name == "v");
        local.map(|l| l.ty).expect("a local")
    }

    #[test]
    fn bounds_are_followed_to_their_end() {
        assert_eq!(innermost("s32 m"), Scalar::S32);
        assert_eq!(innermost("s64 m"), Scalar::S64);
    }
}
