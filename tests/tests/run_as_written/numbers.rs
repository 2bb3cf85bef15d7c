//! Which tile numbers are checked, and which are clipped (`numbers.co`).

use croq_sys::{Const, Device, Error, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[track_caller]
fn message<T: std::fmt::Debug>(outcome: Result<T, Error>) -> String {
    match outcome.unwrap_err() {
        Error::Check {
            code: "R12",
            message,
            ..
        } => message,
        other => panic!("{other}"),
    }
}

#[test]
fn pages_by_numbers_in_memory() {
    for (pages, lengths) in [(4, vec![1, 3, 0]), (9, vec![5]), (2, vec![2, 2, 1, 2])] {
        let sequences = lengths.len();
        let most = *lengths.iter().max().unwrap() as usize;
        let small = Tensor::<i32, _>::random((pages, Const::<16>, Const::<32>), -4..5, 1);
        let cache = Tensor::<f32, _>::from_fn(small.dims(), |at| small[at] as f32);
        let small = Tensor::<i32, _>::random((sequences, Const::<32>), -4..5, 2);
        let q = Tensor::<f32, _>::from_fn(small.dims(), |at| small[at] as f32);
        let mut table = Tensor::<i32, _>::random((sequences, most), 0..pages as i32, 3);
        let lengths = Tensor::from_vec((sequences,), lengths).unwrap();
        let call = |table: &Tensor<i32, (usize, usize)>, device: &Device| {
            let poison = Tensor::<f32, _>::from_fn((sequences, 16 * most), |_| -1.0);
            let mut scores = poison.to_device(device)?;
            kernels::checked_pages(
                &cache.to_device(device)?,
                &table.to_device(device)?,
                &lengths.to_device(device)?,
                &q.to_device(device)?,
                &mut scores,
            )?;
            scores.to_host()
        };
        let scores = call(&table, &Device::default()).unwrap();
        assert_exact(&scores, |[s, at]| {
            if at / 16 >= lengths[[s]] as usize {
                return -1.0;
            }
            let page = table[[s, at / 16]] as usize;
            (0..32).map(|d| cache[[page, at % 16, d]] * q[[s, d]]).sum()
        });
        for wrong in [pages as i32, -1] {
            let last = (0..sequences).max_by_key(|s| lengths[[*s]]).unwrap();
            table[[last, most - 1]] = wrong;
            // A GPU is unusable after a failed check in a kernel.
            let said = message(call(&table, &Device::sim()));
            assert!(said.contains(&format!("{wrong}")), "{said}");
            assert!(said.contains(&format!("{pages}")), "{said}");
        }
    }
}

#[test]
fn a_number_of_an_argument_and_a_halo() {
    for (e, n, k) in [(1, 8, 32), (3, 20, 40), (2, 1, 7)] {
        let small = Tensor::<i32, _>::random((e, n, k), -99..100, 4);
        let weights = Tensor::<f32, _>::from_fn((e, n, k), |at| small[at] as f32);
        for expert in 0..e {
            let y = kernels::checked_expert(&weights, expert as i32).unwrap();
            assert_exact(&y, |[i, j]| {
                let above = if i == 0 {
                    0.0
                } else {
                    weights[[expert, i - 1, j]]
                };
                weights[[expert, i, j]] - above
            });
        }
        for wrong in [-1, e as i32, i32::MAX] {
            let said = message(kernels::checked_expert(&weights, wrong));
            assert!(said.contains(&format!("{wrong}")), "{said}");
        }
    }
}
