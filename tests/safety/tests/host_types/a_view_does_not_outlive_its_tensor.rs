use croq_sys::{Device, DeviceTensor, Result};

fn main() -> Result<()> {
    let view = {
        let tensor = DeviceTensor::<f32, _>::zeros((4, 4), &Device::sim())?;
        tensor.view().slice([0..2, 0..4])?.step_by([1, 2])?
    };
    view.to_host()?;
    Ok(())
}
