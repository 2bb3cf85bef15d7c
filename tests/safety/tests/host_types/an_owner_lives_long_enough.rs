use croq_sys::{Device, DeviceTensor, Result};

fn main() -> Result<()> {
    let mut numbers = vec![0.0_f32; 16];
    let address = numbers.as_mut_ptr();
    // SAFETY: none: the owner is only borrowed, and does not keep the numbers.
    let tensor = unsafe { DeviceTensor::from_raw_parts(address, (4, 4), &Device::sim(), &numbers)? };
    drop(numbers);
    tensor.to_host()?;
    Ok(())
}
