//! MMAs by warpgroups: TMA loads the tiles, and tensor cores compute while the threads wait for
//! them.

use croq_compare::sass::{Code, Instruction, kernels_of};

use crate::flow::Elected as _;

const TEXT: &str = include_str!("../../../kernels/co/matmul/hopper.co");
const SCALED: &str = include_str!("../../../kernels/co/matmul/scaled.co");

/// Two tiles are requested at a time, and their product is four successive instructions, with
/// hardly any instruction between them.
fn assert_rings(kernel: &str, code: &Code, instruction: &str, most: usize) {
    code.assert_clean(kernel);
    assert_eq!(code.count(instruction), 4, "{instruction}, {kernel}");
    assert_eq!(code.count("UTMALDG"), 2, "{kernel}");
    let at: Vec<usize> = (code.instructions.iter().enumerate())
        .filter(|(_, i)| i.name.starts_with(instruction))
        .map(|(at, _)| at)
        .collect();
    // Warp-uniform values are computed in the uniform datapath, in parallel with the threads' own
    // instructions.
    let between = &code.instructions[at[0]..at[3]];
    let of_threads =
        |i: &&Instruction| !i.name.starts_with('U') && !i.name.starts_with(instruction);
    let others = between.iter().filter(of_threads).count();
    assert!(others <= 8, "{others} others between four of {kernel}");
    let all = between.len() - 3;
    assert!(all <= 24, "{all} between four of {kernel}");
    code.assert_elected(kernel, "UTMALDG");
    let length = code.instructions.len();
    assert!(length <= most, "{length} instructions of {kernel}");
}

/// One thread arrives, for as many as the count says; `A1T0` is an arrival of each thread.
fn assert_one_arrives(kernel: &str, code: &Code, most: usize) {
    let arrivals = || {
        let all = code.instructions.iter();
        // With the bytes that TMA brings, in a region of one thread.
        all.filter(|i| i.name.starts_with("SYNCS.ARRIVE") && i.name != "SYNCS.ARRIVE.TRANS64")
    };
    let count = arrivals().count();
    assert!((1..=most).contains(&count), "{count} in {kernel}: {code:?}");
    for i in arrivals() {
        let counts = !i.name.contains("A1T0");
        assert!(counts && i.guard.is_some(), "{i:?} in {kernel}: {code:?}");
    }
}

#[test]
fn a_product_of_a_warpgroup_is_its_instructions() {
    let Some(kernels) = kernels_of("hopper", TEXT, "sm_90a") else {
        return;
    };
    for (kernel, instruction, most) in [
        ("matmul_hopper_0", "HGMMA.64x128x16.F32", 275),
        (
            "matmul_hopper_two_128_f16_f16_64_f32_0",
            "HGMMA.64x128x16.F32",
            290,
        ),
        (
            "matmul_hopper_two_256_f16_f16_64_f32_0",
            "HGMMA.64x256x16.F32",
            352,
        ),
        (
            "matmul_hopper_two_128_bf16_bf16_64_f32_0",
            "HGMMA.64x128x16.F32.BF16",
            290,
        ),
        (
            "matmul_hopper_two_128_f32_f32_32_f32_0",
            "HGMMA.64x128x8.F32.TF32",
            710,
        ),
        (
            "matmul_hopper_two_128_f8_e4m3_f32_128_f32_0",
            "QGMMA.64x128x32.F32.E4M3.E4M3",
            710,
        ),
        (
            "matmul_hopper_two_128_s8_s32_128_s32_0",
            "IGMMA.64x128x32.S8.S8",
            710,
        ),
    ] {
        let code = &kernels[kernel];
        assert_rings(kernel, code, instruction, most);
        // In the loop one group remains in flight; after it none.
        let waits = code.operands("WARPGROUP.DEPBAR");
        assert_eq!(waits, ["gsb0, 0x1", "gsb0, 0x0"], "{kernel}");
        assert_eq!(code.count("WARPGROUP.ARRIVE"), 1, "{kernel}");
        // In the loop, and after it.
        assert_one_arrives(kernel, code, 2);
    }
    // Sums of 32 bits are stored in pairs where rows have an even number of them.
    for kernel in [
        "matmul_hopper_two_128_f32_f32_32_f32_0",
        "matmul_hopper_two_128_s8_s32_128_s32_0",
    ] {
        let pairs = kernels[kernel].count("STG.E.64");
        assert!(pairs >= 30, "{pairs} of 32 in {kernel}");
    }
    // Loop variables have 32 bits, and the slot of three tiles is a counter, not a remainder.
    for (kernel, multiplies, loads) in [
        ("matmul_hopper_two_128_f16_f16_64_f32_0", 38, 23),
        ("matmul_hopper_two_256_f16_f16_64_f32_0", 47, 31),
    ] {
        let code = &kernels[kernel];
        let steps = (code.loop_with("HGMMA"), code.loop_with("UTMALDG"));
        let within = steps.0 <= multiplies && steps.1 <= loads;
        assert!(within, "{steps:?} in {kernel}");
    }
    // Tiles of both operands are in flight at the same time, and are waited for together.
    let (kernel, code) = (
        "matmul_hopper_persistent_0",
        &kernels["matmul_hopper_persistent_0"],
    );
    assert_rings(kernel, code, "HGMMA.64x128x16.F32", 220);
    assert_eq!(code.count("SYNCS.PHASECHK"), 1, "{kernel}: {code:?}");
    code.assert_elected(kernel, "UTMASTG");
    for (kernel, stores) in [
        ("matmul_hopper_0", 8),
        ("matmul_hopper_two_128_f16_f16_64_f32_0", 8),
        ("matmul_hopper_two_256_f16_f16_64_f32_0", 16),
    ] {
        kernels[kernel].assert_elected(kernel, "UTMASTG");
        assert_eq!(kernels[kernel].count("STSM.16.M88.4"), stores, "{kernel}");
        assert!(!kernels[kernel].has("STG"), "{kernel}");
    }
}

/// Blocks that take one tile after the other: the loops are those of blocks with one tile, and what they
/// compute of a tile's position stands in front of them.
#[test]
fn resident_blocks_have_the_loops_of_others() {
    let text = include_str!("../../../kernels/co/matmul/hopper_resident.co");
    let Some(kernels) = kernels_of("hopper_resident", text, "sm_90a") else {
        return;
    };
    for (kernel, multiplies, loads, most) in [
        ("matmul_hopper_cooperative_f16_0", 44, 40, 602),
        ("matmul_hopper_cooperative_bf16_0", 44, 40, 602),
        ("matmul_hopper_pingpong_f16_0", 43, 34, 670),
        ("matmul_hopper_pingpong_bf16_0", 43, 34, 670),
    ] {
        let code = &kernels[kernel];
        // Divisions that place a tile have 32 bits, and stand outside of these loops.
        for name in ["LDL", "STL", "CALL", "I2F.U64"] {
            assert!(!code.has(name), "{name} in {kernel}");
        }
        let length = code.instructions.len();
        assert!(length <= most, "{length} instructions of {kernel}");
        assert_eq!(code.count("HGMMA.64x256x16.F32"), 4, "{kernel}");
        assert_eq!(code.count("UTMALDG"), 2, "{kernel}");
        let steps = (code.loop_with("HGMMA"), code.loop_with("UTMALDG"));
        let within = steps.0 <= multiplies && steps.1 <= loads;
        assert!(within, "{steps:?} in {kernel}");
        // In the loop one group remains in flight.
        let waits = code.operands("WARPGROUP.DEPBAR");
        assert_eq!(waits, ["gsb0, 0x1", "gsb0, 0x0"], "{kernel}");
        // Results leave by TMA, and neither the GPU's memory nor the other proxy is waited for in a step.
        assert_eq!(code.count("STSM.16.M88.4"), 16, "{kernel}");
        assert_eq!(code.count("UTMASTG"), 4, "{kernel}");
        for name in ["MEMBAR", "ERRBAR", "FENCE", "CCTL", "MUFU", "CALL"] {
            let found = ["HGMMA", "UTMALDG"].map(|of| code.loop_has(of, name));
            assert_eq!(found, [false; 2], "{name} in a loop of {kernel}");
        }
        assert_eq!(code.count("USETMAXREG"), 2, "{kernel}");
        // One thread of a warpgroup, or of a warp, arrives.
        let of_each = |i: &&Instruction| i.name.contains("A1T0");
        assert_eq!(
            code.instructions.iter().filter(of_each).count(),
            0,
            "{kernel}"
        );
    }
}

/// A bias and an activation are computed behind the loop, with elements of shared memory that are read by
/// pairs, and the loop stays as it is: what one block reads of its own tiles is nothing that other blocks
/// are told by an arrival. Results of all types leave by TMA.
#[test]
fn what_follows_a_product_leaves_its_loop_alone() {
    let text = include_str!("../../../kernels/co/matmul/hopper_linear.co");
    let Some(kernels) = kernels_of("hopper_linear", text, "sm_90a") else {
        return;
    };
    for (kernel, instruction, multiplies, most) in [
        (
            "linear_hopper_2_f16_f16_64_128_1_f32_0",
            "HGMMA.64x256x16.F32",
            45,
            1000,
        ),
        (
            "linear_hopper_1_bf16_bf16_64_128_2_f32_0",
            "HGMMA.64x256x16.F32.BF16",
            42,
            1590,
        ),
        (
            "linear_hopper_2_f8_e4m3_bf16_128_128_0_f32_0",
            "QGMMA.64x256x32.F32.E4M3.E4M3",
            45,
            870,
        ),
        (
            "linear_hopper_1_f32_f32_32_64_0_f32_0",
            "HGMMA.64x256x8.F32.TF32",
            42,
            880,
        ),
        (
            "linear_hopper_2_s8_s32_128_64_0_s32_0",
            "IGMMA.64x256x32.S8.S8",
            43,
            930,
        ),
    ] {
        let code = &kernels[kernel];
        for name in ["LDL", "STL", "CALL", "LDG", "STG"] {
            assert!(!code.has(name), "{name} in {kernel}");
        }
        assert_eq!(code.count(instruction), 4, "{kernel}");
        let length = code.instructions.len();
        assert!(length <= most, "{length} instructions of {kernel}");
        let waits = code.operands("WARPGROUP.DEPBAR");
        assert_eq!(waits, ["gsb0, 0x1", "gsb0, 0x0"], "{kernel}");
        let step = code.loop_with(instruction);
        assert!(step <= multiplies, "{step} in the loop of {kernel}");
        for costly in ["MEMBAR", "ERRBAR", "CGAERRBAR", "CCTL", "FENCE"] {
            assert!(!code.loop_has(instruction, costly), "{costly}: {kernel}");
        }
        // Three loads and the stores have a tensor map each.
        assert_eq!(code.count("UTMACCTL.PF"), 4, "{kernel}");
        code.assert_elected(kernel, "UTMACCTL.PF");
        // Two neighbouring elements of the bias at a time: 32 for both rows of a thread.
        let pairs = code.count("LDS");
        assert!(pairs <= 33, "{pairs} loads of the bias in {kernel}");
    }
}

/// Batches have the loops and the epilogue of single products: the product of a tile is found in front of
/// them.
#[test]
fn batches_have_the_loops_of_single_products() {
    let text = include_str!("../../../kernels/co/matmul/hopper_batches.co");
    let Some(kernels) = kernels_of("hopper_batches", text, "sm_90a") else {
        return;
    };
    for (blocks, ty) in [(2, "f16"), (1, "f16"), (2, "bf16"), (1, "bf16")] {
        let kernel = format!("matmul_hopper_batches_{blocks}_{ty}_0");
        let code = &kernels[&kernel];
        code.assert_clean(&kernel);
        assert_eq!(code.count("HGMMA.64x256x16.F32"), 4, "{kernel}");
        let waits = code.operands("WARPGROUP.DEPBAR");
        assert_eq!(waits, ["gsb0, 0x1", "gsb0, 0x0"], "{kernel}");
        let steps = (code.loop_with("HGMMA"), code.loop_with("UTMALDG"));
        assert!(steps.0 <= 45 && steps.1 <= 45, "{steps:?} in {kernel}");
        for costly in ["MEMBAR", "ERRBAR", "CCTL", "FENCE", "BAR", "CALL", "MUFU"] {
            assert!(!code.loop_has("HGMMA", costly), "{costly}: {kernel}");
        }
        assert_eq!(code.count("STSM"), 16, "{kernel}");
        assert_eq!(code.count("STG"), 0, "{kernel}");
        assert_eq!(code.count("USETMAXREG"), 2, "{kernel}");
        let length = code.instructions.len();
        assert!(length <= 640, "{length} instructions of {kernel}");
    }
}

/// Groups have the loops of single products: the group of a tile is found in front of them.
#[test]
fn groups_have_the_loops_of_single_products() {
    let text = include_str!("../../../kernels/co/matmul/hopper_grouped.co");
    let Some(kernels) = kernels_of("hopper_grouped", text, "sm_90a") else {
        return;
    };
    for ty in ["f16", "bf16"] {
        let kernel = format!("matmul_hopper_grouped_{ty}_1");
        let code = &kernels[&kernel];
        for name in ["LDL", "STL"] {
            assert!(!code.has(name), "{name} in {kernel}");
        }
        assert_eq!(code.count("HGMMA.64x256x16.F32"), 4, "{kernel}");
        let steps = (code.loop_with("HGMMA"), code.loop_with("UTMALDG"));
        assert!(steps.0 <= 41 && steps.1 <= 40, "{steps:?} in {kernel}");
        for costly in ["MEMBAR", "FENCE", "LDG", "CALL"] {
            assert!(!code.loop_has("HGMMA", costly), "{costly}: {kernel}");
        }
        // Whole tiles leave by TMA.
        assert_eq!(code.count("UTMASTG"), 4, "{kernel}");
    }
}

/// A scaled accumulation begins with an MMA that sets the accumulator; each element costs one more
/// instruction, and the scales are loaded during the MMAs.
#[test]
fn a_product_that_is_scaled_costs_an_instruction_for_each_sum() {
    let Some(kernels) = kernels_of("scaled", SCALED, "sm_90a") else {
        return;
    };
    let kernel = "matmul_hopper_scaled_0";
    let code = &kernels[kernel];
    code.assert_clean(kernel);
    assert_eq!(code.count("QGMMA.64x128x32.F32.E4M3.E4M3"), 4);
    assert_eq!(code.count("UTMALDG.2D"), 2);
    assert_eq!(code.count("FFMA"), 64);
    assert_eq!(code.operands("WARPGROUP.DEPBAR"), ["gsb0, 0x0"]);
    let all = || code.instructions.iter();
    let scales = all().rposition(|i| i.name.starts_with("LDG"));
    let waits = all().position(|i| i.name.starts_with("WARPGROUP.DEPBAR"));
    assert!(scales < waits, "{code:?}");
    // 64 additions, four products; the scales have addresses of 32 bits, and what is the same in all
    // iterations is computed in front of the loop: at most 30 for each instruction of the tensor cores.
    let step = code.loop_with("QGMMA");
    assert!(step <= 120, "{step} in {kernel}");
    let length = code.instructions.len();
    // With the stores of rows with an odd number of elements, one by one.
    assert!(length <= 984, "{length} instructions of {kernel}");
}

/// Two products are started together, and one of them is in flight while the other one is scaled and
/// added. Slots go back to the other block of the cluster without waiting for writes.
#[test]
fn a_product_is_scaled_beside_the_next() {
    let text = include_str!("../../../kernels/co/matmul/scaled_resident.co");
    let Some(kernels) = kernels_of("scaled_resident", text, "sm_90a") else {
        return;
    };
    for out in ["f32", "bf16"] {
        let kernel = format!("matmul_scaled_resident_{out}_0");
        let code = &kernels[&kernel];
        code.assert_clean(&kernel);
        assert_eq!(code.count("QGMMA.64x128x32.F32.E4M3.E4M3"), 8, "{kernel}");
        assert_eq!(code.count("FFMA"), 128, "{kernel}");
        let waits = code.operands("WARPGROUP.DEPBAR");
        assert_eq!(waits, ["gsb0, 0x1", "gsb0, 0x0"], "{kernel}");
        let all = || code.instructions.iter();
        let wait = |at: &str| {
            let of_group = |i: &Instruction| i.name.starts_with("WARPGROUP.DEPBAR");
            all().position(|i| of_group(i) && i.operands.contains(at))
        };
        let (first, second) = (wait("0x1").unwrap(), wait("0x0").unwrap());
        let between = &code.instructions[first..second];
        let added = between.iter().filter(|i| i.name == "FFMA").count();
        // ptxas may move a few of these 64.
        assert!(added >= 60, "{added} in {kernel}");
        for costly in ["MEMBAR.ALL.GPU", "ERRBAR", "CGAERRBAR", "CCTL"] {
            assert!(!code.loop_has("QGMMA", costly), "{costly}: {kernel}");
        }
        // Both products, with the additions: 29 for each of eight instructions of the tensor cores, of
        // which the additions alone are 16.
        let step = code.loop_with("QGMMA");
        assert!(step <= 231, "{step} in {kernel}");
        // Both tiles of two blocks of K.
        let loads = code.loop_with("UTMALDG");
        assert!(loads <= 47, "{loads} in {kernel}");
    }
}

/// Tiles for two blocks, a batch, parts of K: the same loop in each.
#[test]
fn further_products_of_warpgroups_are_their_instructions() {
    let text = include_str!("../../../kernels/co/matmul/hopper_further.co");
    let Some(kernels) = kernels_of("hopper_further", text, "sm_90a") else {
        return;
    };
    for (kernel, instruction, most, multiplies, loads) in [
        (
            "matmul_hopper_cluster_0",
            "HGMMA.64x128x16.F32",
            350,
            44,
            39,
        ),
        (
            "matmul_hopper_batched_0",
            "HGMMA.64x128x16.F32",
            275,
            38,
            35,
        ),
        (
            "matmul_hopper_split_k_0",
            "HGMMA.64x128x16.F32",
            840,
            38,
            33,
        ),
    ] {
        let code = &kernels[kernel];
        assert_rings(kernel, code, instruction, most);
        let waits = code.operands("WARPGROUP.DEPBAR");
        assert_eq!(waits, ["gsb0, 0x1", "gsb0, 0x0"], "{kernel}");
        // Loop variables have 32 bits. Each block of the cluster loads its tile and its part of the
        // shared one, whose place takes four instructions more than the whole tile's.
        let steps = (code.loop_with("HGMMA"), code.loop_with("UTMALDG"));
        let within = steps.0 <= multiplies && steps.1 <= loads;
        assert!(within, "{steps:?} in {kernel}");
        // Arrivals at other blocks may be behind a branch of the thread that arrives.
        let of_each = |i: &&Instruction| i.name.contains("A1T0");
        let each = code.instructions.iter().filter(of_each).count();
        assert_eq!(each, 0, "{kernel}: {code:?}");
    }
    let cluster = &kernels["matmul_hopper_cluster_0"];
    assert_eq!(cluster.count("UTMALDG.2D.MULTICAST"), 1, "{cluster:?}");
    // Slots that were only read go back to the other block without waiting for writes, and waiting for
    // them discards no cache. The barriers of the cluster do both.
    assert_eq!(cluster.count_in_loops("SYNCS.ARRIVE"), 3, "{cluster:?}");
    for costly in ["MEMBAR", "ERRBAR", "CGAERRBAR", "CCTL"] {
        assert_eq!(cluster.count_in_loops(costly), 0, "{costly}: {cluster:?}");
    }
    assert_eq!(cluster.count("MEMBAR.ALL.GPU"), 2, "{cluster:?}");
    let parts = &kernels["matmul_hopper_split_k_0"];
    // Sums of four elements, or of one where rows are no multiples of 16 bytes; 32 elements for a thread.
    assert_eq!(parts.count("REDG.E.ADD.F32x4"), 8, "{parts:?}");
    assert_eq!(parts.count("REDG.E.ADD.F32.FTZ"), 32, "{parts:?}");
    assert_eq!(parts.count("LDS.128"), 8, "{parts:?}");
    assert_eq!(parts.count("STG"), 0, "{parts:?}");
}

/// Warpgroups that load tiles give registers to those that multiply, at the beginning of their
/// region: a warpgroup whose path joined the others' before its work would keep its registers
/// (ptxas: C7507).
#[test]
fn registers_go_from_those_that_load_to_those_that_multiply() {
    let with_changes = TEXT
        .replace(
            "inthreads.async (w == 0) {",
            "inthreads.async (w == 0) { call croq::cuda::setreg_dec(32);",
        )
        .replace(
            "inthreads.async (w > 0) {",
            "inthreads.async (w > 0) { call croq::cuda::setreg_inc(232);",
        );
    let Some(kernels) = kernels_of("hopper", &with_changes, "sm_90a") else {
        return;
    };
    for kernel in [
        "matmul_hopper_two_128_f16_f16_64_f32_0",
        "matmul_hopper_two_128_f32_f32_32_f32_0",
    ] {
        let code = &kernels[kernel];
        code.assert_clean(kernel);
        code.assert_elected(kernel, "UTMALDG");
        let changes = |name: &str| code.operands(name);
        assert_eq!(
            changes("USETMAXREG.DEALLOC.CTAPOOL"),
            ["0x20"],
            "{kernel}: {code:?}"
        );
        let more = changes("USETMAXREG.TRY_ALLOC.CTAPOOL");
        assert_eq!(more.len(), 1, "{kernel}: {code:?}");
        assert!(more[0].ends_with("0xe8"), "{kernel}: {more:?}");
        let at = |name: &str| {
            code.instructions
                .iter()
                .position(|i| i.name.starts_with(name))
        };
        assert!(
            at("USETMAXREG.DEALLOC") < at("UTMALDG"),
            "{kernel}: {code:?}"
        );
    }
}
