//! Products of matrices by warpgroups on the simulated GPU: every type and number of columns, with the PTX
//! ISA's own word on which thread has what, and on how operands lie in shared memory.

use croq_conformance::twins::on_sim;
use croq_conformance::warpgroups;

#[test]
fn products_of_all_shapes_types_and_swizzles() {
    let all = warpgroups::all();
    assert_eq!(all.len(), 164);
    let mut tried = 0;
    for (which, product) in all.iter().enumerate() {
        for setting in warpgroups::settings(product) {
            let memory = product.memory(&setting);
            let numbers = product.numbers(which, &setting, &memory);
            let found = on_sim("warpgroup", &memory, &numbers)
                .unwrap_or_else(|record| panic!("{product:?}, {setting:?}: {record:?}"));
            let found = product.decode(&found[0]);
            assert!(
                found == product.expected(&setting),
                "{product:?}, {setting:?}"
            );
            tried += 1;
        }
    }
    assert!(tried > 800, "{tried}");
}
