//! MMAs with a sparse A use the sparse instructions, and metadata is loaded before a group of them.

use croq_compare::sass::kernels_of;

const TEXT: &str = include_str!("../../run/as_written/sparse.co");

#[test]
fn a_sparse_product_of_a_warp_is_its_instructions() {
    let Some(kernels) = kernels_of("sparse", TEXT, "sm_80") else {
        return;
    };
    for (kernel, instruction, count) in [
        ("sparse_tiles_0", "HMMA.SP.16832.F32", 1),
        ("sparse_by_four_warps_0", "HMMA.SP.16832.F32.BF16", 18),
        ("sparse_columns_0", "HMMA.SP.16832.F16", 4),
        ("sparse_sixteen_at_edges_0", "HMMA.SP.16816.F32", 1),
        ("sparse_sixteen_shared_0", "HMMA.SP.16816.F16", 1),
        ("sparse_three_of_sixteen_0", "HMMA.SP.16816.F32.BF16", 12),
        ("sparse_five_of_sixteen_0", "HMMA.SP.16816.F32", 20),
    ] {
        let code = &kernels[kernel];
        code.assert_clean(kernel);
        assert_eq!(code.count(instruction), count, "{kernel}: {code:?}");
        assert_eq!(code.count("HMMA"), count, "{kernel}: {code:?}");
    }
    // The lower and the upper half of a register with metadata for two instructions.
    let selectors = kernels["sparse_columns_0"].operands("HMMA.SP");
    let of = |selector: &str| selectors.iter().filter(|o| o.ends_with(selector)).count();
    assert_eq!((of("0x0"), of("0x1")), (2, 2), "{selectors:?}");
    // With K 16, a register is for four instructions.
    let selectors = kernels["sparse_five_of_sixteen_0"].operands("HMMA.SP");
    let of = |selector: &str| selectors.iter().filter(|o| o.ends_with(selector)).count();
    let of = ["0x0", "0x1", "0x2", "0x3"].map(of);
    assert_eq!(of, [8, 4, 4, 4], "{selectors:?}");
}

#[test]
fn a_sparse_product_of_a_warpgroup_is_its_instructions() {
    let Some(kernels) = kernels_of("sparse", TEXT, "sm_90a") else {
        return;
    };
    for (kernel, instruction, count) in [
        ("sparse_one_consumer_0", "HGMMA.SP.64x64x32.F32.BF16", 2),
        (
            "sparse_two_consumers_0",
            "QGMMA.SP.64x128x64.F16.E4M3.E4M3",
            2,
        ),
        ("sparse_ragged_0", "HGMMA.SP.64x64x32.F32", 4),
        ("sparse_in_registers_0", "HGMMA.SP.64x48x32.F32", 2),
        ("sparse_narrow_0", "QGMMA.SP.64x40x64.F32.E5M2.E4M3", 1),
    ] {
        let code = &kernels[kernel];
        code.assert_clean(kernel);
        assert_eq!(code.count(instruction), count, "{kernel}: {code:?}");
        // All MMAs of an iteration are one group.
        assert_eq!(code.count("WARPGROUP.ARRIVE"), 1, "{kernel}: {code:?}");
    }
}
