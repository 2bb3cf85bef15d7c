//! Element-wise kernels and kernels along rows: accesses of 16 bytes, and few instructions besides the
//! arithmetic.

use croq_compare::sass::{Code, kernels_of};

/// The way on which all elements of a thread are moved by whole vectors: the numbers of its loads and
/// stores of 16 bytes, of the named instructions, and of all.
struct Way {
    wide: usize,
    arithmetic: usize,
    all: usize,
}

fn way(code: &Code, arithmetic: &str) -> Way {
    let (loads, all) = code.busiest_way_forward("LDG.E.128");
    let (stores, also) = code.busiest_way_forward("STG.E.128");
    let (found, _) = code.busiest_way_forward(arithmetic);
    assert_eq!(all, also, "loads and stores are on one way: {code:?}");
    Way {
        wide: loads + stores,
        arithmetic: found,
        all,
    }
}

/// The registers of vectors are registers. A division is a function for rare operands.
fn assert_unspilled(code: &Code, kernel: &str) {
    for bad in ["LDL", "STL"] {
        assert!(!code.has(bad), "{kernel} has {bad}: {code:?}");
    }
}

/// Nothing but addresses is computed between this number of loads of 16 bytes: no branch, and no use
/// of one of them.
fn assert_first_loads_together(code: &Code, kernel: &str, count: usize) {
    let wide =
        |at: usize| (code.instructions.get(at)).is_some_and(|i| i.name.starts_with("LDG.E.128"));
    let places: Vec<usize> = (0..code.instructions.len())
        .filter(|at| wide(*at))
        .collect();
    let together = places.windows(count).any(|run| {
        let between = &code.instructions[run[0]..run[count - 1]];
        let waits = |name: &str| {
            ["BRA", "BSYNC", "F", "HADD", "MUFU"]
                .iter()
                .any(|p| name.starts_with(p))
        };
        !between.iter().any(|i| waits(&i.name))
    });
    assert!(together, "{kernel}: {code:?}");
}

const SOFTMAX: &str = include_str!("../../../kernels/co/reduction/softmax.co");
const LAYER_NORM: &str = include_str!("../../../kernels/co/reduction/layer_norm.co");
const ROWS: &str = include_str!("../../../kernels/co/reduction/rows.co");
const AXPY: &str = include_str!("../../../kernels/co/elementwise/axpy.co");
const ADD: &str = include_str!("../../../kernels/co/elementwise/add.co");
const ACTIVATION: &str = include_str!("../../../kernels/co/elementwise/activation.co");
const QUANTIZE: &str = include_str!("../../../kernels/co/elementwise/quantize.co");

#[test]
fn axpy_and_sums_take_sixteen_elements_a_thread() {
    for arch in ["sm_80", "sm_90a"] {
        for (stem, text, kernel, arithmetic) in [
            ("axpy", AXPY, "axpy_0", "FFMA"),
            ("add", ADD, "add_1d_0", "FADD"),
        ] {
            let Some(kernels) = kernels_of(stem, text, arch) else {
                return;
            };
            let code = &kernels[kernel];
            code.assert_clean(kernel);
            let way = way(code, arithmetic);
            assert_eq!((way.wide, way.arithmetic), (12, 16), "{arch}: {code:?}");
            // Before: 25 instructions for one element, with accesses of 4 bytes.
            let others = way.all - way.arithmetic;
            assert!(others <= 38, "{others} for {arch}: {code:?}");
        }
    }
}

#[test]
fn activations_load_and_store_sixteen_bytes() {
    let Some(kernels) = kernels_of("activation", ACTIVATION, "sm_90a") else {
        return;
    };
    let kernel = |name: &str| {
        let code = &kernels[name];
        assert_unspilled(code, name);
        code
    };
    // A product with a sum, a maximum: two instructions of arithmetic.
    let relu = way(kernel("scale_relu_f32_0"), "FFMA");
    assert_eq!((relu.wide, relu.arithmetic), (8, 16));
    assert!(relu.all <= 4 * 16, "{} instructions", relu.all);
    for name in ["scale_relu_f16_0", "scale_relu_bf16_0"] {
        let relu = way(kernel(name), "FFMA");
        assert_eq!((relu.wide, relu.arithmetic), (4, 16), "{name}");
        // Conversions in both directions as well: one instruction for an element from either half of a
        // register, and one for two to 16 bits. By shifts bf16 took three for each upper half.
        assert!(relu.all <= 83, "{name}: {} instructions", relu.all);
    }
    for (name, loads) in [
        ("bias_gelu_f32_0", 2),
        ("bias_gelu_f16_0", 2),
        ("bias_gelu_bf16_0", 2),
        ("scale_silu_f32_0", 1),
        ("scale_silu_f16_0", 1),
        ("scale_silu_bf16_0", 1),
    ] {
        let code = kernel(name);
        let found = (code.count("LDG.E.128"), code.count("STG.E.128"));
        assert_eq!(found, (loads, 1), "{name}: {code:?}");
    }
}

#[test]
fn elements_of_two_sizes_and_the_scale_of_a_row_are_few_loads() {
    let Some(kernels) = kernels_of("quantize", QUANTIZE, "sm_90a") else {
        return;
    };
    for (name, wide, narrow) in [
        ("quantize_rows_s8_f32_0", "LDG.E.128", "STG.E "),
        ("quantize_rows_s8_bf16_0", "LDG.E.128", "STG.E.64"),
        ("dequantize_rows_f32_s8_0", "STG.E.128", "LDG.E.CONSTANT"),
    ] {
        let code = &kernels[name];
        assert_unspilled(code, name);
        assert_eq!(code.count(wide), 1, "{name}: {code:?}");
        assert!(code.has(narrow.trim()), "{name}: {code:?}");
        // The elements and the scale: once as vectors, once one by one.
        assert_eq!(code.count("LDG"), 4, "{name}: {code:?}");
    }
    // Two elements by one instruction, and the elements of the last vector one by one.
    for (name, vector) in [
        ("quantize_rows_f8_e4m3_f32_0", 4),
        ("quantize_rows_f8_e4m3_bf16_0", 8),
    ] {
        let conversions = kernels[name].count("F2FP.SATFINITE.E4M3");
        assert_eq!(conversions, vector / 2 + 1, "{name}");
    }
}

#[test]
fn rows_and_columns_of_doubles_are_pairs() {
    let (Some(add), Some(axpy)) = (
        kernels_of("add", ADD, "sm_90a"),
        kernels_of("axpy", AXPY, "sm_90a"),
    ) else {
        return;
    };
    for (code, loads) in [(&add["add_3d_0"], 2), (&axpy["scale_in_place_0"], 1)] {
        code.assert_clean("pairs");
        let found = (code.count("LDG.E.128"), code.count("STG.E.128"));
        assert_eq!(found, (loads, 1), "{code:?}");
    }
    let shorts = &add["add_4d_0"];
    let (loads, stores) = (shorts.count("LDG.E.128"), shorts.count("STG.E.128"));
    assert!(loads >= 4 && stores >= 2, "{shorts:?}");
}

/// A row is loaded once, by 16 bytes, and stays in registers; two barriers of the block, no run-time
/// check, and few instructions. A thread has 32 elements.
#[test]
fn softmax_has_rows_in_registers() {
    for arch in ["sm_80", "sm_90a"] {
        let Some(kernels) = kernels_of("softmax", SOFTMAX, arch) else {
            return;
        };
        for (ty, vectors) in [("f32", 8), ("f16", 4), ("bf16", 4)] {
            let name = format!("softmax_{ty}_0");
            let code = &kernels[&name];
            assert_unspilled(code, &name);
            let (loads, _) = code.busiest_way_forward("LDG.E.128");
            let (stores, all) = code.busiest_way_forward("STG.E.128");
            assert_eq!(
                (loads, stores),
                (vectors, vectors),
                "{arch} {name}: {code:?}"
            );
            assert_first_loads_together(code, &name, vectors);
            // Before: 13, and 14 checks. A check ends in a trap.
            assert_eq!(code.count("BAR.SYNC"), 2, "{arch} {name}: {code:?}");
            assert!(!code.has("BPT"), "{arch} {name}: {code:?}");
            // Before: 88 for an element; 17 with 16 elements of a thread.
            assert!(all <= 13 * 32, "{arch} {name}: {all}");
            // Longer rows: twice, with all loads of an iteration in flight.
            let name = format!("softmax_{ty}_1");
            let code = &kernels[&name];
            assert_unspilled(code, &name);
            assert_first_loads_together(code, &name, vectors / 2);
            assert!(!code.has("BPT"), "{arch} {name}: {code:?}");
        }
    }
}

#[test]
fn norms_have_rows_in_registers() {
    let Some(kernels) = kernels_of("layer_norm", LAYER_NORM, "sm_90a") else {
        return;
    };
    for ty in ["f32", "f16", "bf16"] {
        let name = format!("layer_norm_{ty}_0");
        let code = &kernels[&name];
        assert_unspilled(code, &name);
        // x once, gains and shifts: four vectors each.
        let wide = ["LDG.E.128", "LDG.E.64"].map(|load| code.busiest_way_forward(load).0);
        assert_eq!(wide.iter().sum::<usize>(), 3 * 4, "{name}: {code:?}");
        let stores = if ty == "f32" { "STG.E.128" } else { "STG.E.64" };
        let (count, all) = code.busiest_way_forward(stores);
        assert_eq!(count, 4, "{name}: {code:?}");
        assert_eq!(code.count("BAR.SYNC"), 2, "{name}: {code:?}");
        assert!(!code.has("BPT"), "{name}: {code:?}");
        // Before: 40 for an element, and some 400 for a thread; 23 with a test for each vector.
        assert!(all <= 20 * 16, "{name}: {all}");
    }
}

#[test]
fn sums_of_rows_have_four_loads_in_flight() {
    let Some(kernels) = kernels_of("rows", ROWS, "sm_90a") else {
        return;
    };
    for (name, arithmetic) in [
        ("row_reduce_false_0", "FADD"),
        ("row_reduce_true_0", "FMNMX"),
    ] {
        let code = &kernels[name];
        code.assert_clean(name);
        assert_eq!(code.count("BAR.SYNC"), 1, "{name}: {code:?}");
        assert_first_loads_together(code, name, 4);
        let places = code.instructions.iter();
        let place = |wanted: &str| places.clone().position(|i| i.name.starts_with(wanted));
        let last = places
            .clone()
            .rposition(|i| i.name.starts_with("LDG.E.128"));
        assert!(last < place(arithmetic), "{name}: {code:?}");
    }
}

/// A check in a loop over neighbours selects the way of single elements, which reports it.
#[test]
fn checks_of_a_loop_select_the_way() {
    let text = "
__co__ void weighted(f32 [M, N] x, global f32 [M] sums) {
  parallel r by M : block
    parallel t by 32 : thread {
      f32 sum = 0.0f;
      foreach j in 4 sum += x.at(r, t # j);
      if (t == 0) sums.at(r) = sum;
    }
}";
    let Some(kernels) = kernels_of("weighted", text, "sm_90a") else {
        return;
    };
    let code = &kernels["weighted_0"];
    // Without vectors: four checks, one for each element, on every way.
    let (wide, all) = code.busiest_way_forward("LDG.E.128");
    assert_eq!(wide, 1, "{code:?}");
    assert!(all <= 40, "{all} instructions: {code:?}");
}

const SUMS: &str = include_str!("../../run/features/vector_sums.co");
const SPLIT: &str = include_str!("../../../kernels/co/matmul/many.co");

/// Neighbours that a thread adds are one instruction of up to 16 bytes from sm_90 on; before, the way with
/// vectors does not exist.
#[test]
fn neighbours_are_added_by_one_instruction() {
    let Some(kernels) = kernels_of("vector_sums", SUMS, "sm_90a") else {
        return;
    };
    for (kernel, vector, vectors, single, singles) in [
        (
            "sums_of_columns_f32_2_0",
            "REDG.E.ADD.F32x2",
            1,
            "REDG.E.ADD.F32.FTZ",
            2,
        ),
        (
            "sums_of_columns_f32_4_0",
            "REDG.E.ADD.F32x4",
            1,
            "REDG.E.ADD.F32.FTZ",
            4,
        ),
        (
            "sums_of_columns_f32_16_0",
            "REDG.E.ADD.F32x4",
            4,
            "REDG.E.ADD.F32.FTZ",
            16,
        ),
        (
            "sums_of_selected_rows_0",
            "REDG.E.ADD.F32x4",
            1,
            "REDG.E.ADD.F32.FTZ",
            4,
        ),
    ] {
        let code = &kernels[kernel];
        assert_unspilled(code, kernel);
        assert_eq!(code.count(vector), vectors, "{kernel}: {code:?}");
        assert!(code.count(single) <= singles, "{kernel}: {code:?}");
    }
    for (kernel, vector) in [
        ("sums_of_columns_f16_4_0", "REDG.E.ADD.F16x4"),
        ("sums_of_columns_f16_8_0", "REDG.E.ADD.F16x8"),
    ] {
        let code = &kernels[kernel];
        assert_eq!(code.count(vector), 1, "{kernel}: {code:?}");
    }
    // Accumulators of a warp have pairs of neighbours.
    let Some(kernels) = kernels_of("many", SPLIT, "sm_90a") else {
        return;
    };
    let code = &kernels["matmul_split_k_0"];
    assert_unspilled(code, "matmul_split_k_0");
    assert_eq!(code.count("REDG.E.ADD.F32x2"), 16, "{code:?}");
    assert_eq!(code.count("REDG.E.ADD.F32.FTZ"), 32, "{code:?}");

    let Some(kernels) = kernels_of("many", SPLIT, "sm_80") else {
        return;
    };
    let code = &kernels["matmul_split_k_0"];
    let sums = code.count("RED") + code.count("ATOM");
    assert_eq!(
        (sums, code.count("RED.E.ADD.F32.FTZ")),
        (32, 32),
        "{code:?}"
    );
}
