//! The exceptions in docs/safety.md, one test for each class: an `Ok` for a program that is wrong.
//! A change that makes one of these an error removes the class from that page.

use std::process::Command;

use croq_sys::{Const, Device, DeviceTensor, Error, Stream, Tensor};
use croq_tests::kernels;

fn on_sim<const N: usize>() -> DeviceTensor<i32, (Const<N>,)> {
    DeviceTensor::zeros((Const,), &Device::sim()).unwrap()
}

#[test]
fn launches_of_two_streams_that_meet() {
    if !Device::default().is_sim() {
        return;
    }
    let streams = [(); 2].map(|()| Stream::new(&Device::default()).unwrap());
    let x = Tensor::from_vec((Const::<64>,), vec![5; 64]).unwrap();
    let y = kernels::excused_streams(&x, &streams[0], &streams[1]).unwrap();
    assert!(y.as_slice().iter().all(|v| *v == 5 || *v == 1), "{y:?}");
}

#[test]
fn arithmetic_on_what_an_operation_on_bits_gives() {
    let mut x = on_sim::<4>();
    kernels::excused_bits(&mut x, 1 << 32).unwrap();
    assert!(kernels::excused_bits(&mut x, 10).is_err());
}

#[test]
fn elements_written_255_turns_ago() {
    if !Device::default().is_sim() {
        return;
    }
    let x = Tensor::from_fn((Const::<32>,), |[i]| i as i32);
    for turns in [2, 200, 255, 257] {
        let wrong = kernels::excused_turns(&x, turns);
        assert!(
            matches!(wrong, Err(Error::Hazard { .. })),
            "{turns}: {wrong:?}"
        );
    }
    kernels::excused_turns(&x, 1).unwrap();
    kernels::excused_turns(&x, 256).unwrap();
}

#[test]
fn stores_of_inline_assembly() {
    // The program has a race, which only the simulated GPU excuses.
    if !croq_sys::Device::default().is_sim() {
        return;
    }
    let x = Tensor::from_fn((Const::<64>,), |[i]| i as i32);
    let y = kernels::excused_assembly(&x).unwrap();
    let mut seen = y.as_slice().iter().zip(x.as_slice().iter().rev());
    assert!(seen.all(|(y, x)| *y == 100 || y == x), "{y:?}");
}

#[test]
fn tiles_that_are_exchanged() {
    if !Device::default().is_sim() {
        return;
    }
    let x = Tensor::from_fn((Const::<40>,), |[i]| i as i32 + 1);
    let y = kernels::excused_swap(&x).unwrap();
    // Elements 8 to 31 of the second tile are those of the first one.
    assert_eq!((y[[1, 7]], y[[1, 8]]), (80, 18));
}

/// In a process of its own: the limit is read once.
#[test]
fn a_buffer_that_is_too_large_to_track() {
    if !Device::default().is_sim() {
        return;
    }
    const N: usize = 1 << 16;
    if std::env::var_os("CROQ_TEST_LARGE").is_some() {
        let [mut x, at] = [(); 2].map(|()| DeviceTensor::zeros((N,), &Device::sim()).unwrap());
        kernels::excused_large(&mut x, &at).unwrap();
        return;
    }
    let [mut x, at] = [(); 2].map(|()| DeviceTensor::zeros((N,), &Device::sim()).unwrap());
    let race = kernels::excused_large(&mut x, &at);
    assert!(matches!(race, Err(Error::Hazard { .. })), "{race:?}");
    let test = "excused::a_buffer_that_is_too_large_to_track";
    let child = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .envs([("CROQ_TEST_LARGE", "1"), ("CROQ_SIM_MEMORY", "2M")])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{said}");
    assert!(said.contains("`x`"), "{said}");
}
