use croq_sys::{Const, Device, Error, Stream, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn a_launch_waits_for_its_trigger() {
    let device = Device::default();
    let [one, other] = [0; 2].map(|_| Stream::new(&device).unwrap());
    for n in [1, 64, 200] {
        let x = Tensor::<i32, _>::random((n,), -1000..1000, 1);
        for streams in [(&one, &other), (&one, &one)] {
            let y = kernels::signal_once(&x, streams.0, streams.1).unwrap();
            assert_exact(&y, |i| x[i] * 2 + 1);
        }
    }
}

#[test]
fn as_many_launches_as_triggers() {
    let stream = Stream::new(&Device::default()).unwrap();
    for (n, turns) in [(1, 0), (100, 1), (70, 5)] {
        let x = Tensor::<i32, _>::random((n,), -1000..1000, 2);
        let y = kernels::signal_turns(&x, turns, &stream).unwrap();
        assert_exact(&y, |i| (0..turns).fold(x[i] * 3, |v, k| v * 2 + k) + 1);
    }
}

#[track_caller]
fn is_missing(error: &Error, message: &str, launch: &str) {
    let Error::Check {
        code,
        message: found,
        line,
        ..
    } = error
    else {
        panic!("{error}");
    };
    let text = include_str!("../../run/features/signals.co");
    let apart = text.find(launch).unwrap();
    let expected = text[..apart].lines().count() + 3;
    assert_eq!((*code, found.as_str()), ("R18", message));
    assert_eq!(*line as usize, expected, "{error}");
}

#[test]
fn too_few_triggers_are_an_error_of_the_call() {
    let x = Tensor::<i32, _>::random((40,), -1000..1000, 3);
    for times in [2, 5] {
        assert_exact(&kernels::signal_perhaps(&x, times).unwrap(), |i| x[i] * 2);
    }
    for times in [0, 1] {
        let error = kernels::signal_perhaps(&x, times).unwrap_err();
        let message = format!("event: `go` is waited for 2 times, triggered {times}");
        is_missing(&error, &message, "signal_perhaps");
    }
    // No state remains.
    assert_exact(&kernels::signal_perhaps(&x, 2).unwrap(), |i| x[i] * 2);
}

#[test]
fn a_failure_before_the_trigger_is_the_failure() {
    let x = Tensor::<i32, _>::random((40,), -1000..1000, 4);
    for n in [0, 1, 3] {
        assert_exact(&kernels::signal_in_vain(&x, n).unwrap(), |i| x[i] + n);
    }
    let error = kernels::signal_in_vain(&x, 4).unwrap_err();
    assert!(
        matches!(&error, Error::Check { code: "R14", .. }),
        "{error}"
    );
    assert_exact(&kernels::signal_in_vain(&x, 2).unwrap(), |i| x[i] + 2);
}

#[test]
fn threads_have_events_of_their_own() {
    let x = Tensor::<i32, _>::random((Const::<64>,), -1000..1000, 5);
    // Two triggers before a wait count as one.
    let y = kernels::flag_of_threads(&x, 1).unwrap();
    assert_exact(&y, |[i]| x[[i]] + if i % 2 == 0 { 103 } else { 3 });
    if !Device::default().is_sim() {
        return;
    }
    for slot in [3, -1] {
        let error = kernels::flag_of_threads(&x, slot).unwrap_err();
        assert!(
            matches!(&error, Error::Check { code: "R13", .. }),
            "{error}"
        );
    }
    let error = kernels::flag_in_vain(&x, 5).unwrap_err();
    let Error::Check { code, message, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(*code, "R18");
    assert!(
        message.starts_with("a thread waits for `seen`"),
        "{message}"
    );
    assert_exact(&kernels::flag_in_vain(&x, 64).unwrap(), |i| x[i]);
}
