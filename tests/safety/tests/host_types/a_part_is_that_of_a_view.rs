use croq_sys::{Device, DeviceTensor, Result};

fn main() -> Result<()> {
    let t = DeviceTensor::<f32, _>::zeros((4, 4), &Device::sim())?;
    t.slice([0..2, 0..4])?.to_host()?;
    Ok(())
}
