//! A kernel as an operation of candle.

use candle_core::{Device, Tensor};
use croq_interop::ScaledRows;

#[test]
fn a_kernel_is_an_operation_of_candle() {
    let x = Tensor::arange(0f32, 12.0, &Device::Cpu).unwrap();
    let x = x.reshape((4, 3)).unwrap();
    // A part of its storage: rows 1 and 2.
    let part = x.narrow(0, 1, 2).unwrap();
    let gains = Tensor::new(&[10f32, 100.0], &Device::Cpu).unwrap();
    let y = part.apply_op2_no_bwd(&gains, &ScaledRows).unwrap();
    let expected = [[30.0, 40.0, 50.0], [600.0, 700.0, 800.0]];
    assert_eq!(y.to_vec2::<f32>().unwrap(), expected);
    // In an expression of candle's own.
    let sum = (y + &part).unwrap().sum_all().unwrap();
    assert_eq!(sum.to_scalar::<f32>().unwrap(), 2220.0 + 33.0);
}

#[test]
fn errors_are_those_of_candle() {
    let x = Tensor::zeros((4, 3), candle_core::DType::F32, &Device::Cpu).unwrap();
    let gains = Tensor::zeros(5, candle_core::DType::F32, &Device::Cpu).unwrap();
    let e = x.apply_op2_no_bwd(&gains, &ScaledRows).unwrap_err();
    assert!(e.to_string().contains("`M` is 4 in this call"), "{e}");
    let columns = x.t().unwrap();
    let e = columns.apply_op2_no_bwd(&gains, &ScaledRows).unwrap_err();
    assert!(e.to_string().contains("not contiguous"), "{e}");
}
