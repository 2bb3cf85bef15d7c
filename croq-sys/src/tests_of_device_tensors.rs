//! Tests of device tensors on the simulated GPU.

use super::*;
use crate::dims::Const;
use crate::packed::{S4x2, U4x2};

#[test]
fn there_and_back() {
    let host = Tensor::<i16, _>::random((5, Const::<7>), -100..100, 3);
    let device = host.to_device(&Device::sim()).unwrap();
    assert_eq!(device.to_host().unwrap(), host);
    assert_eq!(format!("{device:?}"), "DeviceTensor s16 [5, 7] on sim");
    let retyped = device.into_dims((Const::<5>, 7)).unwrap();
    assert!(retyped.into_dims((Const::<6>, 7)).is_err());
}

/// An extent of any size beside one of 0: the tensor has no elements, in whatever order.
#[test]
fn no_elements_do_not_become_some() {
    const MOST: usize = usize::MAX;
    let mut none = DeviceTensor::<u32, _>::zeros((0, MOST, 2), &Device::sim()).unwrap();
    let permuted = || none.view().permute([1, 2, 0]).unwrap();
    assert!(permuted().reshape((MOST, 2)).is_err());
    assert!(permuted().reshape((1,)).is_err());
    assert_eq!(permuted().reshape((0,)).unwrap().shape(), [0]);
    assert_eq!(permuted().try_clone().unwrap().shape(), [MOST, 2, 0]);
    let end = permuted().slice([MOST - 1..MOST, 1..2, 0..0]).unwrap();
    assert_eq!(end.shape(), [1, 1, 0]);
    let writable = none.view_mut().permute([1, 2, 0]).unwrap();
    assert!(writable.reshape((MOST, 2)).is_err());
    let six = DeviceTensor::<u32, _>::zeros((6, 1), &Device::sim()).unwrap();
    assert!(six.view().reshape((MOST, 2)).is_err());
    let one = six.view().slice([1..6, 0..1]).unwrap();
    let one = one.step_by([MOST, 1]).unwrap();
    let last = one.slice([1..1, 0..1]).unwrap();
    assert_eq!(last.to_host().unwrap().shape(), [0, 1]);
}

#[test]
fn impossible_sizes_are_errors() {
    let e = DeviceTensor::<f64, _>::zeros((usize::MAX, 1), &Device::sim()).unwrap_err();
    assert!(matches!(e, Error::OutOfMemory { .. }), "{e}");
}

#[test]
fn a_clone_has_memory_of_its_own() {
    let host = Tensor::<u8, _>::random((3, 5), 0..200, 3);
    let mut first = host.to_device(&Device::sim()).unwrap();
    let second = first.try_clone().unwrap();
    assert_ne!(first.as_device_ptr(), second.as_device_ptr());
    first.copy_from_host(&Tensor::zeros((3, 5))).unwrap();
    assert_eq!(second.to_host().unwrap(), host);
}

#[test]
fn shapes_change_across_ranks_if_the_number_of_elements_is_the_same() {
    let host = Tensor::<i32, _>::random((4, 6), 0..100, 3);
    let t = host.to_device(&Device::sim()).unwrap();
    let t = t.reshape((2, Const::<3>, 4)).unwrap();
    assert_eq!(t.to_host().unwrap().as_slice(), host.as_slice());
    let t = t.reshape((24,)).unwrap();
    let Refused { tensor, error: e } = t.reshape((5, 5)).unwrap_err();
    assert_eq!(tensor.to_host().unwrap().as_slice(), host.as_slice());
    let expected = Error::Length {
        shape: vec![5, 5],
        found: 24,
    };
    assert_eq!(e, expected);
    let packed = DeviceTensor::<S4x2, _>::zeros((3, 4), &Device::sim()).unwrap();
    assert!(packed.view().reshape((4, 3)).is_err());
    assert_eq!(packed.reshape((6, 2)).unwrap().strides(), [2, 1]);
}

#[test]
fn copies_have_one_shape() {
    let mut t = DeviceTensor::<f32, _>::zeros((2, 3), &Device::sim()).unwrap();
    let expected = Error::CopyShape {
        expected: vec![2, 3],
        found: vec![3, 2],
    };
    let host = Tensor::<f32, _>::zeros((3, 2));
    assert_eq!(t.copy_from_host(&host).unwrap_err(), expected);
    let other = host.to_device(&Device::sim()).unwrap();
    assert_eq!(t.copy_from(&other).unwrap_err(), expected);
    let e = t.copy_to_host(&mut host.clone()).unwrap_err();
    assert_eq!(
        e.to_string().lines().next(),
        Some("a tensor of shape [2, 3] cannot be copied to one of shape [3, 2]")
    );
}

#[test]
fn tensors_without_elements_are_tensors() {
    let host = Tensor::<f32, _>::zeros((0, 3));
    let mut t = host.to_device(&Device::sim()).unwrap();
    t.copy_from_host(&host).unwrap();
    let copy = t.try_clone().unwrap();
    assert_eq!(copy.to_host().unwrap(), host);
    assert_eq!(
        copy.reshape((3, 0, 2)).unwrap().to_host().unwrap().shape(),
        [3, 0, 2]
    );
    let part = t.view().slice([0..0, 1..3]).unwrap();
    assert_eq!(part.to_host().unwrap().shape(), [0, 2]);
}

#[test]
fn foreign_memory_is_its_owners() {
    struct Vector(Vec<u16>, Arc<std::sync::Mutex<Vec<u16>>>);
    impl Drop for Vector {
        fn drop(&mut self) {
            *self.1.lock().unwrap() = std::mem::take(&mut self.0);
        }
    }
    let left = Arc::default();
    let mut owner = Vector(vec![1, 2, 3, 4], Arc::clone(&left));
    let address = owner.0.as_mut_ptr();
    // SAFETY: the vector lives until the tensor drops it.
    let t = unsafe { DeviceTensor::from_raw_parts(address, (2, 2), &Device::sim(), owner) };
    let mut t = t.unwrap();
    assert_eq!(t.as_device_ptr(), address.cast_const());
    let host = Tensor::from_vec((2, 2), vec![5, 6, 7, 8]).unwrap();
    t.copy_from_host(&host).unwrap();
    assert_eq!(t.to_host().unwrap(), host);
    // What the tensor became keeps the memory, too.
    let t = t.reshape((4,)).unwrap();
    assert!(left.lock().unwrap().is_empty());
    drop(t);
    assert_eq!(*left.lock().unwrap(), [5, 6, 7, 8]);
}

#[test]
fn views_of_views_have_the_elements_of_the_tensor() {
    let host = Tensor::<i32, _>::random((6, Const::<5>, 7), 0..1000, 5);
    let t = host.to_device(&Device::sim()).unwrap();
    let view = t.view().slice([1..6, 2..5, 1..7]).unwrap();
    let view = view.step_by([2, 1, 3]).unwrap();
    let view = view.permute([2, 0, 1]).unwrap();
    assert_eq!(view.shape(), [2, 3, 3]);
    assert_eq!(view.strides(), [3, 70, 7]);
    assert!(!view.is_dense());
    let expected = Tensor::from_fn((2, 3, 3), |[k, i, j]| host[[1 + 2 * i, 2 + j, 1 + 3 * k]]);
    assert_eq!(view.to_host().unwrap(), expected);
    assert_eq!(
        view.clone()
            .into_dims((2, Const::<3>, 3))
            .unwrap()
            .to_host()
            .unwrap(),
        expected
    );
    assert_eq!(view.reshape((18,)).unwrap_err().error, Error::Strided);
    // Rows of a tensor have no gaps.
    let rows = t.view().slice([2..4, 0..5, 0..7]).unwrap();
    assert!(rows.is_dense());
    let rows = rows.reshape((70,)).unwrap();
    assert_eq!(
        rows.to_host().unwrap().as_slice(),
        &host.as_slice()[70..140]
    );
}

#[test]
fn views_are_written_in_their_places() {
    let mut t = DeviceTensor::<u8, _>::zeros((4, 4), &Device::sim()).unwrap();
    let values = Tensor::from_fn((2, 2), |[i, j]| (1 + 2 * i + j) as u8);
    let columns = t.view_mut().step_by([2, 2]).unwrap();
    columns
        .permute([1, 0])
        .unwrap()
        .copy_from_host(&values)
        .unwrap();
    let on_device = values.to_device(&Device::sim()).unwrap();
    let corner = t.view_mut().slice([2..4, 2..4]).unwrap();
    let mut corner = corner.into_dims((Const::<2>, 2)).unwrap();
    corner
        .copy_from(&on_device.view().permute([1, 0]).unwrap())
        .unwrap();
    let expected = [1, 0, 3, 0, 0, 0, 0, 0, 2, 0, 1, 3, 0, 0, 2, 4];
    assert_eq!(t.to_host().unwrap().as_slice(), expected);
}

#[test]
fn parts_outside_are_errors() {
    let t = DeviceTensor::<f32, _>::zeros((4, 6), &Device::sim()).unwrap();
    let e = t.view().slice([0..4, 2..7]).unwrap_err();
    assert_eq!(
        e.to_string(),
        "2..7 of axis 1 is not a part of a tensor of shape [4, 6]"
    );
    #[expect(clippy::reversed_empty_ranges, reason = "what the error is about")]
    let reversed = t.view().slice([3..2, 0..6]);
    assert!(matches!(reversed, Err(Error::Slice { .. })));
    for wrong in [
        t.view().step_by([1, 0]).unwrap_err(),
        t.view().permute([1, 1]).unwrap_err(),
        t.view().permute([0, 2]).unwrap_err(),
    ] {
        assert!(matches!(wrong, Error::Slice { .. }), "{wrong}");
    }
}

#[test]
fn packed_elements_stay_together() {
    let host = Tensor::<S4x2, _>::random((3, 8), -8..8, 4);
    let t = host.to_device(&Device::sim()).unwrap();
    let part = t.view().slice([1..3, 2..6]).unwrap();
    assert_eq!(part.strides(), [8, 1]);
    let read = part.to_host().unwrap();
    for index in [[0, 0], [0, 3], [1, 2]] {
        assert_eq!(read.value(index), host.value([index[0] + 1, index[1] + 2]));
    }
    for wrong in [
        part.clone().slice([0..1, 1..4]).unwrap_err(),
        part.clone().step_by([1, 2]).unwrap_err(),
        part.clone().permute([1, 0]).unwrap_err(),
    ] {
        assert!(matches!(wrong, Error::Packing { .. }), "{wrong}");
    }
}

#[test]
fn a_closure_that_panics_may_have_a_tensor() {
    fn is_unwind_safe<T: std::panic::UnwindSafe + std::panic::RefUnwindSafe>(_: &T) {}
    let device = Device::sim();
    let t = DeviceTensor::<f32, _>::zeros((2, 3), &device).unwrap();
    is_unwind_safe(&t);
    is_unwind_safe(&t.view());
    is_unwind_safe(&Stream::new(&device).unwrap());
    is_unwind_safe(&crate::PinnedTensor::<f32, _>::zeros((2,), &device).unwrap());
    let read = std::panic::catch_unwind(|| t.to_host().unwrap());
    assert_eq!(read.unwrap().shape(), [2, 3]);
}

#[test]
fn foreign_memory_has_a_largest_size() {
    let mut byte = 0_u8;
    let most = 1_usize << 56;
    let address = &raw mut byte;
    let of = |n: usize| {
        // SAFETY: the test reads no element.
        unsafe { DeviceTensor::from_raw_parts(address, (n,), &Device::sim(), ()) }
    };
    assert!(of(most).is_ok());
    assert!(matches!(of(most + 1), Err(Error::OutOfMemory { .. })));
}

/// Extents of empty tensors may have products beyond all numbers.
#[test]
fn extents_of_empty_tensors_overflow_nothing() {
    let x = Tensor::<u8, _>::zeros((usize::MAX, usize::MAX, 0));
    assert_eq!(x.get([usize::MAX - 1, usize::MAX - 1, 0]), None);
    assert_eq!(x.get([usize::MAX - 1, 0, usize::MAX]), None);
    let device = Device::sim();
    let packed = DeviceTensor::<U4x2, _>::zeros((0, 4, usize::MAX - 1), &device).unwrap();
    assert_eq!(packed.strides()[2], 1);
}

/// Both reasons why packed values are no tensor of a shape.
#[test]
fn packed_values_that_do_not_fit_are_told_apart() {
    let values = vec![U4x2::default(); 32];
    let e = Tensor::from_vec((2, 16), values.clone()).unwrap_err();
    let length = "a tensor of shape [2, 16] has 32 elements, but 64 were given";
    assert_eq!(e.to_string(), length);
    let e = Tensor::from_vec((64, 1), values.clone()).unwrap_err();
    let text = e.to_string();
    let rows = "rows of shape [64, 1] cannot be packed as `u4`\n";
    assert!(text.starts_with(rows), "{text}");
    let x = Tensor::from_vec((4, 16), values).unwrap();
    let x = x.to_device(&Device::sim()).unwrap();
    let refused = x.reshape((64, 1)).unwrap_err();
    assert!(refused.error.to_string().starts_with(rows));
    // Values outside of the type's are not asked for.
    let random = Tensor::<U4x2, _>::random((4, 16), 0..100, 3);
    let distinct: std::collections::HashSet<u8> =
        random.as_slice().iter().map(|v| v.to_bits()).collect();
    assert!(distinct.len() > 20, "{distinct:?}");
}
