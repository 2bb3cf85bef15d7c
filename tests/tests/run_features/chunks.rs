use croq_sys::{Device, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn an_extent_shapes_a_buffer() {
    let x = Tensor::<u8, _>::random((32, 16), 0..255, 1);
    assert_exact(&kernels::chunk_extent(&x).unwrap(), |i| x[i]);
}

#[test]
fn an_unnamed_copy_has_no_effect() {
    let device = Device::default();
    let x = Tensor::<f32, _>::random((36,), -1.0..1.0, 2);
    let mut y = Tensor::from_fn((1,), |_| f32::NAN)
        .to_device(&device)
        .unwrap();
    kernels::chunk_unnamed(&x, &mut y).unwrap();
    assert_exact(&y.to_host().unwrap(), |_| 1.0);
}

#[test]
fn in_and_out_by_tiles() {
    let x = Tensor::<f32, _>::random((36,), -1.0..1.0, 3);
    assert_exact(&kernels::chunk_round_trip(&x).unwrap(), |i| x[i]);
    let x = Tensor::<i32, _>::random((24, 15, 8), -1000..1000, 4);
    let y = kernels::chunk_many_variables(&x).unwrap();
    assert_exact(&y, |i| x[i] + 1);
    let x = Tensor::<i32, _>::random((24, 20), -1000..1000, 5);
    assert_exact(&kernels::chunk_and_at(&x).unwrap(), |i| x[i] * 2);
}

#[test]
fn wildcard() {
    for m in [1, 5, 40] {
        let x = Tensor::<i32, _>::random((m, 12), -1000..1000, 6);
        let y = kernels::chunk_wildcard(&x).unwrap();
        assert_exact(&y, |[r, k]| x[[r, 11 - k]]);
    }
}

#[test]
fn tiles_of_tiles_and_composed_indices() {
    let x = Tensor::<i32, _>::random((16, 24), -1000..1000, 7);
    assert_exact(&kernels::chunk_chained(&x).unwrap(), |i| x[i]);
    let x = Tensor::<i32, _>::random((48,), -1000..1000, 8);
    assert_exact(&kernels::chunk_composed(&x).unwrap(), |i| x[i]);
}

#[test]
fn the_neighbouring_tile() {
    let x = Tensor::<i32, _>::random((32,), -1000..1000, 9);
    let y = kernels::chunk_neighbour(&x).unwrap();
    assert_exact(&y, |[i]| x[[(i + 4) % 32]]);
}

#[test]
fn views_on_both_sides() {
    let x = Tensor::<i32, _>::random((8, 12), -1000..1000, 10);
    let y = kernels::chunk_both_sides(&x).unwrap();
    assert_exact(&y, |[i, j]| if i < 8 { x[[i, j]] } else { 0 });
}

#[test]
fn elements_through_an_alias() {
    let x = Tensor::<i32, _>::random((6, 20), -1000..1000, 11);
    assert_exact(&kernels::chunk_alias(&x).unwrap(), |i| x[i] + 2);
}
