use croq_sys::Tensor;
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn calls() {
    let x = Tensor::<i32, _>::random((100,), -100..100, 1);
    let y = kernels::device_call(&x).unwrap();
    assert_exact(&y, |[row, i]| {
        let v = x[[i]];
        [v + 6 + 11, v.clamp(-5, 5), v * v * v, v - 1, v & 1][row]
    });
    let x = Tensor::<f32, _>::random((100,), -100.0..100.0, 2);
    assert_exact(&kernels::device_call_float(&x).unwrap(), |i| x[i] * 0.5);
}

#[test]
fn pointers() {
    let x = Tensor::<i32, _>::random((4, 8), -100..100, 3);
    let y = kernels::device_pointers(&x).unwrap();
    assert_exact(&y, |[b, k]| {
        let own = |k: usize| x[[b, k]] + k as i32;
        let sum: i32 = (0..8).map(own).sum::<i32>() + (0..4).map(|k| x[[b, k]]).sum::<i32>();
        own(k) + k as i32 + sum
    });
    let x = Tensor::<i32, _>::random((8,), -100..100, 4);
    let y = kernels::device_address(&x).unwrap();
    assert_exact(&y, |[k]| {
        x[[k]] + if (2..5).contains(&k) { k as i32 - 2 } else { 0 }
    });
}

#[test]
fn macros_and_text() {
    let x = Tensor::<i32, _>::random((32,), -100..100, 5);
    assert_exact(&kernels::device_macros(&x).unwrap(), |i| (x[i] + 1) * 2 * 7);
    let x = Tensor::<i32, _>::random((100,), -100..100, 6);
    assert_exact(&kernels::device_text(&x).unwrap(), |i| {
        let v = x[i] * 2;
        if v > 100 { v - 100 } else { v }
    });
}

#[test]
fn macros_of_any_name() {
    let x = Tensor::<i32, _>::random((100,), -100..100, 7);
    assert_exact(&kernels::macros_by_name(&x).unwrap(), |i| {
        let v = x[i].min(50);
        (v + v + 4 + 1) * 2 + 5 + 17
    });
}
