//! Rings of 1 to 8 slots with one to three consumer warps: fewer steps than slots, none at all, and
//! many, over several iterations. The sums are the same for every seed, which selects the times at
//! which copies are executed on the simulated GPU.

use std::process::Command;

use croq_sys::{Const, Result, Tensor};
use croq_tests::kernels;

type Rows = Tensor<f32, (usize, Const<32>)>;
type Sums = Tensor<f32, (usize, Const<9>, Const<32>)>;
type Ring = fn(&Rows, &mut Sums, i32) -> Result<()>;

/// The numbers of iterations, and of steps in each.
const RUNS: [(usize, usize); 6] = [(1, 0), (1, 1), (5, 1), (3, 2), (4, 3), (5, 11)];

macro_rules! rings {
    ($($slots:ident: $($kernel:ident)*;)*) => {$(
        #[test]
        fn $slots() {
            let rings: [Ring; 3] = [$(|src, out, steps| kernels::$kernel(src, out, steps)),*];
            for (takers, ring) in (1..).zip(rings) {
                for (turns, steps) in RUNS {
                    check(ring, takers, turns, steps);
                }
            }
        }
    )*};
}

rings! {
    one_slot: ring_1_1 ring_1_2 ring_1_3;
    two_slots: ring_2_1 ring_2_2 ring_2_3;
    three_slots: ring_3_1 ring_3_2 ring_3_3;
    four_slots: ring_4_1 ring_4_2 ring_4_3;
    five_slots: ring_5_1 ring_5_2 ring_5_3;
    six_slots: ring_6_1 ring_6_2 ring_6_3;
    seven_slots: ring_7_1 ring_7_2 ring_7_3;
    eight_slots: ring_8_1 ring_8_2 ring_8_3;
}

const POISON: f32 = -1e30;

fn check(ring: Ring, takers: usize, turns: usize, steps: usize) {
    // Whole numbers: every order of additions gives the same result.
    let shape = ((6 * turns * steps).max(6), Const::<32>);
    let numbers = Tensor::<i32, _>::random(shape, -100..100, (turns * 100 + steps) as u64);
    let numbers = numbers.as_slice().iter().map(|n| *n as f32).collect();
    let src = Rows::from_vec(shape, numbers).unwrap();
    let mut out = Sums::from_fn((turns, Const, Const), |_| POISON);
    ring(&src, &mut out, steps as i32).unwrap();
    for turn in 0..turns {
        for (kind, taker) in (0..3).flat_map(|kind| (0..3).map(move |taker| (kind, taker))) {
            for column in 0..32 {
                let src = &src;
                let rows = |step: usize| {
                    let first = 6 * (turn * steps + step);
                    let own = (0..6 / takers).map(move |r| first + r * takers + taker);
                    own.map(move |row| src[[row, column]] * (step + 1) as f32)
                };
                let expected = if taker < takers {
                    (0..steps).flat_map(rows).sum::<f32>()
                } else {
                    POISON
                };
                let found = out[[turn, 3 * kind + taker, column]];
                assert_eq!(
                    found, expected,
                    "{turns} turns of {steps} steps, {takers} takers, kind {kind}: turn {turn}, taker {taker}"
                );
            }
        }
    }
}

/// The tests above again, each with copies that are executed at other times.
#[test]
fn by_other_seeds() {
    let Ok(this) = std::env::current_exe() else {
        return;
    };
    for seed in ["1", "2", "77"] {
        let run = Command::new(&this)
            .args(["rings::", "--skip", "by_other_seeds"])
            .env("CROQ_SIM_SEED", seed)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success(), "seed {seed}:\n{said}");
        assert!(said.contains("8 passed"), "seed {seed}:\n{said}");
    }
}
