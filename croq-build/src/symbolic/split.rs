//! Splits indices into rows and columns.

use super::ctx::Ctx;
use super::sym::Sym;

/// `(at / by, at % by)` of an index that is never negative where it is evaluated.
///
/// That may not be provable from its form: `64 * g - 64` under `if (g > 0)`. Such an index is
/// divided after adding a multiple of `by`.
pub fn split_index(cx: &Ctx, at: &Sym, by: &Sym) -> (Sym, Sym) {
    match steps_below_zero(cx, at, by) {
        Some(steps) => {
            let shifted = at + &(by * steps);
            (cx.div(&shifted, by) - steps, cx.rem(&shifted, by))
        }
        None => (cx.div(at, by), cx.rem(at, by)),
    }
}

/// The multiple of `by` that must be added to the index to make its minimum nonnegative.
fn steps_below_zero(cx: &Ctx, at: &Sym, by: &Sym) -> Option<i64> {
    let by = by.as_int().filter(|by| *by > 0)?;
    let least = cx.range(at).0.filter(|least| *least < 0)?;
    if cx.le(&Sym::zero(), at).is_yes() {
        return None;
    }
    least.checked_neg()?.checked_add(by - 1)?.checked_div(by)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each split equals plain division where the index is nonnegative.
    #[test]
    fn an_index_that_may_be_negative_in_form_is_split() {
        for (by, scale, back) in [(64, 64, 64), (128, 64, 64), (8, 20, 50), (7, 1, 3)] {
            let mut cx = Ctx::new();
            let g = cx.new_var("g", Some(Sym::zero()), Some(Sym::int(5)));
            let w = cx.new_var("w", Some(Sym::zero()), Some(Sym::int(3)));
            let at = &(&Sym::var(g) * scale - back) + &Sym::var(w);
            let (row, column) = split_index(&cx, &at, &Sym::int(by));
            for (x, y) in (0..=5).flat_map(|x| (0..=3).map(move |y| (x, y))) {
                let value = |e: &Sym| {
                    e.evaluate(&|v| Some(if v == g { x } else { y }))
                        .expect("no division by zero")
                };
                let whole = value(&at);
                if whole >= 0 {
                    let expected = (whole / i128::from(by), whole % i128::from(by));
                    assert_eq!((value(&row), value(&column)), expected);
                }
            }
        }
        let mut cx = Ctx::new();
        let g = cx.new_var("g", Some(Sym::zero()), Some(Sym::int(2)));
        let w = cx.new_var("w", Some(Sym::zero()), Some(Sym::int(7)));
        let at = &(&Sym::var(g) * 8192 - 8192) + &(&Sym::var(w) * 16);
        let (row, column) = split_index(&cx, &at, &Sym::int(128));
        assert_eq!(row, &Sym::var(g) * 64 - 64);
        assert_eq!(column, &Sym::var(w) * 16);
    }

    /// What conditions say reduces the parts to those of a smaller range.
    #[test]
    fn conditions_reduce_the_parts() {
        let mut cx = Ctx::new();
        let w = cx.new_var("w", Some(Sym::zero()), Some(Sym::int(2)));
        let at = &(&Sym::var(w) * 64) - 64;
        let parts = |cx: &Ctx| {
            let (row, column) = split_index(cx, &at, &Sym::int(128));
            (cx.simplify(&row), cx.simplify(&column))
        };
        assert!(!parts(&cx).0.is_zero());
        cx.push_scope();
        cx.assume_lt(&Sym::zero(), &Sym::var(w));
        assert_eq!(parts(&cx), (Sym::zero(), at.clone()));
        cx.pop_scope();
        cx.set_bounds(w, Some(Sym::zero()), Some(Sym::int(3)));
        cx.push_scope();
        cx.assume_lt(&Sym::zero(), &Sym::var(w));
        assert!(!parts(&cx).0.is_zero());
        cx.pop_scope();
    }
}
