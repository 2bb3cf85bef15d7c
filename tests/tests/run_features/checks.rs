use croq_sys::{Device, Error, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

/// The line of a failed check; anything else is a failure of the test.
#[track_caller]
fn failed_line<T: std::fmt::Debug>(outcome: Result<T, Error>) -> (u32, String) {
    match outcome.unwrap_err() {
        error @ (Error::Check { .. } | Error::OutOfBounds { .. }) => {
            let line = match &error {
                Error::Check { line, .. } | Error::OutOfBounds { line, .. } => *line,
                _ => 0,
            };
            (line, error.to_string())
        }
        other => panic!("{other}"),
    }
}

/// The line of `checks.co` that starts with `start`.
fn line_of(start: &str) -> u32 {
    let text = include_str!("../../run/features/checks.co");
    let found = text
        .lines()
        .position(|line| line.trim_start().starts_with(start));
    found.unwrap_or_else(|| panic!("no line starts with {start}")) as u32 + 1
}

#[test]
fn an_index_out_of_range() {
    let x = Tensor::<i32, _>::random((10,), -100..100, 1);
    let at = Tensor::from_vec((3,), vec![9, 0, 4]).unwrap();
    let y = kernels::check_index(&x, &at).unwrap();
    assert_exact(&y, |[p]| x[[at[[p]] as usize]]);
    for wrong in [10, -1, i32::MAX, i32::MIN] {
        let at = Tensor::from_vec((3,), vec![9, wrong, 4]).unwrap();
        let (line, message) = failed_line(kernels::check_index(&x, &at));
        assert_eq!(line, line_of("parallel p by M y.at(p) = x.at(at.at(p));"));
        assert!(message.contains("checks.co"), "{message}");
        if croq_tests::gpu::ends_at_failure() {
            return;
        }
    }
    // The simulated GPU remains usable.
    kernels::check_index(&x, &at).unwrap();
}

#[test]
fn an_index_of_a_sum_out_of_range() {
    let x = Tensor::<i32, _>::random((16,), -100..100, 2);
    let sum: i32 = x.as_slice().iter().sum();
    let y = kernels::check_sum(&x, &Tensor::from_vec((2,), vec![1, 0]).unwrap()).unwrap();
    assert_exact(&y, |[p]| if p == 1 { sum } else { 0 });
    for wrong in [2, -1, i32::MAX, i32::MIN] {
        let at = Tensor::from_vec((2,), vec![wrong, 0]).unwrap();
        let error = kernels::check_sum(&x, &at).unwrap_err();
        let Error::Check { code, line, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!(*code, "R12");
        assert_eq!(*line, line_of("foreach k in [16] y.at(place)"));
        if croq_tests::gpu::ends_at_failure() {
            return;
        }
    }
}

#[test]
fn a_store_out_of_range_changes_nothing() {
    let device = Device::sim();
    let mut x = Tensor::<i32, _>::zeros((10,)).to_device(&device).unwrap();
    kernels::check_store(&mut x, 3).unwrap();
    let (line, _) = failed_line(kernels::check_store(&mut x, 10));
    assert_eq!(line, line_of("parallel by 1 : thread x.at(at) = 1;"));
    failed_line(kernels::check_store(&mut x, -1));
    assert_exact(&x.to_host().unwrap(), |[i]| i32::from(i == 3));
}

/// A wrong index in a loop without iterations, or under a condition that is false, is not an error.
#[test]
fn an_access_that_never_happens() {
    let x = Tensor::from_fn((8,), |[i]| i as i32);
    let y = kernels::check_unreached(&x, 2, 4, 3).unwrap();
    assert_exact(&y, |_| 2 * 4 + 5 / 3 + 6 + 3 * 7);
    for at in [-1, 8, i32::MIN] {
        let y = kernels::check_unreached(&x, 0, at, 0).unwrap();
        assert_exact(&y, |_| 100);
        let y = kernels::check_unreached_on_the_host(&x, 0, at).unwrap();
        assert_exact(&y, |_| 0);
    }
    if Device::default().is_sim() {
        for (at, start) in [
            (8, "foreach {i} in [turns] y.at(p)"),
            (7, "if (turns > 0) y.at(p)"),
            (6, "y.at(p) += turns > 0 ?"),
            (5, "y.at(p) += x.at(at + 3)"),
        ] {
            let (line, _) = failed_line(kernels::check_unreached(&x, 1, at, 1));
            assert_eq!(line, line_of(start), "{at}");
        }
        let (line, _) = failed_line(kernels::check_unreached_on_the_host(&x, 1, 8));
        assert_eq!(
            line,
            line_of("parallel p by 4 : thread y.at(p) += x.at(at);")
        );
    }
}

#[test]
fn assertions() {
    let x = Tensor::<i32, _>::random((10,), 0..100, 2);
    let y = kernels::check_assert_host(&x, 7).unwrap();
    assert_exact(&y, |i| x[i] % 7);
    let (line, message) = failed_line(kernels::check_assert_host(&x, 0));
    assert_eq!(line, line_of("assert(limit"));
    assert!(message.contains("limit must be positive"), "{message}");

    assert_exact(&kernels::check_assert_device(&x).unwrap(), |i| x[i] * 2);
    let negative = Tensor::from_fn((10,), |[i]| if i == 6 { -1 } else { x[[i]] });
    let (line, message) = failed_line(kernels::check_assert_device(&negative));
    assert_eq!(line, line_of("assert(x.at(p)"));
    assert!(message.contains("no negative numbers, please"), "{message}");
}

#[test]
fn assertions_on_typed_scalars() {
    let device = Device::default();
    let x = Tensor::<i32, _>::random((10,), 0..100, 2);
    let numbers = Tensor::from_fn((5,), |[i]| i as i32 * 3 % 8);
    let on_device = x.to_device(&device).unwrap();
    let call =
        |numbers: &Tensor<i32, _>, limit| kernels::check_assert_typed(&on_device, numbers, limit);
    assert_exact(&call(&numbers, 17).unwrap(), |i| {
        let group = numbers[i] as usize / 4 * 4;
        (group..group + 4).map(|k| x[[k]]).sum()
    });
    for limit in [0, 7, 12, 24] {
        let (line, message) = failed_line(call(&numbers, limit));
        assert_eq!(line, line_of("assert(half"), "{limit}");
        assert!(message.contains("whole groups"), "{message}");
    }
    for wrong in [-1, 8, i32::MAX, i32::MIN] {
        let numbers = Tensor::from_fn((5,), |[i]| if i == 3 { wrong } else { 0 });
        let (line, message) = failed_line(call(&numbers, 16));
        assert_eq!(line, line_of("assert(i >= 0 && i < half"), "{wrong}");
        assert!(message.contains("first half"), "{message}");
        if !device.is_sim() {
            // A failed kernel makes a CUDA device unusable.
            break;
        }
    }
}

#[test]
fn division_by_zero() {
    let x = Tensor::<i32, _>::random((10,), -100..100, 3);
    let by_what = Tensor::<i32, _>::random((10,), 1..9, 4);
    assert_exact(&kernels::check_divide(&x, &by_what).unwrap(), |i| {
        x[i] / by_what[i]
    });
    if Device::default().is_sim() {
        let zero = Tensor::from_fn((10,), |[i]| i32::from(i != 3));
        let (line, message) = failed_line(kernels::check_divide(&x, &zero));
        assert_eq!(
            line,
            line_of("parallel p by N y.at(p) = x.at(p) / by_what.at(p);")
        );
        assert!(message.contains("division by zero"), "{message}");
    }
}

#[test]
fn extents() {
    let a = Tensor::<i32, _>::random((3, 4), -100..100, 5);
    let b = Tensor::<i32, _>::random((4, 5), -100..100, 6);
    assert_exact(&kernels::check_extents(&a, &b).unwrap(), |[i, j]| {
        a[[i, 0]] + b[[0, j]]
    });
    let b = Tensor::<i32, _>::zeros((5, 5));
    match kernels::check_extents(&a, &b).unwrap_err() {
        Error::ShapeMismatch {
            param,
            axis,
            name,
            expected,
            found,
            ..
        } => {
            assert_eq!((param, axis, name, expected, found), ("b", 0, "K", 4, 5));
        }
        other => panic!("{other}"),
    }
    let x = Tensor::<i32, _>::random((4, 8), -100..100, 7);
    assert_exact(&kernels::check_fixed(&x).unwrap(), |i| x[i]);
    let x = Tensor::<i32, _>::zeros((4, 9));
    match kernels::check_fixed(&x).unwrap_err() {
        Error::ShapeMismatch {
            param,
            axis,
            expected,
            found,
            ..
        } => {
            assert_eq!((param, axis, expected, found), ("x", 1, 8, 9));
        }
        other => panic!("{other}"),
    }
}

#[test]
fn derived_extents() {
    let x = Tensor::<i32, _>::random((11,), -100..100, 8);
    let y = kernels::check_derived(&x).unwrap();
    assert_eq!(y.shape(), [2]);
    assert_exact(&y, |[i]| x[[4 * i]]);
    let x = Tensor::<i32, _>::zeros((3,));
    assert!(kernels::check_derived(&x).is_err());
}

#[test]
fn windows() {
    let x = Tensor::<i32, _>::random((10,), -100..100, 9);
    let y = kernels::check_window(&x, 6).unwrap();
    assert_exact(&y, |[i]| x[[6 + i]]);
    // Across an edge: only the part inside the data is stored.
    let y = kernels::check_window(&x, -2).unwrap();
    assert_eq!(y.as_slice(), [0, 0, x[[0]], x[[1]]]);
    // Entirely outside, on either side.
    for from in [-4, 10, 11] {
        let why = kernels::check_window(&x, from).unwrap_err().to_string();
        let message = format!("starts at {from} on axis 0, the data has 10 elements");
        assert!(why.contains("R12") && why.contains(&message), "{why}");
    }
    // The last element.
    let y = kernels::check_window(&x, 9).unwrap();
    assert_eq!(y.as_slice(), [x[[9]], 0, 0, 0]);
}

#[test]
fn too_much_shared_memory() {
    let x = Tensor::<i32, _>::random((20_000,), -100..100, 10);
    assert_exact(&kernels::check_shared_memory(&x).unwrap(), |i| x[i]);
    let x = Tensor::<i32, _>::zeros((100_000,));
    assert!(kernels::check_shared_memory(&x).is_err());
}

#[test]
fn subscripts_of_buffer_arrays() {
    let x = Tensor::<i32, _>::random((4,), -100..100, 11);
    assert_exact(&kernels::check_subscript(&x, 2).unwrap(), |i| x[i] + 1);
    assert!(kernels::check_subscript(&x, 3).is_err());
    assert!(kernels::check_subscript(&x, -1).is_err());
}

/// Set in the process whose output is examined.
const PRINTS: &str = "CROQ_TEST_PRINTS";

#[test]
fn printing_does_not_disturb() {
    let x = Tensor::from_vec((2,), vec![4, -5]).unwrap();
    let y = kernels::check_print(&x, 1.5).unwrap();
    assert_exact(&y, |i| x[i] as f32 * 1.5);
    if std::env::var_os(PRINTS).is_some() {
        return;
    }
    let this = std::env::current_exe().unwrap();
    let run = std::process::Command::new(this)
        .args(["printing_does_not_disturb", "--nocapture"])
        .env(PRINTS, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    let expected = "host 7 true\nx[0] = 4\nx[1] = -5\nv = 1.500000\n";
    assert!(run.status.success() && said.contains(expected), "{said}");
}

#[test]
fn what_left_a_loop_is_not_checked_behind_it() {
    let x = Tensor::<i32, _>::random((5,), 1..100, 12);
    assert_eq!(kernels::checks_after_return(&x, 1).unwrap(), 1);
    assert_eq!(kernels::checks_after_return(&x, 101).unwrap(), -1);
    assert!(kernels::checks_after_return(&x, 50).is_err());
    let y = kernels::checks_after_yield(&x, 2, 99).unwrap();
    assert_exact(&y, |_| 7);
    let y = kernels::checks_after_yield(&x, 3, 4).unwrap();
    assert_exact(&y, |_| x[[4]]);
    // Last: a failed kernel makes a CUDA device unusable.
    assert!(kernels::checks_after_yield(&x, 3, 5).is_err());
}
