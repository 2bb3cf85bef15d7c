#[path = "support/kernels.rs"]
mod kernels;

use croq_sys::half::f16;
use croq_sys::{Device, DeviceTensor, Result};

fn main() -> Result<()> {
    let device = Device::sim();
    let lhs = DeviceTensor::<f16, _>::zeros((64, 64), &device)?;
    let mut output = DeviceTensor::<f16, _>::zeros((64, 64), &device)?;
    kernels::gemm(&lhs, &output, &mut output)
}
