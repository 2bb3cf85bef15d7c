//! Tests of consequences of assumptions: guards, divisibility, equal dimensions.

use super::World;
use crate::symbolic::Sym;
use crate::symbolic::Truth::{No, Unknown, Yes};

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

/// A context keeps its answers; those to the same questions change with the facts.
#[test]
fn answers_follow_the_facts() {
    let mut w = World::new();
    let (m, x) = (w.dim("M"), w.free("x"));
    let int = Sym::int;
    let all = |w: &World| {
        let cx = &w.cx;
        (
            (cx.le(&x, &int(9)), cx.eq(&x, &int(10))),
            (cx.divides(&int(4), &x), cx.constant_divisor(&x)),
            (cx.range(&x), cx.simplify(&(&x - &m))),
        )
    };
    let free = all(&w);
    assert_eq!(free.0, (Unknown, Unknown));
    w.cx.push_scope();
    w.cx.assume_le(&x, &int(8));
    w.cx.assume_divides(&int(4), &x);
    w.cx.assume_eq(&m, &int(3));
    let narrow = all(&w);
    assert_eq!(narrow.0, (Yes, No));
    assert_eq!(narrow.1, (Yes, Some(4)));
    assert_eq!(narrow.2, ((None, Some(8)), &x - 3));
    let copy = World { cx: w.cx.clone() };
    w.cx.assume_eq(&x, &int(4));
    assert_eq!(w.cx.range(&x), (Some(4), Some(4)));
    assert_eq!(all(&copy), narrow);
    w.cx.pop_scope();
    assert_eq!(all(&w), free);
    // Constructors know only the facts of the outermost scope.
    let (v, half) = (x.as_var().expect("a variable"), |w: &World| w.div(&x, 8));
    assert_eq!(half(&w).as_int(), None);
    w.cx.set_bounds(v, Some(int(0)), Some(int(7)));
    assert_eq!(half(&w).as_int(), Some(0));
    assert_eq!(all(&w).0, (Yes, No));
    assert_eq!(all(&w).2.0, (Some(0), Some(7)));
    assert_eq!(w.rem(&(&m + 1), 4).as_int(), None);
    w.cx.assume_divides(&int(4), &(&m + 1));
    assert_eq!(w.rem(&(&m + 1), 4).as_int(), Some(0));
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
