//! What the compiler asks of the prover, one claim a line.

use std::collections::BTreeSet;

use super::Truth::{No, Unknown, Yes};
use super::{Ctx, Sym, Var};

struct World {
    cx: Ctx,
}

impl World {
    fn new() -> World {
        World { cx: Ctx::new() }
    }

    /// At least one.
    fn dim(&mut self, name: &str) -> Sym {
        Sym::var(self.cx.new_var(name, Some(Sym::one()), None))
    }

    /// In `[0, bound)`.
    fn below(&mut self, name: &str, bound: impl Into<Sym>) -> Sym {
        let hi = bound.into() - 1;
        Sym::var(self.cx.new_var(name, Some(Sym::zero()), Some(hi)))
    }

    fn free(&mut self, name: &str) -> Sym {
        Sym::var(self.cx.new_var(name, None, None))
    }

    fn div(&self, a: &Sym, b: impl Into<Sym>) -> Sym {
        self.cx.div(a, &b.into())
    }

    fn rem(&self, a: &Sym, b: impl Into<Sym>) -> Sym {
        self.cx.rem(a, &b.into())
    }

    fn cdiv(&self, a: &Sym, b: impl Into<Sym>) -> Sym {
        self.cx.cdiv(a, &b.into())
    }

    #[track_caller]
    fn le(&self, a: &Sym, b: impl Into<Sym>, expected: super::Truth) {
        let b = b.into();
        assert_eq!(
            self.cx.le(a, &b),
            expected,
            "{} <= {}",
            self.cx.show(a),
            self.cx.show(&b)
        );
    }

    #[track_caller]
    fn lt(&self, a: &Sym, b: impl Into<Sym>, expected: super::Truth) {
        let b = b.into();
        assert_eq!(
            self.cx.lt(a, &b),
            expected,
            "{} < {}",
            self.cx.show(a),
            self.cx.show(&b)
        );
    }

    #[track_caller]
    fn in_range(&self, a: &Sym, extent: impl Into<Sym>) {
        self.le(&Sym::zero(), a.clone(), Yes);
        self.lt(a, extent, Yes);
    }
}

impl From<&Sym> for Sym {
    fn from(e: &Sym) -> Sym {
        e.clone()
    }
}

fn only(e: &Sym) -> Var {
    e.as_var().expect("a variable")
}

#[test]
fn a_bounded_variable_is_within_its_bound() {
    let mut w = World::new();
    let extent = w.dim("P");
    let p = w.below("p", &extent);
    w.in_range(&p, &extent);
    w.lt(&p, 0, No);
    w.lt(&extent, &p, No);
    w.lt(&(p + 1), &extent, Unknown);
}

#[test]
fn mixed_radix_indices_stay_below_the_product() {
    let mut w = World::new();
    let (p, q) = (w.below("p", 8), w.below("q", 16));
    let index = p * 16 + q;
    w.in_range(&index, 128);
    w.lt(&index, 127, Unknown);
    assert_eq!(w.cx.range(&index), (Some(0), Some(127)));
    let (a, b, c) = (w.dim("A"), w.dim("B"), w.dim("C"));
    let (i, j, k) = (w.below("i", &a), w.below("j", &b), w.below("k", &c));
    w.in_range(&((&i * &b + &j) * &c + k), &a * &b * &c);
}

#[test]
fn composed_tiles_stay_in_the_whole() {
    let mut w = World::new();
    let (d, p_count, q_count) = (w.dim("D"), w.dim("P"), w.dim("Q"));
    let tile = w.div(&d, &p_count);
    let p = w.below("p", &p_count);
    let i = w.below("i", &tile);
    w.in_range(&(&p * &tile + i), &d);
    let inner = w.div(&tile, &q_count);
    let q = w.below("q", &q_count);
    let j = w.below("j", &inner);
    w.in_range(&(&p * &tile + &q * &inner + &j), &d);
    let third = w.div(&inner, 4);
    let (r, k) = (w.below("r", 4), w.below("k", &third));
    w.in_range(&(p * tile + q * inner + r * third + k), &d);
}

#[test]
fn a_tile_extent_may_be_a_variable_of_its_own() {
    let mut w = World::new();
    let (d, p_count) = (w.dim("D"), w.dim("P"));
    let value = w.div(&d, &p_count);
    let tile = Sym::var(w.cx.new_var("tile", Some(value.clone()), Some(value)));
    let p = w.below("p", &p_count);
    let i = w.below("i", &tile);
    w.in_range(&(p * &tile + i), &d);
}

#[test]
fn composed_tiles_with_constant_factors() {
    let mut w = World::new();
    let d = w.dim("D");
    let (p, q) = (w.below("p", 4), w.below("q", 8));
    let tile = w.div(&d, 4);
    let inner = w.div(&tile, 8);
    let i = w.below("i", &inner);
    w.in_range(&(p * tile + q * inner + i), &d);
}

#[test]
fn quotients_and_their_multiples() {
    let mut w = World::new();
    let (m, n) = (w.dim("M"), w.dim("N"));
    w.le(&(w.div(&m, 64) * 64), &m, Yes);
    w.le(&m, w.cdiv(&m, 64) * 64, Yes);
    w.lt(&((w.cdiv(&m, 64) - 1) * 64), &m, Yes);
    w.le(&(w.div(&m, &n) * &n), &m, Yes);
    w.le(&m, w.cdiv(&m, &n) * &n, Yes);
    w.lt(&((w.cdiv(&m, &n) - 1) * &n), &m, Yes);
    w.le(&w.div(&m, 64), &m, Yes);
    w.le(&w.div(&m, &n), &m, Yes);
    w.le(&w.div(&m, 64), w.cdiv(&m, 64), Yes);
    w.le(&Sym::one(), w.cdiv(&m, 64), Yes);
    w.le(&Sym::one(), w.cdiv(&m, &n), Yes);
    w.le(&Sym::one(), w.div(&m, 64), Unknown);
    w.le(&w.div(&m, 64), w.div(&m, 32), Yes);
    w.lt(&(w.div(&m, 64) * 64 + w.rem(&m, 64)), &m + 1, Yes);
}

#[test]
fn remainders() {
    let mut w = World::new();
    let k = Sym::var(w.cx.new_var("k", Some(Sym::zero()), None));
    let n = w.dim("N");
    w.in_range(&w.rem(&k, 4), 4);
    w.in_range(&w.rem(&k, &n), &n);
    w.le(&w.rem(&k, 4), &k, Yes);
    let free = w.free("free");
    w.lt(&w.rem(&free, 4), 4, Yes);
    w.le(&Sym::zero(), w.rem(&free, 4), Unknown);
    w.le(&Sym::int(-3), w.rem(&free, 4), Yes);
    let x = w.below("x", 6);
    w.in_range(&w.rem(&x, 4), 4);
    assert_eq!(w.rem(&x, 8), x);
    assert_eq!(w.cx.range(&w.rem(&x, &n)), (Some(0), Some(5)));
}

#[test]
fn bounds_of_arithmetic_on_bounded_values() {
    let mut w = World::new();
    let (u, n) = (w.dim("u"), w.dim("n"));
    let x = w.below("x", &u);
    w.lt(&w.div(&x, &n), w.cdiv(&u, &n), Yes);
    w.lt(&w.rem(&x, &n), w.cx.min(&u, &n), Yes);
    w.le(&(&x * &n), (&u - 1) * &n, Yes);
    w.lt(&w.div(&x, 4), w.cdiv(&u, 4), Yes);
    let z = Sym::var(w.cx.new_var("z", Some(Sym::zero()), None));
    let y = w.below("y", &z);
    w.lt(&w.div(&y, 4), w.cdiv(&z, 4), Yes);
    w.lt(&w.div(&y, &n), w.cdiv(&z, &n), Yes);
}

#[test]
fn quotients_fold() {
    let mut w = World::new();
    let m = w.dim("M");
    let (a, b) = (w.free("a"), w.free("b"));
    let p = Sym::var(w.cx.new_var("p", Some(Sym::zero()), None));
    let q = w.below("q", 16);
    let index = &p * 16 + &q;
    assert_eq!(w.div(&index, 16), p);
    assert_eq!(w.rem(&index, 16), q);
    assert_eq!(w.div(&(&a * &m + &b * &m), &m), &a + &b);
    assert_eq!(w.rem(&(&a * &m + &b * &m), &m), Sym::zero());
    assert_eq!(w.div(&w.div(&m, 4), 16), w.div(&m, 64));
    assert_eq!(w.cdiv(&w.cdiv(&m, 4), 16), w.cdiv(&m, 64));
    assert_eq!(w.div(&(&m * 4), 16), w.div(&m, 4));
    assert_eq!(w.rem(&(&p * 4), 16), w.rem(&p, 4) * 4);
    assert_eq!(w.div(&(&index * 4 + 3), 64), p);
    assert_eq!(w.rem(&w.rem(&p, 64), 16), w.rem(&p, 16));
    assert_eq!(w.div(&(&m * 64 - 1), 64), &m - 1);
    assert_eq!(w.div(&m, &m), Sym::one());
    let i = w.below("i", &m);
    assert_eq!(w.div(&(&p * &m + &i), &m), p);
    assert_eq!(w.rem(&(&p * &m + &i), &m), i);
    let whole = w.div(&p, 16) * 16 + w.rem(&p, 16);
    assert_eq!(w.cx.simplify(&whole), p);
    assert_eq!(w.cx.eq(&whole, &p), Yes);
}

#[test]
fn constant_arithmetic_truncates() {
    let cx = Ctx::new();
    let int = Sym::int;
    for (a, b) in [(7, 2), (-7, 2), (7, -2), (-7, -2), (0, 3), (-1, 5)] {
        assert_eq!(cx.div(&int(a), &int(b)), int(a / b), "{a} / {b}");
        assert_eq!(cx.rem(&int(a), &int(b)), int(a % b), "{a} % {b}");
    }
    assert_eq!(cx.cdiv(&int(130), &int(64)), int(3));
    assert_eq!(cx.align_up(&int(130), &int(64)), int(192));
    assert_eq!(cx.align_down(&int(130), &int(64)), int(128));
    assert_eq!(cx.min(&int(1), &int(2)), int(1));
    assert_eq!(cx.max(&int(1), &int(2)), int(2));
}

#[test]
fn divisibility() {
    let mut w = World::new();
    let (m, n, k) = (w.dim("M"), w.dim("N"), w.free("k"));
    let int = Sym::int;
    assert_eq!(w.cx.divides(&int(64), &(&k * 64)), Yes);
    assert_eq!(w.cx.divides(&int(4), &(&m * 12 + 8)), Yes);
    assert_eq!(w.cx.divides(&int(4), &(&m * 12 + 6)), No);
    assert_eq!(w.cx.divides(&int(8), &(&m * 12 + 8)), Unknown);
    assert_eq!(w.cx.divides(&int(8), &(&m * 12 + 6)), No);
    assert_eq!(w.cx.divides(&n, &(&m * &n + &n * 3)), Yes);
    assert_eq!(w.cx.divides(&n, &(&m * &n + 1)), Unknown);
    let (up, down) = (w.cx.align_up(&m, &int(128)), w.cx.align_down(&m, &n));
    assert_eq!(w.cx.divides(&int(128), &up), Yes);
    assert_eq!(w.cx.divides(&int(64), &up), Yes);
    assert_eq!(w.cx.divides(&n, &down), Yes);
    w.le(&m, up, Yes);
    w.le(&down, &m, Yes);
    assert_eq!(w.cx.divides(&int(0), &m), Unknown);
    assert_eq!(w.cx.constant_divisor(&(&m * 12 + 8)), Some(4));
}

#[test]
fn assumed_divisibility() {
    let mut w = World::new();
    let (m, n, p) = (w.dim("M"), w.dim("N"), w.dim("P"));
    let int = Sym::int;
    w.cx.push_scope();
    w.cx.assume_divides(&int(64), &m);
    assert_eq!(w.cx.divides(&int(16), &(&m * &n + 32)), Yes);
    assert_eq!(w.cx.divides(&int(16), &(&m * &n + 8)), No);
    assert_eq!(w.cx.eq(&(w.div(&m, 64) * 64), &m), Yes);
    assert_eq!(w.cx.eq(&w.cdiv(&m, 64), &w.div(&m, 64)), Yes);
    assert_eq!(w.cx.eq(&w.rem(&m, 64), &Sym::zero()), Yes);
    w.le(&int(64), &m, Yes);
    w.cx.pop_scope();
    assert_eq!(w.cx.divides(&int(64), &m), Unknown);
    w.cx.assume_divides(&p, &m);
    assert_eq!(w.cx.divides(&p, &(&m * &n + &p)), Yes);
    let tile = w.div(&m, &p);
    assert_eq!(w.cx.eq(&(&tile * &p), &m), Yes);
    w.cx.assume_divides(&int(4), &(&m * &n));
    assert_eq!(w.cx.divides(&int(4), &(&m * &n * &p + 4)), Yes);
}

#[test]
fn edges_of_tiles() {
    let mut w = World::new();
    let m = w.dim("M");
    let b = {
        let count = w.cdiv(&m, 64);
        w.below("b", count)
    };
    w.lt(&(&b * 64), &m, Yes);
    w.lt(&(&b * 64 + 63), &m, Unknown);
    w.lt(&(&b * 64 + 63), &m + 63, Yes);
    w.lt(&(&b * 64 + 63), w.cx.align_up(&m, &Sym::int(64)), Yes);
    w.cx.push_scope();
    w.cx.assume_divides(&Sym::int(64), &m);
    w.lt(&(&b * 64 + 63), &m, Yes);
    w.cx.pop_scope();
    w.lt(&(&b * 64 + 63), &m, Unknown);
    let n = w.dim("N");
    let c = {
        let count = w.cdiv(&m, &n);
        w.below("c", count)
    };
    w.lt(&(&c * &n), &m, Yes);
    w.lt(&(&c * &n + &n - 1), &m, Unknown);
    w.cx.assume_divides(&n, &m);
    w.lt(&(&c * &n + &n - 1), &m, Yes);
}

#[test]
fn whole_tiles_need_no_guard() {
    let mut w = World::new();
    let m = w.dim("M");
    let b = {
        let count = w.div(&m, 64);
        w.below("b", count)
    };
    w.lt(&(&b * 64 + 63), &m, Yes);
    w.lt(&(&b * 64 + 64), &m, Unknown);
    w.le(&(&b * 64 + 64), &m, Yes);
}

#[test]
fn flat_ids_unravel() {
    let mut w = World::new();
    let (a, b) = (w.dim("A"), w.dim("B"));
    let id = Sym::var(w.cx.new_var("id", Some(Sym::zero()), None));
    w.cx.push_scope();
    w.cx.assume_lt(&id, &(&a * &b));
    w.in_range(&w.div(&id, &b), &a);
    w.in_range(&w.rem(&id, &b), &b);
    w.cx.pop_scope();
    w.lt(&w.div(&id, &b), &a, Unknown);
    let zero_or_more = Sym::var(w.cx.new_var("Z", Some(Sym::zero()), None));
    w.cx.assume_lt(&id, &(&zero_or_more * &b));
    w.lt(&w.div(&id, &b), &zero_or_more, Yes);
}

#[test]
fn tile_ids_unravel_into_a_grid() {
    let mut w = World::new();
    let (m, n) = (w.dim("M"), w.dim("N"));
    let (rows, columns) = (w.cdiv(&m, 128), w.cdiv(&n, 256));
    let id = w.below("tile_id", &rows * &columns);
    let (row, column) = (w.div(&id, &columns), w.rem(&id, &columns));
    w.in_range(&row, &rows);
    w.in_range(&column, &columns);
    w.lt(&(row * 128), &m, Yes);
    w.lt(&(column * 256), &n, Yes);
    let total = w.dim("T");
    let t = w.below("t", &total);
    w.lt(&w.div(&t, 8), w.cdiv(&total, 8), Yes);
}

#[test]
fn path_conditions() {
    let mut w = World::new();
    let (i, n) = (w.free("i"), w.free("n"));
    w.lt(&i, &n, Unknown);
    w.cx.push_scope();
    w.cx.assume_lt(&i, &n);
    w.lt(&i, &n, Yes);
    w.le(&(&i + 1), &n, Yes);
    w.lt(&(&i - &n), 0, Yes);
    w.lt(&n, &i, No);
    assert_eq!(w.cx.ne(&i, &n), Yes);
    w.cx.push_scope();
    w.cx.assume_le(&Sym::zero(), &i);
    w.in_range(&i, &n);
    w.le(&Sym::one(), &n, Yes);
    w.lt(&(&i * 2), &n * 2 - 1, Yes);
    w.cx.pop_scope();
    w.le(&Sym::one(), &n, Unknown);
    w.cx.pop_scope();
    w.lt(&i, &n, Unknown);
}

#[test]
fn conditions_combine() {
    let mut w = World::new();
    let (a, b, c, m) = (w.free("a"), w.free("b"), w.free("c"), w.dim("M"));
    w.cx.assume_le(&a, &b);
    w.cx.assume_lt(&b, &c);
    w.lt(&a, &c, Yes);
    w.cx.assume_le(&c, &(&m * 2));
    w.lt(&a, &m * 2, Yes);
    let (x, y) = (w.free("x"), w.free("y"));
    w.cx.assume_le(&Sym::zero(), &x);
    w.cx.assume_le(&(&x * 3), &y);
    w.le(&x, w.cx.simplify(&w.div(&y, 3)), Yes);
    w.le(&(&x * 6), &y * 2, Yes);
    w.le(&(&x * &m * 3), &y * &m, Yes);
}

#[test]
fn equal_dimensions() {
    let mut w = World::new();
    let (m, n, k) = (w.dim("M"), w.dim("N"), w.dim("K"));
    assert_eq!(&m * &k, &k * &m);
    assert_eq!(w.cx.eq(&(&m * &k), &(&k * &m)), Yes);
    assert_eq!(w.cx.eq(&m, &n), Unknown);
    assert_eq!(w.cx.eq(&m, &(&m + 1)), No);
    assert_eq!(w.cx.eq(&(&m * 2), &(&n * 4 + 1)), No);
    assert_eq!(w.cx.eq(&(&m + &n), &Sym::one()), No);
    w.cx.push_scope();
    w.cx.assume_eq(&m, &n);
    assert_eq!(w.cx.eq(&(&m * &k), &(&n * &k)), Yes);
    assert_eq!(w.cx.eq(&w.cdiv(&m, 64), &w.cdiv(&n, 64)), Yes);
    let i = w.below("i", &m);
    w.in_range(&i, &n);
    w.cx.assume_eq(&n, &Sym::int(256));
    w.in_range(&i, 256);
    assert_eq!(w.cx.simplify(&w.div(&m, 64)), Sym::int(4));
    w.cx.pop_scope();
    assert_eq!(w.cx.eq(&m, &n), Unknown);
    w.cx.assume_eq(&(&m * 2), &(&n * 3));
    w.le(&n, &m, Yes);
}

#[test]
fn minima_and_maxima() {
    let mut w = World::new();
    let (m, n) = (w.dim("M"), w.dim("N"));
    let least = w.cx.min(&m, &n);
    let most = w.cx.max(&m, &n);
    w.le(&least, &m, Yes);
    w.le(&least, &n, Yes);
    w.le(&least, &most, Yes);
    w.le(&Sym::one(), &least, Yes);
    w.le(&m, &most, Yes);
    w.lt(&most, 1, No);
    assert_eq!(w.cx.min(&m, &(&m + 1)), m);
    assert_eq!(w.cx.min(&n, &m), least);
    let tail = w.cx.min(&(&m - 64), &Sym::int(64));
    w.le(&tail, 64, Yes);
    let b = {
        let count = w.cdiv(&m, 64);
        w.below("b", count)
    };
    let rows = w.cx.min(&Sym::int(64), &(&m - &b * 64));
    w.le(&Sym::one(), &rows, Yes);
    w.le(&(&b * 64 + &rows), &m, Yes);
    let r = w.below("r", &rows);
    w.lt(&(&b * 64 + r), &m, Yes);
}

#[test]
fn suprema_over_loop_variables() {
    let mut w = World::new();
    let (d, p_count) = (w.dim("D"), w.dim("P"));
    let tile = w.div(&d, &p_count);
    let p = w.below("p", &p_count);
    let i = w.below("i", &tile);
    let drop = BTreeSet::from([only(&p), only(&i)]);
    let index = &p * &tile + &i;
    let sup = w.cx.sup(&index, &drop).expect("an upper bound");
    assert!(sup.vars().is_disjoint(&drop));
    w.lt(&sup, &d, Yes);
    assert_eq!(w.cx.inf(&index, &drop), Some(Sym::zero()));
    assert_eq!(w.cx.sup(&p, &drop), Some(&p_count - 1));
    assert_eq!(w.cx.sup(&d, &BTreeSet::from([only(&d)])), None);
    let k = w.below("k", 100);
    let stage = w.rem(&k, 4);
    assert_eq!(
        w.cx.sup(&stage, &BTreeSet::from([only(&k)])),
        Some(Sym::int(3))
    );
    assert_eq!(w.cx.range(&stage), (Some(0), Some(3)));
}

#[test]
fn substitution_folds_again() {
    let mut w = World::new();
    let (m, p, q) = (w.dim("M"), w.below("p", 8), w.below("q", 16));
    let x = w.below("x", 128);
    let e = w.div(&x, 16) + w.rem(&x, 16) * &m;
    assert_eq!(e.subst(only(&x), &(&p * 16 + &q), &w.cx), &p + &q * &m);
    let (coefficient, rest) = (&p * &m * 3 + &q).linear_in(only(&p)).expect("linear");
    assert_eq!((coefficient, rest), (&m * 3, q.clone()));
    assert_eq!((&p * &p).linear_in(only(&p)), None);
    assert_eq!(e.linear_in(only(&x)), None);
}

#[test]
fn overflow_is_poison() {
    let mut w = World::new();
    let m = w.dim("M");
    let huge = Sym::int(i64::MAX);
    let e = &m * &huge * 2;
    assert!(e.is_poison());
    for e in [
        &e + 1,
        &e - &e,
        &e * Sym::zero(),
        w.div(&e, 2),
        -&e,
        w.cx.min(&e, &m),
    ] {
        assert!(e.is_poison());
        assert_eq!(e.as_int(), None);
        assert_eq!(w.cx.le(&e, &e), Unknown);
        assert_eq!(w.cx.eq(&e, &e), Unknown);
        assert_eq!(w.cx.divides(&Sym::one(), &e), Unknown);
        assert_eq!(w.cx.range(&e), (None, None));
        assert_eq!(w.cx.show(&e), "<overflow>");
    }
    assert!((Sym::int(i64::MIN) - 1).is_poison());
    assert!((-Sym::int(i64::MIN)).is_poison());
    assert!(w.div(&Sym::int(i64::MIN), -1).is_poison());
    w.le(&(&m * &huge), &m * &huge, Yes);
}

#[test]
fn growth_is_bounded() {
    let mut w = World::new();
    let all: Vec<Sym> = (0..40).map(|i| w.dim(&format!("d{i}"))).collect();
    let sum: Sym = all.iter().sum();
    assert!((&sum * &sum * &sum).is_poison());
    let product: Sym = all.iter().product();
    assert!(product.is_poison());
    let mut nested = all[0].clone();
    for d in &all[1..] {
        nested = w.rem(&(&nested * 3 + 1), d.clone());
    }
    assert_eq!(
        w.cx.le(&nested, &nested),
        if nested.is_poison() { Unknown } else { Yes }
    );
}

#[test]
fn expressions_read_as_source() {
    let mut w = World::new();
    let (m, n) = (w.dim("M"), w.dim("N"));
    let (qx, px) = (w.below("qx", 16), w.below("px", 8));
    let show = |e: &Sym| w.cx.show(e);
    assert_eq!(show(&w.div(&m, 64)), "M / 64");
    assert_eq!(show(&(&px * 16 + &qx)), "16 * px + qx");
    assert_eq!(show(&w.cdiv(&m, 64)), "cdiv(M, 64)");
    assert_eq!(show(&(w.cdiv(&m, 64) * 64)), "64 * cdiv(M, 64)");
    assert_eq!(show(&(w.div(&m, 64) * 64)), "64 * (M / 64)");
    assert_eq!(show(&(&n - &px - 1)), "N - px - 1");
    assert_eq!(show(&(-&px + 5)), "5 - px");
    assert_eq!(show(&(&m * &n + &m + 1)), "M * N + M + 1");
    assert_eq!(show(&w.rem(&(&m + 1), &n)), "(M + 1) % N");
    assert_eq!(show(&w.div(&(&m * &n), 3)), "M * N / 3");
    assert_eq!(show(&w.div(&m, &n * 3)), "M / (3 * N)");
    assert_eq!(show(&w.cx.min(&m, &n)), "min(M, N)");
    assert_eq!(show(&Sym::zero()), "0");
    assert_eq!(show(&Sym::int(-3)), "-3");
    assert_eq!(show(&-&m), "-M");
}

/// Not a benchmark, but a guard against a search that explodes.
#[test]
fn questions_without_an_answer_end_soon() {
    let mut w = World::new();
    let dims: Vec<Sym> = (0..6).map(|i| w.dim(&format!("d{i}"))).collect();
    let loops: Vec<Sym> = dims.iter().map(|d| w.below("l", d)).collect();
    for pair in loops.windows(2) {
        if let [a, b] = pair {
            let product = a * b;
            w.cx.assume_le(&product, &(&dims[0] * &dims[1] + 7));
        }
    }
    let start = std::time::Instant::now();
    let mut asked = 0;
    for (i, a) in loops.iter().enumerate() {
        for b in &loops[i..] {
            let e = w.div(&(a * b + 3), dims[i].clone()) + w.rem(&(a + b), 7) * a;
            let _ = w.cx.le(&e, &(&dims[0] + b));
            asked += 1;
        }
    }
    let each = start.elapsed() / asked;
    assert!(
        each < std::time::Duration::from_millis(60),
        "{each:?} a question, unoptimised"
    );
}

#[test]
fn rings_of_stages() {
    let mut w = World::new();
    let k = w.below("k", 100);
    let stages = w.dim("S");
    w.in_range(&w.rem(&k, 4), 4);
    w.in_range(&w.rem(&(&k + 3), &stages), &stages);
    let (now, next) = (w.rem(&k, 4), w.rem(&(&k + 1), 4));
    assert_eq!(w.cx.eq(&now, &next), No);
    assert_eq!(w.cx.eq(&now, &w.rem(&(&k + 4), 4)), Yes);
    assert_eq!(w.cx.eq(&now, &w.rem(&(&k * 2), 4)), Unknown);
}

#[test]
fn threads_split_into_warps_and_lanes() {
    let mut w = World::new();
    let t = w.below("t", 256);
    let (warp, lane) = (w.div(&t, 32), w.rem(&t, 32));
    w.in_range(&warp, 8);
    w.in_range(&lane, 32);
    w.in_range(&(&warp * 512 + &lane * 16 + 15), 4096);
    w.in_range(&(w.div(&t, 8) * 64 + w.rem(&t, 8) * 8 + 7), 2048);
    assert_eq!(w.cx.eq(&(&warp * 32 + &lane), &t), Yes);
    assert_eq!(
        w.cx.divides(&Sym::int(8), &(w.div(&t, 8) * 64 + w.rem(&t, 8) * 8)),
        Yes
    );
    let fragment = w.div(&lane, 4) + w.rem(&lane, 4) * 8;
    w.in_range(&fragment, 32);
    assert_eq!(w.rem(&w.div(&t, 32), 4), w.div(&w.rem(&t, 128), 32));
}

#[test]
fn guarded_elements_of_a_row_major_tensor() {
    let mut w = World::new();
    let (m, n) = (w.dim("M"), w.dim("N"));
    let blocks = w.cdiv(&m, 8);
    let (r, i, j) = (w.below("r", &blocks), w.below("i", 8), w.below("j", 64));
    let row = &r * 8 + &i;
    w.lt(&(&row * 64 + &j), &m * 64, Unknown);
    w.cx.push_scope();
    w.cx.assume_lt(&row, &m);
    w.in_range(&(&row * 64 + &j), &m * 64);
    let column = w.below("column", &n);
    w.in_range(&(&row * &n + &column), &m * &n);
    w.cx.pop_scope();
    let k = w.dim("K");
    let (bm, t, ks, l) = {
        let (rows, steps) = (w.cdiv(&m, 128), w.cdiv(&k, 64));
        (
            w.below("bm", &rows),
            w.below("t", 128),
            w.below("ks", &steps),
            w.below("l", 32),
        )
    };
    w.cx.assume_lt(&(&bm * 128 + &t), &m);
    w.cx.assume_divides(&Sym::int(64), &k);
    let address = (&bm * 128 + &t) * &k + &ks * 64 + w.rem(&l, 8) * 8;
    w.in_range(&address, &m * &k);
    w.in_range(&(&address + 7), &m * &k);
    assert_eq!(w.cx.divides(&Sym::int(8), &address), Yes);
}

#[test]
fn stencils_and_halos() {
    let mut w = World::new();
    let h = Sym::var(w.cx.new_var("H", Some(Sym::int(3)), None));
    let (y, r) = (w.below("y", &h - 2), w.below("r", 3));
    w.in_range(&(&y + &r), &h);
    let z = w.below("z", &h);
    w.le(&Sym::zero(), &z + &r - 1, Unknown);
    w.cx.assume_le(&Sym::one(), &(&z + &r));
    w.cx.assume_le(&(&z + &r), &h);
    w.in_range(&(&z + &r - 1), &h);
}

#[test]
fn triangular_loops() {
    let mut w = World::new();
    let n = w.dim("N");
    let q = {
        let tiles = w.cdiv(&n, 64);
        w.below("q", &tiles)
    };
    let kv = w.below("kv", &q + 1);
    w.le(&kv, &q, Yes);
    w.lt(&(&kv * 64), &n, Yes);
    let i = w.below("i", &n);
    let j = w.below("j", &i);
    w.lt(&j, &n, Yes);
    w.lt(&(&i * &n + &j), &n * &n, Yes);
}

#[test]
fn split_reductions() {
    let mut w = World::new();
    let (k, s) = (w.dim("K"), w.dim("S"));
    let chunk = w.cdiv(&k, &s);
    let part = w.below("part", &s);
    let inner = w.below("inner", &chunk);
    w.lt(&(&part * &chunk + &inner), &k, Unknown);
    w.le(&k, &chunk * &s, Yes);
    let first = &part * &chunk;
    let end = w.cx.min(&k, &(&first + &chunk));
    let at = Sym::var(w.cx.new_var("at", Some(first), Some(&end - 1)));
    w.in_range(&at, &k);
}

#[test]
fn grouped_tile_order() {
    let mut w = World::new();
    let (rows, columns, group) = (w.dim("rows"), w.dim("columns"), w.dim("G"));
    let id = w.below("id", &rows * &columns);
    let per_group = &group * &columns;
    let first = w.div(&id, &per_group) * &group;
    w.in_range(&first, &rows);
    let size = w.cx.min(&(&rows - &first), &group);
    w.le(&Sym::one(), &size, Yes);
    let row = &first + w.rem(&id, &size);
    w.in_range(&row, &rows);
}

#[test]
fn remainder_tiles() {
    let mut w = World::new();
    let m = w.dim("M");
    let (whole, tail) = (w.div(&m, 64), w.rem(&m, 64));
    let i = w.below("i", &tail);
    w.in_range(&(&whole * 64 + &i), &m);
    w.le(&(&whole * 64 + &tail), &m, Yes);
    let n = w.dim("N");
    let (whole, tail) = (w.div(&m, &n), w.rem(&m, &n));
    let j = w.below("j", &tail);
    w.in_range(&(&whole * &n + &j), &m);
}
