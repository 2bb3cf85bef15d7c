//! Several results, scalars, and elements that the host accesses (`results.co`).

use croq_sys::{Const, Device, DeviceTensor, Error, Stream, Tensor};
use croq_tests::compare::{assert_close, assert_exact, near};
use croq_tests::kernels;

#[test]
fn several_results_are_a_tuple() {
    let device = Device::default();
    let stream = Stream::new(&device).unwrap();
    for (m, n) in [(1, 1), (5, 33), (64, 7)] {
        let x = Tensor::<f32, _>::random((m, n), -9.0..9.0, 1);
        let (least, most) = kernels::written_extremes_of_rows(&x).unwrap();
        let row = |i: usize| (0..n).map(move |j| (i, j));
        assert_exact(&least, |[i]| {
            row(i).map(|(i, j)| x[[i, j]]).fold(f32::MAX, f32::min)
        });
        assert_exact(&most, |[i]| {
            row(i).map(|(i, j)| x[[i, j]]).fold(f32::MIN, f32::max)
        });
        let (low, high) = kernels::written_extremes_of_rows_on(&stream, &x).unwrap();
        assert_eq!(low.to_host().unwrap().as_slice(), least.as_slice());
        assert_eq!(high.to_host().unwrap().as_slice(), most.as_slice());
    }
    let x = Tensor::<f32, _>::random((Const::<3>, 20), -1.0..1.0, 2);
    let (turned, counts, number) = kernels::written_split(&x, 4).unwrap();
    let _: &Tensor<f32, (usize, Const<3>)> = &turned;
    assert_exact(&turned, |[j, i]| x[[i, j]]);
    assert_exact(&counts, |[i]| {
        (0..4).filter(|j| x[[i, *j]] > 0.0).count() as i32
    });
    assert_eq!(number, 12);
}

#[test]
fn an_element_is_a_scalar_for_those_who_wait() {
    let device = Device::default();
    let stream = Stream::new(&device).unwrap();
    for n in [1, 100] {
        let x = Tensor::<f32, _>::from_fn((n,), |[i]| i as f32);
        let expected = (n * (n - 1) / 2) as f32;
        assert_eq!(kernels::written_total(&x).unwrap(), expected);
        let later: DeviceTensor<f32, ()> = kernels::written_total_on(&stream, &x).unwrap();
        assert_eq!(later.to_host().unwrap()[[]], expected);
    }
    let x = Tensor::<i32, _>::random((4, 9), -99..99, 3);
    let on_device = x.to_device(&device).unwrap();
    for row in 0..4 {
        let (last, y) = kernels::written_last(&on_device, row as i32).unwrap();
        assert_eq!(last, 2 * x[[row, 8]]);
        assert_exact(&y, |at| 2 * x[at]);
    }
    let Err(Error::Check { code, .. }) = kernels::written_last(&on_device, 4) else {
        panic!("an element outside");
    };
    assert_eq!(code, "R12");
}

#[test]
fn the_host_reads_what_launches_have_written() {
    for (n, limit) in [(1, 0.5), (40, 0.1), (33, 1e-3)] {
        let x = Tensor::<f32, _>::random((n,), -1.0..1.0, 4);
        let (mut now, mut rounds, mut change) = (x.as_slice().to_vec(), 0, limit + 1.0);
        while change > limit && rounds < 50 {
            let next: Vec<f32> = (0..n).map(|i| 0.5 * (now[i] + now[(i + 1) % n])).collect();
            let changes = next.iter().zip(&now).map(|(a, b)| (a - b).abs());
            change = changes.fold(0.0, f32::max);
            now = next;
            rounds += 1;
        }
        let found = kernels::written_converged(&x, limit).unwrap();
        let found = Tensor::from_fn((1,), |_| found);
        assert_close(&found, |_| {
            near(f64::from(now[0]) + f64::from(rounds), 1e-4)
        });
        let stream = Stream::new(&Device::default()).unwrap();
        let waited = kernels::written_converged_on(&stream, &x, limit).unwrap();
        assert_eq!(waited, found[[0]]);
    }
}

#[test]
fn the_host_writes_elements_before_and_after_launches() {
    let device = Device::default();
    for sizes in [vec![1], vec![3, 40, 2], vec![0, 64]] {
        let n = sizes.iter().sum::<i32>() as usize;
        let sizes = Tensor::from_vec((sizes.len(),), sizes).unwrap();
        let before = Tensor::<i32, _>::random((n,), -99..99, 5);
        let mut x = before.to_device(&device).unwrap();
        let y = kernels::written_table(&sizes, &mut x).unwrap();
        let table = |i: usize| if i == 0 { 7 } else { before[[i]] };
        let part = |i: usize| {
            let mut end = 0;
            let ends = sizes.as_slice().iter().map(|size| {
                end += *size as usize;
                end
            });
            ends.take_while(|end| *end <= i).count() as i32
        };
        assert_exact(&y, |[i]| {
            (table(i) + part(i)) * if i + 1 == n { 10 } else { 1 }
        });
        assert_exact(&x.to_host().unwrap(), |[i]| table(i));
    }
}

#[test]
fn instances_of_a_template_return_several_results() {
    for n in [1, 40] {
        let x = Tensor::<f32, _>::random((n,), -1.0..1.0, 6);
        let (scaled, counts) = kernels::written_parts_of(&x).unwrap();
        let _: &Tensor<i32, (Const<3>,)> = &counts;
        assert_exact(&scaled, |i| x[i] * 3.0);
        assert_exact(&counts, |[i]| (i..n).step_by(3).count() as i32);
        let x = Tensor::<i32, _>::random((n,), -99..99, 7);
        let (scaled, counts) = kernels::written_parts_of(&x).unwrap();
        assert_exact(&scaled, |i| x[i] * 5);
        assert_exact(&counts, |[i]| (i..n).step_by(5).count() as i32);
    }
}
