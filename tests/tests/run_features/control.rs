use croq_sys::Tensor;
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn conditions() {
    let x = Tensor::<i32, _>::random((200,), -30..30, 1);
    assert_exact(&kernels::control_if(&x).unwrap(), |i| {
        i32::from(x[i] > 10) - i32::from(x[i] < -10)
    });
    for flip in [false, true] {
        assert_exact(&kernels::control_logic(&x, flip).unwrap(), |i| {
            let (even, small) = (x[i] % 2 == 0, x[i] > -5 && x[i] < 5);
            i32::from((even != small) != flip)
        });
    }
    let x = Tensor::<i32, _>::random((200,), -100..300, 2);
    assert_exact(&kernels::control_dangling(&x).unwrap(), |i| {
        i32::from(x[i] > 0) + i32::from(x[i] > 100)
    });
}

#[test]
fn ternaries() {
    let x = Tensor::<i32, _>::random((200,), -30..30, 3);
    for limit in [7, 0, -4] {
        let bound = limit.max(1);
        assert_exact(&kernels::control_ternary(&x, limit).unwrap(), |i| {
            x[i].clamp(-bound, bound)
        });
    }
    for n in [1, 2, 77] {
        let x = Tensor::<i32, _>::random((n,), -30..30, 4);
        assert_exact(&kernels::control_ternary_guard(&x).unwrap(), |[i]| {
            if i + 1 < n { x[[i + 1]] } else { -1 }
        });
    }
}

#[test]
fn the_right_side_waits_for_the_left() {
    let x = Tensor::<i32, _>::random((60,), -1..10, 5);
    assert_exact(&kernels::control_short_circuit(&x).unwrap(), |[i]| {
        (i..60).find(|&k| x[[k]] <= 0).unwrap_or(60) as i32
    });
}

#[test]
fn early_exit() {
    for n in [1, 32, 45] {
        let x = Tensor::<i32, _>::random((n,), -30..30, 6);
        assert_exact(&kernels::control_yield(&x).unwrap(), |i| {
            if x[i] < 0 { 0 } else { x[i] + 1 }
        });
    }
}

#[test]
fn persistent_blocks() {
    for (m, n) in [(1, 1), (8, 16), (24, 64), (19, 70)] {
        let x = Tensor::<i32, _>::random((m, n), -1000..1000, 7);
        assert_exact(&kernels::control_persistent(&x).unwrap(), |i| x[i] * 2 + 1);
    }
}

#[test]
fn masks() {
    let x = Tensor::<i32, _>::random((64,), 1..1000, 8);
    let y = kernels::control_inthreads(&x).unwrap();
    assert_exact(&y, |[t]| if t < 32 { x[[t + 32]] } else { x[[t - 32]] });
    let y = kernels::control_inthreads_nested(&x).unwrap();
    assert_exact(&y, |[t]| match t {
        _ if t % 2 == 1 || t >= 60 => -x[[t]],
        _ if t < 32 && t != 4 => x[[t]],
        _ => 0,
    });
    let x = Tensor::<i32, _>::random((128,), -1000..1000, 9);
    let y = kernels::control_inthreads_group4(&x).unwrap();
    assert_exact(&y, |[t]| x[[127 - t]] * 3);
}

#[test]
fn barriers() {
    let x = Tensor::<i32, _>::random((64,), -1000..1000, 10);
    let y = kernels::control_barriers(&x).unwrap();
    // Reversed as a whole, then within each warp.
    assert_exact(&y, |[i]| {
        let k = i / 32 * 32 + 31 - i % 32;
        x[[63 - k]] + 1
    });
    let x = Tensor::<i32, _>::random((32,), -1000..1000, 11);
    for turns in [0, 1, 50] {
        let y = kernels::control_ping_pong(&x, turns).unwrap();
        assert_exact(&y, |[t]| x[[(t + turns as usize) % 32]] + turns);
    }
}
