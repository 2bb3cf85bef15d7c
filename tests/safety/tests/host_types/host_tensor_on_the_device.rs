#[path = "support/kernels.rs"]
mod kernels;

use croq_sys::half::f16;
use croq_sys::{Device, DeviceTensor, Result, Tensor};

fn main() -> Result<()> {
    let device = Device::sim();
    let lhs = Tensor::<f16, _>::zeros((64, 64));
    let mut output = DeviceTensor::<f16, _>::zeros((64, 64), &device)?;
    kernels::gemm(&lhs, &lhs, &mut output)
}
