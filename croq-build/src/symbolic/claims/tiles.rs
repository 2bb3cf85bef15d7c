//! Tests that indices of tiles, threads and loops are proved to be inside their extents.

use super::{World, only};
use crate::sorted::SortedSet;
use crate::symbolic::Sym;
use crate::symbolic::Truth::{No, Unknown, Yes};

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
fn suprema_over_loop_variables() {
    let mut w = World::new();
    let (d, p_count) = (w.dim("D"), w.dim("P"));
    let tile = w.div(&d, &p_count);
    let p = w.below("p", &p_count);
    let i = w.below("i", &tile);
    let drop = SortedSet::from([only(&p), only(&i)]);
    let index = &p * &tile + &i;
    let sup = w.cx.sup(&index, &drop).expect("an upper bound");
    assert!(sup.vars().is_disjoint(&drop));
    w.lt(&sup, &d, Yes);
    assert_eq!(w.cx.inf(&index, &drop), Some(Sym::zero()));
    assert_eq!(w.cx.sup(&p, &drop), Some(&p_count - 1));
    assert_eq!(w.cx.sup(&d, &SortedSet::from([only(&d)])), None);
    let k = w.below("k", 100);
    let stage = w.rem(&k, 4);
    assert_eq!(
        w.cx.sup(&stage, &SortedSet::from([only(&k)])),
        Some(Sym::int(3))
    );
    assert_eq!(w.cx.range(&stage), (Some(0), Some(3)));
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
