use croq_sys::{Device, DeviceTensor, Result, Stream};

fn main() -> Result<()> {
    let device = Device::sim();
    let mut numbers = vec![0.0_f32; 16];
    let _ = DeviceTensor::from_raw_parts(numbers.as_mut_ptr(), (4, 4), &device, ())?;
    let _ = Stream::from_raw(std::ptr::null_mut(), &device, ())?;
    Ok(())
}
