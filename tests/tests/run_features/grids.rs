use croq_sys::{Const, Error, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn their_barrier_is_of_all_blocks() {
    for (m, turns) in [(1, 2), (2, 3), (7, 2), (40, 4)] {
        let x = Tensor::<i32, _>::random((m, Const::<64>), -99..99, 1);
        let y = kernels::grid_totals(&x, turns).unwrap();
        let row = |p: usize| (0..64).map(|k| x[[p, k]]).sum::<i32>();
        let expected = (0..turns).fold(0i32, |total, turn| {
            (0..m).fold(total, |total, r| {
                total
                    .wrapping_mul(3)
                    .wrapping_add(row(r).wrapping_add(turn))
            })
        });
        assert_exact(&y, |_| expected);
    }
}

#[test]
fn along_three_axes() {
    for (a, b, c) in [(1, 1, 1), (3, 2, 5), (6, 7, 4)] {
        let x = Tensor::<i32, _>::random((a, b, c), -99..99, 2);
        let y = kernels::grid_three_axes(&x).unwrap();
        assert_exact(&y, |[i, j, k]| {
            // Five times to the other side and back.
            let from = x[[a - 1 - i, b - 1 - j, c - 1 - k]];
            (0..5).fold(from, |v, turn| v * 2 + turn)
        });
    }
}

#[test]
fn as_often_as_the_data_ask_for() {
    for n in [1, 2, 64, 65, 300] {
        let x = Tensor::<i32, _>::random((n,), -1000..1000, 3);
        let mut turns = Tensor::<i32, _>::zeros((Const::<1>,));
        let y = kernels::grid_until_settled(&x, &mut turns).unwrap();
        let most = x.as_slice().iter().max().copied().unwrap();
        assert_exact(&y, |_| most);
        let at: Vec<usize> = (0..n).filter(|i| x[[*i]] == most).collect();
        let nearest = |i: usize| at.iter().map(|p| p.abs_diff(i)).min().unwrap();
        let furthest = (0..n).map(nearest).max().unwrap();
        // One more iteration detects that nothing changes.
        assert_eq!(turns[[0]] as usize, furthest + 1, "{n}");
    }
}

#[test]
fn what_the_last_one_says() {
    assert_exact(&kernels::grid_tickets().unwrap(), |_| 1);
}

#[test]
fn tiles_from_block_to_block_by_the_copy_engine() {
    for (m, turns) in [(8, 2), (16, 1), (40, 3)] {
        let x = Tensor::<i32, _>::random((m, Const::<64>), -99..99, 4);
        let y = kernels::grid_boxes(&x, turns).unwrap();
        // `v` of a block is `u` of the next one, and is passed back to its origin.
        let sum = (0..turns).sum::<i32>();
        assert_exact(&y, |at| x[at] + sum);
    }
}

#[test]
fn more_blocks_than_fit_are_an_error() {
    let x = Tensor::<i32, _>::random((1000,), -99..99, 5);
    for blocks in [1, 3, 40] {
        assert_exact(&kernels::grid_of(&x, blocks).unwrap(), |i| x[i] + 1);
    }
    let error = kernels::grid_of(&x, 100_000).unwrap_err();
    let Error::Check {
        code,
        message,
        line,
        values,
        ..
    } = &error
    else {
        panic!("{error}");
    };
    let text = include_str!("../../run/features/grids.co");
    let launch = "parallel b by blocks : block<cooperative>";
    let expected = text.lines().position(|l| l.contains(launch)).unwrap() + 1;
    assert_eq!((*code, *line as usize), ("R05", expected), "{error}");
    assert_eq!(values[0], 100_000);
    assert!(
        message.starts_with("cooperative grid: 100000 blocks"),
        "{message}"
    );
    // The device remains usable.
    assert_exact(&kernels::grid_of(&x, 2).unwrap(), |i| x[i] + 1);
}
