//! Variables and their declared bounds.

use super::sym::{Sym, Var};

#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub name: String,
    pub lo: Option<Sym>,
    pub hi: Option<Sym>,
}

pub(super) fn bounds_of(variables: &[Variable], v: Var) -> (Option<&Sym>, Option<&Sym>) {
    variables
        .get(v.0 as usize)
        .map_or((None, None), |x| (x.lo.as_ref(), x.hi.as_ref()))
}
