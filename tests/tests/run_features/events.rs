use croq_sys::{Const, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

type Rows = Tensor<f32, (usize, Const<64>)>;

/// Whole numbers, so that every order of additions gives the same.
fn whole(m: usize, seed: u64) -> Rows {
    let n = Tensor::<i32, _>::random((m, Const::<64>), -100..100, seed);
    let values = n.as_slice().iter().map(|v| *v as f32).collect();
    Tensor::from_vec((m, Const::<64>), values).unwrap()
}

/// From fewer tiles than any ring has slots to many rounds.
const ROWS: [usize; 7] = [1, 8, 9, 33, 64, 100, 300];

#[test]
fn threads_copy_for_others() {
    for m in ROWS {
        let a = whole(m, 1);
        assert_exact(&kernels::event_dma(&a).unwrap(), |i| a[i] * 2.0);
    }
}

#[test]
fn the_copy_engine_completes_them() {
    for m in ROWS {
        let (a, b) = (whole(m, 1), whole(m, 2));
        assert_exact(&kernels::event_tma(&a, &b).unwrap(), |i| a[i] - b[i]);
        assert_exact(&kernels::event_after(&a, &b).unwrap(), |i| a[i] - b[i]);
        assert_exact(&kernels::event_folded(&a, &b).unwrap(), |i| a[i] - b[i]);
    }
}

#[test]
fn threads_wait_for_copies_that_name_an_event() {
    for m in ROWS {
        let (a, b) = (whole(m, 1), whole(m, 2));
        for kernel in [
            kernels::event_named_by_threads,
            kernels::event_named_by_both,
            kernels::event_after_both,
            kernels::event_named_in_parts,
        ] {
            assert_exact(&kernel(&a, &b).unwrap(), |i| a[i] - b[i]);
        }
    }
}

#[test]
fn generations_by_order() {
    for (m, turns) in [(1, 1), (1, 9), (17, 4), (40, 2)] {
        let a = whole(m, 3);
        let c = kernels::event_order(&a, turns).unwrap();
        assert_exact(&c, |i| a[i] * turns as f32);
    }
}

#[test]
fn blocks_that_stay() {
    for (m, k) in [(1, 1), (16, 16), (40, 33), (100, 64), (35, 130)] {
        let n = Tensor::<i32, _>::random((m, k), -100..100, 4);
        let values = n.as_slice().iter().map(|v| *v as f32).collect();
        let a = Tensor::<f32, _>::from_vec((m, k), values).unwrap();
        let sums = kernels::event_persistent(&a).unwrap();
        assert_exact(&sums, |[i]| (0..k).map(|j| a[[i, j]]).sum());
    }
}

#[test]
fn two_stages() {
    for m in ROWS {
        let a = whole(m, 5);
        let c = kernels::event_stages(&a).unwrap();
        assert_exact(&c, |[i, j]| {
            let from = i / 8 * 8 + 7 - i % 8;
            if from < m { a[[from, j]] + 1.0 } else { 1.0 }
        });
    }
}

#[test]
fn copies_by_the_threads_of_a_region() {
    for m in [1, 8, 20] {
        let a = whole(m, 6);
        let c = kernels::region_copies(&a).unwrap();
        assert_exact(&c, |[i, j]| {
            let from = i / 8 * 8 + 7 - i % 8;
            let turned = if from < m { a[[from, 63 - j]] } else { 0.0 };
            turned + a[[i, j]]
        });
    }
}

#[test]
fn copies_by_threads_that_take_turns() {
    for m in [1, 8, 21] {
        let a = whole(m, 7);
        let c = kernels::region_plain(&a).unwrap();
        assert_exact(&c, |[i, j]| {
            let last = if i + 3 < m { a[[i + 3, j]] } else { 0.0 };
            if i % 4 == 0 { last + a[[0, j]] } else { 0.0 }
        });
    }
}

#[test]
fn barriers_by_number() {
    let a = Tensor::<i32, _>::random((Const::<64>,), -100..100, 8);
    let c = kernels::region_numbered(&a).unwrap();
    assert_exact(&c, |[i]| 2 * a[[63 - (i + 1) % 64]]);
}

#[test]
fn two_warps_that_come_to_barriers_and_go_on() {
    let a = Tensor::<i32, _>::random((Const::<8>, Const::<32>), -50..50, 21);
    let c = kernels::region_arrivals(&a).unwrap();
    assert_exact(&c, |[t]| {
        (0..8).fold(0, |sum, k| sum * 3 + a[[k, 31 - t]] * (k as i32 + 1))
    });
}

#[test]
fn a_block_of_half_a_warpgroup_meets() {
    let a = Tensor::<i32, _>::random((Const::<64>,), -50..50, 22);
    let c = kernels::region_half_a_warpgroup(&a).unwrap();
    assert_exact(&c, |[t]| a[[63 - t]]);
}

#[test]
fn registers_of_others() {
    for m in ROWS {
        let a = whole(m, 9);
        let c = kernels::event_registers(&a).unwrap();
        assert_exact(&c, |i| a[i] + 1.0);
    }
}

#[test]
fn tiles_that_a_region_overwrites_after_a_grant() {
    for m in [100, 128, 640] {
        let x = Tensor::<f32, _>::random((m,), -9.0..9.0, 43);
        let right = |[i, j]: [usize; 2]| x[[i]] + (j % 32) as f32;
        assert_exact(&kernels::granted_ahead(&x).unwrap(), right);
        assert_exact(&kernels::granted_too_early(&x).unwrap(), right);
        assert_exact(&kernels::granted_in_turn(&x).unwrap(), right);
    }
}

#[test]
fn slots_that_are_events_of_their_own() {
    let x = Tensor::<i32, _>::random((Const::<64>,), -50..50, 31);
    let y = kernels::event_constant_slots(&x).unwrap();
    assert_exact(&y, |[i]| x[[i]] * if i < 32 { 2 } else { 3 });
    for n in [0, 1, 2, 7] {
        let y = kernels::event_slots_in_a_loop(&x, n).unwrap();
        let sum = |t: usize| (0..n).map(|k| 2 * (x[[t]] + k)).sum::<i32>();
        assert_exact(&y, |[i]| match i < 32 {
            true => sum(i),
            false => sum(i - 32) + x[[i]],
        });
    }
}

#[test]
fn regions_of_the_same_threads_follow_each_other() {
    let x = Tensor::<i32, _>::random((Const::<64>,), -100..100, 9);
    let y = kernels::event_regions_in_turn(&x).unwrap();
    assert_exact(&y, |[i]| x[[if i < 32 { 31 - i } else { 95 - i }]]);
}

#[test]
fn any_thread_waits_for_a_copy_by_tma() {
    for m in ROWS {
        let (a, b) = (whole(m, 11), whole(m, 12));
        let c = kernels::event_copy_of_others(&a).unwrap();
        assert_exact(&c, |i| a[i] * 2.0);
        let c = kernels::event_copies_of_others(&a, &b).unwrap();
        assert_exact(&c, |i| a[i] - b[i]);
    }
}

#[test]
fn a_region_that_is_not_asynchronous_answers() {
    for m in ROWS {
        let a = whole(m, 13);
        let c = kernels::event_by_a_plain_region(&a).unwrap();
        assert_exact(&c, |i| a[i]);
    }
}
