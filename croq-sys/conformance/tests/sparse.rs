//! MMAs with a sparse A on the simulated GPU: every instruction by a warp, and those of warpgroups
//! with some numbers of columns; metadata is in the threads that the PTX ISA defines.

use croq_build::ir::Scalar;
use croq_build::sema::instructions;
use croq_conformance::products::{self, Kind};
use croq_conformance::twins::on_sim;
use croq_conformance::warpgroups;
use croq_sys::abi::CROQ_CHECK;
use std::collections::BTreeSet;

fn kinds([a, b, c]: [Scalar; 3]) -> [Kind; 3] {
    [(a, Kind::Tf32), (b, Kind::Tf32), (c, Kind::F32)]
        .map(|(of, single)| Kind::of(of.name(), single))
}

#[test]
fn products_of_warps() {
    for (which, product) in products::all_sparse().into_iter().enumerate() {
        let found = on_sim("multiply_sparse", &product.inputs(), &[which as i64]).expect("runs");
        let elements = found[0].chunks(product.c.bytes());
        let found: Vec<f64> = elements.map(|e| product.c.decode(e)).collect();
        assert_eq!(found, product.expected(), "{product:?}");
    }
}

#[test]
fn products_of_warpgroups() {
    let mut tried = 0;
    for (which, product) in warpgroups::all_sparse().iter().enumerate() {
        for setting in warpgroups::settings(product) {
            let memory = product.memory(&setting);
            let numbers = product.numbers(which, &setting, &memory);
            let found = on_sim("warpgroup_sparse", &memory, &numbers)
                .unwrap_or_else(|record| panic!("{product:?}, {setting:?}: {record:?}"));
            let found = product.decode(&found[0]);
            assert!(
                found == product.expected(&setting),
                "{product:?}, {setting:?}"
            );
            tried += 1;
        }
    }
    assert!(tried > 600, "{tried}");
}

/// The tested sparse MMAs are those that the compiler uses, with the metadata from all threads that
/// may provide it.
#[test]
fn all_instructions_of_the_compiler() {
    let selectors = |k: i64| 0..usize::try_from(64 / k).expect("positive");
    let mut compiled = Vec::new();
    for (types, atom) in instructions::of_sparse_warps() {
        assert_eq!([atom.m, atom.n], [16, 8]);
        compiled.extend(selectors(atom.k).map(|f| (kinds(types), atom.k, f)));
    }
    for product in products::all_sparse() {
        let tried = (
            [product.a, product.b, product.c],
            product.k as i64,
            product.selector,
        );
        let found = compiled.iter().position(|typed| *typed == tried);
        compiled.swap_remove(found.unwrap_or_else(|| panic!("{tried:?} is never asked for")));
    }
    assert!(compiled.is_empty(), "not tried: {compiled:?}");

    let of_warpgroups = instructions::of_sparse_warpgroups();
    let columns: BTreeSet<i64> = of_warpgroups.iter().map(|(_, atom)| atom.n).collect();
    assert!(columns.into_iter().eq((8..=256).step_by(8)));
    for n in (8..=256).step_by(8) {
        let all = of_warpgroups.iter().filter(|(_, atom)| atom.n == n);
        let types: Vec<_> = all.map(|(types, atom)| (kinds(*types), atom.k)).collect();
        let n = if n % 16 == 8 { 40 } else { 96 };
        let tried = warpgroups::all_sparse();
        let tried = tried.iter().filter(|product| product.columns == n);
        let tried: Vec<_> = tried
            .map(|p| (([p.a, p.b, p.c], p.k() as i64), p.selector, p.registers))
            .collect();
        assert!(tried.iter().all(|(typed, ..)| types.contains(typed)), "{n}");
        for typed in types {
            for (selector, registers) in selectors(typed.1).flat_map(|f| [(f, false), (f, true)]) {
                let way = (typed, Some(selector), registers);
                assert!(tried.contains(&way), "not tried: {way:?}");
            }
        }
    }
}

/// Metadata need only be valid in the threads that provide it.
#[test]
fn metadata_that_is_not_valid() {
    for (which, product) in products::all_sparse().into_iter().enumerate() {
        for lane in 0..32 {
            let mut memory = product.inputs();
            memory[3][lane * 4 + 1] = 0x47;
            let found = on_sim("multiply_sparse", &memory, &[which as i64]);
            let provides = match product.k {
                16 => lane % 4 == product.selector,
                32 => lane % 4 / 2 == product.selector,
                _ => true,
            };
            match found {
                Ok(_) => assert!(!provides, "{product:?}, lane {lane}"),
                Err(record) => {
                    assert!(provides, "{product:?}, lane {lane}");
                    // The third group of four bits: positions 3 and 1.
                    let (row, k) = match (product.k, lane % 4) {
                        (16, _) => (lane / 4, 8),
                        (32, p) => (lane / 4, p % 2 * 16 + 8),
                        (_, p) => (lane / 4 + p % 2 * 8, p / 2 * 32 + 8),
                    };
                    let expected = [3, 1, row as i64, k as i64];
                    assert_eq!((record.kind, record.line), (CROQ_CHECK, 21));
                    assert_eq!(record.values[..4], expected, "{product:?}, lane {lane}");
                }
            }
        }
    }
}
