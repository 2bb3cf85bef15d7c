use croq_sys::half::f16;
use croq_sys::{Device, DeviceTensor, Graph, Result, Stream};

#[path = "support/kernels.rs"]
mod kernels;

fn main() -> Result<()> {
    let device = Device::sim();
    let zeros = || DeviceTensor::<f16, _>::zeros((4, 4), &device);
    let mut graph = {
        let (a, mut b) = (zeros()?, zeros()?);
        let (from, to) = (&a, &mut b);
        Graph::capture(&device, move |stream| {
            kernels::gemm::gemm_on(stream, from, from, to)?;
            Ok((from, to))
        })?
    };
    graph.launch(&Stream::new(&device)?)
}
