//! Attention by warpgroups: two products and a softmax in each iteration, of which the softmax runs while
//! the second product does.

use croq_compare::sass::{Code, kernels_of};

use crate::flow::Elected as _;

/// The loop of the threads that multiply, from its first instruction on.
fn main_loop(kernel: &str, code: &Code) -> Code {
    let way = code
        .main_loop()
        .unwrap_or_else(|| panic!("no loop in {kernel}"));
    // A way begins at any of its instructions.
    let mut instructions = way.instructions;
    instructions.sort_by_key(|i| i.at);
    Code { instructions }
}

/// Positions in the loop of instructions with this name.
fn places(code: &Code, name: &str) -> Vec<usize> {
    let all = code.instructions.iter().enumerate();
    all.filter(|(_, i)| i.name.starts_with(name))
        .map(|(at, _)| at)
        .collect()
}

/// What one iteration has, for 64 queries and a tile of keys.
struct Budget {
    head: usize,
    /// All instructions of the iteration.
    most: usize,
    products: usize,
    powers: usize,
    /// Multiplications and additions of threads.
    arithmetic: usize,
    maxima: usize,
    conversions: usize,
    /// Of the thread that loads: for each tile of keys and values, or, if blocks stay, for one of each and one
    /// of queries.
    loads: usize,
    whole: usize,
}

const BUDGETS: [Budget; 3] = [
    Budget {
        head: 64,
        most: 418,
        products: 12,
        powers: 66,
        arithmetic: 166,
        maxima: 68,
        conversions: 32,
        loads: 40,
        whole: 1320,
    },
    Budget {
        head: 128,
        most: 459,
        products: 16,
        powers: 66,
        arithmetic: 200,
        maxima: 68,
        conversions: 32,
        loads: 52,
        whole: 1480,
    },
    // Tiles of 64 keys.
    Budget {
        head: 256,
        most: 420,
        products: 20,
        powers: 34,
        arithmetic: 200,
        maxima: 36,
        conversions: 16,
        loads: 76,
        whole: 1470,
    },
];

#[test]
fn attention_computes_weights_while_it_multiplies() {
    let text = include_str!("../../../kernels/co/attention/hopper.co");
    let Some(kernels) = kernels_of("hopper", text, "sm_90a") else {
        return;
    };
    for budget in BUDGETS {
        for ty in ["f16", "bf16"] {
            for causal in ["", "causal_"]
                .iter()
                .take(1 + usize::from(budget.head < 256))
            {
                let kernel = format!("attention_{causal}hopper_{ty}_{}_0", budget.head);
                assert_within(&kernel, &kernels[&kernel], &budget);
            }
        }
    }
}

/// Steps of kernels for sequences of different lengths, whose blocks stay: phases of slots are not numbers
/// of iterations.
const PACKED: [Budget; 2] = [
    Budget {
        most: 424,
        loads: 240,
        whole: 2920,
        ..BUDGETS[0]
    },
    Budget {
        most: 480,
        loads: 252,
        whole: 3260,
        ..BUDGETS[1]
    },
];

#[test]
fn blocks_that_stay_have_the_same_steps() {
    let text = include_str!("../../../kernels/co/attention/hopper_packed.co");
    let Some(kernels) = kernels_of("hopper_packed", text, "sm_90a") else {
        return;
    };
    for budget in PACKED {
        for ty in ["f16", "bf16"] {
            for causal in ["", "causal_"] {
                let kernel = format!("attention_packed_{causal}hopper_{ty}_{}_1", budget.head);
                let code = &kernels[&kernel];
                assert_steps(&kernel, code, &budget);
                assert_registers(&kernel, code, ["0x28", "0xe8"]);
            }
        }
    }
}

fn assert_within(kernel: &str, code: &Code, budget: &Budget) {
    assert_steps(kernel, code, budget);
    assert_registers(kernel, code, ["0x18", "0xf0"]);
    // Results leave by TMA.
    code.assert_elected(kernel, "UTMASTG");
    assert!(!code.has("STG") && !code.has("LDG."), "{kernel}");
}

/// What the threads that load give to those that multiply.
fn assert_registers(kernel: &str, code: &Code, [left, taken]: [&str; 2]) {
    let registers = |name: &str| code.operands(name).join(" ");
    assert_eq!(registers("USETMAXREG.DEALLOC"), left, "{kernel}");
    assert!(
        registers("USETMAXREG.TRY_ALLOC").ends_with(taken),
        "{kernel}"
    );
}

fn assert_steps(kernel: &str, code: &Code, budget: &Budget) {
    code.assert_clean(kernel);
    let whole = code.instructions.len();
    assert!(whole <= budget.whole, "{whole} instructions in {kernel}");
    let body = main_loop(kernel, code);
    let length = body.instructions.len();
    assert!(
        length <= budget.most,
        "{length} instructions in the loop of {kernel}"
    );
    let of = |names: &[&str]| names.iter().map(|name| body.count(name)).sum::<usize>();
    for (names, wanted) in [
        (&["HGMMA"][..], budget.products),
        (&["MUFU"], budget.powers),
        (&["F2FP"], budget.conversions),
        (&["SHFL"], 4),
        (&["WARPGROUP.ARRIVE"], 2),
        // Stores, spills, and waits for memory or for other threads.
        (
            &[
                "ST", "LD", "MEMBAR", "ERRBAR", "CCTL", "FENCE", "BAR", "CALL", "WARPSYNC",
            ],
            0,
        ),
    ] {
        assert_eq!(of(names), wanted, "{names:?} in the loop of {kernel}");
    }
    for (names, most) in [
        (&["FMUL", "FADD", "FFMA"][..], budget.arithmetic),
        (&["FMNMX"], budget.maxima),
        // Nothing is hidden in the loop.
        (&["FSEL", "ISETP"], 4),
    ] {
        let found = of(names);
        assert!(found <= most, "{found} {names:?} in the loop of {kernel}");
    }
    assert_overlap(kernel, &body, budget);
    // One thread loads, for few instructions, and gives its registers to the others. Each part of 64
    // columns of a head is a load.
    let loads = code.loop_with("UTMALDG");
    assert!(loads <= budget.loads, "{loads} for the loads of {kernel}");
    code.assert_elected(kernel, "UTMALDG");
    assert_eq!(code.count("STSM.16.M88.4"), budget.head / 16, "{kernel}");
    assert_eq!(
        code.count("WARPSYNC") + code.count("BRA.DIV"),
        0,
        "{kernel}"
    );
}

/// Both products are issued, nothing but the arrival of values between them; then the first is waited
/// for, the weights are computed, and the second is waited for.
fn assert_overlap(kernel: &str, body: &Code, budget: &Budget) {
    let waits = body.operands("WARPGROUP.DEPBAR");
    assert_eq!(waits, ["gsb0, 0x1", "gsb0, 0x0"], "{kernel}");
    let [products, powers, waits, tries, arrivals] = [
        "HGMMA",
        "MUFU",
        "WARPGROUP.DEPBAR",
        "SYNCS.PHASECHK",
        "SYNCS.ARRIVE",
    ]
    .map(|name| places(body, name));
    let between = |places: &[usize], from: usize, to: usize| {
        places.iter().filter(|at| (from..to).contains(*at)).count()
    };
    let (first, last) = (products[0], products[products.len() - 1]);
    assert!(last < waits[0], "{kernel}");
    assert_eq!(
        between(&tries, first, last),
        1,
        "waits between the products of {kernel}"
    );
    assert_eq!(
        between(&arrivals, first, last),
        0,
        "arrivals between the products of {kernel}"
    );
    let overlapped = between(&powers, waits[0], waits[1]);
    assert!(
        overlapped + 6 >= budget.powers,
        "{overlapped} powers beside a product in {kernel}"
    );
}
