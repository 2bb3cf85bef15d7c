//! `Checks::Report`: what fails is recorded and is the call's error, the launch goes on, and what it leaves
//! is defined.
#![forbid(unsafe_code)]

use croq_report as kernels;
use croq_sys::{Const, Device, DeviceTensor, Error, Graph, Result, Stream, Tensor};

type Row = DeviceTensor<i32, (usize,)>;

/// Whether this runs on a GPU, or on the PTX machine: what ends a launch there ends the process' use of it.
fn on_gpu() -> bool {
    !Device::default().is_sim()
}

fn row(values: &[i32]) -> Row {
    let host = Tensor::from_vec((values.len(),), values.to_vec()).expect("a length");
    host.to_device(&Device::default()).expect("memory")
}

fn host(row: &Row) -> Vec<i32> {
    row.to_host().expect("memory").into_vec()
}

/// The code, line and message of a check.
fn check(result: Result<()>) -> (&'static str, u32, String) {
    match result.expect_err("a check fails") {
        Error::Check {
            code,
            line,
            message,
            ..
        } => (code, line, message),
        other => panic!("{other}"),
    }
}

macro_rules! dims {
    ($values:expr; $($extent:literal),*) => {
        row($values).into_dims(($(croq_sys::Const::<$extent>,)*)).expect("extents")
    };
}

fn grid(
    values: impl Fn([usize; 2]) -> i32,
) -> DeviceTensor<i32, (croq_sys::Const<4>, croq_sys::Const<8>)> {
    let host = Tensor::from_fn((croq_sys::Const::<4>, croq_sys::Const::<8>), values);
    host.to_device(&Device::default()).expect("memory")
}

#[test]
fn r12_a_load_outside_is_zero() {
    let x = grid(|[i, j]| (10 * i + j) as i32);
    // 8 is element [1, 0], which is outside of the axis all the same.
    let (mut y, at) = (row(&[9; 6]), row(&[3, 8, -1, 1 << 30, 31, 0]));
    let (code, line, message) = check(kernels::report_load(&mut y, &x, &at));
    assert_eq!((code, line), ("R12", 5));
    assert_eq!(
        message,
        "index 1 of `x` is 8, it must be at least 0 and below 8"
    );
    assert_eq!(host(&y), [4, 1, 1, 1, 1, 1]);
}

#[test]
fn r12_a_store_outside_does_nothing() {
    let mut y = grid(|_| 0);
    let (code, line, _) = check(kernels::report_store(
        &mut y,
        &row(&[7, 8, -1, i32::MAX, 2]),
    ));
    assert_eq!((code, line), ("R12", 11));
    let y = y.to_host().expect("memory");
    assert_eq!(
        (y[[0, 7]], y[[0, 2]], y.as_slice().iter().sum::<i32>()),
        (1, 5, 6)
    );
}

#[test]
fn r12_updates_and_atomic_operations_outside_do_nothing() {
    let (mut y, mut was) = (grid(|_| 1), row(&[9; 4]));
    let (code, line, _) = check(kernels::report_atomics(
        &mut y,
        &row(&[0, 8, 0, -8]),
        &mut was,
    ));
    assert_eq!((code, line), ("R12", 19));
    assert_eq!(host(&was), [1, 0, 6, 0]);
    let y = y.to_host().expect("memory");
    assert_eq!((y[[1, 0]], y[[2, 0]], y[[3, 0]]), (11, 9, 5));
    assert_eq!(y.as_slice().iter().sum::<i32>(), 29 + 11 + 9 + 5);
}

#[test]
fn r12_in_shared_and_local_memory_all_threads_come_to_the_barrier() {
    let at: Vec<i32> = (0..32).map(|t| if t < 4 { t } else { 40 + t }).collect();
    let mut y = dims!(&[0; 32]; 32);
    let (code, line, _) = check(kernels::report_shared(&mut y, &dims!(&at; 32)));
    assert_eq!((code, line), ("R12", 30));
    let y = y.to_host().expect("memory").into_vec();
    // `tile.at(t) + own.at(at.at(31 - t))`: the last four threads read `own.at(3 - …)`, others outside.
    let expected = (0..32).map(|t| match t {
        0..4 => 100 + t,
        28.. => 5 + 1,
        _ => 5,
    });
    assert_eq!(y, expected.collect::<Vec<i32>>());
}

#[test]
fn r13_a_subscript_outside_reads_zero() {
    let mut y = row(&[0; 4]);
    let (code, line, _) = check(kernels::report_subscript(&mut y, &dims!(&[0, 3, 2, -1]; 4)));
    assert_eq!((code, line), ("R13", 43));
    assert_eq!(y.to_host().expect("memory").into_vec(), [7, 0, 7, 0]);
}

#[test]
fn r13_a_subscript_outside_of_a_name_or_a_copy_is_0() {
    for (slot, at, expected) in [
        ([3, 0, 0], 209, [1, 7, 7, 7]),
        ([-1, 0, 0], 209, [1, 7, 7, 7]),
        ([0, i32::MAX, 0], 213, [1, 7, 7, 7]),
        ([1, -9, 0], 213, [7; 4]),
        ([2, 2, -1], 0, [1, 7, 7, 7]),
    ] {
        let mut y = row(&[0; 4]).into_dims((Const::<4>,)).unwrap();
        let (code, line, _) = check(kernels::report_named_subscript(&mut y, &dims!(&slot; 3)));
        assert_eq!(code, "R13");
        assert!(at == 0 || line == at, "{line}");
        assert_eq!(y.to_host().unwrap().into_vec(), expected);
    }
}

#[test]
fn r12_a_mask_beyond_the_tile_stores_the_tile() {
    for rows in [5, 16, i32::MAX] {
        let host = Tensor::<f32, _>::zeros((Const::<16>, Const::<8>));
        let mut y = host.to_device(&Device::default()).unwrap();
        let (code, line, _) = check(kernels::report_mask(&mut y, &dims!(&[rows]; 1)));
        assert_eq!((code, line), ("R12", 226));
        let y = y.to_host().unwrap().into_vec();
        let expected = (0..128).map(|i| f32::from(u8::from((32..64).contains(&i))));
        assert_eq!(y, expected.collect::<Vec<_>>());
    }
}

#[test]
fn r14_a_false_assert_goes_on() {
    let mut y = row(&[1, -2, 3, -4]);
    let failed = check(kernels::report_assert(&mut y));
    let text = "assertion failed: no negative numbers, please".to_owned();
    assert_eq!(failed, ("R14", 50, text));
    assert_eq!(host(&y), [2, -4, 6, -8]);
    // Nothing is left of it.
    let mut y = row(&[1, 2]);
    kernels::report_assert(&mut y).expect("nothing fails");
    assert_eq!(host(&y), [2, 4]);
}

#[test]
fn r14_a_false_assert_proves_nothing() {
    let mut y = dims!(&[0; 8]; 8);
    let (code, line, _) = check(kernels::report_assert_and_load(
        &mut y,
        &row(&[1, 8, 1 << 28, -1]),
    ));
    assert_eq!((code, line), ("R14", 59));
    assert_eq!(
        y.to_host().expect("memory").into_vec(),
        [0, 3, 0, 0, 0, 0, 0, 0]
    );
}

#[test]
fn r06_a_division_by_zero_gives_zero() {
    let mut y = row(&[0; 3]);
    let result = kernels::report_division(&mut y, &row(&[7, 0, 3]));
    // CUDA has no record of a division of elements.
    if on_gpu() {
        result.unwrap();
    } else {
        let (code, line, message) = check(result);
        assert_eq!((code, line), ("R06", 69));
        assert!(message.contains("division by zero"), "{message}");
    }
    assert_eq!(host(&y), [16, 0, 34]);
}

#[test]
fn a_tile_outside_is_zeros_and_a_store_of_one_moves_nothing() {
    let x: Vec<i32> = (1..=24).collect();
    let x = dims!(&x; 24);
    let run = |from: i32, to: i32| {
        let mut y = dims!(&[-1; 8]; 8);
        let result = kernels::report_tile(&mut y, &x, &dims!(&[from]; 1), &dims!(&[to]; 1));
        (result, y.to_host().expect("memory").into_vec())
    };
    let (result, y) = run(5, 1);
    result.expect("tiles inside");
    assert_eq!(y, [-1, -1, -1, -1, 21, 22, 23, 24]);
    for from in [6, -1, 1 << 28] {
        let (result, y) = run(from, 0);
        let (code, line, message) = check(result);
        assert_eq!((code, line), ("R12", 76), "{message}");
        assert_eq!(y, [0, 0, 0, 0, -1, -1, -1, -1], "{from}");
    }
    for to in [2, -1, 1 << 28] {
        let (result, y) = run(0, to);
        let (code, line, message) = check(result);
        assert_eq!((code, line), ("R12", 77), "{message}");
        assert_eq!(y, [-1; 8], "{to}");
    }
}

/// As above, by TMA. Tiles have 4 rows, so the position of tile 2^30 is 2^32.
#[test]
fn a_tile_outside_that_tma_moves_is_zeros_and_a_store_of_one_moves_nothing() {
    let device = Device::default();
    let x = Tensor::from_fn((Const::<24>, Const::<32>), |[i, j]| (32 * i + j) as i32 + 1);
    let x = x.to_device(&device).unwrap();
    let run = |numbers: [i64; 2], is_signed: bool| {
        let y = Tensor::from_fn((Const::<8>, Const::<32>), |_| -1);
        let mut y = y.to_device(&device).unwrap();
        let result = if is_signed {
            let [from, to] = numbers.map(|n| dims!(&[i32::try_from(n).unwrap()]; 1));
            kernels::report_tma_tile(&mut y, &x, &from, &to)
        } else {
            let number = |n| Tensor::from_vec((Const::<1>,), vec![u32::try_from(n).unwrap()]);
            let [from, to] = numbers.map(|n| number(n).unwrap().to_device(&device));
            kernels::report_tma_unsigned(&mut y, &x, &from.unwrap(), &to.unwrap())
        };
        (result, y.to_host().unwrap().into_vec())
    };
    let rows = |first: i32| (0..4 * 32).map(move |i| first * 32 + i + 1);
    let nothing = || std::iter::repeat_n(-1, 4 * 32);
    let large = [6, 7, 1 << 29, 1 << 30, i64::from(i32::MAX)];
    for (is_signed, line) in [(true, 234), (false, 240)] {
        let other = [-1, -1 << 30, i64::from(i32::MIN)];
        let unsigned = [1 << 31, 3 << 30, i64::from(u32::MAX)];
        let others = if is_signed { other } else { unsigned };
        let (result, y) = run([5, 1], is_signed);
        result.expect("tiles inside");
        assert_eq!(y, nothing().chain(rows(20)).collect::<Vec<_>>());
        for number in large.into_iter().chain(others) {
            let (result, y) = run([number, 0], is_signed);
            let (code, at, message) = check(result);
            assert_eq!((code, at), ("R12", line), "{message}");
            let zeros = std::iter::repeat_n(0, 4 * 32);
            assert_eq!(y, zeros.chain(nothing()).collect::<Vec<_>>(), "{number}");
            let (result, y) = run([0, number], is_signed);
            let (code, at, message) = check(result);
            assert_eq!((code, at), ("R12", line + 1), "{message}");
            assert_eq!(y, [-1; 8 * 32], "{number}");
        }
    }
}

#[test]
fn r20_a_shift_by_an_amount_outside_shifts_nothing() {
    let mut y = row(&[9; 5]);
    let amounts = row(&[3, 32, -1, 0, i32::MIN]);
    let (code, line, message) = check(kernels::report_shift(&mut y, &amounts));
    assert_eq!((code, line), ("R20", 170), "{message}");
    assert_eq!(host(&y), [40, 5, 5, 5, 5]);
}

#[test]
fn r22_threads_that_disagree_end_the_launch() {
    let mut y = dims!(&[0; 64]; 64);
    kernels::report_divergence(&mut y, 64).expect("all of them come");
    kernels::report_divergence(&mut y, 0).expect("none of them comes");
    let mut y = dims!(&[0; 64]; 64);
    let (code, line, message) = check(kernels::report_divergence(&mut y, 32));
    assert_eq!((code, line), ("R22", 179), "{message}");
    if on_gpu() {
        return;
    }
    assert_eq!(y.to_host().expect("memory").into_vec(), [0; 64]);
}

#[test]
fn r23_tiles_that_overlap_change_nothing_else() {
    let numbers: Vec<i32> = (0..16).collect();
    let mut x = dims!(&numbers; 16);
    kernels::report_overlap(&mut x, &dims!(&[0, 12]; 2)).expect("apart");
    let mut x = dims!(&numbers; 16);
    let (code, line, message) = check(kernels::report_overlap(&mut x, &dims!(&[5, 7]; 2)));
    assert_eq!((code, line), ("R23", 188), "{message}");
    let x = x.to_host().expect("memory").into_vec();
    assert_eq!((&x[..7], &x[11..]), (&numbers[..7], &numbers[11..]));
}

/// Its result would be unknown, so the call ends before the launch, even where no thread comes to it.
#[test]
fn r24_assembly_that_is_not_known_ends_the_call() {
    if on_gpu() {
        return;
    }
    for reached in [0, 1] {
        let mut y = dims!(&[7; 4]; 4);
        let (code, line, message) = check(kernels::report_assembly(
            &mut y,
            &dims!(&[0; 4]; 4),
            reached,
        ));
        assert_eq!((code, line), ("R24", 196), "{message}");
        assert_eq!(y.to_host().expect("memory").into_vec(), [7; 4]);
    }
    let mut y = row(&[0; 4]);
    kernels::report_event(&mut y, 1).expect("other kernels run");
}

#[test]
fn the_first_record_is_that_of_the_lowest_block_of_the_first_launch() {
    for _ in 0..20 {
        let mut y = row(&[0; 128]);
        match kernels::report_first(&mut y, 23).expect_err("a check fails") {
            Error::Check { line, .. } => assert_eq!(line, 84),
            other => panic!("{other}"),
        }
        // Both launches have run, all of them.
        assert_eq!(host(&y), [2; 128]);
        let mut y = row(&[0; 128]);
        assert_eq!(check(kernels::report_first(&mut y, 64)).1, 88);
        assert_eq!(host(&y), [2; 128]);
    }
}

#[test]
fn checks_at_entry_stop_the_call_before_it_launches() {
    let mut y = row(&[0; 8]);
    assert_eq!(check(kernels::report_entry(&mut y, 0)).0, "R14");
    assert_eq!(check(kernels::report_sizes(&mut y, 0)).0, "R06");
    let (code, line, message) = check(kernels::report_shared_size(&mut row(&[0; 100_000])));
    assert_eq!((code, line), ("R09", 104), "{message}");
    assert_eq!(host(&y), [0; 8]);
}

/// Each code that a size or shape of the call can have.
#[test]
fn every_code_at_entry_leaves_everything_as_it_was() {
    let mut y = row(&[7; 64]);
    for (n, m, code) in [
        (0, 1, "R05"),
        (-1, 1, "R05"),
        (1, 1 << 20, "R05"),
        (1 << 40, 1 << 40, "R05"),
    ] {
        let (found, line, _) = check(kernels::report_grid(&mut y, n, m));
        assert_eq!((found, line), (code, 112), "{n} x {m}");
    }
    let (code, line, _) = check(kernels::report_flat(&mut y, 1 << 40, 1 << 40));
    assert_eq!((code, line), ("R19", 165));
    let (code, line, _) = check(kernels::report_copy(&mut y, &row(&[1; 40])));
    assert_eq!((code, line), ("R07", 119));
    let (code, line, _) = check(kernels::report_span(&mut y, 9));
    assert_eq!((code, line), ("R08", 125));
    let x = Tensor::from_vec((croq_sys::Const::<4>, 5), vec![1; 20]).unwrap();
    let x = x.to_device(&Device::default()).unwrap();
    let (code, line, _) = check(kernels::report_box(&mut y, &x));
    assert_eq!((code, line), ("R10", 133));
    let [short, long] = [4, 5].map(|n| Tensor::from_vec((n,), vec![1; n]).unwrap());
    let (code, _, _) = check(kernels::report_result(&short, &long).map(drop));
    assert_eq!(code, "R01");
    assert_eq!(host(&y), [7; 64]);
}

/// Nothing comes after it: what follows was proved of the value that the integer should have.
#[test]
fn r19_an_integer_beyond_64_bits_ends_the_launch() {
    let mut y = row(&[0; 4]);
    kernels::report_product(&mut y, &row(&[0; 4]), 1 << 40).unwrap();
    assert_eq!(host(&y), [1; 4]);
    // 2^80 has 64 zeros at its end; the other product wraps to an index outside.
    for m in [1 << 40, (1 << 40) + 1] {
        let mut y = row(&[0; 4]);
        let (code, line, _) = check(kernels::report_product(&mut y, &row(&[0, 0, 1, 0]), m));
        assert_eq!((code, line), ("R19", 149));
        if on_gpu() {
            return;
        }
        assert!(!host(&y).contains(&5));
        kernels::report_product(&mut y, &row(&[0; 4]), m).unwrap();
    }
}

#[test]
fn r18_a_wait_for_an_event_of_its_own_goes_on() {
    let mut y = row(&[0; 4]);
    kernels::report_event(&mut y, 1).unwrap();
    let mut y = row(&[0; 4]);
    let (code, line, _) = check(kernels::report_event(&mut y, 0));
    assert_eq!((code, line), ("R18", 158));
    assert_eq!(host(&y), [1; 4]);
}

/// On both targets the calls behind it are executed, in each launch, and the first failure is the launch's, or that of
/// the wait for it.
#[test]
fn a_graph_goes_on_after_a_call_that_reports() {
    let device = Device::default();
    let stream = Stream::new(&device).unwrap();
    let (mut failing, mut fine) = (row(&[1, -2]), row(&[3]));
    let mut graph = Graph::capture(&device, move |stream| {
        kernels::report_assert_on(stream, &mut failing)?;
        kernels::report_assert_on(stream, &mut fine)?;
        Ok((failing, fine))
    })
    .unwrap();
    for round in 1..4 {
        let launched = graph.launch(&stream).and_then(|()| stream.synchronize());
        let (code, line, _) = check(launched);
        assert_eq!((code, line), ("R14", 50));
        let (failing, fine) = graph.tensors();
        assert_eq!(host(failing), [1 << round, -(2 << round)]);
        assert_eq!(host(fine), [3 << round]);
    }
    graph
        .tensors_mut()
        .0
        .copy_from_host(&Tensor::zeros((2,)))
        .unwrap();
    graph.launch(&stream).unwrap();
    stream.synchronize().unwrap();
}
