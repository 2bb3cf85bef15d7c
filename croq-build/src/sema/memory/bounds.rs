//! Checks that indices are inside an extent.

use crate::diagnostics::{Code, Diagnostic};
use crate::ir::BinOp;
use crate::ir::CheckCode;
use crate::sema::checks::run_time;
use crate::sema::levels::uniformity;
use crate::sema::state::elab::Elab;
use crate::source::Span;
use crate::symbolic::{Atom, Sym, Truth};

/// `lo <= index < hi`, at its source location `span`.
pub(crate) struct Bound<'s> {
    pub index: &'s Sym,
    pub lo: &'s Sym,
    pub hi: &'s Sym,
    pub span: Span,
}

/// Proves `lo <= index < hi`, or reports an error, or emits a run-time check. False after an error.
/// The codes are those of the error and of the check; `subject` is the name of the index in
/// messages.
pub(crate) fn check_inside(
    el: &mut Elab<'_>,
    (error, check): (Code, CheckCode),
    bound: &Bound<'_>,
    subject: &dyn Fn() -> String,
) -> bool {
    let early = el.path.is_certain() || !check.is_of_one_place();
    check_inside_at(el, early, (error, check), bound, subject)
}

/// The same; the check is made at entry only if `early` is set.
pub(crate) fn check_inside_at(
    el: &mut Elab<'_>,
    early: bool,
    (error, check): (Code, CheckCode),
    bound: &Bound<'_>,
    subject: &dyn Fn() -> String,
) -> bool {
    let Bound {
        index,
        lo,
        hi,
        span,
    } = *bound;
    let above = el.f.cx.le(lo, index);
    let below = el.f.cx.lt(index, hi);
    if above == Truth::Yes && below == Truth::Yes {
        return true;
    }
    if el.path.is_dead() {
        return true;
    }
    let refuted = above == Truth::No || below == Truth::No || reaches_outside(el, index, lo, hi);
    if refuted {
        report_outside(el, error, bound, &subject());
        return false;
    }
    let subject = subject();
    let message = format!(
        "{subject} is {{0}}, it must be at least {} and below {{1}}",
        el.f.cx.show(lo)
    );
    let mut cond = run_time::compare(BinOp::Lt, index, hi, span);
    if above != Truth::Yes {
        let low = run_time::compare(BinOp::Le, lo, index, span);
        cond = if below == Truth::Yes {
            low
        } else {
            run_time::both(low, cond)
        };
    }
    run_time::emit_check_at(
        el,
        early,
        run_time::Check::new(check, message, span),
        cond,
        &[index.clone(), hi.clone()],
        &[index, lo, hi],
    );
    true
}

fn report_outside(el: &mut Elab<'_>, code: Code, bound: &Bound<'_>, subject: &str) {
    let Bound {
        index,
        lo,
        hi,
        span,
    } = *bound;
    let shown = el.f.cx.show(index);
    let ends = extreme(el, index, false).zip(extreme(el, index, true));
    let range = match (index.as_int(), ends, el.f.cx.range(index)) {
        (Some(n), ..) => format!("is always {n}"),
        (_, Some((a, b)), _) if a != b => {
            format!("runs from {} to {}", el.f.cx.show(&a), el.f.cx.show(&b))
        }
        (_, _, (Some(a), Some(b))) if a < b => format!("runs from {a} to {b}"),
        _ => format!("is `{shown}`"),
    };
    let (l, h) = (el.f.cx.show(lo), el.f.cx.show(hi));
    let last = el.f.cx.show(&(hi - 1));
    let low = el.f.cx.le(lo, index) == Truth::No
        || extreme(el, index, false).is_some_and(|e| el.f.cx.le(lo, &e) == Truth::No);
    let mut d = Diagnostic::new(
        code,
        span,
        format!("{subject} {range}, outside {l} to {last}"),
    )
    .label(if low {
        format!("must be at least {l}")
    } else {
        format!("must stay below {h}")
    });
    if index.as_int().is_none() && shown != el.cx.file.snippet(span) {
        d = d.note(format!("the index is `{shown}`"));
    }
    el.cx.report(d);
}

/// `n`, if the index is `v % n`, or `(v + c) % n`, and the loop or parallel variable `v` takes at
/// least `n` values in sequence: then the index takes all values from 0 to `n - 1`.
fn full_cycle(el: &Elab<'_>, index: &Sym) -> Option<i64> {
    use crate::ir::{Role, VarHome};
    let mut terms = index.terms();
    let (Some((1, [Atom::Rem(dividend, n)])), None) = (terms.next(), terms.next()) else {
        return None;
    };
    let n = n.as_int().filter(|n| *n > 0)?;
    let vars = dividend.vars();
    let mut vars = vars.iter().copied();
    let (Some(v), None) = (vars.next(), vars.next()) else {
        return None;
    };
    if el.path.in_region() && uniformity::is_unit_variable(el, v) {
        return None;
    }
    match el.f.var_home.get(&v)? {
        VarHome::Local(id) if el.f.local(*id).role != Role::Value => {}
        _ => return None,
    }
    let (coefficient, rest) = dividend.linear_in(v)?;
    let (lo, hi) = el.f.cx.bounds(v);
    let (lo, hi) = (lo?, hi?);
    let non_negative = el.f.cx.le(&Sym::zero(), &(lo + &rest)).is_yes();
    let reaches_all = el.f.cx.le(&(lo + (n - 1)), hi).is_yes();
    (coefficient.as_int() == Some(1) && non_negative && reaches_all).then_some(n)
}

/// Whether an instance that certainly runs computes an index outside `[lo, hi)`: the index is
/// linear in loop and parallel variables, which take all their values (except, in a region, those
/// that distinguish threads), and no condition restricts the instances.
fn reaches_outside(el: &Elab<'_>, index: &Sym, lo: &Sym, hi: &Sym) -> bool {
    if el.path.is_conditional() {
        return false;
    }
    let high = extreme(el, index, true);
    let low = extreme(el, index, false);
    high.is_some_and(|h| el.f.cx.lt(&h, hi) == Truth::No)
        || low.is_some_and(|l| el.f.cx.le(lo, &l) == Truth::No)
}

pub(crate) fn extreme(el: &Elab<'_>, index: &Sym, upper: bool) -> Option<Sym> {
    use crate::ir::{Role, VarHome};
    if let Some(n) = full_cycle(el, index) {
        return Some(if upper { Sym::int(n - 1) } else { Sym::zero() });
    }
    let mut s = index.clone();
    let in_region = el.path.in_region();
    for v in index.vars().into_iter().rev() {
        if in_region && uniformity::is_unit_variable(el, v) {
            return None;
        }
        match el.f.var_home.get(&v)? {
            VarHome::Dim(_) | VarHome::Param(_) => continue,
            VarHome::Local(id) if el.f.local(*id).role == Role::Value => return None,
            VarHome::Local(_) => {}
        }
        let (coef, _) = s.linear_in(v)?;
        let (lo, hi) = el.f.cx.bounds(v);
        let (lo, hi) = (lo?.clone(), hi?.clone());
        if el.f.cx.le(&lo, &hi) != Truth::Yes {
            return None;
        }
        let rising = el.f.cx.le(&Sym::zero(), &coef) == Truth::Yes;
        let falling = el.f.cx.le(&coef, &Sym::zero()) == Truth::Yes;
        let end = match (rising, falling) {
            (true, _) => {
                if upper {
                    hi
                } else {
                    lo
                }
            }
            (_, true) => {
                if upper {
                    lo
                } else {
                    hi
                }
            }
            _ => return None,
        };
        s = el.f.cx.substituted(&s, v, &end);
    }
    Some(s)
}
