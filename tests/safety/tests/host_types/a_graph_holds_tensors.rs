use croq_sys::{Device, DeviceTensor, Graph, Result};
use std::sync::Mutex;

fn main() -> Result<()> {
    let device = Device::sim();
    Graph::capture(&device, |_| Ok(Mutex::new(DeviceTensor::<f32, _>::zeros((4,), &device)?)))?;
    Ok(())
}
