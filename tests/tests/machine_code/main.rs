//! The machine code that nvcc generates for kernels: it has the expected instructions, and few
//! others.

mod agreement;
mod attention;
mod flow;
mod hopper;
mod masks;
mod sparse;
mod wide;

use croq_build::Checks;
use croq_compare::sass::{self, kernels_of, kernels_with};
use flow::Elected as _;

/// Copies a 64 × 64 tile of f16 in both directions by 128 threads.
const ALIGNED: &str = "
__co__ void tile(global f16 [512, 512] x, global f16 [512, 512] y) {
  parallel {c, r} by [8, 8] : block {
    t = dma.copy x.subspan(64, 64).at(r, c) => shared;
    dma.copy t.data => y.subspan(64, 64).at(r, c);
    parallel by 128 : thread {}
  }
}
";

/// The same for a matrix whose edges cut tiles.
const RAGGED: &str = "
__co__ void tile(global f16 [500, 504] x, global f16 [500, 504] y) {
  parallel {c, r} by [8, 8] : block {
    t = dma.copy x.subspan(64, 64).at(r, c) => shared;
    dma.copy t.data => y.subspan(64, 64).at(r, c);
    parallel by 128 : thread {}
  }
}
";

/// Products of 8x8x4: two parts down, three across.
const EIGHTS: &str = "
#define EIGHTS(T)                                     \\
  parallel by 1 : block parallel w by 1 : group {     \\
    acc = mma.fill.T 0.0f;                            \\
    fa = mma.load a;                                  \\
    fb = mma.load b;                                  \\
    mma.row.row acc, fa, fb;                          \\
    mma.store acc, c;                                 \\
  }
__co__ void to_f32(f16 [16, 4] a, f16 [24, 4] b, f32 [16, 24] & c) { EIGHTS(f32) }
__co__ void to_f16(f16 [16, 4] a, f16 [24, 4] b, f16 [16, 24] & c) { EIGHTS(f16) }
";

#[test]
fn a_tile_copy_is_few_wide_instructions() {
    for arch in ["sm_80", "sm_90a"] {
        let Some(kernels) = kernels_of("aligned", ALIGNED, arch) else {
            return;
        };
        let code = &kernels["tile_0"];
        code.assert_clean("tile_0");
        // 8 KiB by 128 threads, 16 bytes at a time.
        for name in ["LDG.E.128", "STS.128", "LDS.128", "STG.E.128"] {
            assert_eq!(code.count(name), 4, "{name} for {arch}: {code:?}");
        }
        assert_eq!(code.count("LDG") + code.count("STG"), 8, "{arch}: {code:?}");
        let length = code.instructions.len();
        assert!(length <= 60, "{length} instructions for {arch}: {code:?}");
    }
}

#[test]
fn inner_tiles_of_a_ragged_matrix_pay_little_for_the_edge() {
    let arch = "sm_90a";
    let (Some(aligned), Some(ragged)) = (
        kernels_of("aligned", ALIGNED, arch),
        kernels_of("ragged", RAGGED, arch),
    ) else {
        return;
    };
    let (loads, straight) = aligned["tile_0"].busiest_way("LDG.E.128");
    assert_eq!(loads, 4);
    ragged["tile_0"].assert_clean("tile_0");
    let (loads, inner) = ragged["tile_0"].busiest_way("LDG.E.128");
    assert_eq!(loads, 4, "{ragged:?}");
    assert!(
        inner * 10 <= straight * 13,
        "{inner} instructions instead of {straight}: {ragged:?}"
    );
}

/// One exclusive or suffices for all rows of a thread; rows of two groups need a few more
/// additions.
#[test]
fn a_swizzle_costs_little() {
    let wide = ALIGNED
        .replace("[8, 8]", "[4, 8]")
        .replace("64, 64", "64, 128");
    for (what, text, more) in [("one group", ALIGNED, 3), ("two groups", &wide, 16)] {
        let swizzled = text.replace("dma.copy x", "dma.copy.swiz<128> x");
        let (Some(plain), Some(swizzled)) = (
            kernels_of("plain", text, "sm_90a"),
            kernels_of("swizzled", &swizzled, "sm_90a"),
        ) else {
            return;
        };
        let (plain, swizzled) = (&plain["tile_0"], &swizzled["tile_0"]);
        swizzled.assert_clean(what);
        for name in ["LDG.E.128", "STS.128", "LDS.128", "STG.E.128"] {
            assert_eq!(swizzled.count(name), plain.count(name), "{what}: {name}");
        }
        let (before, after) = (plain.instructions.len(), swizzled.instructions.len());
        assert!(swizzled.has("LOP3"), "{what}: {swizzled:?}");
        assert!(
            after <= before + more,
            "{what}: {after} instructions instead of {before}: {swizzled:?}"
        );
    }
}

#[test]
fn asynchronous_tile_copies_bypass_registers() {
    let text = ALIGNED
        .replace("dma.copy x", "dma.copy.async x")
        .replace("dma.copy t", "wait t; dma.copy t");
    for arch in ["sm_80", "sm_90a"] {
        let Some(kernels) = kernels_of("asynchronous", &text, arch) else {
            return;
        };
        let code = &kernels["tile_0"];
        code.assert_clean("tile_0");
        assert_eq!(code.count("LDGSTS.E.BYPASS.128"), 4, "{arch}: {code:?}");
        assert_eq!(
            code.count("LDG.") + code.count("STS"),
            0,
            "{arch}: {code:?}"
        );
    }
}

/// Tests of files of `kernels/` look at the objects that croq-build has made of them. A text that differs
/// is compiled here.
#[test]
fn objects_of_the_build_have_the_code_of_their_text() {
    let text = include_str!("../../../kernels/co/elementwise/axpy.co");
    let other = format!("{text}\n// Another text.\n");
    let (Some(built), Some(compiled)) = (
        kernels_of("axpy", text, "sm_90a"),
        kernels_of("axpy", &other, "sm_90a"),
    ) else {
        return;
    };
    assert!(built.keys().eq(compiled.keys()), "{:?}", built.keys());
    for (name, code) in &built {
        assert_eq!(code.instructions, compiled[name].instructions, "{name}");
    }
}

#[test]
fn a_pipelined_product_copies_by_sixteen_bytes() {
    let text = include_str!("../../../kernels/co/matmul/pipelined.co");
    let Some(kernels) = kernels_of("pipelined", text, "sm_80") else {
        return;
    };
    let code = &kernels["matmul_pipelined_0"];
    code.assert_clean("matmul_pipelined_0");
    assert!(code.has("LDGSTS.E.BYPASS.128"), "{code:?}");
}

/// The code of a failing check must not affect the code around it.
#[test]
fn checks_are_small() {
    let text = include_str!("../../../kernels/co/reduction/rows.co");
    let Some(kernels) = kernels_of("rows", text, "sm_90a") else {
        return;
    };
    for name in ["row_reduce_false_0", "row_reduce_true_0"] {
        let code = &kernels[name];
        code.assert_clean(name);
        let length = code.instructions.len();
        assert!(length <= 600, "{length} instructions in {name}");
    }
}

/// A sum over global memory remains in a register: one load before the loop, one store after it.
#[test]
fn sums_stay_in_registers() {
    let text = include_str!("../../../kernels/co/matmul/scalar.co");
    let Some(kernels) = kernels_of("scalar", text, "sm_90a") else {
        return;
    };
    let code = &kernels["matmul_scalar_0"];
    assert_eq!(code.count("STG"), 1, "{code:?}");
}

/// A TMA copy is one instruction of one thread, and the code that waits for it is small.
#[test]
fn the_copy_engine_moves_boxes() {
    let text = include_str!("../../../kernels/co/matmul/tma.co");
    let Some(kernels) = kernels_of("tma", text, "sm_90a") else {
        return;
    };
    let name = "matmul_tma_0";
    let code = &kernels[name];
    code.assert_clean(name);
    code.assert_elected(name, "UTMALDG");
    code.assert_elected(name, "UTMASTG");
    // Two pairs before the loop, one in it.
    assert_eq!(code.count("UTMALDG.2D"), 6, "{code:?}");
    assert_eq!(code.count("UTMASTG.2D"), 1, "{code:?}");
    assert!(code.has("SYNCS.PHASECHK.TRANS64.TRYWAIT"), "{code:?}");
    assert_eq!(code.count("LDG") + code.count("STG"), 0, "{code:?}");

    // For targets without TMA the code of the kernel ends at its beginning.
    let older = kernels_of("tma", text, "sm_80").expect("nvcc was there");
    let length = older[name].instructions.len();
    assert!(length <= 24, "{length} instructions: {:?}", older[name]);
}

/// One load for all blocks of a cluster, and its barrier.
#[test]
fn the_copy_engine_moves_boxes_for_clusters() {
    let text = include_str!("../../../kernels/co/matmul/cluster.co");
    let Some(kernels) = kernels_of("cluster", text, "sm_90a") else {
        return;
    };
    let name = "matmul_cluster_0";
    let code = &kernels[name];
    code.assert_clean(name);
    code.assert_elected(name, "UTMALDG");
    assert_eq!(code.count("UTMALDG.2D.MULTICAST"), 2, "{code:?}");
    assert_eq!(code.count("UTMALDG.2D"), 4, "{code:?}");
    assert!(
        code.has("UCGABAR_ARV") && code.has("UCGABAR_WAIT"),
        "{code:?}"
    );
}

/// An unused previous value is not loaded, and the additions of a warp to one bin are combined to
/// one.
#[test]
fn counts_are_reductions() {
    let text = include_str!("../../../kernels/co/reduction/atomic.co");
    for (arch, addition) in [("sm_80", "RED.E.ADD"), ("sm_90a", "REDG.E.ADD")] {
        let Some(kernels) = kernels_of("atomic", text, arch) else {
            return;
        };
        let code = &kernels["byte_counts_0"];
        code.assert_clean("byte_counts_0");
        assert_eq!(code.count(addition), 1, "{arch}: {code:?}");
        assert_eq!(code.count("ATOMS.POPC.INC"), 16, "{arch}: {code:?}");
        kernels["total_sum_0"].assert_clean("total_sum_0");
    }
}

/// Two tiles alternate, each loaded while the other is multiplied: accumulators of 64 x 32 for each
/// of four warps.
const PRODUCT: &str = "
__co__ void product(global f16 [4096, 4096] a, global f16 [4096, 4096] b, global f16 [4096, 4096] c) {
  parallel {bn, bm} by [64, 32] : block {
    x = dma.copy.async.swiz<64> a.subspan(128, 32).at(bm, 0) => shared;
    y = dma.copy.async.swiz<64> b.subspan(64, 32).at(bn, 0) => shared;
    next_x = dma.any;
    next_y = dma.any;
    parallel {wm, wn} by [2, 2] : group {
      sums = mma.fill.f32 0.0f;
      foreach k in [128] {
        if (k + 1 < 128) {
          next_x = dma.copy.async.swiz<64> a.subspan(128, 32).at(bm, k + 1) => shared;
          next_y = dma.copy.async.swiz<64> b.subspan(64, 32).at(bn, k + 1) => shared;
        }
        wait x, y;
        fx = mma.load x.data.chunkat(wm, _);
        fy = mma.load y.data.chunkat(wn, _);
        mma.row.row sums, fx, fy;
        swap(x, next_x);
        swap(y, next_y);
      }
      wait x, y;
      mma.store sums, c.subspan(64, 32).at(2 * bm + wm, 2 * bn + wn);
    }
  }
}
";

/// Neighbours' sums, step by step.
const TOGETHER: &str = "
__co__ void together(global f32 [2, 64, 256] u, int steps) {
  parallel b by 64 : block<cooperative>
    parallel t by 256 : thread
      foreach k in [steps] {
        u.at(1 - k % 2, b, t) = u.at(k % 2, (b + 1) % 64, t) + u.at(k % 2, (b + 63) % 64, t);
        sync.barrier : device;
      }
}
";

/// One arrival, one load that is repeated, a fence for each, and the barriers of the enclosing
/// block.
#[test]
fn a_barrier_of_the_grid_is_its_instructions() {
    for arch in ["sm_80", "sm_90a"] {
        let Some(kernels) = kernels_of("together", TOGETHER, arch) else {
            return;
        };
        let code = &kernels["together_0"];
        code.assert_clean("together_0");
        for (name, count) in [
            ("ATOMG.E.ADD.STRONG.GPU", 1),
            ("LDG.E.STRONG.GPU", 1),
            ("MEMBAR", 1),
            ("BAR.SYNC", 2),
            ("CALL", 0),
        ] {
            assert_eq!(code.count(name), count, "{name} for {arch}: {code:?}");
        }
        // Values that other blocks wrote are not read from the L1 cache.
        assert!(code.has("CCTL.IVALL"), "{arch}: {code:?}");
        let fresh = |i: &sass::Instruction| !i.name.contains("CONSTANT");
        assert!(code.instructions.iter().all(fresh), "{arch}: {code:?}");
        let length = code.instructions.len();
        assert!(length <= 90, "{length} instructions for {arch}: {code:?}");
    }
}

/// With `Checks::Report` a wait reads the clock and can end the kernel, without a call; otherwise
/// it only waits.
#[test]
fn waits_have_a_limit_where_kernels_go_on_after_checks() {
    let copies = include_str!("../../../kernels/co/matmul/tma.co");
    for (stem, text, name, arch) in [
        ("together", TOGETHER, "together_0", "sm_80"),
        ("together", TOGETHER, "together_0", "sm_90a"),
        ("tma", copies, "matmul_tma_0", "sm_90a"),
    ] {
        for (checks, limited) in [(Checks::Report, true), (Checks::All, false)] {
            let Some(kernels) = kernels_with(checks, stem, text, arch) else {
                return;
            };
            let code = &kernels[name];
            let reads_clock = |i: &sass::Instruction| i.operands.contains("SR_GLOBALTIMER");
            let clock = code.instructions.iter().any(reads_clock);
            let traps = code.has("BPT.TRAP");
            assert_eq!(
                (clock, traps),
                (limited, limited),
                "{name}, {arch}: {code:?}"
            );
            assert_eq!(code.count("CALL"), 0, "{name}, {arch}: {code:?}");
        }
    }
}

/// Each operand is loaded once by the widest instruction, each MMA has the largest shape, and
/// accumulators are converted and stored two at a time.
#[test]
fn a_product_is_its_instructions() {
    for arch in ["sm_80", "sm_90a"] {
        let Some(kernels) = kernels_of("product", PRODUCT, arch) else {
            return;
        };
        let code = &kernels["product_0"];
        code.assert_clean("product_0");
        for (name, count) in [
            ("HMMA.16816.F32", 32),
            ("LDSM.16.M88.4", 12),
            ("LDGSTS.E.BYPASS.128", 12),
            ("F2FP", 32),
            ("STG.E", 32),
            ("CALL", 0),
        ] {
            assert_eq!(code.count(name), count, "{name} for {arch}: {code:?}");
        }
        let length = code.instructions.len();
        assert!(length <= 350, "{length} instructions for {arch}: {code:?}");
    }
}

/// Several parts of 8x8x4 are as many larger instructions; operands are loaded without addresses
/// outside of the tiles, and no fragment is in memory.
#[test]
fn products_of_eight_by_eight_are_larger_instructions() {
    for arch in ["sm_80", "sm_90a"] {
        let Some(kernels) = kernels_of("eights", EIGHTS, arch) else {
            return;
        };
        for (kernel, name, parts) in [
            ("to_f32_0", "HMMA.1688.F32", 6),
            ("to_f16_0", "HMMA.1688.F16", 6),
        ] {
            let code = &kernels[kernel];
            code.assert_clean(kernel);
            assert_eq!(code.count(name), parts, "{kernel} for {arch}: {code:?}");
            assert_eq!(code.count("HMMA"), parts, "{kernel} for {arch}: {code:?}");
            assert_eq!(code.count("LDG.E.U16"), 5, "{kernel} for {arch}: {code:?}");
            assert_eq!(code.count("STG.E"), parts, "{kernel} for {arch}: {code:?}");
        }
    }
}

/// Attention: each step has as many MMAs as possible, each tile is loaded once by the widest
/// instruction, and each score becomes a weight by few instructions. Copies fill in zeros at every
/// edge.
#[test]
fn attention_is_its_instructions() {
    let text = include_str!("../../../kernels/co/attention/forward.co");
    for arch in ["sm_80", "sm_90a"] {
        let Some(kernels) = kernels_of("forward", text, arch) else {
            return;
        };
        for (ty, head, products, matrices, most) in [
            ("f16", 64, 64, 36, 790),
            ("bf16", 64, 64, 36, 790),
            ("f16", 128, 64, 40, 910),
            ("bf16", 128, 64, 40, 910),
        ] {
            for (causal, more) in [("", 0), ("causal_", 80)] {
                let name = format!("attention_{causal}{ty}_{head}_0");
                let code = &kernels[&name];
                code.assert_clean(&name);
                assert_eq!(code.count("HMMA.16816.F32"), products, "{name}: {code:?}");
                assert_eq!(code.count("LDSM.16"), matrices, "{name}: {code:?}");
                assert!(code.has("LDGSTS.E.BYPASS.128"), "{name}: {code:?}");
                assert!(code.has("STG.E.128"), "{name}: {code:?}");
                assert_eq!(
                    code.count("MUFU.EX2"),
                    code.count("MUFU") - 2,
                    "{name}: {code:?}"
                );
                let length = code.instructions.len();
                assert!(
                    length <= most + more,
                    "{length} instructions for {arch} in {name}"
                );
            }
        }
    }
}
