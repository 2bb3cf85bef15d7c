#[path = "support/kernels.rs"]
mod kernels;

use croq_sys::half::f16;
use croq_sys::{Const, Device, DeviceTensor, Result};

fn main() -> Result<()> {
    let device = Device::sim();
    let lhs = DeviceTensor::<f16, _>::zeros((128, Const::<64>), &device)?;
    let rhs = DeviceTensor::<f16, _>::zeros((256, Const::<65>), &device)?;
    let mut output = DeviceTensor::<f16, _>::zeros((128, 256), &device)?;
    kernels::gemm(&lhs, &rhs, &mut output)
}
