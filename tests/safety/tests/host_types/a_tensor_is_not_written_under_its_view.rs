use croq_sys::half::f16;
use croq_sys::{Device, DeviceTensor, Result, Tensor};

#[path = "support/kernels.rs"]
mod kernels;

fn main() -> Result<()> {
    let device = Device::sim();
    let mut a = DeviceTensor::<f16, _>::zeros((4, 4), &device)?;
    let view = a.view().permute([1, 0])?;
    a.copy_from_host(&Tensor::zeros((4, 4)))?;
    kernels::gemm(&view, &view, &mut a)?;
    let mut first = a.view_mut();
    let mut second = a.view_mut();
    first.copy_from(&second.view())?;
    second.copy_from(&first.view())
}
