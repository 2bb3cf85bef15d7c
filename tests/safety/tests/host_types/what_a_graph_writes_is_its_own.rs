use croq_sys::half::f16;
use croq_sys::{Device, DeviceTensor, Graph, Result, Stream, Tensor};

#[path = "support/kernels.rs"]
mod kernels;

fn main() -> Result<()> {
    let device = Device::sim();
    let stream = Stream::new(&device)?;
    let zeros = || DeviceTensor::<f16, _>::zeros((4, 4), &device);
    let (mut a, mut b) = (zeros()?, zeros()?);
    let (from, to) = (&a, &mut b);
    let mut graph = Graph::capture(&device, move |s| {
        kernels::gemm::gemm_on(s, from, from, to)?;
        Ok((from, to))
    })?;
    b.to_host()?;
    a.copy_from_host(&Tensor::zeros((4, 4)))?;
    let part = graph.tensors().1.view();
    graph.launch(&stream)?;
    part.to_host()?;
    Ok(())
}
