#[path = "support/kernels.rs"]
mod kernels;

use croq_sys::Tensor;

fn main() {
    let src = Tensor::<f64, _>::zeros((8, 64));
    let _ = kernels::scale(&src, 2.0);
}
