use croq_sys::{Device, DeviceTensor, Result, TensorViewMut};

fn main() -> Result<()> {
    let tensor = DeviceTensor::<f32, _>::zeros((4, 4), &Device::sim())?;
    let mut numbers = vec![0.0; 16];
    let mut host = TensorViewMut::from_mut_slice((4, 4), &mut numbers)?;
    drop(numbers);
    tensor.copy_to_host(&mut host)
}
