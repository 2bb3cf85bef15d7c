//! WGMMA on the simulated GPU: every type and number of columns, with the PTX ISA's definitions of
//! the threads' elements and of the layouts in shared memory.

use croq_conformance::products::Kind;
use croq_conformance::twins::on_sim;
use croq_conformance::warpgroups;
use rayon::prelude::*;

#[test]
fn products_of_all_shapes_types_and_swizzles() {
    let all = warpgroups::all();
    assert_eq!(all.len(), 1296);
    let tried = all.par_iter().enumerate().map(|(which, product)| {
        let settings = warpgroups::settings(product);
        for setting in &settings {
            let memory = product.memory(setting);
            let numbers = product.numbers(which, setting, &memory);
            let found = on_sim("warpgroup", &memory, &numbers)
                .unwrap_or_else(|record| panic!("{product:?}, {setting:?}: {record:?}"));
            let found = product.decode(&found[0]);
            assert!(
                found == product.expected(setting),
                "{product:?}, {setting:?}"
            );
        }
        settings.len()
    });
    let tried: usize = tried.sum();
    assert!(tried > 3000, "{tried}");
}

/// The tested MMAs are those that the compiler uses, with both layouts of each operand that may be
/// transposed, and with A in registers.
#[test]
fn all_instructions_of_the_compiler() {
    let mut compiled = Vec::new();
    for ([a, b, c], atom) in croq_build::sema::instructions::of_warpgroups() {
        let [x, y] = [a, b].map(|of| Kind::of(of.name(), Kind::Tf32));
        let types = [x, y, Kind::of(c.name(), Kind::F32)];
        assert_eq!(atom.m, 64);
        let ways: &[_] = match a.bytes() {
            2 => &[
                ([false, false], false),
                ([false, true], false),
                ([true, false], false),
                ([true, true], false),
                ([false, false], true),
                ([false, true], true),
            ],
            _ => &[([false, false], false), ([false, false], true)],
        };
        compiled.extend(ways.iter().map(|way| (types, [atom.n, atom.k], *way)));
    }
    for product in warpgroups::all() {
        let types = [product.a, product.b, product.c];
        let shape = [product.columns, product.k()].map(|n| n as i64);
        let tried = (types, shape, (product.transposed, product.registers));
        let found = compiled.iter().position(|typed| *typed == tried);
        compiled.swap_remove(found.unwrap_or_else(|| panic!("{tried:?} is never asked for")));
    }
    assert!(compiled.is_empty(), "not tried: {compiled:?}");
}
