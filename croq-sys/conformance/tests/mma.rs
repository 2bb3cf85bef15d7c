//! MMAs by a warp on the simulated GPU: every instruction, with the PTX ISA's definition of the
//! threads' elements.

use croq_build::ir::Scalar;
use croq_conformance::products::{self, Kind, Product};
use croq_conformance::{call_in, twins::on_sim};
use croq_sys::abi::croq_env;
use croq_sys::sim::Run;
use std::collections::BTreeSet;

fn kinds(a: Scalar, b: Scalar, c: Scalar) -> [Kind; 3] {
    [(a, Kind::Tf32), (b, Kind::Tf32), (c, Kind::F32)]
        .map(|(of, single)| Kind::of(of.name(), single))
}

#[test]
fn every_element_has_one_place() {
    for product in products::all() {
        let Product { m, k, .. } = product;
        let places = |count: usize, at: &dyn Fn(usize, usize) -> (usize, usize)| {
            let all = (0..32).flat_map(|lane| (0..count).map(move |i| (lane, i)));
            all.map(|(lane, i)| at(lane, i)).collect::<BTreeSet<_>>()
        };
        let grid = |rows: usize, columns: usize| {
            (0..rows)
                .flat_map(|row| (0..columns).map(move |column| (row, column)))
                .collect::<BTreeSet<_>>()
        };
        let a = places(m * k / 32, &|lane, i| product.place_in_a(lane, i));
        assert_eq!(a, grid(m, k), "A of {product:?}");
        let b = places(8 * k / 32, &|lane, i| product.place_in_b(lane, i));
        assert_eq!(b, grid(k, 8), "B of {product:?}");
        let c = places(m * 8 / 32, &|lane, i| product.place_in_c(lane, i));
        assert_eq!(c, grid(m, 8), "C of {product:?}");
    }
}

/// The tested instructions are those that the compiler uses.
#[test]
fn all_instructions_of_the_compiler() {
    let compiled = croq_build::sema::instructions::of_warps();
    let mut compiled: Vec<_> = compiled
        .into_iter()
        .map(|([a, b, c], atom)| (kinds(a, b, c), [atom.m, atom.n, atom.k]))
        .collect();
    for Product { m, k, a, b, c } in products::all() {
        let tried = ([a, b, c], [m as i64, 8, k as i64]);
        let found = compiled.iter().position(|typed| *typed == tried);
        compiled.swap_remove(found.unwrap_or_else(|| panic!("{tried:?} is never asked for")));
    }
    assert!(compiled.is_empty(), "not tried: {compiled:?}");
}

#[test]
fn products_of_all_shapes_and_types() {
    let all = products::all();
    assert_eq!(all.len(), 57);
    for (which, product) in all.into_iter().enumerate() {
        let memory = product.inputs();
        let found = on_sim("multiply", &memory, &[which as i64]).expect("runs");
        let bytes = product.c.bytes();
        let found: Vec<f64> = found[0]
            .chunks(bytes)
            .map(|element| product.c.decode(element))
            .collect();
        assert_eq!(found, product.expected(), "{product:?}");
    }
}

/// Two factors whose exact product f32 cannot represent together with the accumulator, and integers
/// that wrap.
#[test]
fn sums_are_rounded_once_and_integers_wrap() {
    let all = products::all();
    let which = all
        .iter()
        .position(|p| p.a == Kind::F16 && p.k == 16 && p.c == Kind::F32)
        .expect("in the list");
    let [mut c, a, b] = all[which].inputs().map(|bytes| vec![0; bytes.len()]);
    let (mut a, mut b) = (a, b);
    // Row 0 of A is 2^12 and then 15 times 1; column 0 of B is 2^12, then 1; the sum is 2^24 + 15.
    for thread in 0..32 {
        for i in 0..8 {
            let (row, k) = all[which].place_in_a(thread, i);
            let value = if row != 0 {
                0.0
            } else if k == 0 {
                4096.0
            } else {
                1.0
            };
            let at = (thread * 8 + i) * 2;
            a[at..at + 2].copy_from_slice(&half::f16::from_f64(value).to_le_bytes());
        }
        for i in 0..4 {
            let (k, column) = all[which].place_in_b(thread, i);
            let value = if column != 0 {
                0.0
            } else if k == 0 {
                4096.0
            } else {
                1.0
            };
            let at = (thread * 4 + i) * 2;
            b[at..at + 2].copy_from_slice(&half::f16::from_f64(value).to_le_bytes());
        }
    }
    c[..4].copy_from_slice(&0.5f32.to_le_bytes());
    let found = on_sim("multiply", &[c, a, b], &[which as i64]).expect("runs");
    // One rounding of 2^24 + 15.5 to a multiple of 2.
    assert_eq!(Kind::F32.decode(&found[0]), 16_777_232.0);

    let which = all
        .iter()
        .position(|p| p.a == Kind::U8 && p.b == Kind::U8 && p.k == 32)
        .expect("in the list");
    let [c, a, b] = all[which].inputs().map(|bytes| vec![255; bytes.len()]);
    let c: Vec<u8> = c.chunks(4).flat_map(|_| i32::MAX.to_le_bytes()).collect();
    let found = on_sim("multiply", &[c, a, b], &[which as i64]).expect("runs");
    let expected = i32::MAX.wrapping_add(32 * 255 * 255);
    assert_eq!(Kind::S32.decode(&found[0]), f64::from(expected));
}

unsafe extern "C" {
    fn conf_into_fragments(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
}

#[test]
fn matrices_go_into_fragments() {
    let mut data = [-1; 256];
    // SAFETY: the shim binds `data` with its extent.
    call_in(&Run::new(), |env| unsafe {
        conf_into_fragments(env, data.as_mut_ptr(), 256, 0)
    })
    .map_err(|failed| failed.record)
    .expect("runs");
    for lane in 0..32i32 {
        let (row, column) = (lane / 4, lane % 4 * 2);
        let first = row * 8 + column;
        let mine: Vec<i32> = data[lane as usize * 8..][..8].to_vec();
        assert_eq!(mine[..4], [first, first + 1, first + 64, first + 65]);
        let across = lane ^ 2;
        assert_eq!(mine[4], across / 4 * 8 + across % 4 * 2);
        assert_eq!(mine[5..], [lane ^ 5, lane ^ 1, lane ^ 16]);
    }
}
