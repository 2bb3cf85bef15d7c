use croq_sys::half::f16;
use croq_sys::{Device, DeviceTensor, Result, Tensor};

#[path = "support/kernels.rs"]
mod kernels;

fn main() -> Result<()> {
    let device = Device::sim();
    let a = DeviceTensor::<f16, _>::zeros((4, 4), &device)?;
    let mut view = a.view();
    view.copy_from_host(&Tensor::zeros((4, 4)))?;
    kernels::gemm(&a, &a, &mut view)
}
