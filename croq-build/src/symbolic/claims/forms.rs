//! Tests of folding, of the textual form, of the size limits of expressions, and of bounds of
//! single quotients.

use super::{World, only};
use crate::symbolic::Truth::{No, Unknown, Yes};
use crate::symbolic::{Ctx, Sym};

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
fn substitution_folds_again() {
    let mut w = World::new();
    let (m, p, q) = (w.dim("M"), w.below("p", 8), w.below("q", 16));
    let x = w.below("x", 128);
    let e = w.div(&x, 16) + w.rem(&x, 16) * &m;
    assert_eq!(
        w.cx.substituted(&e, only(&x), &(&p * 16 + &q)),
        &p + &q * &m
    );
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

/// A guard against a search with exponential time, not a benchmark.
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
